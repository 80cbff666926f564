// The embedding contract: one figure in somebody else's page.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";

import {
  accessibilityProblems,
  byId,
  CHAPTERS,
  eventually,
  live,
  numberUntil,
  openView,
  paused,
  rested,
  settled,
  test,
  useSite,
  views,
} from "./harness.mjs";

const site = useSite({ cors: true });
const SMALL = "embed=1&layers=1&heads=2&width=16&context=32&batch=4";

/** A page of another origin with the figure in it, that keeps what it is told. */
function host(query, attributes = "", more = "") {
  return site.host(`<!doctype html><html lang="en"><title>A course</title>
    <main><h1>Lesson</h1>
    <iframe title="figure" width="900" height="900" ${attributes} src="${site.url}?${query}"></iframe></main>
    <script>
      window.heard = [];
      addEventListener("message", (event) => heard.push(event.data));
      window.say = (message) => document.querySelector("iframe").contentWindow.postMessage(message, "*");
    </script>${more}</html>`);
}

/** Waits for a message that fits; messages are looked at in order, each once. */
async function hear(page, fits) {
  let found;
  await eventually(async () => {
    const heard = await page.evaluate(() => window.heard);
    found = heard.find(fits);
    return found !== undefined;
  }, `a message that fits ${fits}`);
  return found;
}

const say = (page, message) => page.evaluate((message) => window.say(message), message);

for (const [kind, attributes] of [["in an iframe", ""], ["in a sandboxed iframe", 'sandbox="allow-scripts"']]) {
  test(`${kind} the figure is ready, trains, and exports`, async (t) => {
    const page = await site.open(t, host(SMALL, attributes));
    const ready = await hear(page, (m) => m.type === "ready");
    assert.equal(ready.unroll, 1);
    const frame = page.frames()[1];
    await frame.locator('[data-testid="figure-attention"][data-state="live"]').waitFor();
    assert.equal(await frame.locator("header.page-header").count(), 0, "no shell");
    await say(page, { unroll: 1, type: "run" });
    await hear(page, (m) => m.type === "progress" && m.step >= 20 && m.loss > 0 && m.tokens_per_second > 0);
    await say(page, { unroll: 1, type: "pause" });
    await hear(page, (m) => m.type === "progress" && m.running === false && m.step >= 20);
    await say(page, { unroll: 1, type: "export", figure: "attention" });
    const { data } = await hear(page, (m) => m.type === "exported" && m.figure === "attention");
    const figure = typeof data === "string" ? JSON.parse(data) : data;
    assert.equal(figure.shape.length, 2);
    assert(figure.values.every((row) => Math.abs(row.reduce((a, b) => a + b) - 1) < 1e-5));
    assert.deepEqual(figure.experiment.seed, 1);
    assert(figure.device.includes("CPU"));
    await hear(page, (m) => m.type === "size" && m.height > 100);
  });
}

test("malformed and hostile messages are answered with an error and change nothing; only the parent is listened to", async (t) => {
  const page = await site.open(t, host(SMALL));
  await hear(page, (m) => m.type === "ready");
  // The frame's own window is not its parent.
  await page.frames()[1].evaluate(() => window.postMessage({ unroll: 1, type: "run" }, "*"));
  for (const message of [
    "run",
    null,
    { type: "run" },
    { unroll: 2, type: "run" },
    { unroll: 1, type: "fly" },
    { unroll: 1, type: "set", settings: { layers: 99 } },
    { unroll: 1, type: "set", settings: { speling: 1 } },
    { unroll: 1, type: "export", figure: "moon" },
    { unroll: 1, type: "run".repeat(1_000_000) },
  ]) {
    await page.evaluate(() => (window.heard = []));
    await say(page, message);
    const { message: sentence } = await hear(page, (m) => m.type === "error");
    assert(sentence.length > 10 && sentence.length < 1000, sentence);
  }
  await page.evaluate(() => (window.heard = []));
  await say(page, { unroll: 1, type: "export", figure: "attention" });
  const { data } = await hear(page, (m) => m.type === "exported");
  const figure = typeof data === "string" ? JSON.parse(data) : data;
  assert.equal(figure.step, 0, "nothing ran");
  assert.equal(figure.experiment.gpt.layers, 1);
});

test("a figure that is asked for before it is there comes as soon as it is", async (t) => {
  const early = `<script>
    addEventListener("message", ({ data }) => {
      if (data.type === "ready") say({ unroll: 1, type: "export" });
    });
  </script>`;
  const page = await site.open(t, host(SMALL, "", early));
  const { data } = await hear(page, (m) => m.type === "exported" && m.figure === "attention");
  assert.equal((typeof data === "string" ? JSON.parse(data) : data).step, 0);
  await hear(page, (m) => m.type === "exported" && m.figure === "loss");
  const heard = await page.evaluate(() => window.heard.map((message) => message.type));
  assert(!heard.includes("error"), heard.join());
  // Of no sentence there never will be one: that is said.
  await page.frames()[1].locator('[data-testid="probe-input"]').fill("");
  await page.frames()[1].locator('[data-testid="probe-problem"]', { hasText: /./ }).waitFor();
  await say(page, { unroll: 1, type: "reset" });
  await eventually(async () => {
    await page.evaluate(() => (window.heard = []));
    await say(page, { unroll: 1, type: "export", figure: "attention" });
    const { type, message } = await hear(page, (m) => m.type === "exported" || m.type === "error");
    return type === "error" && /^There is no attention to export: ./.test(message);
  }, "a sentence says why there is no heatmap");
});

/** Frames of common sizes. */
const FRAMES = [
  { width: 720, height: 480 },
  { width: 480, height: 360 },
];
/** What is too much for the smallest frame: it scrolls there, with its beginning in sight. */
const SCROLLED = ["bigram table", "decode beside", "machine gpt"];
/** What a view is about, where that is not its first figure. */
const MAIN = { "rnn sum": ".rnn-sum" };
const SMALLEST_TEXT = 11;

/** What is wrong with the stage in its frame, in sentences. Runs in the page. */
function cut([main, scrolls, smallest]) {
  const problems = [];
  const shown = (element) => {
    const box = element.getBoundingClientRect();
    const seen = element.checkVisibility({ checkOpacity: true, checkVisibilityCSS: true });
    return seen && box.width > 1 && box.height > 1 && !element.closest(".visually-hidden");
  };
  /** What is left of an element's box within all that clips it. */
  const inSight = (element) => {
    let { left, top, right, bottom } = element.getBoundingClientRect();
    for (let around = element.parentElement; around; around = around.parentElement) {
      const { overflowX, overflowY, display } = getComputedStyle(around);
      const box = around === document.documentElement
        ? { left: 0, top: 0, right: innerWidth, bottom: innerHeight }
        : around.getBoundingClientRect();
      if (display === "contents") continue;
      if (overflowX !== "visible" || !around.parentElement) [left, right] = [Math.max(left, box.left), Math.min(right, box.right)];
      if (overflowY !== "visible" || !around.parentElement) [top, bottom] = [Math.max(top, box.top), Math.min(bottom, box.bottom)];
    }
    return { left, top, right, bottom };
  };
  const outside = (element, start = false) => {
    const [box, seen] = [element.getBoundingClientRect(), inSight(element)];
    const sides = start ? ["left", "top"] : ["left", "top", "right", "bottom"];
    const out = sides.filter((side) => Math.abs(box[side] - seen[side]) > 2);
    return out.map((side) => `${side} by ${Math.round(Math.abs(box[side] - seen[side]))} px`).join(", ");
  };
  const page = document.documentElement;
  if (page.scrollWidth > innerWidth || page.scrollHeight > innerHeight) problems.push("the page scrolls");
  const view = document.querySelector(".view");
  if (view.scrollWidth > view.clientWidth + 1) problems.push(`the view is ${view.scrollWidth - view.clientWidth} px too wide`);
  const figure = [...view.querySelectorAll(main ?? ".figure")].find(shown);
  for (const part of [...document.querySelectorAll(".views, .stage-view, .time-bar"), ...(figure ? [figure] : [])]) {
    const out = outside(part);
    if (out) problems.push(`${part.className} is cut ${out}`);
  }
  if (!figure) return problems;
  const high = figure.getBoundingClientRect().height / document.querySelector(".stage-view").clientHeight;
  if (high < 0.33) problems.push(`the figure has ${Math.round(100 * high)}% of the view's height`);
  for (const picture of figure.querySelectorAll("canvas, svg, .matrix-track, .token-track, .head-grid")) {
    if (!shown(picture) || picture.clientHeight < 17 || picture.closest("button, summary, .lines-key, .table-sheet")) continue;
    const out = outside(picture, scrolls);
    if (out) problems.push(`${picture.getAttribute("class") ?? picture.tagName} is cut ${out}`);
  }
  const texts = document.createTreeWalker(figure, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const text = texts.currentNode;
    if (!text.data.trim() || !shown(text.parentElement)) continue;
    const matrix = text.parentElement.getScreenCTM?.();
    const scale = matrix ? Math.sqrt(Math.abs(matrix.a * matrix.d - matrix.b * matrix.c)) : 1;
    const size = scale * Number.parseFloat(getComputedStyle(text.parentElement).fontSize);
    // A size of nothing is how a drawing leaves a word out.
    if (size > 0 && size < smallest - 0.05) {
      problems.push(`“${text.data.trim().slice(0, 30)}” is ${size.toFixed(1)} px`);
      break;
    }
  }
  return problems;
}

const SETTINGS = readFileSync(join(import.meta.dirname, "../SETTINGS.md"), "utf8");

/** The row of SETTINGS.md with the views of a chapter. */
function documentedViews(chapter) {
  const row = SETTINGS.split("\n").find((line) => line.startsWith(`| \`${chapter}\` | \``));
  assert(row, `SETTINGS.md lists the views of ${chapter}`);
  return row.split(" | ")[1].replace(/ \|$/, "");
}

for (const chapter of CHAPTERS) {
  test(`${chapter}: in a small frame each view has its figure whole, with the time bar`, async (t) => {
    // The chapter opens with the whole sentence, which scrolls in so narrow a frame.
    const folded = chapter === "rnn" ? "&rnn-columns=0" : "";
    const page = await site.open(t, `?chapter=${chapter}&embed=1&step=1${folded}`, { viewport: FRAMES[0], reducedMotion: "reduce" });
    await (chapter === "start" ? paused(page) : rested(page));
    const problems = [];
    const all = await views(page);
    const documented = documentedViews(chapter);
    assert.deepEqual([...documented.matchAll(/`([^`]+)`/g)].map(([, name]) => name), all);
    const named = await page.locator(".view-tab").evaluateAll((tabs) => tabs.map((tab) => `\`${tab.id.replace("view-", "")}\` ${tab.dataset.title}`));
    for (const tab of named) assert(documented.split("; ").includes(tab), `${tab} in ${documented}`);
    for (const [at, view] of all.entries()) {
      await openView(page, view);
      // A view opens at the size that the one before was looked at last.
      for (const [number, size] of (at % 2 ? FRAMES.toReversed() : FRAMES).entries()) {
        if (number > 0) {
          await page.setViewportSize(size);
          await settled(page);
        }
        const scrolls = size === FRAMES[1] && SCROLLED.includes(`${chapter} ${view}`);
        const found = await page.evaluate(cut, [MAIN[`${chapter} ${view}`], scrolls, SMALLEST_TEXT]);
        problems.push(...found.map((problem) => `${view}, ${size.width} × ${size.height}: ${problem}`));
      }
    }
    assert.deepEqual(problems, [], problems.join("\n"));
  });
}

test("the view is chosen by the address and by a message, and any figure of a chapter is exported", async (t) => {
  const page = await site.open(t, host("chapter=bigram&embed=1"));
  const ready = await hear(page, (m) => m.type === "ready");
  assert(Array.isArray(ready.figures));
  const frame = page.frames()[1];
  await frame.locator('.view .figure[data-state="live"]').first().waitFor();
  await settled(frame);
  const views = await frame.locator(".view-tab").evaluateAll((tabs) => tabs.map((tab) => tab.id.replace("view-", "")));
  for (const view of views.slice(1)) {
    await say(page, { unroll: 1, type: "set", settings: { view } });
    await frame.locator(`.view[data-view="${view}"]`).waitFor();
  }
  await page.evaluate(() => (window.heard = []));
  await say(page, { unroll: 1, type: "set", settings: { view: "moon", seed: 2 } });
  const refused = await hear(page, (m) => m.type === "error");
  assert.equal(refused.message, `There is no view “moon” in this chapter; there is: ${views.join(", ")}.`);
  assert.equal(await frame.locator(`.view[data-view="${views.at(-1)}"]`).count(), 1, "nothing is changed");
  await say(page, { unroll: 1, type: "set", settings: { view: "" } });
  await frame.locator(`.view[data-view="${views[0]}"] .figure[data-state="live"]`).first().waitFor();
  await settled(frame);
  await say(page, { unroll: 1, type: "export" });
  const { figure, data } = await hear(page, (m) => m.type === "exported");
  assert.equal(await frame.locator(`[data-testid="figure-${figure}"]`).count(), 1);
  const read = typeof data === "string" ? JSON.parse(data) : data;
  assert.equal(read.experiment.seed ?? read.experiment.spec?.seed ?? 1, 1);
  await page.evaluate(() => (window.heard = []));
  await say(page, { unroll: 1, type: "export", figure: "moon" });
  const { message } = await hear(page, (m) => m.type === "error");
  assert.match(message, /no figure “moon” on the stage; there is: .*\w/);
});

test("“Share” copies the figure as an iframe: what the link says, alone", async (t) => {
  const page = await site.open(t, "?chapter=gates&gates-units=6&view=circuit&step=2");
  await numberUntil(page, "loss-step", (step) => step === 2, "2");
  await paused(page);
  await byId(page, "copy-link").click();
  const field = byId(page, "link-address");
  const link = new URL(await field.inputValue());
  await byId(page, "link-framed").click();
  await eventually(async () => (await field.inputValue()).startsWith("<iframe "), "an iframe");
  const html = await field.inputValue();
  const frame = await page.evaluate((html) => {
    const { src, title, width, height } = new DOMParser().parseFromString(html, "text/html").querySelector("iframe");
    return { src, title, width, height };
  }, html);
  assert.match(frame.title, /: Circuit$/);
  assert.deepEqual([frame.width, frame.height], ["720", "480"]);
  const src = new URL(frame.src);
  assert.equal(src.searchParams.get("embed"), "1");
  src.searchParams.delete("embed");
  assert.deepEqual([...src.searchParams].sort(), [...link.searchParams].sort());
  assert.deepEqual([src.searchParams.get("view"), src.searchParams.get("step")], ["circuit", "2"]);
  assert.equal(src.hash, link.hash);
  await byId(page, "link-framed").click();
  await eventually(async () => (await field.inputValue()) === link.href, "the link again");
  await page.close();

  // In a page of somebody else it is the figure, trained as far.
  const other = await site.open(t, site.host(`<!doctype html><html lang="en"><title>A course</title><main><h1>Lesson</h1>${html}</main></html>`));
  const inside = other.frames()[1];
  await inside.locator('.view[data-view="circuit"]').waitFor();
  await numberUntil(inside, "loss-step", (step) => step === 2, "2");
});

test("settings can be set and parts hidden", async (t) => {
  const page = await site.open(t, host(`${SMALL}&hide=controls,loss,sample,text&theme=dark`));
  await hear(page, (m) => m.type === "ready");
  const frame = page.frames()[1];
  assert.equal(await frame.locator('[data-testid="train-toggle"]').count(), 0);
  assert.equal(await frame.locator('[data-testid="figure-loss"]').count(), 0);
  assert.deepEqual(await views(frame), ["attention", "heads", "next", "batch"]);
  assert.equal(await frame.locator("html").getAttribute("data-theme"), "dark");
  await say(page, { unroll: 1, type: "set", settings: { width: 32 } });
  await eventually(async () => {
    await page.evaluate(() => (window.heard = []));
    await say(page, { unroll: 1, type: "export", figure: "attention" });
    const { data } = await hear(page, (m) => m.type === "exported");
    return (typeof data === "string" ? JSON.parse(data) : data).experiment.gpt.width === 32;
  }, "a model of width 32");
  assert.deepEqual(await accessibilityProblems(frame), []);
});

test("what a frame hides is hidden in every chapter", async (t) => {
  const parts = ["source-open", "settings-open", "train-toggle", "loss-value"];
  const shows = async (query, there) => {
    const page = await site.open(t, `?chapter=rnn&${query}`);
    await byId(page, "chapter-rnn").waitFor();
    await live(page, "unrolled");
    for (const part of there) await byId(page, part).waitFor();
    await settled(page);
    for (const part of parts) assert.equal(await byId(page, part).count(), Number(there.includes(part)), `${part}: ${query}`);
    // The next one shares its compiled code.
    await page.close();
  };
  await shows("embed=1", parts);
  await shows("embed=1&hide=text,loss", ["settings-open", "train-toggle"]);
  await shows("embed=1&hide=controls", []);
  // Without embed=1 nothing is.
  await shows("hide=controls,text", parts);
});
