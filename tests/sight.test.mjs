// What nobody sees asks nothing and costs nothing while a model trains, and is up to date when somebody
// looks or training rests.
import assert from "node:assert/strict";
import { test } from "node:test";

import { variants } from "./bench-engine.mjs";
import {
  byId,
  drawn,
  live,
  number,
  numberUntil,
  paused,
  scrollPast,
  settled,
  taskTimes,
  useSite,
} from "./harness.mjs";

const site = useSite();

/** Steps within which every figure in sight would have asked many times. */
const STEPS = 60;
const SENTENCE = "Once, by the slow green river, there was a mill, and in the mill lived Marl".slice(0, 64);

const commands = variants("Command");
const QUESTIONS = ["Trace", "Inspect", "Ask", "Generate"].map((name) => commands[name]);

/** Counts what the page asks of its workers: commands of these numbers. */
function countQuestions(questions) {
  window.__asked = 0;
  const send = Worker.prototype.postMessage;
  Worker.prototype.postMessage = function (message, ...more) {
    // A version, then the command's number.
    if (questions.includes(message[1])) window.__asked += 1;
    return send.call(this, message, ...more);
  };
}

const asked = (page) => page.evaluate(() => window.__asked);
const shownStep = async (page) =>
  Number(await byId(page, "figure-attention").getAttribute("data-step"));

/** Waits until the figure shows the model at `step` or later. */
const shows = (page, step) =>
  page.waitForFunction(
    (step) => Number(document.querySelector('[data-testid="figure-attention"]').dataset.step) >= step,
    step,
  );

/** Trains `STEPS` steps further; returns the last step. */
async function further(page) {
  const from = await number(page, "loss-step");
  return numberUntil(page, "loss-step", (step) => step >= from + STEPS, `${STEPS} more`);
}

/** Opens `address`, and trains without end once the steps it takes by itself are done. */
async function training(t, address) {
  const page = await site.open(t, address, { init: [countQuestions, QUESTIONS] });
  await live(page, "attention");
  await paused(page);
  await byId(page, "train-toggle").click();
  await further(page);
  return page;
}

/** Trains with nothing in sight: nothing may be asked meanwhile. */
async function trainsUnasked(page) {
  await settled(page);
  // What was asked just before may still have been on its way.
  await further(page);
  const before = await asked(page);
  const figure = await shownStep(page);
  const step = await further(page);
  assert.equal(await asked(page), before, "something was asked that nobody sees");
  assert.equal(await shownStep(page), figure, "a figure was drawn that nobody sees");
  return step;
}

for (const [name, address] of [
  ["a chapter", "?chapter=heads&heads-layers=2&heads-count=2"],
  ["the GPT page", "?device=cpu&workers=1&layers=1&heads=2&width=16&context=16&batch=4"],
]) {
  test(`${name} asks nothing while its figures are out of sight, and at once when they come back`, async (t) => {
    const page = await training(t, address);
    const before = await asked(page);
    const seen = await shownStep(page);
    await shows(page, seen + 1);
    // What it shows may have been asked before: pages that are busy rest before they draw.
    await page.waitForFunction((before) => window.__asked > before, before);
    await scrollPast(page);
    const step = await trainsUnasked(page);
    await page.evaluate(() => window.scrollTo(0, 0));
    await shows(page, step);
    // At rest, what nobody sees is brought up to date, too.
    await scrollPast(page);
    await trainsUnasked(page);
    await byId(page, "train-toggle").evaluate((button) => button.click());
    await paused(page);
    const end = await number(page, "loss-step");
    await page.evaluate(() => window.scrollTo(0, 0));
    await shows(page, end);
  });

  test(`${name} asks nothing behind another tab`, async (t) => {
    const page = await training(t, address);
    // Headless Chromium shows every tab. The page reads no more than this of being hidden.
    const hide = (hidden) =>
      page.evaluate((hidden) => {
        Object.defineProperty(document, "hidden", { value: hidden, configurable: true });
        document.dispatchEvent(new Event("visibilitychange", { bubbles: true }));
      }, hidden);
    await hide(true);
    const step = await trainsUnasked(page);
    await hide(false);
    await shows(page, step);
  });
}

test("of two figures only the one in sight follows training", async (t) => {
  const page = await training(t, "?chapter=heads&heads-layers=2&heads-count=2");
  const numbers = byId(page, "heads-table");
  const all = () =>
    numbers.locator('[data-stat="entropy"]').evaluateAll((cells) => cells.map((cell) => cell.title));
  const far = await numbers.evaluate((table) => table.getBoundingClientRect().top - window.innerHeight);
  assert(far > 400, `the numbers begin ${far} px below the window`);
  await drawn(page);
  const before = await all();
  await shows(page, (await further(page)) - STEPS + 1);
  assert.deepEqual(await all(), before, "numbers out of sight were written");
  await numbers.scrollIntoViewIfNeeded();
  await page.waitForFunction(
    (before) => {
      const cells = document.querySelectorAll('[data-testid="heads-table"] [data-stat="entropy"]');
      return [...cells].every((cell, i) => i === 0 || cell.title !== before[i]);
    },
    before,
  );
});

test("no task of the page takes 50 ms of processor time with 144 heads in sight", async (t) => {
  const page = await site.open(t, "?chapter=heads&heads-layers=12&heads-count=12&heads-width=48", {
    viewport: { width: 1600, height: 1100 },
  });
  await byId(page, "probe-input").fill(SENTENCE);
  await page.locator(".token-row .token").nth(63).waitFor();
  await page.locator(".head-grid-scroller").scrollIntoViewIfNeeded();
  // The steps that the chapter takes by itself are enough.
  await numberUntil(page, "loss-step", (step) => step >= 2, "trained");
  const from = await shownStep(page);
  const tasks = await taskTimes(site, page, () => shows(page, from + 8));
  const longest = tasks.sort((a, b) => b - a).slice(0, 5);
  t.diagnostic(`longest tasks: ${longest.map((task) => task.toFixed(1)).join(", ")} ms of processor time`);
  assert(tasks.length > 50, "tasks were seen");
  assert(longest[0] < 50, `a task took ${longest[0]} ms`);
});
