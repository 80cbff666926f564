// The page's smoothness in training, one JSON object a line:
// `node tests/bench-page.mjs [seconds] [name]`, with UNROLL_SITE naming a built site.
//
// For each page with a heavy figure, trained at full speed with the processor as it is and slowed
// down four times (the page's own thread and the workers alike): gaps between animation frames and
// tasks of the main thread over 50 ms, by the clock; the longest task and what share of the time the
// main thread computed, in processor time, which other programs on the machine do not change.
// (Chromium slows a thread down by having it spin: that counts as computing.) UNROLL_PROFILE=<folder>
// writes a profile of each, which Chromium's tools open.
import { mkdir, writeFile } from "node:fs/promises";

import { byId, live, number, numberUntil, Site, taskTimes } from "./harness.mjs";

/** How long each is watched, in seconds. */
const WATCHED = Number(process.argv[2] ?? 8);
const ONLY = process.argv[3];
const PROFILES = process.env.UNROLL_PROFILE;
const SENTENCE = "Once, by the slow green river, there was a mill, and in the mill lived Marl".slice(0, 64);

/** Each with what must be there before it is watched. */
const PAGES = [
  { name: "gpt", query: "?device=cpu", ready: (page) => live(page, "attention") },
  {
    name: "heads-12x12",
    query: "?chapter=heads&heads-layers=12&heads-count=12&heads-width=48",
    ready: async (page) => {
      await byId(page, "probe-input").fill(SENTENCE);
      await page.locator(".token-row .token").nth(63).waitFor();
    },
  },
  {
    name: "rnn-64",
    query: "?chapter=rnn&rnn-columns=64",
    ready: async (page) => {
      await byId(page, "probe-input").fill(SENTENCE);
      await page.locator('[data-testid="rnn-track"][data-columns="64"]').waitFor();
    },
  },
  { name: "alignment", query: "?chapter=alignment" },
  { name: "position", query: "?chapter=position" },
  { name: "tokens", query: "?chapter=tokens" },
];

const site = await new Site().start({ path: "/" });
try {
  if (PROFILES) await mkdir(PROFILES, { recursive: true });
  for (const which of PAGES.filter(({ name }) => !ONLY || name === ONLY)) await watch(which);
} finally {
  await site.stop();
}

async function watch({ name, query, ready }) {
  const context = await site.browser.newContext({ viewport: { width: 1600, height: 1100 } });
  context.setDefaultTimeout(300_000);
  try {
    const page = await context.newPage();
    const devtools = await context.newCDPSession(page);
    await page.goto(`${site.url}${query}`);
    await byId(page, "train-toggle").waitFor();
    await ready?.(page);
    await page.locator('main [data-state="live"]').first().waitFor();
    // Chapters take their first steps by themselves, and then wait.
    await page.locator('[data-testid="train-toggle"][data-state="paused"]').waitFor();
    await byId(page, "train-toggle").click();
    const from = await number(page, "loss-step");
    await numberUntil(page, "loss-step", (step) => step >= from + 3, "trained");
    for (const slower of [1, 4]) {
      await devtools.send("Emulation.setCPUThrottlingRate", { rate: slower });
      await measure(page, devtools, `page/${name}${slower > 1 ? `-${slower}x` : ""}`);
    }
  } finally {
    await context.close();
  }
}

async function measure(page, devtools, name) {
  // What was begun before does not count.
  await page.waitForTimeout(1000);
  const step = () => byId(page, "loss-step").textContent();
  const before = await step();
  if (PROFILES) {
    await devtools.send("Profiler.enable");
    await devtools.send("Profiler.start");
  }
  let watched;
  const cpu = await taskTimes(site, page, async () => {
    watched = await page.evaluate(
      (length) =>
        new Promise((resolve) => {
          const [gaps, tasks, start] = [[], [], performance.now()];
          const observer = new PerformanceObserver((list) => {
            tasks.push(...list.getEntries().map((entry) => entry.duration));
          });
          observer.observe({ type: "longtask" });
          let last = null;
          const frame = (now) => {
            if (last !== null) gaps.push(now - last);
            last = now;
            if (performance.now() - start < length) return requestAnimationFrame(frame);
            observer.disconnect();
            resolve({ gaps, tasks, time: performance.now() - start });
          };
          requestAnimationFrame(frame);
        }),
      WATCHED * 1000,
    );
  });
  const { gaps, tasks, time } = watched;
  if (PROFILES) {
    const { profile } = await devtools.send("Profiler.stop");
    await writeFile(`${PROFILES}/${name.replaceAll("/", "-")}.cpuprofile`, JSON.stringify(profile));
  }
  if ((await step()) === before) throw new Error(`${name}: nothing was trained while it was watched`);
  const sorted = gaps.sort((a, b) => a - b);
  const digits = (value) => Number(value.toPrecision(4));
  console.log(
    JSON.stringify({
      name,
      frames_per_second: digits((1000 * gaps.length) / time),
      gap_median_ms: digits(sorted[sorted.length >> 1]),
      gap_99_ms: digits(sorted[Math.floor(0.99 * sorted.length)]),
      gap_max_ms: digits(sorted.at(-1)),
      long_tasks: tasks.length,
      longest_task_ms: digits(Math.max(0, ...tasks)),
      longest_task_cpu_ms: digits(Math.max(0, ...cpu)),
      tasks_over_50_ms_cpu: cpu.filter((task) => task > 50).length,
      main_thread_cpu: digits(cpu.reduce((sum, task) => sum + task, 0) / time),
    }),
  );
}
