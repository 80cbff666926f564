// The chapter `seq2seq`: what a learner does there, and what must be true on the screen.
import assert from "node:assert/strict";

import {
  asNumber,
  byId,
  eventually,
  live,
  number,
  numberUntil,
  openSettings,
  openView,
  parameter,
  rested,
  settled,
  test,
  useSite,
} from "./harness.mjs";

const site = useSite();
/** Steps the chapter takes by itself. */
const WARM = 200;

/** Opens the chapter and waits until its model has taken its first steps and rests. */
async function open(t, query = "", options = {}) {
  const page = await site.open(t, `?chapter=seq2seq${query}`, options);
  await live(page, "transfer");
  await rested(page, WARM);
  return page;
}

const texts = (page, row) => byId(page, row).locator(".transfer-cell").allTextContents();
const tokens = (page) => byId(page, "transfer-written").locator(".transfer-token").allTextContents();
const field = (page) => byId(page, "seq2seq-source");

/** The curve's numbers, from the figure's own table: length and share. */
async function curve(page) {
  await openView(page, "lengths");
  const figure = byId(page, "figure-seq2seq-length");
  await eventually(async () => (await figure.getAttribute("data-state")) === "live", "a curve");
  await figure.locator("summary", { hasText: "Values as a table" }).click();
  const rows = figure.locator("table tbody tr");
  await eventually(async () => (await rows.count()) > 0, "rows");
  return rows.evaluateAll((rows) =>
    rows.map((row) => ({
      length: Number(row.querySelector("th").textContent.match(/\d+/)[0]),
      now: parseFloat(row.querySelector("td").textContent) / 100,
    })),
  );
}

test("accuracy falls with the source's length, while the model is told one vector", async (t) => {
  const page = await open(t);
  assert.equal(await byId(page, "transfer-units").textContent(), "32");
  const right = (await number(page, "seq2seq-right")) / 100;
  const points = await curve(page);
  assert(points[0].length === 1 && points[0].now >= 0.9, JSON.stringify(points));
  assert(points.filter((p) => p.length >= 8).every((p) => p.now <= 0.1), JSON.stringify(points));
  assert(right > 0.1 && right < 0.9, `${right}`);
});

test("while it trains, what is said is of the answer that is drawn", async (t) => {
  const page = await site.open(t, "?chapter=seq2seq");
  await live(page, "transfer");
  const seen = () => page.evaluate(() => {
    const of = (id) => document.querySelector(`[data-testid="${id}"]`);
    const drawn = [...of("transfer-written").querySelectorAll(".transfer-token")].map((token) => token.textContent);
    return { drawn: drawn.filter((token) => token !== "end").join(""), said: of("seq2seq-outcome").textContent };
  });
  const answers = new Set();
  await eventually(async () => {
    const { drawn, said } = await seen();
    if (drawn) assert(said.startsWith(`Written: ${drawn}.`), JSON.stringify({ drawn, said }));
    answers.add(drawn);
    return answers.size > 3 || (await number(page, "loss-step")) >= WARM;
  }, "it has trained");
  // The frame around what the text points at is around letters alone.
  const [letters, legend] = [await byId(page, "transfer-source").boundingBox(), await page.locator(".transfer-scale").boundingBox()];
  assert(letters.y + letters.height <= legend.y, JSON.stringify({ letters, legend }));
});

test("the decoder is stepped one character at a time", async (t) => {
  const page = await open(t);
  await eventually(async () => !(await tokens(page)).includes("·"), "all is written");
  const all = await tokens(page);
  await byId(page, "seq2seq-forth").click();
  await eventually(async () => parameter(page, "seq2seq-at") === "1");
  const hidden = async () => (await tokens(page)).filter((token) => token === "·").length;
  await eventually(async () => (await hidden()) === all.length - 1, "one is written");
  assert.equal((await tokens(page))[0], all[0]);
  const says = () => byId(page, "transfer-readout").textContent();
  assert.match(await says(), /Shaded: written last/);
  await byId(page, "seq2seq-forth").click();
  await eventually(async () => (await hidden()) === all.length - 2, "two are written");
  assert.equal(await byId(page, "seq2seq-progress").textContent(), `2 of ${all.length} steps`);
  await byId(page, "seq2seq-back").click();
  await eventually(async () => (await hidden()) === all.length - 1, "one is written again");
  // A click on a step writes up to it, and shows what could have stood there.
  await byId(page, "transfer-written").locator(".transfer-cell").nth(2).click();
  await eventually(async () => parameter(page, "seq2seq-at") === "3");
  await openView(page, "odds");
  const bars = byId(page, "figure-seq2seq-bars");
  await eventually(async () => /Step 3/.test(await bars.textContent()));
  await openView(page, "vector");
  await byId(page, "seq2seq-all").click();
  await eventually(async () => (await hidden()) === 0, "all is written again");
  assert.doesNotMatch(await says(), /Shaded/);
  // A beat that is not in focus tells of its own setting, not of the present one.
  assert.match(await byId(page, "beat-2").textContent(), /It has 32 numbers/);
  assert.match(await byId(page, "beat-4").textContent(), /only 8 numbers/);
});

test("an own source, greedy beside beam, and what each state still holds", async (t) => {
  const page = await open(t);
  await field(page).fill("ab");
  await eventually(async () => (await texts(page, "transfer-source")).join("") === "ab");
  await eventually(async () => /Correct answer: ba|That is right/.test(await byId(page, "seq2seq-outcome").textContent()));
  await openView(page, "beam");
  const rows = byId(page, "seq2seq-beam-table").locator("tbody tr");
  await eventually(async () => (await rows.count()) === 3);
  const logs = (await rows.locator("td:nth-child(3)").allTextContents()).map(asNumber);
  assert(logs[0] >= logs[1] && logs[1] >= logs[2], `${logs}`);
  await byId(page, "control-seq2seq-beam").press("Home");
  await eventually(async () => (await rows.count()) === 1);
  // A beam of one is the greedy choice.
  assert.match(await byId(page, "seq2seq-beam-said").textContent(), /Greedy found the likeliest/);
  await openView(page, "states");
  const prefixes = byId(page, "seq2seq-prefixes").locator("tbody tr");
  await eventually(async () => (await prefixes.count()) === 2);
  assert.match(await prefixes.nth(0).textContent(), /^1a.*a[✓✗]$/);
  await openView(page, "vector");
  await byId(page, "seq2seq-another").click();
  await eventually(async () => parameter(page, "seq2seq-example") !== "0" && (await texts(page, "transfer-source")).length === 10);
});

test("the beat on beam search looks for a source that only the beam gets right, and it can be typed there", async (t) => {
  const page = await site.open(t, "?chapter=seq2seq&idea=7");
  await rested(page, WARM);
  await live(page, "seq2seq-beam");
  const words = (part) => byId(page, "seq2seq-beam-table").locator(`${part} tr`).allTextContents();
  await byId(page, "seq2seq-find").click();
  await eventually(async () => (await byId(page, "seq2seq-found").textContent()) === "", "it has found one");
  await settled(page);
  const [best] = await words("tbody");
  assert.match(best, /^1 ✓.*right$/);
  const others = [...(await words("tbody")), ...(await words("tfoot"))].filter((row) => row.includes("greedy"));
  assert.equal(others.length, 1);
  assert.match(others[0], /✗.*greedy, wrong$/);
  assert.match(await byId(page, "seq2seq-beam-said").textContent(), /times as likely\. Correct answer: [a-z]+\.$/);
  await field(page).fill("ab");
  await eventually(async () => /Correct answer: ba\.$/.test(await byId(page, "seq2seq-beam-said").textContent()));
});

test("two beats add the twin that they compare with, which goes with them", async (t) => {
  const page = await site.open(t, "?chapter=seq2seq&idea=4&step=20");
  await byId(page, "try-seq2seq-wider").click();
  await eventually(() => parameter(page, "twin") === "seq2seq-hidden:32");
  await page.keyboard.press("PageDown");
  await eventually(() => parameter(page, "twin") === null);
  await byId(page, "try-seq2seq-start").click();
  await eventually(() => parameter(page, "twin") === "seq2seq-backwards:0");
  await numberUntil(page, "loss-step", (step) => step >= WARM, `at least ${WARM}`);
  // One curve in each half: two moments are for one model.
  const names = page.locator('[data-testid="figure-seq2seq-length"] .lines-readout .lines-name');
  await eventually(async () => (await names.allTextContents()).join() === "correct now,correct now");
  await page.keyboard.press("PageDown");
  await eventually(() => parameter(page, "twin") === null);
});

test("the first step is one of all, from the start", async (t) => {
  const page = await site.open(t, "?chapter=seq2seq&idea=1");
  await rested(page, WARM);
  const all = (await tokens(page)).length;
  assert(all > 1);
  await eventually(async () => (await byId(page, "seq2seq-progress").textContent()) === `1 of ${all} steps`);
  assert.equal(await page.locator(".transfer-feeds > i").count(), all, "c goes to every step");
  // What is written goes to the step after it, once that is taken.
  const backs = page.locator(".transfer-backs > i");
  assert.equal(await backs.count(), all - 1);
  assert.equal(await page.locator(".transfer-backs > .is-fed").count(), 0);
  await byId(page, "seq2seq-forth").click();
  await eventually(async () => (await page.locator(".transfer-backs > .is-fed").count()) === 1, "the second has read the first");
  const [arrow, cell] = [await backs.first().boundingBox(), await byId(page, "transfer-written").locator(".transfer-cell").nth(1).boundingBox()];
  assert(Math.abs(arrow.x - cell.x) < 1 && arrow.y + arrow.height <= cell.y + 1, JSON.stringify({ arrow, cell }));
});

test("dates, copying and sorting are other models; undo brings the first back", async (t) => {
  const page = await open(t);
  await openSettings(page);
  await byId(page, "control-seq2seq-task-dates").check();
  await eventually(async () => parameter(page, "seq2seq-task") === "dates");
  await field(page).fill("the 3rd of May 1998");
  await eventually(async () => /1998-05-03/.test(await byId(page, "seq2seq-outcome").textContent()));
  await byId(page, "control-seq2seq-task-sort").check();
  await field(page).fill("cab");
  await eventually(async () => /abc/.test(await byId(page, "seq2seq-outcome").textContent()));
  await byId(page, "back-to-start").click();
  await eventually(async () => parameter(page, "seq2seq-task") === null);
});

test("empty, unknown and too long sources are taken with a sentence", async (t) => {
  const page = await open(t);
  await field(page).fill("");
  await eventually(async () => /at least one character/.test(await byId(page, "seq2seq-problem").textContent()));
  await field(page).fill("a1\u{1F642}");
  await eventually(async () => /2 characters of it never occurred/.test(await byId(page, "seq2seq-note").textContent()));
  assert.equal(await byId(page, "seq2seq-problem").textContent(), "");
  assert.match(await byId(page, "seq2seq-outcome").textContent(), /no right answer/);
  await field(page).fill("abcdefghijklmnop");
  await eventually(async () => /The longest in training have 10/.test(await byId(page, "seq2seq-note").textContent()));
  await field(page).fill("ab".repeat(30));
  await eventually(async () => /first 40 characters/.test(await byId(page, "seq2seq-note").textContent()));
  await eventually(async () => (await texts(page, "transfer-source")).length === 40);
});

test("on a phone a date, its answer and what is said of them are whole", async (t) => {
  const page = await open(t, "&seq2seq-task=dates", { viewport: { width: 390, height: 844 } });
  await field(page).fill("24th of march 1999");
  await eventually(async () => (await texts(page, "transfer-source")).length === 18);
  await byId(page, "transfer-source").locator(".transfer-cell").nth(2).focus();
  const readout = byId(page, "transfer-readout");
  await eventually(async () => /\(3\) moved the state by .*/.test(await readout.textContent()));
  const cut = () =>
    page.locator('.transfer-box, [data-testid="transfer-readout"], [data-testid="seq2seq-source"], .seq2seq-bar').evaluateAll((parts) =>
      parts.filter((part) => part.scrollWidth > part.clientWidth + 1 || part.scrollHeight > part.clientHeight + 1).map((part) => part.className),
    );
  await eventually(async () => (await cut()).length === 0, "nothing is cut");
});

test("the check's answer is what the model finds likeliest", async (t) => {
  const page = await open(t);
  const options = page.locator('[data-testid^="check-seq2seq-option-"]');
  await eventually(async () => (await options.count()) === 4);
  // The shortest stands second in the first question.
  await byId(page, "check-seq2seq-option-1").check();
  await byId(page, "check-seq2seq-submit").click();
  const verdict = byId(page, "check-seq2seq-verdict");
  await eventually(async () => (await verdict.getAttribute("data-right")) === "true");
  assert.equal(((await verdict.textContent()).match(/→/g) ?? []).length, 4);
});

test("by keyboard alone: characters, steps, and the choice of one", async (t) => {
  const page = await open(t);
  await byId(page, "seq2seq-all").focus();
  await page.keyboard.press("Tab");
  const focused = () => page.evaluate(() => document.activeElement?.dataset.cell);
  // Chromium stops at a region that scrolls, where there is one.
  if ((await focused()) === undefined) await page.keyboard.press("Tab");
  assert.equal(await focused(), "0-0");
  await page.keyboard.press("ArrowRight");
  assert.equal(await focused(), "0-1");
  await eventually(async () => /\(2\) moved the state by \d/.test(await byId(page, "transfer-readout").textContent()));
  await page.keyboard.press("ArrowDown");
  assert.equal(await focused(), "1-1");
  await page.keyboard.press("Enter");
  await eventually(async () => parameter(page, "seq2seq-at") === "2");
  await eventually(async () => /chosen with probability 0\.\d+/.test(await byId(page, "transfer-readout").textContent()));
});

test("each view comes on show and is live", async (t) => {
  const page = await open(t);
  for (const [view, figures] of [
    ["odds", ["seq2seq-odds", "seq2seq-bars"]],
    ["lengths", ["seq2seq-length"]],
    ["states", ["seq2seq-states", "seq2seq-prefixes"]],
    ["beam", ["seq2seq-beam"]],
    ["vector", ["transfer"]],
  ]) {
    await openView(page, view);
    for (const figure of figures) await live(page, figure);
    if (view === "beam") assert.equal(await byId(page, "seq2seq-beam-table").locator("tbody tr").count(), 3);
  }
  assert.match(await byId(page, "settings-open").textContent(), /GRU, 32 numbers/);
});

