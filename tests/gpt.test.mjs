// The GPT chapter, as a learner meets it.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";

import {
  asNumber,
  atRest,
  beat,
  byId,
  closeSettings,
  crash,
  drawn,
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
  staysFree,
  test,
  train,
  useSite,
} from "./harness.mjs";

const site = useSite();

/** A model small enough to be trained within a test. */
const SMALL = "?layers=2&heads=2&width=32&context=32&batch=8&seed=5";

/** Waits until the attention figure shows the model as it is after `step`. */
async function shownStep(page, step) {
  await page.locator(`[data-testid="figure-attention"][data-step="${step}"]`).waitFor();
}

test("a first visit begins with what the untrained model writes; where its heads look comes with training", async (t) => {
  const page = await site.open(t);
  await eventually(async () => (await byId(page, "sample-text").textContent()).length > 100);
  await beat(page).getByText("knows nothing yet").waitFor();
  // Its heads and what it expects are there, and what they show is said; the tools are out of sight.
  const inside = page.locator('[data-testid="figure-inside"][data-step="0"]');
  await inside.getByText("Untrained: each head looks at all tokens so far about equally.").waitFor();
  await inside.locator('[data-testid="next-token"]').getByText("%").first().waitFor();
  assert(!(await byId(page, "heads-enlarge").isVisible()));
  assert(!(await byId(page, "control-temperature").isVisible()));
  const faint = (selector) => page.locator(selector).first().evaluate((part) => Number(getComputedStyle(part).opacity));
  await eventually(async () => (await faint(".stage-tools")) === 0, "the tools are out of sight");
  assert.equal(await page.locator(".story-what").textContent(), `How language models work, in ${await page.locator(".rail-piece").count()} chapters`);
  await openView(page, "attention");
  await live(page, "attention");
  assert.equal(await byId(page, "figure-attention").getAttribute("data-step"), "0");
  assert.equal(await number(page, "loss-step"), 0);
  const { shape, values, axes, experiment } = await exported(page, "attention");
  const tokens = axes[0].labels;
  assert.deepEqual(shape, [tokens.length, tokens.length]);
  for (const [query, row] of values.entries()) {
    const sum = row.reduce((a, b) => a + b, 0);
    assert(Math.abs(sum - 1) < 1e-5, `row ${query} sums to ${sum}`);
    assert(row.slice(query + 1).every((weight) => weight === 0), "the future is blocked");
  }
  assert.equal(experiment.seed, 1);
  // A link may begin here: then the story says where it writes. Once it has trained, it says that.
  await beat(page).getByText("Open the view “Writing.” Press Train and watch").waitFor();
  await openView(page, "writing");
  const step = await train(page, 10);
  await eventually(async () => Number((await byId(page, "sample-text").getAttribute("data-step"))) === step, "written anew");
  await beat(page).getByText(`At step ${step} it writes this`).waitFor();
  await live(page, "inside");
  await byId(page, "figure-inside").getByText(/^Here it reads/).waitFor();
  assert(await byId(page, "heads-enlarge").isVisible());
  assert(await byId(page, "control-temperature").isVisible());
  await eventually(async () => (await faint(".stage-tools")) === 1, "the tools are there");
});

/** Notes in every frame how high the head of the writing is, and how large its letters are. */
function noteWriting() {
  window.writing = new Set();
  const look = () => {
    const [head, text] = [".writing-head", ".sample > p"].map((part) => document.querySelector(part));
    if (head && text) window.writing.add(`${head.offsetHeight} px, letters of ${getComputedStyle(text).fontSize}`);
    requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
}

test("the first press is answered, the first text comes early, and nothing moves", async (t) => {
  const page = await site.open(t, `${SMALL}&view=writing`, { init: [noteWriting] });
  const sample = byId(page, "sample-text");
  await page.locator('[data-testid="sample-text"] .caret:not(.caret-on)').waitFor({ state: "attached" });
  await byId(page, "writing-real").waitFor();
  await page.locator('[data-testid="figure-inside"][data-state="live"]').waitFor();
  // Its number came into a place that was kept for it.
  assert.equal(await page.evaluate(() => [...window.writing].join("; ")), await page.evaluate(() => [...window.writing][0]));
  // Of the words that it counts, none is cut off.
  const cut = await page.locator(".sample > p").evaluate((text) => text.scrollHeight - text.clientHeight);
  assert(cut <= 1, `${cut} px of the noise are out of sight`);
  const parts = ["h1", '[data-testid="train-first"]', '[data-testid="way-in"]', '[data-testid="writing-real"]', ".sample", ".writing-inside"];
  const boxes = () => page.evaluate((parts) => parts.map((part) => JSON.stringify(document.querySelector(part).getBoundingClientRect())), parts);
  const size = () => page.locator(".sample > p").evaluate((text) => getComputedStyle(text).fontSize);
  const rest = [await boxes(), await size()];
  // What it wrote first goes pale at once, and the first step that writes is one of the first.
  const seen = await page.evaluate(() => new Promise((resolve) => {
    const text = document.querySelector('[data-testid="sample-text"]');
    const old = document.querySelector(".sample-old");
    const noise = text.textContent;
    let paled = false;
    new MutationObserver((_, observer) => {
      paled ||= text.dataset.step === "0" && text.textContent === "" && old.textContent === noise;
      if (text.dataset.step === "0") return;
      observer.disconnect();
      resolve({ paled, step: Number(text.dataset.step) });
    }).observe(text.parentElement, { subtree: true, childList: true, characterData: true, attributes: true });
    document.querySelector('[data-testid="train-first"]').click();
  }));
  assert(seen.paled, "the noise went pale");
  assert(seen.step >= 3 && seen.step < 100, `first at step ${seen.step}`);
  assert.deepEqual([await boxes(), await size()], rest);
  // Once it has found words, the way into the course is what comes next.
  await numberUntil(page, "loss-step", (step) => step >= 800, "800");
  await beat(page).getByText(/^It has .+ How\? Read on\.$/).waitFor();
  await page.locator('.way-in-next [data-testid="way-in"]').waitFor();
  await byId(page, "train-first").click();
  await paused(page);
  assert.deepEqual((await boxes()).slice(0, 3), rest[0].slice(0, 3));
  assert((await sample.textContent()).length > 0);
});

test("what it wrote before stands over what it writes, and leads back to its moment", async (t) => {
  const page = await site.open(t, `${SMALL}&view=writing`);
  const sample = byId(page, "sample-text");
  const drafts = byId(page, "drafts").locator("button");
  await eventually(async () => (await sample.textContent()).length > 100);
  assert.equal(await drafts.count(), 0, "nothing was written before");
  await byId(page, "train-toggle").click();
  await eventually(async () => (await drafts.count()) >= 2, "two drafts");
  await byId(page, "train-toggle").click();
  await paused(page);
  const names = await drafts.locator(".draft-step").allTextContents();
  assert.equal(names[0], "untrained");
  const steps = names.slice(1).map((name) => asNumber(name.replace("step ", "")));
  assert(steps.every((step, i) => step > (steps[i - 1] ?? 0)), `in order: ${names}`);
  // The same weights with the same seed write the same again.
  const first = await drafts.first().locator(".draft-text").textContent();
  await drafts.first().click();
  await page.locator('[data-testid="sample-text"][data-step="0"]').waitFor();
  await eventually(async () => (await sample.textContent()).replaceAll("\n", " ⏎ ") === first, "written again");
  assert.equal(await drafts.first().getAttribute("aria-current"), "true");
  // That of the present may have become one meanwhile.
  const still = (await drafts.locator(".draft-step").allTextContents()).slice(0, names.length);
  assert.deepEqual(still, names, "from there one can go on to another");
});

test("the words that occur in its text stand out, and their share is theirs", async (t) => {
  const text = readFileSync(new URL("../assets/corpora/tales.txt", import.meta.url), "utf8");
  const words = (text) => (text.match(/[\p{L}'’]+/gu) ?? []).map((word) => word.replace(/^['’]+|['’]+$/g, "").toLowerCase()).filter(Boolean);
  const known = new Set(words(text));
  const page = await site.open(t, `${SMALL}&view=writing`);
  const sample = byId(page, "sample-text");
  const step = await train(page, 100);
  await page.locator(`[data-testid="sample-text"][data-step="${step}"] .caret:not(.caret-on)`).waitFor({ state: "attached" });
  // The last may be cut off.
  const all = words((await sample.textContent()).replace(/[\p{L}'’]+$/u, ""));
  const real = all.filter((word) => known.has(word));
  assert(real.length > 0 && real.length < all.length, `${real.length} of ${all.length}`);
  assert.deepEqual((await sample.locator("b").allTextContents()).flatMap(words), real);
  assert.match(await byId(page, "writing-real").textContent(), new RegExp(`^${Math.round((100 * real.length) / all.length)}% of its words are real`));
  // While it writes over that, what is left of it counts, and so its words stay marked.
  const seen = await page.evaluate(() => new Promise((resolve) => {
    const [text, old] = ['[data-testid="sample-text"]', ".sample-old"].map((part) => document.querySelector(part));
    const marked = (part) => [...part.querySelectorAll("b")].map((word) => word.textContent);
    const look = () => {
      if (!text.textContent || !old.querySelector("b")) return requestAnimationFrame(look);
      const said = document.querySelector('[data-testid="writing-real"]').textContent;
      resolve({ said, all: [text.textContent, old.textContent], marked: [...marked(text), ...marked(old)] });
    };
    requestAnimationFrame(look);
    document.querySelector('[data-testid="write-again"]').click();
  }));
  // A word that is cut where the two meet is none.
  const whole = words(seen.all[0].replace(/[\p{L}'’]+$/u, "")).concat(words(seen.all[1].replace(/^[\p{L}'’]+|[\p{L}'’]+$/gu, "")));
  const found = whole.filter((word) => known.has(word));
  assert.deepEqual(seen.marked.flatMap(words), found);
  assert(Math.abs(asNumber(seen.said) - (100 * found.length) / whole.length) <= 0.5, `${seen.said}: ${found.length} of ${whole.length}`);
  // Names do not come again, so new ones are no mistake.
  await openSettings(page, "source");
  await byId(page, "corpus-names").click();
  await closeSettings(page, "source");
  await byId(page, "writing-real").waitFor({ state: "detached" });
  assert.equal(await sample.locator("b").count(), 0);
});

test("a learner begins the text, the model goes on from there, and another press draws another", async (t) => {
  const page = await site.open(t, `${SMALL}&view=writing`);
  const [opening, sample, begun] = ["writing-opening", "sample-text"].map((id) => byId(page, id)).concat(page.locator(".sample-opening"));
  await eventually(async () => (await sample.textContent()).length > 100);
  assert(await opening.isHidden(), "an untrained model is left alone");
  const step = await train(page, 60);
  const written = async () => {
    await page.locator(`[data-testid="sample-text"][data-step="${step}"] .caret:not(.caret-on)`).waitFor({ state: "attached" });
    return sample.textContent();
  };
  const before = await written();
  // The field leaves the share beside it whole.
  for (const [width, height] of [[320, 640], [390, 844], [1280, 720], [1440, 900]]) {
    await page.setViewportSize({ width, height });
    await drawn(page);
    const [text, field] = await page.evaluate(() => {
      const real = document.querySelector('[data-testid="writing-real"]');
      real.querySelector("strong").firstChild.data = "100%";
      const range = document.createRange();
      range.selectNodeContents(real);
      const field = document.querySelector('[data-testid="writing-opening"]');
      return [range, field].map((part) => part.getBoundingClientRect().toJSON());
    });
    assert(field.width > 60, `${width}: ${field.width}`);
    assert(text.right <= field.left || text.bottom <= field.top, `${width}: ${JSON.stringify([text, field])}`);
  }
  assert.equal(await begun.textContent(), "");
  await opening.fill("the fox ");
  await opening.press("Enter");
  await eventually(async () => (await begun.textContent()) === "the fox ", "what it goes on from stands before it");
  const after = await written();
  assert(after !== before && !after.startsWith("the fox"), after);
  // Other dice, the same beginning.
  await byId(page, "write-again").click();
  await eventually(async () => (await written()) !== after, "another text");
  assert.equal(await begun.textContent(), "the fox ");
  // A character that its text never had is said, and the model goes on.
  await opening.fill("猫");
  await opening.press("Enter");
  await page.getByText("‘猫’ is not in the text").first().waitFor();
  await eventually(async () => (await begun.textContent()) === "猫");
  assert((await written()).length > 0);
  await opening.fill("");
  await opening.press("Enter");
  await eventually(async () => (await begun.textContent()) === "");
});

test("Train lowers the loss and changes the attention; Pause really pauses", async (t) => {
  const page = await site.open(t, SMALL);
  await live(page, "attention");
  const before = await exported(page, "attention");
  await byId(page, "train-toggle").click();
  await numberUntil(page, "loss-step", (step) => step >= 150, "at least 150");
  await numberUntil(page, "loss-value", (loss) => loss < 2.6, "below 2.6");
  await byId(page, "train-toggle").click();
  await paused(page);
  // Every answer the engine gives now is one it gave after it was paused.
  const steps = [];
  for (const text of ["the fox", "the goat", "the heron"]) {
    await byId(page, "probe-input").fill(text);
    await settled(page);
    assert.equal(await page.locator('[data-testid^="token-"]').count(), text.length);
    steps.push(await byId(page, "figure-attention").getAttribute("data-step"));
  }
  assert.deepEqual(new Set(steps).size, 1, `paused, but the steps were ${steps}`);
  assert.equal(await number(page, "loss-step"), Number(steps[0]));
  await byId(page, "probe-input").fill(before.axes[0].labels.join(""));
  await settled(page);
  const after = await exported(page, "attention");
  assert.equal(after.step, Number(steps[0]));
  const change = Math.max(
    ...before.values.flat().map((weight, i) => Math.abs(weight - after.values.flat()[i])),
  );
  assert(change > 0.05, `the largest change of a weight was ${change}`);
});

/** Holds back whatever a worker says to the page. */
function slowWorkers(milliseconds) {
  const usual = Object.getOwnPropertyDescriptor(Worker.prototype, "onmessage");
  const set = function (heard) {
    usual.set.call(this, heard && ((event) => setTimeout(() => this.onmessage && heard.call(this, event), milliseconds)));
  };
  Object.defineProperty(Worker.prototype, "onmessage", { ...usual, set });
}

test("Step takes exactly one step, and training makes nothing in the story anew", async (t) => {
  const page = await site.open(t, SMALL);
  await live(page, "attention");
  await page.locator(".try-list").waitFor();
  const parts = page.locator(".try-list, .check");
  const count = await parts.evaluateAll((parts) => parts.map((part) => (part.dataset.kept = "yes")).length);
  assert(count > 2, `${count} parts are there`);
  for (const step of [1, 2, 3]) {
    await byId(page, "train-step").click();
    await shownStep(page, step);
    assert.equal(await number(page, "loss-step"), step);
  }
  await train(page, 10);
  assert.equal(await page.locator('[data-kept="yes"]').count(), count);
});

test("presses are obeyed in their order, however slowly the engine answers", async (t) => {
  const page = await site.open(t, SMALL, { init: [slowWorkers, 300] });
  await live(page, "attention");
  const toggle = byId(page, "train-toggle");
  const says = async (label) => assert.match(await toggle.textContent(), label);
  // Train, and Pause before the engine has said that it trains: what the button says until it has
  // said that it is paused.
  const labels = await page.evaluate(async () => {
    const button = document.querySelector('[data-testid="train-toggle"]');
    const frame = () => new Promise(requestAnimationFrame);
    button.click();
    await frame();
    const first = button.textContent;
    await frame();
    button.click();
    await frame();
    const labels = [button.textContent];
    return new Promise((resolve) => {
      let trained = false;
      new MutationObserver(() => {
        labels.push(button.textContent);
        trained ||= button.dataset.state === "running";
        if (trained && button.dataset.state === "paused") resolve([first, ...labels]);
      }).observe(button, { attributes: true, childList: true, subtree: true, characterData: true });
    });
  });
  assert.match(labels[0], /Pause/);
  for (const label of labels.slice(1)) assert.match(label, /Train/);
  await toggle.click();
  await says(/Pause/);
  await numberUntil(page, "loss-step", (step) => step >= 60, "60");
  await toggle.click();
  await says(/Train/);
  await page.locator('[data-testid="train-toggle"][data-state="paused"]').waitFor();
  await says(/Train/);
});

test("a press on Train before the engine has its model is not lost, and can be taken back", async (t) => {
  const page = await site.open(t, site.host("<!doctype html><title>None yet</title>"));
  let goOn;
  await page.route(/\/engine_cpu[^/]*\.wasm/, async (route) => {
    await new Promise((resolve) => (goOn = resolve));
    await route.continue();
  });
  await page.goto(new URL(SMALL, site.url).href);
  const press = byId(page, "train-first");
  const says = (label) => press.filter({ hasText: label }).waitFor();
  await press.click();
  await says("Starting…");
  await press.click();
  await says("Train this GPT");
  await press.click();
  await eventually(() => goOn, "asked for the engine");
  goOn();
  await numberUntil(page, "loss-step", (step) => step >= 10, "10");
  await says("Pause");
  await press.click();
  await paused(page);
  await says("Keep training");
});

test("pointing at a token lights its row, and hovering a cell reads the weight that is exported", async (t) => {
  const page = await site.open(t, SMALL);
  await live(page, "attention");
  await byId(page, "token-4").hover();
  const untrained = await exported(page, "attention");
  await byId(page, "token-4").hover();
  const keys = await byId(page, "attention-top-keys").textContent();
  const top = `${(100 * Math.max(...untrained.values[4])).toFixed(1)}%`;
  assert(keys.includes(top), `${keys} has no ${top}`);
  assert(keys.includes(untrained.axes[0].labels[4]), keys);

  await train(page, 30);
  const heatmap = byId(page, "attention-heatmap");
  await heatmap.scrollIntoViewIfNeeded();
  const box = await atRest(heatmap);
  await page.mouse.move(box.x + box.width * 0.35, box.y + box.height * 0.7);
  const readout = byId(page, "attention-cell-readout");
  await eventually(async () => (await readout.getAttribute("data-weight")) !== null);
  const [query, key, weight] = await Promise.all(
    ["data-query", "data-key", "data-weight"].map((name) => readout.getAttribute(name)),
  );
  const shown = await readout.textContent();
  const { values } = await exported(page, "attention");
  assert.equal(Number(weight), values[query][key]);
  assert(shown.includes(values[query][key].toFixed(4)), `${shown} has no ${values[query][key].toFixed(4)}`);
});

test("everything works by keyboard alone", async (t) => {
  const page = await site.open(t, SMALL);
  await live(page, "attention");
  /** Presses Tab until the element with this test id has the focus. */
  const tabTo = async (id) => {
    for (let presses = 0; presses < 120; presses++) {
      await page.keyboard.press("Tab");
      const focused = await page.evaluate(() => document.activeElement?.closest("[data-testid]")?.dataset.testid);
      if (focused === id) return;
    }
    assert.fail(`${id} was never reached by Tab`);
  };
  await tabTo("probe-input");
  await page.keyboard.press("Control+A");
  await page.keyboard.type("the goat ate");
  // The row below is counted in the new sentence, which is shorter than the first.
  await byId(page, "token-12").waitFor({ state: "detached" });
  await settled(page);
  await tabTo("attention-heatmap");
  await page.keyboard.press("Home");
  const readout = byId(page, "attention-cell-readout");
  await eventually(async () => (await readout.getAttribute("data-key")) === "0");
  const query = Number(await readout.getAttribute("data-query"));
  await page.keyboard.press("ArrowUp");
  await eventually(async () => Number(await readout.getAttribute("data-query")) === query - 1);
  await page.keyboard.press("Escape");
  await tabTo("train-toggle");
  await page.keyboard.press("Enter");
  await numberUntil(page, "loss-step", (step) => step >= 20, "at least 20");
  await page.keyboard.press("Enter");
  await paused(page);
});

test("without an adapter the CPU is used and the badge says why", async (t) => {
  const page = await site.open(t);
  await page.locator('[data-testid="device-badge"][data-device="cpu"]', { hasText: "no graphics adapter" }).waitFor();
  const requested = await page.evaluate(() => performance.getEntriesByType("resource").map((r) => r.name));
  assert(!requested.some((name) => name.includes("engine_webgpu")), "the GPU engine was loaded for nothing");
});

test("a link replays a run exactly", async (t) => {
  const losses = async () => {
    const page = await site.open(t, SMALL);
    await live(page, "attention");
    for (let step = 1; step <= 5; step++) {
      await byId(page, "train-step").click();
      await shownStep(page, step);
    }
    await openView(page, "loss");
    const { values } = await exported(page, "loss");
    await page.close();
    return JSON.stringify(values);
  };
  const [first, second] = [await losses(), await losses()];
  assert(first.length > 50, first);
  assert.equal(first, second);
});

test("a runaway learning rate stops training, says so, and offers the last good state", async (t) => {
  const page = await site.open(t, SMALL);
  await live(page, "attention");
  await train(page, 30);
  await openSettings(page);
  await byId(page, "control-lr").fill("1000");
  await byId(page, "control-lr").press("Enter");
  await byId(page, "train-toggle").click();
  await byId(page, "diverged").waitFor();
  await byId(page, "restore-last-good").click();
  await byId(page, "diverged").waitFor({ state: "detached" });
  assert.equal(Number(await byId(page, "control-lr").inputValue()), 0.005);
  const step = await number(page, "loss-step");
  await train(page, step + 10);
  assert((await number(page, "loss-value")) < 4);
});

test("when the engine dies the page says so and a fresh one takes over", async (t) => {
  const page = await site.open(t, SMALL, { allow: [/boom/] });
  await live(page, "attention");
  // Nothing was trained yet: there is nothing to lose.
  await crash(page, "a new, untrained model");
  await page.locator('[data-testid="train-toggle"]:not([aria-disabled])').waitFor();
  await train(page, 20);
  await openSettings(page);
  const step = await number(page, "loss-step");
  await page.locator('[data-testid="kept-run"]', { hasText: `step ${step},` }).waitFor();
  await crash(page, `the model as it was at step ${step}.`);
  await numberUntil(page, "loss-step", (now) => now === step, `${step} again`);
  await train(page, step + 10);
  assert((await number(page, "loss-value")) < 4);
});

test("settings that make no model are refused at the control and the present model stays", async (t) => {
  const page = await site.open(t, SMALL);
  await live(page, "attention");
  await train(page, 10);
  const step = await number(page, "loss-step");
  await openSettings(page);
  for (const [name, value, sentence] of [
    ["heads", "5", /do not divide/],
    ["width", "1024", /too big/],
    ["layers", "many", /whole number/],
  ]) {
    const control = byId(page, `control-${name}`);
    const good = await control.inputValue();
    await control.fill(value);
    await control.press("Enter");
    if (name === "width") {
      await byId(page, "control-layers").fill("12");
      await byId(page, "control-layers").press("Enter");
    }
    await page.locator('[role="alert"]', { hasText: sentence }).first().waitFor();
    await control.fill(good);
    await control.press("Enter");
  }
  await byId(page, "undo-settings").click();
  await train(page, step + 5);
});

test("a start over can be taken back", async (t) => {
  const page = await site.open(t, SMALL);
  await live(page, "attention");
  const step = await train(page, 40);
  await openSettings(page);
  await byId(page, "control-seed").fill("9");
  await byId(page, "control-seed").press("Enter");
  await byId(page, "start-over").click();
  await numberUntil(page, "loss-step", (now) => now === 0, "0");
  await byId(page, "bring-back").click();
  await numberUntil(page, "loss-step", (now) => now === step, String(step));
  await shownStep(page, step);
});

test("every view is of the living model", async (t) => {
  const page = await site.open(t, SMALL);
  await live(page, "attention");
  await train(page, 20);
  await openView(page, "heads");
  await live(page, "heads");
  await byId(page, "head-l2-h2").click();
  await byId(page, "heads-enlarge").click();
  await page.getByRole("heading", { name: /^Layer 2, head 2 after/ }).waitFor();
  await openView(page, "next");
  await live(page, "next");
  await byId(page, "token-3").click();
  // The bars are all there is: together 1.
  const bars = byId(page, "figure-next");
  await eventually(async () => /^After ‘.’ \(4\)/.test(await bars.locator("h3").textContent()));
  const { values } = await exported(page, "next");
  assert(Math.abs(values.reduce((a, b) => a + b, 0) - 1) < 1e-4);
  await openView(page, "loss");
  await live(page, "loss");
});

test("the model is asked without some of its heads, and trains with all of them", async (t) => {
  const page = await site.open(t, `${SMALL}&view=heads&step=20`);
  const said = async () => (await byId(page, "lab-off").textContent()).trim();
  await numberUntil(page, "loss-step", (step) => step === 20);
  await settled(page);
  assert.equal(await said(), "");
  await byId(page, "lab-switch").focus();
  await page.keyboard.press("Enter");
  assert.match(await said(), /^Click a head to switch it off/);
  await byId(page, "head-l1-h1").focus();
  for (const key of ["ArrowRight", "Enter"]) await page.keyboard.press(key);
  await eventually(async () => parameter(page, "off") === "1.2");
  assert.equal(await byId(page, "head-l1-h2").getAttribute("aria-label"), "layer 1, head 2, switched off");
  const costs = /^Layer 1, head 2 off: the loss on your sentence is \d\.\d{3} instead of \d\.\d{3} nats/;
  await eventually(async () => costs.test(await said()), said);
  await eventually(async () => /with heads off/.test(await byId(page, "writing-line").textContent()));
  assert.match(await byId(page, "settings-open").textContent(), /32 wide, 1 off/);
  // What is exported says so.
  assert.equal((await exported(page, "heads")).heads_off, "1.2");
  await byId(page, "lab-all-off").click();
  await eventually(async () => parameter(page, "off") === "1.1,1.2,2.1,2.2");
  await eventually(async () => /^4 heads off: the loss/.test(await said()), said);
  for (const step of [21, 22]) {
    await byId(page, "train-step").click();
    await numberUntil(page, "loss-step", (taken) => taken === step);
  }
  await byId(page, "lab-all-on").click();
  await eventually(async () => parameter(page, "off") === null && !/off: /.test(await said()), said);
  const loss = await number(page, "loss-value");
  // The same run, with all heads on all the time.
  const alone = await site.open(t, `${SMALL}&step=22`);
  await numberUntil(alone, "loss-step", (step) => step === 22);
  await settled(alone);
  assert.equal(await number(alone, "loss-value"), loss);
});

test("the batch on show is what the next step learns from, at every moment", async (t) => {
  const page = await site.open(t, SMALL);
  await live(page, "attention");
  // Where nothing is trained yet, what will appear is said.
  await openView(page, "loss");
  await byId(page, "loss-empty").waitFor();
  assert.equal(await byId(page, "figure-loss").count(), 0);
  await openView(page, "batch");
  await byId(page, "batch-said").filter({ hasText: /^8 rows of 32 characters\. Untrained, .+ press Train/ }).waitFor();
  await train(page, 20);
  for (const figure of ["batch", "batch-positions"]) await live(page, figure);
  const title = byId(page, "figure-batch").locator("h3");
  const step = await number(page, "loss-step");
  await eventually(async () => (await title.textContent()) === `What step ${step + 1} learns from`);
  const said = async () => Number(/mean loss is (\d+\.\d+), the loss of step/.exec(await byId(page, "batch-said").textContent())?.[1]);
  const mean = await said();
  // What is drawn are the probabilities behind that loss.
  const { values } = await exported(page, "batch");
  assert.equal(values.flat().length, 8 * 32);
  const losses = values.flat().map((p) => -Math.log(p));
  assert(Math.abs(losses.reduce((a, b) => a + b, 0) / losses.length - mean) < 1e-3);
  // And the step that is taken says the same.
  await byId(page, "train-step").click();
  await numberUntil(page, "loss-step", (now) => now === step + 1, `${step + 1}`);
  await paused(page);
  // Both are rounded to three digits.
  assert(Math.abs((await number(page, "loss-value")) - mean) < 1.1e-3, `${mean}`);
  // A row is chosen with the keyboard: it is read example by example.
  await byId(page, "batch-cells").focus();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await eventually(async () => /^Row 3/.test(await byId(page, "batch-examples").locator("caption").textContent()));
  assert.equal(await byId(page, "batch-examples").locator("tbody tr").count(), 32);
  // In the past it is the batch that was next then.
  await byId(page, "time-track").focus();
  await page.keyboard.press("Home");
  await eventually(async () => (await title.textContent()) === "What step 1 learns from");
  await settled(page);
  assert(Math.abs((await said()) - Math.log(60)) < 0.5, "it knows nothing yet");
});

test("the sentence is written in its own tokens", async (t) => {
  const page = await site.open(t, SMALL);
  await live(page, "attention");
  const input = byId(page, "probe-input");
  await input.fill("the goat");
  // The row is the new sentence's, which is shorter than the first.
  await byId(page, "token-8").waitFor({ state: "detached" });
  await settled(page);
  // A click on a token puts the caret after it, and asks what it looks at.
  await byId(page, "token-2").click();
  assert.equal(await input.evaluate((field) => field === document.activeElement && field.selectionStart), 3);
  await page.keyboard.type("n");
  assert.equal(await input.inputValue(), "then goat");
  await byId(page, "token-8").waitFor();
  // The query follows the caret.
  await page.keyboard.press("ArrowRight");
  await byId(page, "token-4").and(page.locator('[aria-selected="true"]')).waitFor();
  // The caret stands where the tokens do, whatever is typed before it.
  const places = () =>
    page.evaluate(async () => {
      await document.fonts.load("16px cells");
      const field = document.querySelector('[data-testid="probe-input"]');
      const style = getComputedStyle(field);
      const type = ["fontFamily", "fontSize", "fontFeatureSettings", "letterSpacing", "direction", "unicodeBidi", "whiteSpace"];
      const before = document.createElement("span");
      before.textContent = field.value.slice(0, field.value.indexOf("x"));
      for (const property of type) before.style[property] = style[property];
      before.style.position = "fixed";
      document.body.append(before);
      const caret = field.getBoundingClientRect().left + parseFloat(style.paddingLeft) + before.getBoundingClientRect().width;
      before.remove();
      return [caret, document.querySelector(".token-row .token:last-child").getBoundingClientRect().left];
    });
  for (const text of ["then goax", "日本語のx", "🙂🙂a🙂x", "مرحباx"]) {
    await input.fill(text);
    await eventually(async () => (await page.locator(".token-row .token").count()) === [...text].length);
    await eventually(async () => {
      const [caret, token] = await places();
      return Math.abs(caret - token) < 2;
    }, `the caret before the last token of ${text}`);
  }
  await input.fill("then goat");
  await eventually(async () => (await page.locator(".token-row .token").count()) === 9);
  await input.evaluate((field) => field.setSelectionRange(5, 5));
  // A line break is one token more, and one character of the sentence.
  await page.keyboard.press("Enter");
  await byId(page, "token-9").waitFor();
  assert.equal(await byId(page, "token-5").textContent(), "⏎");
  assert.equal(await input.evaluate((field) => field.selectionStart), 6);
});

test("pointing is answered while the model trains", async (t) => {
  const page = await site.open(t, "?view=attention", { own: true });
  await live(page, "attention");
  await byId(page, "train-toggle").click();
  await staysFree(t, site, page, () => numberUntil(page, "loss-step", (step) => step >= 40, "at least 40"));
  await byId(page, "token-3").hover();
  await eventually(async () => asNumber(await byId(page, "attention-top-keys").textContent()) >= 0);
});

test("the settings show the schedule by which the model trains", async (t) => {
  const page = await site.open(t, SMALL);
  await live(page, "attention");
  const step = await train(page, 20);
  await openSettings(page);
  await byId(page, "figure-schedule").scrollIntoViewIfNeeded();
  await live(page, "schedule");
  const said = async () => (await byId(page, "schedule-now").textContent()).replaceAll(",", "");
  assert.match(await said(), new RegExp(`^Step ${step}: the rate is 0\\.00\\d+ \\d+% of the peak\\.$`));
  const { values, marker } = await exported(page, "schedule");
  assert.equal(marker, step);
  const rates = new Map(values[0]);
  for (const [at, rate] of [[0, 0], [10, 0.0025], [20, 0.005], [5000, 0.0005]]) {
    assert(Math.abs(rates.get(at) - rate) < 1e-8, `at step ${at} the rate is ${rates.get(at)}`);
  }
  // Another peak is another curve, of the same model.
  await byId(page, "control-lr").fill("0.02");
  await byId(page, "control-lr").press("Enter");
  await eventually(async () => /the rate is 0\.0[12]/.test(await said()));
  assert.equal(await number(page, "loss-step"), step);
});

test("warm-up, weight decay and clipping are settings of the next model", async (t) => {
  const page = await site.open(t, SMALL);
  await live(page, "attention");
  const step = await train(page, 20);
  await openSettings(page);
  await byId(page, "figure-schedule").scrollIntoViewIfNeeded();
  await live(page, "schedule");
  for (const [name, value] of [["warmup", "100"], ["decay", "0"], ["clip", "0"]]) {
    await byId(page, `control-${name}`).fill(value);
    await byId(page, `control-${name}`).press("Enter");
    await eventually(async () => parameter(page, name) === value, `${name} in the link`);
  }
  // The new schedule is drawn at once, the model stays.
  const rateAt = async (series) => new Map((await exported(page, "schedule")).values[series] ?? []).get(20);
  await eventually(async () => Math.abs((await rateAt(1)) - 0.001) < 1e-8, "a fifth of the peak at step 20");
  assert((await rateAt(0)) > 0.0049, "the present model's warm-up ends there");
  assert.equal(await number(page, "loss-step"), step);
});

test("the optimizer and the first weights are settings of the next model", async (t) => {
  const trained = async (query, steps) => {
    const page = await site.open(t, SMALL + query);
    await live(page, "attention");
    await train(page, steps);
    await openView(page, "loss");
    const { values, knows_nothing } = await exported(page, "loss");
    return { page, losses: values.map((point) => point[1]), knows_nothing };
  };
  // Where all weights are 0, every character is equally likely, and no gradient can change that.
  const zero = await trained("&init=zero&optimizer=muon", 10);
  assert(zero.losses.every((loss) => Math.abs(loss - zero.knows_nothing) < 1e-5), zero.losses.join());
  // From the same weights, each rule takes another way.
  const starts = new Set();
  const ends = new Set();
  for (const optimizer of ["adamw", "adam", "sgd", "muon"]) {
    const { losses } = await trained(`&optimizer=${optimizer}`, 20);
    starts.add(losses[0]);
    ends.add(losses[19]);
    assert(losses[19] < losses[0] - 0.1, `${optimizer}: ${losses.join()}`);
  }
  assert.deepEqual([starts.size, ends.size], [1, 4]);
  // What the settings say about it.
  await openSettings(zero.page);
  const words = zero.page.locator('[data-testid="schedule"] .course-more-text');
  await eventually(async () => (await words.textContent()).includes("The optimizer is Muon."));
  await byId(zero.page, "control-optimizer").selectOption("sgd");
  await eventually(() => parameter(zero.page, "optimizer") === "sgd");
});

test("of two passages one is held-out text, and the other is the model's", async (t) => {
  const page = await site.open(t, SMALL);
  await live(page, "attention");
  const text = [...(await readFile(new URL("../assets/corpora/tales.txt", import.meta.url), "utf8"))];
  const heldOut = text.slice(text.length - Math.floor(text.length / 10)).join("");
  // An untrained model is sure nowhere, so where is not asked.
  await eventually(async () => /not clearly surest/.test(await byId(page, "check-gpt-sure").textContent()), "too early");
  const ready = page.locator('[data-testid="check-gpt-which-submit"]:not([aria-disabled])');
  const passages = () => byId(page, "check-gpt-which").locator(".check-option > span:not(.check-mark)").allTextContents();
  const isReal = (passage) => heldOut.includes(passage.slice(1, -1).replaceAll(" ⏎ ", "\n"));
  await byId(page, "gpt-which-show").click();
  await ready.waitFor();
  const first = await passages();
  assert.deepEqual(first.map(isReal).sort(), [false, true], first.join("\n"));
  await byId(page, `check-gpt-which-option-${first.findIndex((passage) => !isReal(passage))}`).check();
  await ready.click();
  const verdict = byId(page, "check-gpt-which-verdict");
  await eventually(async () => (await verdict.getAttribute("data-right")) === "true");
  assert.match(await verdict.textContent(), /after 0 steps of training\./);
  await byId(page, "check-gpt-which-another").click();
  await ready.waitFor();
  const second = await passages();
  assert.deepEqual(second.map(isReal).sort(), [false, true], second.join("\n"));
  assert.notDeepEqual(second, first);
});

test("the published GPTs stand beside the learner's, with its own numbers", async (t) => {
  const page = await site.open(t, SMALL);
  await live(page, "attention");
  await byId(page, "check-gpt-size-show").click();
  const table = byId(page, "gpt-sizes");
  await table.waitFor();
  assert.match(await table.textContent(), /117 M.*1\.5 B.*175 B/);
  const own = (await table.locator(".sizes-own").allTextContents()).map((number) => number.replaceAll(",", ""));
  const { parameters } = await exported(page, "attention");
  assert.deepEqual(own.slice(0, 5), [`${parameters}`, "2", "32", "2", "32"]);
});
