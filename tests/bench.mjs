// Figures of the page in a browser, one JSON object a line. `cargo xtask bench` runs this:
// `node tests/bench.mjs [runs]`, with UNROLL_SITE naming a built site.
import { asNumber, byId, live, numberUntil, PATIENCE, Site, watchLongTasks } from "./harness.mjs";

/** How often the page is loaded. */
const RUNS = Number(process.argv[2] ?? 5);
/** How long training is watched, in milliseconds. */
const WATCHED = 30_000;
/** nanoGPT's setting for a CPU. */
const NANO_GPT = { layers: 4, heads: 4, width: 128, context: 64, batch: 12, dropout: 0 };

const site = await new Site().start({ path: "/" });
try {
  await firstHeatmap();
  await stepTime();
  await responsiveness();
} finally {
  await site.stop();
}

function print(name, unit, values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  const median = (sorted[Math.floor(middle)] + sorted[Math.ceil(middle)]) / 2;
  const digits = (value) => Number(value.toPrecision(5));
  console.log(
    JSON.stringify({
      name,
      unit,
      median: digits(median),
      min: digits(sorted[0]),
      max: digits(sorted.at(-1)),
    }),
  );
}

/** A page in a profile without a cache. */
async function fresh(work) {
  const context = await site.browser.newContext({ viewport: { width: 1280, height: 800 } });
  context.setDefaultTimeout(PATIENCE);
  try {
    return await work(await context.newPage());
  } finally {
    await context.close();
  }
}

/** From the start of navigation until the first attention heatmap of the living model is drawn. */
async function firstHeatmap() {
  const times = [];
  for (let run = 0; run < RUNS; run++) {
    await fresh(async (page) => {
      await page.addInitScript(() => {
        window.__live = new Promise((resolve) => {
          const look = () => {
            if (document.querySelector('[data-testid="figure-attention"][data-state="live"]')) {
              // The frame that shows it.
              requestAnimationFrame(() => setTimeout(() => resolve(performance.now())));
              observer.disconnect();
            }
          };
          const observer = new MutationObserver(look);
          observer.observe(document, { subtree: true, childList: true, attributes: true });
        });
      });
      await page.goto(site.url);
      times.push(await page.evaluate(() => window.__live));
    });
  }
  print("page/first-heatmap", "ms", times);
}

/** Time of an optimizer step of nanoGPT's model, from what the page itself shows of its steps. */
async function stepTime() {
  await fresh(async (page) => {
    const query = new URLSearchParams({ ...NANO_GPT, corpus: "tales", device: "cpu", autostart: 1 });
    await page.goto(`${site.url}?${query}`);
    await live(page, "attention");
    // The first steps warm up caches and the compiler of the wasm.
    await numberUntil(page, "loss-step", (step) => step >= 5, "at least 5");
    const seen = await byId(page, "loss-step").evaluate(
      (node, watched) =>
        new Promise((resolve) => {
          const seen = [[performance.now(), node.textContent]];
          const observer = new MutationObserver(() => seen.push([performance.now(), node.textContent]));
          observer.observe(node, { subtree: true, childList: true, characterData: true });
          setTimeout(() => (observer.disconnect(), resolve(seen)), watched);
        }),
      WATCHED,
    );
    // The page may show several steps at once: windows of at least a second even that out.
    const times = [];
    let [start, first] = [seen[0][0], asNumber(seen[0][1])];
    for (const [now, text] of seen.slice(1)) {
      const step = asNumber(text);
      if (now - start < 1000 || step === first) continue;
      times.push((now - start) / (step - first));
      [start, first] = [now, step];
    }
    if (times.length === 0) throw new Error("the page showed no training steps");
    const tokens = NANO_GPT.batch * NANO_GPT.context;
    print("nanogpt-cpu/chromium", "ms/step", times);
    print("nanogpt-cpu/chromium-tokens", "tokens/s", times.map((time) => (tokens / time) * 1000));
  });
}

/** Long tasks of the main thread, and gaps between frames under a moving pointer, in training. */
async function responsiveness() {
  await fresh(async (page) => {
    await page.goto(`${site.url}?device=cpu`);
    const figure = await live(page, "attention");
    const longTasks = await watchLongTasks(page);
    await byId(page, "train-toggle").click();
    await numberUntil(page, "loss-step", (step) => step >= 5, "at least 5");
    await page.evaluate(() => {
      window.__gaps = [];
      let last = performance.now();
      const frame = (now) => (window.__gaps.push(now - last), (last = now), requestAnimationFrame(frame));
      requestAnimationFrame(frame);
    });
    const box = await figure.boundingBox();
    const end = performance.now() + WATCHED;
    for (let i = 0; performance.now() < end; i++) {
      const [x, y] = [(i * 7) % box.width, (i * 11) % Math.min(box.height, 600)];
      await page.mouse.move(box.x + x, box.y + y);
    }
    const tasks = await longTasks();
    print("page/long-tasks-in-training", `tasks over 50 ms in ${WATCHED / 1000} s`, [tasks.length]);
    print("page/longest-task-in-training", "ms (0: none over 50)", [Math.max(0, ...tasks)]);
    print("page/frame-gap-in-training", "ms", await page.evaluate(() => window.__gaps.slice(1)));
  });
}
