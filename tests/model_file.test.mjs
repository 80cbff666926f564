// The lab's model as a file: saved, opened again, opened from elsewhere, and refused with a reason.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";

import {
  byId,
  choose,
  closeNotices,
  closeSettings,
  eventually,
  exported,
  live,
  number,
  numberUntil,
  openSettings,
  openView,
  paused,
  rested,
  said,
  settled,
  stepTo,
  test,
  useSite,
} from "./harness.mjs";

const site = useSite();
const SMALL = "?layers=1&heads=2&width=16&context=24&batch=4&workers=1&device=cpu";
const GOLDEN = new URL("golden/model_file/", import.meta.url);
const golden = (name) => new URL(name, GOLDEN).pathname;

const loss = (page) => byId(page, "loss-value").textContent();

async function opened(t, query = SMALL) {
  const page = await site.open(t, query);
  await live(page, "attention");
  await settled(page);
  return page;
}

/** What “Save to a file” hands to the browser. */
async function saved(page, withOptimizer) {
  await openSettings(page);
  await byId(page, "model-with-optimizer").setChecked(withOptimizer);
  const [download] = await Promise.all([page.waitForEvent("download"), byId(page, "model-save").click()]);
  const bytes = readFileSync(await download.path());
  await closeSettings(page);
  const head = JSON.parse(bytes.subarray(8, 8 + Number(bytes.readBigUInt64LE())).toString());
  return { name: download.suggestedFilename(), bytes, head };
}

test("a model that was saved goes on elsewhere, to the same losses", async (t) => {
  const page = await opened(t);
  await stepTo(page, 6);
  const whole = await saved(page, true);
  const bare = await saved(page, false);
  assert.equal(whole.name, "unroll-step-6.safetensors");
  assert.equal(whole.head.__metadata__.format, "pt");
  assert.deepEqual(whole.head["transformer.h.0.attn.c_attn.weight"].shape, [16, 48]);
  assert.equal(Object.keys(whole.head).length - 1, 3 * (Object.keys(bare.head).length - 1));
  await stepTo(page, 9);
  const wanted = await loss(page);
  await page.close();

  // Another page, with another model and the same text.
  const other = await opened(t, "?layers=2&heads=4&width=32&context=16&batch=2&seed=9&workers=1&device=cpu");
  await stepTo(other, 2);
  await choose(other, { name: whole.name, mimeType: "", buffer: whole.bytes });
  await numberUntil(other, "loss-step", (step) => step === 6, "6");
  await closeSettings(other);
  await eventually(async () => (await byId(other, "settings-open").textContent()).includes("1 layer, 2 heads, 16 wide"));
  await stepTo(other, 9);
  assert.equal(await loss(other), wanted);
  // What was on the page before can be brought back.
  await openSettings(other);
  await byId(other, "bring-back").click();
  await numberUntil(other, "loss-step", (step) => step === 2, "2");
});

test("a model is opened with the built-in text that it learned, which stays while it trains on", async (t) => {
  const page = await opened(t, `${SMALL}&corpus=names`);
  await stepTo(page, 4);
  const { name, bytes } = await saved(page, true);
  await stepTo(page, 6);
  const [wanted, probe] = [await loss(page), await byId(page, "probe-input").inputValue()];
  await page.close();
  const other = await opened(t);
  const text = byId(other, "source-open");
  assert.match(await text.textContent(), /Tales/);
  await choose(other, { name, mimeType: "", buffer: bytes });
  await numberUntil(other, "loss-step", (step) => step === 4, "4");
  await eventually(async () => (await text.textContent()).includes("Names"), "the text it learned");
  await closeSettings(other);
  await settled(other);
  assert.equal(await byId(other, "probe-input").inputValue(), probe);
  const { labels } = (await exported(other, "attention")).axes[0];
  assert(labels.length > 1 && !labels.includes("\ufffd"), `it knows its text: ${labels}`);
  await stepTo(other, 6);
  assert.equal(await loss(other), wanted);
});

test("a model whose text is not here says so before it trains on another", async (t) => {
  const page = await opened(t);
  const file = { name: "numbers.txt", mimeType: "text/plain", buffer: Buffer.from("one 1, two 2, three 3, four 4.\n".repeat(60)) };
  await openSettings(page, "source");
  await byId(page, "text-open").setInputFiles(file);
  await eventually(async () => (await byId(page, "source-open").textContent()).includes("numbers"));
  await closeSettings(page);
  await settled(page);
  await stepTo(page, 2);
  const { name, bytes } = await saved(page, true);
  // Its own page has the text: nothing is to be said.
  await closeNotices(page);
  await stepTo(page, 3);
  await choose(page, { name, mimeType: "", buffer: bytes });
  await numberUntil(page, "loss-step", (step) => step === 2, "2");
  assert.equal(await page.locator('[data-testid="notice"]', { hasText: "not in its file" }).count(), 0);
  await page.close();
  const other = await opened(t);
  await choose(other, { name, mimeType: "", buffer: bytes });
  await said(other, "This model learned “numbers.txt”, a text that is not in its file. Training goes on with the text of this page, “Tales”; characters that the model doesn’t know become □.");
  await numberUntil(other, "loss-step", (step) => step === 2, "2");
});

test("a model that reads byte pairs is saved with its tokenizer, and goes on to the same losses", async (t) => {
  const page = await opened(t, `${SMALL}&tokens=pairs&merges=40`);
  await stepTo(page, 4);
  const file = await saved(page, true);
  const { vocab, merges } = JSON.parse(file.head.__metadata__.tokenizer).model;
  assert.deepEqual([Object.keys(vocab).length, merges.length], [296, 40]);
  assert.equal(file.head.__metadata__.vocabulary, undefined);
  assert.deepEqual(file.head["transformer.wte.weight"].shape, [296, 16]);
  await stepTo(page, 6);
  const wanted = await loss(page);
  await page.close();
  // Another page reads characters, until the file says otherwise.
  const other = await opened(t);
  await choose(other, { name: file.name, mimeType: "", buffer: file.bytes });
  await numberUntil(other, "loss-step", (step) => step === 4, "4");
  await closeSettings(other);
  await stepTo(other, 6);
  assert.equal(await loss(other), wanted);
  await settled(other);
  const labels = (await exported(other, "attention")).axes[0].labels;
  assert(labels.some((label) => label.length > 1), `${labels}`);
});

test("an untrained model can be saved, and what the file leaves out begins anew; dropped as text it is a model too", async (t) => {
  const page = await opened(t);
  const untrained = await saved(page, false);
  assert.equal(untrained.name, "unroll-step-0.safetensors");
  await stepTo(page, 3);
  const wanted = await loss(page);
  await choose(page, { name: untrained.name, mimeType: "", buffer: untrained.bytes });
  await numberUntil(page, "loss-step", (step) => step === 0, "0");
  await closeSettings(page);
  await stepTo(page, 3);
  assert.equal(await loss(page), wanted);
  await openSettings(page, "source");
  await byId(page, "text-open").setInputFiles({ name: untrained.name, mimeType: "", buffer: untrained.bytes });
  await numberUntil(page, "loss-step", (step) => step === 0, "0");
  await byId(page, "text-open").setInputFiles({ name: "pytorch_model.bin", mimeType: "", buffer: Buffer.from("PK\x03\x04\0\0\b\b") });
  await said(page, "a pickle can run code when it is opened");
});

test("a file that transformers wrote is opened, and bets as PyTorch does", async (t) => {
  const page = await opened(t);
  await stepTo(page, 1);
  const expected = JSON.parse(readFileSync(golden("expected.json")));
  await byId(page, "probe-input").fill(expected.text);
  await choose(page, ["model.safetensors", "config.json", "vocab.json"].map(golden));
  await numberUntil(page, "loss-step", (step) => step === 0, "0");
  await closeSettings(page);
  await eventually(async () => (await byId(page, "settings-open").textContent()).includes("2 layers, 2 heads, 16 wide"));
  await openView(page, "next");
  await live(page, "next");
  const logits = expected.logits.at(-1);
  const weights = logits.map((logit) => Math.exp(logit - Math.max(...logits)));
  const sum = weights.reduce((a, b) => a + b);
  // As the figure writes them.
  const marks = { "<unk>": "□", " ": "␣", "\n": "⏎" };
  const shares = new Map(expected.tokens.map((token, id) => [marks[token] ?? token, weights[id] / sum]));
  // All bars, by the character that each is for.
  const { axes, values } = await exported(page, "next");
  const { labels } = axes[0];
  assert.equal(labels.length, shares.size);
  labels.forEach((token, at) => assert(Math.abs(values[at] - shares.get(token)) < 1e-5, `${token}: ${values[at]} ${shares.get(token)}`));
  // It trains on.
  await stepTo(page, 2);
});

test("what can't be opened is refused with a reason, and the model on show goes on", async (t) => {
  const page = await opened(t);
  await stepTo(page, 3);
  const { bytes } = await saved(page, false);
  const nan = Buffer.from(bytes);
  nan.writeFloatLE(NaN, nan.length - 4);
  const hostile = Buffer.from(bytes);
  hostile.writeBigUInt64LE(0xffff_ffff_ffffn);
  const cases = [
    ["bytes.safetensors", Buffer.from([0, 1, 2, 3, 255, 254]), "not a safetensors file"],
    ["empty.safetensors", Buffer.alloc(0), "not a safetensors file"],
    ["hostile.safetensors", hostile, "not a safetensors file"],
    ["short.safetensors", bytes.subarray(0, bytes.length - 9), "ends too early"],
    ["nan.safetensors", nan, "Some of its numbers can’t be used: they are NaN or infinite."],
    ["pytorch_model.bin", Buffer.from("PK\u0003\u0004\0\0\b\b"), "a pickle can run code when it is opened"],
  ];
  for (const [name, buffer, reason] of cases) {
    await choose(page, { name, mimeType: "", buffer });
    await said(page, reason);
    await closeNotices(page);
    assert.equal(await number(page, "loss-step"), 3, name);
  }
  // A model without its vocabulary says what is missing.
  await choose(page, golden("model.safetensors"));
  await said(page, "what its 10 tokens are");
  await closeSettings(page);
  await stepTo(page, 4);
});

/** A chapter at rest, with its figure drawn. */
async function atRest(t, query) {
  const page = await site.open(t, query);
  await byId(page, "train-step").waitFor();
  // A chapter takes its first steps by itself. Before and after that it rests; the lab takes none.
  await (query.includes("chapter=") ? rested(page) : paused(page));
  await settled(page);
  return page;
}

test("a chapter's models that were saved go on elsewhere, to the same losses", async (t) => {
  const page = await atRest(t, "?chapter=rnn&seed=5&rnn-hidden=12&corpus=names");
  const at = await number(page, "loss-step");
  assert(at > 0, "it takes its first steps by itself");
  const { name, bytes, head } = await saved(page, true);
  assert.equal(name, `unroll-rnn-step-${at}.safetensors`);
  const tensors = Object.keys(head).filter((tensor) => tensor !== "__metadata__");
  const models = new Set(tensors.filter((tensor) => !tensor.startsWith("optimizer.")).map((tensor) => tensor.split(".")[0]));
  assert.deepEqual([...models].sort(), ["elman", "lstm"]);
  await stepTo(page, at + 3);
  const wanted = await loss(page);
  await page.close();

  // Another page, on another chapter, with another text.
  const other = await atRest(t, "?chapter=bigram");
  await choose(other, { name, mimeType: "", buffer: bytes });
  await byId(other, "chapter-rnn").waitFor();
  await eventually(async () => (await byId(other, "source-open").textContent()).includes("Names"), "the text it learned");
  await numberUntil(other, "loss-step", (step) => step === at, `${at}`);
  await eventually(() => /seed=5.*rnn-hidden=12/.test(other.url()), "the settings in the file");
  await stepTo(other, at + 3);
  assert.equal(await loss(other), wanted);
});

test("a chapter's file that does not fit changes nothing", async (t) => {
  const first = await atRest(t, "?chapter=rnn&rnn-hidden=8");
  const { bytes } = await saved(first, false);
  await first.close();
  const renamed = Buffer.from(bytes);
  renamed.write("elmam.", renamed.indexOf("elman."));
  const nan = Buffer.from(bytes);
  nan.writeFloatLE(NaN, nan.length - 4);
  const short = bytes.subarray(0, bytes.length - 5);
  const cases = [[renamed, "elmam"], [nan, "not a usable number"], [short, "ends too early"]];
  // A page with other settings, whose models have gone further.
  const page = await atRest(t, "?chapter=rnn&rnn-hidden=10");
  const at = 1 + (await number(page, "loss-step"));
  await stepTo(page, at);
  const before = await loss(page);
  for (const [buffer, reason] of cases) {
    await choose(page, { name: "models.safetensors", mimeType: "", buffer });
    await said(page, reason);
    await page.locator(".notice-close").first().click();
    await eventually(() => page.url().includes("rnn-hidden=10"), `${reason}: the settings are back`);
    assert.equal(await number(page, "loss-step"), at, reason);
    assert.equal(await loss(page), before, reason);
    await closeSettings(page);
  }
  await stepTo(page, at + 1);
});

test("the lab's file is opened from a chapter, whether the lab was visited or not", async (t) => {
  const page = await opened(t);
  await stepTo(page, 3);
  const { name, bytes } = await saved(page, true);
  await stepTo(page, 4);
  const wanted = await loss(page);
  await page.close();
  for (const visits of [false, true]) {
    const other = await atRest(t, visits ? "?device=cpu" : "?chapter=rnn&device=cpu");
    if (visits) {
      await byId(other, "chapter-list").click();
      await other.locator('a[href^="?chapter=rnn"]').first().click();
      await byId(other, "chapter-rnn").waitFor();
      await byId(other, "train-step").waitFor();
      await paused(other);
    }
    await choose(other, { name, mimeType: "", buffer: bytes });
    await byId(other, "chapter-gpt").waitFor();
    await numberUntil(other, "loss-step", (step) => step === 3, "3");
    await closeSettings(other);
    await eventually(async () => (await byId(other, "settings-open").textContent()).includes("1 layer, 2 heads, 16 wide"));
    await stepTo(other, 4);
    assert.equal(await loss(other), wanted);
    await other.close();
  }
});

