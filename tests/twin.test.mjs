// Twins: a second run beside the first, from the same seed, on the same text and batches, with one thing
// changed.
import assert from "node:assert/strict";

import {
  byId,
  chooseView,
  eventually,
  exported,
  fitsEverywhere,
  live,
  number,
  numberUntil,
  openView,
  parameter,
  paused,
  rested,
  settled,
  stepTo,
  test,
  train,
  useSite,
} from "./harness.mjs";

const site = useSite();
const SMALL = "?layers=1&heads=2&width=16&context=24&batch=4&workers=1&device=cpu";

/** The figure of the run, and that of its twin. */
const halves = (page) => [page.locator("#stage-view"), byId(page, "twin")];

/** Waits until the twin has taken as many steps as the run at rest; returns their number. */
async function followed(page) {
  await paused(page);
  const step = await number(page, "loss-step");
  await numberUntil(page, "twin-step", (twin) => twin === step, `${step}`);
  await settled(page);
  return step;
}

/** The data of both figures. */
async function both(page, figure) {
  const [run, twin] = halves(page);
  return [await exported(page, figure, "json", run), await exported(page, figure, "json", twin)];
}

test("a twin with nothing changed is the run again, bit for bit; one learns another text, and stops where its run does", async (t) => {
  const page = await site.open(t, "?chapter=rnn&rnn-hidden=8&view=sum");
  await numberUntil(page, "loss-step", (step) => step > 0, "above 0");
  await byId(page, "twin-open").click();
  await eventually(() => parameter(page, "twin") === "same", "the link has a twin");
  const before = await followed(page);
  assert.equal(await byId(page, "twin-loss").innerText(), await byId(page, "loss-value").innerText());
  await byId(page, "twin-panel-close").click();
  const [run, twin] = await both(page, "rnn-matrix");
  assert.deepEqual(twin.values, run.values);
  assert.deepEqual(twin.experiment, run.experiment);
  await train(page, before + 20);
  const after = await followed(page);
  assert(after >= before + 20, `${before}, ${after}`);
  const [later, its] = await both(page, "rnn-matrix");
  assert.notDeepEqual(later.values, run.values);
  assert.deepEqual(its.values, later.values);

  // Another text is the one thing that differs.
  const same = await byId(page, "twin-loss").innerText();
  assert.equal(same, await byId(page, "loss-value").innerText());
  await byId(page, "twin-change").click();
  await byId(page, "twin-text").selectOption("names");
  await eventually(() => parameter(page, "twin") === "corpus:names", "the link names the text");
  await eventually(async () => (await byId(page, "twin-loss").innerText()) !== same, "it learns something else");
  await followed(page);
  assert.match(await byId(page, "twin-bar").innerText(), /Text: Names/);
  assert.match(await byId(page, "twin-own").innerText(), /Text: Tales/);
  assert.equal(await byId(page, "loss-value").innerText(), same, "the run stays as it is");
  // Whoever opens the link has both, and the way back leads to one text for both.
  await page.reload();
  await numberUntil(page, "loss-step", (step) => step > 0, "above 0");
  await followed(page);
  // Until its text is here it learns that of the run.
  const losses = () => Promise.all(["twin-loss", "loss-value"].map((id) => byId(page, id).innerText()));
  const differs = async () => new Set(await losses()).size === 2;
  await eventually(differs, "it learns something else again");
  await followed(page);
  await byId(page, "twin-change").click();
  await byId(page, "twin-text").selectOption("tales");
  await eventually(() => parameter(page, "twin") === "same", "nothing differs");
  await eventually(async () => !(await differs()), "it is the run again");

  // Changed again before it has caught up.
  for (const text of ["names", "brackets", "names", "brackets"]) await byId(page, "twin-text").selectOption(text);
  await eventually(() => parameter(page, "twin") === "corpus:brackets", "the last one stays");
  const step = await followed(page);
  await live(byId(page, "twin"), "rnn-matrix");
  // And there it stays.
  await settled(page);
  assert.equal(await number(page, "twin-step"), step);
  await byId(page, "train-step").click();
  await numberUntil(page, "loss-step", (now) => now === step + 1, `${step + 1}`);
  assert.equal(await followed(page), step + 1);
});

test("one thing is changed in the twin alone; a link has both, which show one moment and are compared cell by cell", async (t) => {
  const page = await site.open(t, "?chapter=rnn&rnn-hidden=8&view=sum");
  await rested(page);
  const alone = page.workers().length;
  const built = await byId(page, "loss-value").innerText();
  await byId(page, "twin-open").click();
  const [panel, twin] = await Promise.all(["twin-panel", "twin"].map((id) => byId(page, id).boundingBox()));
  assert(panel.x + panel.width <= twin.x + 1, "the panel hides nothing of the twin that it changes");
  const control = byId(page, "twin-panel").locator("#control-rnn-hidden-twin");
  await control.fill("9");
  await control.press("Enter");
  await eventually(() => /^rnn-hidden:9$/.test(parameter(page, "twin") ?? ""), "the link names the change");
  assert.equal(parameter(page, "rnn-hidden"), "8", "the run stays as it is");
  await followed(page);
  // It may have caught up before it was changed.
  await eventually(async () => (await byId(page, "twin-loss").innerText()) !== built, "it is another model");
  const step = await followed(page);
  assert.equal(await byId(page, "loss-value").innerText(), built, "and goes on where it was");
  assert.match(await byId(page, "twin-own").innerText(), /Hidden units: 8/i);
  assert.match(await byId(page, "twin-bar").innerText(), /Hidden units: 9/i);
  assert.equal(page.workers().length, alone + 1);
  // One time bar for both.
  await byId(page, "time-track").focus();
  await page.keyboard.press("Home");
  await numberUntil(page, "twin-step", (step) => step === 0, "0");
  await settled(page);
  await page.keyboard.press("End");
  await numberUntil(page, "twin-step", (now) => now === step, `${step}`);

  // Whoever opens a link has both.
  await page.goto(new URL("?chapter=rnn&rnn-hidden=8&view=sum&twin=seed:2", site.url).href);
  await numberUntil(page, "loss-step", (step) => step > 0, "above 0");
  await byId(page, "twin").waitFor();
  await followed(page);
  assert(await byId(page, "twin-panel").isHidden(), "nothing is over its figure");
  const [run, second] = await both(page, "rnn-matrix");
  assert.equal(second.experiment.seed, 2);
  const { seed, ...rest } = run.experiment;
  assert.deepEqual({ ...second.experiment, seed }, { ...rest, seed }, "nothing else differs");
  const [, half] = halves(page);
  const compare = byId(half, "rnn-matrix-since");
  await compare.click();
  await compare.and(page.locator('[aria-pressed="true"]')).waitFor();
  await settled(page);
  const moved = await exported(page, "rnn-matrix", "json", half);
  assert.match(moved.value, /twin minus run$/);
  const f32 = Math.fround;
  const differences = second.values.map((row, i) => row.map((value, j) => f32(f32(value) - f32(run.values[i][j]))));
  assert.deepEqual(moved.values.map((row) => row.map(f32)), differences);
  // It goes on as both train.
  await stepTo(page, (await number(page, "loss-step")) + 2);
  await followed(page);
  const [later, its] = await both(page, "rnn-matrix");
  assert.match(its.value, /twin minus run$/);
  assert.notDeepEqual(its.values, moved.values);
  await compare.click();
  const plain = await exported(page, "rnn-matrix", "json", half);
  assert.deepEqual(
    its.values.map((row) => row.map(f32)),
    plain.values.map((row, i) => row.map((value, j) => f32(f32(value) - f32(later.values[i][j])))),
  );

  await byId(page, "twin-end").click();
  await byId(page, "twin").waitFor({ state: "detached" });
  await eventually(() => parameter(page, "twin") === null, "the link has none");
  await eventually(() => page.workers().length === alone, "its engine is gone");
  await byId(page, "story").waitFor();
});

test("a twin's states and layers are compared with the run's, and what is looked at is the same in both halves", async (t) => {
  const f32 = Math.fround;
  const page = await site.open(t, "?chapter=birnn&birnn-task=fill&twin=seed:2&step=20");
  for (const [chapter, figure, numbers] of [
    // Its sentence is the same with another seed; its made-up sequences are not.
    ["birnn", "birnn", (data) => data.rows.filter((row) => row.values).flatMap((row) => row.values.flat())],
    ["norm", "coupling", (data) => data.values.flat()],
  ]) {
    if (chapter !== "birnn") await page.goto(new URL("?chapter=norm&twin=seed:2&step=20", site.url).href);
    await numberUntil(page, "loss-step", (step) => step > 0, "above 0");
    await byId(page, "twin").waitFor();
    await followed(page);
    const [run, twin] = await both(page, figure);
    const compare = byId(halves(page)[1], `${figure}-since`);
    await compare.click();
    await compare.and(page.locator('[aria-pressed="true"]')).waitFor();
    await settled(page);
    const moved = await exported(page, figure, "json", halves(page)[1]);
    assert.match(moved.value ?? moved.rows[0].kind, /twin minus run$/);
    const [a, b] = [numbers(twin), numbers(run)];
    assert.notDeepEqual(a, b);
    assert.deepEqual(numbers(moved).map(f32), a.map((value, i) => f32(f32(value) - f32(b[i]))), chapter);
  }

  // Whichever half is used.
  const [run, twin] = halves(page);
  await byId(twin, "control-norm-axis-layer").check();
  await byId(run, "control-norm-axis-layer").and(page.locator(":checked")).waitFor();
  assert(!(parameter(page, "twin") ?? "").includes("axis"), parameter(page, "twin"));
  await openView(page, "depth");
  for (const half of [run, twin]) await half.locator('.view[data-view="depth"]').waitFor();
  // Another experiment goes with another view, in both.
  const otherwise = parameter(page, "twin");
  await openView(page, "outside");
  await twin.locator('.view[data-view="outside"]').waitFor();
  await followed(page);
  assert.equal(parameter(page, "twin"), otherwise);
  // Another chapter begins without.
  await page.evaluate(() => document.querySelector('a[href*="chapter=rnn"]').click());
  await byId(page, "chapter-rnn").waitFor();
  await eventually(() => parameter(page, "twin") === null, "no twin");
});

/** Runs in the page: the ids that it has twice, and those in one half that are of the other, or of nothing. */
function misnamed() {
  const ids = [...document.querySelectorAll("[id]")].map((element) => element.id);
  const half = (element) => element.closest('[data-testid="twin"], #stage-view')?.dataset.testid ?? "run";
  const wrong = ["for", "aria-describedby"].flatMap((name) =>
    [...document.querySelectorAll(`.stage-twins [${name}]`)].flatMap((element) =>
      element.getAttribute(name).split(" ").filter((id) => {
        const other = document.getElementById(id);
        return !other || half(other) !== half(element);
      }),
    ),
  );
  return { twice: ids.filter((id, i) => ids.indexOf(id) !== i), wrong };
}

/** The steps of the kept runs whose files' names begin with this. */
const keptSteps = (page, kind) =>
  page.evaluate(async (kind) => {
    const root = await navigator.storage.getDirectory();
    const folder = await root.getDirectoryHandle("runs", { create: true });
    const steps = [];
    for await (const [name, handle] of folder.entries()) {
      const file = name.startsWith(kind) ? await handle.getFile().catch(() => null) : null;
      const bytes = new Uint8Array((await file?.arrayBuffer().catch(() => null)) ?? []);
      // Eight bytes, then the length and the checksum of the head, which begins with the step.
      for (let [at, shift, step] = [16, 0, 0]; at < bytes.length; at++, shift += 7) {
        step |= (bytes[at] & 127) << shift;
        if (bytes[at] < 128) {
          steps.push(step);
          break;
        }
      }
    }
    return steps;
  }, kind);

/** The bytes of the only run's file. */
const keptRun = (page) => page.evaluate(async () => {
  const folder = await (await navigator.storage.getDirectory()).getDirectoryHandle("runs");
  for await (const [name, handle] of folder.entries()) {
    if (name.startsWith("run")) return [...new Uint8Array(await (await handle.getFile()).arrayBuffer())];
  }
});

/** Puts that file back. */
const setBack = (page, bytes) => page.evaluate(async (bytes) => {
  const folder = await (await navigator.storage.getDirectory()).getDirectoryHandle("runs");
  for await (const [name, handle] of folder.entries()) {
    if (!name.startsWith("run")) continue;
    const writer = await handle.createWritable();
    await writer.write(new Uint8Array(bytes));
    await writer.close();
  }
}, bytes);

test("the lab has a twin too: what both write is steered once, after a reload both go on, also where one was kept later, and they start over together", async (t) => {
  const page = await site.open(t, `${SMALL}&view=writing&twin=seed:2`);
  await byId(page, "twin").waitFor();
  await eventually(async () => (await byId(page, "sample-text").count()) === 2, "both write");
  // How it writes is asked of a model that has learned something.
  await stepTo(page, 1);
  await followed(page);
  assert.equal(await byId(page, "write-again").count(), 1);
  assert.equal(await byId(page, "control-temperature").count(), 1);
  const texts = () => byId(page, "sample-text").allInnerTexts();
  await eventually(async () => (await texts()).every((text) => text.length > 100), "both have written");
  assert.deepEqual(await page.evaluate(misnamed), { twice: [], wrong: [] }, "writing");
  const before = await texts();
  await byId(page, "control-temperature").focus();
  await page.keyboard.press("End");
  await eventually(async () => (await texts()).every((text, i) => text !== before[i] && text.length > 100), "both write anew");

  await chooseView(page, "attention");
  await live(byId(page, "twin"), "attention");
  assert.deepEqual(await page.evaluate(misnamed), { twice: [], wrong: [] }, "attention");
  await train(page, 25);
  await followed(page);
  // Another rate on the way: what was kept is the twin's for all that.
  await byId(page, "settings-open").click();
  await byId(page, "control-lr").first().fill("0.004");
  await byId(page, "control-lr").first().press("Enter");
  await byId(page, "settings-open").click();
  await stepTo(page, (await number(page, "loss-step")) + 1);
  const step = await followed(page);
  const loss = await byId(page, "twin-loss").textContent();
  for (const kind of ["run", "twin"]) {
    await eventually(async () => (await keptSteps(page, kind)).join() === `${step}`, `the ${kind} is kept`);
  }
  const earlier = await keptRun(page);
  await page.reload();
  await live(byId(page, "twin"), "attention");
  await settled(page);
  // The run is offered, not its twin.
  assert.match(await byId(page, "kept-offer").textContent(), new RegExp(`step ${step}, loss`));
  await page.evaluate(() => {
    const twin = document.querySelector('[data-testid="twin-step"]');
    window.steps = [];
    new MutationObserver(() => window.steps.push(twin.textContent)).observe(twin, { characterData: true, childList: true, subtree: true });
  });
  await byId(page, "kept-continue").click();
  await numberUntil(page, "loss-step", (now) => now === step, `${step}`);
  assert.equal(await followed(page), step);
  assert.deepEqual(await page.evaluate(() => window.steps), [`${step}`], "none of its steps was taken again");
  assert.equal(await byId(page, "twin-loss").textContent(), loss);
  // Both go on in their own files.
  await stepTo(page, step + 2);
  const later = await followed(page);
  for (const kind of ["run", "twin"]) {
    await eventually(async () => (await keptSteps(page, kind)).join() === `${later}`, `the ${kind} is kept again`);
  }

  // Of two that are kept one after the other, the page may go in between. Then the twin waits for its run.
  const lossLater = await byId(page, "twin-loss").textContent();
  await setBack(page, earlier);
  await page.reload();
  await live(byId(page, "twin"), "attention");
  await byId(page, "kept-continue").click();
  await numberUntil(page, "loss-step", (now) => now === step, `${step}`);
  await numberUntil(page, "twin-step", (now) => now === later, `${later}`);
  await stepTo(page, later);
  await followed(page);
  assert.equal(await byId(page, "twin-loss").textContent(), lossLater);

  const [run, twin] = await both(page, "attention");
  assert.deepEqual([run.experiment.seed, twin.experiment.seed], [1, 2]);
  assert.notDeepEqual(twin.values, run.values);
  await byId(page, "settings-open").click();
  await byId(byId(page, "settings-panel"), "start-over").click();
  await numberUntil(page, "loss-step", (step) => step === 0, "0");
  await numberUntil(page, "twin-step", (step) => step === 0, "0");
  await byId(page, "settings-open").click();
  await stepTo(page, 2);
  assert.equal(await followed(page), 2);
});

test("twins fit every screen and are read well; on a phone each half says where the other one is", async (t) => {
  const page = await site.open(t, "?chapter=block&twin=seed:2&step=1", { reducedMotion: "reduce" });
  await numberUntil(page, "loss-step", (step) => step > 0, "above 0");
  await followed(page);
  await fitsEverywhere(page);

  await page.setViewportSize({ width: 390, height: 844 });
  const left = () => byId(page, "twin").evaluate((e) => Math.round(e.getBoundingClientRect().left));
  await byId(page, "twin").waitFor();
  await eventually(async () => (await left()) === 390, "the run is in sight");
  await byId(page, "twin-there").click();
  await eventually(async () => (await left()) === 0, "the twin is in sight");
  await byId(page, "twin-back").click();
  await eventually(async () => (await left()) === 390, "the run is");
});

/** Has the workers that the page makes from now on hear nothing of it until `letWork()`. */
function holdWorkers() {
  let waiting = [];
  window.letWork = () => {
    for (const call of waiting) call();
    waiting = null;
  };
  window.Worker = class extends Worker {
    postMessage(...message) {
      const post = () => super.postMessage(...message);
      if (waiting) waiting.push(post);
      else post();
    }
  };
}

test("a twin that is added late says so until it has caught up, and the reader keeps the place", async (t) => {
  const page = await site.open(t, "?chapter=rnn&view=sum", { reducedMotion: "reduce" });
  await rested(page);
  const story = byId(page, "story");
  const line = story.getByText("Imagine reading with one small index card", { exact: false }).first();
  await line.evaluate((element) => element.scrollIntoView({ block: "start" }));
  const down = () => line.evaluate((e) => e.getBoundingClientRect().top - e.closest(".story").getBoundingClientRect().top);
  // What was read stays at the top, whatever becomes of the column's width.
  const before = await down();
  await page.evaluate(holdWorkers);
  await byId(page, "twin-open").click();
  await byId(page, "twin-late").waitFor();
  const goal = (await number(page, "loss-step")).toLocaleString("en-US");
  assert.match(await byId(page, "twin-late").innerText(), new RegExp(`catching up to step ${goal}$`));
  assert.match(await byId(page, "twin-own").innerText(), new RegExp(`step ${goal}, loss \\d`));
  await byId(page, "twin-panel-close").click();
  const compare = byId(byId(page, "twin"), "rnn-matrix-since");
  assert.equal(await compare.getAttribute("aria-disabled"), "true", "at unlike steps nothing is compared");
  await eventually(async () => Math.abs((await down()) - before) < 12, "the line is where it was");
  await page.evaluate(() => window.letWork());
  await followed(page);
  await byId(page, "twin-late").waitFor({ state: "detached" });
  await eventually(async () => (await compare.getAttribute("aria-disabled")) !== "true", "now they can be");
  await byId(page, "twin-end").click();
  await eventually(async () => Math.abs((await down()) - before) < 12, "and there again");
});

test("no id is on the page twice, and each half speaks of its own elements", async (t) => {
  const page = await site.open(t, "?chapter=seq2seq&twin=same&step=1");
  const VIEWS = {
    seq2seq: ["vector", "beam"], alignment: ["reads"], position: ["encoding", "models"],
    machine: ["gpt"], decode: ["surprise"], bptt: ["copies", "weight"],
  };
  for (const [chapter, shown] of Object.entries(VIEWS)) {
    if (chapter !== "seq2seq") await page.goto(new URL(`?chapter=${chapter}&twin=same&step=1`, site.url).href);
    await byId(page, "twin-panel-close").click();
    for (const view of shown) {
      await chooseView(page, view);
      await byId(page, "twin").locator(`.view[data-view="${view}"]`).waitFor();
      assert.deepEqual(await page.evaluate(misnamed), { twice: [], wrong: [] }, `${chapter}: ${view}`);
    }
  }
  // The switch between two views of one tab keeps the focus in its half.
  await byId(halves(page)[1], "switch-copies").check();
  await eventually(() => page.evaluate(() => document.activeElement.id === "switch-copies-twin"), "the focus stays");
});
