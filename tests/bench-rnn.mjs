// Redraw time of the unrolled diagram at 64 steps, one JSON object a line:
// `node tests/bench-rnn.mjs [milliseconds]`, with UNROLL_SITE naming a built site.
//
// A redraw lasts from the animation frame that takes over a new answer until the first task after
// the browser has laid out and painted it: everything on the main thread is counted.
import { byId, drawn, numberUntil, Site } from "./harness.mjs";

/** How long training is watched. */
const WATCHED = Number(process.argv[2] ?? 10_000);
const SENTENCE = "Once, by the slow green river, there was a mill, and in the mill lived Marl";

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
  await page.addInitScript(() => {
    window.__redraws = [];
    const step = () => document.querySelector('[data-testid="rnn-track"]')?.dataset.step;
    const ask = window.requestAnimationFrame.bind(window);
    window.requestAnimationFrame = (draw) =>
      ask((time) => {
        const [before, start] = [step(), performance.now()];
        draw(time);
        const { port1, port2 } = new MessageChannel();
        port1.onmessage = () => {
          if (step() === before) return;
          const measured = performance.measure("redraw", { start, end: performance.now() });
          window.__redraws.push(measured.duration);
        };
        port2.postMessage(0);
      });
  });
  await page.goto(`${site.url}?chapter=rnn&rnn-columns=64${more}`);
  await byId(page, "probe-input").fill(SENTENCE);
  await page.locator('[data-testid="rnn-track"][data-columns="64"]').scrollIntoViewIfNeeded();
  await numberUntil(page, "loss-step", (step) => step >= 120, "trained a little");
  await byId(page, "train-toggle").click();
  await page.evaluate(() => (window.__redraws.length = 0));
  await page.waitForTimeout(WATCHED);
  await byId(page, "train-toggle").click();
  await drawn(page);
  const times = (await page.evaluate(() => window.__redraws)).sort((a, b) => a - b);
  const at = (share) => Number(times[Math.floor(share * (times.length - 1))].toFixed(2));
  console.log(JSON.stringify({ name, unit: "ms", redraws: times.length, median: at(0.5), p95: at(0.95), max: at(1) }));
  await context.close();
}
