// Redraw time of the view of all heads at T = 64, one JSON object a line:
// `node tests/bench-heads.mjs [redraws]`, with UNROLL_SITE naming a built site.
//
// A redraw begins with the frame that takes over a new step's weights and ends when every small
// picture, the enlarged head and all numbers are of that step. It may be spread over several tasks,
// so that none holds up the page: `cpu` adds up what the main thread computed in all of them,
// `longest` is the longest one, `wall` the time from the first one's start to the last one's end.
import { byId, numberUntil, Site } from "./harness.mjs";

const REDRAWS = Number(process.argv[2] ?? 25);
const SENTENCE = "Once, by the slow green river, there was a mill, and in the mill lived Marl".slice(0, 64);
const CATEGORIES = ["blink.user_timing", "devtools.timeline", "disabled-by-default-devtools.timeline"];

const site = await new Site().start({ path: "/" });
try {
  await redraws("heads-redraw-4x4-64", "&heads-layers=4&heads-count=4");
  await redraws("heads-redraw-12x12-64", "&heads-layers=12&heads-count=12&heads-width=48");
} finally {
  await site.stop();
}

async function redraws(name, query) {
  const context = await site.browser.newContext({ viewport: { width: 1920, height: 1400 } });
  context.setDefaultTimeout(300_000);
  const page = await context.newPage();
  // Marks in the trace: every frame, and at its end which step the figure and all pictures are of.
  await page.addInitScript(() => {
    const of = (selector, name) => document.querySelector(selector)?.dataset[name];
    const ask = window.requestAnimationFrame.bind(window);
    window.requestAnimationFrame = (draw) =>
      ask((time) => {
        performance.mark("frame");
        draw(time);
        const { port1, port2 } = new MessageChannel();
        port1.onmessage = () =>
          performance.mark(`state ${of('[data-testid="figure-attention"]', "step")} ${of(".head-grid", "painted")}`);
        port2.postMessage(0);
      });
  });
  await page.goto(`${site.url}?chapter=heads${query}`);
  await byId(page, "probe-input").fill(SENTENCE);
  await numberUntil(page, "loss-step", (step) => step >= 1, "trained");
  await page.locator(".token-row .token").nth(63).waitFor();
  await page.locator(".head-grid-scroller").scrollIntoViewIfNeeded();
  const rest = async () => {
    await page.locator('[data-testid="train-toggle"][data-state="paused"]').waitFor();
    await page.locator('main:not([data-answers="behind"])').waitFor();
  };
  // The steps that the chapter takes by itself are under way: some are enough.
  await byId(page, "train-toggle").click();
  await rest();
  await site.browser.startTracing(page, { categories: CATEGORIES });
  for (let i = 0; i < REDRAWS; i++) {
    const before = await page.locator(".head-grid").getAttribute("data-painted");
    await byId(page, "train-step").click();
    await page.waitForFunction(
      (before) => {
        const painted = document.querySelector(".head-grid").dataset.painted;
        const step = document.querySelector('[data-testid="figure-attention"]').dataset.step;
        return painted !== before && painted === step;
      },
      before,
      { polling: 100 },
    );
  }
  const { traceEvents } = JSON.parse(await site.browser.stopTracing());
  const found = redrawsIn(traceEvents);
  print(name, "cpu", found.map((redraw) => redraw.cpu));
  print(name, "longest", found.map((redraw) => redraw.longest));
  print(name, "wall", found.map((redraw) => redraw.wall));
  await context.close();
}

/** The redraws in a trace: each with the tasks that did it. */
function redrawsIn(events) {
  const marks = events
    .filter((event) => event.name === "frame" || event.name.startsWith("state "))
    .sort((a, b) => a.ts - b.ts);
  const tasks = events.filter((event) => event.name === "RunTask" && event.ph === "X");
  const around = (mark) =>
    tasks.find(({ tid, ts, dur }) => tid === mark.tid && ts <= mark.ts && mark.ts <= ts + dur);
  const all = [];
  let frames = [];
  let current = null;
  let shown;
  for (const mark of marks) {
    if (mark.name === "frame") {
      frames.push(mark);
      continue;
    }
    const [, step, painted] = mark.name.split(" ");
    if (shown !== undefined && step !== shown) current = new Set();
    shown = step;
    if (current) for (const frame of frames) current.add(around(frame));
    frames = [];
    if (current && painted === step) {
      const done = [...current].filter(Boolean);
      const [start, end] = [Math.min(...done.map((t) => t.ts)), Math.max(...done.map((t) => t.ts + t.dur))];
      all.push({
        cpu: done.reduce((sum, task) => sum + task.tdur, 0) / 1000,
        longest: Math.max(...done.map((task) => task.tdur)) / 1000,
        wall: (end - start) / 1000,
      });
      current = null;
    }
  }
  return all;
}

function print(name, clock, times) {
  times.sort((a, b) => a - b);
  const at = (share) => Number(times[Math.floor(share * (times.length - 1))].toFixed(2));
  const line = { name, clock, unit: "ms", redraws: times.length, median: at(0.5), p95: at(0.95), max: at(1) };
  console.log(JSON.stringify(line));
}
