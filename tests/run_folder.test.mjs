// A run taken to PyTorch, and brought back with its moments.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { crc32, deflateRawSync } from "node:zlib";

import {
  accessibilityProblems,
  asNumber,
  byId,
  choose,
  closeNotices,
  closeSettings,
  crash,
  drawn,
  eventually,
  exported,
  hasWebGpuEngine,
  live,
  number,
  numberUntil,
  openSettings,
  paused,
  running,
  said,
  settled,
  stepTo,
  test,
  useSite,
} from "./harness.mjs";

const site = useSite();
const gpu = useSite({ webgpu: true });
const SMALL = "?layers=1&heads=2&width=16&context=24&batch=4&seed=5&workers=1&device=cpu";
const SCRIPT = new URL("../docs/train.py", import.meta.url);

async function opened(t, query, options) {
  const page = await site.open(t, query, options);
  await live(page, "attention");
  await settled(page);
  return page;
}

/** The files in what “Take this run to PyTorch” hands to the browser, by path, and the archive itself. */
async function taken(page) {
  await openSettings(page);
  const [download] = await Promise.all([page.waitForEvent("download"), byId(page, "run-take").click()]);
  const archive = readFileSync(await download.path());
  await closeSettings(page);
  return { name: download.suggestedFilename(), archive, files: unzipped(archive) };
}

/** The files of an archive in which none is compressed. */
function unzipped(archive) {
  const files = new Map();
  let at = archive.readUInt32LE(archive.length - 6);
  for (let left = archive.readUInt16LE(archive.length - 12); left > 0; left--) {
    const [method, name, extra, comment] = [10, 28, 30, 32].map((field) => archive.readUInt16LE(at + field));
    const [sum, size, header] = [16, 20, 42].map((field) => archive.readUInt32LE(at + field));
    const begin = header + 30 + archive.readUInt16LE(header + 26) + archive.readUInt16LE(header + 28);
    const bytes = archive.subarray(begin, begin + size);
    assert.equal(method, 0);
    assert.equal(crc32(bytes), sum);
    files.set(archive.subarray(at + 46, at + 46 + name).toString(), bytes);
    at += 46 + name + extra + comment;
  }
  return files;
}

/** A model file with another head: what `change` makes of it. */
function changed(bytes, change) {
  const begin = 8 + Number(bytes.readBigUInt64LE());
  const head = JSON.parse(bytes.subarray(8, begin).toString());
  change(head);
  const text = Buffer.from(JSON.stringify(head));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(text.length));
  return Buffer.concat([length, text, bytes.subarray(begin)]);
}

/** The same model, as though it had taken so many steps. */
function atStep(bytes, step) {
  return changed(bytes, ({ __metadata__ }) => {
    __metadata__.unroll = JSON.stringify({ ...JSON.parse(__metadata__.unroll), step });
  });
}

/** The same model with NaN for its first number. */
function withNaN(bytes) {
  const broken = Buffer.from(bytes);
  const begin = 8 + Number(bytes.readBigUInt64LE());
  const head = JSON.parse(bytes.subarray(8, begin).toString());
  broken.writeFloatLE(Number.NaN, begin + head["transformer.wte.weight"].data_offsets[0]);
  return broken;
}

/** What is said where a run comes without its text, on a page with that of the start. */
const TEXTLESS = /trained on a text of its author’s, “pets.txt”, which couldn’t be read from its files. It now continues on .* “Tales”/;

const model = (step) => `unroll-run/run/unroll-step-${step}.safetensors`;

const PETS = "The cat sat on the mat; the dog sat on the log.\n".repeat(30);

/** Has the page learn a text of the learner's own. */
async function learn(page, name, text) {
  await openSettings(page, "source");
  await byId(page, "text-open").setInputFiles(buffer(name, Buffer.from(text)));
  await page.locator('[data-testid="text-present"]', { hasText: name }).waitFor();
  await closeSettings(page, "source");
}

/** The files of a run as it was taken along after each of these steps; the archives, with their names; and what
 *  its attention was then. */
async function run(page, steps) {
  const [all, archives, seen] = [new Map(), [], []];
  for (const step of steps) {
    await stepTo(page, step);
    seen.push(await attention(page));
    const { name, archive, files } = await taken(page);
    archives.push({ name, archive });
    for (const [path, bytes] of files) all.set(path, bytes);
  }
  return { all, archives, seen };
}

let made = null;

/** A run on a text of the learner's own, taken along after its steps 1, 3 and 6, with its losses after that and
 *  after step 8: made once for all tests of this file. Each has its own list of the files. */
async function pets(t) {
  if (!made) {
    const page = await opened(t, SMALL);
    await learn(page, "pets.txt", PETS);
    const taken = await run(page, [1, 3, 6]);
    const last = await loss(page);
    await stepTo(page, 8);
    made = { ...taken, last, wanted: await loss(page) };
    await page.close();
  }
  return { ...made, all: new Map(made.all) };
}

/** Waits until the time bar has so many moments. */
async function moments(page, count) {
  const track = byId(page, "time-track");
  await eventually(async () => (await track.getAttribute("title"))?.startsWith(`${count} moments`), `${count} moments`);
}

/** An archive of these files, all compressed, or none. */
function zipped(files, compressed = true) {
  const [parts, listed] = [[], []];
  let at = 0;
  for (const [path, bytes] of files) {
    const [name, packed] = [Buffer.from(path), compressed ? deflateRawSync(bytes) : bytes];
    const about = Buffer.alloc(26);
    about.writeUInt16LE(20, 0);
    about.writeUInt16LE(compressed ? 8 : 0, 4);
    about.writeUInt32LE(crc32(bytes), 10);
    about.writeUInt32LE(packed.length, 14);
    about.writeUInt32LE(bytes.length, 18);
    about.writeUInt16LE(name.length, 22);
    parts.push(Buffer.from("PK\x03\x04"), about, name, packed);
    const rest = Buffer.alloc(14);
    rest.writeUInt32LE(at, 10);
    listed.push(Buffer.from("PK\x01\x02\x14\x00"), about, rest, name);
    at += 30 + name.length + packed.length;
  }
  const list = Buffer.concat(listed);
  const end = Buffer.alloc(22);
  end.write("PK\x05\x06", "latin1");
  end.writeUInt16LE(files.size, 8);
  end.writeUInt16LE(files.size, 10);
  end.writeUInt32LE(list.length, 12);
  end.writeUInt32LE(at, 16);
  return Buffer.concat([...parts, list, end]);
}

/** These files in a folder of their own. */
function folder(t, files) {
  const root = mkdtempSync(join(tmpdir(), "unroll-run-"));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  for (const [path, bytes] of files) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), bytes);
  }
  return root;
}

/** Has the page show the moment before the one that it shows. */
async function before(page, step) {
  await byId(page, "time-track").focus();
  await page.keyboard.press("ArrowLeft");
  await numberUntil(page, "time-shown", (shown) => shown === step, `${step}`);
  await settled(page);
}

const attention = async (page) => (await exported(page, "attention")).values;
const loss = (page) => byId(page, "loss-value").textContent();
const buffer = (name, bytes) => ({ name, mimeType: "", buffer: bytes });

test("a run is taken along, and its folder brings back every moment in it", async (t) => {
  const { all, archives, seen, last, wanted } = await pets(t);
  assert.deepEqual(archives.map(({ name }) => name), [1, 3, 6].map((step) => `unroll-run-step-${step}.zip`));
  const paths = ["losses.csv", ...[1, 3, 6].map((step) => `unroll-step-${step}.safetensors`)];
  assert.deepEqual([...all.keys()].sort(), [...paths.map((path) => `unroll-run/run/${path}`), "unroll-run/text.txt", "unroll-run/train.py"]);
  assert.equal(all.get("unroll-run/text.txt").toString(), PETS);
  assert.deepEqual(all.get("unroll-run/train.py"), readFileSync(SCRIPT));
  const table = all.get("unroll-run/run/losses.csv").toString().trim().split("\n");
  assert.equal(table.length, 7);
  assert.equal(Number(table[6].split(",")[1]).toFixed(3), Number(last).toFixed(3));

  // Another page, of another model and text. Files of the script that was stopped change nothing.
  all.set("unroll-run/run/unroll-step-7.part", Buffer.from("half a file"));
  const other = await opened(t, "?layers=2&heads=2&width=32&context=16&batch=2&seed=9&workers=1&device=cpu");
  await choose(other, folder(t, all), "run-open");
  await numberUntil(other, "loss-step", (step) => step === 6, "6");
  await closeSettings(other);
  assert.equal(await loss(other), last);
  await moments(other, 3);
  await settled(other);
  assert.deepEqual(await attention(other), seen[2]);
  await before(other, 3);
  assert.deepEqual(await attention(other), seen[1]);
  await before(other, 1);
  assert.deepEqual(await attention(other), seen[0]);
  await stepTo(other, 8);
  assert.equal(await loss(other), wanted, "it goes on exactly");
  await openSettings(other, "source");
  await other.locator('[data-testid="text-present"]', { hasText: "pets.txt" }).waitFor();
});

test("an archive of a run is opened, and what is no moment of it is left out with a sentence", async (t) => {
  const { all: theirs } = await pets(t);
  // A moment takes 1.6 MB: there is room for two in 4 MB.
  const page = await opened(t, "?layers=2&heads=2&width=128&context=16&batch=1&workers=1&device=cpu&moments=4");
  const { all } = await run(page, [1]);
  for (const step of [2, 3]) all.set(model(step), atStep(all.get(model(1)), step));
  all.set(model(4), all.get(model(3)).subarray(0, -1));
  all.set("unroll-run/old/unroll-step-0.safetensors", atStep(theirs.get(model(1)), 0));
  await choose(page, buffer("run.zip", zipped(all, false)));
  await numberUntil(page, "loss-step", (step) => step === 3, "3");
  await said(page, /One model was left out because it couldn’t be read/);
  await said(page, /One model was left out because it is from a different run/);
  await said(page, /The time bar shows 2 of this run’s 3 moments: no more fit in 4 MB/);
  await moments(page, 2);
});

test("what is no run is refused with a reason, and the model on show goes on; a run's moments come back after a crash, and when it is brought back", async (t) => {
  const { all, archives: [{ archive }], seen } = await pets(t);
  const page = await opened(t, SMALL, { allow: [/boom/] });
  await stepTo(page, 2);

  // Two files that are asked for in one breath both come.
  await openSettings(page);
  const names = [];
  page.on("download", (download) => names.push(download.suggestedFilename()));
  await page.evaluate(() => {
    for (const id of ["model-save", "run-take"]) document.querySelector(`[data-testid="${id}"]`).click();
  });
  await eventually(() => names.length === 2, () => `two files, not ${names}`);
  assert.deepEqual(names.sort(), ["unroll-run-step-2.zip", "unroll-step-2.safetensors"]);

  await choose(page, buffer("broken.zip", archive.subarray(0, archive.length - 30)));
  await said(page, /“broken.zip” can’t be opened. It isn’t a zip file, or it is damaged/);
  await byId(page, "model-open").setInputFiles(buffer("other.zip", zipped(new Map([["a.txt", Buffer.from("a")]]))));
  await said(page, /“other.zip” can’t be opened. It has no model from the GPT lab/);
  await byId(page, "run-open").setInputFiles(folder(t, new Map([["run/unroll-step-5.safetensors", Buffer.from("no")]])));
  await said(page, /This folder can’t be opened. It has no model from the GPT lab/);
  assert.equal(await number(page, "loss-step"), 2);
  await closeSettings(page);
  await stepTo(page, 3);

  // A model that the script can't continue stays here, and the page says why.
  await openSettings(page);
  assert.deepEqual(await accessibilityProblems(page), []);
  assert.equal(await byId(page, "run-take").getAttribute("aria-disabled"), null);
  await byId(page, "control-optimizer").selectOption("sgd");
  await byId(page, "start-over").click();
  await page.locator('[data-testid="run-file"]', { hasText: "train.py only works with the AdamW optimizer" }).waitFor();
  assert.equal(await byId(page, "run-take").getAttribute("aria-disabled"), "true");

  // A run that is opened in its place.
  await choose(page, folder(t, all), "run-open");
  await moments(page, 3);
  await page.locator('[data-testid="kept-run"]', { hasText: "step 6," }).waitFor();
  await crash(page, "the model as it was at step 6.");
  await moments(page, 3);
  await byId(page, "start-over").click();
  await numberUntil(page, "loss-step", (step) => step === 0, "0");
  await byId(page, "bring-back").click();
  await numberUntil(page, "loss-step", (step) => step === 6, "6");
  await moments(page, 3);
  await closeSettings(page);
  await before(page, 3);
  assert.deepEqual(await attention(page), seen[1]);
  await before(page, 1);
  assert.deepEqual(await attention(page), seen[0]);
});

const skip = hasWebGpuEngine() ? false : "the site was built without the WebGPU engine";

/** Has the page hear nothing of its workers from `mute()` on, until `unmute()`; or, if an engine is given, of
 *  that one from the start. */
function muteWorkers(engine) {
  const usual = Object.getOwnPropertyDescriptor(Worker.prototype, "onmessage");
  let waiting = engine ? [] : null;
  globalThis.unheard = () => waiting.length;
  globalThis.mute = () => (waiting = []);
  globalThis.unmute = () => {
    const calls = waiting;
    waiting = null;
    for (const call of calls) call();
  };
  const set = function (heard) {
    const hear = (event) => heard.call(this, event);
    const isMuted = () => waiting && (!engine || this.engine.includes(engine));
    usual.set.call(this, heard && ((event) => (isMuted() ? waiting.push(() => hear(event)) : hear(event))));
  };
  Object.defineProperty(Worker.prototype, "onmessage", { ...usual, set });
  globalThis.Worker = class extends Worker {
    constructor(address, ...options) {
      super(address, ...options);
      this.engine = `${address}`;
    }
  };
}

test("a run in training moves to the GPU with its moments, and trains on", { skip, timeout: 300_000 }, async (t) => {
  const { all, seen } = await pets(t);
  const query = `${SMALL.replace("device=cpu", "device=webgpu")}&adapter=software`;
  const page = await gpu.open(t, query, { init: [muteWorkers, "engine_webgpu"] });
  await live(page, "attention");
  await choose(page, folder(t, all), "run-open");
  await moments(page, 3);
  await closeSettings(page);
  // Until the GPU is ready, which takes long, the model rests.
  await page.waitForFunction(() => globalThis.unheard() > 0, null, { timeout: 240_000, polling: 500 });
  await byId(page, "train-toggle").click();
  await numberUntil(page, "loss-step", (step) => step >= 12, "at least 12, on the CPU");
  assert.equal(await byId(page, "device-badge").getAttribute("data-device"), "cpu");
  await page.evaluate(() => globalThis.unmute());
  await page.locator('[data-testid="device-badge"][data-device="webgpu"]').waitFor({ timeout: 240_000 });
  await running(page);
  const moved = await number(page, "loss-step");
  assert(moved >= 12, `the model lost its training: step ${moved}`);
  await numberUntil(page, "loss-step", (step) => step > moved, `more than ${moved}`);
  await byId(page, "train-toggle").click();
  await paused(page);
  // The moments in its files are still the first ones.
  for (const [keys, step, expected] of [[["Home"], 1, seen[0]], [["Home", "ArrowRight"], 3, seen[1]]]) {
    await byId(page, "time-track").focus();
    for (const key of keys) await page.keyboard.press(key);
    await numberUntil(page, "time-shown", (shown) => shown === step, `${step}`);
    await settled(page);
    const found = (await attention(page)).flat();
    for (const [at, weight] of expected.flat().entries()) assert(Math.abs(found[at] - weight) < 1e-4, `step ${step}`);
  }
});

test("of two runs in a folder the one that is further goes on, with its own text and losses", async (t) => {
  const all = new Map();
  for (const [path, bytes] of (await pets(t)).all) all.set(path.replace("unroll-run", "root/a"), bytes);
  const further = await opened(t, SMALL.replace("seed=5", "seed=6"));
  await learn(further, "own.txt", "The mat sat on the dog; the log sat on the cat.\n".repeat(40));
  for (const [path, bytes] of (await run(further, [2, 7])).all) all.set(path.replace("unroll-run", "root/b"), bytes);
  const last = await loss(further);
  await stepTo(further, 9);
  const wanted = await loss(further);
  await further.close();
  const other = await opened(t, "?layers=1&heads=2&width=32&context=16&batch=2&workers=1&device=cpu");
  await choose(other, folder(t, all), "run-open");
  await said(other, "3 models were left out because they are from a different run.");
  await numberUntil(other, "loss-step", (step) => step === 7, "7");
  await moments(other, 2);
  await closeSettings(other);
  assert.equal(await loss(other), last);
  await stepTo(other, 9);
  assert.equal(await loss(other), wanted, "it learns the text of its own run");
});

test("where numbers are NaN, the run goes on from the last model that is sound; what an archive may hold and the time bar shows has limits, and the page says which", async (t) => {
  const { all, seen } = await pets(t);
  const page = await opened(t, SMALL);
  // They take a few kilobytes in the archive.
  const { all: large } = await pets(t);
  large.set(model(9), Buffer.alloc(161e6));
  large.set("unroll-run/text.txt", Buffer.alloc(5e6 + 1, "a"));
  const archive = buffer("large.zip", zipped(large));
  await choose(page, archive);
  await said(page, "One model was left out because it is too large for the lab.");
  await said(page, TEXTLESS);
  await numberUntil(page, "loss-step", (step) => step === 6, "6");

  // Long names make a long list of few files.
  const names = new Map(Array.from({ length: 70 }, (_, at) => [`${"long/".repeat(12_000)}${at}`, Buffer.alloc(0)]));
  await byId(page, "model-open").setInputFiles(buffer("many.zip", zipped(names)));
  await said(page, /“many.zip” can’t be opened. It holds so many files that their list alone takes more than 4 MB/);
  await closeNotices(page);

  all.delete(model(6));
  for (const step of [2, 4, 5]) all.set(model(step), atStep(withNaN(all.get(model(1))), step));
  await choose(page, buffer("run.zip", zipped(all)));
  await numberUntil(page, "loss-step", (step) => step === 3, "3");
  await said(page, "The last 2 models were left out. The latest is from step 5. Some of its numbers can’t be used: they are NaN or infinite. The run continues from step 3.");
  await said(page, "One model was left out because it has numbers that are NaN or infinite.");
  await moments(page, 2);
  await closeSettings(page);
  await before(page, 1);
  assert.deepEqual(await attention(page), seen[0]);

  // One of them is named, and where none is sound, nothing changes.
  all.set(model(3), withNaN(all.get(model(3))));
  all.delete(model(4));
  all.delete(model(5));
  await choose(page, folder(t, all), "run-open");
  await said(page, "The last 2 models were left out. The latest is from step 3.");
  await numberUntil(page, "loss-step", (step) => step === 1, "1");
  all.delete(model(1));
  await byId(page, "run-open").setInputFiles(folder(t, all));
  await said(page, "This folder can’t be opened. Some of its numbers can’t be used: they are NaN or infinite. The model you see is unchanged.");

  // A browser of before.
  await page.evaluate(() => void delete globalThis.DecompressionStream);
  await byId(page, "model-open").setInputFiles(archive);
  await said(page, /“large.zip” can’t be opened. This browser can’t unzip it/);

  // The most that the time bar has room for.
  const { all: many } = await pets(t);
  for (let step = 2; step <= 257; step++) many.set(model(step), atStep(many.get(model(1)), step));
  await byId(page, "model-open").setInputFiles(buffer("run.zip", zipped(many, false)));
  await said(page, "The time bar shows 256 of this run’s 257 moments, the most that it has room for.");
  await moments(page, 256);
});

/** Has the page wait for `release()` with what it reads, from `hold()` on; of a file with this name, if one
 *  is given, from its third part on. */
function holdReads(name) {
  // As where a browser reads files into buffers of its own.
  globalThis.ReadableStreamBYOBReader = undefined;
  const { slice, arrayBuffer } = Blob.prototype;
  const held = new WeakSet();
  let [gate, parts] = [null, 0];
  globalThis.reading = 0;
  globalThis.hold = () => {
    gate = new Promise((resolve) => (globalThis.release = resolve));
    parts = 0;
  };
  Blob.prototype.slice = function (...range) {
    const part = slice.apply(this, range);
    if (name && this.name === name && ++parts > 2) held.add(part);
    return part;
  };
  Blob.prototype.arrayBuffer = async function () {
    globalThis.reading++;
    if (!name || held.has(this)) await gate;
    const bytes = await arrayBuffer.call(this);
    globalThis.reading--;
    return bytes;
  };
}

const hold = (page) => page.evaluate(() => void globalThis.hold());
const release = (page) => page.evaluate(() => globalThis.release());

test("what the learner began while a file was opened stays, and the page says what it opens", async (t) => {
  const { all } = await pets(t);
  const [first, second] = ["first.zip", "second.zip"].map((name) => buffer(name, zipped(all)));
  const page = await opened(t, SMALL, { init: [holdReads] });
  const none = (name) => page.locator('[data-testid="notice"]', { hasText: `Opening “${name}”` }).waitFor({ state: "detached" });
  await hold(page);
  await choose(page, first);
  await said(page, "Opening “first.zip” …");
  await byId(page, "start-over").click();
  await release(page);
  await said(page, "“first.zip” was not opened. You started something else in the meantime.");
  await none("first.zip");
  assert.equal(await number(page, "loss-step"), 0);

  // Of two, the one that was chosen last.
  await hold(page);
  await byId(page, "model-open").setInputFiles(second);
  await said(page, "Opening “second.zip” …");
  await byId(page, "model-open").setInputFiles(first);
  await said(page, "Opening “first.zip” …");
  await release(page);
  await said(page, "“second.zip” was not opened. You started something else in the meantime.");
  await numberUntil(page, "loss-step", (step) => step === 6, "6");
  await none("first.zip");
  await none("second.zip");
});

test("moments that are still being read go to no other run, and come after all where the numbers run away", async (t) => {
  const { all, seen } = await pets(t);
  const content = `(${holdReads})("unroll-step-1.safetensors"); (${muteWorkers})();`;
  const page = await opened(t, SMALL, { init: [{ content }] });
  await hold(page);
  await choose(page, folder(t, all), "run-open");
  await numberUntil(page, "loss-step", (step) => step === 6, "6");
  await page.evaluate(() => globalThis.mute());
  await byId(page, "start-over").click();
  await release(page);
  // All that was to be read has been read.
  await eventually(async () => {
    await drawn(page);
    return page.evaluate(() => globalThis.reading === 0);
  });
  await page.evaluate(() => globalThis.unmute());
  await numberUntil(page, "loss-step", (step) => step === 0, "0");
  await stepTo(page, 2);
  assert.equal(await page.locator('[data-testid="notice"]', { hasText: "A saved moment" }).count(), 0);
  await moments(page, 3);

  // The same run again, of which the learner spoils the numbers.
  await hold(page);
  await choose(page, folder(t, all), "run-open");
  await numberUntil(page, "loss-step", (step) => step === 6, "6");
  await byId(page, "control-lr").fill("1000");
  await byId(page, "control-lr").press("Enter");
  await byId(page, "train-toggle").click();
  await byId(page, "restore-last-good").click();
  await byId(page, "diverged").waitFor({ state: "detached" });
  await release(page);
  await closeSettings(page);
  await byId(page, "time-track").focus();
  await eventually(async () => {
    await page.keyboard.press("Home");
    // The page shows the present until there is a moment to go back to.
    const shown = await byId(page, "time-shown").allTextContents();
    return shown.length === 1 && asNumber(shown[0]) === 1;
  }, "the first moment is there");
  await settled(page);
  assert.deepEqual(await attention(page), seen[0]);
});
