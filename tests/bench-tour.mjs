// Memory of a tour of the whole course: every chapter is opened in one page and trains its first steps.
//
//     node tests/bench-tour.mjs
//
// Prints the workers that are alive, and the memory of the page's process (proportional set size, as Linux
// counts it), after each chapter and once the last has rested for a while: what is its own (memory without a
// file behind it, and what it shares with the browser's other processes to draw), and the pages of Chromium's
// own program, which are fewer while other browsers run. UNROLL_SITE names the site.
import { readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";

import { byId, CHAPTERS, paused, Site } from "./harness.mjs";

/** Chromium collects its garbage within so many milliseconds. */
const REST = 45_000;

/** Megabytes of one process: its own, and those of files. */
function memory(pid) {
  const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, "utf8");
  const of = (name) => Number(rollup.match(new RegExp(`^Pss_${name}: +(\\d+)`, "m"))?.[1] ?? 0) / 1024;
  return { own: of("Anon") + of("Shmem"), files: of("File") };
}

/** The page's process: of this browser's renderers, one of which is a spare, the largest. */
async function measured(browser) {
  const session = await browser.newBrowserCDPSession();
  const { processInfo } = await session.send("SystemInfo.getProcessInfo");
  await session.detach();
  const renderers = processInfo.filter(({ type }) => type === "renderer").map(({ id }) => memory(id));
  const { own, files } = renderers.sort((a, b) => b.own - a.own)[0];
  return `${Math.round(own)} MB, and ${Math.round(files)} MB of files`;
}

const site = await new Site().start();
const cleanups = [];
const page = await site.open({ after: (f) => cleanups.push(f) }, `?chapter=${CHAPTERS[0]}`);
console.log(`${CHAPTERS[0]}: ${page.workers().length} workers, ${await measured(site.browser)}`);
for (const chapter of CHAPTERS.slice(1)) {
  await byId(page, "chapter-next").first().click();
  await page.locator(`[data-testid="chapter-${chapter}"]`).first().waitFor();
  await byId(page, "train-step").waitFor();
  await paused(page);
  console.log(`${chapter}: ${page.workers().length} workers, ${await measured(site.browser)}`);
}
await pause(REST);
console.log(`at rest: ${page.workers().length} workers, ${await measured(site.browser)}`);
for (const cleanup of cleanups) await cleanup();
await site.stop();
