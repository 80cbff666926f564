// The chapter `heads`: what a learner does there, and what must be true on the screen.
import assert from "node:assert/strict";

import {
  byId,
  eventually,
  exported,
  live,
  noted,
  number,
  numberUntil,
  openView,
  parameter,
  rested,
  test,
  train,
  useSite,
} from "./harness.mjs";

const site = useSite();
/** Steps the chapter takes by itself. */
const WARM = 150;

/** Opens the chapter and waits until its model has taken its first steps and rests. */
async function open(t, query = "", options = {}, steps = WARM) {
  const page = await site.open(t, `?chapter=heads${steps === WARM ? "" : `&step=${steps}`}${query}`, options);
  await live(page, "attention");
  await rested(page, steps);
  return page;
}

/** The same with a model that is hardly trained, where it is not about what it learned. */
const fresh = (t, query, options) => open(t, query, options, 1);

const stat = (page, layer, head, name) => byId(page, `heads-row-${layer}-${head}`).locator(`[data-stat="${name}"]`);
const value = async (page, layer, head, name) => Number(await stat(page, layer, head, name).getAttribute("title"));
/** All heads' costs, once each is measured: in the view of the numbers. */
async function costs(page) {
  await openView(page, "numbers");
  const cells = byId(page, "heads-table").locator('[data-stat="cost"]');
  const measured = (texts) => texts.length > 0 && texts.every((text) => /\d/.test(text));
  await eventually(async () => measured(await cells.allTextContents()), "every head is measured");
  return (await cells.allTextContents()).map((text) => Number(text.replace("−", "-").match(/[+-]?\d+\.\d+/)[0]));
}

test("every view is of the living model", async (t) => {
  const page = await fresh(t);
  for (const [view, figures] of [
    ["heads", ["heads"]],
    ["training", ["heads-shares", "heads-entropy", "heads-distance"]],
    ["written", ["heads-written"]],
    ["head", ["attention"]],
  ]) {
    await openView(page, view);
    for (const figure of figures) await live(page, figure);
  }
  await openView(page, "heads");
  await byId(page, "head-l2-h1").click();
  await byId(page, "heads-enlarge").click();
  await page.getByRole("heading", { name: /^Layer 2, head 1 after/ }).waitFor();
});

test("at the start no head is said to stand out", async (t) => {
  const page = await fresh(t);
  await openView(page, "numbers");
  await eventually(async () => /no head stands out yet/.test(await byId(page, "heads-summary").textContent()), "the summary");
  await eventually(async () => /no head prefers the previous token yet/.test(await byId(page, "beat-5").textContent()), "the story");
});

test("heads differ, and their numbers are those of the weights on show", async (t) => {
  const page = await open(t);
  assert.equal(await page.locator(".head-grid .head").count(), 8);
  const length = (await page.locator(".token-row .token").count());
  await openView(page, "numbers");
  const rows = [];
  for (let head = 1; head <= 4; head++) {
    rows.push({
      entropy: await value(page, 1, head, "entropy"),
      previous: await value(page, 1, head, "previous"),
      first: await value(page, 1, head, "first"),
    });
  }
  for (const { entropy, previous, first } of rows) {
    assert(entropy >= 0 && entropy <= Math.log(length));
    assert(previous >= 0 && previous <= 1 && first >= 0 && first <= 1);
  }
  // Some head looks at the previous token far more than one without preference.
  const alike = Number(await byId(page, "heads-alike").locator('[data-stat="previous"]').getAttribute("title"));
  assert(Math.max(...rows.map((row) => row.previous)) > 3 * alike);
  assert.match(await byId(page, "heads-summary").textContent(), /L\d H\d looks most at the previous token/);
  const { columns, rows: lines } = await exported(page, "heads-numbers");
  assert.equal(lines.length, 8);
  const column = (name) => lines.slice(0, 4).map((line) => line[columns.indexOf(name)]);
  assert.deepEqual(column("entropy"), rows.map((row) => row.entropy));
  assert.deepEqual(column("on the previous"), rows.map((row) => row.previous));
  // Under its picture, a head with a job has the same words and the share that goes with them.
  const none = ["mixed", "spread evenly"];
  const jobs = lines.map((line) => line[columns.indexOf("tends to")]).map((job) => (none.includes(job) ? "" : job));
  const share = { "previous token": "on the previous", "first token": "on the first" };
  await openView(page, "heads");
  const said = (part) => page.locator(".head-grid .head-job").evaluateAll((all, part) => all.map((job) => job[part]?.textContent ?? ""), part);
  await eventually(async () => (await said("firstElementChild")).join() === jobs.join(), "jobs");
  for (const [at, text] of (await said("lastElementChild")).entries()) {
    const of = share[jobs[at]];
    if (of) assert.equal(text, ` ${Math.round(100 * lines[at][columns.indexOf(of)])}%`);
  }
  // What the numbers are stands above them.
  const note = jobs.some((job) => job) ? /with what mean share of its weight in this sentence/ : /no head has a clear habit/;
  await eventually(async () => note.test(await byId(page, "heads-cost").textContent()), "the note");
  await openView(page, "head");
  assert.equal(await page.locator(".head-grid .head-job").count(), 0);
});

test("at first the sharpest row of the chosen head is on show, and a chosen one stays", async (t) => {
  const page = await open(t);
  const query = () => page.locator(".token-row .token.query").getAttribute("data-testid");
  const first = await query();
  const arcs = () => page.locator(".arcs path").count();
  assert((await arcs()) < 15, `${await arcs()} arcs`);
  await byId(page, first === "token-4" ? "token-5" : "token-4").click();
  const chosen = await query();
  assert.notEqual(chosen, first);
  await page.mouse.move(5, 5);
  await byId(page, "head-l2-h2").click();
  assert.equal(await query(), chosen);
});

test("a small picture enlarges its head, everywhere on the page", async (t) => {
  const page = await open(t);
  await byId(page, "head-l2-h3").click();
  await eventually(async () => parameter(page, "heads-head") === "3" && parameter(page, "heads-layer") === "2");
  await page.getByRole("heading", { name: /^Layer 2, head 3 after/ }).waitFor();
  await openView(page, "training");
  await eventually(async () => /^Layer 2, head 3, at 31 recorded steps/.test(await byId(page, "heads-track").textContent()));
  await page.getByRole("heading", { name: "Layer 2, head 3: entropy" }).waitFor();
  // What the heads write adds up to the layer's output.
  await openView(page, "written");
  await eventually(async () => /output|computed: \d/.test(await byId(page, "heads-written-sum").textContent()));
  assert((await number(page, "heads-written-sum")) < 1e-5);
});

test("switching heads off: several at once, with the change of the loss", async (t) => {
  const page = await open(t);
  const alone = await costs(page);
  await openView(page, "heads");
  await byId(page, "heads-switch").click();
  await byId(page, "head-l1-h1").click();
  await byId(page, "head-l2-h2").click();
  await eventually(async () => parameter(page, "heads-off") === "1.1,2.2");
  assert.equal(await byId(page, "head-l1-h1").getAttribute("aria-label"), "layer 1, head 1, switched off");
  await eventually(async () => /L1 H1, L2 H2 off/.test(await byId(page, "heads-cost").textContent()));
  const exact = async (id) => Number(await byId(page, id).getAttribute("data-value"));
  const [before, after, change] = [await exact("heads-before"), await exact("heads-after"), await exact("heads-change")];
  assert(Math.abs(after - before - change) < 2e-4, `${before} ${after} ${change}`);
  const cost = byId(page, "heads-cost");
  assert.match(await cost.textContent(), /^[+−]\d\.\d{3} ± 0\.\d{3} nats per character.*, with /);
  assert.match(await byId(page, "beat-7").textContent(), /a mean over 1024 characters in 16 windows/);
  assert(await cost.evaluate((said) => said.scrollHeight <= said.clientHeight), "all of it is in sight");
  // Exactly nothing is written by what is off.
  await openView(page, "numbers");
  await eventually(async () => (await value(page, 1, 1, "written")) === 0);
  // What does nothing is not ranked.
  await eventually(async () => {
    const summary = await byId(page, "heads-summary").textContent();
    return /of the heads that are on/.test(summary) && !/L1 H1 (looks|chooses)|L2 H2 (looks|chooses)/.test(summary);
  }, "the summary is of the heads that are on");
  await openView(page, "heads");
  // Back on; then one alone costs what its row says.
  await byId(page, "head-l2-h2").click();
  await eventually(async () => /with only L1 H1 off/.test(await byId(page, "heads-cost").textContent()));
  const one = await exact("heads-change");
  assert(Math.abs(one - alone[0]) < 1e-4, `${one} ${alone[0]}`);
  await byId(page, "heads-all-off").click();
  await eventually(async () => /all heads off.*No token sees another/.test(await byId(page, "heads-cost").textContent()));
  const none = await exact("heads-change");
  assert(none > Math.max(...alone));
  await byId(page, "heads-all-on").click();
  await eventually(async () => parameter(page, "heads-off") === null);
});

test("a cell of the enlarged head is worked out, and a link opens it", async (t) => {
  const page = await fresh(t, "&heads-layer=1&heads-head=2&heads-query=10&heads-key=9");
  const inspector = byId(page, "cell-inspector");
  await inspector.waitFor();
  assert.deepEqual([await inspector.getAttribute("data-query"), await inspector.getAttribute("data-key")], ["9", "8"]);
  assert.match(await byId(page, "inspector-title").textContent(), /layer 1, head 2/);
  // The last step is below the fold; its link leads there, by keyboard too.
  const last = inspector.locator("h4").last();
  await byId(page, "inspector-step-4").press("Enter");
  await eventually(() => last.evaluate((heading) => heading === document.activeElement));
  const tops = await last.evaluate((heading) => [
    heading.getBoundingClientRect().top,
    heading.closest(".inspector").querySelector(".inspector-head").getBoundingClientRect().bottom,
  ]);
  assert(tops[0] >= tops[1] && tops[0] < tops[1] + 400, `${tops}`);
  await byId(page, "inspector-key-before").click();
  await eventually(async () => parameter(page, "heads-key") === "8");
  await byId(page, "inspector-close").click();
  await eventually(async () => parameter(page, "heads-query") === null);
  assert.equal(await inspector.count(), 0);
});

test("while the story asks which head it is, none is framed until one is chosen", async (t) => {
  const page = await site.open(t, "?chapter=heads&idea=3");
  await live(page, "heads");
  await page.locator('.beat-on [data-testid="check-heads-previous"]').waitFor();
  const framed = () => page.locator(".figure-heads .head").evaluateAll((heads) =>
    heads.filter((head) => getComputedStyle(head).outlineWidth === "3px").map((head) => head.dataset.testid));
  assert.deepEqual(await framed(), []);
  await byId(page, "head-l1-h2").click();
  await eventually(async () => (await framed()).join() === "head-l1-h2", "the chosen one is framed");
});

test("who comes back from one head finds the heads as they were left", async (t) => {
  const page = await open(t);
  const goTo = async (beat, heads) => {
    await page.keyboard.press("PageDown");
    await eventually(() => parameter(page, "idea") === String(beat), "the next beat");
    await byId(page, "settings-open").filter({ hasText: heads }).waitFor();
  };
  const one = await noted(page, "loss-step");
  await goTo(1, "1 head,");
  await one((step) => step < WARM, "less");
  await numberUntil(page, "loss-step", (step) => step === WARM);
  await train(page, WARM + 10);
  const back = await noted(page, "loss-step");
  await goTo(2, "4 heads,");
  await numberUntil(page, "loss-step", (step) => step === WARM);
  assert(Math.min(...(await back.numbers())) === WARM, "none of its steps is taken again");
  // What is asked of the pictures fits them.
  await page.locator(".beat-on .beat-do", { hasText: /Where do two heads differ most|look alike/ }).waitFor();
});

test("the panel and the map read the same weight of a cell while it trains", async (t) => {
  const page = await fresh(t, "&idea=4");
  await byId(page, "inspector-title").waitFor();
  const numbers = () => page.evaluate(() => {
    const read = (selector) => document.querySelector(selector)?.textContent ?? "";
    const [, panel] = read('[data-testid="inspector-title"]').match(/: ([\d.]+)%/) ?? [];
    const [, line] = read(".attention-line").match(/: ([\d.]+)/) ?? [];
    return [Number(panel) / 100, Number(line)];
  });
  await byId(page, "train-toggle").click();
  let most = 0;
  for (const until of [20, 30, 40, 50]) {
    await numberUntil(page, "loss-step", (step) => step >= until);
    // The picture comes with the next frame.
    await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
    const [panel, line] = await numbers();
    most = Math.max(most, Math.abs(panel - line));
  }
  assert(most < 0.005, `${most}`);
});

test("the check's answer is measured", async (t) => {
  const page = await open(t);
  await costs(page);
  await byId(page, "check-heads-option-0").waitFor();
  // What is read adds up.
  const asked = (await byId(page, "check-heads").innerText()).replaceAll("−", "-");
  const [one, other, sum] = asked.match(/[+-]\d\.\d{4}/g).map(Number);
  assert.equal((one + other).toFixed(4), sum.toFixed(4), asked);
  let right = 0;
  for (const option of [0, 1, 2]) {
    await byId(page, `check-heads-option-${option}`).check();
    await eventually(async () => (await byId(page, "check-heads-submit").getAttribute("aria-disabled")) !== "true");
    await byId(page, "check-heads-submit").click();
    const verdict = byId(page, "check-heads-verdict");
    await eventually(async () => (await verdict.getAttribute("data-right")) !== null);
    assert.match(await verdict.textContent(), /Measured: [+−]\d\.\d{4}.*the sum is/);
    if ((await verdict.getAttribute("data-right")) === "true") {
      right += 1;
      break;
    }
  }
  assert.equal(right, 1);
});

test("by keyboard alone: choose, switch off, work a cell out", async (t) => {
  const page = await fresh(t);
  await openView(page, "heads");
  await byId(page, "heads-switch").focus();
  await page.keyboard.press("Enter");
  await byId(page, "head-l1-h1").focus();
  for (const key of ["ArrowRight", "ArrowDown", "Enter"]) await page.keyboard.press(key);
  await eventually(async () => parameter(page, "heads-off") === "2.2");
  assert.equal(await page.evaluate(() => document.activeElement?.dataset.testid), "head-l2-h2");
  await page.keyboard.press("Space");
  await eventually(async () => parameter(page, "heads-off") === null);
  await openView(page, "head");
  await byId(page, "attention-heatmap").focus();
  for (const key of ["ArrowLeft", "Enter"]) await page.keyboard.press(key);
  await byId(page, "cell-inspector").waitFor();
  await eventually(async () => parameter(page, "heads-query") !== null);
  await page.keyboard.press("Escape");
  await eventually(async () => parameter(page, "heads-query") === null);
});

test("long and short sentences, three heads, and text too short to measure on", async (t) => {
  const page = await fresh(t);
  await byId(page, "probe-input").fill("abcdefgh".repeat(64));
  await eventually(async () => /Cut to its first 400/.test(await byId(page, "probe-note").textContent()));
  await eventually(async () => /has 400 characters.*its last 64/.test(await byId(page, "probe-note").textContent()));
  await eventually(async () => (await page.locator(".token-row .token").count()) === 64);
  await byId(page, "probe-input").fill("x");
  await openView(page, "numbers");
  await byId(page, "heads-too-short").waitFor();
  assert.equal(await stat(page, 1, 1, "entropy").textContent(), "–");
  await openView(page, "head");
  await byId(page, "probe-input").fill("");
  await eventually(async () => /at least one character/.test(await byId(page, "probe-problem").textContent()));
  // Heads that do not divide the width are refused; the model on show goes on.
  await byId(page, "try-heads-three").click();
  await eventually(async () => /3 heads do not divide a width of 32/.test(await page.locator("main").textContent()));
  assert.equal(await page.locator(".head-grid .head").count(), 8);
});


test("on a phone, what a cell comes to and what a head costs are in sight", async (t) => {
  const phone = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true };
  const page = await open(t, "&heads-off=1.1&heads-switching=1&heads-query=10&heads-key=9", phone);
  const seen = (part) => part.evaluate((part) => {
    const [box, room] = [part, part.closest(".attention-inspector, .view")].map((element) => element.getBoundingClientRect());
    return box.width > 0 && box.left >= room.left && box.right <= room.right && box.top >= room.top && box.bottom <= room.bottom;
  });
  for (const id of ["dot", "scaled", "exponent", "weight"]) {
    await eventually(() => seen(byId(page, `inspector-${id}`)), `${id} is in sight`);
  }
  await costs(page);
  for (const name of ["cost", "entropy", "previous"]) assert(await seen(stat(page, 1, 4, name)), `${name} is in sight`);
  await openView(page, "heads");
  for (const id of ["heads-change", "heads-after", "head-l2-h4"]) {
    await eventually(() => seen(byId(page, id)), `${id} is in sight`);
  }
});
