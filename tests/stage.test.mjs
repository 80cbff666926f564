// The stage of every chapter: each view whole on one screen, at every size, for eyes, ears and keys.
//
// UNROLL_CHAPTERS, names with commas between, looks at these chapters alone.
import assert from "node:assert/strict";

import {
  accessibilityProblems,
  beat,
  byId,
  CHAPTERS,
  drawn,
  number,
  numberUntil,
  openView,
  paused,
  rested,
  running,
  settled,
  staysFree,
  STUDIES,
  tabs,
  test,
  train,
  useSite,
  views,
} from "./harness.mjs";
import { translate, translateBack } from "./translated.mjs";

const site = useSite();
const chapters = process.env.UNROLL_CHAPTERS?.split(",") ?? CHAPTERS;

/** Of desktops and of phones the sizes at which every view is looked at, and those in between. */
const [SMALL, LARGE] = [{ width: 1280, height: 720 }, { width: 2560, height: 1440 }];
const [PHONE, LYING] = [{ width: 360, height: 740 }, { width: 844, height: 390 }];
const PHONE_BETWEEN = { width: 390, height: 844 };
/** Each view is looked at in one of these; a chapter has more views. */
const BETWEEN = [{ width: 1440, height: 900 }, PHONE_BETWEEN, { width: 1366, height: 768 }, { width: 1920, height: 1080 }];
const PHONES = [PHONE, PHONE_BETWEEN, LYING];

/** What else there is to see, by chapter: settings with more on the stage than it opens with. */
const FULL = {
  alignment: "&alignment-key=2",
  bigram: "&bigram-row=113&bigram-drawn=9",
  block: "&block-term=3",
  bptt: "&bptt-rescale=1",
  // Its start has no figure before the first step.
  gpt: "&view=attention",
  heads: "&heads-off=1.1,2.3&heads-switching=1",
  mask: "&mask-row=5",
  norm: "&norm-example=2&norm-feature=3&norm-undo=1&norm-axis=layer",
  rnn: "&rnn-columns=12&rnn-at=4&rnn-unit=2&rnn-edit=3&rnn-matrix=u&rnn-odd=20",
  tokens: "&tokens-merges=9",
};

/** A figure's pictures take up at least this share of the view, in one direction or the other. */
const SHARE = 0.6;
const SMALLEST_TEXT = 12;

/** What is wrong with the view on show, in sentences. Runs in the page. */
function misfits([desktop, large, smallest]) {
  const problems = [];
  const excess = (element, side) => element[`scroll${side}`] - element[`client${side}`];
  const name = (element) => element.closest("[data-testid]")?.dataset.testid ?? element.className;
  const page = document.documentElement;
  if (excess(page, "Width") > 0) problems.push(`the page is ${excess(page, "Width")} px too wide`);
  for (const bar of document.querySelectorAll(".time-bar")) {
    if (excess(bar, "Width") > 0) problems.push(`the time bar is cut by ${excess(bar, "Width")} px`);
  }
  for (const button of document.querySelectorAll(".time-play")) {
    if (excess(button, "Width") > 1) problems.push("what the Train button says is cut");
  }
  const tabs = document.querySelector(".view-tabs").getBoundingClientRect();
  const tab = document.querySelector('.view-tab[aria-selected="true"]').getBoundingClientRect();
  if (tab.left < tabs.left - 1 || tab.right > tabs.right + 1) problems.push("the chosen tab is out of sight");
  const view = document.querySelector(".view");
  const room = document.querySelector(".stage-view").getBoundingClientRect();
  if (desktop) {
    if (excess(page, "Height") > 0) problems.push(`the page scrolls by ${excess(page, "Height")} px`);
    if (excess(view, "Height") > 1) problems.push(`the view scrolls by ${excess(view, "Height")} px`);
    if (excess(view, "Width") > 1) problems.push(`the view is ${excess(view, "Width")} px too wide`);
  }

  const seen = (element) => {
    const box = element.getBoundingClientRect();
    const shown = element.checkVisibility({ checkOpacity: true, checkVisibilityCSS: true });
    return shown && box.width > 1 && box.height > 1 && !element.closest(".visually-hidden");
  };
  const figures = [...view.querySelectorAll(".figure")].filter(
    (figure) => seen(figure) && !figure.parentElement.closest(".figure"),
  );
  // What stands beside the writing is no picture that the view is about: on a phone it is left out.
  const beside = ".figure-inside";
  if (!figures.length && view.querySelector(`.figure:not(${beside})`)) problems.push("no figure is visible");
  for (const figure of figures) {
    // On a phone one of several may be a swipe away, and one that is taller than the stage is scrolled.
    if (!desktop) figure.scrollIntoView({ block: "start", inline: "nearest" });
    const box = figure.getBoundingClientRect();
    let around = figure.parentElement;
    while (around !== view && around.scrollHeight <= around.clientHeight + 1) around = around.parentElement;
    const scrolls = around.scrollHeight > around.clientHeight + 1;
    const tall = !desktop && scrolls && box.height > around.clientHeight - 24;
    const stands = (side, out) => {
      if (out > 1) problems.push(`${name(figure)} stands out ${side} by ${Math.round(out)} px`);
    };
    stands("above", room.top - box.top);
    if (!tall) stands("below", box.bottom - room.bottom);
    stands("on the left", room.left - box.left);
    stands("on the right", box.right - room.right);
    const boxes = figure.querySelectorAll(".figure-box, .matrix-scroller, .lines-box, .histogram-box");
    // Lists and tables may scroll; a picture is whole.
    const isList = (part) => part !== figure && part.querySelector("table, ul, ol, dl");
    for (const part of desktop ? [figure, ...boxes].filter((part) => !isList(part)) : []) {
      const cut = excess(part, "Height");
      if (cut > 1) problems.push(`${name(figure)} is ${cut} px too low for what is in it (${part.className})`);
    }
  }

  // How large the pictures are, whatever room the figures have around them.
  const all = [];
  for (const figure of figures.filter((figure) => !figure.matches(beside))) {
    const pictures = [...figure.querySelectorAll("canvas, svg")].filter(
      (picture) => seen(picture) && picture.getBoundingClientRect().height > 48,
    );
    for (const picture of pictures) {
      // A drawing may leave most of its box empty.
      const parts = picture.tagName === "svg" ? [...picture.querySelectorAll("*")].filter(seen) : [];
      all.push(...(parts.length ? parts : [picture]).map((part) => part.getBoundingClientRect()));
    }
    if (!pictures.length) all.push(figure.getBoundingClientRect());
  }
  if (all.length) {
    const span = (low, high) => Math.max(...all.map((box) => box[high])) - Math.min(...all.map((box) => box[low]));
    const box = view.getBoundingClientRect();
    const share = Math.max(span("left", "right") / box.width, span("top", "bottom") / box.height);
    if (desktop && share < large) problems.push(`the figures span ${Math.round(100 * share)}% of the view`);
  }

  const small = new Map();
  for (const figure of figures) {
    const texts = document.createTreeWalker(figure, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
      const text = texts.currentNode;
      const parent = text.parentElement;
      if (!text.data.trim() || !seen(parent)) continue;
      const matrix = parent instanceof SVGElement ? parent.getScreenCTM() : null;
      const scale = matrix ? Math.sqrt(Math.abs(matrix.a * matrix.d - matrix.b * matrix.c)) : 1;
      const size = scale * Number.parseFloat(getComputedStyle(parent).fontSize);
      // Rounding alone is no matter.
      // A size of nothing is how a drawing leaves a word out.
      if (size > 0 && size < smallest - 0.05 && !small.has(name(parent))) {
        small.set(name(parent), `“${text.data.trim().slice(0, 30)}” in ${name(parent)} is ${size.toFixed(1)} px`);
      }
    }
  }
  return [...problems, ...small.values()];
}

/** Where a word of a translated page is cut, or the page is wider than its window. Runs in the page. */
function cut() {
  const problems = [];
  const wide = document.documentElement.scrollWidth - innerWidth;
  if (wide > 0) problems.push(`the page is ${wide} px wider than the window`);
  const view = document.querySelector(".view").getBoundingClientRect();
  for (const element of document.querySelectorAll(".view .figure, .view-bar > *, .view-note")) {
    const box = element.getBoundingClientRect();
    if (!box.width || element.closest(".visually-hidden, [hidden]")) continue;
    const scrolls = (around) => around && around !== document.body && (around.scrollWidth > around.clientWidth + 1 || scrolls(around.parentElement));
    if (box.right > view.right + 1 && !scrolls(element.parentElement)) {
      problems.push(`${element.className} stands out on the right by ${Math.round(box.right - view.right)} px`);
    }
  }
  for (const picture of document.querySelectorAll(".view :is(.figure-box, .matrix-scroller, .lines-box, .histogram-box, .heatmap-box)")) {
    const box = picture.getBoundingClientRect();
    // A list keeps a line.
    if (box.width > 1 && box.height < 24 && !picture.closest("[hidden]")) {
      problems.push(`${picture.className} has ${Math.round(box.height)} px of height left`);
    }
  }
  return problems;
}

/** What within `around` keeps Alt with an arrow from the browser, which goes back a page by it. Runs in the page. */
function taken(around) {
  const problems = new Set();
  for (const element of document.querySelector(around).querySelectorAll("[tabindex], button, input, select")) {
    const key = new KeyboardEvent("keydown", { key: "ArrowLeft", altKey: true, bubbles: true, cancelable: true });
    if (!element.dispatchEvent(key)) problems.add(`${element.className || element.dataset.testid || element.tagName} takes Alt with an arrow`);
  }
  return [...problems];
}

/** Leaves out what the story says below its headings, each section as tall as before: laying it out anew at every
 *  size costs as much as the view. Runs in the page. */
function setAside() {
  const parts = [...document.querySelectorAll('.beat-body, [data-testid="more"] > :not(summary)')];
  const heights = parts.map((part) => part.offsetHeight);
  for (const [i, part] of parts.entries()) {
    part.style.height = `${heights[i]}px`;
    for (const child of part.children) child.style.setProperty("display", "none", "important");
  }
}

/** axe's findings of any impact, in light or dark. */
async function unheard(page, colorScheme, options) {
  await page.emulateMedia({ colorScheme });
  await drawn(page);
  const problems = await accessibilityProblems(page, { ...options, all: true });
  return problems.map((problem) => `${colorScheme}: ${problem}`);
}

for (const chapter of chapters) {
  const trains = STUDIES.includes(chapter);
  const also = trains ? "; a link has it trained as far as it says, and the page stays free while it trains on" : "";
  test(`${chapter}: every view is whole and large on every screen, reads well, and holds longer words${also}`, async (t) => {
    // Each chapter's own tests wait for the steps that it takes by itself; here few are enough.
    const page = await site.open(t, `?chapter=${chapter}${trains ? "&step=20" : ""}${FULL[chapter] ?? ""}`, { viewport: SMALL });
    await byId(page, `chapter-${chapter}`).waitFor();
    if (trains) {
      await numberUntil(page, "loss-step", (step) => step === 20, "20");
      assert.equal((await page.locator('[data-testid$="-problem"]').allTextContents()).join(""), "");
      await paused(page);
      await staysFree(t, site, page, () => train(page, 60));
    } else {
      await page.locator('.view .figure[data-state="live"]').first().waitFor();
      await paused(page);
    }
    // Nothing fades while it is looked at.
    await page.emulateMedia({ reducedMotion: "reduce" });
    // The formulas are looked at with the first view.
    const more = byId(page, "more").locator("> summary");
    if (await more.count()) await more.click();
    const problems = [];
    const all = await views(page);
    assert(all.length >= BETWEEN.length, `${all}`);
    for (const [at, view] of all.entries()) {
      const note = ({ width, height }, how, found) =>
        problems.push(...found.map((problem) => `${view}, ${how}${width} × ${height}: ${problem}`));
      const fits = async (size) => {
        await page.setViewportSize(size);
        await settled(page);
        note(size, "", await page.evaluate(misfits, [!PHONES.includes(size), SHARE, SMALLEST_TEXT]));
      };
      // All rules at both sizes, at one in light and at the other in dark, by turns. What is around the view is the
      // same for all of them, and is looked at with the first.
      const schemes = at % 2 ? ["dark", "light"] : ["light", "dark"];
      const hears = async (size, scheme, rules) =>
        note(size, "", await unheard(page, scheme, { rules, within: at === 0 ? undefined : ".view" }));
      // With words that are 40% longer, as a browser's translation may make them.
      const holds = async (size) => {
        await page.evaluate(translate);
        await settled(page);
        note(size, "translated, ", await page.evaluate(cut));
        await page.evaluate(translateBack);
      };
      const looks = {
        small: async () => {
          await fits(SMALL);
          await hears(SMALL, schemes[0]);
          // A part of what is around is on desktops alone; it is no chapter's own.
          if (at === 0 && chapter === chapters[0]) await hears(SMALL, schemes[1], ["color-contrast"]);
          note(SMALL, "", await page.evaluate(taken, at === 0 ? "body" : ".stage"));
          await holds(SMALL);
        },
        phone: async () => {
          await fits(PHONE);
          await hears(PHONE, schemes[1]);
          await holds(PHONE);
        },
        others: async () => {
          const others = [LYING, BETWEEN[at % BETWEEN.length], LARGE];
          for (const size of at % 2 ? others.toReversed() : others) await fits(size);
        },
      };

      await openView(page, view);
      // What is written or measured step by step is looked at when it is whole.
      await page.locator('.view:not(:has([data-busy="true"]))').waitFor();
      // A view opens at the size that the one before was looked at last.
      for (const look of at % 2 ? ["others", "phone", "small"] : ["small", "phone", "others"]) await looks[look]();
      if (at === 0) await page.evaluate(setAside);
    }
    assert.deepEqual(problems, [], problems.join("\n"));
  });
}

test("one whole chapter with the keyboard alone", async (t) => {
  const page = await site.open(t, "?chapter=position");
  await rested(page);
  const focused = (selector) =>
    page.waitForFunction((selector) => document.activeElement?.matches(selector), selector);
  const press = (key) => page.keyboard.press(key);
  /** Tab until what is wanted has the focus. */
  const reach = async (selector, most = 80) => {
    for (let i = 0; i < most; i++) {
      if (await page.evaluate((selector) => document.activeElement?.matches(selector), selector)) return;
      await press("Tab");
    }
    assert.fail(`no Tab leads to ${selector}`);
  };

  // Space trains and pauses while nothing has the focus.
  const before = await number(page, "loss-step");
  await press(" ");
  await running(page);
  await numberUntil(page, "loss-step", (step) => step > before, `more than ${before}`);
  await press(" ");
  await paused(page);

  // Along the tabs, around the end, and each shows its view.
  const names = await tabs(page);
  await reach('[role="tab"]');
  await focused(`#view-${names[0]}`);
  for (const name of [...names.slice(1), names[0]]) {
    await press("ArrowRight");
    await focused(`#view-${name}[aria-selected="true"]`);
    await page.locator(`.view[data-view="${name}"]`).waitFor();
    await settled(page);
    assert.deepEqual(await page.evaluate(taken, "body"), []);
  }
  await press("End");
  await focused(`#view-${names.at(-1)}`);
  await press("Home");
  await focused(`#view-${names[0]}`);
  // The next Tab leaves the list of tabs.
  await press("Tab");
  await page.waitForFunction(() => !document.activeElement.matches('[role="tab"]'));

  // What the model is made of: in with Enter, out with Escape, back to where one was.
  await reach("#settings-open");
  await press("Enter");
  await byId(page, "settings-panel").waitFor();
  await focused("#settings-panel");
  await press("Tab");
  await focused("#settings-panel *");
  await press("Escape");
  await byId(page, "settings-panel").waitFor({ state: "hidden" });
  await focused("#settings-open");

  // Through the whole story, from wherever the focus is; then back by one.
  const beats = await page.locator(".beat").count();
  for (let at = 1; at < beats; at++) {
    await press("PageDown");
    await page.locator(`[data-testid="beat-${at}"][aria-current="step"]`).waitFor();
    assert.equal(await beat(page).count(), 1);
  }
  await press("PageDown");
  await press("PageUp");
  await page.locator(`[data-testid="beat-${beats - 2}"][aria-current="step"]`).waitFor();
  await paused(page);

  // The page’s first link leads past the story: into the figure, and what trains comes right after.
  await page.locator(".skip-link").focus();
  await press("Enter");
  await press("Tab");
  await focused("#stage-view *");
  await reach('[data-testid="train-toggle"]', 20);
});
