// The GPT lab's architecture settings: each makes another model, which trains.
import assert from "node:assert/strict";

import {
  byId,
  eventually,
  live,
  number,
  numberUntil,
  openSettings,
  parameter,
  test,
  train,
  useSite,
} from "./harness.mjs";

const site = useSite();
const SMALL = "?layers=2&heads=2&width=16&context=12&batch=2&corpus=names";

async function open(t, query = "") {
  const page = await site.open(t, SMALL + query);
  await live(page, "attention");
  await openSettings(page);
  await byId(page, "architecture").locator("summary").click();
  return page;
}

/** Chooses an entry of a list, and a new model for it where the present one has trained. */
async function choose(page, name, id) {
  const trained = (await number(page, "loss-step")) > 0;
  await byId(page, `control-${name}`).selectOption(id);
  await eventually(() => parameter(page, name) === id);
  if (trained) await byId(page, "start-over").click();
  await numberUntil(page, "loss-step", (step) => step === 0);
}

test("every encoding of positions trains; only learned ones have parameters", async (t) => {
  const page = await open(t);
  const learned = await number(page, "parameter-count");
  for (const positions of ["none", "integer", "sinusoidal", "rotary", "alibi"]) {
    await choose(page, "positions", positions);
    assert.equal(await number(page, "parameter-count"), learned - 12 * 16, positions);
    await train(page, 5);
    assert((await number(page, "loss-value")) < 4.5, positions);
  }
});

test("norms, masks, activations and residuals can be changed, and a link says so", async (t) => {
  const page = await open(t, "&norms=post&attends=band&band=3&activation=solu&residual=0&scaled=0");
  for (const [name, id] of [["norms", "post"], ["attends", "band"], ["activation", "solu"]]) {
    assert.equal(await byId(page, `control-${name}`).inputValue(), id);
  }
  assert.equal(await byId(page, "control-residual").isChecked(), false);
  await train(page, 5);
  // In a band of 3 the last query sees three keys and no more.
  const weights = await byId(page, "attention-table").locator("tr").last().locator("td").allTextContents();
  assert.deepEqual(
    weights.map((weight) => Number(weight) > 0),
    weights.map((_, key) => key >= weights.length - 3),
  );
});

test("an RMSNorm model trains, has no biases of norms, and the link says so", async (t) => {
  const page = await open(t);
  const layer = await number(page, "parameter-count");
  await choose(page, "norm", "rms");
  // Two norms in each of two blocks, and the final one.
  assert.equal(await number(page, "parameter-count"), layer - 5 * 16);
  await train(page, 5);
  assert((await number(page, "loss-value")) < 4.5);
  await choose(page, "norms", "none");
  await byId(page, "control-norm").waitFor({ state: "detached" });
});

test("a width that has no pairs is refused for rotary positions, at the control", async (t) => {
  const page = await open(t, "&positions=rotary");
  const width = byId(page, "control-width");
  await width.fill("18");
  await width.press("Enter");
  await page.locator('[role="alert"]', { hasText: /even width per head/ }).first().waitFor();
  await width.fill("20");
  await width.press("Enter");
  await train(page, 3);
});
