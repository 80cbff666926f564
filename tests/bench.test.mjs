// That the benchmark still can do what it times: it reads the engine's messages by itself.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { text } from "node:stream/consumers";

import { siteFolder, test } from "./harness.mjs";
import { variants } from "./bench-engine.mjs";

test("the smallest GPT's steps are timed in the browser, by one worker and by two", async () => {
  const script = join(import.meta.dirname, "bench-training.mjs");
  const child = spawn(process.execPath, [script, "--rounds", "1", "--only", "gpt-4k/browser-"], {
    env: { ...process.env, UNROLL_SITE: siteFolder(), UNROLL_NATIVE: "", UNROLL_PYTHON: "" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(child, "exit");
  const printed = await text(child.stdout);
  assert.deepEqual(await ended, [0, null], printed);
  const figures = printed
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line));
  for (const workers of [1, 2]) {
    const figure = figures.find(({ name }) => name === `gpt-4k/browser-${workers}`);
    assert(figure, `no figure in: ${printed}`);
    assert(0 < figure.min && figure.min <= figure.median && figure.median <= figure.max, printed);
    // Knowing nothing of 56 characters is ln 56 = 4.03 nats.
    assert(Math.abs(figure.first_loss - Math.log(56)) < 0.1, printed);
    assert(figure.last_loss < 3.5, printed);
  }
});

test("the numbers of commands are those of their places in the source", () => {
  const source = "pub enum Shape {\n    /// Dot.\n    Dot,\n    Line { length: u32 },\n    Box(u32),\n}\n";
  assert.deepEqual(variants("Shape", source), { Dot: 0, Line: 1, Box: 2 });
  assert.throws(() => variants("Color", source));
});
