// The time bar: any recorded moment of training on show, while training goes on.
import assert from "node:assert/strict";
import { isDeepStrictEqual } from "node:util";
import { readFile } from "node:fs/promises";

import {
  accessibilityProblems,
  atRest,
  byId,
  eventually,
  exported,
  live,
  number,
  numberUntil,
  openSettings,
  openView,
  parameter,
  paused,
  running,
  settled,
  stepTo,
  test,
  train,
  useSite,
} from "./harness.mjs";

const site = useSite();
const SMALL = "?layers=1&heads=2&width=16&context=24&batch=4&workers=1&device=cpu";

const track = (page) => byId(page, "time-track");
const shown = (page) => byId(page, "time-shown");

/** Takes so many steps more, one press each, and waits for the picture. */
const steps = async (page, count) => stepTo(page, (await number(page, "loss-step")) + count);

test("every moment of the lab is shown as it was, while training goes on", async (t) => {
  const page = await site.open(t, SMALL);
  await live(page, "attention");
  await settled(page);
  assert.equal(await track(page).getAttribute("aria-disabled"), "true", "there is no past yet");
  const seen = [(await exported(page, "attention")).values];
  for (let step = 1; step <= 3; step++) {
    await steps(page, 1);
    seen.push((await exported(page, "attention")).values);
  }
  assert.notDeepEqual(seen[0], seen[3]);
  await track(page).focus();
  for (const step of [2, 1, 0]) {
    await page.keyboard.press("ArrowLeft");
    await settled(page);
    assert.equal(await number(page, "time-shown"), step);
    assert.deepEqual((await exported(page, "attention")).values, seen[step], `step ${step}`);
    await track(page).focus();
  }
  // It trains on, and the moment stays on show.
  await page.keyboard.press("End");
  assert.equal(await shown(page).count(), 0);
  await byId(page, "train-toggle").click();
  await numberUntil(page, "loss-step", (step) => step >= 8, "at least 8");
  await track(page).focus();
  await page.keyboard.press("Home");
  await numberUntil(page, "loss-step", (step) => step >= 16, "at least 16");
  assert.equal(await number(page, "time-shown"), 0);
  await settled(page);
  // While it trains a figure on a slow machine rests between two pictures.
  await eventually(async () => isDeepStrictEqual((await exported(page, "attention")).values, seen[0]), "the first moment");
  await byId(page, "train-toggle").click();
  await paused(page);
  assert.equal(await number(page, "time-shown"), 0, "a pause changes nothing of what is looked at");
  // Who trains wants to see it.
  await byId(page, "train-step").click();
  await eventually(async () => (await shown(page).count()) === 0, "the present is back");
});

/** Opens what is said of the device, where the memory for moments is chosen; returns that choice. */
async function openMemory(page) {
  await byId(page, "device-badge").click();
  await byId(page, "control-moments").waitFor();
  return byId(page, "control-moments");
}

/** How many moments are recorded, and the megabytes that they take, as the open panel says. */
async function recorded(page) {
  const said = await byId(page, "moments").textContent();
  const [, count, megabytes] = said.match(/^(\d+) recorded, (\d+\.\d) MB$/);
  return [Number(count), Number(megabytes)];
}

test("less memory for moments leaves fewer of them, and makes no other model", async (t) => {
  const page = await site.open(t, "?workers=1&device=cpu");
  await live(page, "attention");
  const last = await train(page, 30);
  await track(page).focus();
  await page.keyboard.press("Home");
  for (let i = 0; i < 20; i++) await page.keyboard.press("ArrowRight");
  await settled(page);
  assert.equal(await number(page, "time-shown"), 20, "each of the first steps is recorded");
  const memory = await openMemory(page);
  assert.equal(await memory.inputValue(), "64");
  const [all] = await recorded(page);
  assert(all > 30, `${all}`);
  assert.match(await track(page).getAttribute("title"), new RegExp(`^${all} moments recorded, .* MB \\(limit 64 MB\\)$`));
  assert.deepEqual(await accessibilityProblems(page, { within: ".badge-details" }), []);
  await memory.selectOption("4");
  await numberUntil(page, "moments", (count) => count < all, `below ${all}`);
  const [few, megabytes] = await recorded(page);
  // One of the default model takes 0.4 MB.
  assert(few > 4 && few < 12 && megabytes > 3.4 && megabytes <= 4, `${few}, ${megabytes} MB`);
  assert.match(await track(page).getAttribute("title"), new RegExp(`^${few} moments recorded, .* MB \\(limit 4 MB\\)$`));
  await eventually(() => parameter(page, "moments") === "4", "the address says so");
  assert.equal(await number(page, "loss-step"), last);
  assert.equal(await number(page, "time-shown"), 20, "the moment on show stays");
  // So do the first and the last.
  await byId(page, "device-badge").click();
  await track(page).focus();
  await page.keyboard.press("Home");
  assert.equal(await number(page, "time-shown"), 0);
  for (let i = 2; i < few; i++) await page.keyboard.press("ArrowRight");
  assert.equal(await shown(page).count(), 1);
  await page.keyboard.press("ArrowRight");
  assert.equal(await shown(page).count(), 0);
});

test("a link says how much memory moments take, in the lab and in a chapter; more makes room again", async (t) => {
  const page = await site.open(t, "?moments=4&step=40&workers=1&device=cpu");
  await numberUntil(page, "loss-step", (step) => step === 40, "40");
  await paused(page);
  assert.equal(await (await openMemory(page)).inputValue(), "4");
  const [few, megabytes] = await recorded(page);
  assert(few > 4 && few < 12 && megabytes <= 4, `${few}, ${megabytes} MB`);

  await page.close();
  // What is in no list is offered too.
  const other = await site.open(t, "?chapter=rnn&rnn-hidden=64&moments=5");
  await numberUntil(other, "loss-step", (step) => step > 0, "above 0");
  await paused(other);
  const memory = await openMemory(other);
  assert.equal(await memory.inputValue(), "5");
  const [count, taken] = await recorded(other);
  assert(count > 4 && count < 40 && taken > 4.5 && taken <= 5, `${count}, ${taken} MB`);
  await memory.selectOption("64");
  await eventually(() => parameter(other, "moments") === null, "it is the usual again");
  await steps(other, 2);
  await numberUntil(other, "moments", (now) => now === count + 2, `${count + 2}`);
});

test("a drag leads to a moment, the button back; questions about the past change no training", async (t) => {
  const losses = async (look) => {
    const page = await site.open(t, "?chapter=rnn&rnn-hidden=8&step=20");
    await byId(page, "chapter-rnn").waitFor();
    await numberUntil(page, "loss-step", (step) => step === 20, "20");
    await paused(page);
    if (look) {
      const box = await atRest(track(page));
      const at = (share) => [box.x + share * box.width, box.y + box.height / 2];
      await page.mouse.move(...at(0.9));
      await page.mouse.down();
      await page.mouse.move(...at(0.5), { steps: 4 });
      await page.mouse.up();
      const middle = await number(page, "time-shown");
      assert(middle > 2 && middle < 18, `${middle}`);
      await settled(page);
      const [now, value] = [await track(page).getAttribute("aria-valuenow"), await track(page).getAttribute("aria-valuetext")];
      assert.equal(Number(now), middle);
      assert.match(value, new RegExp(`^step ${middle} of \\d+$`));
      await byId(page, "time-live").click();
      assert.equal(await shown(page).count(), 0);
      await settled(page);
    }
    await steps(page, 2);
    const loss = await byId(page, "loss-value").textContent();
    await page.close();
    return loss;
  };
  assert.equal(await losses(true), await losses(false));
});

test("a link holds a moment: it trains there first, to the same weights", async (t) => {
  const page = await site.open(t, SMALL);
  await live(page, "attention");
  await steps(page, 4);
  await track(page).focus();
  await page.keyboard.press("ArrowLeft");
  await page.keyboard.press("ArrowLeft");
  await settled(page);
  const then = await exported(page, "attention");
  assert.equal(then.step, 2);
  await byId(page, "copy-link").click();
  const link = async () => new URL(await byId(page, "link-address").inputValue()).searchParams;
  const held = await link();
  assert.equal(held.get("step"), "2");
  assert.equal(await byId(page, "link-missing").count(), 0);
  await byId(page, "link-trains").uncheck();
  assert.equal((await link()).get("step"), null);
  await page.locator('[data-testid="link-missing"]', { hasText: "starts untrained" }).waitFor();

  await page.close();
  const other = await site.open(t, `?${held}`);
  await numberUntil(other, "loss-step", (step) => step === 2, "2");
  await paused(other);
  await settled(other);
  const there = await exported(other, "attention");
  assert.deepEqual([there.step, there.values], [2, then.values]);
});

test("a chapter trains to its link’s step, and the next model is not that one", async (t) => {
  const page = await site.open(t, "?chapter=rnn&rnn-hidden=8&step=75");
  await byId(page, "chapter-rnn").waitFor();
  await numberUntil(page, "loss-step", (step) => step === 75, "75");
  await paused(page);
  assert.equal(new URL(page.url()).searchParams.get("step"), "75");
  await openSettings(page);
  await byId(page, "control-rnn-hidden").fill("9");
  await byId(page, "control-rnn-hidden").press("Enter");
  await eventually(async () => !new URL(page.url()).searchParams.has("step"), "the address forgets the step");
  await numberUntil(page, "loss-step", (step) => step === 120, "120, the steps it takes by itself");
});

test("a moment is held, and the cells show how far they have moved since", async (t) => {
  const page = await site.open(t, "?chapter=rnn&rnn-hidden=8&view=sum&step=3");
  await numberUntil(page, "loss-step", (step) => step === 3, "3");
  await paused(page);
  await settled(page);
  const then = await exported(page, "rnn-matrix");
  const compare = byId(page, "rnn-matrix-since");
  await compare.click();
  assert.equal(await compare.getAttribute("aria-pressed"), "true");
  await steps(page, 2);
  await settled(page);
  const moved = await exported(page, "rnn-matrix");
  assert.match(moved.value, /change since step 3$/);
  await compare.click();
  const now = await exported(page, "rnn-matrix");
  assert.equal(now.value, then.value);
  // The digits of an export are the shortest that read back as the same `f32`.
  const f32 = Math.fround;
  const differences = now.values.map((row, i) => row.map((value, j) => f32(f32(value) - f32(then.values[i][j]))));
  assert.deepEqual(moved.values.map((row) => row.map(f32)), differences);
  assert(differences.flat().some((value) => value !== 0));
  // Another matrix is not what was held.
  await compare.click();
  await byId(page, "control-rnn-matrix-w").check();
  await eventually(async () => (await compare.getAttribute("aria-pressed")) === "false", "let go");
});

test("all heads, and the large one, show how far they have moved", async (t) => {
  const page = await site.open(t, `${SMALL}&view=heads`);
  await live(page, "heads");
  await stepTo(page, 3);
  const all = async () => JSON.parse(await exported(page, "heads", "json-all"));
  const then = await all();
  assert.equal(then.value, "attention weight");
  const compare = byId(page, "heads-since");
  await compare.click();
  await steps(page, 2);
  await settled(page);
  const grid = page.locator("#stage-view .head-grid");
  await eventually(async () => (await grid.getAttribute("data-painted")) === "5", "painted");
  assert.match(await byId(page, "figure-heads").locator(".scale").innerText(), /change since step 3/);
  const largest = byId(page, "heads-chosen");
  assert.match(await largest.innerText(), /^Largest in this head: query .* at step 3, /);
  const moved = await all();
  assert.match(moved.value, /^attention weight, change since step 3$/);
  await byId(page, "head-l1-h2").click();
  assert.equal(await compare.getAttribute("aria-pressed"), "true", "another head is compared as well");
  await compare.click();
  const now = await all();
  const f32 = Math.fround;
  const flat = (data) => data.values.flat(3).map(f32);
  assert.deepEqual(flat(moved), flat(now).map((value, i) => f32(value - flat(then)[i])));
  assert(flat(moved).some((value) => value !== 0));
  // The same with one head large; the heads beside it are compared with it.
  await openView(page, "attention");
  await byId(page, "attention-since").click();
  await steps(page, 1);
  await settled(page);
  assert.match((await exported(page, "attention", "csv")).split("\n")[1], /"weight, change since step 5"$/);
  assert.match(await byId(page, "figure-attention").locator(".scale").innerText(), /change since step 5/);
});

test("an alignment is compared by its places, whatever is written there", async (t) => {
  const page = await site.open(t, "?chapter=alignment&step=2");
  await numberUntil(page, "loss-step", (step) => step === 2, "2");
  await paused(page);
  await settled(page);
  const then = await exported(page, "alignment-weights");
  await byId(page, "alignment-since").click();
  await steps(page, 2);
  await settled(page);
  const moved = await exported(page, "alignment-weights");
  assert.match(moved.value, /change since step 2$/);
  await byId(page, "alignment-weights-cells").focus();
  await eventually(async () => /at step 2, /.test(await byId(page, "alignment-weights-readout").innerText()), "it is said");
  await byId(page, "alignment-since").click();
  const now = await exported(page, "alignment-weights");
  const f32 = Math.fround;
  // What the decoder writes may have become another character, or one more.
  const difference = (value, before) => (before === undefined || before === null ? null : f32(f32(value) - f32(before)));
  assert.deepEqual(
    moved.values.map((row) => row.map((value) => (value === null ? null : f32(value)))),
    now.values.map((row, i) => row.map((value, j) => difference(value, then.values[i]?.[j]))),
  );
  assert(moved.values.flat().some((value) => value));
});

/** Waits until what the time bar plays is `state`: "rests", "plays" or "films". */
const plays = (page, state) => page.locator(`[data-testid="time-replay"][data-state="${state}"]`).waitFor();

test("a replay goes from the first moment to the present; whoever steers stops it there", async (t) => {
  const page = await site.open(t, SMALL);
  await live(page, "attention");
  await settled(page);
  const replay = byId(page, "time-replay");
  assert(!(await replay.isVisible()), "there is nothing to replay yet");
  const last = await train(page, 40);
  await byId(page, "time-length").selectOption("5");
  assert.match(await replay.getAttribute("aria-label"), /^Replay the run over 5 seconds/);
  // Each moment that comes on show.
  await track(page).evaluate((slider) => {
    window.seen = [];
    const see = () => window.seen.push(Number(slider.getAttribute("aria-valuenow")));
    new MutationObserver(see).observe(slider, { attributeFilter: ["aria-valuenow"] });
  });
  // A press of the button, not of Train.
  await replay.focus();
  await page.keyboard.press("Space");
  await plays(page, "plays");
  await plays(page, "rests");
  assert.equal(await shown(page).count(), 0, "it ends in the present");
  assert.equal(await number(page, "loss-step"), last);
  const seen = await page.evaluate(() => window.seen);
  assert.deepEqual([seen[0], seen.at(-1)], [0, last]);
  assert(seen.length > 4 && seen.every((step, i) => i === 0 || step > seen[i - 1]), `${seen}`);
  // A key on the slider, Escape and a second press stop it, and what was on show stays.
  const stops = [
    async () => (await track(page).focus(), await page.keyboard.press("x")),
    () => page.keyboard.press("Escape"),
    () => replay.click(),
  ];
  await byId(page, "time-live").waitFor({ state: "detached" });
  for (const stop of stops) {
    await replay.click();
    await numberUntil(page, "time-shown", (step) => step >= 1, "at least 1");
    await stop();
    await plays(page, "rests");
    const step = await number(page, "time-shown");
    await settled(page);
    assert.equal(await number(page, "time-shown"), step);
  }
  // Training goes on meanwhile, and its button stops the replay.
  await byId(page, "train-toggle").click();
  await running(page);
  await replay.click();
  await plays(page, "plays");
  await numberUntil(page, "loss-step", (step) => step > last + 2, `above ${last + 2}`);
  await byId(page, "train-toggle").click();
  await plays(page, "rests");
});

/** The menu's line that makes a film of a figure. */
async function filmed(page, figure) {
  await byId(page, `export-${figure}`).click();
  await byId(page, `export-${figure}-film`).click();
}

/** The pictures of an animated PNG as the browser decodes them; and which of them are, pixel for pixel, these PNG files. */
function decoded(page, film, stills) {
  return page.evaluate(
    async ([film, stills]) => {
      const bytes = async (base64) => (await fetch(`data:image/png;base64,${base64}`)).arrayBuffer();
      const pixels = (image, width, height) => {
        const context = new OffscreenCanvas(width, height).getContext("2d");
        context.drawImage(image, 0, 0);
        return context.getImageData(0, 0, width, height).data;
      };
      const decoder = new ImageDecoder({ data: await bytes(film), type: "image/png" });
      await decoder.tracks.ready;
      await decoder.completed;
      const { frameCount, repetitionCount } = decoder.tracks.selectedTrack;
      const [durations, same] = [[], []];
      for (let frameIndex = 0; frameIndex < frameCount; frameIndex++) {
        const { image } = await decoder.decode({ frameIndex });
        durations.push(image.duration / 1000);
        if (stills[frameIndex]) {
          const still = await createImageBitmap(new Blob([await bytes(stills[frameIndex])]));
          const [a, b] = [image, still].map((i) => pixels(i, still.width, still.height));
          same.push(image.displayWidth === still.width && a.every((value, at) => value === b[at]));
        }
      }
      return { frameCount, endless: repetitionCount === Infinity, durations, same };
    },
    [film.toString("base64"), stills.map((still) => still.toString("base64"))],
  );
}

test("a figure’s film has each moment as it was, and leads back to what was on show", async (t) => {
  const page = await site.open(t, SMALL);
  await live(page, "attention");
  const stills = [await exported(page, "attention", "png")];
  await byId(page, "export-attention").click();
  assert(!(await byId(page, "export-attention-film").isVisible()), "there is no run yet");
  await page.keyboard.press("Escape");
  for (let step = 1; step <= 3; step++) {
    await steps(page, 1);
    stills.push(await exported(page, "attention", "png"));
  }
  await track(page).focus();
  await page.keyboard.press("ArrowLeft");
  await settled(page);
  const waiting = page.waitForEvent("download");
  await filmed(page, "attention");
  const download = await waiting;
  assert.match(download.suggestedFilename(), /^unroll-attention-step3-.*-film\.png$/);
  const film = await readFile(await download.path());
  assert.equal(film.subarray(0, 8).toString("latin1"), "\x89PNG\r\n\x1a\n");
  assert.equal(film.subarray(37, 41).toString("latin1"), "acTL");
  assert.equal(film.readUInt32BE(41), 4, "one picture each");
  await page.locator('[data-testid="film-said"]', { hasText: /^Saved: 4 pictures, \d+\.\d MB\.$/ }).waitFor();
  const { frameCount, endless, durations, same } = await decoded(page, film, stills);
  assert.deepEqual([frameCount, endless], [4, true]);
  assert.deepEqual(same, [true, true, true, true], "the pictures are those that PNG export made then");
  const whole = durations.reduce((sum, duration) => sum + duration);
  assert(Math.abs(whole - 11_500) < 5, `10 seconds and the last picture for longer: ${durations}`);
  assert.equal(await number(page, "time-shown"), 2);
  t.diagnostic(`${film.length} bytes`);
});

test("a figure that changes its size during the run is filmed with room for the largest picture", async (t) => {
  const page = await site.open(t, "?chapter=alignment&step=12");
  await live(page, "alignment");
  await numberUntil(page, "loss-step", (step) => step === 12, "12");
  await paused(page);
  await settled(page);
  const size = (png) => [png.readUInt32BE(16), png.readUInt32BE(20)];
  const still = size(await exported(page, "alignment-weights", "png"));
  const waiting = page.waitForEvent("download");
  await filmed(page, "alignment-weights");
  const download = await waiting;
  assert.match(download.suggestedFilename(), /^unroll-alignment-weights-step12-seed\d+-film\.png$/);
  await page.locator('[data-testid="film-said"]', { hasText: /^Saved: \d+ pictures/ }).waitFor();
  const film = size(await readFile(await download.path()));
  assert(film.every((length, at) => length >= still[at]), `${film} has room for ${still}`);
});

test("a film can be stopped, and one of what never changes is refused", async (t) => {
  const page = await site.open(t, SMALL);
  await live(page, "attention");
  await train(page, 30);
  await filmed(page, "attention");
  const progress = byId(page, "film-progress");
  await numberUntil(page, "film-progress", (picture) => picture >= 2, "at least 2");
  assert.match(await progress.textContent(), /^Film: picture \d+ of \d+$/);
  await byId(page, "time-replay").click();
  await page.locator('[data-testid="film-said"]', { hasText: "The film was stopped." }).waitFor();
  assert.equal(await progress.count(), 0);
  await eventually(async () => (await shown(page).count()) === 0, "the present is back");
  await openView(page, "loss");
  await filmed(page, "loss");
  await page.locator('[data-testid="film-said"]', { hasText: "shows the same at every moment" }).waitFor();
  assert.equal(await shown(page).count(), 0);
});
