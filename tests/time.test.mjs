// The time bar: any recorded moment of training on show, while training goes on.
import assert from "node:assert/strict";
import { test } from "node:test";

import { byId, eventually, exported, live, number, numberUntil, openSettings, paused, settled, useSite } from "./harness.mjs";

const site = useSite();
const SMALL = "?layers=1&heads=2&width=16&context=24&batch=4&workers=1&device=cpu";

const track = (page) => byId(page, "time-track");
const shown = (page) => byId(page, "time-shown");

/** Takes so many steps more, one press each, and waits for the picture. */
async function steps(page, count) {
  for (let i = 0; i < count; i++) {
    const before = await number(page, "loss-step");
    await byId(page, "train-step").click();
    await numberUntil(page, "loss-step", (step) => step === before + 1, `${before + 1}`);
  }
  await paused(page);
}

test("every moment of the lab is shown as it was, while training goes on", async (t) => {
  const page = await site.open(t, SMALL);
  await live(page, "attention");
  await settled(page);
  assert.equal(await track(page).getAttribute("aria-disabled"), "true", "there is no past yet");
  const seen = [(await exported(page, "attention")).values];
  for (let step = 1; step <= 3; step++) {
    await steps(page, 1);
    seen.push((await exported(page, "attention")).values);
  }
  assert.notDeepEqual(seen[0], seen[3]);
  await track(page).focus();
  for (const step of [2, 1, 0]) {
    await page.keyboard.press("ArrowLeft");
    await settled(page);
    assert.equal(await number(page, "time-shown"), step);
    assert.deepEqual((await exported(page, "attention")).values, seen[step], `step ${step}`);
    await track(page).focus();
  }
  // It trains on, and the moment stays on show.
  await page.keyboard.press("End");
  assert.equal(await shown(page).count(), 0);
  await byId(page, "train-toggle").click();
  await numberUntil(page, "loss-step", (step) => step >= 8, "at least 8");
  await track(page).focus();
  await page.keyboard.press("Home");
  await numberUntil(page, "loss-step", (step) => step >= 16, "at least 16");
  assert.equal(await number(page, "time-shown"), 0);
  await settled(page);
  assert.deepEqual((await exported(page, "attention")).values, seen[0]);
  await byId(page, "train-toggle").click();
  await paused(page);
  assert.equal(await number(page, "time-shown"), 0, "a pause changes nothing of what is looked at");
  // Who trains wants to see it.
  await byId(page, "train-step").click();
  await eventually(async () => (await shown(page).count()) === 0, "the present is back");
});

test("a drag leads to a moment, the button back; questions about the past change no training", async (t) => {
  const losses = async (look) => {
    const page = await site.open(t, "?chapter=rnn&rnn-hidden=8");
    await byId(page, "chapter-rnn").waitFor();
    await numberUntil(page, "loss-step", (step) => step > 0, "above 0");
    await paused(page);
    if (look) {
      const box = await track(page).boundingBox();
      const at = (share) => [box.x + share * box.width, box.y + box.height / 2];
      await page.mouse.move(...at(0.9));
      await page.mouse.down();
      await page.mouse.move(...at(0.5), { steps: 4 });
      await page.mouse.up();
      const middle = await number(page, "time-shown");
      assert(middle > 2 && middle < 60, `${middle}`);
      await settled(page);
      const [now, value] = [await track(page).getAttribute("aria-valuenow"), await track(page).getAttribute("aria-valuetext")];
      assert.equal(Number(now), middle);
      assert.match(value, new RegExp(`^step ${middle} of \\d+$`));
      await byId(page, "time-live").click();
      assert.equal(await shown(page).count(), 0);
      await settled(page);
    }
    await steps(page, 2);
    return byId(page, "loss-value").textContent();
  };
  assert.equal(await losses(true), await losses(false));
});

test("a link holds a moment: it trains there first, to the same weights", async (t) => {
  const page = await site.open(t, SMALL);
  await live(page, "attention");
  await steps(page, 4);
  await track(page).focus();
  await page.keyboard.press("ArrowLeft");
  await page.keyboard.press("ArrowLeft");
  await settled(page);
  const then = await exported(page, "attention");
  assert.equal(then.step, 2);
  await byId(page, "copy-link").click();
  const link = async () => new URL(await byId(page, "link-address").inputValue()).searchParams;
  const held = await link();
  assert.equal(held.get("step"), "2");
  assert.equal(await byId(page, "link-missing").count(), 0);
  await byId(page, "link-trains").uncheck();
  assert.equal((await link()).get("step"), null);
  await page.locator('[data-testid="link-missing"]', { hasText: "starts untrained" }).waitFor();

  const other = await site.open(t, `?${held}`);
  await numberUntil(other, "loss-step", (step) => step === 2, "2");
  await paused(other);
  await settled(other);
  const there = await exported(other, "attention");
  assert.deepEqual([there.step, there.values], [2, then.values]);
});

test("a chapter trains to its link’s step, and the next model is not that one", async (t) => {
  const page = await site.open(t, "?chapter=rnn&rnn-hidden=8&step=75");
  await byId(page, "chapter-rnn").waitFor();
  await numberUntil(page, "loss-step", (step) => step === 75, "75");
  await paused(page);
  assert.equal(new URL(page.url()).searchParams.get("step"), "75");
  await openSettings(page);
  await byId(page, "control-rnn-hidden").fill("9");
  await byId(page, "control-rnn-hidden").press("Enter");
  await eventually(async () => !new URL(page.url()).searchParams.has("step"), "the address forgets the step");
  await numberUntil(page, "loss-step", (step) => step === 120, "120, the steps it takes by itself");
});

test("a moment is held, and the cells show how far they have moved since", async (t) => {
  const page = await site.open(t, "?chapter=rnn&rnn-hidden=8&view=sum&step=3");
  await numberUntil(page, "loss-step", (step) => step === 3, "3");
  await paused(page);
  await settled(page);
  const then = await exported(page, "rnn-matrix");
  const compare = byId(page, "rnn-matrix-since");
  await compare.click();
  assert.equal(await compare.getAttribute("aria-pressed"), "true");
  await steps(page, 2);
  await settled(page);
  const moved = await exported(page, "rnn-matrix");
  assert.match(moved.value, /change since step 3$/);
  await compare.click();
  const now = await exported(page, "rnn-matrix");
  assert.equal(now.value, then.value);
  const differences = now.values.map((row, i) => row.map((value, j) => Math.fround(value - then.values[i][j])));
  assert.deepEqual(moved.values, differences);
  assert(differences.flat().some((value) => value !== 0));
  // Another matrix is not what was held.
  await compare.click();
  await byId(page, "control-rnn-matrix-w").check();
  await eventually(async () => (await compare.getAttribute("aria-pressed")) === "false", "let go");
});
