// What chapters teach with: the glossary with its live figures, and the code beside formulas.
import assert from "node:assert/strict";

import { accessibilityProblems, byId, eventually, test, useSite, VIEWPORTS } from "./harness.mjs";

const site = useSite();

/** Opens the glossary from the keyboard. */
async function openGlossary(page) {
  await byId(page, "glossary-open").focus();
  await page.keyboard.press("Enter");
  const dialog = byId(page, "glossary");
  await dialog.waitFor();
  // It is fetched when it is first opened.
  await byId(page, "glossary-filter").waitFor();
  return dialog;
}

/** The words shown, by id. */
function wordsShown(dialog) {
  return dialog.locator("article:visible").evaluateAll((all) => all.map((a) => a.dataset.testid));
}

test("the glossary opens, filters and closes by keyboard alone", async (t) => {
  const page = await site.open(t);
  const dialog = await openGlossary(page);
  const all = await wordsShown(dialog);
  assert(all.length >= 30, `${all.length} words`);
  const names = await dialog.locator("h3").allTextContents();
  const sorted = names.toSorted((a, b) => a.localeCompare(b, "en"));
  assert.deepEqual(names, sorted, "by alphabet");

  await page.keyboard.type("perplex");
  assert.deepEqual(await wordsShown(dialog), ["word-perplexity"]);
  // What is looked up by its name shows its figure.
  await byId(page, "word-perplexity").locator(".toy").waitFor();
  assert.match(await dialog.locator("[role=status]").first().textContent(), /^1 of|^1 word/);
  await byId(page, "glossary-filter").fill("qqq");
  assert.deepEqual(await wordsShown(dialog), []);
  await byId(page, "glossary-filter").fill("");
  assert.equal((await wordsShown(dialog)).length, all.length);
  await eventually(async () => (await dialog.locator("details[open]").count()) === 0, "in the whole list they are folded");

  // In a filled field of type search, Escape may empty it first; here it is empty.
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "hidden" });
  assert(await byId(page, "glossary-open").evaluate((e) => e === document.activeElement));
});

test("every figure of the glossary answers to its sliders, and none says NaN", async (t) => {
  const page = await site.open(t, "", { viewport: VIEWPORTS.phone });
  const dialog = await openGlossary(page);
  await dialog.locator("details").evaluateAll((all) => all.forEach((d) => (d.open = true)));
  await dialog.locator(".toy").last().waitFor();
  for (const toy of await dialog.locator(".toy").all()) {
    const name = await toy.getAttribute("data-toy");
    for (const input of await toy.locator("input").all()) {
      const pictures = [];
      for (const key of ["Home", "End"]) {
        await input.press(key);
        pictures.push((await toy.locator("svg").innerHTML()) + (await toy.locator(".toy-words").textContent()));
      }
      assert.notEqual(pictures[0], pictures[1], `${name}: the slider does nothing`);
      for (const picture of pictures) assert.doesNotMatch(picture, /NaN|Infinity|inf/, name);
    }
  }
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 360);
});

test("softmax is exact and its numbers add up", async (t) => {
  const page = await site.open(t);
  await openGlossary(page);
  const word = byId(page, "word-softmax");
  await word.locator("summary").press("Enter");
  const sliders = word.locator("input");
  await sliders.nth(0).press("End");
  await sliders.nth(2).press("ArrowRight");
  const scores = await sliders.evaluateAll((all) => all.map((s) => Number(s.value)));
  const exact = scores.map(Math.exp);
  const sum = exact.reduce((a, b) => a + b);
  const shown = (await word.locator("svg text").allTextContents()).map(Number).filter((x) => !Number.isNaN(x));
  assert.equal(shown.length, 3);
  shown.forEach((p, i) => assert.equal(p, Number((exact[i] / sum).toPrecision(4))));
});

for (const colorScheme of ["light", "dark"]) {
  test(`the glossary is accessible, ${colorScheme}`, async (t) => {
    const page = await site.open(t, "", { viewport: VIEWPORTS.phone, colorScheme });
    const dialog = await openGlossary(page);
    await dialog.locator("details").evaluateAll((all) => all.forEach((d) => (d.open = true)));
    await dialog.locator(".toy").last().waitFor();
    assert.deepEqual(await accessibilityProblems(page), []);
  });
}

test("a formula's code has the formula's colors and is copied whole", async (t) => {
  // The clipboard of a test machine may be shared or shut.
  const copyable = () => {
    Object.defineProperty(navigator.clipboard, "writeText", {
      value: async (text) => {
        window.copied = text;
      },
    });
  };
  const page = await site.open(t, "?chapter=qkv", { init: [copyable] });
  const more = byId(page, "more");
  await more.locator("> summary").click();
  const snippet = byId(more, "snippet").first();
  await snippet.locator("summary").click();
  const shown = await snippet.locator("pre").textContent();
  assert.match(shown, /^W_Q = .*\n(.*\n)*V = Y @ W_V  # \[T, d_k\]$/);

  const name = snippet.locator('pre [data-part="q"]');
  assert.equal(await name.textContent(), "Q");
  const color = (element) => getComputedStyle(element).color;
  const symbol = more.locator('mi[data-part="q"]').first();
  assert.equal(await name.evaluate(color), await symbol.evaluate(color), "one color");
  assert.notEqual(await name.evaluate(color), await snippet.locator("pre").evaluate(color));
  await name.hover();
  await eventually(async () => /is-lit/.test(await symbol.getAttribute("class")), "the symbol lights up too");

  await byId(snippet, "snippet-copy").click();
  await snippet.locator("[role=status]", { hasText: "Copied" }).waitFor();
  const copied = await page.evaluate(() => window.copied);
  assert.match(copied, /^import torch\n/);
  assert(copied.includes(shown) && /\nassert|assert_close/.test(copied), "all that it takes to run, and the check");
  assert.deepEqual(await accessibilityProblems(page, { within: '[data-testid="more"]' }), []);
});

test("a question is answered by keyboard alone, and its verdict takes the focus over", async (t) => {
  const page = await site.open(t, "?chapter=bptt&idea=5");
  const option = byId(page, "check-bptt-clip-option-0");
  await option.focus();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Tab");
  const submit = byId(page, "check-bptt-clip-submit");
  assert(await submit.evaluate((e) => e === document.activeElement));
  await page.keyboard.press("Enter");
  const verdict = byId(page, "check-bptt-clip-verdict").and(page.locator('[data-right="false"]'));
  await verdict.waitFor();
  assert(await verdict.evaluate((e) => e === document.activeElement), "who listens hears what was wrong");
  assert(await submit.isHidden(), "no button that does nothing");
});
