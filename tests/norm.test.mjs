// Keeping activations in range, as a learner meets it.
import assert from "node:assert/strict";

import {
  answerTime,
  atRest,
  beat,
  byId,
  eventually,
  exported,
  live,
  number,
  numberUntil,
  openView,
  parameter,
  rested,
  settled,
  staysFree,
  test,
  train,
  useSite,
} from "./harness.mjs";

const site = useSite();
/** Steps the chapter takes by itself. */
const WARM = 250;
const ROWS = 16;

/** Opens the chapter and waits until its first training is over. */
async function opened(t, query = "", options = {}) {
  const page = await site.open(t, `?chapter=norm${query}`, options);
  await rested(page, WARM);
  return page;
}

/** Opens it with networks that are hardly trained, where it is not about what they learned. */
async function fresh(t, query = "", options = {}) {
  const page = await site.open(t, `?chapter=norm&step=1${query}`, options);
  await rested(page);
  return page;
}

const value = async (page, id) => Number(await byId(page, id).getAttribute("data-value"));
const moves = (page) =>
  page
    .locator('[data-testid^="norm-moved-"]')
    .evaluateAll((rows) => rows.map((row) => Number(row.getAttribute("data-value"))));
/** Waits until the most that another row moved satisfies `condition`. */
const most = (page, condition) =>
  eventually(async () => {
    const most = await byId(page, "norm-coupling").getAttribute("data-most");
    return most !== null && condition(Number(most));
  }, `a coupling with ${condition}`);
const choose = (page, name, id) => byId(page, `control-${name}-${id}`).check({ force: true });

test("pressing a row moves the others under BatchNorm, by exactly 0 under LayerNorm", async (t) => {
  const page = await fresh(t);
  await live(page, "coupling");
  // It opens with none pressed, and says what a row is.
  assert.match(await byId(page, "norm-coupling").textContent(), /A row is 4 characters, and a column is one of the 16 units of layer 3 in BatchNorm’s network/);
  // In the first beat both have x's colors, and above each is how far it reaches.
  const scales = await page.locator(".norm-blocks .scale-ticks").allTextContents();
  assert.equal(scales[0], scales[1]);
  const reach = async (part) => (await byId(page, `norm-range-${part}`).textContent()).replaceAll("−", "-").split(" to ").map(Number);
  const [[, x], [least, y]] = [await reach("x"), await reach("y")];
  assert(least < 0 && y > 0 && x > y, `${x} and ${y}`);
  await byId(page, "norm-row-2").click();
  await most(page, (most) => most > 0.05);
  assert.equal((await moves(page)).length, ROWS);
  await byId(page, "norm-row-5").click();
  await eventually(async () => (await byId(page, "norm-row-5").getAttribute("aria-pressed")) === "true");
  await eventually(async () => (await byId(page, "norm-coupling").textContent()).startsWith("Example 5"));
  await settled(page);
  const coupled = await moves(page);
  assert(coupled.every((moved) => moved > 0.001), `${coupled}`);
  await eventually(async () => parameter(page, "norm-row") === "5");
  // Who moved more, moved more on the page, too; the pressed row most.
  assert.equal(Math.max(...coupled), coupled[4]);

  await choose(page, "norm-axis", "layer");
  await most(page, (most) => most === 0);
  await settled(page);
  const alone = await moves(page);
  assert(alone.every((moved, row) => row === 4 || moved === 0), `${alone}`);
  assert(alone[4] < 1e-3, "a layer divides the row's own size away");
  assert.match(await byId(page, "norm-coupling").textContent(), /Under LayerNorm the other 15 rows move by exactly 0/);

  // Changes closer together are undone together.
  await page.waitForTimeout(500);
  // Letting go of it: nothing moves any more.
  await byId(page, "norm-row-5").click();
  await eventually(async () => (await moves(page)).every((moved) => moved === 0));
  await byId(page, "undo").click();
  await eventually(async () => (await byId(page, "norm-row-5").getAttribute("aria-pressed")) === "true");
});

test("on a phone what is said of the pressed row is in sight, and where y is to be undone the choice", async (t) => {
  const phone = { viewport: { width: 390, height: 844 } };
  const inSight = async (page, id) => {
    const [part, stage] = [await byId(page, id).boundingBox(), await page.locator("#stage-view").boundingBox()];
    return part !== null && part.y >= stage.y && part.y + part.height <= stage.y + stage.height + 1;
  };
  const pressed = await fresh(t, "&idea=5", phone);
  await eventually(async () => (await byId(pressed, "norm-coupling").textContent()).startsWith("Example 2"));
  assert(await inSight(pressed, "norm-coupling"));
  const undone = await fresh(t, "&idea=8&norm-row=0&norm-undo=1", phone);
  await live(undone, "coupling");
  assert(await inSight(undone, "control-norm-axis-layer"));
});

test("with running statistics no row hears of another", async (t) => {
  const page = await fresh(t, "&norm-row=2");
  await most(page, (most) => most > 0.05);
  await choose(page, "norm-statistics", "running");
  await most(page, (most) => most === 0);
  assert((await moves(page))[1] > 0.1, "the pressed row itself moves");
  await choose(page, "norm-statistics", "batch");
  await most(page, (most) => most > 0.05);
});

test("γ and β can undo BatchNorm to rounding, but not LayerNorm", async (t) => {
  const page = await fresh(t, "&norm-row=0");
  await live(page, "coupling");
  await byId(page, "control-norm-undo").check({ force: true });
  await most(page, (most) => most < 1e-3);
  const says = async () => byId(page, "norm-rows-say").textContent();
  await eventually(async () => (await says()) === "y − x");
  await eventually(async () => (await moves(page)).every((apart) => apart < 1e-3), "every row is x again");
  // A pressed row comes out as it went in, too: γ and β are set for the numbers on show.
  await byId(page, "norm-row-5").click();
  await eventually(async () => (await byId(page, "norm-row-5").textContent()).includes("×3"));
  await most(page, (most) => most < 1e-3);
  await choose(page, "norm-axis", "layer");
  await most(page, (most) => most > 0.05);
  assert.match(await byId(page, "norm-coupling").textContent(), /can’t be undone/);
  await byId(page, "control-norm-undo").uncheck({ force: true });
  await eventually(async () => (await says()) === "moved");
});

test("the mean is swept over the matrix, column by column or row by row", async (t) => {
  const page = await fresh(t, "&norm-row=0");
  await live(page, "coupling");
  const there = () => page.locator('[data-testid="norm-output"] rect').count();
  await eventually(async () => (await there()) === ROWS * 16);
  await byId(page, "norm-sweep-step").click();
  await eventually(async () => (await there()) === ROWS);
  assert.match(await byId(page, "norm-coupling").textContent(), /Feature 1, over the 16 examples: μ = −?\d/);
  await byId(page, "norm-sweep-step").click();
  await eventually(async () => (await there()) === 2 * ROWS);
  await choose(page, "norm-axis", "layer");
  await eventually(async () => /Example 2, over its 16 features/.test(await byId(page, "norm-coupling").textContent()));
  await byId(page, "norm-sweep-all").click();
  await eventually(async () => (await there()) === ROWS * 16);
  // Played, it goes through all of them by itself and ends.
  await byId(page, "norm-sweep-play").click();
  await eventually(async () => Number(parameter(page, "norm-sweep")) >= 3);
  await eventually(async () => parameter(page, "norm-sweep") === null);
  await eventually(async () => (await byId(page, "norm-sweep-play").textContent()) === "Sweep");
});

test("a click on a cell opens arithmetic that multiplies out", async (t) => {
  const page = await fresh(t);
  await live(page, "coupling");
  for (const axis of ["batch", "layer"]) {
    await choose(page, "norm-axis", axis);
    await eventually(async () => (parameter(page, "norm-axis") ?? "batch") === axis);
    await settled(page);
    const box = await atRest(byId(page, "norm-input"));
    await byId(page, "norm-input").click({ position: { x: (box.width * 6.5) / 16, y: (box.height * 3.5) / ROWS } });
    await byId(page, "norm-arithmetic").waitFor();
    assert.match(await byId(page, "norm-arithmetic").textContent(), /Example 4, feature 7/);
    const read = async (id) => (await byId(page, `norm-line-${id}`).textContent()).replaceAll("−", "-");
    const numbers = (text) => text.match(/-?\d+\.\d+/g).map(Number);
    const near = (a, b, what) => assert(Math.abs(a - b) < 2e-3 * (1 + Math.abs(b)), `${what}: ${a} is not ${b}`);
    const terms = numbers(await read("mean"));
    const mean = terms.pop();
    assert.equal(terms.length, 16);
    near(terms.reduce((a, b) => a + b) / 16, mean, "μ");
    const apart = numbers(await read("variance"));
    const variance = apart.pop();
    near(apart.reduce((a, b) => a + b * b, 0) / 16, variance, "σ²");
    const [x, mu, sigma, , normalized] = numbers(await read("normalized"));
    near((x - mu) / Math.sqrt(sigma + 1e-5), normalized, "x̂");
    const [gamma, hat, beta, y] = numbers(await read("output"));
    near(gamma * hat + beta, y, "y");
    assert.equal(mu, mean);
    assert(Math.abs((await value(page, "norm-line-output")) - y) < 1e-4);
    await byId(page, "norm-arithmetic-close").click();
    await byId(page, "norm-arithmetic").waitFor({ state: "detached" });
  }
});

test("histograms by depth: the plain network sticks, the normalized ones do not", async (t) => {
  const page = await fresh(t, "&norm-scale=8");
  await openView(page, "depth");
  await byId(page, "norm-stuck").waitFor();
  for (let layer = 1; layer <= 6; layer++) {
    const [plain, batch, layered] = await Promise.all(
      ["plain", "batch", "layer"].map((version) => value(page, `norm-stuck-${version}-${layer}`)),
    );
    assert(plain > 0.5, `layer ${layer} of the plain network: ${plain}`);
    assert(batch < 0.3 && layered < 0.3, `layer ${layer}: ${batch}, ${layered}`);
  }
  await live(page, "norm-depth");
  // They are live: training changes them.
  const before = await value(page, "norm-stuck-batch-3");
  await train(page, 1 + 150);
  await eventually(async () => (await value(page, "norm-stuck-batch-3")) !== before);
});

test("a mean outside the gradient: b grows, the loss does not fall", async (t) => {
  const page = await opened(t);
  await openView(page, "outside");
  await byId(page, "norm-promises").waitFor();
  await eventually(async () => (await value(page, "norm-length-past")) > 50, "a long b");
  await rested(page, WARM);
  assert((await value(page, "norm-promised-past")) > 10);
  assert(Math.abs(await value(page, "norm-fell-past")) < 1e-3);
  assert((await value(page, "norm-length-through")) < 1e-3);
  assert((await value(page, "norm-fell-after")) > 0.5, "β, after the mean, does lower the loss");
  const length = await value(page, "norm-length-past");
  const reached = await number(page, "loss-step");
  await train(page, reached + 200);
  await eventually(async () => (await value(page, "norm-length-past")) > length * 1.5, "b goes on growing");
  assert(Math.abs(await value(page, "norm-fell-past")) < 1e-2);
});

test("after the first training both normalized networks are ahead, and the question says by how many steps", async (t) => {
  const page = await opened(t, "&idea=1");
  await live(page, "norm-loss");
  const said = /At step 250 the mean of the last 20 losses is \d\.\d+ lower with BatchNorm and \d\.\d+ lower with LayerNorm than without/;
  assert.match(await byId(page, "norm-standing").textContent(), said);
  // The foot of the page says what the curves end with.
  const { values } = await exported(page, "norm-loss");
  const foot = await page.locator(".time-reading").allTextContents();
  const ends = values.map((points) => points.at(-1)[1].toFixed(3));
  assert.deepEqual(foot.map((reading) => reading.match(/\d+\.\d+$/)[0]), ends);
  await byId(page, "check-norm-loss-option-1").check({ force: true });
  await byId(page, "check-norm-loss-submit").click();
  const verdict = byId(page, "check-norm-loss-verdict");
  await verdict.waitFor();
  assert.match(await verdict.textContent(), /With BatchNorm it was as low after \d+ steps/);
});

test("time steps need statistics of their own; LayerNorm needs none", async (t) => {
  const page = await opened(t, "&norm-experiment=time");
  await byId(page, "norm-time-verdict").waitFor();
  await eventually(async () => (await byId(page, "norm-fixed-inside").count()) === 1);
  const read = (id) => value(page, id);
  assert((await read("norm-variance-last")) > 1.5 * (await read("norm-variance-first")));
  assert((await read("norm-fixed-inside")) > (await read("norm-own")) + 0.1);
  assert((await read("norm-layer-beyond")) < (await read("norm-fixed-beyond")) - 0.1);
  // The figure is the control: a click on the column of step 12 takes its statistics everywhere.
  await live(page, "norm-variance");
  const first = await read("norm-fixed-inside");
  await byId(page, "norm-variance-cells").focus();
  await page.keyboard.press("Home");
  for (let step = 1; step < 12; step++) await page.keyboard.press("ArrowRight");
  await page.keyboard.press("Enter");
  await eventually(async () => parameter(page, "norm-time") === "12");
  await eventually(async () => (await read("norm-fixed-inside")) < first - 0.1, "later statistics serve better");
  // Beyond the trained steps there are none to take.
  await page.keyboard.press("ArrowRight");
  await eventually(async () => /never trained/.test(await byId(page, "norm-variance-readout").textContent()));
  await page.keyboard.press("Enter");
  assert.equal(parameter(page, "norm-time"), "12");
});

test("every view's tab opens it, with its experiment; an old link's experiment has its view", async (t) => {
  const page = await fresh(t);
  for (const [view, figures, experiment] of [
    ["depth", ["norm-depth", "norm-stuck"], null],
    ["outside", ["norm-bias", "norm-outside-loss", "norm-promises"], "outside"],
    ["losses", ["norm-loss"], "outside"],
    ["time", ["norm-variance", "norm-time-loss"], "time"],
    ["losses", ["norm-loss"], "time"],
    ["layers", ["coupling"], null],
    ["losses", ["norm-loss"], null],
  ]) {
    await openView(page, view);
    for (const figure of figures) await live(page, figure);
    await eventually(async () => parameter(page, "norm-experiment") === experiment, `${view} of ${experiment}`);
    await rested(page);
  }
  await openView(page, "time");
  await byId(page, "norm-statistic-mean").check({ force: true });
  await live(page, "norm-mean");
  // Taken back, the experiment takes its view along.
  await byId(page, "undo").click();
  await page.locator('[data-testid="view-layers"][aria-selected="true"]').waitFor();
  await live(page, "coupling");
  const old = await fresh(t, "&norm-experiment=outside");
  await old.locator('[data-testid="view-outside"][aria-selected="true"]').waitFor();
  await live(old, "norm-bias");
});

test("a batch of one is explained, and all else goes on", async (t) => {
  const page = await fresh(t, "&norm-batch=1");
  const refused = async () => /variance is 0.*can't train on a batch of 1/.test(await byId(page, "norm-coupling").textContent());
  await eventually(refused);
  // The mean of each feature is the example's own; nothing comes out.
  const fills = (selector) => page.locator(`${selector} rect`).evaluateAll((all) => all.map((rect) => rect.getAttribute("fill")));
  const [x, strip] = [await fills('[data-testid="norm-input"]'), await fills(".norm-strip")];
  assert.equal(x.length, 16);
  assert.deepEqual(strip.slice(0, 16), x);
  assert.deepEqual(await fills('[data-testid="norm-output"]'), []);
  await openView(page, "losses");
  await byId(page, "norm-no-batch").waitFor();
  await openView(page, "layers");
  await choose(page, "norm-statistics", "running");
  await eventually(async () => !(await refused()));
  await choose(page, "norm-axis", "layer");
  await live(page, "coupling");
  await eventually(async () => (await page.locator('[data-testid="norm-output"] rect').count()) === 16, "16 features");
  await train(page, 1 + 20);
});

test("short sentences, unknown characters and links with nonsense do no harm", async (t) => {
  const page = await fresh(t, "&norm-row=30&norm-layer=99&norm-example=32&norm-feature=16");
  await live(page, "coupling");
  for (const text of ["", "a", "𝄞𝄞𝄞𝄞𝄞", "said Fenn"]) {
    await byId(page, "probe-input").fill(text);
    await eventually(async () => (await byId(page, "norm-row-1").textContent()).startsWith("Press example 1: "));
    assert.equal(await byId(page, "probe-problem").textContent(), "");
  }
  await eventually(async () => (await byId(page, "norm-row-1").textContent()) === "Press example 1: said");
});

test("the check is answered from the live model", async (t) => {
  const page = await fresh(t);
  const check = byId(page, "check-norm");
  await check.scrollIntoViewIfNeeded();
  for (const right of [null, 2, 2]) {
    await byId(page, `check-norm-option-${right ?? 1}`).check({ force: true });
    await eventually(async () => (await byId(page, "check-norm-submit").getAttribute("aria-disabled")) !== "true");
    await byId(page, "check-norm-submit").click();
    const verdict = byId(page, "check-norm-verdict");
    await verdict.waitFor();
    if (right !== null) assert.equal(await verdict.getAttribute("data-right"), "true");
    assert.match(await verdict.textContent(), /standard deviation was \d/);
    await byId(page, "check-norm-another").click();
  }
});

test("the ideas step through, each with its stage", async (t) => {
  const page = await fresh(t);
  const titles = new Set();
  // What each idea puts on the stage: the view, whose mean it is, the pressed row, and the sweep.
  const stages = [
    ["losses"],
    ["depth"],
    ["layers", "batch", 0, 5],
    ["layers", "layer", 0, 5],
    ["layers", "batch", 2, 0],
    ["layers", "layer", 2, 0],
    ["layers", "batch", 2, 0],
    ["layers", "batch", 0, 0],
  ];
  for (const [before, [view, axis, row, sweep]] of stages.entries()) {
    await page.keyboard.press("PageDown");
    await eventually(async () => parameter(page, "idea") === `${before + 1}`);
    assert.equal(await beat(page).getAttribute("data-beat"), `${before + 1}`);
    titles.add(await beat(page).locator(".beat-title").textContent());
    await page.locator(`[data-testid="view-${view}"][aria-selected="true"]`).waitFor();
    if (!axis) continue;
    assert(await byId(page, `control-norm-axis-${axis}`).isChecked());
    assert.equal(await page.locator('.norm-row[aria-pressed="true"]').count(), row ? 1 : 0);
    const swept = sweep ? /^mean 5 of 16$/ : /^all means$/;
    await eventually(async () => swept.test(await byId(page, "norm-sweep-at").textContent()));
  }
  assert.equal(titles.size, stages.length);
  // An experiment brings its view, and the models on show are the view's.
  await byId(page, "try-time").click();
  await byId(page, "norm-time-verdict").locator("b").first().waitFor();
});

test("everything can be done by keyboard", async (t) => {
  const page = await fresh(t);
  await live(page, "coupling");
  // What multiplies is there once there is something to multiply.
  assert.equal(await byId(page, "control-norm-factor").count(), 0);
  await byId(page, "norm-row-2").focus();
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await eventually(async () => parameter(page, "norm-row") === "3");
  await byId(page, "norm-output").focus();
  for (const key of ["ArrowDown", "ArrowRight", "ArrowRight"]) await page.keyboard.press(key);
  await eventually(async () => /^Example 2, feature 3:/.test(await byId(page, "coupling-readout").textContent()));
  await page.keyboard.press("Enter");
  await byId(page, "norm-arithmetic").waitFor();
  await byId(page, "control-norm-factor").focus();
  await page.keyboard.press("ArrowRight");
  await eventually(async () => parameter(page, "norm-factor") === "3.5");
  await byId(page, "control-norm-axis-batch").focus();
  await page.keyboard.press("ArrowDown");
  await most(page, (most) => most === 0);
});

test("an answer comes within 100 ms while it trains, and the page stays free", async (t) => {
  const page = await fresh(t, "", { own: true });
  await live(page, "coupling");
  await byId(page, "train-toggle").click();
  await numberUntil(page, "loss-step", (step) => step >= 1 + 20, "training");
  const times = [];
  await staysFree(t, site, page, async () => {
    const text = { subtree: true, childList: true, characterData: true };
    for (let row = 3; row <= 12; row++) {
      times.push(await answerTime(page, `norm-row-${row}`, "norm-coupling", text, `Example ${row} `));
    }
  });
  // The sentence and the column are of one answer, also while it trains.
  for (let look = 0; look < 10; look++) {
    const [said, moved] = await page.evaluate(() =>
      ["norm-coupling", "norm-moved-12"].map((id) => document.querySelector(`[data-testid="${id}"]`).textContent),
    );
    assert(said.includes(`moves by up to ${moved}.`), `${said} ${moved}`);
    await page.waitForTimeout(100);
  }
  times.sort((a, b) => a - b);
  t.diagnostic(`from press to answer: median ${times[5].toFixed(0)} ms, longest ${times[9].toFixed(0)} ms`);
  t.diagnostic(`${await number(page, "step-time")} ms a step`);
  assert(times[5] < 300, `the median is ${times[5]} ms`);
});
