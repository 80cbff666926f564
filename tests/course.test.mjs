// The course around the chapters: the way through it, back, and one idea at a time.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";

import {
  accessibilityProblems,
  beat,
  byId,
  CHAPTERS,
  chooseView,
  closeSettings,
  eventually,
  live,
  number,
  numberUntil,
  openSettings,
  parameter,
  paused,
  rested,
  running,
  settled,
  STUDIES,
  test,
  useSite,
  VIEWPORTS,
} from "./harness.mjs";

const site = useSite();

const opened = async (page, chapter) => byId(page, `chapter-${chapter}`).waitFor();

test("a view that the chapter does not have is said; the list shows what was seen, remembers it, and forgets it when told to", async (t) => {
  const page = await site.open(t, "?chapter=rnn&view=moon");
  await opened(page, "rnn");
  await page.locator(".notice", { hasText: "moon" }).waitFor();
  // The first one is shown.
  const [on, first] = [page.locator('.view-tab[aria-selected="true"]'), page.locator(".view-tab").first()];
  assert.equal(await on.textContent(), await first.textContent());
  await byId(page, "chapter-list").focus();
  await page.keyboard.press("Enter");
  const seen = page.locator(".course-panel li", { hasText: "(seen)" });
  await eventually(async () => (await seen.count()) === 1, "the open chapter is seen");
  await page.locator(".course-panel li a").first().focus();
  await page.keyboard.press("Enter");
  await opened(page, CHAPTERS[0]);
  await page.reload();
  await opened(page, CHAPTERS[0]);
  await byId(page, "chapter-list").click();
  await eventually(async () => (await seen.count()) === 2, "both chapters are seen");
  await byId(page, "forget-progress").click();
  await eventually(async () => (await seen.count()) === 0, "none is seen");
  await page.keyboard.press("Escape");
  assert.equal(await byId(page, "forget-progress").isVisible(), false);
});

/** The story as it is in focus: the beat's words, and the view and settings of the address. */
const stage = (page) => [...new URL(page.url()).searchParams].filter(([name]) => name !== "idea").join();

/** One chapter of each kind: with a model of its own, about the lab's, without any, and the lab. */
const LINKED = ["rnn", "machine", "start", "gpt"];

test("from the first screen through every chapter, a presenter's keys through its beats, and back; a link opens at one", async (t) => {
  // Beats are jumped to: the way there is tried in the test of scrolling.
  const page = await site.open(t, "", { reducedMotion: "reduce" });
  await opened(page, "gpt");
  await byId(page, "way-in").click();
  // The course begins there; what prepares for it is a step back.
  await opened(page, "tokens");
  await byId(page, "chapter-previous").click();
  await opened(page, CHAPTERS[0]);
  for (const chapter of CHAPTERS) {
    if (chapter !== CHAPTERS[0]) {
      await byId(page, "chapter-next").click();
      await opened(page, chapter);
      assert.equal(parameter(page, "chapter"), chapter);
      assert.match(await page.title(), / – Unroll$/);
      // Readers by ear begin at the new chapter's title.
      await eventually(() => page.evaluate(() => document.activeElement?.id === "chapter-title"));
    }
    await goThrough(page, chapter);
  }
  assert.equal(await byId(page, "chapter-next").count(), 0);
  // Beats are no pages: one goes back by chapters.
  await page.goBack();
  await opened(page, CHAPTERS.at(-2));
  await page.goBack();
  await opened(page, CHAPTERS.at(-3));
  await page.goForward();
  await opened(page, CHAPTERS.at(-2));
});

test("on a phone what the first beat asks for is in sight at once", async (t) => {
  const page = await site.open(t, "?chapter=tokens&step=1", { viewport: { width: 390, height: 844 } });
  for (const chapter of ["tokens", "heads", "machine"]) {
    if (chapter !== "tokens") await page.goto(`${site.url}?chapter=${chapter}&step=1`);
    await opened(page, chapter);
    await page.waitForFunction(() => {
      const box = (selector) => document.querySelector(selector)?.getBoundingClientRect();
      const [ask, stage, steps] = [".beat-on .beat-do", ".stage", ".story-steps"].map(box);
      return ask && ask.height > 0 && ask.top >= stage.bottom && ask.bottom <= steps.top + 1;
    });
  }
});

/** What the beat in focus asks to press, or to use in another way, is there, and marked. */
async function marked(page) {
  const asked = await beat(page).locator(".beat-do").allTextContents();
  const pressed = asked.join("\n").match(/Press “([^”]+?)[.,]?”/)?.[1];
  const used = await beat(page).locator(".beat-do [data-asked]").evaluateAll((all) => all.map((part) => part.dataset.asked));
  for (const name of pressed ? [pressed, ...used] : used) await page.locator(`.stage [data-cue="${name}"]`).waitFor();
  // The views that its words open are there, too.
  for (const opener of await beat(page).locator("[data-opens]").all()) {
    await byId(page, `view-${await opener.getAttribute("data-opens")}`).waitFor();
  }
}

/** Goes through the beats of the chapter on show, with a presenter's keys. */
async function goThrough(page, chapter) {
  const count = await page.locator(".beat").count();
  assert(count >= 6, `${chapter} has ${count} beats`);
  const shown = [await beat(page).textContent()];
  await marked(page);
  for (let number = 1; number < count; number++) {
    await page.keyboard.press("PageDown");
    await page.locator(`[data-testid="beat-${number}"][aria-current="step"]`).waitFor();
    assert.equal(await beat(page).count(), 1);
    shown.push(await beat(page).textContent());
    await marked(page);
    if (STUDIES.includes(chapter)) assert.equal(await byId(page, "lab-problem").textContent(), "", `${chapter}, ${number}`);
    // It is brought to where it can be read.
    await page.waitForFunction((number) => {
      const box = document.querySelector(`[data-testid="beat-${number}"]`).getBoundingClientRect();
      return box.top < innerHeight && box.bottom > 0;
    }, number);
  }
  assert.equal(new Set(shown).size, count);
  // There is none after the last.
  await page.keyboard.press("PageDown");
  await page.keyboard.press("PageUp");
  await page.locator(`[data-testid="beat-${count - 2}"][aria-current="step"]`).waitFor();
  // And a link to one opens there.
  await eventually(() => parameter(page, "idea") === String(count - 2));
  if (LINKED.includes(chapter)) {
    await page.reload();
    await page.locator(`[data-testid="beat-${count - 2}"][aria-current="step"]`).waitFor();
  }
}

test("the button that a beat asks to press is marked until it is pressed, and Train only where it is that", async (t) => {
  const page = await site.open(t, "?chapter=norm");
  await opened(page, "norm");
  const cue = (name) => page.locator(`.stage [data-cue="${name}"]`);
  const ground = () => byId(page, "train-toggle").evaluate((button) => getComputedStyle(button).backgroundColor);
  await cue("Sweep").waitFor();
  const quiet = await ground();
  await cue("Sweep").click();
  await cue("Sweep").waitFor({ state: "detached" });
  // A beat that asks to train.
  await page.goto(`${site.url}?chapter=mask&idea=6&step=1`);
  await opened(page, "mask");
  // While it takes its first step, the button says Pause.
  await numberUntil(page, "loss-step", (step) => step === 1, "1");
  await paused(page);
  assert.match(await beat(page).locator(".beat-do").textContent(), /^Keep training/);
  await cue("Train").waitFor();
  assert.equal(await byId(page, "train-toggle").getAttribute("data-cue"), "Train");
  await eventually(async () => (await ground()) !== quiet);
  await byId(page, "train-toggle").click();
  await cue("Train").waitFor({ state: "detached" });
  // What is pointed at is tinted.
  await page.mouse.move(0, 0);
  await eventually(async () => (await ground()) === quiet);
});

test("words of an ask open the view they name, keep the focus, and lead back", async (t) => {
  const page = await site.open(t, "?chapter=heads&idea=8&step=1");
  await opened(page, "heads");
  const words = beat(page).locator(".beat-do [data-opens]");
  const isOn = (view) => eventually(async () => (await byId(page, `view-${view}`).getAttribute("aria-selected")) === "true");
  await isOn("heads");
  await words.focus();
  for (const [view, pressed] of [["numbers", "true"], ["heads", "false"]]) {
    await page.keyboard.press("Enter");
    await isOn(view);
    assert.equal(await words.getAttribute("aria-pressed"), pressed);
    assert(await words.evaluate((button) => button === document.activeElement), "the focus stays");
    // Its tab is marked no more.
    assert.equal(await page.locator('.stage [data-cue="Numbers"]').count(), 0);
  }
  // Of a beat that rests, they put it in focus first.
  await page.keyboard.press("PageUp");
  await page.locator('[data-testid="beat-7"][aria-current="step"]').waitFor();
  await byId(page, "beat-8").locator("[data-opens]").click();
  await page.locator('[data-testid="beat-8"][aria-current="step"]').waitFor();
  await isOn("numbers");
});

test("a figure that a beat asks to use is marked until it is, and “?” lists the keys", async (t) => {
  const page = await site.open(t, "?chapter=qkv&step=1");
  await opened(page, "qkv");
  const cue = page.locator('[data-testid="qkv-weights-cells"][data-cue]');
  await cue.waitFor();
  await byId(page, "probe-input").click();
  await page.keyboard.press("?");
  // There it is a letter.
  await eventually(async () => (await byId(page, "probe-input").inputValue()).includes("?"));
  assert.equal(await byId(page, "keys").isVisible(), false);
  await byId(page, "view-cell").focus();
  await page.keyboard.press("?");
  await byId(page, "keys").waitFor();
  assert.deepEqual(await accessibilityProblems(page, { within: "#keys" }), []);
  await page.keyboard.press("Escape");
  await byId(page, "keys").waitFor({ state: "hidden" });
  await cue.click();
  await cue.waitFor({ state: "detached" });
  // It stays unmarked while the beat is read, and another beat marks its own.
  await page.keyboard.press("PageDown");
  await page.keyboard.press("PageDown");
  await page.locator('[data-testid="probe-input"][data-cue]').waitFor();
});

test("scrolling by hand moves the beat, and a trained model outlives the story; a click or a link puts one in focus, and its stage in place", async (t) => {
  const page = await site.open(t, "?chapter=rnn");
  await opened(page, "rnn");
  // It takes its first steps by itself, and then waits.
  await rested(page);
  const warm = await number(page, "loss-step");
  // And says why.
  assert.match(await byId(page, "warmed").innerText(), new RegExp(`^The first ${warm} training steps were done for you`));
  await byId(page, "time-goal").waitFor({ state: "detached" });
  await byId(page, "train-step").click();
  await numberUntil(page, "loss-step", (step) => step === warm + 1);
  await byId(page, "story").hover();
  await page.mouse.wheel(0, 1200);
  await eventually(async () => (await beat(page).getAttribute("data-beat")) !== "0");
  await page.mouse.wheel(0, 20_000);
  const last = (await page.locator(".beat").count()) - 1;
  await page.locator(`[data-testid="beat-${last}"][aria-current="step"]`).waitFor();
  await page.mouse.wheel(0, -20_000);
  await page.locator('[data-testid="beat-0"][aria-current="step"]').waitFor();
  assert.equal(await number(page, "loss-step"), warm + 1);

  // A link that names a beat alone shows it as it sets the stage.
  for (let i = 0; i < 4; i++) await page.keyboard.press("PageDown");
  await eventually(() => parameter(page, "idea") === "4");
  assert.equal(stage(page), "chapter,rnn", "the beat says the rest");
  const columns = () => byId(page, "rnn-columns").textContent();
  let told;
  await eventually(async () => /^9 of/.test((told = await columns())), "8 columns and the loop");
  await page.goto(`${site.url}?chapter=rnn&idea=4`);
  await opened(page, "rnn");
  await eventually(async () => (await columns()) === told);
  // What else it says comes after.
  await page.goto(`${site.url}?chapter=rnn&idea=4&rnn-columns=0`);
  await opened(page, "rnn");
  await eventually(async () => /^1 of/.test(await columns()));
  await eventually(() => parameter(page, "rnn-columns") === "0");

  // What is changed after a click stays until the next.
  await paused(page);
  await byId(page, "beat-3").locator("h2").click();
  await page.locator('[data-testid="beat-3"][aria-current="step"]').waitFor();
  await eventually(() => parameter(page, "idea") === "3");
  await openSettings(page);
  await byId(page, "control-rnn-hidden").fill("9");
  await eventually(() => parameter(page, "rnn-hidden") === "9");
  await closeSettings(page);
  // The learner's own model stays where the story is not about another.
  await byId(page, "beat-1").locator("h2").click();
  await eventually(() => parameter(page, "idea") === "1");
  assert.equal(parameter(page, "rnn-hidden"), "9");
});

test("Ctrl+P prints the story with the view of each beat, the browser's own menu the stage as it stands; undo takes an idea back, back to the start everything", async (t) => {
  // What is there when the browser is asked to print.
  const keepCopies = () => {
    window.print = () => {
      window.__printed = [...document.querySelectorAll(".beat-print")].map((copy) => copy.parentElement.dataset.beat);
    };
  };
  const page = await site.open(t, "?chapter=rnn&seed=4", { init: [keepCopies] });
  await opened(page, "rnn");
  // The steps it takes by itself have begun, then ended.
  await numberUntil(page, "loss-step", (step) => step > 0);
  await paused(page);
  const step = await number(page, "loss-step");
  await page.locator("h1").click();
  await page.keyboard.press("Control+p");
  const printed = await (await page.waitForFunction(() => window.__printed)).jsonValue();
  assert.deepEqual(printed, ["0", "1", "2", "3", "4", "5", "6", "7", "9"]);
  // The page is left as it was.
  assert.equal(await page.locator(".beat-print").count(), 0);
  assert.equal(await beat(page).getAttribute("data-beat"), "0");
  assert.equal(await number(page, "loss-step"), step);
  assert.equal(await byId(page, "undo").getAttribute("aria-disabled"), "true", "there is nothing to undo");
  // By the menu: as wide as the paper, and the formulas open.
  const size = () => page.evaluate(() => {
    const { clientWidth, clientHeight } = document.querySelector(".stage-view > .view");
    return [clientWidth, clientHeight];
  });
  const before = await size();
  await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
  await page.emulateMedia({ media: "print" });
  assert.deepEqual(await size(), before, "what figures are drawn for");
  const { width } = await byId(page, "stage").boundingBox();
  assert(width <= 661, `${width} px wide`);
  assert.equal(await byId(page, "stage").locator(".stage-tools").isVisible(), false);
  assert.equal(await byId(page, "more").locator(".formula").first().isVisible(), true);
  await page.emulateMedia({ media: "screen" });
  assert.deepEqual(await size(), before);

  // Undo knows of what changes once it is there; it is fetched behind the first picture.
  await byId(page, "undo").waitFor();
  const start = await byId(page, "probe-input").inputValue();
  await byId(page, "probe-input").fill("another sentence");
  await eventually(async () => (await byId(page, "undo").getAttribute("aria-disabled")) === null);
  await byId(page, "undo").click();
  await eventually(async () => (await byId(page, "probe-input").inputValue()) === start);
  await byId(page, "probe-input").fill("a third one");
  await page.locator("h1").click();
  await eventually(async () => (await byId(page, "undo").getAttribute("aria-disabled")) === null);
  await page.keyboard.press("Control+z");
  await eventually(async () => (await byId(page, "probe-input").inputValue()) === start);

  await byId(page, "idea-next").click();
  await byId(page, "idea-next").click();
  await byId(page, "back-to-start").click();
  await eventually(() => parameter(page, "idea") === null && parameter(page, "seed") === null);
  await eventually(async () => (await beatTop(page, 0)) >= 0, "the first beat is in view");
  await paused(page);
});

test("Ctrl+P prints a figure at its whole height, and says where one is missing", async (t) => {
  const keepCopies = () => {
    window.print = () => {
      const beats = (elements) => elements.map((element) => element.parentElement.dataset.beat);
      const stage = document.querySelector(".stage-view").clientHeight;
      const copies = [...document.querySelectorAll(".beat-print")];
      window.__printed = {
        taller: beats(copies.filter((copy) => parseFloat(copy.style.height) > stage)),
        without: beats([...document.querySelectorAll(".beat-print-none")]),
        // A canvas copies what it shows.
        blank: copies.flatMap((copy) => [...copy.querySelectorAll("canvas")]).filter((canvas) =>
          canvas.width && canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data.every((part) => part === 0)).length,
      };
    };
  };
  const page = await site.open(t, "?chapter=alignment", { init: [keepCopies] });
  await opened(page, "alignment");
  await numberUntil(page, "loss-step", (step) => step > 0);
  await paused(page);
  await page.locator("h1").click();
  await page.keyboard.press("Control+p");
  const printed = await (await page.waitForFunction(() => window.__printed)).jsonValue();
  // One score has three steps below each other; dates and the product are other models.
  assert(printed.taller.includes("4"), JSON.stringify(printed));
  assert.deepEqual(printed.without, ["5", "7"]);
  assert.equal(printed.blank, 0);
  assert.equal(await page.locator(".beat-print-none").count(), 0);
});

/** The button from one of two beats, of which this is the first, to the other. */
const there = async (page, first) => ((await beat(page).getAttribute("data-beat")) === first ? "idea-next" : "idea-back");

test("a beat moves its figure from state to state, where motion is wanted", async (t) => {
  // Two beats on the same cells: the forget gate, then the candidate.
  const page = await site.open(t, "?chapter=gates&idea=2");
  await live(page, "gates-cells");
  await paused(page);
  for (const reducedMotion of ["no-preference", "reduce"]) {
    await page.emulateMedia({ reducedMotion });
    await settled(page);
    /** How many different pictures there are from one beat to the other, the first and the last among them. */
    const pictures = async (button) => {
      await page.evaluate(() => {
        const canvas = document.querySelector('[data-testid="figure-gates-cells"] canvas');
        const seen = (window.__seen = new Set());
        const look = () => {
          seen.add(canvas.toDataURL());
          if (window.__seen === seen) requestAnimationFrame(look);
        };
        look();
      });
      await byId(page, button).click();
      await settled(page);
      await page.locator("body:not(.moving)").waitFor();
      return page.evaluate(() => {
        const { size } = window.__seen;
        delete window.__seen;
        return size;
      });
    };
    let most = 0;
    // A busy machine may show no frame on the way: there and back again.
    for (let i = 0; i < 6 && most < 3; i++) most = Math.max(most, await pictures(await there(page, "2")));
    if (reducedMotion === "reduce") assert.equal(most, 2, "it jumps");
    else assert(most > 2, "nothing moved");
  }
});

/** How far below the top of the story's column a beat begins. */
const beatTop = (page, number) => byId(page, `beat-${number}`).evaluate((beat) =>
  beat.getBoundingClientRect().top - beat.closest(".story").getBoundingClientRect().top);

test("a beat stays in view, though questions above it go with the models", async (t) => {
  const page = await site.open(t, "?chapter=position&idea=7&position-width=8", { reducedMotion: "reduce" });
  await opened(page, "position");
  await numberUntil(page, "loss-step", (step) => step > 0);
  // One that a link opens; and the next, which starts the models over.
  for (const beat of [7, 8]) {
    if (beat > 7) await byId(page, "idea-next").click();
    await eventually(async () => {
      const top = await beatTop(page, beat);
      return top > 20 && top < 400;
    }, `beat ${beat} is in view`);
    // The models take their first steps.
    await paused(page);
    await settled(page);
    const top = await beatTop(page, beat);
    assert(top > 20 && top < 400, `${top}`);
  }
});

/** What the beats of a chapter name as what they speak of: the beat's number and a test id. */
function aims(chapter) {
  const files = [`${chapter}/words.rs`, `${chapter}/text.rs`].map((name) => new URL(`../app/src/chapters/${name}`, import.meta.url));
  const source = readFileSync(files.find((file) => existsSync(file)), "utf8");
  const beats = source.split(/\bBeat \{/).slice(1);
  return beats.flatMap((beat, i) => {
    const aim = beat.match(/^\s*title: "[^"]*",\s*text: "@ ([\w-]+)\\n/);
    return aim ? [[i, aim[1]]] : [];
  });
}

test("on a phone every chapter brings into sight what a beat speaks of; a link’s beat is under the stage until the learner scrolls", async (t) => {
  const ends = () => {
    addEventListener("scroll", () => (window.isScrolled = false));
    addEventListener("scrollend", () => (window.isScrolled = true));
  };
  const page = await site.open(t, "?chapter=seq2seq&idea=7&step=1", { viewport: VIEWPORTS.phone, phone: true, init: [ends] });
  await opened(page, "seq2seq");
  await paused(page);
  await settled(page);
  const below = () => byId(page, "beat-7").evaluate((beat) =>
    beat.getBoundingClientRect().top - document.querySelector(".stage").getBoundingClientRect().bottom);
  await eventually(async () => Math.abs((await below()) - 16) < 2, "it is there");
  // Chromium drops a turn of the wheel that comes before it says that its own scrolling has ended.
  await page.waitForFunction(() => window.isScrolled);
  await page.mouse.wheel(0, 150);
  await eventually(async () => (await below()) < -100, "it is scrolled away");
  // What makes the story longer or shorter does not bring it back.
  await byId(page, "story").evaluate((story) => {
    story.querySelector('[data-testid="beat-2"]').style.paddingBottom = "99px";
    return new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
  });
  assert((await below()) < -100, "it stays away");

  const all = CHAPTERS.map((chapter) => [chapter, aims(chapter)]).filter(([, aimed]) => aimed.length > 0);
  assert(all.length >= 6, `${all.length} chapters`);
  for (const [chapter, aimed] of all) {
    await page.goto(`${site.url}?chapter=${chapter}&idea=${aimed[0][0]}&step=1`);
    await opened(page, chapter);
    for (const [number, aim] of aimed) {
      while (Number(await beat(page).getAttribute("data-beat")) < number) await byId(page, "idea-next").click();
      const out = () => page.evaluate((aim) => {
        const element = document.querySelector(`#stage-view [data-testid="${aim}"]`);
        if (!element) return "it is not there";
        const [it, room] = [element, document.getElementById("stage-view")].map((e) => e.getBoundingClientRect());
        const seen = (start, end, from, to) => start >= from - 2 && start < to && Math.min(end, to) - start >= Math.min(24, end - start - 2);
        if (!seen(it.top, it.bottom, room.top, room.bottom)) return `from ${it.top} to ${it.bottom} in ${room.top} to ${room.bottom}`;
        if (!seen(it.left, it.right, room.left, room.right)) return `from ${it.left} to ${it.right} across`;
        return "";
      }, aim);
      let last;
      await eventually(async () => (last = await out()) === "", () => `${chapter}, beat ${number}, ${aim}: ${last}`);
    }
  }
});

test("Space trains, where no control has the focus; a chapter gone back to is as it was left, and nothing trains unseen; the learner's sentence and text go along", async (t) => {
  const page = await site.open(t, "?chapter=rnn");
  await opened(page, "rnn");
  // The steps it takes by itself have begun, then ended.
  await numberUntil(page, "loss-step", (step) => step > 0);
  await paused(page);
  await page.locator("h1").click();
  await page.keyboard.press("Space");
  await running(page);
  await page.keyboard.press("Space");
  await paused(page);
  // On a button it presses that button.
  const step = await number(page, "loss-step");
  await byId(page, "train-step").focus();
  await page.keyboard.press("Space");
  await numberUntil(page, "loss-step", (now) => now === step + 1);
  await paused(page);

  await byId(page, "train-toggle").click();
  await numberUntil(page, "loss-step", (now) => now > step + 5);
  await byId(page, "chapter-next").click();
  await opened(page, "bptt");
  await byId(page, "chapter-previous").click();
  await opened(page, "rnn");
  await paused(page);
  const left = await number(page, "loss-step");
  assert(left > step + 5, `${left}`);
  await byId(page, "train-step").click();
  await numberUntil(page, "loss-step", (step) => step === left + 1);

  await byId(page, "probe-input").fill("a sentence of mine");
  await openSettings(page, "source");
  await byId(page, "corpus-names").click();
  await page.locator('[data-testid="text-present"]', { hasText: "Names" }).waitFor();
  await byId(page, "chapter-list").click();
  await page.locator(".course-panel li a").last().click();
  await opened(page, "gpt");
  await page.locator('[data-testid="source-open"]', { hasText: "Names" }).waitFor();
  await chooseView(page, "attention");
  assert.equal(await byId(page, "probe-input").inputValue(), "a sentence of mine");
});

test("a chapter's figure embeds: run, pause, set, and no shell", async (t) => {
  const address = site.host(`<iframe src="${site.url}?chapter=rnn&embed=1" width="900" height="700"></iframe>
    <script>
      window.said = [];
      addEventListener("message", ({ data }) => window.said.push(data));
      window.ask = (message) => frames[0].postMessage({ unroll: 1, ...message }, "*");
    </script>`);
  const page = await site.open(t, address);
  const said = (type) => page.evaluate((type) => window.said.filter((m) => m.type === type), type);
  await eventually(async () => (await said("ready")).length === 1);
  const frame = page.frames()[1];
  assert.equal(await frame.locator(".page-header, .story").count(), 0);
  await page.evaluate(() => window.ask({ type: "run" }));
  await eventually(async () => (await said("progress")).some((m) => m.running && m.step > 0));
  await page.evaluate(() => window.ask({ type: "pause" }));
  await eventually(async () => (await said("progress")).at(-1)?.running === false);
  await page.evaluate(() => window.ask({ type: "set", settings: { seed: 77 } }));
  await page.evaluate(() => window.ask({ type: "nonsense" }));
  await eventually(async () => (await said("error")).some((m) => m.message.includes("nonsense")));
});

test("a beat lets a drawing fade into the next, where motion is wanted", async (t) => {
  // Two beats on the same networks, drawn otherwise.
  const page = await site.open(t, "?chapter=birnn&idea=1");
  await byId(page, "chapter-birnn").waitFor();
  await settled(page);
  await paused(page);
  for (const reducedMotion of ["no-preference", "reduce"]) {
    await page.emulateMedia({ reducedMotion });
    await page.evaluate(() => {
      window.__observer?.disconnect();
      window.__copies = [];
      window.__observer = new MutationObserver((changes) => {
        for (const node of changes.flatMap((change) => [...change.addedNodes])) {
          if (!node.classList?.contains("fading")) continue;
          const [here, there] = [node, node.previousElementSibling].map((e) => e.getBoundingClientRect());
          const apart = Math.max(Math.abs(here.x - there.x), Math.abs(here.y - there.y));
          window.__copies.push({ apart, ids: node.querySelectorAll("[id], [data-testid]").length, inert: node.inert });
        }
      });
      window.__observer.observe(document.getElementById("stage-view"), { subtree: true, childList: true });
    });
    const copies = () => page.evaluate(() => window.__copies);
    // What drawings fade with may still be on its way at the first beat.
    for (let i = 0; i < 6 && (await copies()).length === 0; i++) {
      await byId(page, await there(page, "1")).click();
      await settled(page);
    }
    await page.locator(".fading").waitFor({ state: "detached" });
    const seen = await copies();
    if (reducedMotion === "reduce") assert.deepEqual(seen, [], "it jumps");
    else assert(seen.length > 0, "nothing faded");
    for (const { apart, ids, inert } of seen) {
      assert(apart < 1, `it lies ${apart} px beside its drawing`);
      assert.deepEqual([ids, inert], [0, true], "there is no second control");
    }
  }
});
