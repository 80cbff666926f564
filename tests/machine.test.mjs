// The chapter `machine`: the whole GPT in one picture, and the machines before it.
import assert from "node:assert/strict";

import {
  byId,
  drawn,
  eventually,
  exported,
  HEAD_START,
  ledOn,
  live,
  number,
  openSettings,
  openView,
  parameter,
  settled,
  staysFree,
  test,
  train,
  useSite,
} from "./harness.mjs";

const site = useSite();
const SMALL = "&layers=2&heads=2&width=16&context=24&batch=4&workers=1&machine-rows=24";

/** Opens the chapter and waits until the picture is of the model. */
async function open(t, query = SMALL, options = {}) {
  const page = await site.open(t, `?chapter=machine${query}`, options);
  await ledOn(page);
  await live(page, "machine");
  await settled(page);
  return page;
}

const readout = (page) => byId(page, "machine-readout").textContent();
const sum = (numbers) => numbers.reduce((a, b) => a + b, 0);

test("the picture is of the living model, and its numbers add up", async (t) => {
  const page = await open(t);
  const before = await exported(page, "machine");
  assert.equal(before.step, HEAD_START);
  const steps = await train(page, HEAD_START + 20);
  const { step, axes, values, parameter_counts: counts, parameters } = await exported(page, "machine");
  assert.equal(step, steps);
  const [parts, tokens, next] = axes.map((axis) => axis.labels);
  const of = (name) => values[parts.indexOf(name)];
  assert.notDeepEqual(of("query"), before.values[parts.indexOf("query")]);
  assert.equal(tokens.length, 24);
  assert.deepEqual(of("embedding").map((row) => row.length), Array(24).fill(16));
  for (const [at, row] of of("weights").entries()) {
    assert(Math.abs(sum(row) - 1) < 1e-5 && row.slice(at + 1).every((weight) => weight === 0));
    // The mix is the values, each times its weight.
    const mix = of("mix")[at].map((_, i) => sum(row.map((weight, key) => weight * of("value")[key][i])));
    mix.forEach((value, i) => assert(Math.abs(value - of("mix")[at][i]) < 1e-5));
  }
  for (const row of of("next token")) assert(row.length === next.length && Math.abs(sum(row) - 1) < 1e-5);
  const blocks = counts.blocks.map((block) => block.norms + block.attention + block.feed_forward);
  assert.equal(counts.tokens + counts.positions + counts.final_norm + counts.head + sum(blocks), parameters);
});

test("everything is read and reached by keyboard alone", async (t) => {
  const page = await open(t);
  const picture = byId(page, "machine-picture");
  await picture.focus();
  await eventually(async () => (await readout(page)).includes("that the model knows"), "the last token is read");
  const seen = new Set();
  for (let i = 0; i < 13; i++) {
    seen.add(await readout(page));
    await page.keyboard.press("ArrowRight");
    await drawn(page);
  }
  assert(seen.size >= 12, [...seen].join("\n"));
  await eventually(async () => /^after/.test(await readout(page)), "the last column is read");
  // Enter follows another row; the link below leads to the part's chapter.
  await page.keyboard.press("Home");
  for (let i = 0; i < 3; i++) await page.keyboard.press("ArrowUp");
  await page.keyboard.press("Enter");
  await eventually(async () => (await picture.getAttribute("data-row")) === "21", "the row that is followed");
  await eventually(() => parameter(page, "machine-row") === "21");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowRight");
  await eventually(async () => /^position of/.test(await readout(page)), "two columns on");
  await page.keyboard.press("Enter");
  await page.keyboard.press("Tab");
  assert.equal(await page.evaluate(() => document.activeElement.dataset.testid), "machine-door");
  await page.keyboard.press("Enter");
  await byId(page, "chapter-position").waitFor();
});

test("one token goes through step by step, and is drawn and written", async (t) => {
  const page = await open(t);
  await byId(page, "machine-on").click();
  const stages = [];
  for (let i = 1; i < 7; i++) {
    stages.push(await byId(page, "machine-stage").textContent());
    await byId(page, "machine-on").click();
  }
  assert.deepEqual(stages.map((stage) => stage.slice(0, 6)), [1, 2, 3, 4, 5, 6].map((i) => `${i} of 7`));
  await eventually(() => parameter(page, "machine-stage") === "next");
  const sentence = await byId(page, "probe-input").inputValue();
  await byId(page, "machine-on").click();
  await eventually(async () => /so it is drawn\./.test(await byId(page, "machine-note").textContent()), "what was drawn is said");
  await eventually(async () => (await byId(page, "probe-input").inputValue()).length === sentence.length + 1, "it is written");
  const said = await byId(page, "machine-note").textContent();
  const [, number, from, to] = said.match(/number is ([\d.]+)\. .+ from ([\d.]+) to ([\d.]+), so it is drawn\./).map(Number);
  assert(from <= number && number <= to, said);
  await eventually(() => parameter(page, "machine-stage") === "embedding");
  // From the same sentence the same seed writes the same.
  const written = await byId(page, "probe-input").inputValue();
  await byId(page, "probe-input").fill(sentence);
  await settled(page);
  await byId(page, "machine-write").click();
  await eventually(async () => (await byId(page, "probe-input").inputValue()) === written, "the same is written");
});

test("each step enlarges its part, with the numbers of the live model", async (t) => {
  const page = await open(t);
  await train(page, HEAD_START + 3);
  await byId(page, "machine-on").click();
  const { axes, values } = await exported(page, "machine");
  const of = (name) => values[axes[0].labels.indexOf(name)].at(-1);
  const fixed = (value) => value.toFixed(4).replace("-", "−");
  const said = () => byId(page, "machine-callout").textContent();
  await eventually(async () => (await said()).includes(of("embedding").slice(0, 4).map(fixed).join(", ")), "the token's row of the table");
  const shows = async (stage, number) => {
    await byId(page, "machine-on").click();
    await eventually(async () => (await byId(page, "machine-stage").textContent()).includes(stage));
    await eventually(async () => (await said()).includes(fixed(number)), `${stage}: ${fixed(number)} in ${await said()}`);
  };
  const keys = values[axes[0].labels.indexOf("key")];
  const product = (key) => sum(of("query").map((query, i) => query * key[i]));
  // Not all keys have room: the one with the largest weight has.
  await shows("Query", product(keys[of("weights").indexOf(Math.max(...of("weights")))]));
  await shows("weights", Math.max(...of("weights")));
  await shows("Mix", of("mix")[0]);
  await shows("Feed-forward", of("feed-forward")[0]);
  await byId(page, "machine-on").click();
  await shows("Next", Math.max(...of("next token")));
});

test("on a phone the last tokens and the part of each step are in sight", async (t) => {
  const page = await open(t, SMALL.replace("&machine-rows=24", ""), { viewport: { width: 390, height: 844 } });
  await eventually(async () => /only the last 6 characters/.test(await byId(page, "machine-note").textContent()));
  const room = page.locator(".machine-room");
  for (let i = 0; i < 7; i++) {
    await byId(page, "machine-on").click();
    await drawn(page);
    await eventually(async () => {
      const all = await room.boundingBox();
      const within = (box) => box && box.x >= all.x - 1 && box.x + box.width <= all.x + all.width + 1
        && box.y >= all.y - 1 && box.y + box.height <= all.y + all.height + 1;
      // The part has a frame, but for the blocks that do the same.
      const framed = page.locator(".machine-framed");
      const frame = i === 5 || within(await framed.boundingBox());
      return frame && within(await page.locator(".machine-callout").boundingBox());
    }, `step ${i + 1} is in sight`);
  }
});

test("on a phone the story is walked backward, and no box hides what it tells of", async (t) => {
  const query = SMALL.replace("&machine-rows=24", "&idea=8");
  const page = await site.open(t, `?chapter=machine${query}`, {
    viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true,
  });
  await live(page, "machine-transformer");
  const stage = (words) => eventually(async () => (await byId(page, "machine-stage").textContent()) === words, words);
  for (const words of ["7 of 7: Next token", "6 of 7: Other blocks", "5 of 7: Feed-forward"]) {
    await byId(page, "idea-back").click();
    await stage(words);
    await live(page, "machine");
    await page.locator(".machine-room:not(.fading) .machine-callout").waitFor();
  }
  // The rows, and in attention the small maps below them, are seen above the box.
  for (const words of ["4 of 7: Mix of values", "2 of 7: Query and keys"]) {
    await byId(page, "idea-back").click();
    await stage(words);
    await eventually(() => page.evaluate(() => {
      // What fades is the picture of the beat before.
      const room = document.querySelector(".machine-room:not(.fading)");
      const box = (element) => element?.getBoundingClientRect();
      const [callout, framed] = [".machine-callout", ".machine-framed"].map((name) => box(room.querySelector(name)));
      // So high are the small maps.
      return callout && callout.top > framed.bottom + 30 && callout.bottom <= box(room).bottom + 1;
    }), `${words}: the box is below the small maps`);
  }
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 390);
});

test("heads and blocks are opened in the picture", async (t) => {
  const page = await open(t);
  const picture = byId(page, "machine-picture");
  await picture.focus();
  await page.keyboard.press("Escape");
  // The name over the folded block, by keys: past the feed-forward layer.
  await page.keyboard.press("Home");
  while (!(await readout(page)).includes("Press it to open it")) await page.keyboard.press("ArrowRight");
  await page.keyboard.press("Enter");
  await eventually(() => parameter(page, "layer") === "2");
  await settled(page);
  const second = await exported(page, "machine");
  assert.deepEqual([second.block, second.head], [2, 1]);
  // What was read there is another part now.
  assert.match(await readout(page), /^Point at anything/);
  const other = await open(t, `${SMALL}&head=2`);
  assert.equal(await byId(other, "machine-picture").getAttribute("data-head"), "2");
});

test("an opened block has no box before it, and the buttons stay where they are", async (t) => {
  const page = await open(t, `${SMALL}&layer=2`);
  const left = async () => Math.round((await byId(page, "machine-back").boundingBox()).x);
  const first = await left();
  for (let i = 1; i <= 7; i++) {
    await byId(page, "machine-on").click();
    await eventually(async () => (await byId(page, "machine-stage").textContent()).startsWith(`${i} of 7`));
    assert.equal(await left(), first, `step ${i}`);
    await drawn(page);
    // The last one would say what is in sight beside it.
    assert.equal(await page.locator(".machine-callout").count(), i >= 6 ? 0 : 1, `the box of step ${i}`);
  }
});

test("the beat about the lines shows them first of all", async (t) => {
  const page = await open(t, `${SMALL}&idea=2`);
  const strong = () => page.locator('.machine-picture path[stroke="var(--hidden)"][stroke-width="3"]').count();
  await eventually(async () => (await strong()) === 24, "a strong line a row");
  await byId(page, "machine-on").click();
  await eventually(async () => (await strong()) === 0, "a step is about its own part");
  await byId(page, "machine-back").click();
  await eventually(async () => (await strong()) === 24, "back on the whole way");
});

test("Page Down goes on with the story also from within the sentence", async (t) => {
  const page = await open(t);
  await byId(page, "probe-input").focus();
  await page.keyboard.press("PageDown");
  await eventually(() => parameter(page, "idea") === "1", "the next section");
});

test("any sentence has a picture or a clear sentence", async (t) => {
  const page = await open(t);
  const write = (text) => byId(page, "probe-input").fill(text);
  const note = byId(page, "machine-note");
  await write("");
  await eventually(async () => /write at least one character/.test(await note.textContent()));
  assert.equal(await byId(page, "figure-machine").getAttribute("data-state"), "live");
  await write("🦊🦊");
  await eventually(async () => (await exported(page, "machine")).axes[1].labels.join() === "\ufffd,\ufffd", "two unknown characters");
  await write("a");
  await eventually(async () => (await exported(page, "machine")).axes[1].labels.length === 1, "one character");
  await write("long words ".repeat(46));
  await eventually(async () => /only the last 24 characters here, and leaves out \d+ before them/.test(await note.textContent()));
});

test("a long sentence scrolls in its picture", async (t) => {
  const page = await open(t, "&layers=1&heads=2&width=16&context=64&batch=2&workers=1");
  await byId(page, "probe-input").fill("said Fenn ".repeat(50));
  // As many as can be told apart; more on wish.
  await eventually(async () => /last 12 characters/.test(await byId(page, "machine-note").textContent()));
  await byId(page, "machine-rows").click();
  await eventually(async () => /last 64 characters/.test(await byId(page, "machine-note").textContent()));
  await drawn(page);
  const room = await page.locator(".machine-room").evaluate((room) => [room.scrollHeight, room.clientHeight]);
  assert(room[0] > room[1], `${room}`);
});

test("the machines before it are drawn, read, and lead to their chapters", async (t) => {
  const page = await open(t);
  for (const [view, figures] of [
    ["transformer", ["transformer"]],
    ["bahdanau", ["bahdanau"]],
    ["encoder-decoder", ["encoder-decoder"]],
    ["gates", ["lstm", "gru"]],
    ["elman", ["elman"]],
  ]) {
    await openView(page, view);
    for (const figure of figures) {
      await live(page, `machine-${figure}`);
      const picture = byId(page, `machine-${figure}-picture`);
      await eventually(async () => (await picture.locator("[data-part]").count()) > 4, `${figure} has parts`);
      await picture.focus();
      const first = await byId(page, `machine-${figure}-readout`).textContent();
      await page.keyboard.press("ArrowRight");
      await eventually(async () => (await byId(page, `machine-${figure}-readout`).textContent()) !== first);
      await page.keyboard.press("Escape");
    }
  }
  await page.locator("[data-part]").last().click();
  await page.locator(".machine-readout a").first().click();
  await byId(page, "chapter-machine").waitFor({ state: "detached" });
});

test("every story shows where its part is in the whole machine", async (t) => {
  const page = await site.open(t, "?chapter=mask");
  const map = byId(page, "machine-map");
  await map.waitFor();
  assert.match(await map.textContent(), /In the whole machine: who may look back/);
  assert.equal(await map.locator(".map-on rect").count(), 4);
  await map.click();
  await byId(page, "chapter-machine").waitFor();
  await live(page, "machine");
  assert.equal(await map.count(), 0);
});

test("the model of the picture is the lab's", async (t) => {
  const page = await open(t);
  const steps = await train(page, HEAD_START + 5);
  for (const chapter of ["decode", "gpt"]) {
    await byId(page, "chapter-next").click();
    await byId(page, `chapter-${chapter}`).waitFor();
    assert.equal(await number(page, "loss-step"), steps);
  }
  await openSettings(page);
  assert.match(await byId(page, "settings-panel").textContent(), /parameters/);
});

test("it trains without holding up the page", async (t) => {
  const page = await open(t, "", { own: true });
  await staysFree(t, site, page, () => train(page, HEAD_START + 40));
});

test("what the colors stand for is said, of weights and of the column that is read", async (t) => {
  const page = await open(t, SMALL, { viewport: { width: 1440, height: 900 } });
  const scales = byId(page, "machine-scales").locator(".scale");
  assert.match(await scales.first().innerText(), /^weights\s+0\s+1$/);
  assert.match(await scales.last().innerText(), /^embedding\s+−[\d.]+\s+[\d.]+$/);
  assert.match(await byId(page, "machine-shape").textContent(), /^\[(\d+), (\d+)\]: \1 tokens × \2 numbers\. /);
  // Bars of shares up to a half are twice as long, which is said over them.
  const texts = await page.locator(".machine-picture text").allTextContents();
  const shares = texts.filter((text) => /^\d+\.\d%$/.test(text)).map((text) => Number.parseFloat(text));
  assert.equal(shares.length, 8, `${texts}`);
  assert.equal(texts.includes("50%"), Math.max(...shares) <= 50, `${texts}`);
  await byId(page, "machine-picture").focus();
  const label = async () => (await scales.last().innerText()).split("\n")[0].trim();
  for (let parts = 0; parts < 12 && (await label()) !== "query"; parts++) await page.keyboard.press("ArrowRight");
  assert.equal(await label(), "query", "the scale is that of the column that is read");
  // The step about the other blocks has a box of rows, and outlines what to press.
  await page.keyboard.press("Escape");
  for (let step = 0; step < 6; step++) await byId(page, "machine-on").click();
  await eventually(async () => (await byId(page, "machine-stage").textContent()).startsWith("6 of 7"));
  await eventually(async () => /^row\s+−[\d.]+\s+[\d.]+$/.test(await scales.last().innerText()));
  await eventually(async () => (await page.locator(".machine-asked").count()) === 1, "one block is folded");
});
