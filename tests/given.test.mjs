// A GPT-2 from elsewhere: opened with its tokenizer, asked and not trained, and refused with a reason.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";

import {
  beat,
  byId,
  choose,
  closeNotices,
  closeSettings,
  eventually,
  exported,
  fitsEverywhere,
  live,
  number,
  openSettings,
  openView,
  said,
  settled,
  stepTo,
  tabs,
  test,
  useSite,
} from "./harness.mjs";

const site = useSite();
const SMALL = "?layers=1&heads=2&width=16&context=24&batch=4&workers=1&device=cpu";
const GOLDEN = new URL("golden/gpt2/", import.meta.url);
const golden = (name) => new URL(name, GOLDEN).pathname;
const read = (name) => readFileSync(new URL(name, GOLDEN));
const expected = JSON.parse(read("expected.json"));
const OPENED = "Opened: 2 layers, 4 heads";

const isOpened = (page) =>
  eventually(async () => (await byId(page, "settings-open").textContent()).includes(OPENED), "the opened model");

test("a GPT-2 with its tokenizer opens, computes and writes what transformers does, also where others decode and add up", async (t) => {
  const page = await site.open(t, `${SMALL}&temperature=0&machine-rows=24`);
  await stepTo(page, 2);
  await choose(page, ["model.safetensors", "config.json", "tokenizer.json"].map(golden));
  await isOpened(page);
  await closeSettings(page);
  await byId(page, "probe-input").fill(expected.text);
  await settled(page);
  // Its attention: the first head of the first layer, token by token.
  await live(page, "attention");
  const { axes, values } = await exported(page, "attention");
  assert.equal(axes[0].labels.length, expected.ids.length);
  const weights = expected.weights[0][0].flat();
  const seen = values.flat().map((value) => value ?? 0);
  assert.equal(seen.length, weights.length);
  seen.forEach((value, at) => assert(Math.abs(value - weights[at]) < 1e-5, `${at}: ${value} ${weights[at]}`));
  // What it expects next.
  await openView(page, "next");
  await live(page, "next");
  const logits = expected.logits.at(-1);
  const parts = logits.map((logit) => Math.exp(logit - Math.max(...logits)));
  const sum = parts.reduce((sum, part) => sum + part);
  const wanted = parts.map((part) => part / sum);
  const next = await exported(page, "next");
  assert(Math.abs(next.values[0] - Math.max(...wanted)) < 1e-5, `${next.values[0]}`);
  // It can't be trained, and says so.
  assert.equal(await byId(page, "train-toggle").getAttribute("aria-disabled"), "true");
  await byId(page, "time-bar").getByText("This model comes from elsewhere").waitFor();
  // What it writes, always with its likeliest token. The page has a sign for bytes that are no character.
  await openView(page, "writing");
  const begun = expected.begun.replaceAll("\ufffd", "?");
  await byId(page, "sample-text").getByText(begun[0]).first().waitFor();
  const written = () => byId(page, "sample-text").textContent();
  await eventually(async () => (await written()).length >= begun.length, "50 tokens and more");
  assert.equal((await written()).slice(0, begun.length), begun);
  // It is the model of the other chapters that read with the lab's: first what each token is chosen by, and the cache.
  await byId(page, "chapter-previous").click();
  await live(page, "decode");
  await settled(page);
  const { columns, rows } = await exported(page, "decode");
  const [token, logit] = ["character", "logit"].map((name) => columns.indexOf(name));
  await openView(page, "cache");
  await live(page, "cache");
  const place = await exported(page, "cache");
  const weight = place.columns.indexOf("weight");
  near(place.rows.map((row) => row[weight]), expected.weights[0][0].at(-1));
  await byId(page, "cache-note").getByText("22 tokens before it are read from the cache").waitFor();
  // Then all of the machine.
  await byId(page, "chapter-previous").click();
  await live(page, "machine");
  await settled(page);
  const machine = await exported(page, "machine");
  const names = machine.axes[2].labels;
  near(machine.values.at(-1).at(-1), wanted);
  const found = new Map(rows.map((row) => [row[token], row[logit]]));
  near(names.map((name) => found.get(name)), logits, 1e-4);
  // The bars have room for the likelier ones.
  const bars = next.axes[0].labels.map((name, at) => [names.indexOf(name.replace("␣", " ")), next.values[at]]);
  const known = bars.filter(([id]) => id >= 0);
  assert(known.length > 50, `${known.length}`);
  near(known.map(([, share]) => share), known.map(([id]) => wanted[id]));
});

/** Numbers of an export beside those that PyTorch computed. */
function near(found, wanted, most = 1e-5) {
  const numbers = found.flat(Infinity);
  assert.equal(numbers.length, wanted.flat(Infinity).length);
  wanted.flat(Infinity).forEach((value, at) => assert(Math.abs(value - numbers[at]) < most, `${at}: ${numbers[at]}, not ${value}`));
}

test("its inside is what transformers computes: a head in numbers, the lens, heads by their jobs, positions, patching", async (t) => {
  const page = await site.open(t, SMALL);
  await choose(page, ["model.safetensors", "config.json", "tokenizer.json"].map(golden));
  await isOpened(page);
  // The story is about this model. It learns no text here, and has no twin.
  await beat(page).getByText("with 4 heads in each").waitFor();
  for (const name of ["source-open", "twin-open"]) assert.equal(await byId(page, name).count(), 0, name);
  assert.deepEqual(await tabs(page), ["attention", "heads", "jobs", "next", "patching", "writing"]);
  await byId(page, "probe-input").fill(expected.text);
  await settled(page);
  const [entropy, distance, first, previous] = expected.habits[0][0];
  const habits = [
    `looks back ${distance.toFixed(1)} tokens on average`,
    `puts ${(100 * first).toFixed(0)}% of its weight on the first token, and ${(100 * previous).toFixed(0)}% on the previous one`,
    `entropy is ${(entropy / Math.LN2).toFixed(2)} bits`,
  ];
  for (const part of habits) await byId(page, "head-habits").getByText(part).waitFor();

  // The lens comes token by token, until it has them all.
  await openView(page, "next");
  await live(page, "lens");
  const lens = await exported(page, "lens");
  assert.equal(lens.values[0].length, expected.ids.length);
  assert(lens.values.flat().every((value) => value !== null), "none is missing");
  near(lens.values, expected.lens.finally);
  assert.deepEqual([lens.experiment.opened, lens.text, lens.step], [true, "", undefined]);
  const last = expected.lens.shares.at(-1).at(-1);
  const row = byId(page, "lens-guesses").locator("tbody tr").last();
  await row.getByText(`${(100 * last).toFixed(1)}%`).waitFor();

  await openView(page, "jobs");
  await byId(page, "job-first").check();
  await live(page, "jobs");
  const jobs = await exported(page, "jobs");
  const shares = jobs.values.flat();
  assert.equal(shares.length, 8);
  const most = shares.indexOf(Math.max(...shares));
  const [layer, head] = [Math.floor(most / 4) + 1, (most % 4) + 1];
  await byId(page, "jobs-most").locator("button").first().click();
  await byId(page, "figure-attention").getByRole("heading", { name: `Layer ${layer}, head ${head}` }).waitFor();
  const back = expected.habits[layer - 1][head - 1][1].toFixed(1);
  await byId(page, "head-habits").getByText(`looks back ${back} tokens on average`).waitFor();

  await openView(page, "positions");
  await live(page, "positions");
  const positions = await exported(page, "positions");
  near(positions.values, expected.cosines);
  assert.deepEqual(positions.axes[0].labels.slice(0, 3), ["1", "3", "5"]);
  await byId(page, "positions-note").getByText(/for positions 2 apart and .* for positions 48 apart\.$/).waitFor();

  await openView(page, "patching");
  await byId(page, "patch-0").fill(expected.text);
  await byId(page, "patch-1").fill("Only");
  await byId(page, "patch-start").click();
  await byId(page, "patch-note").getByText("equally many tokens").waitFor();
  await byId(page, "patch-1").fill(expected.other);
  await byId(page, "patch-1").press("Enter");
  await byId(page, "patch-note").getByText(/^After (both sentences|the first sentence),/).waitFor();
  await byId(page, "patch-start").getByText("Patch each token").waitFor();
  await settled(page);
  near((await exported(page, "patching")).values, expected.patched);
});

test("the views of an opened model fit everywhere, and are read with keys alone", async (t) => {
  const page = await site.open(t, SMALL);
  await choose(page, ["model.safetensors", "config.json", "tokenizer.json"].map(golden));
  await isOpened(page);
  // The focus begins where reading does.
  await page.locator("#chapter-title:focus").waitFor();
  for (const view of ["attention", "next", "patching", "positions", "jobs"]) {
    await openView(page, view);
    await fitsEverywhere(page);
  }
  await openView(page, "heads");
  await byId(page, "lab-switch").click();
  await byId(page, "head-l1-h1").click();
  await byId(page, "lab-off").getByText(/^Layer 1, head 1 off: the loss on your sentence is \d+\.\d{3} instead of/).waitFor();
  await fitsEverywhere(page);
  await byId(page, "lab-all-on").click();
  await openView(page, "jobs");
  const figure = await live(page, "jobs");
  await figure.locator("[tabindex='0']").first().focus();
  await page.keyboard.press("ArrowRight");
  await figure.getByText("of its weight is on").first().waitFor();
  await page.keyboard.press("Enter");
  await live(page, "attention");
});

test("of two openings in one breath the later one counts", async (t) => {
  const page = await site.open(t, SMALL);
  const files = ["model.safetensors", "config.json", "tokenizer.json"].map(golden);
  await choose(page, files);
  await choose(page, files);
  await isOpened(page);
  await eventually(async () => (await byId(page, "notice").count()) <= 1, "at most one message");
  await live(page, "attention");
});

test("an opened model is kept in the browser, opened again after a reload, and deleted", async (t) => {
  const page = await site.open(t, SMALL);
  await choose(page, ["model.safetensors", "config.json", "tokenizer.json"].map(golden));
  await isOpened(page);
  await openSettings(page);
  await byId(page, "shelf-keep").click();
  await said(page, "The model is now stored in this browser");
  const model = byId(page, "shelf-model");
  await model.getByText(/^2 layers, 4 heads, 0\.1 million parameters: 0\.2 MB, kept just now \(open now\)$/).waitFor();
  assert.equal(await byId(page, "shelf-keep").count(), 0, "it is kept already");
  await page.reload();
  await settled(page);
  await openSettings(page);
  await model.getByRole("button", { name: /^Open: 2 layers, 4 heads/ }).click();
  await isOpened(page);
  // Its tokenizer came with it.
  await closeSettings(page);
  await byId(page, "probe-input").fill(expected.text);
  await settled(page);
  assert.equal((await exported(page, "attention")).axes[0].labels.length, expected.ids.length);
  await openSettings(page);
  await model.getByText("(open now)").waitFor();
  await model.getByRole("button", { name: /^Delete/ }).click();
  await eventually(async () => (await model.count()) === 0, "the copy is gone");
  const left = await page.evaluate(async () => {
    const folder = await (await navigator.storage.getDirectory()).getDirectoryHandle("models");
    return Array.fromAsync(folder.keys());
  });
  assert.deepEqual(left, []);
  // The model on show does not need it, and can be kept anew.
  await byId(page, "shelf-keep").waitFor();
});

test("where the browser has no room for a model it says so and keeps nothing of it", async (t) => {
  const full = () => {
    const write = FileSystemWritableFileStream.prototype.write;
    FileSystemWritableFileStream.prototype.write = function (content) {
      const isModel = content instanceof File && content.name.endsWith(".safetensors");
      return isModel ? Promise.reject(new DOMException("full", "QuotaExceededError")) : write.call(this, content);
    };
  };
  const page = await site.open(t, SMALL, { init: [full] });
  await choose(page, ["model.safetensors", "config.json", "tokenizer.json"].map(golden));
  await isOpened(page);
  await openSettings(page);
  await byId(page, "shelf-keep").click();
  await said(page, /doesn’t have the 0\.2 MB that this model needs, so it was not kept/);
  assert.equal(await byId(page, "shelf-model").count(), 0);
  await live(page, "attention");
});

test("vocab.json and merges.txt will do, and the model before comes back", async (t) => {
  const page = await site.open(t, SMALL);
  await stepTo(page, 3);
  await choose(page, ["model.safetensors", "config.json", "vocab.json", "merges.txt"].map(golden));
  await isOpened(page);
  await openSettings(page);
  await byId(page, "bring-back").click();
  await eventually(async () => (await number(page, "loss-step")) === 3, "the model that was trained");
  await stepTo(page, 4);
});

test("what is no GPT-2 is refused with a reason, opening one can be stopped, and the model on show goes on", async (t) => {
  const hold = () => {
    // As where a browser reads files into buffers of its own.
    window.ReadableStreamBYOBReader = undefined;
    const slice = Blob.prototype.slice;
    Blob.prototype.slice = function (from, to) {
      const part = slice.call(this, from, to);
      // Behind the head are the weights.
      if (window.holds && from > 8) {
        part.arrayBuffer = () => new Promise((done) => (window.goOn = () => done(new Response(part).arrayBuffer())));
      }
      return part;
    };
  };
  const page = await site.open(t, SMALL, { init: [hold] });
  await stepTo(page, 2);
  const model = read("model.safetensors");
  const tokenizer = { name: "tokenizer.json", mimeType: "", buffer: read("tokenizer.json") };
  const config = { name: "config.json", mimeType: "", buffer: read("config.json") };
  const file = (buffer) => ({ name: "model.safetensors", mimeType: "", buffer });
  const begins = 8 + Number(model.readBigUInt64LE(0));
  const head = JSON.parse(model.subarray(8, begins));
  /** The same, but the last half-precision number of this tensor is none. */
  const spoiled = (name) => {
    const nan = Buffer.from(model);
    nan.writeUInt16LE(0x7e00, begins + head[name].data_offsets[1] - 2);
    return nan;
  };
  const other = JSON.parse(tokenizer.buffer);
  other.added_tokens.push({ id: 300, content: "<|other|>", special: true });
  const pieces = { ...other, model: { ...other.model, type: "WordPiece" } };
  const json = (value, of = tokenizer) => ({ ...of, buffer: Buffer.from(JSON.stringify(value)) });
  const neo = json({ ...JSON.parse(config.buffer), model_type: "gpt_neo" }, config);
  // As torch.save writes them: a zip file whose first entry is the pickle.
  const pickle = { name: "pytorch_model.bin", mimeType: "", buffer: Buffer.from("PK\x03\x04\0\0\b\bpytorch_model/data.pkl") };
  const cases = [
    [[file(model)], "what its 300 tokens are"],
    [[file(model.subarray(0, model.length - 9)), tokenizer, config], "ends too early"],
    [[file(spoiled("transformer.wpe.weight")), tokenizer, config], "not a usable number"],
    // The last that is sent: by then the model on show would have been put aside.
    [[file(spoiled("transformer.ln_f.bias")), tokenizer, config], "NaN or infinite"],
    [[file(model), json(other), config], "belongs to another model"],
    [[file(model), json(pieces), config], "tokenizers of GPT-2’s kind"],
    [[file(model), tokenizer, neo], "This model is built like “gpt_neo”"],
    [[config, pickle, tokenizer], "“pytorch_model.bin” can’t be opened. It looks like a Python pickle"],
  ];
  for (const [files, reason] of cases) {
    await choose(page, files);
    await said(page, reason);
    await closeNotices(page);
    assert.equal(await number(page, "loss-step"), 2, reason);
    // It was never put aside.
    assert.equal(await byId(page, "bring-back").count(), 0, reason);
  }
  // Stopped at its first weights.
  const workers = page.workers().length;
  await page.evaluate(() => (window.holds = true));
  await choose(page, [file(model), tokenizer, config]);
  await said(page, "Opening “model.safetensors”: 0%. Close this message to stop.");
  await page.waitForFunction(() => window.goOn);
  assert(page.workers().length > workers, "its engine waits");
  await closeNotices(page);
  await page.evaluate(() => window.goOn());
  await eventually(() => page.workers().length === workers, "its engine has ended");
  assert.equal(await byId(page, "bring-back").count(), 0);
  assert(!(await byId(page, "settings-open").textContent()).includes("Opened"));
  assert.equal(await page.locator(".notice").count(), 0);
  await stepTo(page, 3);
});
