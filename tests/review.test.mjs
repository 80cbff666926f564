// The mixed review where a part of the course ends.
import assert from "node:assert/strict";

import { accessibilityProblems, byId, eventually, test, useSite } from "./harness.mjs";

const site = useSite();

/** Before the first load only: what the page keeps itself outlives a reload. */
const seen = [
  (chapters) => {
    if (!localStorage.getItem("unroll-progress")) localStorage.setItem("unroll-progress", chapters);
  },
  "tokens bigram rnn bptt gates birnn norm",
];

/** Answers a round by keyboard, always with the first option; returns the questions and how many were right. */
async function round(page) {
  const asked = [];
  let right = 0;
  for (let place = 1; place <= 5; place++) {
    await byId(page, "review-place").filter({ hasText: `Question ${place} of 5` }).waitFor();
    // Readers by ear and keyboard go on at the question.
    await eventually(() => page.evaluate(() => document.activeElement?.dataset.testid === "review"));
    const question = byId(page, "check-review");
    const chapter = await byId(page, "review-place").locator("a").getAttribute("href");
    asked.push({ chapter, text: await question.locator("legend").textContent() });
    await byId(page, "check-review-option-0").focus();
    await page.keyboard.press("Space");
    await byId(page, "check-review-submit").focus();
    await page.keyboard.press("Enter");
    const verdict = byId(page, "check-review-verdict");
    await byId(page, "review-next").waitFor();
    // Every option has its reason.
    assert.match(await verdict.textContent(), /^(Right|Not this time)\. .{10}/);
    if ((await verdict.getAttribute("data-right")) === "true") right += 1;
    if (place === 1) assert.deepEqual(await accessibilityProblems(page, { within: '[data-testid="review"]' }), []);
    await byId(page, "review-next").focus();
    await page.keyboard.press("Enter");
  }
  for (let i = 1; i < asked.length; i++) assert.notEqual(asked[i].chapter, asked[i - 1].chapter);
  return { asked: asked.map((question) => question.text), right };
}

test("a review asks five mixed questions by keyboard, counts them, and asks five others after a reload", async (t) => {
  const page = await site.open(t, "?chapter=norm", { init: seen });
  const begin = async () => {
    await byId(page, "review-begin").focus();
    await page.keyboard.press("Enter");
  };
  await byId(page, "review-begin").waitFor();
  await begin();
  const first = await round(page);
  await byId(page, "review-result").waitFor();
  assert.match(await byId(page, "review-result").textContent(), new RegExp(`^${first.right} of 5 correct`));
  // What was asked marks no chapter as done, and starts no other chapter's model.
  assert.doesNotMatch(await page.evaluate(() => localStorage.getItem("unroll-progress")), /\*/);
  await page.reload();
  await byId(page, "review-begin").waitFor();
  await begin();
  const second = await round(page);
  assert.equal(new Set([...first.asked, ...second.asked]).size, 10, "five others");
});

test("with too little read, the review says when there will be one", async (t) => {
  const page = await site.open(t, "?chapter=norm");
  await byId(page, "review-later").waitFor();
  assert.equal(await byId(page, "review-begin").count(), 0, "nothing to begin");
  // It names what to read.
  const named = await byId(page, "review").locator("a").evaluateAll((links) => links.map((link) => link.getAttribute("href")));
  assert(named.includes("?chapter=rnn") && !named.includes("?chapter=norm"), named.join());
  await page.goto(new URL("?chapter=rnn", site.url).href);
  await byId(page, "chapter-rnn").waitFor();
  await page.goto(new URL("?chapter=norm", site.url).href);
  await byId(page, "review-begin").waitFor();
});
