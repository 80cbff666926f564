// Query, key, value, as a learner meets them.
import assert from "node:assert/strict";

import {
  agreesInFrames,
  answerTime,
  asNumber,
  beat,
  byId,
  eventually,
  live,
  numberUntil,
  openView,
  parameter,
  paused,
  rested,
  staysFree,
  test,
  train,
  useSite,
} from "./harness.mjs";

const site = useSite();
/** Steps the chapter takes by itself. */
const WARM = 200;

async function opened(t, query = "", options = {}) {
  const page = await site.open(t, `?chapter=qkv${query}`, options);
  await rested(page, WARM);
  return page;
}

/** Opens it with models that are hardly trained, where it is not about what they learned. */
async function fresh(t, query = "", options = {}) {
  const page = await site.open(t, `?chapter=qkv&step=1${query}`, options);
  await rested(page);
  return page;
}

const inspector = (page) => byId(page, "cell-inspector");
const value = async (page, id) => Number(await byId(page, id).getAttribute("data-value"));
const choose = (page, name, id) => byId(page, `control-${name}-${id}`).check({ force: true });

test("a cell is open from the start; another is worked out by a click, and the numbers multiply out", async (t) => {
  const page = await opened(t);
  await inspector(page).waitFor();
  // The steps that stood there before the numbers have gone.
  await byId(page, "inspector-waits").waitFor({ state: "detached" });
  assert((await value(page, "inspector-weight")) > 0.1, "a cell that shows something");
  // A letter looks at a letter, and it is not the row's largest share, which would be e⁰.
  assert.match(await byId(page, "inspector-title").textContent(), /^‘\p{L}’ \(7\) looks at ‘\p{L}’ /u);
  assert((await value(page, "inspector-exponent")) < 1);
  await live(page, "qkv-weights");
  // With nothing pointed at, the cell that is open is read.
  const apart = async () => (await value(page, "qkv-weights-readout")) - (await value(page, "inspector-weight"));
  await eventually(async () => Math.abs(await apart()) < 2e-4);
  const cells = byId(page, "qkv-weights-cells");
  const first = Number(await inspector(page).getAttribute("data-key"));
  await cells.focus();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowLeft");
  await page.keyboard.press("Enter");
  await eventually(async () => parameter(page, "qkv-query") === "8" && parameter(page, "qkv-key") === `${first}`);
  await eventually(async () => (await inspector(page).getAttribute("data-query")) === "7");
  await paused(page);
  // What is said for ears is what is on show.
  const said = () => byId(page, "inspector-said").textContent();
  await eventually(async () => (await said()) !== "" && (await byId(page, "inspector-title").textContent()).startsWith(await said()));
  const dot = await value(page, "inspector-dot");
  const score = await value(page, "inspector-score");
  assert(Math.abs(dot / 4 - score) < 1e-6, "16 numbers: divided by 4");
  // In short, to two decimals.
  const short = await byId(page, "qkv-short").textContent();
  const [, whole, scaled] = short.match(/^Score (−?\d+\.\d\d) → ÷ 4 = (−?\d+\.\d\d) → share /);
  assert(Math.abs(asNumber(whole) - dot) < 0.006 && Math.abs(asNumber(scaled) - score) < 0.006, short);
  const exponent = await value(page, "inspector-exponent");
  const sum = await value(page, "inspector-sum");
  const weight = await value(page, "inspector-weight");
  assert(Math.abs(exponent / sum - weight) < 1.5e-4);
  assert(Number(await byId(page, "inspector-compared").getAttribute("data-apart")) < 1e-3);
  // The strips show the terms; their numbers come by a press.
  assert(!(await byId(page, "inspector-terms").isVisible()));
  await byId(page, "inspector-all-terms").click();
  await byId(page, "inspector-terms").waitFor();
  assert.equal(await byId(page, "inspector-terms").locator("tbody tr").count(), 16);
  // All four steps are in sight, one of them open.
  const steps = inspector(page).locator(".inspector-steps > li");
  for (const at of [3, 2]) {
    await byId(page, `inspector-step-${at + 1}`).click();
    await eventually(async () => (await steps.nth(at).getAttribute("class")) === "open", `step ${at + 1} is open`);
    assert.equal(await inspector(page).locator(".inspector-steps > li.open").count(), 1);
    for (const heading of await steps.locator("h4").all()) assert(await heading.isVisible());
  }
  // Only what is before it is seen: 8 keys.
  await byId(page, "inspector-all-keys").click();
  const keys = page.locator('[data-testid="inspector-row"] tbody tr');
  const open = async () => (await keys.allTextContents()).filter((row) => !row.includes("blocked")).length;
  await eventually(async () => (await keys.count()) === 24 && (await open()) === 8);
  // Then nothing is masked.
  await byId(page, "control-qkv-causal").uncheck({ force: true });
  await eventually(async () => (await open()) === 24);
  await eventually(() => parameter(page, "qkv-causal") === "0");
  await byId(page, "inspector-close").click();
  await inspector(page).waitFor({ state: "detached" });
  await eventually(async () => parameter(page, "qkv-query") === "0");
  await byId(page, "undo").click();
  await inspector(page).waitFor();
});

test("the first sentence fits; keys and values from another text: a rectangle, nothing blocked, rows still add up to 1", async (t) => {
  const page = await fresh(t);
  const sentence = await byId(page, "probe-input").inputValue();
  assert.equal(sentence, "and the fox, who had one");
  assert.equal([...sentence].length, 24);
  assert.equal(new URL(page.url()).hash, "", "nobody wrote it");
  assert.doesNotMatch(await page.locator(".qkv-notes").textContent(), /left out/);
  await choose(page, "qkv-memory", "other");
  await eventually(async () => parameter(page, "qkv-memory") === "other");
  await paused(page);
  await byId(page, "inspector-step-3").click();
  await byId(page, "inspector-all-keys").click();
  const keys = page.locator('[data-testid="inspector-row"] tbody tr');
  await eventually(async () => (await keys.count()) === 24);
  const weights = await keys.evaluateAll((rows) =>
    rows.map((row) => Number(row.lastElementChild.textContent)),
  );
  assert(!(await keys.allTextContents()).some((row) => row.includes("blocked")));
  // Four decimals of each are on show.
  assert(Math.abs(weights.reduce((a, b) => a + b) - 1) < 24 * 0.5e-4 + 1e-9);
});

test("a row without a key opens with a letter that has much of it, but not the most", async (t) => {
  const page = await fresh(t, "&qkv-query=17&qkv-key=0&qkv-memory=other");
  await inspector(page).waitFor();
  await byId(page, "inspector-step-3").click();
  await byId(page, "inspector-all-keys").click();
  const keys = page.locator('[data-testid="inspector-row"] tbody tr');
  await eventually(async () => (await keys.count()) === 24);
  const weights = await keys.evaluateAll((rows) => rows.map((row) => Number(row.lastElementChild.textContent)));
  const key = Number(await inspector(page).getAttribute("data-key"));
  const letters = (await keys.allTextContents()).map((row) => /‘\p{L}’/u.test(row));
  const most = weights.indexOf(Math.max(...weights));
  const others = weights.filter((_, at) => letters[at] && at !== most);
  assert(letters[key] && weights[key] >= 0.5 * Math.max(...others) - 1e-4, `${key}: ${weights}`);
  // Clicking it closes it.
  await byId(page, "qkv-weights-cells").focus();
  await page.keyboard.press("Enter");
  await eventually(async () => parameter(page, "qkv-query") === "0");
});

test("the square root: variance grows as d_k, without it softmax saturates and its gradient goes", async (t) => {
  const page = await fresh(t, "&qkv-experiment=scale");
  const read = async () => ({
    variance: await value(page, "qkv-variance"),
    scaled: await value(page, "qkv-variance-scaled"),
    gradient: [await value(page, "qkv-gradient-plain"), await value(page, "qkv-gradient-scaled")],
  });
  await byId(page, "qkv-variance").waitFor();
  const usual = await read();
  assert(Math.abs(usual.variance / 64 - 1) < 0.35 && Math.abs(usual.scaled - 1) < 0.35, JSON.stringify(usual));
  await byId(page, "control-qkv-dimensions").focus();
  await page.keyboard.press("End");
  await eventually(async () => parameter(page, "qkv-dimensions") === "256");
  await eventually(async () => (await value(page, "qkv-variance")) > 170);
  const wide = await read();
  assert(wide.gradient[0] < usual.gradient[0] && wide.gradient[0] < wide.gradient[1], JSON.stringify(wide));
  for (const figure of ["qkv-products", "qkv-softmax"]) await live(page, figure);
  await byId(page, "qkv-show-curves").click();
  for (const figure of ["qkv-entropy", "qkv-gradient"]) await live(page, figure);
  assert((await value(page, "qkv-entropy-plain")) < 0.3);
  assert((await value(page, "qkv-entropy-scaled")) > 2);
  const before = await value(page, "qkv-variance");
  await byId(page, "qkv-draw-again").click();
  await eventually(async () => (await value(page, "qkv-variance")) !== before);
});

test("a shuffle only moves outputs, but for a causal mask or positions", async (t) => {
  const page = await opened(t, "&qkv-experiment=shuffle&qkv-causal=0");
  const most = () => byId(page, "qkv-shuffle").getAttribute("data-most").then(Number);
  await eventually(async () => (await byId(page, "qkv-shuffle").getAttribute("data-most")) !== null);
  assert((await most()) < 1e-4, `${await most()}`);
  // Each token's colors are the same in both orders, but for rounding; nothing else is to be seen.
  await live(page, "qkv-lanes");
  const apart = () => page.locator(".qkv-rows").evaluate((rows) => {
    const [before, after] = [...rows.querySelectorAll(".qkv-strips")].map((strips) => [...strips.children]);
    const came = (strip, place) => before[place + Number(strip.style.getPropertyValue("--from"))];
    return after.filter((strip, place) => strip.firstElementChild.style.background !== came(strip, place).style.background).length;
  });
  assert((await apart()) <= 2, `${await apart()} strips differ`);
  assert.equal(await byId(page, "figure-qkv-difference").count(), 0);
  for (const flag of ["qkv-causal", "qkv-positions"]) {
    await byId(page, `control-${flag}`).check();
    await eventually(async () => (await most()) > 0.05, flag);
    await live(page, "qkv-difference");
    await eventually(async () => (await apart()) > 12, `${flag}: strips differ`);
    await byId(page, `control-${flag}`).uncheck();
    await eventually(async () => (await most()) < 1e-4, `no ${flag}`);
  }
  await byId(page, "qkv-shuffle-again").click();
  await eventually(async () => parameter(page, "qkv-shuffle") === "2");
  await paused(page);
  assert((await most()) < 1e-4);
});

test("a causal model without positions learns what came first; one without either does not", async (t) => {
  const page = await opened(t, "&qkv-experiment=order");
  await byId(page, "qkv-order-causal").waitFor();
  assert((await value(page, "qkv-order-causal")) > 0.9);
  assert((await value(page, "qkv-order-positions")) > 0.9);
  assert((await value(page, "qkv-order-bag")) < 0.3);
  await live(page, "qkv-answers");
  const word = await byId(page, "qkv-word").textContent();
  await byId(page, "qkv-word-again").click();
  await eventually(async () => (await byId(page, "qkv-word").textContent()) !== word);
});

test("both layers are timed here and now", async (t) => {
  const page = await fresh(t, "&qkv-experiment=cost");
  await eventually(async () => (await byId(page, "qkv-cost").getAttribute("data-count")) === "14", "14 times");
  assert.match(await byId(page, "qkv-cost").textContent(), /the recurrent layer takes \d+\.\d times as long, \d+\.\d\d ms/);
  t.diagnostic(await byId(page, "qkv-cost").textContent());
  await live(page, "qkv-cost");
  await byId(page, "qkv-cost-again").click();
  await eventually(async () => (await byId(page, "qkv-cost").getAttribute("data-count")) !== "14");
  await eventually(async () => (await byId(page, "qkv-cost").getAttribute("data-count")) === "14", "14 times again");
});

test("each view shows its own figures, and the experiment goes with it", async (t) => {
  const page = await fresh(t);
  const figures = {
    vectors: ["qkv-queries", "qkv-keys", "qkv-values"],
    scale: ["qkv-products", "qkv-softmax"],
    shuffle: ["qkv-lanes", "qkv-difference"],
    order: ["qkv-order", "qkv-answers"],
    cost: ["qkv-waits", "qkv-cost"],
    cell: ["qkv-weights"],
  };
  for (const [view, names] of Object.entries(figures)) {
    await openView(page, view);
    for (const name of names) await live(page, name);
    const experiment = ["cell", "vectors"].includes(view) ? null : view;
    await eventually(async () => parameter(page, "qkv-experiment") === experiment, view);
  }
  // A row of Q is a query: it is the one followed up beside its weights, too.
  await openView(page, "vectors");
  await live(page, "qkv-queries");
  await byId(page, "qkv-queries-cells").focus();
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("Enter");
  await eventually(async () => parameter(page, "qkv-query") === "6");
  await openView(page, "cell");
  await eventually(async () => (await inspector(page).getAttribute("data-query")) === "5");
});

test("short, long and strange sentences do no harm", async (t) => {
  const page = await fresh(t, "&qkv-query=24&qkv-key=24&qkv-layer=9&qkv-dimensions=0");
  for (const [text, says] of [
    ["", /write at least one character/],
    ["a", null],
    ["𝄞𝄞𝄞", null],
    ["x".repeat(512), null],
    ["said Fenn the fox", null],
  ]) {
    await byId(page, "probe-input").fill(text);
    await eventually(async () => {
      const problem = await byId(page, "probe-problem").textContent();
      return says ? says.test(problem) : problem === "";
    }, `“${text.slice(0, 20)}”`);
  }
  await inspector(page).waitFor();
  await train(page, 1 + 20);
});

test("the ideas step through, and the check is answered from the live model", async (t) => {
  const page = await opened(t);
  const stages = new Set();
  const views = ["cell", "cell", "scale", "shuffle", "shuffle", "cost"];
  for (let idea = 1; idea <= 6; idea++) {
    await page.keyboard.press("PageDown");
    await eventually(async () => (await beat(page).getAttribute("data-testid")) === `beat-${idea}`);
    await page.locator(`.view[data-view="${views[idea - 1]}"]`).waitFor();
    await eventually(async () => parameter(page, "idea") === `${idea}`);
    // A link to a beat says no more than that: the beat sets the stage.
    await eventually(async () => new URL(page.url()).search === `?chapter=qkv&idea=${idea}`);
    const set = (inputs) => inputs.map((e) => `${e.dataset.testid}=${e.type === "range" ? e.value : e.checked}`);
    stages.add(views[idea - 1] + (await page.locator(".view .view-bar input").evaluateAll(set)));
  }
  assert.equal(stages.size, 6, [...stages].join("\n"));
  await byId(page, "check-qkv").scrollIntoViewIfNeeded();
  for (const right of [1, 2, 1]) {
    await byId(page, `check-qkv-option-${right}`).check({ force: true });
    await eventually(async () => (await byId(page, "check-qkv-submit").getAttribute("aria-disabled")) !== "true");
    await byId(page, "check-qkv-submit").click();
    const verdict = byId(page, "check-qkv-verdict");
    await verdict.waitFor();
    assert.equal(await verdict.getAttribute("data-right"), "true", await verdict.textContent());
    await byId(page, "check-qkv-another").click();
  }
});

test("another cell comes within 100 ms while it trains, and the page stays free", async (t) => {
  const page = await fresh(t, "", { own: true });
  await byId(page, "train-toggle").click();
  await numberUntil(page, "loss-step", (step) => step >= 1 + 20, "training");
  const times = [];
  await staysFree(t, site, page, async () => {
    const query = { attributes: true, attributeFilter: ["data-query"] };
    for (let i = 0; i < 9; i++) {
      const next = i % 2 ? "before" : "after";
      times.push(await answerTime(page, `inspector-query-${next}`, "cell-inspector", query));
    }
  });
  times.sort((a, b) => a - b);
  t.diagnostic(`another row worked out: median ${times[4].toFixed(0)} ms, most ${times[8].toFixed(0)} ms`);
  assert(times[4] < 300, `${times}`);
  // The cell that is open is read beside its matrix, too.
  await agreesInFrames(t, page, () =>
    ["qkv-weights-readout", "inspector-weight"].map((id) => Number(document.querySelector(`[data-testid="${id}"]`).dataset.value).toFixed(3)),
  );
});

test("on a phone, what the story names is in sight", async (t) => {
  const page = await fresh(t, "", { viewport: { width: 390, height: 844 } });
  const named = {
    1: ["inspector-title", "inspector-key-after"],
    2: ["probe-input", "qkv-other", "qkv-weights-cells"],
    3: ["control-qkv-dimensions", "figure-qkv-softmax"],
    4: ["qkv-shuffle-again", "figure-qkv-lanes"],
    6: ["figure-qkv-waits", "figure-qkv-cost"],
  };
  for (let idea = 1; idea <= 6; idea++) {
    await page.keyboard.press("PageDown");
    await eventually(() => parameter(page, "idea") === `${idea}`);
    for (const id of named[idea] ?? []) {
      await eventually(async () => {
        const [part, stage] = [await byId(page, id).boundingBox(), await page.locator(".stage-view").boundingBox()];
        return part && part.y >= stage.y - 1 && part.y + part.height <= stage.y + stage.height + 1;
      }, `${id} in sight`);
    }
  }
});
