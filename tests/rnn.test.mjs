// The chapter on unrolling, as a learner meets it. Each test is a "learner" line of the curriculum
// or one of its promises.
import assert from "node:assert/strict";

import {
  atRest,
  byId,
  closeSettings,
  drawn,
  eventually,
  exported,
  live,
  number,
  openSettings,
  openView,
  parameter,
  paused,
  settled,
  test,
  useSite,
} from "./harness.mjs";

const site = useSite();

/** Opens the chapter with the diagram in view and its first training done. */
async function open(t, query = "", options = {}) {
  const page = await site.open(t, `?chapter=rnn${query}`, options);
  await live(page, "unrolled");
  await eventually(async () => (await number(page, "loss-step")) >= 120, "trained a little");
  await paused(page);
  await shownStep(page, await number(page, "loss-step"));
  return page;
}

/** Waits until the diagram shows the model as it is after `step`. */
async function shownStep(page, step) {
  await page.locator(`[data-testid="rnn-track"][data-step="${step}"]`).waitFor();
}

/** Waits until so many columns are drawn. */
async function columns(page, count) {
  await page.locator(`[data-testid="rnn-track"][data-columns="${count}"]`).waitFor();
  await drawn(page);
  assert.equal(await page.locator('[data-testid^="rnn-column-"]').count(), count);
}

/** Clicks the middle of what `part` finds in column `t` (from 1), or at a share of its height. */
async function clickColumn(page, t, part, share = 0.5) {
  const column = byId(page, `rnn-column-${t}`);
  await scrollTo(page, t);
  await column.waitFor();
  const box = await atRest(column.locator(part).first());
  await page.mouse.click(box.x + box.width / 2, box.y + share * box.height);
}

/** Scrolls the diagram so that column `t` is in its middle. */
async function scrollTo(page, t) {
  await byId(page, "rnn-track").evaluate((track, t) => {
    const width = track.scrollWidth / (Number(track.dataset.columns) + 2);
    track.parentElement.scrollLeft = width * (t + 0.5) - track.parentElement.clientWidth / 2;
  }, t);
  await drawn(page);
}

test("one cell unrolls one step per press, to the end or back, and plays", async (t) => {
  const page = await open(t);
  await eventually(async () => (await byId(page, "rnn-columns").textContent()) === "1 of 30", "folded: one is drawn");
  await columns(page, 0);
  assert(await byId(page, "rnn-loop").isVisible(), "one cell and a loop");
  const { shape } = await exported(page, "unrolled");
  for (const count of [1, 2, 3]) {
    await byId(page, "rnn-unroll").click();
    await columns(page, count);
    // Counted is what is drawn: the copies and the cell with the loop.
    assert.match(await byId(page, "rnn-columns").textContent(), new RegExp(`^${count + 1} of ${shape[0]}$`));
    assert.match(await byId(page, "rnn-loop").textContent(), new RegExp(`t = ${count + 1}.*${shape[0] - count - 1} more`));
  }
  await byId(page, "rnn-fold-one").click();
  await columns(page, 2);
  // Of 29 the next is the last, which has no loop.
  await byId(page, "control-rnn-columns").fill(String(shape[0] - 1));
  await columns(page, shape[0] - 2);
  await byId(page, "rnn-unroll").click();
  await columns(page, shape[0]);
  await byId(page, "rnn-fold-one").click();
  await columns(page, shape[0] - 2);
  // The slider goes to any step; at the end no loop is left.
  await byId(page, "control-rnn-columns").fill(String(shape[0]));
  await columns(page, shape[0]);
  assert.equal(await byId(page, "rnn-loop").count(), 0);
  await byId(page, "rnn-fold").click();
  await columns(page, 0);
  // The loop itself unrolls.
  const strip = await atRest(byId(page, "rnn-loop").locator(".rnn-strip"));
  await page.mouse.click(strip.x + strip.width / 2, strip.y + strip.height / 2);
  await columns(page, 1);
  // One step after the other, from where it stands.
  await byId(page, "rnn-play").click();
  await page.locator('[data-testid="rnn-track"][data-columns="3"]').waitFor();
  await byId(page, "rnn-play").filter({ hasText: "Stop" }).click();
  await byId(page, "rnn-play").filter({ hasText: "Play" }).waitFor();
});

test("the likeliest stands on top, and a loop alone has no truth", async (t) => {
  const page = await open(t, "&rnn-columns=0", { viewport: { width: 1440, height: 900 } });
  const names = page.locator(".rnn-names text:visible");
  assert.doesNotMatch((await names.allTextContents()).join(" "), /true|loss/);
  await byId(page, "rnn-unroll").click();
  await columns(page, 1);
  assert.match((await names.allTextContents()).join(" "), /true next guess loss/);
  const likeliest = (await exported(page, "unrolled")).columns[0].expects;
  const expects = likeliest.map(([name]) => name);
  const bars = await byId(page, "rnn-column-1").locator(".rnn-bar-name").evaluateAll((names) =>
    names.map((name) => [Number(name.getAttribute("y")), name.textContent]).sort((a, b) => a[0] - b[0]),
  );
  assert.deepEqual(bars.map(([, name]) => name.replace("␣", " ").replace("⏎", "\n")), expects);
  // Each with its probability, where a column is wide enough.
  const shares = await byId(page, "rnn-column-1").locator(".rnn-share").allTextContents();
  assert.deepEqual(shares, likeliest.map(([, p]) => `${(100 * p).toFixed(0)}%`));
  assert.match(await byId(page, "unrolled-readout").textContent(), /or the loop to unroll one step\.$/);
});

test("of many columns each shows its likeliest guess under the truth, and the readout has the list", async (t) => {
  const page = await open(t, "&idea=3", { viewport: { width: 1440, height: 900 } });
  await columns(page, 30);
  // Where no loop is left, none is spoken of; and after the last character nothing comes that could be guessed.
  assert.doesNotMatch(await byId(page, "unrolled-readout").textContent(), /loop/);
  assert.equal(await byId(page, "rnn-column-30").locator(".rnn-small").first().textContent(), "–");
  const { columns: all } = await exported(page, "unrolled");
  const shown = await page.locator('[data-testid^="rnn-column-"]').evaluateAll((columns) => columns.map((column) => {
    const [truth, guess] = [".rnn-target", ".rnn-bar-name"].map((name) => column.querySelector(name));
    const others = [...column.querySelectorAll(".rnn-bar-name")].slice(1).map((name) => name.textContent).join("");
    const below = Number(guess.getAttribute("y")) - Number(truth.getAttribute("y"));
    return { truth: truth.textContent, guess: guess.textContent, right: guess.matches(".rnn-true"), others, below, size: parseFloat(getComputedStyle(guess).fontSize) };
  }));
  const mark = (name) => name.replace(" ", "␣").replace("\n", "⏎");
  for (const [i, column] of shown.entries()) {
    assert.equal(column.guess, mark(all[i].expects[0][0]));
    assert.equal(column.right, all[i].target === all[i].expects[0][0], `${i}`);
    assert(column.others === "" && column.size >= 15 && column.below > 0 && column.below < 2 * column.size, JSON.stringify(column));
  }
  assert(shown.some((column) => column.right) && shown.some((column) => !column.right));
  const strip = await atRest(byId(page, "rnn-column-3").locator(".rnn-strip"));
  await page.mouse.move(strip.x + strip.width / 2, strip.y + strip.height / 2);
  const list = all[2].expects.map(([name]) => `‘${mark(name)}’`);
  assert.equal(list.length, 4);
  const readout = byId(page, "unrolled-readout");
  await readout.filter({ hasText: /t = 3.*Guesses/ }).waitFor();
  for (const name of list) assert((await readout.textContent()).includes(name), name);
  assert(await readout.evaluate((said) => said.scrollHeight <= said.clientHeight), "all that is said is in sight");
});

test("the beat of the loop follows it once around for each character", async (t) => {
  const page = await open(t, "&idea=1", { reducedMotion: "no-preference" });
  await byId(page, "probe-input").fill("abc");
  const loop = byId(page, "rnn-loop");
  // The sentence before may be on its way still: it has no “c”. What was read stays.
  await loop.filter({ hasText: "t = 3" }).locator(".rnn-now", { hasText: "c" }).waitFor();
  await byId(page, "rnn-play").filter({ hasText: "Play again" }).waitFor();
  assert.equal(await loop.locator(".rnn-dot").count(), 0);
  // Until the story goes on, to a step that is still to be taken.
  await page.keyboard.press("PageDown");
  await byId(page, "rnn-play").filter({ hasText: /^Play$/ }).waitFor();
  await columns(page, 0);
  await eventually(async () => (await byId(page, "rnn-columns").textContent()) === "1 of 3", "one is drawn");
  await page.keyboard.press("PageUp");
  await byId(page, "rnn-play").filter({ hasText: "Play again" }).waitFor();
  const still = await open(t, "&idea=1", { reducedMotion: "reduce" });
  assert.equal(await byId(still, "rnn-loop").locator(".rnn-dot").count(), 0);
  assert.match(await byId(still, "rnn-play").textContent(), /Play/);
});

/** Colors, from the first unit to the last, of the loop's strip and of each strip beside it; none of an empty place. */
const stripsRead = (page) => byId(page, "rnn-loop").evaluate((loop) => {
  const [cells, band] = loop.closest(".rnn-track").querySelectorAll(".rnn-strips");
  const left = loop.transform.baseVal.consolidate().matrix.e;
  const strip = loop.querySelector(".rnn-strip");
  // The first letter is the cell's.
  const places = loop.querySelector(".rnn-rest").getAttribute("x").split(" ").slice(1).map(Number);
  // Read from a copy: a canvas that is read often is another canvas.
  const reader = (canvas) => {
    const { width, height } = canvas;
    const copy = new OffscreenCanvas(width, height).getContext("2d", { willReadFrequently: true });
    copy.drawImage(canvas, 0, 0);
    return (x) => {
      const { data } = copy.getImageData(Math.round(left + x), 0, 1, height);
      return data.every((byte) => byte === 0) ? "" : data.join();
    };
  };
  const colors = reader(band.clientWidth > 0 ? band : cells);
  return {
    cell: reader(cells)(Number(strip.getAttribute("x")) + Number(strip.getAttribute("width")) / 2),
    read: places.map(colors),
  };
});

test("before anything is unrolled, Play has one and the same cell read each character, and all it read stays", async (t) => {
  const page = await open(t);
  const [loop, play, said] = [byId(page, "rnn-loop"), byId(page, "rnn-play"), byId(page, "rnn-columns")];
  await loop.filter({ hasText: "29 more times" }).waitFor();
  assert.deepEqual((await stripsRead(page)).read, Array(30).fill(""));
  await play.click();
  await eventually(async () => (await shownInLoop(page)).step >= 4, "t = 4");
  await play.filter({ hasText: "Stop" }).click();
  await play.filter({ hasText: /^Play$/ }).waitFor();
  await drawn(page);
  // Stopped, it stays where it is, and all that is said is of that step.
  const { step } = await shownInLoop(page);
  assert.equal(await said.textContent(), `${step} of 30 read`);
  assert((await loop.textContent()).includes(step === 29 ? "once more" : `${30 - step} more times`));
  const stopped = await stripsRead(page);
  assert.equal(stopped.read.filter(Boolean).length, step);
  assert.equal(stopped.read[step - 1], stopped.cell);
  assert.equal(await loop.locator(".rnn-dot").count(), 0);
  // From there to the end.
  await play.click();
  await play.filter({ hasText: "Play again" }).waitFor();
  await drawn(page);
  assert.equal((await shownInLoop(page)).step, 30);
  assert.equal(await said.textContent(), "30 of 30 read");
  assert.doesNotMatch(await loop.textContent(), /more/);
  const ended = await stripsRead(page);
  assert(ended.read.every(Boolean), "all strips stay");
  assert.equal(ended.read[29], ended.cell);
  assert.deepEqual(ended.read.slice(0, step), stopped.read.slice(0, step));
  await columns(page, 0);
  // While they stay, they are the live model's.
  await byId(page, "train-step").click();
  await shownStep(page, 121);
  await drawn(page);
  const trained = await stripsRead(page);
  assert(trained.read.every((strip, t) => strip && strip !== ended.read[t]), "each has changed");
  assert.equal(trained.read[29], trained.cell);
  // Again from the first; another sentence of the same length is not read yet.
  await play.click();
  await eventually(async () => (await shownInLoop(page)).step < 30, "from the first");
  await play.filter({ hasText: "Stop" }).click();
  await byId(page, "probe-input").fill("b".repeat(30));
  await eventually(async () => (await said.textContent()) === "1 of 30");
  await drawn(page);
  assert.deepEqual((await stripsRead(page)).read, Array(30).fill(""));
  await loop.filter({ hasText: "29 more times" }).waitFor();
});

/** What the loop shows: its step (from 1), the characters from its own on, and what it expects, likeliest first. */
const shownInLoop = (page) => byId(page, "rnn-loop").evaluate((loop) => ({
  step: Number(loop.querySelector(".rnn-time").textContent.replace("t = ", "")),
  reads: loop.querySelector(".rnn-rest").textContent.replaceAll("␣", " "),
  expects: [...loop.querySelectorAll(".rnn-bar-name")]
    .sort((a, b) => a.getAttribute("y") - b.getAttribute("y"))
    .map((name) => name.textContent.replace("␣", " ").replace("⏎", "\n"))
    .filter(Boolean),
}));

test("what stands at the loop is of one step: the next to be unrolled", async (t) => {
  for (const viewport of [{ width: 1440, height: 900 }, { width: 390, height: 844 }]) {
    const page = await open(t, "&rnn-columns=1", { viewport });
    await columns(page, 1);
    const { columns: all, axes, values } = await exported(page, "unrolled");
    const shown = await shownInLoop(page);
    assert.equal(shown.step, 2);
    assert.equal(shown.reads[0], axes[0].labels[1]);
    assert.deepEqual(shown.expects, all[1].expects.map(([name]) => name).slice(0, shown.expects.length));
    const strip = await atRest(byId(page, "rnn-loop").locator(".rnn-strip"));
    await page.mouse.move(strip.x + strip.width / 2, strip.y + strip.height / 2);
    const readout = page.locator('[data-testid="unrolled-readout"][data-unit]').filter({ hasText: "t = 2, reads" });
    await readout.waitFor();
    const unit = Number(await readout.getAttribute("data-unit"));
    assert.equal(Number(await readout.getAttribute("data-value")), values[1][unit - 1]);
  }
});

test("on a phone, Play keeps the character that is read at the cell", async (t) => {
  const page = await open(t, "", { viewport: { width: 390, height: 844 }, reducedMotion: "no-preference" });
  const { axes } = await exported(page, "unrolled");
  await byId(page, "rnn-play").click();
  const now = byId(page, "rnn-loop").locator(".rnn-now");
  await eventually(async () => (await shownInLoop(page)).step >= 14, "t = 14");
  await byId(page, "rnn-play").click();
  await drawn(page);
  const { step, reads } = await shownInLoop(page);
  assert.equal(reads[0], axes[0].labels[step - 1]);
  // Below it are the states so far, over the whole width, each over its character.
  const { cell, read } = await stripsRead(page);
  assert.deepEqual([read.length, read.filter(Boolean).length, read[step - 1]], [30, step, cell]);
  assert.equal(reads.slice(1), axes[0].labels.join(""));
  const [letter, room] = [await now.boundingBox(), await page.locator(".rnn-scroller").boundingBox()];
  assert(letter.x >= room.x && letter.x + letter.width <= room.x + room.width, JSON.stringify({ letter, room }));
  assert(letter.y >= room.y && letter.y + letter.height <= room.y + room.height + 1, JSON.stringify({ letter, room }));
  // What plays and what goes to any step are whole.
  for (const id of ["rnn-play", "control-rnn-columns", "rnn-columns"]) {
    const box = await byId(page, id).boundingBox();
    assert(box.x >= 0 && box.x + box.width <= 390, `${id}: ${JSON.stringify(box)}`);
  }
});

test("it plays by itself to the end and can be stopped", async (t) => {
  const page = await open(t, "&idea=3&rnn-columns=0");
  await byId(page, "probe-input").fill("abcd");
  await eventually(async () => (await byId(page, "rnn-columns").textContent()) === "1 of 4");
  await byId(page, "rnn-play").click();
  await columns(page, 4);
  await eventually(async () => (await byId(page, "rnn-play").textContent()).trim() === "Play");
});

test("only the columns in view are drawn, and the overview scrolls to any", async (t) => {
  const page = await open(t, "&rnn-columns=64", { viewport: { width: 1100, height: 800 } });
  await columns(page, 30);
  // It begins at the first step.
  await byId(page, "rnn-column-1").waitFor();
  await byId(page, "rnn-column-30").waitFor({ state: "hidden" });
  const box = await atRest(byId(page, "rnn-overview"));
  await page.mouse.click(box.x + box.width - 2, box.y + box.height / 2);
  await byId(page, "rnn-column-30").waitFor();
  await byId(page, "rnn-column-1").waitFor({ state: "hidden" });
  // The names of the rows stay.
  const [name, scroller] = await Promise.all([page.locator(".rnn-names text").first().boundingBox(), page.locator(".rnn-scroller").boundingBox()]);
  assert(name.x >= scroller.x && name.x < scroller.x + 60, `${name.x}`);
});

test("the first columns stay where they are, and the new one comes out of the loop", async (t) => {
  const page = await open(t, "&rnn-columns=0", { viewport: { width: 1440, height: 900 } });
  const at = async (id) => (await atRest(byId(page, id).locator(".rnn-strip"))).x;
  // The cell stands where step 1 will be; what is to come has its places beside it.
  const cell = await at("rnn-loop");
  const letters = byId(page, "rnn-loop").locator(".rnn-rest");
  assert.equal((await letters.getAttribute("x")).split(" ").length, 31, "one at the cell");
  assert.equal([...(await letters.textContent())].length, 31);
  await byId(page, "rnn-unroll").click();
  await columns(page, 1);
  const [first, loop] = [await at("rnn-column-1"), await at("rnn-loop")];
  assert.equal(first, cell);
  await byId(page, "rnn-unroll").click();
  await columns(page, 2);
  assert.deepEqual([await at("rnn-column-1"), await at("rnn-column-2")], [first, loop]);
  assert.equal(await page.locator(".fading").count(), 0);
  assert.match(await byId(page, "rnn-loop").textContent(), /27 more times/);
  // The whole sentence is in view from the first step to the last.
  await byId(page, "control-rnn-columns").fill("30");
  await columns(page, 30);
  await byId(page, "rnn-column-1").waitFor();
  const [last, scroller] = [await atRest(byId(page, "rnn-column-30").locator(".rnn-strip")), await page.locator(".rnn-scroller").boundingBox()];
  assert(last.x + last.width <= scroller.x + scroller.width, `${last.x} of ${scroller.width}`);
});

test("the same U, V and W light up in every copy and in the text", async (t) => {
  const page = await open(t, "&rnn-columns=6");
  await columns(page, 6);
  for (const [part, copies] of [["u", 8], ["v", 7], ["w", 7]]) {
    const arrows = page.locator(`.rnn-arrow[data-part="${part}"]`);
    // The copies and the loop; U also goes round the loop.
    assert.equal(await arrows.count(), copies);
    await arrows.nth(2).locator(".rnn-hit").hover();
    await eventually(async () => (await page.locator(`.rnn-arrow.is-lit[data-part="${part}"]`).count()) === copies, `all ${part} lit`);
    assert.equal(await page.locator(`.rnn-arrow.is-lit:not([data-part="${part}"])`).count(), 0);
    const symbols = await page.locator(`.sym[data-part="${part}"]`).count();
    assert(symbols > 0);
    assert.equal(await page.locator(`.sym.is-lit[data-part="${part}"]`).count(), symbols, "its symbols too");
  }
  // And the other way round: the symbol in the text, folded away at first, lights the copies.
  const symbol = page.locator('.sym[data-part="w"]').first();
  assert.equal(await symbol.isVisible(), false);
  await page.locator('.aside:has(.sym[data-part="w"]) > summary').click();
  await symbol.hover();
  await eventually(async () => (await page.locator('.rnn-arrow.is-lit[data-part="w"]').count()) === 7);
  await page.locator('.rnn-arrow[data-part="w"]').nth(1).locator(".rnn-hit").click();
  await byId(page, "figure-rnn-matrix").waitFor();
});

test("an edited character moves every later state and no earlier one", async (t) => {
  const page = await open(t, "&rnn-columns=64");
  const before = await exported(page, "unrolled");
  const length = before.shape[0];
  await columns(page, length);
  await clickColumn(page, 6, ".rnn-token rect");
  await byId(page, "rnn-edit").waitFor();
  await byId(page, "rnn-letter").fill("k");
  await eventually(async () => (await exported(page, "unrolled")).axes[0].labels[5] === "k", "the new character is read");
  const after = await exported(page, "unrolled");
  assert.equal(after.edited, 5);
  for (let i = 0; i < length; i++) {
    const same = before.values[i].every((value, unit) => value === after.values[i][unit]);
    assert.equal(same, i < 5, `state ${i + 1}`);
    assert.deepEqual(after.before[i], before.values[i], "the original is kept");
    const norm = Math.hypot(...after.values[i].map((value, unit) => value - before.values[i][unit]));
    assert(Math.abs(after.columns[i].moved - norm) < 1e-4, `${after.columns[i].moved} is not ${norm}`);
    if (i < 5) assert.equal(after.columns[i].moved, 0);
  }
  const moved = await byId(page, "rnn-moved").textContent();
  assert.match(moved, new RegExp(`Of ${length - 5} states from there on, ${length - 5} moved; of the 5 before it, 0\\.`));
  const texts = await page.locator('[data-testid^="rnn-column-"]').allTextContents();
  assert(texts[4].includes("Δ 0") && !texts[4].includes("Δ 0."), texts[4]);
  // A link carries the edit; the way back takes it out.
  await eventually(() => page.url().includes("rnn-edit=6"));
  await byId(page, "rnn-undo-edit").click();
  await eventually(async () => (await exported(page, "unrolled")).edited === null);
  assert.deepEqual((await exported(page, "unrolled")).values, before.values);
});

test("a pinned unit's numbers multiply out", async (t) => {
  const page = await open(t, "&rnn-columns=8");
  await columns(page, 8);
  const { values } = await exported(page, "unrolled");
  await clickColumn(page, 5, ".rnn-strip", 2.5 / 32);
  const open_ = byId(page, "rnn-arithmetic");
  await open_.waitFor();
  assert.match(await open_.locator("h3").textContent(), /Unit 3 at t = 5/);
  const value = async (id) => Number((await byId(page, id).textContent()).replace("−", "-"));
  const [input, state, bias, sum, s] = await Promise.all(
    ["rnn-from-input", "rnn-from-state", "rnn-bias", "rnn-sum", "rnn-state"].map(value),
  );
  assert(Math.abs(input + state + bias - sum) < 2.1e-4, `${input} + ${state} + ${bias} is not ${sum}`);
  assert(Math.abs(Math.tanh(sum) - s) < 1.1e-4, `tanh(${sum}) is not ${s}`);
  assert(Math.abs(values[4][2] - s) < 5.1e-5);
  // Each term has a bar that can be seen.
  const bars = await open_.locator(".rnn-fall i").evaluateAll((all) => all.map((bar) => getComputedStyle(bar).backgroundColor));
  assert(bars.length > 4 && bars.every((color) => color !== "rgba(0, 0, 0, 0)"), `${bars}`);
  // The matrix that the products come from stands beside them.
  await live(page, "rnn-matrix");
  await byId(page, "rnn-unit-next").click();
  await eventually(async () => (await open_.locator("h3").textContent()).includes("Unit 4"));
  await byId(page, "rnn-at-before").click();
  await eventually(async () => (await open_.locator("h3").textContent()).includes("t = 4"));
  await byId(page, "rnn-unpin").click();
  await open_.waitFor({ state: "detached" });
  await columns(page, 8);
});

test("it writes; one odd character is forced, and who gets over it is measured", async (t) => {
  const page = await open(t);
  await openView(page, "writing");
  const text = async (id) => (await byId(page, id).textContent()).replaceAll("⏎", "\n");
  await eventually(async () => (await text("rnn-writes-elman")).length === 80 && (await text("rnn-writes-lstm")).length === 80);
  await settled(page);
  const [elman, lstm] = [await text("rnn-writes-elman"), await text("rnn-writes-lstm")];
  await byId(page, "rnn-odd").click();
  await eventually(async () => (await byId(page, "rnn-thrown-elman").count()) && (await text("rnn-thrown-elman")).length === 80);
  await eventually(async () => (await text("rnn-thrown-lstm")).length === 80);
  for (const [id, plain] of [["elman", elman], ["lstm", lstm]]) {
    assert.equal(await text(`rnn-writes-${id}`), plain, "the undisturbed text stays");
    const thrown = await text(`rnn-thrown-${id}`);
    assert.equal(thrown.slice(0, 19), plain.slice(0, 19));
    assert.notEqual(thrown[19], plain[19]);
    const changed = await byId(page, `rnn-thrown-${id}`).locator(".rnn-changed:not(.rnn-forced)").count();
    assert.equal(changed, [...thrown].filter((letter, at) => at > 19 && letter !== plain[at]).length, "what it changed is underlined");
    assert.equal(await byId(page, `rnn-thrown-${id}`).locator(".rnn-forced").textContent(), thrown[19]);
  }
  await openView(page, "recovery");
  await live(page, "rnn-recovery");
  const said = await byId(page, "rnn-recovery-text").textContent();
  assert.match(said, /costs the Elman network \d+\.\d\d ± \d+\.\d\d nats and the LSTM \d+\.\d\d ± \d+\.\d\d/);
  await byId(page, "control-rnn-odd-letter").fill("z");
  await eventually(async () => (await byId(page, "rnn-recovery-text").textContent()).includes("‘z’ put in"));
  await openView(page, "writing");
  await byId(page, "rnn-odd").click();
  await byId(page, "rnn-thrown-elman").waitFor({ state: "detached" });
  await byId(page, "rnn-thrown-lstm").waitFor({ state: "detached" });
});

test("asked only at the end, it judges brackets", async (t) => {
  const page = await open(t, "&rnn-columns=64&rnn-readout=end");
  await eventually(async () => (await exported(page, "unrolled")).columns.filter((c) => c.expects).length === 1, "one readout");
  assert((await byId(page, "rnn-note").textContent()).includes("generated string"));
  const truth = async () => (await exported(page, "unrolled")).columns.at(-1).target;
  await byId(page, "probe-input").fill("(())");
  await eventually(async () => (await exported(page, "unrolled")).shape[0] === 4);
  const balanced = await truth();
  await byId(page, "probe-input").fill("(()(");
  await eventually(async () => (await truth()) !== balanced);
  await openView(page, "writing");
  await page.getByText("Choose the readout").waitFor();
  await openView(page, "recovery");
  await page.getByText("Choose the readout").waitFor();
});

test("everything works by keyboard alone", async (t) => {
  const page = await open(t, "&rnn-columns=0");
  const tabTo = async (id) => {
    for (let presses = 0; presses < 150; presses++) {
      await page.keyboard.press("Tab");
      if ((await page.evaluate(() => document.activeElement?.dataset.testid)) === id) return;
    }
    assert.fail(`${id} was never reached by Tab`);
  };
  await byId(page, "train-toggle").focus();
  await tabTo("rnn-track");
  for (let i = 1; i <= 4; i++) await page.keyboard.press("+");
  await columns(page, 4);
  await page.keyboard.press("-");
  await columns(page, 3);
  await page.keyboard.press("Home");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowDown");
  const readout = byId(page, "unrolled-readout");
  await eventually(async () => (await readout.getAttribute("data-column")) === "2");
  const unit = Number(await readout.getAttribute("data-unit"));
  const { values } = await exported(page, "unrolled");
  await byId(page, "rnn-track").focus();
  await page.keyboard.press("Home");
  await page.keyboard.press("ArrowRight");
  assert.equal(Number(await readout.getAttribute("data-value")), values[1][Number(await readout.getAttribute("data-unit")) - 1]);
  assert(unit >= 1);
  await page.keyboard.press("Enter");
  await eventually(() => page.evaluate(() => document.activeElement?.dataset.testid === "rnn-arithmetic"));
  await page.keyboard.press("Escape");
  await byId(page, "rnn-arithmetic").waitFor({ state: "detached" });
  await eventually(() => page.evaluate(() => document.activeElement?.dataset.testid === "rnn-track"));
  await page.keyboard.press("e");
  await byId(page, "rnn-letter").waitFor();
  await eventually(() => page.evaluate(() => document.activeElement?.dataset.testid === "rnn-letter"));
  await page.keyboard.type("q");
  await eventually(() => page.url().includes("rnn-letter=113"));
  await page.keyboard.press("Escape");
  await byId(page, "rnn-edit").waitFor({ state: "detached" });
  await eventually(() => page.evaluate(() => document.activeElement?.dataset.testid === "rnn-track"));
  await page.keyboard.press("u");
  await byId(page, "figure-rnn-matrix").waitFor();
});

test("odd input is explained and breaks nothing", async (t) => {
  const page = await open(t, "&rnn-columns=64");
  const input = byId(page, "probe-input");
  await input.fill("");
  await eventually(async () => (await byId(page, "probe-problem").textContent()).includes("empty"));
  await input.fill("T");
  await columns(page, 1);
  assert.equal(await byId(page, "rnn-loop").count(), 0);
  await input.fill("Ж☃");
  await columns(page, 2);
  assert((await byId(page, "probe-note").textContent()).length > 0, "unknown characters are named");
  await input.fill("the fox ".repeat(20));
  await columns(page, 64);
  assert((await byId(page, "rnn-note").textContent()).includes("96 more characters"));
  // An edit beyond the end of a shorter sentence says so.
  await clickColumn(page, 9, ".rnn-token rect");
  await byId(page, "rnn-letter").waitFor();
  await input.fill("the");
  await eventually(async () => (await byId(page, "rnn-edit").textContent()).includes("the sentence is shorter"));
});

test("a resize drops the pin of a unit that is no more", async (t) => {
  const page = await open(t, "&rnn-columns=8&rnn-at=4&rnn-unit=30");
  await openView(page, "sum");
  const title = byId(page, "rnn-arithmetic").locator("h3");
  assert.equal(await title.textContent(), "Unit 30 at t = 4");
  await openSettings(page);
  await byId(page, "control-rnn-hidden").fill("8");
  await eventually(() => parameter(page, "rnn-at") === null && parameter(page, "rnn-unit") === null);
  await eventually(async () => (await title.textContent()).startsWith("Unit 1 "));
  await closeSettings(page);
  await openView(page, "unrolled");
  await eventually(async () => (await exported(page, "unrolled")).shape[1] === 8, "the new model is shown");
});

test("the question is answered by the live network", async (t) => {
  const page = await open(t);
  await byId(page, "check-rnn").scrollIntoViewIfNeeded();
  const question = await byId(page, "check-rnn").textContent();
  const [at, length] = [Number(question.match(/t = (\d+)/)[1]), Number(question.match(/of the (\d+) states/)[1])];
  const right = byId(page, "check-rnn-option-2");
  await right.check();
  await byId(page, "check-rnn-submit").click();
  const verdict = byId(page, "check-rnn-verdict");
  await verdict.waitFor();
  assert.equal(await verdict.getAttribute("data-right"), "true");
  assert((await verdict.textContent()).includes(`${length - at + 1} of ${length}`));
});

test("the teacher's step walks through the ideas", async (t) => {
  const page = await open(t);
  const beats = [
    [0, "unrolled", "rnn-loop"],
    [0, "unrolled", "rnn-loop"],
    [30, "unrolled", "rnn-column-1"],
    [8, "unrolled", "rnn-loop"],
    [8, "sum", "rnn-arithmetic"],
    [30, "unrolled", "rnn-edit"],
    [0, "writing", "rnn-thrown-lstm"],
  ];
  for (const [count, view, present] of beats) {
    await page.keyboard.press("PageDown");
    await page.locator(`.view[data-view="${view}"]`).waitFor();
    await byId(page, present).waitFor();
    // What the beat has chosen besides.
    if (present === "rnn-arithmetic") {
      assert.equal(await byId(page, present).locator("h3").textContent(), "Unit 3 at t = 5");
      await byId(page, "rnn-matrix-panel").waitFor();
    }
    if (view !== "unrolled") await openView(page, "unrolled");
    await columns(page, count);
  }
  await page.keyboard.press("PageUp");
  await byId(page, "rnn-edit").waitFor();
});

test("a matrix chosen in the diagram is the one beside the sum", async (t) => {
  const page = await open(t, "&rnn-columns=4");
  await columns(page, 4);
  await byId(page, "rnn-track").focus();
  await page.keyboard.press("w");
  await byId(page, "rnn-matrix-panel").getByText(/^W: from each character/).first().waitFor();
  await byId(page, "control-rnn-matrix-v").check();
  await byId(page, "rnn-matrix-panel").getByText(/^V: from each unit/).first().waitFor();
});

test("each view's figure is live and whole", async (t) => {
  const page = await open(t, "&rnn-columns=8");
  const figures = { sum: "rnn-matrix", writing: "rnn-writing", recovery: "rnn-recovery", loss: "rnn-loss", unrolled: "unrolled" };
  for (const [view, figure] of Object.entries(figures)) {
    await openView(page, view);
    await live(page, figure);
    assert.equal(await page.locator(".view").count(), 1, "one view at a time");
    await drawn(page);
    const [wide, high] = await page.locator(".view").evaluate((view) => [
      view.scrollWidth - view.clientWidth,
      view.scrollHeight - view.clientHeight,
    ]);
    assert(wide <= 0 && high <= 0, `${view} is ${wide} and ${high} px too large`);
  }
});

test("pictures and tables of the diagram can be taken along", async (t) => {
  const page = await open(t, "&rnn-columns=5");
  const svg = await exported(page, "unrolled", "svg");
  assert(svg.startsWith("<svg") && svg.includes("6 of 30 steps drawn"), svg.slice(0, 200));
  const csv = await exported(page, "unrolled", "csv");
  assert.equal(csv.trim().split("\n").length, 32);
  assert((await exported(page, "unrolled", "png")).length > 5000);
  await byId(page, "figure-unrolled").locator(".table-box > summary").click();
  await page.locator('[data-testid="figure-unrolled"] table').first().waitFor();
});


test("on a phone, what the text speaks of is in sight", async (t) => {
  const phone = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true };
  const page = await open(t, "&rnn-columns=64&rnn-edit=5&rnn-at=5&rnn-unit=3&rnn-odd=20", phone);
  const inSight = (part, name) => eventually(() => part.evaluate((part) => {
    const [box, room] = [part, part.closest(".view")].map((element) => element.getBoundingClientRect());
    return box.width > 0 && box.left >= room.left && box.right <= room.right && box.top >= room.top && box.bottom <= room.bottom;
  }), `${name} is in sight`);
  for (const id of ["rnn-letter", "rnn-undo-edit"]) await inSight(byId(page, id), id);
  // Where the edit is, and what becomes of it.
  for (const t of [5, 9]) await inSight(byId(page, `rnn-column-${t}`), `t = ${t}`);
  const readout = byId(page, "unrolled-readout");
  assert(await readout.evaluate((said) => said.scrollHeight <= said.clientHeight), "all that is said is in sight");
  await openView(page, "sum");
  for (const id of ["rnn-from-input", "rnn-sum", "rnn-state"]) await inSight(byId(page, id), id);
  await openView(page, "writing");
  for (const id of ["rnn-thrown-elman", "rnn-thrown-lstm"]) await inSight(byId(page, id), id);
});
