// Pictures for people to look at: the page after training, in the widths and colors it is made
// for. `node tests/screenshots.mjs <folder> [steps] [query]`, after `cargo xtask test` or with
// UNROLL_SITE naming a built site.
import { mkdir } from "node:fs/promises";
import { join } from "node:path";

import { drawn, live, Site, train, VIEWPORTS, watch } from "./harness.mjs";

const [folder, steps = "200", query = ""] = process.argv.slice(2);
if (!folder) {
  console.error("Which folder are the pictures for? node tests/screenshots.mjs <folder> [steps] [query]");
  process.exit(2);
}
await mkdir(folder, { recursive: true });

const site = await new Site().start();
try {
  const page = await site.browser.newPage({ viewport: VIEWPORTS.laptop });
  const problems = watch(page);
  await page.goto(new URL(query, site.url).href);
  await live(page, "attention");
  // Before training, too: that is what a visitor sees first.
  await picture(page, "start");
  const start = performance.now();
  const reached = await train(page, Number(steps));
  console.log(`step ${reached} after ${((performance.now() - start) / 1000).toFixed(1)} s`);
  // One training for all: the page redraws itself for each size and color scheme.
  for (const [name, viewport] of Object.entries(VIEWPORTS)) {
    for (const colorScheme of ["light", "dark"]) {
      await page.setViewportSize(viewport);
      await page.emulateMedia({ colorScheme });
      await picture(page, `${viewport.width}-${name}-${colorScheme}`);
    }
  }
  for (const problem of problems) console.error(problem);
  process.exitCode = problems.length ? 1 : 0;
} finally {
  await site.stop();
}

/** The whole page, and what of it the screen holds. */
async function picture(page, name) {
  await page.evaluate(() => scrollTo(0, 0));
  await live(page, "attention");
  await drawn(page);
  await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true });
  await page.screenshot({ path: join(folder, `${name}-screen.png`) });
  console.log(join(folder, `${name}.png`));
}
