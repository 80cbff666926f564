// The pictures of README, into assets/readme: the lab in training as a moving one, and a still for
// each thing one can do. `cargo xtask screenshots --readme` calls it, or UNROLL_SITE names a built site.
// The moving picture is put together by `img2webp` (Debian's package `webp`).
import { execFileSync } from "node:child_process";
import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { byId, drawn, live, numberUntil, openView, paused, settled, Site } from "./harness.mjs";

const FOLDER = join(import.meta.dirname, "../assets/readme");
const SIZE = { width: 1180, height: 720 };
/** How long a frame stays, in milliseconds. */
const FRAME = 140;
const LARGEST = 2_000_000;

/** Stills: what is opened, the view, and what is done there. */
const STILLS = [
  { name: "learn", query: "?chapter=alignment", steps: 300 },
  { name: "text", query: "?corpus=names", steps: 60, click: "source-open" },
  { name: "teach", query: "?chapter=rnn&idea=3" },
  { name: "embed", query: "?chapter=gates&embed=1", viewport: { width: 720, height: 480 } },
];

const site = await new Site().start();
const frames = await mkdtemp(join(tmpdir(), "unroll-readme-"));
try {
  for (const still of STILLS) await take(still);
  await move();
} finally {
  await rm(frames, { recursive: true });
  await site.stop();
}

async function open(query, viewport = SIZE) {
  const context = await site.browser.newContext({ viewport, colorScheme: "light", reducedMotion: "reduce" });
  const page = await context.newPage();
  await page.goto(new URL(query, site.url).href);
  // On a small stage, what is beside the writing is there and not in sight.
  await page.locator('main [data-state="live"]').first().waitFor({ state: "attached" });
  await paused(page);
  return page;
}

async function take({ name, query, view, steps, click, viewport }) {
  const page = await open(query, viewport);
  if (steps) {
    await byId(page, "train-toggle").click();
    await numberUntil(page, "loss-step", (step) => step >= steps, `${steps} steps`);
    await byId(page, "train-toggle").click();
    await paused(page);
  }
  if (view) await openView(page, view);
  if (click) await byId(page, click).click();
  await settled(page);
  await drawn(page);
  const png = join(frames, `${name}.png`);
  await page.screenshot({ path: png });
  await write(name, ["-q", "82", png]);
  await page.context().close();
}

/** The untrained model, then it learns, then somebody reads it. */
async function move() {
  const page = await open("?device=cpu&view=writing");
  // It has written before anybody trains it.
  await page.locator('[data-testid="sample-text"] .caret:not(.caret-on)').waitFor({ state: "attached" });
  const taken = [];
  const frame = async (times = 1) => {
    const path = join(frames, `${String(taken.length).padStart(3, "0")}.png`);
    await page.screenshot({ path });
    for (let i = 0; i < times; i++) taken.push(path);
  };
  await frame(6);
  await byId(page, "train-toggle").click();
  for (const steps of [1, 4, 8, 14, 20, 28, 36, 46, 58, 72, 88, 106, 126, 150, 180, 215, 255, 300, 350, 400]) {
    await numberUntil(page, "loss-step", (step) => step >= steps, `${steps} steps`);
    await frame();
  }
  await byId(page, "train-toggle").click();
  await paused(page);
  await settled(page);
  await drawn(page);
  await frame(8);
  await openView(page, "attention");
  await live(page, "attention");
  const tokens = page.locator(".token-row .token");
  const count = await tokens.count();
  for (let i = Math.floor(count / 3); i < count; i += 3) {
    await tokens.nth(i).hover();
    await drawn(page);
    await frame(2);
  }
  await openView(page, "heads");
  await settled(page);
  await drawn(page);
  await frame(8);
  // Frames that stay are given once, with a longer time.
  const parts = [];
  for (let i = 0; i < taken.length; ) {
    let next = i;
    while (next < taken.length && taken[next] === taken[i]) next += 1;
    parts.push("-lossy", "-q", "62", "-d", String(FRAME * (next - i)), taken[i]);
    i = next;
  }
  await write("lab", ["-loop", "0", "-min_size", ...parts]);
  await page.context().close();
}

async function write(name, parts) {
  const path = join(FOLDER, `${name}.webp`);
  execFileSync("img2webp", [...(parts[0] === "-q" ? ["-lossy", ...parts] : parts), "-o", path], { stdio: "ignore" });
  const { size } = await stat(path);
  if (size > LARGEST) throw new Error(`${path} has ${size} bytes, more than ${LARGEST}`);
  console.log(`${path} ${Math.round(size / 1000)} KB`);
}
