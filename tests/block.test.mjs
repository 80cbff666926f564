// The rest of the transformer, as a learner meets it.
import assert from "node:assert/strict";

import {
  beat,
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
  train,
  useSite,
} from "./harness.mjs";

const site = useSite();
/** Steps the chapter takes by itself. */
const WARM = 80;

/** Opens the chapter and waits until its first training is over. */
async function opened(t, query = "&view=stream", options = {}) {
  const page = await site.open(t, `?chapter=block${query}`, options);
  await rested(page, WARM);
  return page;
}

/** Opens it with models that are hardly trained, where it is not about what they learned. */
async function fresh(t, query = "&view=stream", options = {}) {
  const page = await site.open(t, `?chapter=block&step=1${query}`, options);
  await rested(page);
  return page;
}

const value = async (page, id) => Number(await byId(page, id).getAttribute("data-value"));
/** The full model's loss and the other's, as their lines end. */
const losses = (page) => byId(page, "block-loss-verdict").evaluate(({ dataset }) => [Number(dataset.full), Number(dataset.cut)]);
const choose = (page, name, id) => byId(page, `control-${name}-${id}`).check({ force: true });
const near = (a, b, most, what) => assert(Math.abs(a - b) <= most, `${what}: ${a} is not ${b}`);
/** What every term adds, the final norm's offset last. */
const added = (page) =>
  page
    .locator('[data-testid^="block-adds-"], [data-testid="block-offset"]')
    .evaluateAll((cells) => cells.map((cell) => Number(cell.getAttribute("data-value"))));
/** Waits for the table of this model, position (from 0) or token. */
const table = (page, name, wanted) =>
  eventually(async () => (await byId(page, "block-contributions").getAttribute(`data-${name}`)) === wanted, `${name} ${wanted}`);

/** Waits until a figure is read at this step or a later one. */
async function addsUp(page, terms) {
  const parts = await added(page);
  assert.equal(parts.length, terms);
  const [sum, logit] = [await value(page, "block-sum"), await value(page, "block-logit")];
  near(parts.reduce((a, b) => a + b, 0), sum, 1e-4, "the sum");
  near(sum, logit, 1e-4, "the logit");
  const shown = async (id) => Number((await byId(page, id).textContent()).trim().replace("−", "-"));
  near(await shown("block-sum"), await shown("block-logit"), 2e-4, "as written");
}

test("the chapter opens on a block; each layer says what it adds, as the table does", async (t) => {
  const page = await fresh(t, "");
  await page.locator('[data-testid="view-wiring"][aria-selected="true"]').waitFor();
  await live(page, "block-wiring");
  const readout = byId(page, "block-wiring-readout");
  const says = async (text) => {
    await eventually(async () => text.test(await readout.textContent()), `${text}`);
    return text.exec(await readout.textContent()).slice(1);
  };
  const adds = (name) => new RegExp(`^${name} adds a vector of length (\\d+\\.\\d\\d); then the stream has length (\\d+\\.\\d\\d)\\.$`);
  await byId(page, "block-wiring-picture").focus();
  await says(adds("The embedding of ‘.+’"));
  for (let part = 0; part < 2; part++) await page.keyboard.press("ArrowRight");
  const [attention] = await says(adds("Attention 1"));
  await page.keyboard.press("End");
  const [feed, whole] = await says(adds("Feed-forward 6"));
  // Fourteen parts, each added but the token, which the line begins with.
  const picture = byId(page, "block-wiring-picture");
  assert.equal(await picture.locator("[data-part]").count(), 14);
  assert.equal(await picture.locator("text", { hasText: /^\+$/ }).count(), 13);
  // Without residuals the line goes through the boxes.
  await choose(page, "block-shown", "cut");
  await eventually(async () => (await picture.locator("text", { hasText: /^\+$/ }).count()) === 1);
  await picture.focus();
  await page.keyboard.press("Home");
  for (let part = 0; part < 2; part++) await page.keyboard.press("ArrowRight");
  await says(/^(Attention 1) replaces the stream\.$/);
  await choose(page, "block-shown", "full");
  await openView(page, "stream");
  await table(page, "shown", "full");
  const lengths = await byId(page, "block-contributions").locator("tbody tr > td:nth-child(2)").allTextContents();
  assert.deepEqual([lengths[2], lengths[13]], [attention, feed]);
  assert.equal((await byId(page, "block-whole").textContent()).trim(), whole);
  // A bar begins right after its number.
  const gap = await byId(page, "block-contributions").evaluate((table) => {
    const bars = [...table.querySelectorAll(".block-bar i")].map((bar) => bar.getBoundingClientRect().left);
    return Math.min(...bars) - table.querySelector('[data-testid="block-adds-1"]').getBoundingClientRect().right;
  });
  assert(gap >= 0 && gap < 12, `${gap} px between numbers and bars`);
});

test("each term's size in the stream, and its contributions add up to the chosen logit", async (t) => {
  const page = await fresh(t);
  await live(page, "block-sizes");
  // Token, position, six attentions, six feed-forwards; and the final norm's offset.
  await addsUp(page, 15);
  await byId(page, "block-sizes-cells").focus();
  await page.keyboard.press("Home");
  for (let row = 0; row < 3; row++) await page.keyboard.press("ArrowDown");
  const size = Number(await byId(page, "block-sizes-readout").getAttribute("data-value"));
  assert(size > 0);
  assert.match(await byId(page, "block-sizes-readout").textContent(), /feed-forward 1/);
  // A cell is its term at its position: Enter opens the arithmetic.
  await page.keyboard.press("Enter");
  await byId(page, "block-arithmetic").waitFor();
  await table(page, "position", "0");
  await eventually(async () => parameter(page, "block-term") === "4" && parameter(page, "block-position") === "1");
  await addsUp(page, 15);
  near(await value(page, "block-total"), await value(page, "block-adds-4"), 1e-4, "the worked-out term");
  const products = await page
    .locator('[data-part="block-product"]')
    .evaluateAll((cells) => cells.map((cell) => Number(cell.getAttribute("data-value"))));
  assert.equal(products.length, 24);
  near(products.reduce((a, b) => a + b, 0), await value(page, "block-total"), 1e-6, "24 products");
  // Six in sight, the largest first, and the rest in one; as written they add up to the last digit.
  const panel = byId(page, "block-arithmetic");
  const written = async (cells) => (await cells.allTextContents()).map((text) => Math.round(1000 * Number(text.trim().replace("−", "-"))));
  const sum = (all) => all.reduce((a, b) => a + b, 0);
  const all = await written(panel.locator('[data-part="block-product"]'));
  const visible = await written(panel.locator('[data-part="block-product"]:visible'));
  const [rest, total] = [await written(byId(page, "block-rest")), await written(byId(page, "block-total"))];
  assert.deepEqual(visible, all.slice(0, 6));
  assert(products.every((part, i) => i === 0 || Math.abs(part) <= Math.abs(products[i - 1])));
  assert.deepEqual([sum(visible) + rest[0], sum(all.slice(6))], [total[0], rest[0]]);
  // What is folded away stays open for the next term.
  for (const fold of ["block-others", "block-factors"]) {
    assert(await byId(page, fold).locator("summary ~ *").isHidden());
    await byId(page, fold).locator("summary").click();
  }
  // The term below it, and back.
  await byId(page, "block-arithmetic-next").click();
  await eventually(async () => /attention 2 adds/.test(await byId(page, "block-arithmetic").textContent()));
  for (const part of ["block-mean", "block-deviation"]) assert(await byId(page, part).isVisible());
  assert.equal(await panel.locator('[data-part="block-product"]:visible').count(), 24);
  await byId(page, "block-arithmetic-back").press("Enter");
  await eventually(() => parameter(page, "block-term") === "4");
  await byId(page, "block-arithmetic-close").click();
  await byId(page, "block-arithmetic").waitFor({ state: "detached" });
});

test("on a phone the table comes into sight with its beat, and what is worked out with a tap", async (t) => {
  const page = await fresh(t, "&idea=1", { viewport: { width: 390, height: 844 } });
  const inSight = (id) => async () => {
    const box = await byId(page, id).boundingBox();
    return box !== null && box.x >= 0 && box.x + box.width <= 391;
  };
  await eventually(inSight("figure-block-adds"));
  await byId(page, "block-term-3").click();
  await eventually(inSight("block-arithmetic"));
});

test("another token has another logit, and its own contributions", async (t) => {
  const page = await fresh(t);
  await table(page, "shown", "full");
  const first = await byId(page, "block-contributions").getAttribute("data-token");
  // A bar can be chosen once it has its token.
  await byId(page, "figure-block-next").locator(".bar-button:enabled").nth(1).click();
  await eventually(async () => (await byId(page, "block-contributions").getAttribute("data-token")) !== first);
  await addsUp(page, 15);
  await eventually(async () => Number(parameter(page, "block-token")) > 0);
  await byId(page, "undo").click();
  await table(page, "token", first);
});

test("without residuals the loss stands and the gradient dies; the terms grow with training", async (t) => {
  const page = await opened(t);
  await openView(page, "without");
  await live(page, "block-depth");
  // The default already shows it.
  await eventually(async () => (await value(page, "block-ratio-cut")) < 0.05);
  assert((await value(page, "block-ratio-full")) > 0.5);
  await openView(page, "growth");
  await live(page, "block-growth");
  // The last column is the step that the sentence is about.
  const cells = byId(page, "block-growth-cells");
  const verdict = byId(page, "block-growth-verdict");
  const said = /^Longest layer at step (\d+): (?:attn|feed) \d, length \S+ \(token embedding \S+\)\. .*\.$/;
  const readAt = (step) => eventually(async () => Number(said.exec(await verdict.textContent())?.[1]) >= step, `at ${step}`);
  await readAt(WARM);
  assert.match(await cells.getAttribute("aria-label"), /: 14 rows by \d+ columns/);
  await train(page, WARM + 150);
  await readAt(WARM + 150);
  // A dot for every layer that woke; a cell says its term, step and length.
  assert(await byId(page, "figure-block-growth").locator(".matrix-dots:not(.matrix-gaps) path").count());
  await cells.focus();
  await page.keyboard.press("End");
  await eventually(async () => /^token, step \d+: length \d/.test(await byId(page, "block-growth-readout").textContent()));
  // The two layers of a block stand together, as they do in the stream.
  for (let row = 0; row < 3; row++) await page.keyboard.press("ArrowDown");
  await eventually(async () => /^feed 1, step \d/.test(await byId(page, "block-growth-readout").textContent()));
  await openView(page, "without");
  await eventually(async () => (await value(page, "block-ratio-cut")) < 0.001);
  const [whole, cut] = await losses(page);
  assert(cut > whole + 0.3);
  assert.match(await byId(page, "block-loss-verdict").textContent(), /The full model is ahead/);
  await live(page, "block-loss");
  // Only the last layer's output is left in its stream.
  await openView(page, "stream");
  assert.match(await byId(page, "control-block-shown").textContent(), /Without residuals/);
  await choose(page, "block-shown", "cut");
  await table(page, "shown", "cut");
  await addsUp(page, 2);
});

test("on a phone, the losses are in sight at first, and then what the residuals are for", async (t) => {
  for (const [idea, figure] of [["", "block-loss"], ["&idea=3", "block-depth"]]) {
    const page = await fresh(t, idea, { viewport: { width: 390, height: 844 } });
    await openView(page, "without");
    await live(page, figure);
    const box = await byId(page, `figure-${figure}`).boundingBox();
    assert(box.x >= 0 && box.x + box.width <= 390, `${figure} from ${box.x}, ${box.width} wide`);
  }
});

test("norms, attention or the feed-forward off, and retrained", async (t) => {
  const page = await opened(t);
  await openView(page, "without");
  const [full] = await losses(page);
  await openView(page, "stream");
  await choose(page, "block-shown", "cut");
  await openSettings(page);
  for (const [without, terms, differs] of [
    ["attention", 9, (own, other) => other !== own],
    // Each has another number of terms than the one before it: that tells the new model.
    ["norms", 14, (own, other) => other > own + 0.05],
    ["feed-forward", 9, (own, other) => other !== own],
  ]) {
    await choose(page, "block-without", without);
    await eventually(async () => parameter(page, "block-without") === without);
    await eventually(async () => (await added(page)).length === terms, `${terms} terms without ${without}`);
    await rested(page, WARM);
    await addsUp(page, terms);
    // The full model is the same one beside each of them.
    await openView(page, "without");
    const [same, cut] = await losses(page);
    near(same, full, 1e-6, "the full model");
    assert(differs(full, cut), `${without}: ${full}, ${cut}`);
    await openView(page, "stream");
  }
  await openView(page, "neurons");
  await eventually(async () => /no feed-forward layers/.test(await byId(page, "block-neurons-problem").textContent()));
});

test("post-norm: the stream is divided, and its terms still add up", async (t) => {
  const page = await fresh(t, "&view=stream&block-norm=post");
  await addsUp(page, 15);
  assert.match(await byId(page, "block-contributions").textContent(), /norms’ offsets β/);
  await byId(page, "block-term-2").click();
  await byId(page, "block-arithmetic").waitFor();
  assert.match(await byId(page, "block-arithmetic").textContent(), /no final norm/);
  near(await value(page, "block-total"), await value(page, "block-adds-2"), 1e-4, "the worked-out term");
});

test("feed-forward with ReLU, both GELUs and SoLU, on the live model's neurons", async (t) => {
  const page = await fresh(t, "&block-activation=relu");
  await openView(page, "neurons");
  await live(page, "block-neurons");
  // One curve for one function: the tanh form only where the layer uses it. The axis holds the neurons, and little more.
  const names = await byId(page, "block-neurons-readout").locator(".lines-name").allTextContents();
  assert.deepEqual(names, ["ReLU", "GELU", "the 96 neurons"]);
  const slider = byId(page, "figure-block-neurons").locator('[role="slider"]');
  const [from, to] = [Number(await slider.getAttribute("aria-valuemin")), Number(await slider.getAttribute("aria-valuemax"))];
  assert(from === -to && to >= 0.5 && to < 4 && Number.isInteger(2 * to), `${from} to ${to}`);
  // About half of the sums are negative, and ReLU puts out 0 for them.
  await eventually(async () => (await value(page, "block-off")) > 20);
  // The bend changes beside the figure: GELU lets a little through.
  await choose(page, "block-bend", "gelu");
  await eventually(async () => parameter(page, "block-activation") !== "relu");
  await eventually(async () => (await value(page, "block-off")) < 20);
  await openSettings(page);
  await choose(page, "block-activation", "gelu-tanh");
  await rested(page);
  await eventually(async () => (await byId(page, "block-forms").count()) === 1);
  const forms = await value(page, "block-forms");
  assert(forms > 1e-5 && forms < 1e-3, `${forms}`);
  await choose(page, "block-activation", "solu");
  await rested(page);
  await eventually(async () => /SoLU/.test(await byId(page, "figure-block-neurons").textContent()));
  // Two positions: the same sum, another output.
  await eventually(async () => /position 24.*position 18/.test(await byId(page, "block-neurons-readout").textContent()));
});

test("dropout is an ensemble: the mean of sub-networks is nearer than each of them", async (t) => {
  const page = await opened(t);
  await openView(page, "dropout");
  await live(page, "block-ensemble");
  const [each, mean] = [await value(page, "block-each-off"), await value(page, "block-mean-off")];
  assert(mean < each && each > 0, `${mean}, ${each}`);
  // Each has a bar, their mean first.
  const away = await byId(page, "block-away")
    .locator('[data-part="block-away"]')
    .evaluateAll((cells) => cells.map((cell) => Number(cell.getAttribute("data-value"))));
  assert.equal(away.length, 13);
  assert.equal(away[0], mean);
  near(away.slice(1).reduce((a, b) => a + b, 0) / 12, each, 1e-5, "the mean of 12");
  const farther = away.slice(1).filter((one) => one > mean).length;
  assert.match(await byId(page, "block-ensemble-verdict").textContent(), new RegExp(`nearer than ${farther} of the 12`));
  await byId(page, "control-block-dropout").fill("0.6");
  await eventually(async () => (await value(page, "block-each-off")) > each);
  await byId(page, "control-block-dropout").fill("0");
  await eventually(async () => (await value(page, "block-each-off")) < 1e-5);
});

test("empty sentences, unknown characters and links with nonsense do no harm", async (t) => {
  const page = await fresh(t, "&view=stream&block-position=24&block-term=15");
  await byId(page, "probe-input").fill("");
  await eventually(async () => /no text to look at/.test(await byId(page, "probe-problem").textContent()));
  for (const text of ["a", "𝄞𝄞𝄞", "a much longer sentence than the model can read at once"]) {
    await byId(page, "probe-input").fill(text);
    const last = Math.min([...text].length, 24) - 1;
    await table(page, "position", `${last}`);
    await eventually(async () => (await byId(page, "probe-problem").textContent()) === "");
    await addsUp(page, 15);
  }
  const other = await fresh(t, "&block-token=4000");
  await eventually(async () => /There is no token 4000/.test(await byId(other, "probe-problem").textContent()));
});

test("the check is answered from the live model", async (t) => {
  const page = await fresh(t);
  await byId(page, "check-block").scrollIntoViewIfNeeded();
  for (let round = 0; round < 2; round++) {
    // Another question, when its answer comes, takes a guess back.
    await settled(page);
    await byId(page, "check-block-option-0").check({ force: true });
    await eventually(async () => (await byId(page, "check-block-submit").getAttribute("aria-disabled")) !== "true");
    await byId(page, "check-block-submit").click();
    const verdict = byId(page, "check-block-verdict");
    await verdict.waitFor();
    const text = (await verdict.textContent()).replaceAll("−", "-");
    const sums = [...text.matchAll(/(?:embedding|together): (-?\d+\.\d+)/g)].map((match) => Number(match[1]));
    assert.equal(sums.length, 4, text);
    assert.equal(await verdict.getAttribute("data-right"), `${Math.max(...sums) === sums[0]}`);
    await byId(page, "check-block-another").click();
    // The stage shows what is asked about.
    await eventually(() => Number(parameter(page, "block-position")) > 0, "another position");
  }
});

test("the ideas step through, each with its stage", async (t) => {
  const page = await fresh(t);
  const titles = new Set();
  for (const [before, view] of ["stream", "stream", "without", "stream", "without", "growth", "neurons", "dropout"].entries()) {
    await page.keyboard.press("PageDown");
    await eventually(async () => parameter(page, "idea") === `${before + 1}`);
    assert.equal(await beat(page).getAttribute("data-beat"), `${before + 1}`);
    titles.add(await beat(page).locator(".beat-title").textContent());
    await page.locator(`[data-testid="view-${view}"][aria-selected="true"]`).waitFor();
  }
  assert.equal(titles.size, 8);
  await eventually(async () => (await byId(page, "control-block-dropout").inputValue()) === "0.5");
});

test("everything can be done by keyboard", async (t) => {
  const page = await fresh(t);
  await byId(page, "block-term-3").focus();
  await page.keyboard.press("Enter");
  await byId(page, "block-arithmetic").waitFor();
  await eventually(async () => parameter(page, "block-term") === "3");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await eventually(async () => parameter(page, "block-term") === "4");
  await byId(page, "control-block-shown-full").focus();
  await page.keyboard.press("ArrowDown");
  await table(page, "shown", "cut");
  // Along the tabs with the arrow keys.
  await byId(page, "view-stream").focus();
  await page.keyboard.press("End");
  await live(page, "block-ensemble");
  await byId(page, "control-block-dropout").focus();
  await page.keyboard.press("ArrowRight");
  await eventually(async () => parameter(page, "block-dropout") === "0.25");
  await byId(page, "train-step").focus();
  const step = await number(page, "loss-step");
  await page.keyboard.press("Enter");
  await numberUntil(page, "loss-step", (now) => now > step, "a step more");
});

test("every view's tab opens it, and its figures live", async (t) => {
  const page = await fresh(t);
  // Of one loss alone nothing is said.
  await openView(page, "without");
  await live(page, "block-loss");
  assert.equal((await byId(page, "block-loss-verdict").textContent()).trim(), "");
  for (const [view, figures] of [
    ["wiring", ["block-wiring"]],
    ["without", ["block-loss", "block-depth"]],
    ["neurons", ["block-neurons"]],
    ["dropout", ["block-ensemble"]],
    ["stream", ["block-sizes", "block-next", "block-adds"]],
  ]) {
    await openView(page, view);
    for (const figure of figures) await live(page, figure);
  }
});

