// Where am I, as a learner meets it.
import assert from "node:assert/strict";

import {
  atRest,
  byId,
  eventually,
  live,
  numberUntil,
  openView,
  parameter,
  paused,
  rested,
  test,
  useSite,
  views,
} from "./harness.mjs";

const site = useSite();
/** Steps the chapter takes by itself. */
const WARM = 200;

/** The chapter with its models trained as far as they train themselves, and this view of it. */
async function trained(t, view, query = "") {
  const page = await site.open(t, `?chapter=position&view=${view}${query}`);
  await rested(page, WARM);
  return page;
}

/** The chapter with models that are hardly trained, where it is not about what they learned. */
async function opened(t, view, query = "") {
  const page = await site.open(t, `?chapter=position&step=1&view=${view}${query}`);
  await numberUntil(page, "loss-step", (step) => step === 1, "1");
  await paused(page);
  return page;
}

/** What stands behind a shown number. */
async function exact(page, id) {
  return Number(await byId(page, id).getAttribute("data-value"));
}

const right = (page, encoding, length) => exact(page, `position-right-${encoding}-${length}`);

test("every tab shows its figures, alive; where two views share one, the keyboard goes between them", async (t) => {
  const page = await opened(t, "encoding");
  const shown = {
    reading: ["position-attention"],
    encoding: ["encoding", "clock"],
    turn: ["clock", "shift"],
    distance: ["position-products", "position-scores"],
    swap: ["position-sums"],
    models: ["compare", "position-curves"],
    longer: ["position-lengths"],
  };
  assert.deepEqual(await views(page), Object.keys(shown));
  for (const [view, figures] of Object.entries(shown)) {
    await openView(page, view);
    for (const figure of figures) await live(page, figure);
    assert.equal(await page.locator(".view .figure").count(), figures.length);
    // Whose logits stay is not told of models that have learned nothing.
    if (view === "models") await eventually(async () => (await byId(page, "position-swap-none").textContent()) === "too early");
  }
  // What stands beside an encoding shows what comes of it.
  await openView(page, "encoding");
  await byId(page, "position-encoding-integer").check();
  await live(page, "position-swamping");
  await byId(page, "position-encoding-alibi").check();
  await live(page, "position-scores");
  await openView(page, "models");
  await byId(page, "switch-models").focus();
  for (const [key, view] of [["ArrowRight", "longer"], ["ArrowLeft", "models"]]) {
    await page.keyboard.press(key);
    await page.locator(`.view[data-view="${view}"]`).waitFor();
    await page.waitForFunction((id) => document.activeElement?.id === id, `switch-${view}`);
    await eventually(() => parameter(page, "view") === view);
    assert.equal(await byId(page, "view-models").getAttribute("aria-selected"), "true");
  }
});

test("only models that are told positions learn order, and the fixed code goes on beyond its training", async (t) => {
  const page = await trained(t, "models");
  await live(page, "compare");
  const none = await right(page, "none", 8);
  assert((await right(page, "learned", 8)) > none + 0.3, "learned positions are far ahead of none");
  assert((await right(page, "sinusoidal", 8)) > none + 0.3, "so are sinusoidal ones");
  assert((await right(page, "sinusoidal", 16)) > none + 0.2, "also at twice the length");
  // No row: a word, not a number.
  assert.equal(await byId(page, "position-right-learned-16").textContent(), "no rows");
  assert.match(await byId(page, "position-swap-none").textContent(), /^stay$/);
  assert.doesNotMatch(await byId(page, "position-swap-sinusoidal").textContent(), /stay/);
  t.diagnostic(`none ${none}, sinusoidal ${await right(page, "sinusoidal", 8)}`);
});

test("counted back from the end, distances win", async (t) => {
  const page = await trained(t, "models", "&position-from=end");
  assert((await right(page, "rotary", 8)) > 0.8);
  assert((await right(page, "rotary", 8)) > (await right(page, "sinusoidal", 8)) + 0.2);
  // The symbol that is asked for trades places: who finds it notices.
  const moved = async (encoding) => Number(await byId(page, `position-swap-${encoding}`).locator("[data-value]").getAttribute("data-value"));
  await byId(page, "position-swap-rotary").locator("[data-value]").waitFor();
  assert((await moved("rotary")) > 1 && (await moved("none")) < 1e-4, `${await moved("rotary")}`);
  assert.match(await byId(page, "position-counting").textContent(), /trade places, and the number 8 asks for the first of them/);
});

test("two symbols trade places: without positions the sum stays, with them it changes", async (t) => {
  const page = await trained(t, "swap", "&position-encoding=none&position-number=1");
  await live(page, "position-sums");
  const says = () => byId(page, "position-swap").textContent();
  await eventually(async () => /the sum stays/.test(await says()), "without positions");
  assert(Number(await byId(page, "position-swap").getAttribute("data-most")) < 1e-4);
  for (const encoding of ["sinusoidal", "learned", "rotary"]) {
    await byId(page, `position-encoding-${encoding}`).check({ force: true });
    await eventually(async () => /the sum changes/.test(await says()), encoding);
  }
  assert(Number(await byId(page, "position-swap").getAttribute("data-most")) > 1e-3);
});

test("the heatmap is of the chosen encoding", async (t) => {
  const page = await opened(t, "encoding");
  const figure = byId(page, "figure-encoding");
  await live(page, "encoding");
  for (const [id, title] of [
    ["learned", /as trained so far/],
    ["rotary", /angle/],
    ["alibi", /each distance/],
    ["none", /Nothing is added/],
    ["integer", /Integer/],
  ]) {
    await byId(page, `position-encoding-${id}`).check();
    await eventually(async () => title.test(await figure.locator("h3").textContent()), id);
    await paused(page);
  }
  await byId(page, "position-encoding-learned").check();
  await byId(page, "position-no-rows").waitFor();
  // The numbers of the axes alone, which count from 0.
  await byId(page, "encoding-cells").focus();
  await page.keyboard.press("Home");
  await eventually(async () => /^position \d+, dimension 0: −?\d\.\d{4}$/.test(await byId(page, "encoding-readout").textContent()));
});

test("on a phone every encoding and the figure that a beat speaks of are in sight", async (t) => {
  const page = await site.open(t, "?chapter=position&step=1&idea=3&view=encoding&position-encoding=integer", {
    viewport: { width: 390, height: 844 },
  });
  const inSight = async (id) => {
    const box = await byId(page, id).boundingBox();
    return box !== null && box.x >= 0 && box.x + box.width <= 391;
  };
  await eventually(() => inSight("figure-position-swamping"));
  assert(await inSight("position-encoding-alibi"));
  await byId(page, "position-encoding-sinusoidal").check();
  await eventually(() => inSight("figure-clock"));
});

test("on a phone that lies on its side the two orders have their rows", async (t) => {
  const page = await site.open(t, "?chapter=position&step=1&idea=2", {
    viewport: { width: 844, height: 390 }, isMobile: true, hasTouch: true,
  });
  await live(page, "position-sums");
  await eventually(() => page.locator(".view .matrix-scroller").evaluate((room) => {
    // The axis and three rows.
    return room.clientHeight >= 80;
  }), "the rows have height");
});

test("hands turn with the position, and one turn shifts them all", async (t) => {
  const page = await opened(t, "turn");
  await live(page, "clock");
  const said = byId(page, "clock-said");
  // Dragging the slow hand a quarter of a turn: 0.316 rad a position, about 5 positions.
  const box = await atRest(byId(page, "clock-dial"));
  const at = (radians, share = 0.7) => [
    box.x + box.width / 2 + Math.sin(radians) * box.width * 0.5 * share,
    box.y + box.height / 2 - Math.cos(radians) * box.height * 0.5 * share,
  ];
  const start = 5 * 10000 ** (-4 / 32);
  await page.mouse.move(...at(start));
  await page.mouse.down();
  for (let part = 1; part <= 8; part++) await page.mouse.move(...at(start + (part / 8) * (Math.PI / 2)));
  await page.mouse.up();
  await eventually(() => parameter(page, "position-at") === "10", "dragged to 10");
  await eventually(async () => /^Position 10\./.test(await said.textContent()), "the hands are there");
  assert.deepEqual(await byId(page, "clock-dial").locator(".clock-name").allTextContents(), ["0, 1: fastest", "4, 5: slower"]);
  // The dashed hand, a quarter further on: k goes from 3 to 8, and the position stays.
  const dashed = 13 * 10000 ** (-4 / 32);
  await page.mouse.move(...at(dashed));
  await page.mouse.down();
  for (let part = 1; part <= 8; part++) await page.mouse.move(...at(dashed + (part / 8) * (Math.PI / 2)));
  await page.mouse.up();
  await eventually(() => parameter(page, "position-k") === "8", "dragged to 8");
  assert.equal(parameter(page, "position-at"), "10");
  // The turn by k, at this position and at all.
  await byId(page, "control-position-k").focus();
  await page.keyboard.press("ArrowRight");
  await eventually(() => parameter(page, "position-k") === "9", "k is 9");
  await eventually(async () => /PE\(10\) against PE\(19\)/.test(await byId(page, "shift-verdict").textContent()), "verdict");
  assert((await exact(page, "shift-difference")) < 1e-12);
  assert((await exact(page, "shift-largest")) < 1e-9);
  await byId(page, "clock-pair-8").click();
  await eventually(async () => /Dimensions 14 and 15/.test(await said.textContent()), "another hand");
});

test("products and scores tell places from offsets", async (t) => {
  const page = await opened(t, "distance");
  const verdict = byId(page, "products-verdict");
  await eventually(async () => /same curve/.test(await verdict.textContent()), "sinusoidal");
  assert((await exact(page, "scores-drift")) > 1e-3, "sinusoidal scores know places");
  await byId(page, "position-encoding-rotary").check();
  await eventually(async () => /depends on the offset alone/.test(await byId(page, "scores-verdict").textContent()), "rotary");
  assert((await exact(page, "scores-drift")) < 1e-3 * (await exact(page, "scores-spread")));
  await eventually(async () => /turn queries and keys/.test(await byId(page, "products-problem").textContent()), "no vectors");
  // What comes of the scores stands beside them.
  await live(page, "position-curves");
  // The raw integer.
  await openView(page, "encoding");
  await byId(page, "position-encoding-integer").check();
  await live(page, "position-swamping");
  assert((await exact(page, "swamping-all")) < 1e-6);
  assert((await exact(page, "swamping-one")) > 1);
});

test("a cell of attention opens its arithmetic, with the keyboard alone", async (t) => {
  const page = await opened(t, "reading");
  const grid = byId(page, "figure-position-attention").locator("[tabindex='0']").first();
  await live(page, "position-attention");
  // Who is right is told by a sign, unless it is luck, and how sure a model is by a bar.
  for (const encoding of ["none", "learned", "rotary"]) {
    const said = byId(page, `position-answer-${encoding}`);
    assert.match(await said.getByRole("img").getAttribute("aria-label"), /^(right|wrong|guessing)$/);
    const [, sign, share] = (await said.textContent()).match(/^.([✓✗–])(\d+)%$/);
    // The share is rounded.
    if (Number(share) !== 50) assert.equal(sign === "–", Number(share) < 50, `${sign} at ${share}%`);
  }
  await grid.focus();
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("Enter");
  await eventually(() => Number(parameter(page, "position-head")) > 0, "a head is open");
  await byId(page, "cell-inspector").waitFor();
  await page.keyboard.press("Escape");
  await eventually(() => !parameter(page, "position-head"), "closed");
  // Choosing an encoding and a position by keys.
  await openView(page, "encoding");
  await byId(page, "position-encoding-sinusoidal").check();
  await byId(page, "position-encoding-sinusoidal").focus();
  await page.keyboard.press("ArrowDown");
  await eventually(() => parameter(page, "position-encoding") === "learned", "next encoding");
  await openView(page, "turn");
  await byId(page, "clock-dial").focus();
  await page.keyboard.press("ArrowRight");
  await eventually(() => parameter(page, "position-at") === "6", "a position on");
});

test("what does not fit is said, and the rest stays", async (t) => {
  const page = await opened(t, "encoding", "&position-width=15&position-length=4&position-number=7");
  await eventually(async () => /15 can’t be split/.test(await byId(page, "position-problem").textContent()), "odd width");
  assert.equal(await page.locator(".view .figure, .view .field-error").count(), 1, "the sentence, and no empty figures");
  await openView(page, "turn");
  await eventually(async () => /even width/.test(await byId(page, "clock-problem").textContent()), "no hands");
  assert.equal(await page.locator(".view .figure").count(), 0);
  await openView(page, "reading");
  assert.match(await byId(page, "position-asked-problem").textContent(), /no symbol number 7/);
  await openView(page, "models");
  assert((await right(page, "learned", 8)) >= 0);
  // Far out the turn is as exact as before.
  const far = await opened(t, "turn", "&position-at=1000000&position-k=5000");
  await live(far, "clock");
  await eventually(async () => /PE\(1005000\)/.test(await byId(far, "shift-verdict").textContent()), "far");
  assert((await exact(far, "shift-difference")) < 1e-6);
  assert.match(await byId(far, "shift-verdict").textContent(), /beyond every sequence/);
  // Longer than the learned table.
  await byId(far, "try-long").click();
  await eventually(async () => /9 rows/.test(await byId(far, "position-answer-learned").textContent()), "no row");
});
