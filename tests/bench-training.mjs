// Milliseconds of a training step: our engine in the browser and natively, jax-js and TensorFlow.js
// in the same browser, PyTorch. `cargo xtask bench` builds and installs what this needs and runs
//
//     node tests/bench-training.mjs [--quick] [--only PATTERN] [--rounds N]
//
// UNROLL_SITE names a built site, UNROLL_NATIVE the example bench_rounds, UNROLL_PYTHON a Python
// with torch. It prints one JSON object a line for each figure, then the ratios as a table.
//
// Every candidate of a workload is started and warmed up, then all are timed in turn, in several
// rounds, so that a busy minute of the machine hits all alike. All train the same model on the same
// text; the losses of the same step are compared.
import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { parseArgs } from "node:util";

import { ourEngine } from "./bench-engine.mjs";
import { launch, Site } from "./harness.mjs";
import { serve } from "./server.mjs";

const { values: options } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    only: { type: "string", default: "" },
    rounds: { type: "string", default: "3" },
  },
});
const ROUNDS = Number(options.rounds);
/** Milliseconds that a candidate is timed for in a round, at least a step. */
const TURN = 2000;
/** Milliseconds of warming up, after the first step. */
const WARM = 500;

const HERE = import.meta.dirname;
const TEXT_FILE = join(HERE, "../assets/corpora/tales.txt");
const TEXT = readFileSync(TEXT_FILE, "utf8");
/** The text's characters and the one for unknown ones. */
const VOCABULARY = new Set(TEXT).size + 1;
const PEERS = join(HERE, "peers");

const gpt = (layers, heads, width, context, batch) =>
  ({ kind: "gpt", layers, heads, width, context, batch, vocabulary: VOCABULARY, rate: 0.001 });
const cell = (kind) =>
  ({ kind, width: 64, context: 32, batch: 16, vocabulary: VOCABULARY, rate: 0.01 });

const OURS = ["browser-1", "browser-2", "native-1"];
const LIBRARIES = ["jax-js-1", "jax-js-2", "tfjs-1"];
const PYTORCH = ["pytorch-1", "pytorch-2"];
const ALL = [...OURS, ...LIBRARIES, ...PYTORCH];
// For the curve of cost: tokens in a step stay 768, so that only attention's share grows with T.
const CURVE = ["browser-1", "browser-2", "native-1", "jax-js-1", "pytorch-1"];
const CELLS = ["browser-1", "native-1", "jax-js-1", "pytorch-1"];
const TRANSLATORS = ["browser-1", "native-1", "pytorch-1"];
const WORKLOADS = [
  ["gpt-0.8m", gpt(4, 4, 128, 64, 12), ALL],
  ["gpt-4k", gpt(1, 2, 12, 16, 16), ALL],
  ["gpt-100k", gpt(2, 4, 64, 48, 8), ALL],
  ["gpt-5m", gpt(6, 8, 256, 64, 12), ALL],
  ["gpt-0.8m-t16", gpt(4, 4, 128, 16, 48), CURVE],
  ["gpt-0.8m-t32", gpt(4, 4, 128, 32, 24), CURVE],
  ["gpt-0.8m-t128", gpt(4, 4, 128, 128, 6), CURVE],
  ["gpt-0.8m-t256", gpt(4, 4, 128, 256, 3), CURVE],
  // No chapter trains a plain RNN by itself.
  ["rnn-64", cell("rnn"), ["native-1", "jax-js-1", "pytorch-1"]],
  ["lstm-64", cell("lstm"), CELLS],
  ["gru-64", cell("gru"), CELLS],
  // Strings of up to 10 letters, reversed. In the browser the chapter also measures its accuracy on
  // held-out strings every 20 steps.
  ["seq2seq-64", { kind: "seq2seq", width: 64, context: 10, batch: 32, rate: 0.01 }, TRANSLATORS],
];

const wanted = (name) => name.includes(options.only);
/** What was left out and why, each once. */
const leftOut = new Map();
const ratios = [];

const site = await new Site().start({ path: "/" });
const hosts = { 1: await serve(PEERS), 2: await serve(PEERS, { isolated: true }) };
const browser = await launch();
const native = process.env.UNROLL_NATIVE ? program(process.env.UNROLL_NATIVE, [TEXT_FILE]) : null;
/** By the number of threads: a process each, as PyTorch's pool of threads is made for good. */
const python = {};
for (const threads of process.env.UNROLL_PYTHON ? [1, 2] : []) {
  const args = [join(PEERS, "pytorch.py"), TEXT_FILE, String(threads)];
  python[threads] = program(process.env.UNROLL_PYTHON, args);
}
try {
  for (const [name, settings, candidates] of options.quick ? WORKLOADS.slice(0, 1) : WORKLOADS) {
    await compare(name, settings, candidates.filter((candidate) => wanted(`${name}/${candidate}`)));
  }
  table();
  for (const [candidate, reason] of leftOut) console.log(`${candidate} was left out: ${reason}`);
} finally {
  native?.stop();
  for (const process of Object.values(python)) process.stop();
  await browser.close();
  for (const host of Object.values(hosts)) await host.close();
  await site.stop();
}

/** Times the candidates of one workload and prints their figures. */
async function compare(name, settings, candidates) {
  const running = [];
  for (const id of candidates) {
    if (leftOut.has(id)) continue;
    try {
      const candidate = await start(id, settings);
      const first = await candidate.measure(0);
      const warm = await candidate.measure(WARM);
      const losses = [...first.losses, ...warm.losses];
      const { allocations, allocated } = warm;
      const asked = allocations === undefined ? {} : { allocations, allocated };
      running.push({ id, ...candidate, each: Math.min(...warm.samples), losses, asked, rounds: [] });
    } catch (error) {
      leftOut.set(id, `${String(error.message ?? error).split("\n")[0]} (${name})`);
    }
  }
  for (let round = 0; round < ROUNDS; round++) {
    // Each round begins with another one.
    for (let i = 0; i < running.length; i++) {
      const candidate = running[(i + round) % running.length];
      const { samples, losses } = await candidate.measure(TURN, candidate.each);
      candidate.rounds.push(samples);
      candidate.losses.push(...losses);
    }
  }
  for (const candidate of running) await candidate.close();
  if (running.length === 0) return;

  // The last step that all of them took; late ones part by chance, as roundings and first weights differ.
  const last = Math.min(200, ...running.map(({ losses }) => losses.length));
  for (const { id, rounds, losses, asked } of running) {
    print(`${name}/${id}`, "ms/step", rounds.flat(), {
      first_loss: losses[0],
      last_loss: losses[last - 1],
      last_step: last,
      ...asked,
    });
  }
  const at = running.map(({ losses }) => losses[last - 1]);
  if (Math.max(...at) > 1.15 * Math.min(...at)) {
    console.log(`${name}: the losses of step ${last} are far apart: not all train the same model`);
  }
  const ours = running.find(({ id }) => id === "browser-1") ?? running.find(({ id }) => id === "native-1");
  for (const { id, rounds } of running) {
    if (!ours || id === ours.id) continue;
    const values = rounds.map((samples, round) => median(ours.rounds[round]) / median(samples));
    // Of the fastest samples of both: what a machine with other work shows most truly.
    const fastest = Math.min(...ours.rounds.flat()) / Math.min(...rounds.flat());
    print(`${name}/${ours.id}:${id}`, "ratio", values, { of_fastest: fastest });
    ratios.push({ name, ours: ours.id, id, median: median(values), fastest });
  }
}

/** Starts a candidate: `{measure(budget, each), close()}`. */
async function start(id, settings) {
  const [, kind, workers] = /^(.*)-(\d)$/.exec(id);
  switch (kind) {
    case "browser":
      if (workers > 1 && !knowsWorkers()) throw new Error("the page has no setting `workers`");
      return ourEngine(site.browser, site.url, settings, Number(workers));
    case "native":
      if (!native) throw new Error("UNROLL_NATIVE names no program");
      return native.candidate(settings);
    case "pytorch":
      if (!python[workers]) throw new Error("no Python with torch was named (--python PATH or UNROLL_PYTHON)");
      return python[workers].candidate(settings);
    default:
      return library(kind, workers, settings);
  }
}

/** Whether the table of settings has the number of workers. */
function knowsWorkers() {
  return /^\| `workers` /m.test(readFileSync(join(HERE, "../SETTINGS.md"), "utf8"));
}

/** A library in the browser. With 2 threads its page is cross-origin isolated, for shared memory. */
async function library(kind, workers, settings) {
  if (!existsSync(join(PEERS, "node_modules"))) throw new Error("its npm package is not installed");
  const context = await browser.newContext();
  try {
    const page = await context.newPage();
    await page.goto(`${hosts[workers].url}index.html`);
    await page.waitForFunction(() => window.loaded);
    await page.evaluate(([k, s, t]) => window.start(k, s, t), [kind, settings, TEXT]);
    return {
      measure: (budget, each) => page.evaluate(([b, e]) => window.measure(b, e), [budget, each]),
      close: () => context.close(),
    };
  } catch (error) {
    await context.close();
    throw error;
  }
}

/** A program that answers a line of JSON with a line of JSON. */
function program(path, args) {
  const child = spawn(path, args, { stdio: ["pipe", "pipe", "inherit"] });
  const waiting = [];
  let ended = null;
  const end = (reason) => {
    ended = new Error(`${path} ended: ${reason}`);
    for (const { reject } of waiting.splice(0)) reject(ended);
  };
  child.on("error", (error) => end(error.message));
  child.on("exit", (code) => end(`exit status ${code}`));
  child.stdin.on("error", () => {});
  createInterface({ input: child.stdout }).on("line", (line) => waiting.shift()?.resolve(JSON.parse(line)));
  const ask = (request) =>
    new Promise((resolve, reject) => {
      if (ended) return reject(ended);
      waiting.push({ resolve, reject });
      child.stdin.write(`${JSON.stringify(request)}\n`);
    });
  return {
    candidate: (settings) => ({
      measure: (budget, each) => ask({ ...settings, budget, each }),
      close: () => {},
    }),
    stop: () => child.stdin.end(),
  };
}

function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  return (sorted[Math.floor(middle)] + sorted[Math.ceil(middle)]) / 2;
}

function print(name, unit, values, more = {}) {
  const short = (value) => Number(value.toPrecision(4));
  const figures = { median: median(values), min: Math.min(...values), max: Math.max(...values), ...more };
  const entries = Object.entries(figures).map(([key, value]) => [key, short(value)]);
  console.log(JSON.stringify({ name, unit, ...Object.fromEntries(entries) }));
}

/** Our time divided by the others', a row a workload: medians of the rounds, and of the fastest. */
function table() {
  const columns = ALL.filter((id) => ratios.some((ratio) => ratio.id === id));
  console.log("\nOur milliseconds divided by theirs: below 1 we are faster");
  console.log("(median of the rounds / of the fastest samples)");
  console.log(["".padEnd(24), ...columns.map((id) => id.padStart(13))].join(""));
  for (const [name] of WORKLOADS) {
    const row = ratios.filter((ratio) => ratio.name === name);
    if (row.length === 0) continue;
    const cells = columns.map((id) => {
      const found = row.find((ratio) => ratio.id === id);
      const text = found ? `${found.median.toFixed(2)} / ${found.fastest.toFixed(2)}` : "";
      return text.padStart(13);
    });
    console.log([`${name}/${row[0].ours}`.padEnd(24), ...cells].join(""));
  }
}
