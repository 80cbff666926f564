// The page translated by a browser: sentences that are half as long again, in elements of the
// browser's own. What may not be translated is marked so, numbers go on following the model, and
// nothing is cut.
import assert from "node:assert/strict";
import { test } from "./harness.mjs";

import { byId, CHAPTERS, STUDIES, drawn, eventually, live, number, numberUntil, openSettings, openView, paused, settled, useSite, views } from "./harness.mjs";

const site = useSite();

/** Does to the page what a translation does in Chrome: each text becomes another in `<font>` elements. */
function translate() {
  const skipped = "font, [translate=no], script, style, svg, math, code, textarea, select, option, .visually-hidden";
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const found = [];
  while (texts.nextNode()) found.push(texts.currentNode);
  for (const node of found) {
    if (!/\p{L}{2}/u.test(node.data) || node.parentElement.closest(skipped)) continue;
    const [outer, inner] = [document.createElement("font"), document.createElement("font")];
    inner.textContent = node.data.replace(/\p{L}{2,}/gu, (word) => word + "ä".repeat(Math.ceil(0.4 * word.length)));
    outer.append(inner);
    node.replaceWith(outer);
  }
}

/** Places where a word is cut, or the page is wider than its window. */
function cut() {
  const problems = [];
  const wide = document.documentElement.scrollWidth - innerWidth;
  if (wide > 0) problems.push(`the page is ${wide} px wider than the window`);
  const view = document.querySelector(".view").getBoundingClientRect();
  for (const element of document.querySelectorAll(".view .figure, .view-bar > *, .view-note")) {
    const box = element.getBoundingClientRect();
    if (!box.width || element.closest(".visually-hidden, [hidden]")) continue;
    const scrolls = (around) => around && around !== document.body && (around.scrollWidth > around.clientWidth + 1 || scrolls(around.parentElement));
    if (box.right > view.right + 1 && !scrolls(element.parentElement)) {
      problems.push(`${element.className} stands out on the right by ${Math.round(box.right - view.right)} px`);
    }
  }
  for (const picture of document.querySelectorAll(".view :is(.figure-box, .matrix-scroller, .lines-box, .histogram-box, .heatmap-box)")) {
    const box = picture.getBoundingClientRect();
    // A list keeps a line.
    if (box.width > 1 && box.height < 24 && !picture.closest("[hidden]")) {
      problems.push(`${picture.className} has ${Math.round(box.height)} px of height left`);
    }
  }
  return problems;
}

for (const chapter of CHAPTERS) {
  test(`${chapter}: holds words that are 40% longer`, async (t) => {
    const page = await site.open(t, `?chapter=${chapter}`, { viewport: { width: 1280, height: 720 }, reducedMotion: "reduce" });
    await byId(page, `chapter-${chapter}`).waitFor();
    if (STUDIES.includes(chapter)) await numberUntil(page, "loss-step", (step) => step > 0, "above 0");
    else await page.locator('.view .figure[data-state="live"]').first().waitFor();
    await paused(page);
    const problems = [];
    for (const view of await views(page)) {
      await openView(page, view);
      await settled(page);
      await page.evaluate(translate);
      for (const width of [1280, 390]) {
        await page.setViewportSize({ width, height: width > 400 ? 720 : 844 });
        await settled(page);
        await drawn(page);
        for (const problem of await page.evaluate(cut)) problems.push(`${view}, ${width} px: ${problem}`);
      }
      await page.setViewportSize({ width: 1280, height: 720 });
    }
    assert.deepEqual(problems, [], problems.join("\n"));
  });
}

test("a translated page trains, answers and changes its views", async (t) => {
  const page = await site.open(t, "?device=cpu&seed=3");
  await live(page, "attention");
  await page.evaluate(translate);
  const [row] = await page.locator(".token-row").allInnerTexts();
  assert(!row.includes("ä"), "tokens stay as they are");
  await byId(page, "train-toggle").click();
  const from = await number(page, "loss-step");
  await numberUntil(page, "loss-step", (step) => step > from + 3, "some steps");
  await byId(page, "train-toggle").click();
  await paused(page);
  await page.locator(".token-row .token").nth(4).hover();
  await eventually(async () => /query/.test(await byId(page, "attention-cell-readout").innerText()));
  for (const view of await views(page)) {
    await openView(page, view);
    await settled(page);
    await page.evaluate(translate);
  }
  for (let i = 0; i < 4; i++) await byId(page, "idea-next").click();
  await settled(page);
  await openSettings(page, "source");
});

test("a chapter's live text follows the model in a translated page", async (t) => {
  const page = await site.open(t, "?chapter=bptt");
  await live(page, "bptt-norms");
  await paused(page);
  await page.evaluate(translate);
  const told = page.locator('[data-testid="beat-3"] .live').first();
  const before = await told.innerText();
  await byId(page, "train-toggle").click();
  await eventually(async () => (await told.innerText()) !== before);
  await byId(page, "train-toggle").click();
  await paused(page);
});
