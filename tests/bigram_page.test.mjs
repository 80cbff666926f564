// The chapter on counting, on every screen and without a mouse; what it asks before it shows.
import assert from "node:assert/strict";

import {
  atRest,
  beat,
  byId,
  closeSettings,
  eventually,
  exported,
  live,
  openSettings,
  openView,
  parameter,
  paused,
  staysFree,
  test,
  train,
  useSite,
} from "./harness.mjs";

const site = useSite();

async function opened(t, query = "", options = {}) {
  const page = await site.open(t, `?chapter=bigram${query}`, options);
  await page.locator('[data-testid^="figure-bigram-"][data-state="live"]').first().waitFor();
  await paused(page);
  return page;
}

const text = (page, id) => byId(page, id).textContent();

test("which character follows q is asked before it is shown, and counted", async (t) => {
  const page = await opened(t);
  // The first beat asks for something else, and does not tell either.
  assert.equal(await byId(page, "check-bigram-row").count() + (await byId(page, "figure-bigram-row").count()), 0);
  // Nor does it speak of training, which comes later.
  assert.equal(await byId(page, "beat-0").getByTestId("warmed").count(), 0);
  assert.match(await byId(page, "beat-4").getByTestId("warmed").textContent(), /^The first 60 training steps/);
  await page.keyboard.press("PageDown");
  const check = byId(page, "check-bigram-row");
  await eventually(async () => /most often/.test(await check.textContent()));
  assert.equal(await byId(page, "figure-bigram-row").count(), 0);
  // Nor does the table tell.
  const row = async () => {
    const { axes, values } = await exported(page, "bigram-matrix");
    return values[axes[0].labels.indexOf("q")];
  };
  assert((await row()).every((share) => share === null), `${await row()}`);
  const options = await check.locator("label").allTextContents();
  assert.equal(options.length, 4);
  const u = options.findIndex((option) => option.includes("‘u’"));
  await byId(page, `check-bigram-row-option-${u}`).check();
  await byId(page, "check-bigram-row-submit").click();
  const verdict = byId(page, "check-bigram-row-verdict");
  await verdict.waitFor();
  assert.equal(await verdict.getAttribute("data-right"), "true");
  assert.match(await verdict.textContent(), /After ‘q’, ‘u’ came 5 of 5 times/);
  await live(page, "bigram-row");
  await eventually(async () => (await row()).includes(1), "the row is shown");
  // The answer stands in the question's place; what never followed has no lines.
  assert.match(await check.innerText(), /^Which character follows ‘q’ most often\? ‘u’\s+Right\. After/);
  const figure = byId(page, "figure-bigram-row");
  assert.equal(await figure.locator(".bar-button").count(), 1);
  assert.match(await figure.innerText(), /\b55 others: never\./);
});

test("the guess outlives a click elsewhere, and a later idea ends it", async (t) => {
  const page = await opened(t, "&idea=1");
  const hidden = async () => {
    const { axes, values } = await exported(page, "bigram-matrix");
    return values[axes[0].labels.indexOf("q")].every((share) => share === null);
  };
  await byId(page, "control-bigram-row").selectOption({ label: "‘z’" });
  await live(page, "bigram-row");
  await byId(page, "check-bigram-row").waitFor();
  assert(await hidden());
  await page.evaluate(() => document.activeElement.blur());
  await page.keyboard.press("PageDown");
  await eventually(async () => (await byId(page, "check-bigram-row").count()) === 0);
  assert(!(await hidden()));
});

test("every row and column has its name, and the cells stay as they are while one is read", async (t) => {
  const page = await opened(t, "&idea=4&bigram-view=trained");
  await live(page, "bigram-matrix");
  await eventually(async () => /of 56 characters/.test(await text(page, "bigram-cut")));
  const cells = byId(page, "bigram-matrix-cells");
  const before = await atRest(cells);
  const { axes } = await exported(page, "bigram-matrix");
  assert(axes[0].labels.includes("q") && before.height / axes[0].labels.length > 12, JSON.stringify(before));
  await cells.hover({ position: { x: before.width / 2, y: before.height / 2 } });
  await eventually(async () => /gradient/.test(await text(page, "bigram-matrix-readout")));
  assert.deepEqual(await atRest(cells), before);
});

test("smoothed, a row shows what each count had and has, and no answer that nobody gave", async (t) => {
  const page = await opened(t, "&bigram-view=smoothed&bigram-k=5&bigram-row=113");
  await live(page, "bigram-row");
  const figure = byId(page, "figure-bigram-row");
  await eventually(async () => /others together/.test(await figure.innerText()));
  const shares = [...(await figure.innerText()).matchAll(/([\d.]+)% \/ ([\d.]+)%/g)].map((pair) => pair.slice(1).map(Number));
  assert.equal(shares.length, 11);
  assert(shares[0][0] === 100 && shares[0][1] < 10 && shares[1][0] === 0 && shares[1][1] > 0, `${shares}`);
  for (const at of [0, 1]) {
    const sum = shares.reduce((sum, pair) => sum + pair[at], 0);
    assert(Math.abs(sum - 100) < 1, `${sum}`);
  }
  assert.equal(await figure.locator("li.marked").count(), 0);
});

test("any character's row can be had from the list, also without the matrix having room for it", async (t) => {
  const page = await opened(t, "&idea=1&bigram-shown=5");
  assert.match(await text(page, "bigram-cut"), /The most frequent 5 of 56/);
  // Undo knows of what changes once it is there; it is fetched behind the first picture.
  await byId(page, "undo").waitFor();
  await byId(page, "control-bigram-row").selectOption({ label: "‘z’" });
  await live(page, "bigram-row");
  await eventually(async () => /After ‘z’, seen \d+ times/.test(await byId(page, "figure-bigram-row").textContent()));
  await eventually(() => parameter(page, "bigram-row") === "122");
  await byId(page, "undo").click();
  await byId(page, "check-bigram-row").waitFor();
});

test("on a laptop all that is said of a trained row is in sight, and what steps are taken for is told early", async (t) => {
  const viewport = { width: 1440, height: 900 };
  const page = await opened(t, "&idea=4", { viewport });
  await live(page, "bigram-row");
  await eventually(async () => /Choose any other from the lists/.test(await text(page, "bigram-cut")));
  const [all, room] = await page.locator(".bigram-row").evaluate((e) => [e.scrollHeight, e.clientHeight]);
  assert(all <= room + 1, `${all} px in ${room} px`);
  const first = await opened(t, "", { viewport });
  assert.match(await text(first, "bigram-second"), /belong to a second table/);
});

test("on a phone a pair is chosen from lists, what it says is in sight, and one box scrolls", async (t) => {
  const viewport = { width: 390, height: 844 };
  const page = await site.open(t, "?chapter=bigram&idea=4&bigram-view=trained", { viewport });
  await live(page, "bigram-matrix");
  await byId(page, "control-bigram-row").selectOption({ label: "‘t’" });
  await byId(page, "control-bigram-next").selectOption({ label: "‘h’" });
  const readout = byId(page, "bigram-matrix-readout");
  await eventually(async () => /^After ‘t’, ‘h’ came .* gradient /.test(await readout.textContent()));
  const [said, room] = await Promise.all([readout.boundingBox(), page.locator(".stage-view").boundingBox()]);
  assert(said.y >= room.y && said.y + said.height <= room.y + room.height, JSON.stringify([said, room]));
  const scrollers = await page.locator(".view *").evaluateAll((all) =>
    all.filter((e) => e.scrollHeight > e.clientHeight + 1 && /auto|scroll/.test(getComputedStyle(e).overflowY)).map((e) => e.className));
  assert.deepEqual(scrollers, []);
  // Of all characters there are those whose names have a line each; one that is rare is among them once it is chosen.
  const labels = async () => (await exported(page, "bigram-matrix")).axes[0].labels;
  assert.equal((await labels()).length, 10);
  // The box begins with the names of the columns.
  const { height } = await byId(page, "bigram-matrix-cells").boundingBox();
  assert((height - 48) / 10 >= 12.75, `${height} px`);
  await byId(page, "control-bigram-row").selectOption({ label: "‘z’" });
  await eventually(async () => (await labels()).includes("z"));
});

test("the pairs that cost the raw counts everything are named", async (t) => {
  const page = await opened(t, "&view=average");
  await byId(page, "check-bigram-held-out-show").click();
  const said = await text(page, "bigram-never-seen");
  const [, missing, all, kinds, pairs] = said.match(
    /([\d,]+) of the ([\d,]+) held-out pairs(?: \((\d+) different ones\))? never occur in the training text: (.*)\. Their count/,
  );
  const [times, whole] = [missing, all].map((number) => Number(number.replaceAll(",", "")));
  assert(times > 0 && times < whole / 100, said);
  // So many of them are listed, unless there are too many for that.
  if (!pairs.endsWith("…")) assert.equal(pairs.match(/‘..?’/gu).length, Number(kinds ?? times), said);
  // How far the tables are apart is folded away, and stays open once it is.
  const far = byId(page, "bigram-far");
  assert.equal(await byId(page, "bigram-gap").isVisible(), false);
  await far.locator("summary").click();
  const before = await text(page, "bigram-gap");
  await byId(page, "train-step").click();
  await eventually(async () => (await text(page, "bigram-gap")) !== before);
  assert.equal(await byId(page, "bigram-gap").isVisible(), true);
  assert.match(await text(page, "bigram-gap"), /KL divergence/);
  // All columns are in sight on a laptop.
  await page.setViewportSize({ width: 1366, height: 768 });
  const [room, wide] = await page.locator(".bigram-average > .view-scroll").evaluate((e) => [e.clientWidth, e.scrollWidth]);
  assert(wide <= room, `${wide} px in ${room} px`);
  // Names hold no pair in their held-out tenth that the rest lacks: nothing is infinite there.
  const names = await opened(t, "&view=average&corpus=names");
  await byId(names, "check-bigram-held-out-show").click();
  await byId(names, "bigram-counts").waitFor();
  assert.equal(await byId(names, "bigram-never-seen").count(), 0);
  assert.doesNotMatch(await text(names, "bigram-counts"), /∞/);
});

test("with the keyboard alone: a cell, a k on the curve, a letter, the step-through", async (t) => {
  const page = await opened(t, "&idea=1");
  await byId(page, "check-bigram-row-show").focus();
  await page.keyboard.press("Enter");
  await page.locator('[data-testid="check-bigram-row-verdict"]:focus', { hasText: "most often? ‘u’" }).waitFor();
  await page.locator('[data-testid="figure-bigram-matrix"] [role="application"]').focus();
  await page.keyboard.press("Home");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("Enter");
  await byId(page, "bigram-sums").waitFor();
  // The focus begins in the lit row, that of q. The arithmetic is of the cell, not of the likeliest.
  await eventually(() => parameter(page, "bigram-next") === "101" && parameter(page, "bigram-row") === "113");
  await eventually(async () => (await text(page, "bigram-sums")).startsWith("‘e’ after ‘q’"));

  await openView(page, "smoothing");
  const curve = page.locator('[data-testid="figure-bigram-smoothing"] [tabindex="0"]').first();
  await live(page, "bigram-smoothing");
  await curve.focus();
  await page.keyboard.press("Home");
  await page.keyboard.press("Enter");
  await eventually(() => parameter(page, "bigram-k") === "0.0001");

  await openView(page, "writing");
  await live(page, "bigram-drawing");
  await byId(page, "bigram-draw").focus();
  await page.keyboard.press("Enter");
  await page.keyboard.press("Enter");
  await eventually(() => parameter(page, "bigram-drawn") === "2");
  assert.equal(await page.evaluate(() => document.activeElement?.dataset.testid), "bigram-draw");

  await page.evaluate(() => document.activeElement.blur());
  for (let idea = 2; idea <= 6; idea++) {
    await page.keyboard.press("PageDown");
    await eventually(async () => (await beat(page).getAttribute("data-testid")) === `beat-${idea}`);
  }
  await eventually(async () => [...(await text(page, "bigram-letters"))].length === 12);
  await page.locator('[data-testid="view-writing"][aria-selected="true"]').waitFor();
});

test("the mean is spelled out, and its numbers add up", async (t) => {
  const page = await opened(t, "&view=sentence");
  await byId(page, "probe-input").fill("the");
  await eventually(async () => /^Trained: [\d.]+ \+ [\d.]+ = [\d.]+, over 2 pairs/.test(await text(page, "bigram-mean-sum")));
  const said = await text(page, "bigram-mean-sum");
  const [a, b, sum, , mean] = said.match(/\d+(\.\d+)?/g).map(Number);
  assert(Math.abs(a + b - sum) < 2e-4 && Math.abs(sum / 2 - mean) < 2e-4, said);
});

test("a text of two characters, and characters of all kinds", async (t) => {
  const page = await opened(t, "&view=smoothing");
  const own = async (given) => {
    await openSettings(page, "source");
    await byId(page, "text-paste").fill(given);
    await byId(page, "text-use").click();
    await closeSettings(page, "source");
  };
  await own("ab");
  await openSettings(page);
  await page.locator('[data-testid="lab-notes"]', { hasText: /too short/ }).waitFor();
  await closeSettings(page);
  await eventually(async () => /nothing of this text is held out/i.test(await text(page, "bigram-best")));
  assert.equal(await text(page, "lab-problem"), "");
  // More kinds than the matrix has room for.
  const kinds = Array.from({ length: 300 }, (_, i) => String.fromCodePoint(0x4e00 + i));
  await own(Array.from({ length: 3000 }, (_, i) => kinds[(i * 7) % 300]).join(""));
  await openView(page, "table");
  await eventually(async () => /\d of 301 characters/.test(await text(page, "bigram-cut")));
  assert.equal(await byId(page, "control-bigram-row").locator("option").count(), 302);
});

test("training at full speed keeps the page free", async (t) => {
  const page = await opened(t, "&bigram-view=difference", { own: true });
  await staysFree(t, site, page, () => train(page, 800));
});

