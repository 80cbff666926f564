// Memory of a tour of the whole course: every chapter is opened in one page and trains its first steps.
//
//     node tests/bench-tour.mjs
//
// Prints the workers that are alive, and the memory of the page's process (its proportional set size, as
// Linux counts it) before, after and once the first chapter is shown again. UNROLL_SITE names the site.
import { readdirSync, readFileSync } from "node:fs";

import { byId, CHAPTERS, paused, Site } from "./harness.mjs";

/** Megabytes of all renderers of this browser. */
function renderers() {
  const sizes = readdirSync("/proc").filter((pid) => /^\d+$/.test(pid)).map((pid) => {
    try {
      if (!readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("--type=renderer")) return 0;
      const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, "utf8");
      return Number(rollup.match(/^Pss: +(\d+)/m)?.[1] ?? 0) / 1024;
    } catch {
      return 0; // It has ended meanwhile.
    }
  });
  return Math.round(sizes.reduce((sum, size) => sum + size, 0));
}

const site = await new Site().start();
const cleanups = [];
const page = await site.open({ after: (f) => cleanups.push(f) }, `?chapter=${CHAPTERS[0]}`);
console.log(`${CHAPTERS[0]}: ${page.workers().length} workers, ${renderers()} MB`);
for (const chapter of CHAPTERS.slice(1)) {
  await byId(page, "chapter-next").first().click();
  await page.locator(`[data-testid="chapter-${chapter}"]`).first().waitFor();
  await byId(page, "train-step").waitFor();
  await paused(page);
  console.log(`${chapter}: ${page.workers().length} workers, ${renderers()} MB`);
}
for (const cleanup of cleanups) await cleanup();
await site.stop();
