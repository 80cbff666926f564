// The course around the chapters: the way through it, back, and one idea at a time.
import assert from "node:assert/strict";
import { test } from "node:test";

import {
  byId,
  eventually,
  fitsEverywhere,
  number,
  numberUntil,
  parameter,
  paused,
  staysFree,
  train,
  useSite,
} from "./harness.mjs";

const site = useSite();
const CHAPTERS = ["tokens", "bigram", "rnn", "bptt", "gates", "birnn", "norm", "seq2seq", "alignment", "qkv", "mask", "heads", "position", "block", "gpt"];

const opened = async (page, chapter) => byId(page, `chapter-${chapter}`).waitFor();

test("from the first screen through every chapter, and back with the browser's buttons", async (t) => {
  const page = await site.open(t);
  await opened(page, "gpt");
  await byId(page, "way-in").click();
  await opened(page, "tokens");
  for (const chapter of CHAPTERS.slice(1)) {
    await byId(page, "chapter-next").click();
    await opened(page, chapter);
    assert.equal(parameter(page, "chapter"), chapter);
    assert.match(await page.title(), / – Unroll$/);
    // Readers by ear begin at the new chapter's title.
    await eventually(() => page.evaluate(() => document.activeElement?.id === "chapter-title"));
  }
  assert.equal(await byId(page, "chapter-next").count(), 0);
  await page.goBack();
  await opened(page, CHAPTERS.at(-2));
  await page.goBack();
  await opened(page, CHAPTERS.at(-3));
  await page.goForward();
  await opened(page, CHAPTERS.at(-2));
});

test("a link opens its chapter, with something true on it within a second or so", async (t) => {
  for (const chapter of CHAPTERS.slice(0, -1)) {
    const page = await site.open(t, `?chapter=${chapter}`);
    await opened(page, chapter);
    await numberUntil(page, "loss-step", (step) => step > 0, "above 0");
    assert.deepEqual((await byId(page, "probe-problem").allTextContents()).join(""), "");
    assert.equal(await byId(page, "lab-problem").textContent(), "");
    await page.close();
  }
});

test("the list shows what was seen, remembers it, and forgets it when told to", async (t) => {
  const page = await site.open(t, "?chapter=rnn");
  await opened(page, "rnn");
  await byId(page, "chapter-list").focus();
  await page.keyboard.press("Enter");
  const seen = page.locator(".course-panel li", { hasText: "(seen)" });
  assert.equal(await seen.count(), 1);
  await page.locator(".course-panel li a").first().focus();
  await page.keyboard.press("Enter");
  await opened(page, "tokens");
  await page.reload();
  await opened(page, "tokens");
  await byId(page, "chapter-list").click();
  assert.equal(await seen.count(), 2);
  await byId(page, "forget-progress").click();
  assert.equal(await seen.count(), 0);
  await page.keyboard.press("Escape");
  assert.equal(await byId(page, "forget-progress").isVisible(), false);
});

test("the teacher's step goes through every chapter's ideas, both ways, with a presenter's keys", async (t) => {
  for (const chapter of CHAPTERS.slice(0, -1)) {
    const page = await site.open(t, `?chapter=${chapter}`);
    await opened(page, chapter);
    const text = byId(page, "idea-text");
    const count = Number((await text.textContent()).match(/^(\d+) ideas/)[1]);
    assert(count >= 3, `${chapter} has ${count} ideas`);
    const shown = [];
    for (let idea = 1; idea <= count; idea++) {
      await page.keyboard.press("PageDown");
      await eventually(async () => (await text.textContent()).startsWith(`${idea} of ${count}`));
      shown.push(await text.textContent());
      assert.equal(await byId(page, "lab-problem").textContent(), "", `${chapter}, idea ${idea}`);
    }
    assert.equal(new Set(shown).size, count);
    // Going back shows the same again.
    await page.keyboard.press("PageUp");
    await eventually(async () => (await text.textContent()) === shown[count - 2]);
    // And a link to it opens there.
    await eventually(() => parameter(page, "idea") === String(count - 1));
    await page.reload();
    await eventually(async () => (await text.textContent()) === shown[count - 2]);
    await page.close();
  }
});

test("undo takes an idea back, and back to the start takes everything back", async (t) => {
  const page = await site.open(t, "?chapter=rnn&seed=4");
  await opened(page, "rnn");
  await numberUntil(page, "loss-step", (step) => step > 0);
  const start = await byId(page, "probe-input").inputValue();
  await byId(page, "probe-input").fill("another sentence");
  await eventually(async () => (await byId(page, "undo").getAttribute("aria-disabled")) === null);
  await byId(page, "undo").click();
  await eventually(async () => (await byId(page, "probe-input").inputValue()) === start);
  await byId(page, "probe-input").fill("a third one");
  await page.locator("h1").click();
  await eventually(async () => (await byId(page, "undo").getAttribute("aria-disabled")) === null);
  await page.keyboard.press("Control+z");
  await eventually(async () => (await byId(page, "probe-input").inputValue()) === start);

  await byId(page, "idea-next").click();
  await byId(page, "idea-next").click();
  await byId(page, "back-to-start").click();
  await eventually(() => parameter(page, "idea") === null && parameter(page, "seed") === null);
  await paused(page);
});

test("a chapter gone back to is as it was left, and nothing trains unseen", async (t) => {
  const page = await site.open(t, "?chapter=rnn");
  await opened(page, "rnn");
  await paused(page);
  const warm = await number(page, "loss-step");
  await byId(page, "train-toggle").click();
  await numberUntil(page, "loss-step", (step) => step > warm + 5);
  await byId(page, "chapter-next").click();
  await opened(page, "bptt");
  await byId(page, "chapter-previous").click();
  await opened(page, "rnn");
  await paused(page);
  const left = await number(page, "loss-step");
  assert(left > warm + 5, `${left}`);
  await byId(page, "train-step").click();
  await numberUntil(page, "loss-step", (step) => step === left + 1);
});

test("the learner's sentence and text go along", async (t) => {
  const page = await site.open(t, "?chapter=rnn");
  await opened(page, "rnn");
  await byId(page, "probe-input").fill("a sentence of mine");
  await byId(page, "corpus-names").click();
  await page.locator('[data-testid="text-present"]', { hasText: "Names" }).waitFor();
  await byId(page, "chapter-list").click();
  await page.locator(".course-panel li a").last().click();
  await opened(page, "gpt");
  await page.locator('[data-testid="text-present"]', { hasText: "Names" }).waitFor();
  assert.equal(await byId(page, "probe-input").inputValue(), "a sentence of mine");
});

test("a chapter's figure embeds: run, pause, set, and no shell", async (t) => {
  const address = site.host(`<iframe src="${site.url}?chapter=rnn&embed=1" width="900" height="700"></iframe>
    <script>
      window.said = [];
      addEventListener("message", ({ data }) => window.said.push(data));
      window.ask = (message) => frames[0].postMessage({ unroll: 1, ...message }, "*");
    </script>`);
  const page = await site.open(t, address);
  const said = (type) => page.evaluate((type) => window.said.filter((m) => m.type === type), type);
  await eventually(async () => (await said("ready")).length === 1);
  const frame = page.frames()[1];
  assert.equal(await frame.locator(".page-header, .course-bar").count(), 0);
  await page.evaluate(() => window.ask({ type: "run" }));
  await eventually(async () => (await said("progress")).some((m) => m.running && m.step > 0));
  await page.evaluate(() => window.ask({ type: "pause" }));
  await eventually(async () => (await said("progress")).at(-1)?.running === false);
  await page.evaluate(() => window.ask({ type: "set", settings: { seed: 77 } }));
  await page.evaluate(() => window.ask({ type: "nonsense" }));
  await eventually(async () => (await said("error")).some((m) => m.message.includes("nonsense")));
});

for (const chapter of CHAPTERS.slice(0, -1)) {
  test(`${chapter}: nothing is cut off and nothing hard to read as it opens`, async (t) => {
    const page = await site.open(t, `?chapter=${chapter}`);
    await opened(page, chapter);
    await fitsEverywhere(page, paused);
  });
}

test("no chapter blocks the page for long while it trains", async (t) => {
  for (const chapter of CHAPTERS.slice(0, -1)) {
    const page = await site.open(t, `?chapter=${chapter}`);
    await opened(page, chapter);
    // The steps it takes by itself have begun, then ended.
    await numberUntil(page, "loss-step", (step) => step > 0);
    await paused(page);
    const from = await number(page, "loss-step");
    t.diagnostic(chapter);
    await staysFree(t, site, page, () => train(page, from + 40));
    await page.close();
  }
});
