// The chapter `mask`: what a learner does there, and what must be true on the screen.
import assert from "node:assert/strict";

import {
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
  settled,
  test,
  useSite,
} from "./harness.mjs";

const site = useSite();
/** Steps the chapter takes by itself. */
const WARM = 120;

/** Opens the chapter; with `warm`, waits until its models have taken their first steps and rest. */
async function open(t, query = "", { warm = false, ...options } = {}) {
  const page = await site.open(t, `?chapter=mask${query}`, options);
  await live(page, "mask");
  if (warm) {
    await rested(page, WARM);
  }
  return page;
}

const fragment = (page) => new URL(page.url()).hash;
const text = (page, id) => byId(page, id).textContent();
const value = async (page, id) => Number(await byId(page, id).getAttribute("data-value"));
const readout = (page) =>
  byId(page, "mask-readout").evaluate((e) => ({
    row: Number(e.dataset.row),
    column: Number(e.dataset.column),
    value: e.dataset.value === undefined ? null : Number(e.dataset.value),
    text: e.textContent,
  }));

/** Goes to a cell with the keyboard, from whichever one is read. */
async function goTo(page, row, column) {
  await byId(page, "mask-cells").focus();
  await eventually(async () => Number.isInteger((await readout(page)).row));
  const at = await readout(page);
  const press = async (key, times) => {
    for (let i = 0; i < times; i++) await page.keyboard.press(key);
  };
  await press(row < at.row ? "ArrowUp" : "ArrowDown", Math.abs(row - at.row));
  await press(column < at.column ? "ArrowLeft" : "ArrowRight", Math.abs(column - at.column));
  await eventually(async () => {
    const now = await readout(page);
    return now.row === row && now.column === column;
  }, `cell ${row}, ${column}`);
}

/** The top next token after the followed row with its probability, as text. */
const likeliest = (page) => page.locator('[data-testid="figure-mask-next"] .bar-value').first().textContent();

test("three equal averages, and the one that depends on the data", async (t) => {
  const page = await open(t, "", { warm: true });
  await openView(page, "averages");
  for (const figure of ["mask-averages", "mask-weights", "mask-means"]) await live(page, figure);
  assert.match(await text(page, "figure-mask-averages"), /\(8\) may look at 8 of 30 tokens/);
  for (const pair of ["product", "softmax"]) {
    const apart = await value(page, `mask-loop-${pair}`);
    assert(apart < 1e-5, `loop and ${pair} are ${apart} apart`);
    assert.match(await text(page, `mask-loop-${pair}`), /^(exactly 0|(\d(\.\d+)?·)?10⁻[⁰¹²³⁴⁵⁶⁷⁸⁹]+)$/);
  }
  assert((await value(page, "mask-loop-attention")) > 0.01);
  // Both figures are equally high.
  const [weights, means] = await Promise.all(["weights", "means"].map((name) => atRest(byId(page, `figure-mask-${name}`).locator(".matrix-scroller"))));
  assert(Math.abs(weights.height - means.height) < 2, `${weights.height} and ${means.height}`);
  // All of the row's weights: 1/8 eight times, then what is blocked.
  await byId(page, "figure-mask-weights").locator(".table-box summary").click();
  const row = byId(page, "mask-weights-table").locator("tbody tr").first();
  await row.waitFor();
  const line = await row.locator("td").allTextContents();
  assert.deepEqual(line.slice(0, 9), [...Array(8).fill("0.1250"), "–"]);
});

test("click and drag change cells; outputs follow at once; blocked weights are exactly 0", async (t) => {
  const page = await open(t, "", { warm: true });
  assert.match(await text(page, "mask-blocked"), /^435 of 900 cells are blocked.*exactly 0\.$/);
  // The story names one of the strong cells.
  await eventually(async () => /block a strong cell, such as row ‘.+’ \(\d+\), column ‘.+’ \(\d+\)\./.test(await text(page, "beat-1")), "a strong cell");
  await byId(page, "mask-edit-mode").click();
  const cells = await atRest(byId(page, "mask-cells"));
  // Somewhere below the diagonal.
  const [x, y] = [cells.x + cells.width * 0.35, cells.y + cells.height * 0.8];
  await page.mouse.move(x, y);
  await eventually(async () => (await readout(page)).value > 0);
  const start = await readout(page);
  await page.mouse.click(x, y);
  await eventually(async () => (await readout(page)).value === null, "the cell is blocked");
  assert.match((await readout(page)).text, /may not look at .*: exactly 0\./);
  await eventually(async () => /^436 of 900/.test(await text(page, "mask-blocked")));
  // What comes of it stands beside: the edited cell's row is the chosen one.
  await eventually(async () => parameter(page, "mask-row") === `${start.row + 1}`);
  await eventually(async () => /^Largest difference/.test(await text(page, "mask-moved")));
  await page.mouse.click(x, y);
  await eventually(async () => /^435 of 900/.test(await text(page, "mask-blocked")));
  assert.equal((await readout(page)).row, start.row);
  // A drag to the right gives every cell on its way what the first one becomes.
  await page.mouse.down();
  const end = x + cells.width * 0.25;
  for (let at = x; at <= end; at += 3) await page.mouse.move(at, y);
  await page.mouse.up();
  await settled(page);
  const last = await readout(page);
  assert.equal(last.row, start.row);
  const count = last.column - start.column + 1;
  assert(count >= 5, `${count} cells`);
  await eventually(async () => new RegExp(`^${435 + count} of 900`).test(await text(page, "mask-blocked")));
  assert.match(await text(page, "mask-clear"), new RegExp(`^Clear ${count} drawn$`));
  await byId(page, "mask-clear").click();
  await eventually(async () => /^435 of 900/.test(await text(page, "mask-blocked")));
  // A preset changes what the row says next.
  await settled(page);
  const before = await likeliest(page);
  for (const [preset, blocked] of [["alone", 870], ["padding", 120], ["full", null], ["causal", 435]]) {
    await byId(page, `mask-preset-${preset}`).click();
    const said = blocked === null ? /^None of 900/ : new RegExp(`^${blocked} of 900.*exactly 0`);
    await eventually(async () => said.test(await text(page, "mask-blocked")), preset);
    await settled(page);
    if (preset === "alone") await eventually(async () => (await likeliest(page)) !== before);
    // Under another mask than the model's own there are two to compare.
    if (preset === "causal") await byId(page, "mask-moved").waitFor({ state: "detached" });
    else await eventually(async () => /^Largest difference/.test(await text(page, "mask-moved")), preset);
    assert.equal(await byId(page, "figure-mask-vector").count(), preset === "causal" ? 0 : 1);
    const seconds = byId(page, "figure-mask-next").locator(".bar-compare");
    assert.equal((await seconds.count()) > 0, preset !== "causal");
  }
  await eventually(async () => (await likeliest(page)) === before);
  // Intersection and union.
  await openSettings(page);
  await byId(page, "control-mask-combine-and").check();
  await eventually(async () => /^786 of 900/.test(await text(page, "mask-blocked")), "causal and a band of 4");
  await byId(page, "control-mask-combine-or").check();
  await eventually(async () => /^351 of 900/.test(await text(page, "mask-blocked")), "causal or a band of 4");
});

test("an edit is on the screen soon, also while training", async (t) => {
  // It trains by itself at first.
  const page = await open(t, "&mask-editing=1");
  const times = [];
  for (let i = 0; i < 5; i++) {
    const before = await text(page, "mask-blocked");
    const preset = i % 2 ? "causal" : "full";
    times.push(
      await page.evaluate(
        ([preset, before]) =>
          new Promise((resolve) => {
            const begun = performance.now();
            const shown = document.querySelector('[data-testid="mask-blocked"]');
            const look = () => (shown.textContent === before ? requestAnimationFrame(look) : resolve(performance.now() - begun));
            document.querySelector(`[data-testid="mask-preset-${preset}"]`).click();
            look();
          }),
        [preset, before],
      ),
    );
  }
  times.sort((a, b) => a - b);
  t.diagnostic(`edit to picture while training: ${times.map((ms) => ms.toFixed(0)).join(", ")} ms`);
  // A shared machine may be ten times slower than a laptop.
  assert(times[2] < 1000, `median ${times[2]} ms`);
});

test("a row with nothing allowed is refused, and the last picture stays", async (t) => {
  const page = await open(t, "&mask-editing=1");
  await goTo(page, 0, 0);
  await page.keyboard.press("Space");
  await eventually(async () => /Row 1 may look at nothing/.test(await text(page, "mask-problem")));
  assert.match(await text(page, "mask-problem"), /still shows the previous mask/);
  assert.match(await text(page, "mask-blocked"), /^435 of 900/);
  assert.equal((await readout(page)).value, 1);
  assert.match((await readout(page)).text, /under the previous mask; you blocked it/);
  // No guesses under a mask that is refused.
  assert.equal(await byId(page, "figure-mask-next").count(), 0);
  // Another cell of the row makes it whole.
  await goTo(page, 0, 3);
  await page.keyboard.press("Space");
  await eventually(async () => (await text(page, "mask-problem")) === "");
  await eventually(async () => (await readout(page)).value === 1);
});

test("what was drawn is in the link's fragment, survives a reload, and can be undone", async (t) => {
  const page = await open(t, "&mask-editing=1");
  await goTo(page, 2, 6);
  await page.keyboard.press("Space");
  await eventually(async () => /^434 of 900/.test(await text(page, "mask-blocked")));
  await eventually(async () => fragment(page).startsWith("#m="));
  await page.reload();
  await live(page, "mask");
  await eventually(async () => /^434 of 900/.test(await text(page, "mask-blocked")));
  // Undo knows of what changes once it is there; it is fetched behind the first picture.
  await byId(page, "undo").waitFor();
  await goTo(page, 2, 7);
  await page.keyboard.press("Space");
  await eventually(async () => /^433 of 900/.test(await text(page, "mask-blocked")));
  await byId(page, "undo").click();
  await eventually(async () => /^434 of 900/.test(await text(page, "mask-blocked")));
  await byId(page, "back-to-start").click();
  await eventually(async () => /^435 of 900/.test(await text(page, "mask-blocked")));
  await eventually(async () => fragment(page) === "");
  const damaged = await site.open(t, "?chapter=mask#m=AAAA");
  await damaged.getByText("is damaged, so what was written or drawn is left out").waitFor();
});

test("leak test: under a causal mask exactly 0, without one not", async (t) => {
  const page = await open(t);
  await openView(page, "leak");
  await eventually(async () => (await text(page, "mask-leak-masked")) === "don’t move at all");
  assert.equal(await value(page, "mask-leak-masked"), 0);
  assert((await value(page, "mask-leak-unmasked")) > 0.001);
  assert.match(await text(page, "mask-leak-verdict"), /^No leak: all 11 outputs/);
  // One scale for every mask: the pictures can be compared.
  const scale = () => byId(page, "figure-mask-leak").locator(".scale-ticks").innerText();
  const under = await scale();
  await byId(page, "mask-preset-full").click();
  await eventually(async () => (await value(page, "mask-leak-masked")) > 0.001);
  assert.equal(await text(page, "mask-leak-verdict"), "Leak: every output before it, 11 of 11, moved.");
  assert.equal(await scale(), under);
  await byId(page, "mask-preset-causal").click();
  // The picture is a control, once it is there: the first column's token has none before it.
  await live(page, "mask-leak");
  await byId(page, "mask-leak-cells").focus();
  await page.keyboard.press("Home");
  await page.keyboard.press("Enter");
  await eventually(async () => parameter(page, "mask-change") === "1");
  await eventually(async () => /Nothing comes before/.test(await text(page, "mask-leak-verdict")));
  assert.equal(await byId(page, "mask-leak-masked").count(), 0);
  await byId(page, "control-mask-letter").fill("s");
  await eventually(async () => /same character/.test(await text(page, "mask-leak-verdict")));
});

test("trained where it can peek: a tiny loss, and rubbish", async (t) => {
  const page = await open(t, "", { warm: true });
  await openView(page, "trained");
  for (const figure of ["mask-trained", "mask-loss", "mask-writing"]) await live(page, figure);
  const first = await text(page, "mask-writes-unmasked");
  await byId(page, "train-toggle").click();
  await numberUntil(page, "loss-step", (step) => step >= 240, "240");
  await byId(page, "train-toggle").click();
  await paused(page);
  const loss = (name) => number(page, `mask-loss-${name}`);
  const unseen = (name) => number(page, `mask-unseen-${name}`);
  assert((await loss("unmasked")) < 0.25 * (await loss("causal")));
  assert((await unseen("unmasked")) > (await unseen("causal")) + 1);
  assert.match(await text(page, "mask-verdict"), /learned to copy, not to predict/);
  assert.notEqual(await text(page, "mask-writes-unmasked"), first);
  for (const model of ["causal", "unmasked"]) {
    const written = await text(page, `mask-writes-${model}`);
    assert(written.startsWith("fox, who had one"), written);
    assert.equal([...written].length, 64);
  }
});

test("by keyboard alone: edit mode, cells, a row's arithmetic", async (t) => {
  const page = await open(t);
  await byId(page, "mask-edit-mode").focus();
  await page.keyboard.press("Enter");
  assert.equal(await byId(page, "mask-edit-mode").getAttribute("aria-pressed"), "true");
  await goTo(page, 4, 1);
  assert.match((await readout(page)).text, /^‘ ?.*’ \(5\) looks at ‘a’ \(2\): weight 0\.\d{4}\./);
  await page.keyboard.press("Space");
  await eventually(async () => /^436 of 900/.test(await text(page, "mask-blocked")));
  await page.keyboard.press("Space");
  await eventually(async () => /^435 of 900/.test(await text(page, "mask-blocked")));
  await byId(page, "mask-edit-mode").focus();
  await page.keyboard.press("Enter");
  await goTo(page, 4, 1);
  await page.keyboard.press("Enter");
  await eventually(async () => parameter(page, "mask-row") === "5" && parameter(page, "mask-cell") === "2");
  await byId(page, "cell-inspector").waitFor();
  await page.keyboard.press("Escape");
  await eventually(async () => parameter(page, "mask-cell") === null);
});

test("the check's answer is what really stays the same", async (t) => {
  const page = await open(t);
  for (const right of [3, 0, 0]) {
    await byId(page, `check-mask-option-${right}`).check();
    await byId(page, "check-mask-submit").click();
    const verdict = byId(page, "check-mask-verdict");
    await eventually(async () => (await verdict.getAttribute("data-right")) === "true");
    assert.equal(((await verdict.textContent()).match(/exactly 0/g) ?? []).length, 1);
    await byId(page, "check-mask-another").click();
    await settled(page);
  }
});

test("one token, none, 512, and a band wider than the sentence", async (t) => {
  const page = await open(t, "&mask-base=band&mask-band=512", { warm: true });
  const notes = (pattern) => eventually(async () => pattern.test(await text(page, "mask-notes")), String(pattern));
  await notes(/A band of 512 is at least as wide as these 30 tokens/);
  await byId(page, "probe-input").fill("");
  await eventually(async () => /at least one character/.test(await text(page, "probe-problem")));
  await byId(page, "probe-input").fill("f");
  await notes(/single token can only look at itself/);
  assert.match(await text(page, "mask-blocked"), /^None of 1 cells/);
  await byId(page, "probe-input").fill("ab c".repeat(128));
  await notes(/Only the first 32 of 400 characters/);
  await byId(page, "mask-edit-mode").click();
  await settled(page);
  await drawn(page);
  await goTo(page, 31, 31);
  await page.keyboard.press("Space");
  await eventually(async () => /^1 of 1024 cells/.test(await text(page, "mask-blocked")));
  await byId(page, "mask-preset-padding").click();
  await openSettings(page);
  await byId(page, "control-mask-padding").press("End");
  await eventually(async () => /Row 1 may look at nothing/.test(await text(page, "mask-problem")));
});

test("on a low screen all that comes of a row is in sight, and on a phone what the story names", async (t) => {
  const page = await open(t, "&mask-editing=1", { warm: true, viewport: { width: 1280, height: 720 } });
  const excess = () =>
    page.locator(".mask-side, .mask-side .bars-body").evaluateAll((boxes) =>
      boxes.map((box) => box.scrollHeight - box.clientHeight),
    );
  for (const preset of ["causal", "graph"]) {
    await byId(page, `mask-preset-${preset}`).click();
    await settled(page);
    assert((await excess()).every((cut) => cut <= 1), `${preset}: ${await excess()}`);
  }
  await page.setViewportSize({ width: 390, height: 844 });
  await settled(page);
  const within = async (id) => {
    const [part, stage] = [await byId(page, id).boundingBox(), await page.locator(".stage-view").boundingBox()];
    return part.y >= stage.y && part.y + part.height <= stage.y + stage.height && part.x + part.width <= 390;
  };
  for (const id of ["mask-edit-mode", "mask-cells", "mask-guess"]) assert(await within(id), id);
  assert.match(await text(page, "mask-guess"), /^After ‘.’ \(8\): . \d+% · . \d+% · . \d+%$/);
  await openView(page, "averages");
  assert(await within("control-mask-row"));
  await openView(page, "leak");
  for (const id of ["control-mask-change", "control-mask-letter", "mask-leak-masked"]) assert(await within(id), id);
  // Why there is no guess stands where the guess did.
  await byId(page, "try-mask-empty").evaluate((button) => button.click());
  await eventually(async () => /^Row 1 may look at nothing/.test(await text(page, "mask-guess")));
  assert(await within("mask-guess"), "why there is no guess");
});

test("nothing is cut off and nothing hard to read while a mask is drawn", async (t) => {
  await fitsEverywhere(await open(t, "&mask-editing=1&mask-combine=and"));
});
