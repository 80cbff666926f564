// The chapter `birnn`: what a learner does there, and what must be true on the screen.
import assert from "node:assert/strict";

import {
  asNumber,
  atRest,
  byId,
  drawn,
  eventually,
  fitsEverywhere,
  live,
  number,
  numberUntil,
  openSettings,
  openView,
  parameter,
  paused,
  rested,
  test,
  useSite,
} from "./harness.mjs";

const site = useSite();
/** Steps the chapter takes by itself. */
const WARM = 120;

/** Opens the chapter and waits until its models have taken their first steps and rest. */
async function open(t, query = "", options = {}, steps = WARM) {
  const page = await site.open(t, `?chapter=birnn${steps === WARM ? "" : `&step=${steps}`}${query}`, options);
  await live(page, "birnn");
  await rested(page, steps);
  return page;
}

/** The same with models that are hardly trained, where it is not about what they learned. */
const fresh = (t, query, options) => open(t, query, options, 1);

const shownProbability = async (page) =>
  asNumber(await page.locator('[data-testid="figure-birnn-bars-both"] li.marked .bar-value').textContent().catch(() => "NaN")) / 100;
const tableProbability = async (page) =>
  asNumber(await byId(page, "birnn-parts-both").locator("td").last().textContent().catch(() => "NaN"));

const cell = (page, row, column) => page.locator(`[data-cell="${row}-${column}"]`);
const row = (page, name) => byId(page, `birnn-row-${name}`).locator(".birnn-cell");
const changes = (page, name) =>
  row(page, name).evaluateAll((cells) => cells.map((c) => (c.dataset.change === undefined ? null : Number(c.dataset.change))));
const texts = (page, name) => row(page, name).allTextContents();

test("what lies in the future: forward stays at chance, both ways solves it, a delay reaches just as far", async (t) => {
  const page = await open(t);
  const right = async (reader) => (await number(page, `birnn-right-${reader}`)) / 100;
  assert.equal(await number(page, "birnn-chance"), 25);
  // The beats about the text have no numbers of the made-up symbols, nor those about symbols of the text.
  const told = (beat) => byId(page, `beat-${beat}`).locator(".beat-body > p").allTextContents();
  const numbered = async (beat) => /\d%/.test((await told(beat)).join(" "));
  assert.deepEqual([await numbered(1), await numbered(6)], [true, false]);
  assert.equal(await byId(page, "source-open").count(), 0);
  assert((await right("both")) > 0.95);
  assert(Math.abs((await right("forward")) - 0.25) < 0.05);
  // The answer lies 3 ahead, the delay is 2, which its row says.
  assert.match(await byId(page, "birnn-score-delayed").textContent(), /^guesses 3 ahead, after reading 2 more: \d+ of \d+ right here$/);
  assert.match(await byId(page, "birnn-score-forward").textContent(), /^guesses 3 ahead: \d+ of \d+ right here$/);
  assert(Math.abs((await right("delayed")) - 0.25) < 0.05);
  await byId(page, "control-birnn-ahead").press("ArrowLeft");
  await eventually(async () => (await right("delayed")) > 0.95, "2 ahead is within the delay");
  // A longer delay trains anew and reaches further. (A new run may be over before it is seen.)
  await openSettings(page);
  await byId(page, "control-birnn-delay").press("End");
  await eventually(async () => Number(parameter(page, "birnn-delay")) > 2, "the longer delay is in the link");
  await byId(page, "control-birnn-ahead").press("End");
  await numberUntil(page, "birnn-right-delayed", (share) => share > 95, "above 95%");
});

test("a position shows what reaches it, and an edit moves just that", async (t) => {
  const page = await fresh(t);
  // Forward states: all up to it. Rows: inputs, forward, its answers, both ways' two states.
  const lit = () => row(page, "inputs").evaluateAll((cells) => cells.map((c) => c.classList.contains("is-lit")));
  for (const [name, sees] of [
    ["forward-forward", (j) => j <= 5],
    ["both-backward", (j) => j >= 5],
    ["both-answers", () => true],
    ["delayed-answers", (j) => j <= 7],
  ]) {
    await row(page, name).nth(5).hover();
    await eventually(async () => (await lit()).some(Boolean));
    assert.deepEqual(await lit(), Array.from({ length: 16 }, (_, j) => sees(j)), name);
  }
  // Change the eighth symbol, by keyboard.
  await byId(page, "birnn-edit-mode").focus();
  await page.keyboard.press("Enter");
  await row(page, "inputs").nth(7).focus();
  const before = (await texts(page, "inputs"))[7];
  await page.keyboard.press(before === "a" ? "b" : "a");
  await eventually(async () => (await texts(page, "inputs"))[7] !== before);
  const expected = {
    "forward-forward": (t) => t >= 7,
    "forward-answers": (t) => t >= 7,
    "both-forward": (t) => t >= 7,
    "both-backward": (t) => t <= 7,
    "delayed-answers": (t) => t >= 5,
  };
  for (const [name, reaches] of Object.entries(expected)) {
    const moved = await changes(page, name);
    moved.forEach((change, t) => {
      if (!reaches(t)) assert.equal(change, 0, `${name} at ${t} stays exactly the same`);
      else if (Math.abs(t - 7) < 4 && change !== null) assert(change > 0, `${name} at ${t} changes`);
    });
  }
  // A guess that is wrong keeps its wavy line, changed or not.
  for (const kind of ["changed", "same"]) {
    const wrong = page.locator(`.birnn-answers > .is-wrong.is-${kind}`).first();
    assert.equal(await wrong.evaluate((cell) => getComputedStyle(cell).textDecorationStyle), "wavy", kind);
  }
  // A symbol that does not exist is refused; the last picture stays.
  await page.keyboard.press("z");
  await eventually(async () => /type one of a, b, c, d/.test(await byId(page, "probe-problem").textContent()));
  await page.keyboard.press("Escape");
  await eventually(async () => (await texts(page, "inputs"))[7] === before);
  assert.deepEqual(await changes(page, "both-forward"), Array(16).fill(null));
});

test("the directions' parts and the bias add up to the logit", async (t) => {
  const page = await fresh(t);
  await openView(page, "position");
  await eventually(async () => Math.abs((await shownProbability(page)) - (await tableProbability(page))) < 1e-3, "bars and table agree");
  for (const answer of ["0", "1", "4"]) {
    await byId(page, "control-birnn-answer").selectOption(answer);
    await eventually(async () => (parameter(page, "birnn-answer") ?? "0") === answer);
    await drawn(page);
    for (const reader of ["forward", "both", "delayed"]) {
      const cells = await byId(page, `birnn-parts-${reader}`).locator("td").allTextContents();
      const [forward, backward, bias, logit] = cells.map((text) => (text === "–" ? 0 : asNumber(text)));
      assert(Math.abs(forward + backward + bias - logit) < 2.5e-4, `${reader}: ${cells}`);
      assert.equal(cells[1] === "–", reader !== "both");
    }
  }
});

test("a missing letter: click hides it, both sides beat one, and the right one is marked", async (t) => {
  const page = await open(t, "&birnn-task=fill&birnn-delay=0");
  assert.deepEqual((await texts(page, "inputs"))[10], "▢");
  await byId(page, "train-toggle").click();
  await numberUntil(page, "loss-step", (step) => step >= 400, "400");
  await byId(page, "train-toggle").click();
  await paused(page);
  const right = async (reader) => (await number(page, `birnn-right-${reader}`)) / 100;
  assert((await right("both")) > (await right("forward")) + 0.05);
  assert((await right("both")) > (await number(page, "birnn-chance")) / 100);
  const told = async (beat) => (await byId(page, `beat-${beat}`).locator(".beat-body > p").allTextContents()).join(" ");
  await eventually(async () => /forward is right \d+% of the time, and both ways \d+%/.test(await told(6)));
  for (const beat of [1, 4, 5]) assert.doesNotMatch(await told(beat), /\d%/);
  await row(page, "inputs").nth(1).click();
  await eventually(async () => (await texts(page, "inputs"))[1] === "▢");
  await eventually(async () => /^Hidden: .*\(2\)\. The models’ guesses: forward ‘.*both ways ‘/.test(await byId(page, "birnn-readout").textContent()));
  assert.equal((await texts(page, "inputs"))[10], "t");
  await openView(page, "position");
  for (const who of ["forward", "both"]) {
    const marked = page.locator(`[data-testid="figure-birnn-bars-${who}"] li.marked .bar-name`);
    await eventually(async () => (await marked.textContent()) === "a");
  }
  await openView(page, "states");
  // A hidden letter is nobody's to see: changing it changes nothing.
  await byId(page, "birnn-edit-mode").click();
  await row(page, "inputs").nth(1).click();
  await eventually(async () => /hidden one/.test(await byId(page, "birnn-notes").textContent()));
  await eventually(async () => (await changes(page, "both-forward")).every((change) => change === 0));
});

test("guess a held-out letter before the models say theirs", async (t) => {
  const page = await fresh(t, "&birnn-task=fill&birnn-delay=0");
  await openView(page, "guess");
  const options = page.locator('[data-testid^="check-birnn-passage-option-"]');
  await options.first().waitFor();
  assert.equal(await options.count(), 4);
  // The models' answers have their place from the start, and nothing in it.
  const chart = byId(page, "figure-birnn-guess-both");
  const isEmpty = async () => (await chart.getAttribute("data-state")) === "empty";
  assert(await isEmpty());
  const before = await atRest(chart);
  assert.equal(await page.locator(".birnn-gap").textContent(), "?");
  await options.first().check();
  await byId(page, "check-birnn-passage-submit").click();
  await live(page, "birnn-guess-both");
  assert.deepEqual(await atRest(chart), before);
  assert.notEqual(await page.locator(".birnn-gap").textContent(), "?");
  assert.match(await byId(page, "check-birnn-passage-verdict").textContent(), /It was ‘.’.*forward gave it \d+\.\d%.*both ways gave it/);
  await byId(page, "birnn-passage-next").click();
  await eventually(async () => parameter(page, "birnn-passage") === "2");
  await eventually(isEmpty);
});

test("the check's answer is what really stays the same", async (t) => {
  const page = await fresh(t);
  // A backward state after the change, then a forward state before it.
  for (const right of [3, 2]) {
    await byId(page, `check-birnn-option-${right}`).check();
    await byId(page, "check-birnn-submit").click();
    const verdict = byId(page, "check-birnn-verdict");
    await eventually(async () => (await verdict.getAttribute("data-right")) === "true");
    assert.equal(((await verdict.textContent()).match(/exactly 0/g) ?? []).length, 1);
    await byId(page, "check-birnn-another").click();
  }
});

test("by keyboard alone: cells, pins, and changes", async (t) => {
  const page = await fresh(t);
  await byId(page, "birnn-another").focus();
  await page.keyboard.press("Tab");
  const focused = () => page.evaluate(() => document.activeElement?.dataset.cell);
  assert.equal(await focused(), "0-0");
  for (const key of ["ArrowRight", "ArrowRight", "ArrowDown", "ArrowDown"]) await page.keyboard.press(key);
  assert.equal(await focused(), "2-2");
  assert.match(await byId(page, "birnn-readout").textContent(), /^forward about ‘.’ \(3\)/);
  await page.keyboard.press("ArrowUp");
  await eventually(async () => /forward state at ‘.’ \(3\), unit \d+ of \d+: −?\d\.\d{3}\. It has read/.test(await byId(page, "birnn-readout").textContent()));
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("End");
  assert.equal(await focused(), "2-15");
  await page.keyboard.press("Home");
  await page.keyboard.press("Enter");
  await eventually(async () => parameter(page, "birnn-at") === "1");
  await openView(page, "position");
  assert.match(await byId(page, "figure-birnn-bars-both").textContent(), /position 1/);
});

test("every view has its tab and its living figure", async (t) => {
  const page = await fresh(t);
  await openView(page, "position");
  for (const figure of ["birnn-bars-forward", "birnn-bars-both"]) await live(page, figure);
  await byId(page, "step-3").click();
  await eventually(async () => parameter(page, "birnn-at") === "3");
  await eventually(async () => /position 3/.test(await byId(page, "figure-birnn-bars-both").textContent()));
  await openView(page, "accuracy");
  for (const figure of ["birnn-curves", "birnn-reach"]) await live(page, figure);
  // Shares are read in percent, here as in the rows; and the delay is changed where one sees what it does.
  await eventually(async () => /both ways\s*\d+\.\d%/.test(await byId(page, "birnn-reach-readout").innerText()));
  await byId(page, "birnn-late-by-4").check();
  await eventually(() => parameter(page, "birnn-delay") === "4");
  await eventually(async () => /forward, 4 late/.test(await byId(page, "birnn-reach-readout").innerText()));
  await openView(page, "states");
  await live(page, "birnn");
  assert.match(await byId(page, "settings-open").textContent(), /Elman, 24 units each way/);
  // A letter to guess is of a text: one press trains the models on it.
  await openView(page, "guess");
  await byId(page, "birnn-to-fill").click();
  await page.locator('[data-testid^="check-birnn-passage-option-"]').first().waitFor();
  await eventually(() => parameter(page, "birnn-task") === "fill");
});

test("on a phone one sees what changes an input, and what brings another sequence", async (t) => {
  const page = await fresh(t, "", { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true });
  for (const button of ["birnn-edit-mode", "birnn-another"]) {
    const { x, width } = await atRest(byId(page, button));
    assert(x >= 0 && x + width <= 390, `${button} ends at ${x + width}`);
  }
});

test("on a phone on its side the rows are there", async (t) => {
  const page = await fresh(t, "", { viewport: { width: 844, height: 390 } });
  const [rows, last] = [page.locator(".birnn-scroll"), byId(page, "birnn-row-both-answers")];
  await last.scrollIntoViewIfNeeded();
  const [room, box] = [await atRest(rows), await atRest(last)];
  assert(box.y + box.height <= room.y + room.height + 1, JSON.stringify([room, box]));
});

test("sentences of no and one character, unknown ones, and delays too long are taken with a sentence", async (t) => {
  const page = await fresh(t, "&birnn-task=fill");
  const problem = byId(page, "probe-problem");
  await byId(page, "probe-input").fill("");
  await eventually(async () => /at least one character/.test(await problem.textContent()));
  await byId(page, "probe-input").fill("\u{1F642}");
  await eventually(async () => (await texts(page, "inputs")).join("") === "□");
  assert.match(await byId(page, "probe-note").textContent(), /not in the text/);
  await eventually(async () => /delay of 2 is longer/.test(await byId(page, "birnn-notes").textContent()));
  assert.deepEqual(await texts(page, "delayed-answers"), ["–"]);
  await byId(page, "probe-input").fill("said Fenn");
  await eventually(async () => (await problem.textContent()) === "");
  const refused = await site.open(t, "?chapter=birnn&birnn-delay=20");
  await eventually(async () => /at most 15/.test(await byId(refused, "lab-problem").textContent()));
});

for (const query of ["&birnn-editing=1&birnn-edit=8", "&birnn-task=fill"]) {
  test(`nothing is cut off and nothing hard to read: ${query}`, async (t) => {
    const page = await fresh(t, query);
    await byId(page, "more").locator("> summary").click();
    await fitsEverywhere(page);
  });
}
