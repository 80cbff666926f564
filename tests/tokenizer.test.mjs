// The lab's tokens: bytes and byte pairs, to which no text is unknown.
import assert from "node:assert/strict";

import {
  byId,
  closeSettings,
  eventually,
  exported,
  live,
  number,
  numberUntil,
  openSettings,
  openView,
  parameter,
  paused,
  settled,
  test,
  train,
  useSite,
} from "./harness.mjs";

const site = useSite();
const SMALL = "layers=1&heads=2&width=32&context=24&batch=4&workers=1&device=cpu&seed=5";
/** Characters of one byte, of three and of four. */
const TEXT = "猫坐在垫子上🙂。狗坐在木头上，猫看着狗🐶！the cat sat on the mat. ".repeat(40);

const encoder = new TextEncoder();

/** The bytes of a text in which bytes that are no characters have their signs. */
function bytes(text) {
  return text.split(/((?:⟨[89A-F][0-9A-F]⟩)+)/).flatMap((part, i) =>
    i % 2 ? part.match(/[0-9A-F]{2}/g).map((digits) => Number.parseInt(digits, 16)) : [...encoder.encode(part)]);
}

/** Opens the lab on the text above. */
async function opened(t, query) {
  const page = await site.open(t, `?${query}&${SMALL}`);
  await live(page, "attention");
  await openSettings(page, "source");
  await byId(page, "text-open").setInputFiles({ name: "cats.txt", mimeType: "text/plain", buffer: Buffer.from(TEXT) });
  await page.waitForFunction(() => location.search.includes("corpus=own"));
  await byId(page, "source-close").click();
  await settled(page);
  return page;
}

/** The tokens of the sentence as they stand in its row, once they are all of it. */
async function tokensOf(page, text) {
  const wanted = bytes(text).join();
  let labels;
  await eventually(async () => {
    const marks = await page.locator(".token-row .token > span").allTextContents();
    labels = marks.map((mark) => mark.replaceAll("␣", " ").replaceAll("⏎", "\n"));
    return labels.flatMap(bytes).join() === wanted;
  }, `the tokens of ${text}`);
  return labels;
}

test("a text of Chinese and emoji trains with byte pairs, and what is written is text", async (t) => {
  const page = await opened(t, "tokens=pairs&merges=64");
  assert.equal(await page.locator('[data-testid="notice"]', { hasText: /unknown/ }).count(), 0);
  const input = byId(page, "probe-input");
  // Pieces that it met are tokens; of one that it did not, the bytes are.
  await input.fill("猫坐在垫子上狼🙂");
  const labels = await tokensOf(page, "猫坐在垫子上狼🙂");
  assert(labels.length < 12, `${labels}`);
  assert(labels.some((label) => label.includes("⟨")) && labels.some((label) => label.startsWith("猫")), `${labels}`);
  await input.fill("the cat 龘");
  await tokensOf(page, "the cat 龘");
  assert.equal(await byId(page, "probe-note").textContent(), "", "nothing is unknown");
  const before = await train(page, 1);
  const first = await number(page, "loss-value");
  await train(page, before + 150);
  await paused(page);
  assert((await number(page, "loss-value")) < 0.7 * first);
  await openView(page, "writing");
  await page.locator('[data-testid="sample-text"] .caret:not(.caret-on)').waitFor({ state: "attached" });
  const written = await byId(page, "sample-text").textContent();
  assert(written.isWellFormed() && [...written].filter((c) => TEXT.includes(c)).length > 20, written);
  // By the character it can be compared with runs in other tokens.
  await openView(page, "loss");
  await page.locator('[data-testid="loss-per-character"]', { hasText: /each character.* train \d\.\d+.* nats/ }).waitFor();
  // The script for PyTorch reads them, too.
  await openSettings(page);
  assert.equal(await byId(page, "run-take").getAttribute("aria-disabled"), null);
});

test("the sentence is written in tokens of several characters", async (t) => {
  const page = await opened(t, "tokens=pairs&merges=64");
  const input = byId(page, "probe-input");
  await input.fill("the cat sat");
  const labels = await tokensOf(page, "the cat sat");
  const at = labels.findIndex((label) => label.length > 2);
  const end = labels.slice(0, at + 1).join("").length;
  // A click on a token puts the caret after all of it.
  await byId(page, `token-${at}`).click();
  const caret = () => input.evaluate((field) => field === document.activeElement && field.selectionStart);
  assert.equal(await caret(), end);
  const gap = () => page.evaluate((at) => {
    const [caret, token] = [document.querySelector(".token-caret"), document.querySelector(`[data-testid="token-${at}"]`)];
    return caret ? Math.abs(caret.getBoundingClientRect().left - token.getBoundingClientRect().right) : Infinity;
  }, at);
  await eventually(async () => (await gap()) < 4, "the caret after the token");
  await page.keyboard.type("狗");
  const longer = `${"the cat sat".slice(0, end)}狗${"the cat sat".slice(end)}`;
  assert.equal(await input.inputValue(), longer);
  await tokensOf(page, longer);
  assert.equal(await caret(), end + 1);
  await page.keyboard.press("Backspace");
  await tokensOf(page, "the cat sat");
  // Within a token.
  await page.keyboard.press("ArrowLeft");
  await byId(page, `token-${at}`).and(page.locator('[aria-selected="true"]')).waitFor();
  await page.keyboard.press("Delete");
  await tokensOf(page, "the cat sat".slice(0, end - 1) + "the cat sat".slice(end));
  await page.keyboard.press("Control+a");
  await page.locator(".token-range").waitFor();
  await page.keyboard.insertText("🙂坐\n上");
  await tokensOf(page, "🙂坐\n上");
  assert.equal(await input.inputValue(), "🙂坐⏎上");
});

test("after a reload a run with byte pairs goes on where it was, and a twin reads bytes", async (t) => {
  const page = await opened(t, "tokens=pairs&merges=64");
  const step = await train(page, 12);
  await paused(page);
  const loss = await byId(page, "loss-value").textContent();
  const labels = (await exported(page, "attention")).axes[0].labels;
  await openSettings(page);
  await page.locator('[data-testid="kept-run"]', { hasText: `step ${step},` }).first().waitFor();
  await page.reload();
  await live(page, "attention");
  await byId(page, "kept-continue").click();
  await numberUntil(page, "loss-step", (now) => now === step, `${step}`);
  await settled(page);
  assert.equal(await byId(page, "loss-value").textContent(), loss);
  assert.equal(parameter(page, "tokens"), "pairs");
  assert.deepEqual((await exported(page, "attention")).axes[0].labels, labels);

  await byId(page, "twin-open").click();
  await numberUntil(page, "twin-step", (twin) => twin === step, `${step}`);
  await byId(page, "twin-panel").locator("#control-tokens-twin").selectOption("bytes");
  await eventually(() => /tokens:bytes/.test(parameter(page, "twin") ?? ""), "the link names the change");
  await numberUntil(page, "twin-step", (twin) => twin === step, `${step}`);
  await byId(page, "twin-panel-close").click();
  const row = byId(page, "twin").locator(".token-row .token");
  await eventually(async () => (await row.count()) === 24, "as many bytes as its context holds");
  await settled(page);
  await numberUntil(page, "twin-step", (twin) => twin === step, `${step}`);
  const twin = await exported(page, "attention", "json", byId(page, "twin"));
  assert.deepEqual(twin.axes[0].labels.flatMap(bytes), labels.flatMap(bytes).slice(-24));
});

test("each press writes one token, a byte of a character too", async (t) => {
  const page = await site.open(t, `?chapter=decode&tokens=bytes&temperature=10&${SMALL}`);
  await live(page, "decode");
  const input = byId(page, "probe-input");
  for (const write of ["decode-write", "machine-write"]) {
    await input.fill("猫");
    await settled(page);
    let before = bytes("猫");
    for (let pressed = 0; pressed < 8; pressed++) {
      await byId(page, write).click();
      await eventually(async () => bytes(await input.inputValue()).length === before.length + 1, "a byte more");
      const now = bytes(await input.inputValue());
      assert.deepEqual(now.slice(0, before.length), before);
      before = now;
      await settled(page);
    }
    if (write === "decode-write") {
      assert.match(await byId(page, "decode-note").textContent(), /token/);
      for (const [view, note] of [["cache", "cache-note"], ["surprise", "surprise-note"]]) {
        await openView(page, view);
        await page.locator(`[data-testid="${note}"]`, { hasText: /token/ }).waitFor();
      }
      await page.goto(page.url().replace("chapter=decode", "chapter=machine"));
      await live(page, "machine");
    }
  }
});

test("tokens are chosen in the settings", async (t) => {
  const page = await site.open(t, `?${SMALL}`);
  await live(page, "attention");
  await openSettings(page);
  const count = () => byId(page, "parameter-count").textContent();
  const before = await count();
  assert.equal(await byId(page, "control-merges").count(), 0);
  await byId(page, "control-tokens").selectOption("pairs");
  await byId(page, "control-merges").waitFor();
  await eventually(() => parameter(page, "tokens") === "pairs", "the link says so");
  await eventually(async () => (await count()) !== before, "the model is another");
  await closeSettings(page);
  await live(page, "attention");
  await settled(page);
  const labels = (await exported(page, "attention")).axes[0].labels;
  assert(labels.some((label) => label.length > 1), `${labels}`);
  await openSettings(page);
  await page.locator('[data-testid="model-file"]', { hasText: /the weights and the tokenizer/ }).waitFor();
  await byId(page, "control-tokens").selectOption("characters");
  await eventually(async () => (await count()) === before, "the model is the first again");
});
