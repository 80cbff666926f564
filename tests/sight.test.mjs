// What nobody sees asks nothing and costs nothing while a model trains, and is up to date when somebody
// looks or training rests.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { variants } from "./bench-engine.mjs";
import {
  byId,
  drawn,
  eventually,
  live,
  number,
  numberUntil,
  paused,
  scrollPast,
  settled,
  staysFree,
  useSite,
} from "./harness.mjs";

const site = useSite();

/** Steps within which every figure in sight would have asked many times. */
const STEPS = 60;
const SENTENCE = "Once, by the slow green river, there was a mill, and in the mill lived Marl".slice(0, 64);

const commands = variants("Command");
const QUESTIONS = ["Trace", "Inspect", "Ask", "Generate"].map((name) => commands[name]);

/** Keeps what the page asks of its workers: the bytes of commands of these numbers. */
function keepQuestions(questions) {
  window.__asked = [];
  const send = Worker.prototype.postMessage;
  Worker.prototype.postMessage = function (message, ...more) {
    // A version, then the command's number.
    if (questions.includes(message[1])) window.__asked.push(Array.from(message.slice(0, 16)));
    return send.call(this, message, ...more);
  };
}

const asked = (page) => page.evaluate(() => window.__asked.length);
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

/** Opens `address`, and trains without end once it `isReady` and rests. */
async function training(t, address, isReady = (page) => live(page, "attention")) {
  const page = await site.open(t, address, { init: [keepQuestions, QUESTIONS] });
  await isReady(page);
  await paused(page);
  await byId(page, "train-toggle").click();
  await further(page);
  return page;
}

/** That a chapter has begun with the steps it takes by itself. */
const begun = (page) => numberUntil(page, "loss-step", (step) => step > 0, "past the start");

/** Trains with nothing in sight: nothing may be asked meanwhile. */
async function trainsUnasked(page) {
  await settled(page);
  // What was asked just before may still have been on its way, and its picture be due.
  await further(page);
  await settled(page);
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
    // What is shown may have been asked before: pages that are busy rest before they draw.
    await eventually(async () => (await asked(page)) > before, "a figure in sight asks");
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

/** Of each chapter: what is asked while one part of its page is in sight alone. */
const CHAPTERS = [
  {
    address: "?chapter=tokens",
    parts: {
      "figure-tokens-count": [],
      "picked-row": ["Embedding"],
      "lookup-title": ["Embedding"],
      "map-claim": ["Embedding"],
      "figure-tokens-window": ["Window"],
      "figure-tokens-chain": ["Chain"],
      check: [],
    },
  },
  {
    address: "?chapter=bigram",
    parts: {
      "figure-bigram-matrix": ["Matrix"],
      "check-bigram-row": ["Row"],
      "figure-bigram-drawing": ["Writing"],
      "figure-bigram-terms": ["Sentence"],
      "figure-bigram-loss": ["Scores"],
      "figure-bigram-smoothing": [],
      check: ["Row"],
    },
  },
  {
    address: "?chapter=bptt",
    parts: {
      "figure-bptt-norms": ["Flow"],
      "figure-bptt-accuracy": ["Flow"],
      "figure-bptt-clipping": [],
      "figure-bptt-memory": ["Flow"],
      "figure-bptt-weights": ["Flow"],
      "figure-bptt-weight": ["Flow"],
      check: ["Flow"],
    },
  },
  {
    address: "?chapter=gates&gates-units=8&gates-unit=2",
    parts: {
      "figure-gates-cells": ["Seen"],
      "figure-gates-beside": ["Seen", "Units"],
      "gates-memory": ["Units"],
      "gates-guess": ["Units"],
      check: ["Units"],
    },
  },
  {
    address: "?chapter=birnn&birnn-task=fill&birnn-at=4",
    parts: {
      "figure-birnn-bars-both": ["Reading"],
      "figure-birnn-curves": [],
      "check-birnn-passage": ["Passage"],
      "birnn-parts-both": ["Reading"],
      check: ["Reading"],
    },
  },
  {
    address: "?chapter=norm",
    parts: {
      "norm-coupling": ["Layer"],
      "figure-norm-plain": ["Depths"],
      "figure-norm-normed": ["Depths"],
      "figure-norm-loss": [],
      "norm-stuck": ["Depths"],
      check: ["Layer"],
    },
  },
  {
    address: "?chapter=norm&norm-experiment=outside",
    parts: { "figure-norm-bias": [], "norm-promises": ["Offsets"] },
  },
  {
    address: "?chapter=norm&norm-experiment=time",
    parts: { "figure-norm-variance": ["Steps"], "figure-norm-mean": ["Steps"], "figure-norm-loss": [] },
  },
  {
    address: "?chapter=rnn",
    parts: {
      "figure-unrolled": ["Unrolled"],
      "figure-rnn-writing": ["Writing"],
      "figure-rnn-loss": [],
      check: ["Unrolled"],
    },
  },
  {
    address: "?chapter=seq2seq",
    parts: {
      "seq2seq-outcome": ["Reading"],
      "seq2seq-search": ["Reading"],
      "seq2seq-prefixes": ["Reading"],
      "figure-seq2seq-states": ["Reading"],
      check: ["Odds"],
    },
  },
  {
    address: "?chapter=alignment",
    parts: {
      "alignment-source": ["Reading"],
      "figure-alignment-training": [],
      "figure-alignment-lengths": ["Lengths"],
      check: ["Reading"],
    },
  },
  {
    address: "?chapter=qkv&qkv-query=3&qkv-key=2",
    parts: { "figure-qkv-weights": ["Head"], "figure-qkv-queries": ["Head"], check: ["Shuffle"] },
  },
  {
    address: "?chapter=position",
    parts: {
      "figure-compare": ["Encoding", "Reading"],
      "figure-position-curves": [],
      "figure-position-lengths": ["Reading"],
      "figure-position-attention": ["Reading"],
      "figure-position-products": ["Products"],
      "figure-position-scores": ["Scores"],
      "figure-position-swamping": ["Swamping"],
      check: [],
    },
  },
  {
    address: "?chapter=mask",
    parts: {
      "mask-blocked": ["Look"],
      "figure-mask-averages": ["Look"],
      "mask-leak-verdict": ["Look"],
      "figure-mask-trained": ["Writing"],
      check: ["Look"],
    },
  },
  {
    address: "?chapter=block&block-term=2",
    parts: {
      "figure-block-sizes": ["Stream"],
      "figure-block-loss": [],
      "figure-block-depth": ["Depths"],
      "figure-block-ensemble": ["Ensemble"],
      "figure-block-neurons": ["Neurons"],
      check: ["Stream"],
    },
  },
];

/** The names of a chapter's questions, by their numbers. */
function questionsOf(address) {
  const chapter = /chapter=(\w+)/.exec(address)[1];
  const source = join(import.meta.dirname, `../protocol/src/study/${chapter}.rs`);
  return Object.keys(variants("Question", readFileSync(source, "utf8")));
}

/** Which of `names` are asked since `from` questions were, sorted. */
async function kindsAsked(page, names, from) {
  const messages = await page.evaluate((from) => window.__asked.slice(from), from);
  const kind = (bytes) => {
    // Behind the version and the command an id, whose last byte is under 128; the chapter; the question.
    const end = bytes.findIndex((byte, at) => at >= 2 && byte < 128);
    return names[bytes[end + 2]];
  };
  return [...new Set(messages.map(kind))].sort();
}

/** Waits until all of `wanted` are asked, from now on. */
async function untilAsked(page, names, wanted, from, when) {
  await eventually(async () => {
    const kinds = await kindsAsked(page, names, from);
    return wanted.every((kind) => kinds.includes(kind));
  }, `${wanted} asked ${when}`);
}

/**
 * Puts the parts of the page so far from each other that no two are in sight together, and counts
 * what changes in each.
 */
function spread(ids) {
  const boxOf = (id) => {
    const part = document.querySelector(`[data-testid="${id}"]`);
    // A further figure with all that is said in its panel.
    return part.closest(".course-further .panel") ?? part;
  };
  window.__changes = {};
  window.__boxes = Object.fromEntries(ids.map((id) => [id, boxOf(id)]));
  for (const [id, box] of Object.entries(window.__boxes)) {
    box.style.margin = "1800px 0";
    for (let around = box.parentElement; around.tagName !== "BODY"; around = around.parentElement) {
      around.style.display = "block";
    }
    window.__changes[id] = 0;
    const count = (records) => (window.__changes[id] += records.length);
    new MutationObserver(count).observe(box, { subtree: true, childList: true, characterData: true });
  }
}

for (const { address, parts } of CHAPTERS) {
  test(`${address}: each part of the page asks for itself, while it is in sight`, async (t) => {
    const page = await training(t, address, begun);
    const names = questionsOf(address);
    const ids = Object.keys(parts);
    await page.evaluate(spread, ids);
    for (const id of ids) {
      await page.evaluate((id) => window.__boxes[id].scrollIntoView({ block: "center" }), id);
      await drawn(page);
      await untilAsked(page, names, parts[id], await asked(page), `as ${id} comes into sight`);
      // What was asked just before may still have been on its way.
      await further(page);
      const from = await asked(page);
      const before = await page.evaluate(() => ({ ...window.__changes }));
      await untilAsked(page, names, parts[id], from, `for ${id}`);
      await further(page);
      assert.deepEqual(await kindsAsked(page, names, from), [...parts[id]].sort(), `asked for ${id}`);
      const after = await page.evaluate(() => ({ ...window.__changes }));
      for (const other of ids.filter((other) => other !== id)) {
        assert.equal(after[other], before[other], `${other} was written with ${id} in sight`);
      }
    }
    // At rest, what nobody sees is brought up to date, too.
    await scrollPast(page);
    await further(page);
    const hidden = await asked(page);
    await further(page);
    assert.equal(await asked(page), hidden, "something was asked that nobody sees");
    await byId(page, "train-toggle").evaluate((button) => button.click());
    await paused(page);
    const all = Object.values(parts).flat();
    await untilAsked(page, names, all, hidden, "at rest");
  });
}

test("no task of the page takes 50 ms of processor time with 144 heads in sight", async (t) => {
  const page = await site.open(t, "?chapter=heads&heads-layers=12&heads-count=12&heads-width=48", {
    viewport: { width: 1600, height: 1100 },
  });
  await byId(page, "probe-input").fill(SENTENCE);
  await page.locator(".token-row .token").nth(63).waitFor();
  await page.locator(".head-grid-scroller").scrollIntoViewIfNeeded();
  // The steps that the chapter takes by itself are enough.
  await numberUntil(page, "loss-step", (step) => step >= 2, "trained");
  const tasks = await staysFree(t, site, page, async () => {
    // One redraw after the other.
    for (let redraw = 0; redraw < 6; redraw++) await shows(page, (await shownStep(page)) + 1);
  });
  assert(tasks.length > 50, "tasks were seen");
});
