// Redraw time of the unrolled diagram at 64 steps, one JSON object a line:
// `node tests/bench-rnn.mjs [milliseconds]`, with UNROLL_SITE naming a built site.
//
// A redraw is the browser's task that takes over a new answer: the animation frame, all effects that
// follow, style, layout and paint. `cpu` is the time the main thread computed (what a machine with
// nothing else to do needs), `wall` what passed meanwhile.
import { byId, numberUntil, Site } from "./harness.mjs";

/** How long training is watched. */
const WATCHED = Number(process.argv[2] ?? 10_000);
const SENTENCE = "Once, by the slow green river, there was a mill, and in the mill lived Marl";
const CATEGORIES = ["blink.user_timing", "devtools.timeline", "disabled-by-default-devtools.timeline"];

const site = await new Site().start({ path: "/" });
try {
  await redraws("unrolled-redraw-64", "");
  await redraws("unrolled-redraw-64-edited", "&rnn-edit=9");
} finally {
  await site.stop();
}

async function redraws(name, more) {
  const context = await site.browser.newContext({ viewport: { width: 1920, height: 1080 } });
  const page = await context.newPage();
  // Marks in the trace: where a frame begins, and, once it is painted, that it drew a new step.
  await page.addInitScript(() => {
    const step = () => document.querySelector('[data-testid="rnn-track"]')?.dataset.step;
    const ask = window.requestAnimationFrame.bind(window);
    window.requestAnimationFrame = (draw) =>
      ask((time) => {
        const before = step();
        performance.mark("frame");
        draw(time);
        const { port1, port2 } = new MessageChannel();
        port1.onmessage = () => step() !== before && performance.mark("redrawn");
        port2.postMessage(0);
      });
  });
  await page.goto(`${site.url}?chapter=rnn&rnn-columns=64${more}`);
  await byId(page, "probe-input").fill(SENTENCE);
  await page.locator('[data-testid="rnn-track"][data-columns="64"]').scrollIntoViewIfNeeded();
  await numberUntil(page, "loss-step", (step) => step >= 120, "trained a little");
  await byId(page, "train-toggle").click();
  await site.browser.startTracing(page, { categories: CATEGORIES });
  await page.waitForTimeout(WATCHED);
  const { traceEvents } = JSON.parse(await site.browser.stopTracing());
  await byId(page, "train-toggle").click();
  const tasks = tasksOfRedraws(traceEvents);
  print(name, "cpu", tasks.map((task) => task.tdur / 1000));
  print(name, "wall", tasks.map((task) => task.dur / 1000));
  await context.close();
}

/** The main thread's tasks that redrew the diagram. */
function tasksOfRedraws(events) {
  const marks = events
    .filter((event) => event.name === "frame" || event.name === "redrawn")
    .sort((a, b) => a.ts - b.ts);
  const tasks = events.filter((event) => event.name === "RunTask" && event.ph === "X");
  const found = new Set();
  let frame;
  for (const mark of marks) {
    if (mark.name === "frame") frame = mark;
    else if (frame) {
      const around = ({ tid, ts, dur }) => tid === frame.tid && ts <= frame.ts && frame.ts <= ts + dur;
      const task = tasks.find(around);
      if (task) found.add(task);
    }
  }
  return [...found];
}

function print(name, clock, times) {
  times.sort((a, b) => a - b);
  const at = (share) => Number(times[Math.floor(share * (times.length - 1))].toFixed(2));
  const line = { name, clock, unit: "ms", redraws: times.length, median: at(0.5), p95: at(0.95), max: at(1) };
  console.log(JSON.stringify(line));
}
