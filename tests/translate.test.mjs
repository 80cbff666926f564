// The page translated by a browser: sentences that are half as long again, in elements of the
// browser's own. What may not be translated is marked so, and numbers go on following the model. That
// nothing is cut is tested with the stage.
import assert from "node:assert/strict";

import {
  byId,
  eventually,
  live,
  number,
  numberUntil,
  openSettings,
  openView,
  paused,
  settled,
  test,
  useSite,
  views,
} from "./harness.mjs";
import { translate } from "./translated.mjs";

const site = useSite();

test("a translated page trains, answers and changes its views", async (t) => {
  const page = await site.open(t, "?device=cpu&seed=3&view=attention");
  await live(page, "attention");
  await page.evaluate(translate);
  const [row] = await page.locator(".token-row").allInnerTexts();
  assert(!row.includes("ä"), "tokens stay as they are");
  await byId(page, "train-toggle").click();
  const from = await number(page, "loss-step");
  await numberUntil(page, "loss-step", (step) => step > from + 3, "some steps");
  await byId(page, "train-toggle").click();
  await paused(page);
  await page.locator(".token-row .token").nth(4).hover();
  await eventually(async () => /query/.test(await byId(page, "attention-cell-readout").innerText()));
  for (const view of await views(page)) {
    await openView(page, view);
    await settled(page);
    await page.evaluate(translate);
  }
  for (let i = 0; i < 4; i++) await byId(page, "idea-next").click();
  await settled(page);
  await openSettings(page, "source");
});

test("a chapter's live text follows the model in a translated page", async (t) => {
  const page = await site.open(t, "?chapter=bptt&idea=3");
  await live(page, "bptt-norms");
  await paused(page);
  await page.evaluate(translate);
  const told = page.locator('[data-testid="beat-3"] .live').first();
  const before = await told.innerText();
  await byId(page, "train-toggle").click();
  await eventually(async () => (await told.innerText()) !== before);
  await byId(page, "train-toggle").click();
  await paused(page);
});
