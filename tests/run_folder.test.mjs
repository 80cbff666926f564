// A run taken to PyTorch, and brought back with its moments.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { crc32, deflateRawSync } from "node:zlib";
import { test } from "./harness.mjs";

import {
  accessibilityProblems,
  byId,
  closeSettings,
  eventually,
  exported,
  live,
  number,
  numberUntil,
  openSettings,
  settled,
  stepTo,
  useSite,
} from "./harness.mjs";

const site = useSite();
const SMALL = "?layers=1&heads=2&width=16&context=24&batch=4&seed=5&workers=1&device=cpu";
const SCRIPT = new URL("../docs/train.py", import.meta.url);

async function opened(t, query) {
  const page = await site.open(t, query);
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

/** An archive of these files, all compressed. */
function zipped(files) {
  const [parts, listed] = [[], []];
  let at = 0;
  for (const [path, bytes] of files) {
    const [name, packed] = [Buffer.from(path), deflateRawSync(bytes)];
    const about = Buffer.alloc(26);
    about.writeUInt16LE(20, 0);
    about.writeUInt16LE(8, 4);
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

async function choose(page, id, files) {
  await openSettings(page);
  await byId(page, id).setInputFiles(files);
}

const attention = async (page) => (await exported(page, "attention")).values;
const loss = (page) => byId(page, "loss-value").textContent();
const said = (page, sentence) => page.locator('[data-testid="notice"]', { hasText: sentence }).waitFor();
const buffer = (name, bytes) => ({ name, mimeType: "", buffer: bytes });

test("a run is taken along, and its folder brings back every moment in it", async (t) => {
  const page = await opened(t, SMALL);
  await openSettings(page, "source");
  const text = "The cat sat on the mat; the dog sat on the log.\n".repeat(30);
  await byId(page, "text-open").setInputFiles(buffer("pets.txt", Buffer.from(text)));
  await page.locator('[data-testid="text-present"]', { hasText: "pets.txt" }).waitFor();
  await closeSettings(page, "source");
  const all = new Map();
  const seen = [];
  for (const step of [1, 3, 6]) {
    await stepTo(page, step);
    await settled(page);
    seen.push(await attention(page));
    const { name, files } = await taken(page);
    assert.equal(name, `unroll-run-step-${step}.zip`);
    for (const [path, bytes] of files) all.set(path, bytes);
  }
  const paths = ["losses.csv", ...[1, 3, 6].map((step) => `unroll-step-${step}.safetensors`)];
  assert.deepEqual([...all.keys()].sort(), [...paths.map((path) => `unroll-run/run/${path}`), "unroll-run/text.txt", "unroll-run/train.py"]);
  assert.equal(all.get("unroll-run/text.txt").toString(), text);
  assert.deepEqual(all.get("unroll-run/train.py"), readFileSync(SCRIPT));
  const table = all.get("unroll-run/run/losses.csv").toString().trim().split("\n");
  assert.equal(table.length, 7);
  assert.equal(Number(table[6].split(",")[1]).toFixed(3), Number(await loss(page)).toFixed(3));
  const last = await loss(page);
  await stepTo(page, 8);
  const wanted = await loss(page);

  // Another page, of another model and text. Files of the script that was stopped change nothing.
  all.set("unroll-run/run/unroll-step-7.part", Buffer.from("half a file"));
  const other = await opened(t, "?layers=2&heads=2&width=32&context=16&batch=2&seed=9&workers=1&device=cpu");
  await choose(other, "run-open", folder(t, all));
  await numberUntil(other, "loss-step", (step) => step === 6, "6");
  await closeSettings(other);
  assert.equal(await loss(other), last);
  await eventually(async () => /^3 moments/.test(await byId(other, "time-track").getAttribute("title")), "three moments");
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

  // Without its text the run continues on the text of the page, which is said.
  all.delete("unroll-run/text.txt");
  const third = await opened(t, SMALL);
  await choose(third, "run-open", folder(t, all));
  await said(third, /trained on a text of its author’s, “pets.txt”, which couldn’t be read from its files. It now continues on .* “Tales”/);
  await numberUntil(third, "loss-step", (step) => step === 6, "6");
});

test("an archive of a run is opened, and what is no moment of it is left out with a sentence", async (t) => {
  // A moment takes 1.6 MB: there is room for two in 4 MB.
  const page = await opened(t, "?layers=2&heads=2&width=128&context=16&batch=1&workers=1&device=cpu&moments=4");
  const all = new Map();
  for (const step of [1, 2, 3]) {
    await stepTo(page, step);
    for (const [path, bytes] of (await taken(page)).files) all.set(path, bytes);
  }
  const whole = all.get("unroll-run/run/unroll-step-3.safetensors");
  all.set("unroll-run/run/unroll-step-4.safetensors", whole.subarray(0, whole.length - 1));
  const stranger = await opened(t, SMALL);
  const { files: theirs } = await taken(stranger);
  all.set("unroll-run/old/unroll-step-0.safetensors", theirs.get("unroll-run/run/unroll-step-0.safetensors"));

  await choose(stranger, "model-open", buffer("run.zip", zipped(all)));
  await numberUntil(stranger, "loss-step", (step) => step === 3, "3");
  await said(stranger, /One model was left out because it couldn’t be read/);
  await said(stranger, /One model was left out because it is from a different run/);
  await closeSettings(stranger);
  await eventually(async () => /^3 moments/.test(await byId(stranger, "time-track").getAttribute("title")), "three moments");

  await choose(page, "model-open", buffer("run.zip", zipped(all)));
  await said(page, /The time bar shows 2 of this run’s 3 moments: no more fit in 4 MB/);
  await eventually(async () => /^2 moments/.test(await byId(page, "time-track").getAttribute("title")), "two moments");
});

test("what is no run is refused with a reason, and the model on show goes on", async (t) => {
  const page = await opened(t, SMALL);
  await stepTo(page, 2);
  const { archive } = await taken(page);
  await choose(page, "model-open", buffer("broken.zip", archive.subarray(0, archive.length - 30)));
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
});
