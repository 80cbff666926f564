// Training shared by several workers.
import assert from "node:assert/strict";

import {
  asNumber,
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
  running,
  staysFree,
  test,
  train,
  useSite,
} from "./harness.mjs";

const site = useSite({ cors: true });

/** A model small enough to be trained within a test, with dropout. */
const SMALL = "?layers=2&heads=2&width=32&context=32&batch=7&dropout=0.1&seed=5&device=cpu";

const pool = (page) => byId(page, "device-badge");

/** Waits until so many helpers share the steps. */
async function working(page, helpers) {
  await page.locator(`[data-testid="device-badge"][data-working="${helpers}"]`).waitFor({ state: "attached" });
}

/** The curve, as the figure's menu exports it. */
async function curve(page) {
  await openView(page, "loss");
  return exported(page, "loss");
}

/** Trains for at least `steps` steps; the losses of the first `steps`. */
async function losses(page, steps) {
  await train(page, steps);
  const whole = await curve(page);
  return { whole, losses: whole.values.slice(0, steps).map((point) => point[1]) };
}

/** The dedicated workers of a page but its first engine. */
const helpers = (page) => page.workers().slice(1);

/** The losses of the first 60 steps, taken by so many workers on a page of their own. */
async function run(t, workers) {
  const page = await site.open(t, `${SMALL}&workers=${workers}`);
  await live(page, "attention");
  assert.equal(page.workers().length, 1, "no helper starts before training does");
  await byId(page, "train-toggle").click();
  await running(page);
  await working(page, workers - 1);
  await byId(page, "train-toggle").click();
  await paused(page);
  const run = await losses(page, 60);
  assert.equal(run.whole.workers, workers);
  assert.equal(page.workers().length, workers);
  await page.close();
  return run.losses;
}

const runs = new Map();

/** The same of undisturbed workers, taken once for all tests of this file. */
async function usual(t, workers) {
  if (!runs.has(workers)) runs.set(workers, await run(t, workers));
  return runs.get(workers);
}

test("one, two and three workers have the same curve, and each its own to the bit", async (t) => {
  const one = await usual(t, 1);
  for (const workers of [2, 3]) {
    const apart = (await usual(t, workers)).slice(0, 20).map((loss, i) => Math.abs(loss - one[i]));
    assert(Math.max(...apart) < 1e-5, `${workers} workers are ${Math.max(...apart)} off`);
  }
  assert.deepEqual(await run(t, 3), await usual(t, 3), "3 workers, twice");
});

test("a helper that dies is made up for, with a sentence and the same numbers", async (t) => {
  const expected = await usual(t, 3);
  const page = await site.open(t, `${SMALL}&workers=3`, { allow: [/boom/] });
  await live(page, "attention");
  await byId(page, "train-toggle").click();
  await working(page, 2);
  // One throws; the other just ends, which the browser tells nobody.
  const [first, second] = helpers(page);
  await first.evaluate(() => void setTimeout(() => { throw new Error("boom"); }));
  await page.locator('[data-testid="notice"]', { hasText: "boom" }).waitFor();
  await working(page, 1);
  await second.evaluate(() => self.close());
  await working(page, 0);
  await page.locator('[data-testid="notice"]', { hasText: "stopped responding" }).waitFor();
  const step = await number(page, "loss-step");
  await numberUntil(page, "loss-step", (now) => now >= Math.max(60, step + 10), "further");
  await byId(page, "train-toggle").click();
  await paused(page);
  const { values } = await curve(page);
  assert.deepEqual(values.slice(0, 60).map((point) => point[1]), expected);
  assert.equal(await pool(page).getAttribute("data-lost"), "2");
});

test("where no helper can be started the run is the same", async (t) => {
  const expected = await usual(t, 2);
  const alone = () => {
    let started = 0;
    window.Worker = class extends Worker {
      constructor(...given) {
        if (++started > 1) throw new Error("no more workers");
        super(...given);
      }
    };
  };
  const page = await site.open(t, `${SMALL}&workers=2`, { init: [alone] });
  await live(page, "attention");
  const run = await losses(page, 30);
  assert.deepEqual(run.losses, expected.slice(0, 30));
  await page.locator('[data-testid="notice"]', { hasText: "did not allow" }).waitFor();
});

test("pause, step, edits, another rate and undo work while several workers train", async (t) => {
  const page = await site.open(t, `${SMALL}&workers=2`);
  await live(page, "attention");
  await byId(page, "train-toggle").click();
  await working(page, 1);
  for (const text of ["the fox", "the goat"]) {
    await byId(page, "probe-input").fill(text);
    await byId(page, `token-${text.length - 1}`).waitFor();
  }
  await openSettings(page);
  await byId(page, "control-lr").fill("0.002");
  await byId(page, "control-lr").press("Enter");
  const rated = await number(page, "loss-step");
  await numberUntil(page, "loss-step", (step) => step > rated + 10, "further");
  await byId(page, "train-toggle").click();
  await paused(page);
  const step = await number(page, "loss-step");
  await byId(page, "train-step").click();
  await numberUntil(page, "loss-step", (now) => now === step + 1, "one more");
  const loss = await number(page, "loss-value");
  // Another model, which trains with the same helper, and the first one again.
  await byId(page, "control-seed").fill("9");
  await byId(page, "control-seed").press("Enter");
  await byId(page, "start-over").click();
  await numberUntil(page, "loss-step", (now) => now === 0, "0");
  await train(page, 10);
  await byId(page, "bring-back").click();
  await numberUntil(page, "loss-step", (now) => now === step + 1, "the first model's");
  await train(page, step + 11);
  assert((await number(page, "loss-value")) < loss + 0.5);
  await working(page, 1);
  assert.equal(await pool(page).getAttribute("data-lost"), "0");
});

test("the number of workers is a setting that starts another run and goes into the link", async (t) => {
  const page = await site.open(t, `${SMALL}&workers=2`);
  await live(page, "attention");
  await openSettings(page);
  await page.locator("summary", { hasText: "More settings" }).click();
  await byId(page, "control-workers").fill("3");
  await byId(page, "control-workers").press("Enter");
  await eventually(() => parameter(page, "workers") === "3");
  await byId(page, "device-badge").click();
  await byId(page, "workers").filter({ hasText: "3, as asked for" }).waitFor();
  await byId(page, "train-toggle").click();
  await working(page, 2);
});

test("gradients go from worker to worker, not through the page's thread", async (t) => {
  const page = await site.open(t, "", { own: true });
  await page.addInitScript(() => {
    // Where no run is kept, none of its moments comes, which are as large as a gradient.
    StorageManager.prototype.getDirectory = undefined;
    window.heard = [];
    window.Worker = class extends Worker {
      constructor(...given) {
        super(...given);
        this.addEventListener("message", ({ data }) => window.heard.push(data.byteLength ?? 0));
      }
    };
  });
  await page.goto(new URL("?width=128&layers=4&context=64&batch=12&device=cpu&workers=2", site.url).href);
  await live(page, "attention");
  await byId(page, "train-toggle").click();
  await working(page, 1);
  const from = await number(page, "loss-step");
  const more = () => numberUntil(page, "loss-step", (step) => step > from + 15, "15 more");
  await staysFree(t, site, page, more);
  const heard = await page.evaluate(() => window.heard);
  // A gradient of 0.8 million numbers is 3.2 million bytes.
  assert(heard.length > 10);
  assert.deepEqual(heard.filter((bytes) => bytes > 3e6 && bytes < 5e6), []);
});

test("several workers train in a sandboxed frame of another origin", async (t) => {
  const frame = `<iframe title="figure" width="900" height="900" sandbox="allow-scripts"
    src="${new URL(`${SMALL}&workers=2`, site.url).href}"></iframe>`;
  const page = await site.open(t, site.host(`<!doctype html><title>host</title>${frame}`));
  const inner = page.frames()[1];
  await inner.locator('[data-testid="figure-attention"][data-state="live"]').waitFor();
  await byId(inner, "train-toggle").click();
  await working(inner, 1);
  const step = asNumber(await byId(inner, "loss-step").textContent());
  await eventually(async () => asNumber(await byId(inner, "loss-step").textContent()) > step + 10);
});
