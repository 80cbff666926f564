// The cell inspector on the GPT page: one cell of the live model's attention, worked out.
import assert from "node:assert/strict";

import {
  byId,
  eventually,
  exported,
  fitsEverywhere,
  live,
  numberUntil,
  openView,
  test,
  train,
  useSite,
} from "./harness.mjs";

const site = useSite();

/** A model small enough to be trained within a test: 2 heads of width 16. */
const SMALL = "?layers=2&heads=2&width=32&context=32&batch=8&seed=5";

const inspector = (page) => byId(page, "cell-inspector");
/** Digits as the page writes them. */
const numbers = (text) => (text.replaceAll("−", "-").match(/-?\d+\.\d{4}/g) ?? []).map(Number);
const value = async (page, id) => Number(await byId(page, `inspector-${id}`).getAttribute("data-value"));
/** To the last digit on show, or to the one next to it. */
const same = (a, b, what) => assert(Math.abs(a - b) < 2.1e-4, `${what}: ${a} is not ${b}`);

/** Goes to a cell of the heatmap by keyboard, from the last token's own, and presses Enter. */
async function open(page, up, left) {
  await byId(page, "attention-heatmap").focus();
  for (let i = 0; i < up; i++) await page.keyboard.press("ArrowUp");
  for (let i = 0; i < left; i++) await page.keyboard.press("ArrowLeft");
  await page.keyboard.press("Enter");
  await inspector(page).waitFor();
}

test("a clicked cell's numbers multiply out, to the model's own weight", async (t) => {
  const page = await site.open(t, SMALL);
  await live(page, "attention");
  await train(page, 60);
  await open(page, 3, 6);
  await byId(page, "inspector-all-terms").click();
  await byId(page, "inspector-all-keys").click();
  await byId(page, "inspector-all-values").click();
  const rows = (id) =>
    page.locator(`[data-testid="inspector-${id}"] tbody tr`).evaluateAll((rows) =>
      rows.map((row) => [...row.querySelectorAll("td")].map((cell) => cell.textContent).join(" ")),
    );
  const terms = (await rows("terms")).map(numbers);
  assert.equal(terms.length, 16);
  for (const [q, k, product] of terms) same(q * k, product, "q k");
  const dot = terms.reduce((sum, term) => sum + term[2], 0);
  assert(Math.abs(dot - (await value(page, "dot"))) < 1e-4, "the products on show add up to q · k");
  same(dot / 4, await value(page, "score"), "score");
  const keys = (await rows("row")).map(numbers);
  const open_ = keys.filter((key) => key.length === 3);
  const largest = Math.max(...open_.map((key) => key[0]));
  let sum = 0;
  for (const key of keys) {
    if (key.length === 3) {
      same(Math.exp(key[0] - largest), key[1], "exponent");
      sum += key[1];
    } else {
      // Blocked: there is no score.
      assert.deepEqual(key, [0, 0]);
    }
  }
  assert(Math.abs(sum - (await value(page, "sum"))) < 1e-4, "the exponentials on show add up");
  const weight = await value(page, "weight");
  same((await value(page, "exponent")) / (await value(page, "sum")), weight, "weight");
  for (const [v, share, rest, output] of (await rows("output")).map(numbers)) {
    same(weight * v, share, "w v");
    same(share + rest, output, "output");
  }
  const compared = byId(page, "inspector-compared");
  assert(Math.abs(Number(await compared.getAttribute("data-weight")) - weight) < 2e-4);
  assert(Number(await compared.getAttribute("data-apart")) < 1e-3);

  // The exports hold the model's own numbers, those of the heatmap.
  const cell = await exported(page, "inspector");
  const all = await exported(page, "attention");
  assert.deepEqual(cell.weights, all.values[cell.query]);
  assert.equal(cell.scoring.query.length, 16);
  assert.match(await exported(page, "inspector", "csv"), /\nsum of products,,-?\d+\.\d{4}\n/);
});

test("by keyboard: arrows go to neighbors, Escape closes and gives the heatmap its focus back", async (t) => {
  const page = await site.open(t, SMALL);
  await live(page, "attention");
  await open(page, 4, 4);
  const at = async () => [
    Number(await inspector(page).getAttribute("data-query")),
    Number(await inspector(page).getAttribute("data-key")),
  ];
  const [query, key] = await at();
  await page.keyboard.press("ArrowLeft");
  await eventually(async () => (await at())[1] === key - 1);
  await page.keyboard.press("ArrowUp");
  await eventually(async () => (await at())[0] === query - 1);
  for (let i = 0; i < 6; i++) await page.keyboard.press("ArrowRight");
  // The future: not small, but exactly 0.
  await page.locator('[data-testid="inspector-mask"][data-allowed="false"]').waitFor();
  assert.equal(await value(page, "weight"), 0);
  await page.keyboard.press("Escape");
  await inspector(page).waitFor({ state: "detached" });
  assert(await byId(page, "attention-heatmap").evaluate((box) => box === document.activeElement));
});

test("it is live: another head, another sentence, more training", async (t) => {
  const page = await site.open(t, SMALL);
  await live(page, "attention");
  await open(page, 3, 5);
  const before = await value(page, "weight");
  await byId(page, "train-toggle").click();
  await numberUntil(page, "loss-step", (step) => step >= 40, "at least 40");
  await eventually(async () => (await value(page, "weight")) !== before, "another weight");
  await byId(page, "train-toggle").click();
  await page.locator('[data-testid="train-toggle"][data-state="paused"]').waitFor();
  const title = byId(page, "inspector-title");
  assert.match(await title.textContent(), /layer 1, head 1/);
  // The arithmetic lies over the small heads; all of them are a view of their own.
  await openView(page, "heads");
  await byId(page, "head-l2-h2").click();
  await openView(page, "attention");
  await eventually(async () => /layer 2, head 2/.test(await title.textContent()));
  // A sentence too short for the cell closes it; nothing is said to be wrong.
  await byId(page, "probe-input").fill("a");
  await inspector(page).waitFor({ state: "detached" });
  await eventually(async () => (await byId(page, "inspector-problem").textContent()) === "");
});

test("what is blocked is what the model says: a band, ALiBi, both ways", async (t) => {
  const page = await site.open(t, `${SMALL}&attends=band&band=3&positions=alibi`);
  await live(page, "attention");
  await open(page, 0, 5);
  await page.locator('[data-testid="inspector-mask"][data-allowed="false"]').waitFor();
  assert.match(await byId(page, "attention-cell-readout").textContent(), /cannot see .*: the mask leaves it out/);
  for (let i = 0; i < 3; i++) await page.keyboard.press("ArrowRight");
  await page.locator('[data-testid="inspector-mask"][data-allowed="true"]').waitFor();
  const [scaled, biased, score] = [await value(page, "scaled"), await value(page, "biased"), await value(page, "score")];
  // Two away, and the first of two heads' slopes is 1/16.
  same(scaled - 2 / 16, biased, "ALiBi");
  assert.equal(score, biased);
  assert((await value(page, "weight")) > 0);

  const both = await site.open(t, `${SMALL}&attends=full`);
  await live(both, "attention");
  await open(both, 5, 0);
  assert((await value(both, "weight")) > 0, "a later token is seen");
});

test("it opens at once, also while the model trains", async (t) => {
  const page = await site.open(t, SMALL);
  await live(page, "attention");
  await byId(page, "attention-heatmap").scrollIntoViewIfNeeded();
  const time = async () =>
    page.evaluate(
      () =>
        new Promise((resolve) => {
          const box = document.querySelector('[data-testid="attention-heatmap"]');
          const press = (key) => box.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
          const start = performance.now();
          const shown = () => document.querySelector('[data-testid="inspector-weight"]');
          const observer = new MutationObserver(() => {
            if (shown()) {
              observer.disconnect();
              requestAnimationFrame(() => resolve(performance.now() - start));
            }
          });
          observer.observe(document.body, { subtree: true, childList: true });
          press("Enter");
        }),
    );
  const close = async () => {
    await byId(page, "inspector-close").click();
    await inspector(page).waitFor({ state: "detached" });
    await byId(page, "attention-heatmap").focus();
  };
  const median = (times) => times.sort((a, b) => a - b)[times.length >> 1];
  await byId(page, "attention-heatmap").focus();
  const first = await time();
  await close();
  const measure = async () => {
    const times = [];
    for (let i = 0; i < 7; i++) {
      times.push(await time());
      await close();
    }
    return median(times);
  };
  const paused = await measure();
  await byId(page, "train-toggle").click();
  await numberUntil(page, "loss-step", (step) => step >= 3, "training");
  const training = await measure();
  t.diagnostic(
    `opening: first ${first.toFixed(0)} ms, then median ${paused.toFixed(0)} ms paused, ${training.toFixed(0)} ms while training`,
  );
  // The median of tries; a busy machine gets some slack.
  // A busy, slow machine gets some slack; the diagnostic has the numbers.
  assert(paused < 600 && training < 1200, `${paused} ms, ${training} ms`);
});

test("nothing is cut off and nothing hard to read, at any size in any colors", async (t) => {
  const page = await site.open(t, SMALL);
  await live(page, "attention");
  await open(page, 3, 5);
  await fitsEverywhere(page);
});
