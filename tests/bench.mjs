// Figures of the page in a browser, one JSON object a line. `cargo xtask bench` runs this:
// `node tests/bench.mjs [runs]`, with UNROLL_SITE naming a built site.
import { asNumber, byId, drawn, live, numberUntil, PATIENCE, Site } from "./harness.mjs";

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
  await answers("gpt-0.8m", NANO_GPT);
  await answers("gpt-2.7m", { layers: 6, heads: 6, width: 192, context: 128, batch: 16 });
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
      await page.goto(`${site.url}?view=attention`);
      times.push(await page.evaluate(() => window.__live));
    });
  }
  print("page/first-heatmap", "ms", times);
}

/** Time of an optimizer step of nanoGPT's model with all pictures and the writing, from what the
 * page itself shows of its steps. The engine's own is what bench-training.mjs measures. */
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
    print("gpt-0.8m/page-1", "ms/step", times);
  });
}

/** Under a moving pointer, in training: the main thread's long tasks, the gaps between frames, and
 * the time from a move to the frame that shows the weight under the pointer. */
async function responsiveness() {
  await fresh(async (page) => {
    await page.goto(`${site.url}?device=cpu`);
    await live(page, "attention");
    await page.evaluate(() => {
      window.__longTasks = [];
      new PerformanceObserver((list) => {
        window.__longTasks.push(...list.getEntries().map((entry) => entry.duration));
      }).observe({ type: "longtask" });
    });
    await byId(page, "train-toggle").click();
    await numberUntil(page, "loss-step", (step) => step >= 5, "at least 5");
    await page.evaluate(() => {
      window.__gaps = [];
      let last = performance.now();
      const frame = (now) => {
        window.__gaps.push(now - last);
        last = now;
        requestAnimationFrame(frame);
      };
      requestAnimationFrame(frame);

      window.__answers = [];
      let moved = null;
      addEventListener("pointermove", (event) => (moved ??= event.timeStamp), { capture: true });
      const readout = document.querySelector('[data-testid="attention-cell-readout"]');
      new MutationObserver(() => {
        if (moved === null) return;
        const start = moved;
        moved = null;
        requestAnimationFrame(() => window.__answers.push(performance.now() - start));
      }).observe(readout, { subtree: true, childList: true, characterData: true });
    });
    const heatmap = byId(page, "attention-heatmap");
    await heatmap.scrollIntoViewIfNeeded();
    const box = await heatmap.boundingBox();
    const end = performance.now() + WATCHED;
    for (let i = 0; performance.now() < end; i++) {
      // Below the diagonal, where there are weights to read.
      const y = 0.3 + 0.6 * ((i * 0.37) % 1);
      const x = 0.2 + (y - 0.2) * ((i * 0.61) % 1);
      await page.mouse.move(box.x + x * box.width, box.y + y * box.height);
      await drawn(page);
    }
    const [tasks, gaps, answers] = await page.evaluate(() => [
      window.__longTasks,
      window.__gaps.slice(1),
      window.__answers,
    ]);
    print("page/long-tasks-in-training", `tasks over 50 ms in ${WATCHED / 1000} s`, [tasks.length]);
    print("page/longest-task-in-training", "ms (0: none over 50)", [Math.max(0, ...tasks)]);
    print("page/frame-gap-in-training", "ms", gaps);
    if (answers.length === 0) throw new Error("no move of the pointer was answered");
    print("page/hover-to-weight-in-training", "ms", answers);
  });
}

/** While a model of these settings trains: the time from a press of Pause or Train until the engine
 * has said it is done, and from an edit of the sentence until its attention is on screen. */
async function answers(name, settings) {
  await fresh(async (page) => {
    const query = new URLSearchParams({ ...settings, corpus: "tales", device: "cpu", autostart: 1 });
    await page.goto(`${site.url}?${query}`);
    await live(page, "attention");
    await numberUntil(page, "loss-step", (step) => step >= 2, "at least 2");
    const measured = await page.evaluate(async (rounds) => {
      const find = (id) => document.querySelector(`[data-testid="${id}"]`);
      /** Does `act`, waits until `done` holds after a change of the page; the milliseconds. */
      const time = (act, done) =>
        new Promise((resolve) => {
          const start = performance.now();
          const observer = new MutationObserver(() => {
            if (!done()) return;
            observer.disconnect();
            resolve(performance.now() - start);
          });
          observer.observe(document.body, { subtree: true, childList: true, attributes: true });
          act();
        });
      const later = () => new Promise((resolve) => setTimeout(resolve, 150 + Math.random() * 300));
      const [toggle, probe] = [find("train-toggle"), find("probe-input")];
      const state = (wanted) => () => toggle.dataset.state === wanted;
      const [pauses, runs, edits] = [[], [], []];
      for (let round = 0; round < rounds; round++) {
        await later();
        const text = "the goat ".repeat(4).slice(0, 20 + round);
        const edit = () => {
          probe.value = text;
          probe.dispatchEvent(new Event("input", { bubbles: true }));
        };
        edits.push(
          await time(edit, () => find(`token-${text.length - 1}`) && !find(`token-${text.length}`)),
        );
        await later();
        pauses.push(await time(() => toggle.click(), state("paused")));
        await later();
        runs.push(await time(() => toggle.click(), state("running")));
      }
      return { pauses, runs, edits };
    }, 15);
    print(`${name}/pause-answer-in-training`, "ms", measured.pauses);
    print(`${name}/run-answer`, "ms", measured.runs);
    print(`${name}/edit-to-attention-in-training`, "ms", measured.edits);
  });
}
