// What time costs, on the CPU and on localhost, one JSON object a line: `node tests/bench-time.mjs [times] [part]`,
// with UNROLL_SITE naming a built site; a part is `models`, `twins`, `chapters` or `pairs`.
//
// How much memory the moments of a run take; how soon the picture follows a move of the time bar, until the
// second frame after; how much longer a run takes with a twin beside it; how soon a run is kept, and how soon
// it goes on after a reload; how soon the lab has learned byte pairs of a megabyte.
import { readFile } from "node:fs/promises";

import { byId, eventually, live, number, numberUntil, openSettings, paused, settled, Site, train } from "./harness.mjs";

const TIMES = Number(process.argv[2] ?? 5);
const wants = (part) => (process.argv[3] ?? part) === part;
/** Chapters that train, and the figure that each opens with. */
const CHAPTERS = { rnn: "unrolled", gates: "gates-cells", alignment: "alignment", heads: "attention", norm: "coupling" };
/** 0.1 million parameters, the lab's default; nanoGPT's CPU setting; the largest of the three. */
const MODELS = {
  "default": ["", 200],
  "0.8m": ["&layers=4&heads=4&width=128&context=64&batch=12", 100],
  "5m": ["&layers=6&heads=8&width=256&context=64&batch=12", 20],
};

const rounded = (number) => Number(number.toFixed(1));
const spread = (all) => {
  const sorted = all.toSorted((a, b) => a - b);
  return [sorted[sorted.length >> 1], sorted[0], sorted.at(-1)].map(rounded);
};
const say = (name, figures) => console.log(JSON.stringify({ name, ...figures }));

const site = await new Site().start({ path: "/" });

/** A page of its own, with the lab in it. */
async function lab(query, figure = "attention") {
  return opened(`?workers=1&device=cpu${query}`, figure);
}

async function opened(query, figure) {
  const context = await site.browser.newContext({ viewport: { width: 1440, height: 900 } });
  const page = await context.newPage();
  await page.goto(`${site.url}${query}`);
  await live(page, figure);
  await settled(page);
  return page;
}

/** Milliseconds from this key on the time bar until the picture is of another moment. */
const moved = (page, key) =>
  page.evaluate(
    (key) =>
      new Promise((resolve) => {
        const shown = () => document.querySelector('[data-testid="time-shown"]')?.textContent;
        const behind = () => document.querySelector('main[data-answers="behind"]');
        const before = shown();
        const start = performance.now();
        document.querySelector('[data-testid="time-track"]')
          .dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
        const look = () => {
          if (shown() === before || behind()) return requestAnimationFrame(look);
          requestAnimationFrame(() => resolve(performance.now() - start));
        };
        requestAnimationFrame(look);
      }),
    key,
  );

/** The same for moves from the first moment on, twice. */
async function moves(page) {
  const all = [];
  for (const key of ["Home", ...Array(TIMES).fill("ArrowRight"), "Home", ...Array(TIMES).fill("ArrowRight")]) {
    all.push(await moved(page, key));
    await settled(page);
  }
  return spread(all);
}

/** Milliseconds in which a run takes so many steps, with its twin if it has one. */
async function timed(page, count) {
  const from = await number(page, "loss-step");
  const start = Date.now();
  await byId(page, "train-toggle").click();
  await numberUntil(page, "loss-step", (step) => step >= from + count, `${from + count}`);
  if (await byId(page, "twin-step").count()) {
    await numberUntil(page, "twin-step", (step) => step >= from + count, `${from + count}`);
  }
  const took = Date.now() - start;
  await byId(page, "train-toggle").click();
  await paused(page);
  return took;
}

/** When the newest kept run was written, in milliseconds since 1970, and its step; zeros while there is none. */
const written = (page) =>
  page.evaluate(async () => {
    const folder = await (await navigator.storage.getDirectory()).getDirectoryHandle("runs", { create: true });
    const last = { at: 0, step: 0 };
    for await (const handle of folder.values()) {
      const file = await handle.getFile().catch(() => null);
      if (!file?.size || file.lastModified < last.at) continue;
      last.at = file.lastModified;
      // Eight bytes, then the length and the checksum of the head, which begins with the step.
      const bytes = new Uint8Array(await file.slice(16, 21).arrayBuffer());
      last.step = bytes.slice(0, bytes.findIndex((byte) => byte < 128) + 1)
        .reduceRight((step, byte) => step * 128 + (byte & 127), 0);
    }
    return last;
  });

try {
  for (const [model, [query, steps]] of Object.entries(wants("models") ? MODELS : {})) {
    const page = await lab(query);
    await train(page, steps);
    await byId(page, "device-badge").click();
    const moments = await byId(page, "moments").textContent();
    await byId(page, "device-badge").click();
    say(`time/${model}`, { steps, moments, bar_ms: await moves(page) });

    // From rest until the file is there: the page waits a second of it, for more steps may follow.
    const keeps = [];
    for (let i = 0; i < TIMES; i++) {
      // The page says that it rests until the engine has heard of the step.
      const next = (await number(page, "loss-step")) + 1;
      await byId(page, "train-step").click();
      await numberUntil(page, "loss-step", (step) => step === next, `${next}`);
      await paused(page);
      const start = await page.evaluate(() => Date.now());
      // A file's own date is in whole seconds here.
      await eventually(async () => (await written(page)).step === next, "it is kept");
      keeps.push((await page.evaluate(() => Date.now())) - start);
    }
    const step = await number(page, "loss-step");
    // The moments, which follow, are not in the way.
    await eventually(async () => (await written(page)).at < (await page.evaluate(() => Date.now())) - 2000, "it rests");
    const resumes = [];
    for (let i = 0; i < TIMES; i++) {
      await page.reload();
      await byId(page, "kept-offer").waitFor();
      await settled(page);
      const start = Date.now();
      await byId(page, "kept-continue").click();
      await numberUntil(page, "loss-step", (now) => now === step, `${step}`);
      await settled(page);
      resumes.push(Date.now() - start);
    }
    say(`kept/${model}`, { save_ms: spread(keeps), resume_ms: spread(resumes) });
    await page.context().close();
  }

  // The twin: both by one worker each, on the same settings.
  for (const model of wants("twins") ? ["default", "0.8m"] : []) {
    const [query, steps] = MODELS[model];
    const ratios = [];
    for (let i = 0; i < TIMES; i++) {
      const page = await lab(query);
      const alone = await timed(page, steps);
      await byId(page, "twin-open").click();
      await numberUntil(page, "twin-step", (step) => step >= steps, `${steps}`);
      await settled(page);
      ratios.push(100 * (await timed(page, steps)) / alone);
      await page.context().close();
    }
    say(`twin/${model}`, { percent_of_one: spread(ratios) });
  }

  for (const [chapter, figure] of Object.entries(wants("chapters") ? CHAPTERS : {})) {
    const page = await opened(`?chapter=${chapter}&step=100`, figure);
    await numberUntil(page, "loss-step", (step) => step >= 100, "100");
    await settled(page);
    say(`time/${chapter}`, { bar_ms: await moves(page) });
    await page.context().close();
  }

  // A megabyte: the tales again and again, each time with words of its own, so that no pair is free.
  const tales = await readFile(new URL("../assets/corpora/tales.txt", import.meta.url), "utf8");
  let text = "";
  for (let i = 0; text.length < 1e6; i++) {
    const name = (word) => word + "aeiou"[i % 5] + "bdklmnrst"[i % 9];
    text += tales.replace(/\b[a-z]{5}\b/g, (word) => name(word));
  }
  const pairs = [];
  for (let i = 0; i < (wants("pairs") ? TIMES : 0); i++) {
    const page = await lab("&tokens=pairs&merges=512");
    await openSettings(page, "source");
    const start = Date.now();
    await byId(page, "text-open")
      .setInputFiles({ name: "long.txt", mimeType: "text/plain", buffer: Buffer.from(text.slice(0, 1e6)) });
    await page.waitForFunction(() => location.search.includes("corpus=own"));
    await settled(page);
    pairs.push(Date.now() - start);
    await page.context().close();
  }
  if (pairs.length) say("pairs/1mb-512", { ms: spread(pairs) });
} finally {
  await site.stop();
}
