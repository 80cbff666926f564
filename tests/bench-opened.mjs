// What an opened model of GPT-2's form costs in the page, on the CPU, one JSON object a line:
//
//     python tests/peers/opened.py make FOLDER    # GPT-2's shapes with random weights: 498 MB
//     node tests/bench-opened.mjs FOLDER [times] [python]
//
// UNROLL_SITE names a built site. FOLDER holds model.safetensors, config.json and tokenizer.json. With a
// Python that has torch and transformers, PyTorch's own figures on one thread follow (tests/peers/opened.py).
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";

import { byId, choose, closeSettings, eventually, openView, settled, Site, taskTimes } from "./harness.mjs";

const FOLDER = process.argv[2];
const TIMES = Number(process.argv[3] ?? 5);
const PYTHON = process.argv[4];
const FILES = ["model.safetensors", "config.json", "tokenizer.json"].map((name) => join(FOLDER, name));
/** Tokens of a prompt: a number of words, each of which is one token of GPT-2's. */
const PROMPTS = [64, 256];

const median = (numbers) => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)];
const round = (number) => Number(number.toPrecision(4));
const print = (figures) => console.log(JSON.stringify(figures));

/** The most megabytes that a renderer of this browser has had in memory. */
function peak() {
  const sizes = readdirSync("/proc").filter((pid) => /^\d+$/.test(pid)).map((pid) => {
    try {
      if (!readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("--type=renderer")) return 0;
      return Number(readFileSync(`/proc/${pid}/status`, "utf8").match(/^VmHWM:\s+(\d+)/m)?.[1] ?? 0) / 1024;
    } catch {
      return 0; // It has ended meanwhile.
    }
  });
  return Math.round(Math.max(...sizes));
}

/** A prompt of so many words. */
const words = (count, turn) => Array.from({ length: count }, (_, at) => (at === turn ? " one" : " the")).join("").trim();

const site = await new Site().start({ path: "/" });
try {
  const context = await site.browser.newContext({ viewport: { width: 1440, height: 900 } });
  const page = await context.newPage();
  await page.goto(new URL("?layers=1&device=cpu", site.url).href);
  await settled(page);
  const before = peak();

  let began = 0;
  const tasks = await taskTimes(site, page, async () => {
    began = performance.now();
    await choose(page, FILES);
    await eventually(async () => (await byId(page, "settings-open").textContent()).includes("Opened"), "it is opened");
    await page.locator('[data-testid="figure-attention"][data-state="live"]').waitFor();
    await settled(page);
  });
  const seconds = (performance.now() - began) / 1000;
  const megabytes = statSync(FILES[0]).size / 2 ** 20;
  print({ name: "opened/first-heatmap", unit: "s", seconds: round(seconds), file: `${Math.round(megabytes)} MB` });
  print({ name: "opened/renderer", unit: "MB", before, peak: peak() });
  print({ name: "opened/longest-tasks", unit: "ms", opening: tasks.sort((a, b) => b - a).slice(0, 4).map(round) });
  await closeSettings(page);

  /** Milliseconds from an edit of the sentence until the view has answered. */
  const edit = async (count, turn) => {
    const began = performance.now();
    await byId(page, "probe-input").fill(words(count, turn));
    await settled(page);
    return performance.now() - began;
  };
  for (const view of ["attention", "next"]) {
    await openView(page, view);
    for (const count of PROMPTS) {
      const times = [];
      const longest = [];
      await edit(count, 1);
      for (let turn = 2; turn < TIMES + 2; turn++) {
        longest.push(Math.max(...(await taskTimes(site, page, async () => times.push(await edit(count, turn))))));
      }
      print({ name: `opened/${view}-${count}-tokens`, unit: "ms to the picture", median: round(median(times)), longestTask: round(median(longest)) });
    }
  }

  const all = await taskTimes(site, page, () => openView(page, "heads"));
  all.sort((a, b) => b - a);
  print({ name: "opened/all-heads", unit: "ms", all: round(all.reduce((sum, task) => sum + task, 0)), longestTask: round(all[0]) });

  await openView(page, "writing");
  const speeds = await page.evaluate(async (times) => {
    const find = (id) => document.querySelector(`[data-testid="${id}"]`);
    const written = () => find("sample-text").textContent;
    const busy = () => find("sample-text").querySelector(".caret-on") !== null;
    const until = async (condition) => {
      while (!condition()) await new Promise(requestAnimationFrame);
    };
    const speeds = [];
    await until(() => !busy());
    for (let i = 0; i < times; i++) {
      find("write-again").click();
      await until(busy);
      const seen = [];
      const observer = new MutationObserver(() => seen.push([performance.now(), written().length]));
      observer.observe(find("sample-text"), { subtree: true, childList: true, characterData: true });
      await until(() => !busy());
      observer.disconnect();
      speeds.push({ ms: seen.at(-1)[0] - seen[0][0], pieces: seen.length - 1, text: written() });
    }
    return speeds;
  }, TIMES);
  print({ name: "opened/writing", unit: "pieces/s", speeds: speeds.map(({ ms, pieces }) => round((1000 * pieces) / ms)), text: speeds[0].text.slice(0, 80) });
} finally {
  await site.stop();
}
if (PYTHON) {
  const script = new URL("peers/opened.py", import.meta.url).pathname;
  process.stdout.write(execFileSync(PYTHON, [script, "time", FOLDER, String(TIMES)]));
}
