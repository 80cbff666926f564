// What nobody sees asks nothing and costs nothing while a model trains, and is up to date when somebody
// looks or training rests.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";

import { variants } from "./bench-engine.mjs";
import {
  byId,
  chooseView,
  drawn,
  eventually,
  live,
  number,
  numberUntil,
  paused,
  settled,
  staysFree,
  test,
  useSite,
  views as viewsOf,
} from "./harness.mjs";

const site = useSite();

/** Steps, and frames, within which a figure in sight would have asked many times. */
const STEPS = 60;
const FRAMES = 2;
const SENTENCE = "Once, by the slow green river, there was a mill, and in the mill lived Marl".slice(0, 64);

const commands = variants("Command");
const QUESTIONS = [commands.Ask];

/** Keeps what the page asks of its workers in commands of these numbers: the number of each question. */
function keepQuestions(questions) {
  window.__asked = [];
  // Behind the version and the command an id and a length, each of which ends with a byte under 128;
  // the chapter; the question.
  const number = (bytes) => {
    const after = (from) => 1 + bytes.findIndex((byte, at) => at >= from && byte < 128);
    return bytes[after(after(2)) + 1];
  };
  // The lab speaks to its worker, chapters over lines of their own to the one they share.
  for (const { prototype } of [Worker, MessagePort]) {
    const send = prototype.postMessage;
    prototype.postMessage = function (message, ...more) {
      // A version, then the command's number.
      if (questions.includes(message?.[1])) window.__asked.push(number(message.subarray(0, 16)));
      return send.call(this, message, ...more);
    };
  }
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

/** Trains on while the page draws some frames: steps of a small model may all fall into one. */
async function awhile(page) {
  const from = await number(page, "loss-step");
  for (let frame = 0; frame < FRAMES; frame++) await drawn(page);
  return numberUntil(page, "loss-step", (step) => step > from + 1, "two more");
}

/** Opens `address`, and trains without end once it `isReady` and rests. */
async function training(t, address, isReady = (page) => live(page, "attention")) {
  // One step: those that a chapter takes by itself would be waited for.
  const page = await site.open(t, `${address}&step=1`, { init: [keepQuestions, QUESTIONS] });
  // A question of the story that is in sight asks the model for its answer, whatever the view.
  await page.addStyleTag({ content: ".course-check { display: none; }" });
  await isReady(page);
  await paused(page);
  await byId(page, "train-toggle").click();
  await awhile(page);
  return page;
}

/** That a chapter has begun with the steps it takes by itself. */
const begun = (page) => numberUntil(page, "loss-step", (step) => step > 0, "past the start");

/** Trains with nothing in sight: nothing may be asked meanwhile. */
async function trainsUnasked(page) {
  await settled(page);
  // What was asked just before may still have been on its way, and its picture be due.
  await awhile(page);
  await settled(page);
  const before = await asked(page);
  const figure = await shownStep(page);
  const step = Math.max(await further(page), await awhile(page));
  assert.equal(await asked(page), before, "something was asked that nobody sees");
  assert.equal(await shownStep(page), figure, "a figure was drawn that nobody sees");
  return step;
}

for (const [name, address] of [
  ["a chapter", "?chapter=heads&heads-layers=2&heads-count=2"],
  ["the GPT page", "?device=cpu&workers=1&layers=1&heads=2&width=16&context=16&batch=4"],
]) {
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

test("a figure that its host has scrolled away asks nothing", async (t) => {
  const query = "embed=1&device=cpu&workers=1&layers=1&heads=2&width=16&context=16&batch=4";
  const host = site.host(`<!doctype html><html lang="en"><title>A course</title><main><h1>Lesson</h1>
    <iframe title="figure" width="900" height="600" src="${site.url}?${query}"></iframe></main>
    <script>
      addEventListener("message", ({ data }) => { if (data.type === "progress") window.step = data.step; });
    </script></html>`);
  const page = await site.open(t, host, { init: [keepQuestions, QUESTIONS] });
  const frame = page.frames()[1];
  await live(frame, "attention");
  await byId(frame, "train-toggle").click();
  // Frames rest in what is scrolled away: steps are read where the host hears of them.
  const further = async () => {
    const from = await page.evaluate(() => window.step ?? 0);
    await page.waitForFunction((step) => window.step >= step, from + STEPS);
  };
  await further();
  const inSight = await asked(frame);
  await eventually(async () => (await asked(frame)) > inSight + 2, "in sight it asks");
  const scroll = (margin) =>
    page.evaluate((margin) => void (document.querySelector("iframe").style.marginTop = margin), margin);
  await scroll("5000px");
  // Its observer is told in one of the host's next frames.
  await drawn(page);
  await further();
  await further();
  const away = await asked(frame);
  const drawnLast = await shownStep(frame);
  await further();
  assert.equal(await asked(frame), away, "something was asked that nobody sees");
  assert.equal(await shownStep(frame), drawnLast, "a figure was drawn that nobody sees");
  await scroll("0");
  await shows(frame, drawnLast + STEPS);
});

/**
 * Of each chapter: what is asked in training while one of its views is on the stage. (Not rnn: its
 * recovery is measured for many seconds at a time.)
 */
const CHAPTERS = [
  {
    address: "?chapter=tokens",
    views: { tokens: ["Embedding"], merges: [], embedding: ["Embedding"], map: ["Embedding"], window: ["Window"], sentence: ["Chain"] },
  },
  {
    address: "?chapter=bigram",
    views: { table: ["Matrix", "Row"], writing: ["Writing"], sentence: ["Sentence"], average: ["Scores"], smoothing: [] },
  },
  {
    address: "?chapter=bptt",
    views: { norms: ["Flow"], nudge: ["Nudge"], accuracy: ["Flow"], weight: ["Flow"], copies: ["Flow"], clipping: [], memory: ["Flow"] },
  },
  {
    address: "?chapter=gates&gates-units=8&gates-unit=2",
    views: { units: ["Seen"], circuit: ["Seen", "Sums"], counts: ["Seen", "Units"], memory: ["Seen", "Units"], answers: ["Seen"] },
  },
  {
    address: "?chapter=birnn&birnn-task=fill&birnn-at=4",
    views: { states: ["Reading"], position: ["Reading"], accuracy: [], guess: ["Passage"] },
  },
  {
    address: "?chapter=norm",
    views: { layers: ["Layer"], depth: ["Depths"], outside: ["Offsets"], time: ["Steps"], losses: [] },
  },
  {
    address: "?chapter=seq2seq",
    views: { vector: ["Reading"], odds: ["Reading"], lengths: [], states: ["Reading"], beam: ["Reading"] },
  },
  {
    address: "?chapter=alignment",
    views: { reads: ["Lengths", "Reading"], score: ["Reading", "Row"], expects: ["Reading"], lengths: ["Lengths"], training: [], beam: ["Beam"] },
  },
  {
    address: "?chapter=qkv",
    views: { cell: ["Head"], vectors: ["Head"], scale: [], shuffle: ["Shuffle"], order: ["Word"], cost: [] },
  },
  { address: "?chapter=mask", views: { mask: ["Look"], averages: ["Look"], leak: ["Look"], trained: ["Writing"] } },
  {
    address: "?chapter=heads&heads-layers=2&heads-count=2",
    views: { head: ["Seen"], heads: ["Seen"], numbers: ["Seen"], training: ["Track"], written: ["Written"] },
  },
  {
    address: "?chapter=position",
    views: { reading: ["Reading"], encoding: ["Encoding"], turn: [], distance: ["Products", "Scores"], swap: ["Reading"], models: ["Reading"], longer: ["Reading"] },
  },
  {
    address: "?chapter=block&block-term=2",
    views: { wiring: ["Stream"], stream: ["Stream"], without: ["Depths"], growth: ["Growth"], neurons: ["Neurons"], dropout: ["Ensemble"] },
  },
  {
    address: "?chapter=machine&layers=1&heads=2&width=16&context=24&batch=4&workers=1",
    views: { gpt: ["Pass"], transformer: [], bahdanau: [], "encoder-decoder": [], gates: [], elman: [] },
  },
  {
    address: "?chapter=gpt&layers=1&heads=2&width=16&context=24&batch=4&workers=1",
    views: { attention: ["Trace"], heads: ["Trace"], next: ["Trace"], batch: ["NextBatch"], writing: ["Trace"], loss: [] },
    // What it writes is kept whatever the view, and asked now and then.
    beside: ["Writing"],
  },
  {
    address: "?chapter=decode&layers=1&heads=2&width=16&context=24&batch=4&workers=1",
    views: { choose: ["After"], beside: ["Writing"], tree: ["Tree"], surprise: ["Surprise"], cache: ["Cached"] },
  },
];

/** Chapters about the lab's model. */
const OF_THE_LAB = ["machine", "decode", "gpt"];
const chapterOf = (address) => /chapter=(\w+)/.exec(address)[1];

/** The names of a chapter's questions, by their numbers. */
function questionsOf(address) {
  const chapter = chapterOf(address);
  const file = OF_THE_LAB.includes(chapter) ? "gpt" : `study/${chapter}`;
  const source = join(import.meta.dirname, `../protocol/src/${file}.rs`);
  const list = readFileSync(source, "utf8").split("questions! {\n")[1].split("\n}\n")[0];
  return [...list.matchAll(/^ {4}([A-Z]\w*) \{/gm)].map((match) => match[1]);
}

/** Which of `names` are asked since `from` questions were, sorted. */
async function kindsAsked(page, names, from) {
  const kinds = await page.evaluate((from) => [...new Set(window.__asked.slice(from))], from);
  return kinds.map((kind) => names[kind]).sort();
}

/** Waits until all of `wanted` are asked, from now on. */
async function untilAsked(page, names, wanted, from, when) {
  const numbers = wanted.map((kind) => names.indexOf(kind));
  const asked = page.waitForFunction(
    ([numbers, from]) => numbers.every((kind) => window.__asked.indexOf(kind, from) >= 0),
    [numbers, from],
  );
  await asked.catch((error) => assert.fail(`${wanted} asked ${when}: ${error.message}`));
}

for (const { address, views, beside = [] } of CHAPTERS) {
  test(`${address}: a view asks for itself, while it is on the stage`, async (t) => {
    const chapter = chapterOf(address);
    const page = await training(t, address, chapter === "gpt" ? undefined : begun);
    const names = questionsOf(address);
    const ids = await viewsOf(page);
    assert.deepEqual(ids, Object.keys(views));
    for (const id of ids) {
      await chooseView(page, id);
      await untilAsked(page, names, views[id], await asked(page), `as ${id} comes on the stage`);
      // What it asks once, and what the view before it asked, may still be on the way.
      const wanted = [...views[id]].sort();
      let kinds;
      await eventually(async () => {
        const from = await asked(page);
        await awhile(page);
        await untilAsked(page, names, wanted, from, `for ${id}`);
        kinds = (await kindsAsked(page, names, from)).filter((kind) => !beside.includes(kind));
        return isDeepStrictEqual(kinds, wanted);
      }, () => `${id} asks for ${wanted} alone, not for ${kinds}`);
    }
    await untilAsked(page, names, beside, await asked(page), "in the last view, too");
  });
}

test("no task of the page takes 50 ms of processor time with 144 heads in sight", async (t) => {
  const page = await site.open(t, "?chapter=heads&heads-layers=12&heads-count=12&heads-width=48", {
    viewport: { width: 1600, height: 1100 },
    own: true,
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
