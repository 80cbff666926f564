// Runs are kept in the browser: a reload, a crash and a closed tab lose nothing that rested.
import assert from "node:assert/strict";

import {
  asNumber,
  byId,
  closeNotices,
  closeSettings,
  crash,
  eventually,
  exported,
  live,
  noted,
  number,
  numberUntil,
  openSettings,
  parameter,
  paused,
  said,
  settled,
  stepTo,
  test,
  useSite,
} from "./harness.mjs";

const site = useSite();
const SMALL = "?layers=1&heads=2&width=16&context=24&batch=4&workers=1&device=cpu";

const offer = (page) => byId(page, "kept-offer");
const loss = (page) => byId(page, "loss-value").textContent();

async function ready(page) {
  await live(page, "attention");
  await settled(page);
}

/** The names and sizes of the files that the page has kept. */
const files = (page, folder = "runs") => page.evaluate(async (path) => {
  const all = [];
  let folder = await navigator.storage.getDirectory();
  for (const name of path.split("/")) folder = await folder.getDirectoryHandle(name, { create: true });
  for await (const [name, handle] of folder.entries()) {
    // One that is deleted just now is gone.
    const { size } = await handle.getFile?.().catch(() => ({ size: 0 })) ?? { size: 1 };
    if (size > 0) all.push({ name, size });
  }
  return all;
}, folder);

/** Replaces a kept file's bytes by what `change`, the source of a function, makes of them. */
const rewrite = (page, name, change, folder = "runs") => page.evaluate(async ([name, change, path]) => {
  let folder = await navigator.storage.getDirectory();
  for (const name of path.split("/")) folder = await folder.getDirectoryHandle(name);
  const handle = await folder.getFileHandle(name);
  const bytes = new Uint8Array(await (await handle.getFile()).arrayBuffer());
  const writer = await handle.createWritable();
  await writer.write(new Function("bytes", change)(bytes));
  await writer.close();
}, [name, change, folder]);

/** Waits until this element has the focus. */
async function focused(element, what) {
  let [there, at] = [false, ""];
  await eventually(async () => {
    [there, at] = await element.evaluate((node) => {
      const { activeElement: active } = document;
      return [node === active, active?.id || active?.outerHTML.slice(0, 80)];
    });
    return there;
  }, () => `${what}; it is on ${at}`);
}

/** Runs in the page: files are opened for writing only after `letWrite()`. */
function holdWrites() {
  const { prototype } = FileSystemFileHandle;
  const { createWritable } = prototype;
  const held = new Promise((resolve) => (window.letWrite = resolve));
  prototype.createWritable = async function (...options) {
    window.writes = true;
    await held;
    return createWritable.apply(this, options);
  };
}

/** Waits until the run is kept as it is now: its file says the step. */
async function kept(page, step) {
  await openSettings(page);
  await page.locator('[data-testid="kept-run"]', { hasText: `step ${step},` }).first().waitFor();
}

/** The steps of the moments that are kept of the only run. */
async function moments(page) {
  const [run] = await files(page);
  return run ? (await files(page, `moments/${run.name}`)).map(({ name }) => Number(name)).sort((a, b) => a - b) : [];
}

/** The figure's cells at this moment, of which there is one for each step. */
async function cellsAt(page, step, figure) {
  // It may come from its file just now.
  await byId(page, "time-track").focus();
  await page.keyboard.press("Home");
  for (let at = 0; at < step; at++) await page.keyboard.press("ArrowRight");
  await numberUntil(page, "time-shown", (shown) => shown === step, `${step}`);
  await settled(page);
  return (await exported(page, figure)).values;
}

/** That every one of these moments is shown with the cells that it had, from the last to the first. */
async function seenAgain(page, seen, figure = "attention") {
  const track = byId(page, "time-track");
  const present = await number(page, "loss-step");
  for (let step = seen.length - 1; step >= 0; step--) {
    assert.deepEqual(await cellsAt(page, step, figure), seen[step], `step ${step}`);
  }
  await track.focus();
  await page.keyboard.press("End");
  assert.equal(await number(page, "loss-step"), present);
}

/** Waits until so many moments can be gone to. */
async function recorded(page, count) {
  const title = () => byId(page, "time-track").getAttribute("title");
  await eventually(async () => (await title()).startsWith(`${count} moments recorded`), title);
}

test("a run and its moments outlive the engine and the page, bit for bit, and it goes on to the same losses", async (t) => {
  const page = await site.open(t, SMALL);
  await ready(page);
  assert.equal(await offer(page).count(), 0, "nothing is kept at first");
  // Straight on; then from the start again, in a file of its own.
  await stepTo(page, 5);
  const wanted = await loss(page);
  await kept(page, 5);
  await byId(page, "kept-delete-all").click();
  await eventually(async () => (await files(page)).length === 0, "no file is left");
  await byId(page, "start-over").click();
  await numberUntil(page, "loss-step", (step) => step === 0, "0");
  await closeSettings(page);
  await settled(page);
  const seen = [];
  for (let step = 0; step < 2; step++) {
    seen.push((await exported(page, "attention")).values);
    await stepTo(page, step + 1);
  }
  assert.notDeepEqual(seen[0], seen[1]);
  await kept(page, 2);
  await eventually(async () => (await moments(page)).join() === "0,1", async () => `${await moments(page)}`);
  await closeSettings(page);
  // A fresh engine has them from there.
  await crash(page, "has taken over with the model as it was at step 2");
  await recorded(page, 3);
  await seenAgain(page, seen);
  await closeNotices(page);
  await page.reload();
  await ready(page);
  await offer(page).waitFor();
  assert.match(await offer(page).textContent(), /Tales: 1 layer, 2 heads, 16 wide, step 2, loss/);
  assert.equal(await number(page, "loss-step"), 0, "it is offered, not forced");
  await byId(page, "kept-continue").click();
  await numberUntil(page, "loss-step", (step) => step === 2, "2");
  assert.equal(await offer(page).count(), 0);
  await recorded(page, 3);
  await seenAgain(page, seen);
  await stepTo(page, 5);
  assert.equal(await loss(page), wanted);
  // It goes on in its own file. While that is written again, there may be another beside it.
  await kept(page, 5);
  await eventually(async () => (await files(page)).length === 1, async () => JSON.stringify(await files(page)));
  await eventually(async () => (await moments(page)).join() === "0,1,2,3,4", async () => `${await moments(page)}`);

  // They go with their run, and come back with it.
  const [{ name }] = await files(page);
  await byId(page, "kept-run").getByRole("button", { name: "Delete" }).click();
  await eventually(async () => !(await files(page, "moments")).some((run) => run.name === name), "they are gone");
  await byId(page, "kept-undo").click();
  await eventually(async () => (await moments(page)).length === 5, "they are back");
  // A copy has its own. A damaged one is left out.
  await byId(page, "kept-run").getByRole("button", { name: "Duplicate" }).click();
  await eventually(async () => (await files(page)).length === 2, "it is copied");
  const copy = (await files(page)).find((file) => file.name !== name).name;
  await eventually(async () => (await files(page, `moments/${copy}`)).length === 5, "with its moments");
  await rewrite(page, "2", "bytes[bytes.length - 1] ^= 1; return bytes", `moments/${copy}`);
  await byId(page, "kept-run").filter({ hasText: "Copy of" }).getByRole("button", { name: "Continue" }).click();
  await said(page, "One model was left out because it couldn’t be read.");
  await recorded(page, 5);

  // The browser's storage is cleared while it trains, and its engine dies in the middle of a step.
  await closeSettings(page);
  await stepTo(page, 6);
  await kept(page, 6);
  await closeSettings(page);
  await byId(page, "train-toggle").click();
  await numberUntil(page, "loss-step", (step) => step > 8, "above 8");
  await page.evaluate(async () => {
    const root = await navigator.storage.getDirectory();
    for await (const name of root.keys()) await root.removeEntry(name, { recursive: true }).catch(() => {});
  });
  await crash(page, "has taken over with the model as it was at step");
  await paused(page);
  const step = await number(page, "loss-step");
  assert(step >= 6, `${step}`);
  await stepTo(page, step + 1);
  await kept(page, step + 1);
  await page.reload();
  await ready(page);
  await offer(page).filter({ hasText: new RegExp(`step ${step + 1}, loss`) }).waitFor();
});

test("a state waits for the one being written; a run that was started over comes back with its date and place; texts of one name are told apart; a full browser is said to be one", async (t) => {
  // The page begins three hours ago.
  const early = () => {
    const now = Date.now;
    window.moved = -3 * 3600e3;
    Date.now = () => now() + window.moved;
  };
  const content = `(${early})(); (${holdWrites})();`;
  const page = await site.open(t, SMALL, { init: [{ content }] });
  await ready(page);
  await stepTo(page, 3);
  await page.waitForFunction(() => window.writes);
  await stepTo(page, 5);
  await page.evaluate(() => {
    const see = (hidden) => {
      Object.defineProperty(document, "hidden", { configurable: true, value: hidden });
      window.dispatchEvent(new Event("visibilitychange"));
    };
    // Out of sight it asks for its state at once.
    see(true);
    see(false);
  });
  // The engine has answered that before it answers this.
  await byId(page, "probe-input").fill("the goat");
  await eventually(async () => (await page.locator(".token-row .token").count()) === 8);
  await page.evaluate(() => window.letWrite());
  await kept(page, 5);
  assert.equal((await files(page)).length, 1);

  // It can be gone on with in the same tab.
  await page.evaluate(() => void (window.moved = 0));
  await byId(page, "start-over").click();
  await numberUntil(page, "loss-step", (step) => step === 0, "0");
  await stepTo(page, 1);
  await kept(page, 1);
  assert.equal((await files(page)).length, 2);
  const runs = byId(page, "kept-run");
  const old = runs.filter({ hasText: /step 5,.* 3 hours ago/ });
  await old.waitFor();
  assert.doesNotMatch(await old.textContent(), /another tab/);
  await old.getByRole("button", { name: "Delete" }).click();
  await old.waitFor({ state: "detached" });
  await byId(page, "kept-undo").click();
  await old.waitFor();
  // The newer run is first, though its file is the older one now.
  assert.match((await runs.allTextContents())[0], /step 1,/);
  await old.getByRole("button", { name: "Continue" }).click();
  await numberUntil(page, "loss-step", (step) => step === 5, "5");
  await stepTo(page, 6);
  await kept(page, 6);
  assert.equal((await files(page)).length, 2);

  // Two texts of the learner's own that have one name are told apart.
  const learn = async (words) => {
    const text = words.repeat(30);
    await openSettings(page, "source");
    await byId(page, "text-open").setInputFiles({ name: "mine.txt", mimeType: "text/plain", buffer: Buffer.from(text) });
    await byId(page, "text-present").filter({ hasText: `${text.length.toLocaleString("en")} characters` }).waitFor();
    await settled(page);
  };
  await learn("my very own words, over and over. ");
  await numberUntil(page, "loss-step", (step) => step === 0, "0");
  await stepTo(page, 2);
  await kept(page, 2);
  await learn("my own words, again and again. ");
  await numberUntil(page, "loss-step", (step) => step === 0, "0");
  await openSettings(page);
  const differs = byId(runs.filter({ hasText: "mine.txt:" }), "kept-differs");
  await differs.filter({ hasText: "Text: a different one with the same name." }).waitFor();
  // The first one again.
  await learn("my very own words, over and over. ");
  await openSettings(page);
  await differs.waitFor({ state: "detached" });

  // Now there is no room.
  await page.evaluate(() => {
    const refuse = () => Promise.reject(new DOMException("full", "QuotaExceededError"));
    FileSystemWritableFileStream.prototype.write = refuse;
  });
  await stepTo(page, 1);
  await said(page, "no room left");
  await stepTo(page, 2);
});

test("another tab does not take a run away, and goes on with a copy", async (t) => {
  const page = await site.open(t, SMALL);
  await ready(page);
  await stepTo(page, 2);
  await kept(page, 2);
  const other = await page.context().newPage();
  await other.goto(new URL(SMALL, site.url).href);
  await ready(other);
  await openSettings(other);
  await other.locator('[data-testid="kept-run"]', { hasText: "open in another tab" }).waitFor();
  assert.equal(await offer(other).count(), 0);
  await byId(other, "kept-run").getByRole("button", { name: "Continue" }).click();
  await numberUntil(other, "loss-step", (step) => step === 2, "2");
  await stepTo(other, 3);
  await kept(other, 3);
  assert.equal((await files(other)).length, 2);
  await stepTo(page, 4);
  await kept(page, 4);
  assert.equal((await files(page)).length, 2);
  // What the other tab has open is not deleted with all the rest.
  const both = (await files(page)).map(({ name }) => name).sort().join();
  await byId(page, "kept-delete-all").click();
  await byId(page, "kept-runs").getByText("1 run deleted. 1 run was kept: it is open in another tab.").waitFor();
  await byId(page, "kept-run").filter({ hasText: "open in another tab" }).waitFor();
  const left = await files(page);
  assert.equal(left.length, 1);
  await stepTo(other, 4);
  await kept(other, 4);
  assert.deepEqual((await files(other)).map(({ name }) => name), [left[0].name]);
  // And it comes back beside it.
  await byId(page, "kept-undo").click();
  await kept(page, 4);
  const names = async () => (await files(page)).map(({ name }) => name).sort().join();
  await eventually(async () => (await names()) === both, "both are there");
});

test("all that is kept can be deleted, and a deleted run neither comes back nor is gone on with; a damaged file is said to be one", async (t) => {
  const page = await site.open(t, SMALL);
  await ready(page);
  await stepTo(page, 2);
  await kept(page, 2);
  await byId(page, "kept-delete-all").click();
  await eventually(async () => (await files(page)).length === 0, "no file is left");
  await byId(page, "kept-runs").getByText("None yet.").waitFor();
  await focused(byId(page, "kept-undo"), "the focus is on what takes it back");
  await stepTo(page, 3);
  assert.equal((await files(page)).length, 0, "what was deleted is not kept again");
  // Brought back, it is kept as it is by now.
  await byId(page, "kept-undo").click();
  await kept(page, 3);
  // The run on the page can't be continued.
  await focused(byId(page, "kept-run").getByRole("button", { name: "Rename" }), "the focus is on the run");
  assert.equal((await files(page)).length, 1);
  await byId(page, "kept-delete-all").click();
  await eventually(async () => (await files(page)).length === 0, "none is left again");
  // Other models are kept again.
  for (const steps of [1, 2]) {
    await byId(page, "start-over").click();
    await numberUntil(page, "loss-step", (step) => step === 0, "0");
    await stepTo(page, steps);
    await kept(page, steps);
  }
  await page.reload();
  await ready(page);
  await offer(page).filter({ hasText: "step 2," }).waitFor();
  await eventually(async () => (await files(page)).length === 2, "what was deleted is gone");
  // One that is offered is deleted in the list.
  await openSettings(page);
  const runs = byId(page, "kept-run");
  const offered = runs.filter({ hasText: "step 2," });
  await offered.getByRole("button", { name: "Delete" }).click();
  await offered.waitFor({ state: "detached" });
  await byId(page, "kept-continue").click();
  await said(page, "That run is gone");
  // A weight near the end of the other is another: only the checksum knows.
  const [{ name, size }] = await files(page);
  assert(size > 1000);
  await rewrite(page, name, "bytes[bytes.length - 5] ^= 1; return bytes;");
  await runs.filter({ hasText: "step 1," }).getByRole("button", { name: "Continue" }).click();
  await said(page, "its file is damaged");
  assert.equal(await number(page, "loss-step"), 0);
  // What is no run at all is listed as what it is, and can be deleted. The model on show goes on.
  await rewrite(page, name, "return new Uint8Array(100);");
  await stepTo(page, 1);
  const row = runs.filter({ hasText: "A damaged file" });
  await row.getByRole("button", { name: "Delete" }).click();
  await row.waitFor({ state: "detached" });
});

test("a run is renamed, copied, and deleted, and comes back where that was a mistake; 12 are kept beside twins, 6 with their moments, and the list is the latest", async (t) => {
  const page = await site.open(t, SMALL);
  await ready(page);
  await stepTo(page, 4);
  await kept(page, 4);
  const runs = byId(page, "kept-run");
  // Its losses are a line with a point for each step.
  const points = await runs.first().locator("polyline").getAttribute("points");
  assert.equal(points.split(" ").length, 4);

  // By keyboard alone: a name that is kept, and one that is not.
  await runs.getByRole("button", { name: "Rename" }).focus();
  await page.keyboard.press("Enter");
  await byId(page, "kept-name").fill("My first");
  await page.keyboard.press("Enter");
  await runs.filter({ hasText: "My first (Tales: 1 layer" }).waitFor();
  const onRename = () => page.evaluate(() => document.activeElement.textContent === "Rename");
  await eventually(onRename, "the focus is where it was");
  await runs.getByRole("button", { name: "Rename" }).click();
  await byId(page, "kept-name").fill("Another");
  await page.keyboard.press("Escape");
  await byId(page, "kept-name").waitFor({ state: "detached" });
  await eventually(onRename, "and again");

  await runs.getByRole("button", { name: "Duplicate" }).click();
  const copy = runs.filter({ hasText: "Copy of My first" });
  await copy.waitFor();
  const [one, two] = await files(page);
  assert.equal(one.size, two.size);
  // Buttons of the same kind are told apart by their names alone.
  for (const action of ["Rename", "Duplicate", "Delete"]) {
    for (const run of ["My first", "Copy of My first"]) {
      const named = byId(page, "kept-runs").getByRole("button", { name: `${action} ${run}`, exact: true });
      assert.equal(await named.count(), 1, `${action} ${run}`);
    }
  }

  // What a run has otherwise than the model on the page is said.
  assert.equal(await byId(copy, "kept-differs").count(), 0);
  await byId(page, "control-layers").fill("2");
  await byId(page, "control-layers").press("Enter");
  await byId(page, "start-over").click();
  await numberUntil(page, "loss-step", (step) => step === 0, "0");
  await openSettings(page);
  await byId(copy, "kept-differs").filter({ hasText: "Layers: 1, not 2." }).waitFor();
  // Neither is the run on the page any more.
  await eventually(async () => !(await runs.allTextContents()).join().includes("on this page)"));

  await copy.getByRole("button", { name: "Delete" }).focus();
  await page.keyboard.press("Enter");
  await copy.waitFor({ state: "detached" });
  await byId(page, "kept-runs").getByText("1 run deleted.").waitFor();
  await focused(byId(page, "kept-undo"), "the focus is on what takes it back");
  await page.keyboard.press("Enter");
  await copy.waitFor();
  await focused(copy.getByRole("button", { name: "Continue" }), "the focus is on what came back");
  // Also while a name is being written. It is gone at once.
  await copy.getByRole("button", { name: "Rename" }).click();
  await copy.getByRole("button", { name: "Delete" }).click();
  await copy.waitFor({ state: "detached" });
  await eventually(async () => (await files(page)).length === 1, "one file is left");
  await page.reload();
  await ready(page);
  await offer(page).filter({ hasText: /here\. ?My first \(Tales: 1 layer/ }).waitFor();
  assert.equal((await files(page)).length, 1);
  // The copy was a run of its own: what is left goes on.
  await byId(page, "kept-continue").click();
  await numberUntil(page, "loss-step", (step) => step === 4, "4");
  await openSettings(page);
  await runs.filter({ hasText: "on this page" }).waitFor();

  // One reading of the folder is held back, now; of two the one that began later counts.
  const slow = () => {
    const values = FileSystemDirectoryHandle.prototype.values;
    FileSystemDirectoryHandle.prototype.values = async function* () {
      const all = [];
      for await (const handle of values.call(this)) all.push(handle);
      if (window.hold) {
        window.hold = false;
        await new Promise((resolve) => void (window.release = resolve));
      }
      yield* all;
    };
  };
  await page.evaluate(slow);
  await runs.getByRole("button", { name: "Rename" }).click();
  await byId(page, "kept-name").waitFor();
  await page.evaluate(() => void (window.hold = true));
  await byId(page, "kept-name").press("Escape");
  await page.waitForFunction(() => window.release);
  await runs.getByRole("button", { name: "Duplicate" }).click();
  await eventually(async () => (await runs.count()) === 2, "two runs");
  await page.evaluate(() => window.release());
  // It had one file to look into; this looks into two.
  assert.equal((await files(page)).length, 2);
  await settled(page);
  assert.equal(await runs.count(), 2, "the list of before does not come back");

  // Others are there as though they had been copied before, with their moments, and two twins.
  await page.evaluate(async () => {
    const root = await navigator.storage.getDirectory();
    const folder = await root.getDirectoryHandle("runs");
    const { value } = await folder.values().next();
    const bytes = await (await value.getFile()).arrayBuffer();
    const moments = await root.getDirectoryHandle("moments");
    const write = async (folder, name, content) => {
      const writer = await (await folder.getFileHandle(name, { create: true })).createWritable();
      await writer.write(content);
      await writer.close();
    };
    const names = [...Array(9).keys()].map((i) => `run-1700000000000-00${i + 13}`);
    for (const name of [...names, "twin-run-1700000000000-0013-1700000000000-0001", "twin-run-1700000000000-0014-1700000000000-0002"]) {
      await write(folder, name, bytes);
      await write(await moments.getDirectoryHandle(name, { create: true }), "1", "of step 1");
    }
  });
  await runs.last().getByRole("button", { name: "Duplicate" }).click();
  await eventually(async () => (await runs.count()) === 14, "12 runs and 2 twins");
  await runs.last().getByRole("button", { name: "Duplicate" }).click();
  await said(page, "At most 12 runs are kept.");
  assert.equal((await files(page)).length, 14, "a run that is copied costs no other");
  // With its next state the run on the page is the newest.
  await stepTo(page, 5);
  await kept(page, 5);
  const withMoments = async () => (await files(page, "moments")).map(({ name }) => name);
  await eventually(async () => (await withMoments()).length === 8, "six runs and both twins");
  assert.equal((await withMoments()).filter((name) => name.startsWith("twin")).length, 2);
});

test("where nothing can be kept the page says so once and trains on", async (t) => {
  const denied = () => {
    const refuse = () => Promise.reject(new DOMException("no", "SecurityError"));
    navigator.storage.constructor.prototype.getDirectory = refuse;
  };
  const page = await site.open(t, SMALL, { init: [denied] });
  await ready(page);
  await stepTo(page, 2);
  const notice = page.locator('[data-testid="notice"]', { hasText: "keeps no runs for this page" });
  await notice.waitFor();
  await stepTo(page, 4);
  assert.equal(await notice.count(), 1);
});

const RNN = "?chapter=rnn&rnn-hidden=8&seed=5";
/** The steps that the chapter takes by itself. */
const WARM = 120;
const LEFT = /This chapter goes on from step (.+), where you left it/;
const left = (page) => page.locator('[data-testid="notice"]', { hasText: LEFT });
/** The line of the chapter's losses in the time bar. */
const curve = (page) => page.locator(".time-curve-0").getAttribute("d");

/** Waits until the chapter's models rest after so many steps. */
async function rests(page, step) {
  await byId(page, "chapter-rnn").waitFor();
  await byId(page, "train-step").waitFor();
  await numberUntil(page, "loss-step", (now) => now === step, `${step}`);
  await paused(page);
}

/** The step at which the chapter is kept; 0 where it is not. */
const keptStep = (page) => page.evaluate(async () => {
  if (localStorage.getItem("unroll-kept-chapters") !== "rnn") return 0;
  const root = await navigator.storage.getDirectory();
  const folder = await root.getDirectoryHandle("chapters");
  // While it is replaced it is not there.
  const file = await folder.getFileHandle("rnn").then((handle) => handle.getFile()).catch(() => null);
  const bytes = new Uint8Array((await file?.arrayBuffer().catch(() => null)) ?? []);
  if (bytes.length === 0) return 0;
  // Eight bytes, then the records: settings, curve, models. Each begins with its length and its checksum.
  let at = 8;
  for (let record = 0; record < 2; record++) at += 8 + new DataView(bytes.buffer).getUint32(at, true);
  at += 8;
  const number = () => {
    for (let [value, shift] = [0, 0]; ; shift += 7) {
      value |= (bytes[at] & 127) << shift;
      if (bytes[at++] < 128) return value;
    }
  };
  // The models as bytes: how many they are, then the step.
  number();
  return number();
});

/** Takes steps as far as this one, and waits until the chapter is kept there. */
async function keptAt(page, step) {
  await stepTo(page, step);
  let last = 0;
  await eventually(async () => (last = await keptStep(page)) === step, () => `it is kept at ${step}, not at ${last}`);
}

test("a chapter goes on where it was left, to the same losses, with its curve and its moments; back to the start forgets it", async (t) => {
  const page = await site.open(t, "?chapter=rnn");
  await rests(page, WARM);
  // A visit alone keeps nothing.
  await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 1500)));
  assert.deepEqual(await files(page, "chapters"), []);
  // Straight on; then from the start again.
  await keptAt(page, WARM + 4);
  const [wanted, drawnThen] = [await loss(page), await curve(page)];
  const forget = async () => {
    await byId(page, "back-to-start").click();
    await rests(page, WARM);
    await eventually(async () => (await files(page, "chapters")).length === 0, "it is deleted");
  };
  await forget();

  await keptAt(page, WARM + 2);
  const before = await loss(page);
  const seen = [];
  for (let step = 0; step < 3; step++) seen.push(await cellsAt(page, step, "unrolled"));
  assert.notDeepEqual(seen[0], seen[2]);
  await page.reload();
  await rests(page, WARM + 2);
  await left(page).waitFor();
  await seenAgain(page, seen, "unrolled");
  assert.equal((await left(page).textContent()).match(LEFT)[1], String(WARM + 2));
  assert.equal(await loss(page), before, "the curve came along");
  await stepTo(page, WARM + 4);
  assert.equal(await loss(page), wanted);
  assert.equal(await curve(page), drawnThen);

  await forget();
  await left(page).waitFor({ state: "detached" });
  await page.reload();
  await rests(page, WARM);
  assert.equal(await left(page).count(), 0);
});

test("a chapter long left gives up its engine, and comes back as it was left; the death of one costs no more than was trained since", async (t) => {
  // What happens after half a minute happens at once.
  const hasten = () => {
    const later = window.setTimeout.bind(window);
    window.setTimeout = (then, wait, ...more) => later(then, wait === 30_000 ? 0 : wait, ...more);
  };
  const page = await site.open(t, RNN, { init: [hasten], allow: [/boom/] });
  const engines = () => page.workers().filter((worker) => worker.url().includes("engine_course")).length;
  const leave = async () => {
    await byId(page, "chapter-list").click();
    await page.locator('a[href^="?chapter=gpt"]').first().click();
    await byId(page, "chapter-gpt").waitFor();
    await eventually(() => engines() === 0, "its worker ends");
  };
  const comeBack = async (step) => {
    await page.goBack();
    await rests(page, step);
    assert.equal(engines(), 1);
    assert.equal(await left(page).count(), 0, "nobody need know");
  };
  await rests(page, WARM);
  const became = await noted(page, "loss-step");
  await crash(page, "trains the model again from the start");
  await became((step) => step < WARM, "the first steps again");
  await rests(page, WARM);
  await closeNotices(page);
  const [first, drawnFirst] = [await loss(page), await curve(page)];
  await leave();
  // The first steps are taken again, and are the same.
  await comeBack(WARM);
  assert.equal(await loss(page), first);
  assert.equal(await curve(page), drawnFirst);
  await keptAt(page, WARM + 3);
  const [then, drawnThen] = [await loss(page), await curve(page)];
  await leave();
  await comeBack(WARM + 3);
  assert.equal(await loss(page), then);
  assert.equal(await curve(page), drawnThen);
  await crash(page, "goes on with the model as it was kept last", "engine_course");
  await left(page).waitFor();
  await rests(page, WARM + 3);
  assert.equal(await loss(page), then);
  await stepTo(page, WARM + 4);
});

test("while a chapter trains it is kept about every ten seconds", async (t) => {
  // The time is as much later as the test says.
  const clock = () => {
    const { now } = Performance.prototype;
    window.later = 20_000;
    Performance.prototype.now = function () {
      return now.call(this) + window.later;
    };
  };
  const page = await site.open(t, RNN, { init: [clock] });
  await rests(page, WARM);
  await byId(page, "train-toggle").click();
  let [first, second] = [0, 0];
  await eventually(async () => (first = await keptStep(page)) > 0, "it is kept at first");
  await page.evaluate(() => void (window.later += 5000));
  await numberUntil(page, "loss-step", (step) => step > first + 200, "200 steps more");
  assert.equal(await keptStep(page), first, "it is not kept again soon");
  await page.evaluate(() => void (window.later += 4500));
  await eventually(async () => (second = await keptStep(page)) > first, "it is kept again");
  // Nobody pauses it: what comes last is lost, and no more.
  await page.reload();
  await left(page).waitFor();
  await paused(page);
  const step = await number(page, "loss-step");
  assert(step >= second, `${step} of ${second}`);
  assert.equal(asNumber((await left(page).textContent()).match(LEFT)[1]), step);
  // Who goes on in the story has read it.
  await page.keyboard.press("PageDown");
  await left(page).waitFor({ state: "detached" });
});

test("a chapter of other settings begins anew, and goes on when it is as it was; what comes last is kept, of two tabs too, and listed", async (t) => {
  const page = await site.open(t, RNN);
  await rests(page, WARM);
  await keptAt(page, WARM + 2);
  await page.goto(new URL("?chapter=rnn&rnn-hidden=9&seed=5", site.url).href);
  await rests(page, WARM);
  assert.equal(await left(page).count(), 0);
  assert.equal((await files(page, "chapters")).length, 1, "what was kept is left alone");
  // Also on the page.
  const hidden = async (value) => {
    await openSettings(page);
    await byId(page, "control-rnn-hidden").fill(value);
    await byId(page, "control-rnn-hidden").press("Enter");
    await closeSettings(page);
  };
  await hidden("8");
  await rests(page, WARM + 2);
  await left(page).waitFor();
  // What is trained at last is what is kept.
  await hidden("9");
  await rests(page, WARM);
  await left(page).waitFor({ state: "detached" });
  await keptAt(page, WARM + 1);
  await page.goto(new URL(RNN, site.url).href);
  await rests(page, WARM);
  assert.equal((await files(page, "chapters")).length, 1);

  // In another page's frame a chapter keeps nothing, and goes on from nothing.
  await keptAt(page, WARM + 2);
  await page.goto(new URL(`${RNN}&embed=1`, site.url).href);
  await rests(page, WARM);
  await stepTo(page, WARM + 3);
  await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 1500)));
  assert.equal(await keptStep(page), WARM + 2, "a frame keeps nothing");

  // To a step in the address it is trained, until it is trained further.
  await page.goto(new URL(`${RNN}&step=130`, site.url).href);
  await rests(page, 130);
  await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 1500)));
  assert.equal(parameter(page, "step"), "130");
  assert.equal(await left(page).count(), 0);
  assert.equal(await keptStep(page), WARM + 2, "and is not kept for that");
  await keptAt(page, 131);
  await eventually(() => parameter(page, "step") === null, "the address forgets the step");

  // Of two tabs the last that writes is kept.
  const other = await page.context().newPage();
  await other.goto(new URL(RNN, site.url).href);
  await rests(other, 131);
  await left(other).waitFor();
  await keptAt(other, 133);
  await keptAt(page, 132);
  // What is said of this chapter goes with it.
  await byId(other, "chapter-list").click();
  await other.locator('a[href^="?chapter=bigram"]').first().click();
  await byId(other, "chapter-bigram").waitFor();
  await left(other).waitFor({ state: "detached" });
  await other.close();

  // The list of runs says what chapters take up, and deletes them with the rest.
  await page.goto(new URL(SMALL, site.url).href);
  await ready(page);
  await openSettings(page);
  await byId(page, "kept-chapters").filter({ hasText: "The models of 1 chapter are kept as well" }).waitFor();
  await byId(page, "kept-delete-all").click();
  await byId(page, "kept-runs").getByText("Models of 1 chapter deleted.").waitFor();
  await eventually(async () => (await files(page, "chapters")).length === 0, "no file is left");
  await focused(byId(page, "kept-undo"), "the focus is on what takes it back");
  await byId(page, "kept-undo").click();
  await byId(page, "kept-chapters").waitFor();
  await eventually(async () => (await keptStep(page)) === 132, "it is as it was");

  // A damaged file is said to be one.
  await rewrite(page, "rnn", "bytes[bytes.length - 5] ^= 1; return bytes;", "chapters");
  await page.goto(new URL(RNN, site.url).href);
  await said(page, "is damaged, so its training starts over");
  await rests(page, WARM);
  await keptAt(page, WARM + 1);
});

test("where nothing can be kept a chapter says so once and trains on", async (t) => {
  const denied = () => {
    const refuse = () => Promise.reject(new DOMException("no", "SecurityError"));
    navigator.storage.constructor.prototype.getDirectory = refuse;
  };
  const page = await site.open(t, RNN, { init: [denied] });
  await rests(page, WARM);
  const notice = page.locator('[data-testid="notice"]', { hasText: "keeps no runs for this page" });
  assert.equal(await notice.count(), 0);
  await stepTo(page, WARM + 2);
  await notice.waitFor();
  await stepTo(page, WARM + 4);
  assert.equal(await notice.count(), 1);
});
