// The chapter `alignment`: what a learner does there, and what must be true on the screen.
import assert from "node:assert/strict";

import {
  asNumber,
  byId,
  eventually,
  exported,
  live,
  number,
  numberUntil,
  openSettings,
  openView,
  parameter,
  paused,
  rested,
  settled,
  test,
  train,
  useSite,
} from "./harness.mjs";

const site = useSite();
/** Steps the chapter takes by itself. */
const WARM = 40;
/** Steps after which its line is there. */
const LEARNED = 100;

/** Opens the chapter with models that have learned something. */
async function open(t, query = "", options = {}, steps = LEARNED) {
  const page = await site.open(t, `?chapter=alignment&step=${steps}${query}`, options);
  await live(page, "alignment");
  await rested(page, steps);
  return page;
}

/** The same with models that are hardly trained, where it is not about what they learned. */
const fresh = (t, query, options) => open(t, query, options, 2);

const chips = (page, row) => byId(page, row).locator(".alignment-mark").allTextContents();
const output = (page, model = 0) => chips(page, `alignment-output-${model}`);
const source = (page) => chips(page, "alignment-source-row");
/** The weights under the source characters, as the page holds them. */
const shares = (page) =>
  byId(page, "alignment-source-row")
    .locator(".alignment-chip")
    .evaluateAll((all) => all.map((chip) => Number(chip.dataset.share ?? "NaN")));
const sum = (values) => values.reduce((a, b) => a + b, 0);

test("a produced character lights what it was made from: shares of 1, and mirrored for a reversal", async (t) => {
  const page = await open(t);
  const length = (await source(page)).length;
  assert.equal(length, 8);
  const produced = (await output(page)).length;
  let mirrored = 0;
  for (let i = 0; i < Math.min(produced, length); i += 1) {
    await byId(page, `alignment-output-0-${i}`).hover();
    await eventually(async () => (await byId(page, `alignment-output-0-${i}`).getAttribute("aria-selected")) === "true");
    const row = await shares(page);
    assert(Math.abs(sum(row) - 1) < 1e-4, `${row}`);
    mirrored += row[length - 1 - i];
    // The sentence names the largest.
    const most = row.indexOf(Math.max(...row));
    const sentence = await byId(page, "alignment-weights-readout").textContent();
    assert(sentence.includes(`(${most + 1}) ${(100 * row[most]).toFixed(1)}%`), sentence);
  }
  assert(mirrored / length > 0.3, `the line is there: ${mirrored / length}`);
  // A source character shows who read it; together with the matrix.
  await byId(page, "alignment-source-2").hover();
  await eventually(async () => (await byId(page, "alignment-output-0-0").getAttribute("data-share")) !== null);
  const cells = byId(page, "alignment-weights-cells");
  await cells.focus();
  await page.keyboard.press("Home");
  const value = Number(await byId(page, "alignment-weights-readout").getAttribute("data-value"));
  const [row, column] = ["row", "column"].map(async (what) =>
    Number(await byId(page, "alignment-weights-readout").getAttribute(`data-${what}`)));
  await eventually(async () =>
    (await byId(page, `alignment-output-0-${await row}`).getAttribute("aria-selected")) === "true");
  assert.equal((await shares(page))[await column], value);
});

test("the matrix changes while it trains, and attention leads on the same steps", async (t) => {
  const page = await open(t);
  const before = await shares(page);
  assert((await number(page, "alignment-right-0")) > (await number(page, "alignment-right-1")) + 15);
  await byId(page, "train-toggle").click();
  // Live: what is on show changes before training stops.
  await eventually(async () => (await shares(page)).join() !== before.join());
  await numberUntil(page, "loss-step", (step) => step >= 250, "250");
  await byId(page, "train-toggle").click();
  await paused(page);
  assert((await number(page, "alignment-right-0")) > 75);
  assert((await number(page, "alignment-right-1")) < (await number(page, "alignment-right-0")) - 25);
  await openView(page, "training");
  assert.match(await byId(page, "alignment-reached").textContent(), /Bahdanau: 95% first reached at step \d+.*no attention: not at 95% yet/);
  await openView(page, "lengths");
  await eventually(async () => /At step \d+, 12 held-out sources of each length.*up to 8/.test(
    await byId(page, "alignment-lengths-note").textContent()));
});

test("the line is yet to come when the chapter opens, and rows keep their height while it does", async (t) => {
  const page = await site.open(t, "?chapter=alignment");
  await live(page, "alignment");
  await rested(page, WARM);
  const story = (number) => byId(page, `beat-${number}`).innerText();
  const height = () => byId(page, "alignment-weights-cells").evaluate((cells) => cells.clientHeight);
  await eventually(async () => /hold \d+% of their rows’ weight, and neither model is ahead\.\s+Press Train/.test(await story(3)));
  // A lead that cannot be read off the percentages is none; the row that is asked about is not yet on show.
  assert.match(await story(1), /No character stands out yet\.\s+Press Train, and watch/);
  assert.doesNotMatch(await story(0), /They do/);
  assert.equal(await byId(page, "alignment-output-0-0").getAttribute("aria-selected"), "true");
  const before = await height();
  assert.match(await byId(page, "figure-alignment").innerText(), /95%[^]*the model without attention writes[^]*Red marks a mistake/i);
  await train(page, 200);
  await eventually(async () => /hold \d+% of their rows’ weight\.\s+Press “Replay”/.test(await story(3)));
  await eventually(async () => /Press “Replay”/.test(await story(1)));
  await eventually(async () => /form a pattern\? Yes: the model reads right to left/.test(await story(0)));
  assert.equal(await height(), before);
  assert.match(await story(6), /Over the lengths trained on, 1 to 8, /);
});

test("who comes back from the dates finds the letters as they were left", async (t) => {
  const page = await site.open(t, "?chapter=alignment&idea=4");
  await rested(page, WARM);
  const step = await train(page, WARM + 30);
  await page.keyboard.press("PageDown");
  await numberUntil(page, "loss-step", (now) => now === WARM, "the dates begin anew");
  await train(page, WARM + 20);
  await page.keyboard.press("PageDown");
  await numberUntil(page, "loss-step", (now) => now === step, `${step} again`);
});

test("the decoder is stepped one character at a time", async (t) => {
  const page = await open(t);
  const whole = await output(page);
  await byId(page, "alignment-next").focus();
  for (const count of [1, 2, 3]) {
    await page.keyboard.press("Enter");
    await eventually(async () => parameter(page, "alignment-steps") === String(count));
    assert.deepEqual((await output(page)).slice(0, count), whole.slice(0, count));
    assert((await output(page)).slice(count).every((mark) => mark === ""));
    assert.equal(await byId(page, `alignment-output-0-${count - 1}`).getAttribute("aria-selected"), "true");
    assert.match(await byId(page, "alignment-progress").textContent(), new RegExp(`character ${count} of`));
  }
  // The story speaks of the row on show.
  await eventually(async () => /Written character 3: |No character stands out/.test(await byId(page, "beat-2").innerText()));
  await byId(page, "alignment-back").click();
  await eventually(async () => parameter(page, "alignment-steps") === "2");
  await byId(page, "alignment-all").click();
  await eventually(async () => (await output(page)).join() === whole.join());
  await eventually(async () => (await byId(page, "alignment-all").getAttribute("aria-pressed")) === "true");
});

test("a cell opens its arithmetic: additive for Bahdanau, a product for Luong's dot", async (t) => {
  const page = await fresh(t, "&alignment-at=2&alignment-key=4");
  await openView(page, "score");
  const inspector = byId(page, "cell-inspector");
  await inspector.waitFor();
  assert.match(await inspector.textContent(), /tanh/);
  // In the words of this chapter: those of the next are not yet known.
  assert.doesNotMatch(await inspector.innerText(), /\b(key|keys|query|value|values)\b/i);
  assert.equal(await inspector.locator(".inspector-steps > li").count(), 3);
  await byId(page, "alignment-source-0").click();
  await eventually(async () => parameter(page, "alignment-key") === "1");
  const dot = await fresh(t, "&alignment-attention=dot&alignment-beside=dot&alignment-at=2&alignment-key=4");
  await openView(dot, "score");
  await byId(dot, "cell-inspector").waitFor();
  assert.doesNotMatch(await byId(dot, "cell-inspector").textContent(), /tanh/);
});

test("the beat about one weight reads a source without the letters of its vectors, and marks the steps", async (t) => {
  const page = await site.open(t, "?chapter=alignment&idea=4");
  await rested(page, WARM);
  await eventually(async () => (await source(page)).length === 8);
  assert.doesNotMatch((await source(page)).join(""), /[abmv]/);
  for (const step of [1, 2, 3]) {
    await page.locator(`[data-testid="inspector-step-${step}"][data-cue]`).waitFor();
  }
});

test("two ways to look back stand side by side, each with its matrix", async (t) => {
  const page = await open(t);
  assert.equal(await byId(page, "figure-alignment-weights-beside").count(), 0);
  await byId(page, "try-dot").click();
  await byId(page, "figure-alignment-weights-beside").waitFor();
  await rested(page, WARM);
  await byId(page, "alignment-output-1-0").hover();
  await eventually(async () => /^Weights for .+: /.test(await byId(page, "alignment-weights-beside-readout").textContent()));
  assert(Math.abs(sum(await shares(page)) - 1) < 1e-4);
});

test("own sources: empty, unknown, too long, and dates", async (t) => {
  const page = await fresh(t);
  const field = byId(page, "alignment-source");
  await field.fill("");
  await eventually(async () => /at least one character/.test(await byId(page, "alignment-problem").textContent()));
  await field.fill("abc");
  await eventually(async () => (await source(page)).join("") === "abc");
  assert.equal(await byId(page, "alignment-problem").textContent(), "");
  await field.fill("ab\u{1F642}");
  await eventually(async () => (await source(page)).join("") === "ab□");
  assert.match(await byId(page, "alignment-note").textContent(), /never met ‘\u{1F642}’.*no right answer/u);
  await field.fill("abcdefghijkl");
  await eventually(async () => /Longer than any source trained on \(8/.test(await byId(page, "alignment-note").textContent()));
  await field.fill("x".repeat(60));
  await eventually(async () => /first 40 characters are read, 20 are left out/.test(await byId(page, "alignment-note").textContent()));
  assert.equal((await source(page)).length, 40);
  await byId(page, "alignment-another").click();
  await eventually(async () => (await source(page)).length === 8);
});

test("the check's answer is the largest weight of the live model", async (t) => {
  const page = await open(t);
  const verdict = byId(page, "check-alignment-verdict");
  // The story tells of the first two characters.
  await byId(page, "alignment-output-0-2").hover();
  await eventually(async () => (await byId(page, "alignment-output-0-2").getAttribute("aria-selected")) === "true");
  const row = await shares(page);
  const most = row.indexOf(Math.max(...row));
  const options = page.locator('[data-testid^="check-alignment-option-"]');
  const labels = await options.evaluateAll((all) => all.map((o) => o.closest("label")?.textContent ?? o.parentElement.textContent));
  const right = labels.findIndex((label) => label.includes(`(${most + 1})`));
  assert(right >= 0, `${labels} has no ${most + 1}`);
  await options.nth(right).check();
  await byId(page, "check-alignment-submit").click();
  await eventually(async () => (await verdict.getAttribute("data-right")) === "true");
  // Before training the largest is chance.
  const early = await site.open(t, "?chapter=alignment&step=40");
  await byId(early, "check-alignment").getByText("The question comes as soon as").waitFor();
});

test("by keyboard alone: chips, a kept character, a cell", async (t) => {
  const page = await fresh(t, "&alignment-at=0");
  await byId(page, "alignment-output-0-0").focus();
  await page.keyboard.press("ArrowRight");
  const focused = () => page.evaluate(() => document.activeElement?.dataset.testid);
  assert.equal(await focused(), "alignment-output-0-1");
  await page.keyboard.press("Enter");
  await eventually(async () => parameter(page, "alignment-at") === "2");
  await byId(page, "alignment-source-0").focus();
  await page.keyboard.press("End");
  assert.equal(await focused(), "alignment-source-7");
  await page.keyboard.press("Enter");
  await eventually(async () => parameter(page, "alignment-key") === "8");
  await byId(page, "cell-inspector").waitFor();
  await page.keyboard.press("Escape");
  await eventually(async () => (await byId(page, "cell-inspector").count()) === 0);
  // A cell of the matrix opens as well.
  const cells = byId(page, "alignment-weights-cells");
  await cells.focus();
  await page.keyboard.press("Home");
  await page.keyboard.press("Enter");
  await byId(page, "cell-inspector").waitFor();
  await eventually(async () => parameter(page, "alignment-key") === "1");
  // From there the keyboard goes back to the cells.
  await eventually(() => page.evaluate(() => document.activeElement?.closest(".alignment-score") !== null), "the inspector has the focus");
  await page.keyboard.press("Escape");
  await eventually(async () => (await focused()) === "alignment-weights-cells", "the matrix has it again");
});

test("each view comes on show and is live", async (t) => {
  const page = await fresh(t);
  for (const [view, figures] of [
    ["score", []],
    ["expects", ["alignment-expected", "alignment-expected-beside"]],
    ["lengths", ["alignment-lengths"]],
    ["training", ["alignment-training"]],
    ["beam", ["alignment-beam"]],
    ["reads", ["alignment", "alignment-weights"]],
  ]) {
    await openView(page, view);
    for (const figure of figures) await live(page, figure);
    if (view === "score") {
      // Without a choice: what the character on show reads most.
      await byId(page, "cell-inspector").waitFor();
    }
  }
  await byId(page, "alignment-lengths-small").click();
  await live(page, "alignment-lengths");
});

test("the beat about dates reads one whose day is not its month", async (t) => {
  const page = await site.open(t, "?chapter=alignment&idea=5");
  await rested(page, WARM);
  await eventually(async () => (await byId(page, "alignment-source").inputValue()) === "21st april 1951");
});

test("a search keeps several dates, beside the greedy one", async (t) => {
  const page = await site.open(t, `?chapter=alignment&step=${LEARNED}&alignment-task=dates&view=beam`);
  await live(page, "alignment-beam");
  await rested(page, LEARNED);
  const rows = byId(page, "alignment-beam-table").locator("tbody tr");
  assert.equal(await rows.count(), 3);
  const logs = (await rows.locator("td:nth-child(3)").allTextContents()).map(asNumber);
  assert(logs[0] >= logs[1] && logs[1] >= logs[2], `${logs}`);
  const written = async () => (await rows.locator("td:nth-child(2)").allTextContents()).map((text) => text.replace(/ …$/, ""));
  const [best, ...others] = await written();
  // After 100 steps dates look like dates.
  assert.match([best, ...others].join(" "), /\d{4}-\d\d-\d\d/);
  // It says of what, and by which of the two models.
  const from = await byId(page, "alignment-beam-table").locator("caption").textContent();
  assert.match(from, /^Model: Bahdanau\. Input: .*\d/);
  const said = await byId(page, "alignment-beam-said").textContent();
  const file = await exported(page, "alignment-beam", "json");
  assert.equal(file.rows.length, 3);
  await byId(page, "control-alignment-beam").press("Home");
  await eventually(async () => (await rows.count()) === 1);
  await settled(page);
  assert.match(await byId(page, "alignment-beam-said").textContent(), /^Greedy found the likeliest/);
  await eventually(() => parameter(page, "alignment-beam") === "1", "the link says so");
  // A beam of one is the greedy choice: with it the three were compared.
  const [greedy] = await written();
  const sure = asNumber(await rows.locator("td:nth-child(3)").textContent());
  if (best === greedy) assert.match(said, /^Greedy found the likeliest of these too/);
  else if (logs[0] > sure) assert(said.startsWith(`Greedy wrote ${greedy} with ln p = `), said);
  else assert.match(said, /^Greedy’s answer/);
  // And it is what the other views show of the same source and model.
  await openView(page, "reads");
  await live(page, "alignment");
  assert.equal(from.replace(/^.*Input: /, ""), await byId(page, "alignment-source").inputValue());
  assert.equal((await output(page)).filter((mark) => mark.length === 1).join(""), greedy);
});

test("settings name the model, and a model without attention has no matrix", async (t) => {
  const page = await fresh(t);
  assert.match(await byId(page, "settings-open").textContent(), /Bahdanau, 32 units/);
  await openSettings(page);
  await byId(page, "control-alignment-attention-none").check();
  await eventually(async () => /Without attention there is no matrix/.test(await byId(page, "figure-alignment").textContent()));
  assert.match(await byId(page, "settings-open").textContent(), /no attention/);
});

test("a model that the address gives stays when the story goes on", async (t) => {
  for (const [beat, next] of [["", "1"], ["&idea=1", "2"]]) {
    const page = await fresh(t, `&alignment-hidden=20${beat}`);
    assert.equal(parameter(page, "alignment-hidden"), "20");
    await page.keyboard.press("PageDown");
    await eventually(() => parameter(page, "idea") === next, "the next beat");
    assert.equal(parameter(page, "alignment-hidden"), "20");
  }
});
