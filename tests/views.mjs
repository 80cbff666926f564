// A picture of every view of every chapter, on a laptop and on a phone, light and dark.
// `node tests/views.mjs <folder> [chapter ...]`: `cargo xtask screenshots` calls it, or UNROLL_SITE
// names a built site.
import { mkdir } from "node:fs/promises";
import { join } from "node:path";

import { byId, CHAPTERS, drawn, numberUntil, openView, paused, settled, Site, views, watch } from "./harness.mjs";

const [folder, ...wanted] = process.argv.slice(2);
const unknown = wanted.filter((chapter) => !CHAPTERS.includes(chapter));
if (!folder || unknown.length) {
  console.error(
    folder
      ? `There is no chapter ${unknown.join(", ")}. There are ${CHAPTERS.join(", ")}.`
      : "Which folder are the pictures for? node tests/views.mjs <folder> [chapter ...]",
  );
  process.exit(2);
}
await mkdir(folder, { recursive: true });

const SIZES = [
  { width: 1440, height: 900 },
  { width: 390, height: 844 },
];
/** How far the lab is trained, which waits for the learner: enough to see that it learns. */
const LAB_STEPS = 50;

const site = await new Site().start();
try {
  for (const chapter of wanted.length ? wanted : CHAPTERS) {
    const context = await site.browser.newContext({ viewport: SIZES[0], reducedMotion: "reduce" });
    const page = await context.newPage();
    const problems = watch(page);
    await page.goto(new URL(`?chapter=${chapter}`, site.url).href);
    await byId(page, `chapter-${chapter}`).waitFor();
    const isLab = chapter === "gpt";
    if (isLab) await byId(page, "train-toggle").click();
    if (chapter !== "start") await numberUntil(page, "loss-step", (step) => step >= (isLab ? LAB_STEPS : 1), "far enough");
    if (isLab) await byId(page, "train-toggle").click();
    // One training for all: the page redraws itself for each size and theme.
    await paused(page);
    for (const size of SIZES) {
      await page.setViewportSize(size);
      for (const view of await views(page)) {
        await openView(page, view);
        for (const colorScheme of ["light", "dark"]) {
          await page.emulateMedia({ colorScheme });
          await settled(page);
          await drawn(page);
          const path = join(folder, `${chapter}-${view}-${size.width}-${colorScheme}.png`);
          await page.screenshot({ path });
          console.log(path);
        }
      }
    }
    for (const problem of problems) console.error(`${chapter}: ${problem}`);
    if (problems.length) process.exitCode = 1;
    await context.close();
  }
} finally {
  await site.stop();
}
