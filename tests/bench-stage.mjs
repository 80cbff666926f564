// How soon the stage follows, one JSON object a line: `node tests/bench-stage.mjs [chapter ...]`, with
// UNROLL_SITE naming a built site.
//
// From a press on a chapter in the rail until its first figure is drawn from the live model, on the first
// visit (its wasm is fetched, its worker starts) and on a later one; and from a press on a tab until
// its view is there and, if it has figures, they are drawn from the live model. Everything is on
// localhost; times are until the second frame after.
import { STUDIES, paused, Site, tabs } from "./harness.mjs";

const wanted = process.argv.slice(2);
const site = await new Site().start({ path: "/" });

/** Presses what `selector` finds; milliseconds until `there`, a function's source, holds. */
const press = (page, selector, there) =>
  page.evaluate(
    ([selector, there]) =>
      new Promise((resolve) => {
        const holds = new Function(`return (${there})`)();
        const start = performance.now();
        document.querySelector(selector).click();
        const look = () => {
          if (!holds()) return requestAnimationFrame(look);
          requestAnimationFrame(() => resolve(performance.now() - start));
        };
        requestAnimationFrame(look);
      }),
    [selector, String(there)],
  );

const shown = (chapter) =>
  `() => document.querySelector('[data-testid="chapter-${chapter}"] .view [data-state="live"]')`;
const inView = (view) => `() => {
  const view = document.querySelector('.view[data-view="${view}"]');
  const notes = [...(view?.querySelectorAll('[role="status"].hint') ?? [])];
  if (!view || notes.some((note) => note.textContent.startsWith("Loading "))) return false;
  const figures = [...view.querySelectorAll("[data-state]")].filter((figure) => figure.dataset.state !== "paused");
  return figures.length === 0 || figures.some((figure) => figure.dataset.state === "live");
}`;

const rounded = (milliseconds) => Number(milliseconds.toFixed(1));
const spread = (all) => {
  const sorted = [...all].sort((a, b) => a - b);
  return [sorted[sorted.length >> 1], sorted[0], sorted.at(-1)].map(rounded);
};

try {
  const [first, later, changes] = [[], [], []];
  for (const chapter of STUDIES.filter((name) => !wanted.length || wanted.includes(name))) {
    const context = await site.browser.newContext({ viewport: { width: 1440, height: 900 } });
    const page = await context.newPage();
    await page.goto(`${site.url}?device=cpu`);
    await page.locator('main [data-state="live"]').first().waitFor();
    // What is fetched ahead is there.
    await page.waitForLoadState("networkidle");
    const go = (to) => press(page, `.rail a[href*="chapter=${to}"]`, shown(to));
    const times = { name: `stage/${chapter}`, first_ms: rounded(await go(chapter)) };
    await paused(page);
    await go("gpt");
    times.later_ms = rounded(await go(chapter));
    await paused(page);
    times.views_ms = {};
    const all = await tabs(page);
    // Each view for a second time too: the first may fetch or measure something.
    for (const view of [...all.slice(1), all[0], ...all.slice(1)]) {
      times.views_ms[view] = rounded(await press(page, `#view-${view}`, inView(view)));
    }
    console.log(JSON.stringify(times));
    first.push(times.first_ms);
    later.push(times.later_ms);
    changes.push(...Object.values(times.views_ms));
    await context.close();
  }
  const names = ["median", "smallest", "largest"];
  const told = (all) => Object.fromEntries(spread(all).map((value, i) => [names[i], value]));
  console.log(JSON.stringify({ name: "stage", first_ms: told(first), later_ms: told(later), view_ms: told(changes) }));
} finally {
  await site.stop();
}
