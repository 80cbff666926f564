// The chapter on counting: what its learner does, and what must hold of the numbers.
import assert from "node:assert/strict";

import {
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
  test,
  train,
  useSite,
} from "./harness.mjs";

const site = useSite();

/** The figures of each view. */
const VIEWS = {
  table: ["bigram-matrix"],
  writing: ["bigram-drawing"],
  sentence: ["bigram-terms"],
  average: ["bigram-loss"],
  smoothing: ["bigram-smoothing"],
};

async function opened(t, view = "table", query = "") {
  const page = await site.open(t, `?chapter=bigram&view=${view}${query}`);
  for (const figure of VIEWS[view]) await live(page, figure);
  await paused(page);
  return page;
}

/** Opens a view, with its figures there. */
async function go(page, view) {
  await openView(page, view);
  for (const figure of VIEWS[view]) await live(page, figure);
}

test("each view's tab opens, and its figure is live", async (t) => {
  const page = await opened(t);
  for (const view of Object.keys(VIEWS)) await go(page, view);
  assert.equal(await page.locator(".view-tab").count(), Object.keys(VIEWS).length);
});

/** A matrix cell's sentence, read with the keyboard: the focus moves over cells by arrow keys. */
async function readCell(page, keys) {
  const matrix = page.locator('[data-testid="figure-bigram-matrix"] [tabindex="0"]').first();
  await matrix.focus();
  for (const key of keys) await page.keyboard.press(key);
  const readout = byId(page, "bigram-matrix-readout");
  await eventually(async () => (await readout.getAttribute("data-value")) !== null);
  return readout;
}

test("a cell says how often one character followed another", async (t) => {
  // Smoothing and training are told of once their pictures have been come to.
  const early = await opened(t, "table", "&idea=1");
  await byId(early, "check-bigram-row-show").click();
  assert.match(await (await readCell(early, ["Home"])).textContent(), /came \d+ of \d+ times: (0|\d\.\d+)\.$/);
  assert.doesNotMatch(await byId(early, "bigram-sums").innerText(), /smoothed|trained|gradient/);
  const page = await opened(t, "table", "&idea=1&bigram-view=trained");
  // The row that is lit is hidden until somebody has guessed, or wants to see it without.
  await byId(page, "check-bigram-row-show").click();
  const readout = await readCell(page, ["Home"]);
  const said = await readout.textContent();
  const [, count, total, share] = said.match(/came (\d+) of (\d+) times: (0|\d\.\d+)/);
  assert(Math.abs(Number(share) - count / total) < 1e-4, said);
  assert.match(said, /Trained [\d.]+, logit −?[\d.]+, gradient −?[\d.]+/);

  // Picked, its arithmetic multiplies out.
  await page.keyboard.press("Enter");
  const sums = byId(page, "bigram-sums");
  await page.locator('[data-testid="bigram-sums"]', { hasText: `${count} / ${total}` }).waitFor();
  const text = (await sums.textContent()).replaceAll("−", "-");
  const [, logit, rowSum, trained] = text.match(/e\^(-?[\d.]+) \/ ([\d.]+) \(the row’s sum\) = ([\d.]+)/);
  assert(Math.abs(Math.exp(logit) / rowSum - Number(trained)) < 2e-4, text);
  assert(text.includes(`its logit${logit}`), text);
  // So does the line about a cell of the picked row.
  const cell = (await readout.textContent()).replaceAll("−", "-");
  assert(cell.includes(`, logit ${logit}, gradient `), cell);
  // The gradient in words: how far off, and how often the row is met.
  const [, high, low] = text.match(/\(([\d.]+) - ([\d.]+)\) · \d+ \/ \d+ = /);
  const [, off, gap] = text.match(/too (high|low) by ([\d.]+), times how often .+ occurs/);
  assert(off === (Number(high) < Number(low) ? "low" : "high"), text);
  assert(Math.abs(Number(gap) - Math.abs(high - low)) < 2e-4, text);

  // Smoothing is spelled out where it is on show, and there alone.
  assert.doesNotMatch(text, /smoothed/);
  await byId(page, "control-bigram-view-smoothed").check();
  const sum = /\((\d+) \+ ([\d.]+)\) \/ \((\d+) \+ [\d.]+ · (\d+)\) = ([\d.]+)/;
  await eventually(async () => sum.test(await sums.textContent()));
  const [, a, k, b, v, smoothed] = (await sums.textContent()).match(sum);
  const expected = (Number(a) + Number(k)) / (Number(b) + Number(k) * Number(v));
  assert(Math.abs(Number(smoothed) - expected) < 1e-4, `${a} ${k} ${b} ${v} ${smoothed}`);
});

test("trained minus counted: the scale shrinks with the differences, and dots are pairs never seen", async (t) => {
  const page = await opened(t, "table", "&idea=5&bigram-view=difference&bigram-row=99&bigram-next=105");
  const scale = async () => (await exported(page, "bigram-matrix")).scale[1];
  const before = await scale();
  await page.locator(".matrix-dots path").waitFor({ state: "attached" });
  // “ci” is one of them: its numbers are told apart however small they are.
  const sums = byId(page, "bigram-sums");
  await eventually(async () => /counted0 \/ \d+ = 0(?![.\d])/.test(await sums.textContent()));
  await train(page, 3000);
  // It shrinks to a floor, and what is left is told.
  assert(before > 0.02, `${before}`);
  await eventually(async () => Math.abs((await scale()) - 0.02) < 1e-6);
  await eventually(async () => /^All pairs here agree to within 0\.02\. Still farthest apart: .+ after .+, by 0\.0\d+\.$/.test(await byId(page, "bigram-apart").textContent()));
  await eventually(async () => /= [\d.]+·10⁻[⁰-⁹]+gradient/.test(await sums.textContent()));
  await byId(page, "control-bigram-view-trained").check();
  await page.locator(".matrix-dots").waitFor({ state: "detached" });
});

test("training brings the table to the counts; an untrained one knows nothing", async (t) => {
  const page = await opened(t, "average");
  await byId(page, "check-bigram-held-out-show").click();
  const cell = async (row, column) => {
    const text = await byId(page, row).locator("td").nth(column).textContent();
    return text === "∞" ? Infinity : Number(text);
  };
  const lnV = await cell("bigram-uniform", 0);
  const counts = await cell("bigram-counts", 0);
  const early = await cell("bigram-trained", 0);
  assert(early > counts && counts < lnV);
  // Raw counts give held-out pairs never seen probability 0; smoothed ones do not.
  assert.equal(await cell("bigram-counts", 1), Infinity);
  assert((await cell("bigram-smoothed", 1)) < lnV);
  await train(page, 600);
  await eventually(async () => (await cell("bigram-trained", 0)) < counts + 0.01);
  assert((await cell("bigram-trained", 0)) >= counts - 1e-4);
  assert.match(await byId(page, "bigram-gap").textContent(), /goes on falling/);
});

test("letters are drawn one at a time, by a number that falls where the page says", async (t) => {
  const page = await opened(t, "writing");
  for (let letter = 1; letter <= 5; letter++) {
    const next = await byId(page, "bigram-next").textContent();
    const [, drawn, from, to] = next.match(/number ([\d.]+) falls .*, ([\d.]+) to ([\d.]+)\.$/);
    assert(Number(drawn) >= Number(from) - 1e-4 && Number(drawn) <= Number(to) + 1e-4, next);
    await byId(page, "bigram-draw").click();
    await eventually(async () => [...(await byId(page, "bigram-letters").textContent())].length >= letter);
  }
  const written = await byId(page, "bigram-letters").textContent();
  // The same numbers write the same again; a link takes them along.
  await eventually(() => parameter(page, "bigram-drawn") === "5");
  await page.reload();
  await eventually(async () => (await byId(page, "bigram-letters").textContent()) === written);
  await byId(page, "bigram-again").click();
  await eventually(async () => (await byId(page, "bigram-letters").textContent()) === "");
  await byId(page, "bigram-dice").click();
  await byId(page, "bigram-play").click();
  await eventually(async () => [...(await byId(page, "bigram-letters").textContent())].length >= 3);
  await byId(page, "bigram-play").click();
});

test("smoothing has a best k, which the page finds", async (t) => {
  const page = await opened(t, "average");
  await byId(page, "check-bigram-held-out-show").click();
  const heldOut = async () => Number(await byId(page, "bigram-smoothed").locator("td").nth(1).textContent());
  const before = await heldOut();
  await go(page, "smoothing");
  // The best one is to be looked for first.
  assert.doesNotMatch(await byId(page, "bigram-best").textContent(), /\d/);
  // Undo knows of what changes once it is there; it is fetched behind the first picture.
  await byId(page, "undo").waitFor();
  await byId(page, "bigram-use-best").click();
  await eventually(async () => /nats/.test(await byId(page, "bigram-best").textContent()));
  const sentence = await byId(page, "bigram-best").textContent();
  const [, k, nats] = sentence.match(/k = ([\d.]+), ([\d.]+) nats/);
  const best = Number(nats);
  // k is written in one way: at the slider, in the sentence and under the curve, where its least is marked.
  await eventually(() => parameter(page, "bigram-k") === k);
  const key = byId(page, "bigram-smoothing-readout");
  await eventually(async () => (await key.locator(".lines-x").textContent()) === `smoothing k ${k}`);
  await key.getByText("lowest").waitFor();
  assert(best <= before + 1e-4, sentence);
  // What was shown is shown again, without being asked first.
  await go(page, "average");
  await eventually(async () => Math.abs((await heldOut()) - best) < 0.005);
  await byId(page, "undo").click();
  await eventually(async () => Math.abs((await heldOut()) - before) < 1e-4);
});

test("a sentence's surprise is the mean of its pairs', and bad ones get a sentence", async (t) => {
  const page = await opened(t, "sentence");
  const columns = async () => {
    const rows = await page.locator(".bigram-terms tbody tr").all();
    const cells = await Promise.all(rows.map((row) => row.locator("td").allTextContents()));
    return cells.map((row) => Number(row[2]));
  };
  const mean = async () => Number(await byId(page, "bigram-mean").locator("td").nth(2).textContent());
  const terms = await columns();
  assert(terms.length > 10);
  const sum = terms.reduce((a, b) => a + b, 0);
  assert(Math.abs(sum / terms.length - (await mean())) < 1e-3);

  await byId(page, "probe-input").fill("");
  await page.locator('[data-testid="probe-problem"]', { hasText: "two characters" }).waitFor();
  assert.equal((await columns()).length, terms.length);
  await byId(page, "probe-input").fill("x");
  await page.locator('[data-testid="probe-problem"]', { hasText: "two characters" }).waitFor();
  await byId(page, "probe-input").fill("a€b");
  await page.locator('[data-testid="probe-note"]', { hasText: "€" }).waitFor();
  await eventually(async () => (await columns()).length === 2);
  assert.match(await byId(page, "bigram-mean").textContent(), /∞/);
});

test("k of 0 is the raw counts", async (t) => {
  const page = await opened(t, "average", "&bigram-k=0");
  await byId(page, "check-bigram-held-out-show").click();
  const row = (id) => byId(page, id).locator("td").allTextContents();
  assert.deepEqual(await row("bigram-smoothed"), await row("bigram-counts"));
});

test("the question is answered from the table", async (t) => {
  const page = await opened(t);
  const ways = new Set();
  for (let round = 0; round < 2; round++) {
    await byId(page, "check-bigram-option-0").check();
    await byId(page, "check-bigram-submit").click();
    const verdict = byId(page, "check-bigram-verdict");
    await verdict.waitFor();
    const said = await verdict.textContent();
    const [, counted, trained] = /share of .+ is (0\.\d+)\. The table gives it a probability of (0\.\d+)/.exec(said).map(Number);
    const up = trained < counted;
    assert.match(said, up ? /pushed up/ : /pushed down/);
    assert.equal(await verdict.getAttribute("data-right"), String(up));
    ways.add(up);
    await byId(page, "check-bigram-another").click();
  }
  assert.equal(ways.size, 2, "both ways are asked");
});

test("texts that are hardly texts", async (t) => {
  const page = await opened(t);
  const step = await number(page, "loss-step");
  await openSettings(page, "source");
  await byId(page, "text-paste").fill("a");
  await byId(page, "text-use").click();
  await page.locator('[data-testid="lab-problem"]', { hasText: /at least two/ }).waitFor();
  assert.equal(await number(page, "loss-step"), step);
  await byId(page, "text-paste").fill("a".repeat(300));
  await byId(page, "text-use").click();
  await numberUntil(page, "loss-value", (loss) => loss < 0.7);
  assert.equal(await byId(page, "lab-problem").textContent(), "");
});
