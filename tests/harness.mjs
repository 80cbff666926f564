// What every browser test stands on: the built site on a local server, one Chromium, pages that
// complain, and waiting for states (never for a time).
//
//     const site = useSite();
//     test("the loss falls", async (t) => {
//       const page = await site.open(t, "?seed=3");
//       await live(page, "attention");
//       await train(page, 100);
//       ...
//     });
//
// A page that logs an error, throws, or fails to load something fails its test when it closes.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { delimiter, join, resolve } from "node:path";
import { after, before, test as nodeTest } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { chromium } from "playwright-core";

import { alone, beside } from "./lanes.mjs";
import { serve } from "./server.mjs";

/** A sub-path as a course's site has it: nothing may depend on being at the root. */
export const SUB_PATH = "/course/unroll/";

/** The chapters with models of their own, and all of them, in the course's order, as links name them. */
const LIST = readFileSync(new URL("../protocol/src/chapters.rs", import.meta.url), "utf8");
export const STUDIES = [...LIST.matchAll(/^ +[A-Z]\w+ \w+ \w+ "(\w+)" /gm)].map((line) => line[1]);
export const CHAPTERS = ["start", ...STUDIES, "machine", "decode", "gpt"];

/** The widths the page is made for: a phone, a laptop, a projector. */
export const VIEWPORTS = {
  phone: { width: 360, height: 740 },
  laptop: { width: 1280, height: 800 },
  projector: { width: 1920, height: 1080 },
};

/** How long a state may take to come. Generous: tests also run on slow, shared machines. */
export const PATIENCE = 60_000;

const BROWSER_ARGS = [
  "--no-sandbox",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  // Pages of one profile share a process, and with it the code that it has compiled.
  "--process-per-site",
  "--renderer-process-limit=1",
];
/** Chromium prepares its address bar's suggestions, themselves a web page, for each window: more than a third of
 *  what opening one of ours costs. The last list of features to be without counts, so Playwright's are in it. */
const WITHOUT_FEATURES = [
  "AvoidUnnecessaryBeforeUnloadCheckSync",
  "AvoidCorsURLLoaderRestartOnRedirect",
  "BlockOriginHeaderModificationOnRedirect",
  "DestroyProfileOnBrowserClose",
  "HttpsUpgrades",
  "PaintHolding",
  "ThirdPartyStoragePartitioning",
  "Translate",
  "WebUIOmniboxAimPopup",
  "WebUIOmniboxFullPopup",
  "WebUIOmniboxPopup",
];
// No adapter at all, also on machines with a GPU: what the CPU engine is for.
const WITHOUT_GPU = ["--disable-gpu"];
// The software adapter. It computes correctly and very slowly: a few steps on tiny shapes.
const WITH_SOFTWARE_GPU = [
  "--enable-unsafe-webgpu",
  "--use-webgpu-adapter=swiftshader",
  "--enable-features=Vulkan",
];

const TASKS = ["blink.user_timing", "devtools.timeline", "disabled-by-default-devtools.timeline"];

// Chromium says this whenever a page asks for an adapter and there is none: the usual case here.
const HARMLESS = [/No available adapters/];

/** The built site: from `cargo xtask test`, or the one it left. */
export function siteFolder() {
  const target = process.env.CARGO_TARGET_DIR || join(import.meta.dirname, "../target");
  const folder = resolve(process.env.UNROLL_SITE || join(target, "site/test"));
  assert(
    existsSync(join(folder, "index.html")),
    `There is no built site in ${folder}: \`cargo xtask test\` builds one.`,
  );
  return folder;
}

/** The browser's program: from `cargo xtask test`, or the first on the PATH. */
function browserProgram() {
  const given = process.env.UNROLL_CHROME || process.env.CHROME;
  if (given) return given;
  const names = ["chromium", "chromium-browser", "google-chrome", "chrome"];
  const folders = (process.env.PATH ?? "").split(delimiter);
  const found = names.flatMap((name) => folders.map((folder) => join(folder, name))).find(existsSync);
  // Playwright's own download, where it has one.
  return found ?? chromium.executablePath();
}

/** Starts a headless Chromium; with `webgpu`, one that has the software adapter. */
export function launch({ webgpu = false } = {}) {
  return chromium.launch({
    executablePath: browserProgram(),
    headless: true,
    args: [
      ...BROWSER_ARGS,
      `--disable-features=${WITHOUT_FEATURES.join(",")}`,
      ...(webgpu ? WITH_SOFTWARE_GPU : WITHOUT_GPU),
    ],
  });
}

/** Whether the site under test has the WebGPU engine. */
export function hasWebGpuEngine() {
  return existsSync(join(siteFolder(), "engine_webgpu_bg.wasm"));
}

/** The sites of this file's tests. */
const sites = [];

/** In a run of all tests, one that fails is tried once more. */
const SECOND_TRY = Boolean(process.env.UNROLL_SECOND_TRY);

/**
 * As Node's `test`. Headless Chromium stops drawing frames now and then, perhaps once in a thousand tests:
 * its pages, or one of them, go on and answer, but nothing brings the frames back. Then the test begins
 * again in a fresh browser. A test in which a task of the page was too long is run again while no other test
 * runs: two at once share a core's caches and, on many machines, the core itself, and the same work takes up
 * to twice its processor time. A long task is long alone too. In a run of all tests (hundreds, on a machine
 * whose speed nobody knows), any other failure is printed, and the test tried once more, alone; it fails if
 * it does so again, or if the first try's page had problems.
 */
export function test(name, ...rest) {
  const body = rest.pop();
  return nodeTest(name, ...rest, (t) =>
    beside(async () => {
      try {
        await body(t);
      } catch (error) {
        const long = error instanceof TooLong;
        let fresh = false;
        for (const site of sites) fresh = (await site.thaw(long || error instanceof NoFrames)) || fresh;
        if (!fresh && !SECOND_TRY) throw error;
        const why = long ? "measured again, alone" : fresh ? "the browser drew no more frames: begun again" : "FAILED ONCE";
        t.diagnostic(`${why} (${fresh ? error.message.split("\n")[0] : error.stack})`);
        await (long || !fresh ? alone(() => body(t)) : body(t));
      }
    }),
  );
}

/** What `work` comes to, or `late` if that takes longer than so many milliseconds. */
async function within(milliseconds, work, late) {
  let timer;
  const limit = new Promise((resolve) => (timer = setTimeout(resolve, milliseconds, late)));
  try {
    return await Promise.race([work, limit]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * For the tests of a file: the site on a server, a second server for pages that embed it, and a
 * browser. `webgpu` gives the browser the software adapter; `cors` lets other origins read the
 * site's files.
 */
export function useSite({ webgpu = false, path = SUB_PATH, cors = false } = {}) {
  const site = new Site();
  sites.push(site);
  before(() => site.start({ webgpu, path, cors }));
  after(() => site.stop());
  return site;
}

/** See [`useSite`]. */
export class Site {
  /** Browsers that were replaced. */
  frozen = new Set();
  /** See `#emptied`. */
  #profile = null;

  async start({ webgpu = false, path = SUB_PATH, cors = false } = {}) {
    this.server = await serve(siteFolder(), { path, cors });
    // Browsers ask for an icon of their own accord.
    this.hosts = await serve(null, { pages: new Map([["/favicon.ico", ""]]) });
    this.webgpu = webgpu;
    this.browser = await launch({ webgpu });
    return this;
  }

  /** Replaces a browser that draws no more frames, or has `stalled` with one page. Returns whether it was one. */
  async thaw(stalled = false) {
    const frozen = this.browser;
    const frame = async () => {
      const page = await frozen.newPage();
      await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(resolve)));
      await page.close();
      return true;
    };
    if (!frozen || (!stalled && (await within(10_000, frame().catch(() => true), false)))) return false;
    this.browser = await launch({ webgpu: this.webgpu });
    this.frozen.add(frozen);
    await within(5_000, frozen.close().catch(() => {}));
    return true;
  }

  async stop() {
    await this.browser?.close();
    await this.hosts?.close();
    await this.server?.close();
  }

  /** Where the page is. */
  get url() {
    return this.server.url;
  }

  /** Puts `html` on the origin of the embedding pages; returns its address. */
  host(html) {
    const address = `/host-${this.hosts.pages.size + 1}.html`;
    this.hosts.pages.set(address, html);
    return this.hosts.origin + address;
  }

  /**
   * Opens `address` (relative to the site, or whole) where nothing is stored yet. The page closes with the
   * test `t`, which fails if there were problems that no pattern of `allow` matches. `init`, a
   * function and its argument, runs in the page before anything of it does. `own` gives it a profile of its
   * own, as do options that no open page can be given: there its code is compiled anew, as for a first visit.
   * `phone` makes it one of a phone, as `isMobile` and `hasTouch` do in a profile of their own; without
   * Playwright's own taps.
   */
  async open(t, address = "", { viewport = VIEWPORTS.laptop, allow = [], init, own = false, phone = false, ...options } = {}) {
    const { browser } = this;
    const { colorScheme = "light", reducedMotion = "no-preference", ...rest } = options;
    const media = { colorScheme, reducedMotion };
    const url = new URL(address, this.url);
    // The few tests on a GPU have nothing to gain.
    const fresh = own || this.webgpu || Object.keys(rest).length > 0;
    const shared = fresh ? null : await this.#emptied(url.origin);
    const context = shared ?? (await browser.newContext({ viewport, ...media, ...rest }));
    context.setDefaultTimeout(PATIENCE);
    const page = await context.newPage();
    if (shared) {
      await page.setViewportSize(viewport);
      await page.emulateMedia(media);
    }
    if (phone) {
      const session = await context.newCDPSession(page);
      await session.send("Emulation.setDeviceMetricsOverride", { ...viewport, deviceScaleFactor: 1, mobile: true });
      await session.send("Emulation.setTouchEmulationEnabled", { enabled: true });
    }
    const problems = watch(page);
    if (init) await page.addInitScript(...init);
    t.after(async () => {
      if (this.frozen.has(browser)) return;
      // What the test answered in the server's place may be under way still.
      if (!page.isClosed()) await page.unrouteAll({ behavior: "ignoreErrors" });
      if (shared) {
        await this.#keepEngines();
        await Promise.all(pagesOf(this.#profile).map((page) => page.close()));
      } else {
        await context.close();
      }
      const serious = problems.filter((problem) => !allow.some((pattern) => pattern.test(problem)));
      assert.deepEqual(serious, [], "the page had problems");
    });
    await page.goto(url.href);
    return page;
  }

  /**
   * The profile that the pages of this file's tests share, one after the other, with nothing stored at
   * `origin`; `null` while a page uses it. The process of its pages goes on as long as one page stays open,
   * and keeps the page's code compiled: half of what opening the page costs.
   */
  async #emptied(origin) {
    if (this.#profile?.browser !== this.browser) {
      const context = await this.browser.newContext();
      const keeper = await context.newPage();
      this.server.pages.set("/keeper.html", "<!doctype html><title>Keeps the process</title>");
      await keeper.goto(`${this.server.origin}/keeper.html`);
      const session = await context.newCDPSession(keeper);
      const profile = { browser: this.browser, context, keeper, session, origins: new Set(), engines: new Set() };
      this.#profile = profile;
      const gone = () => {
        if (this.#profile === profile) this.#profile = null;
      };
      keeper.on("crash", gone);
      context.on("close", gone);
    }
    const { context, session, origins } = this.#profile;
    if (pagesOf(this.#profile).length > 0) return null;
    for (const used of origins) {
      await session.send("Storage.clearDataForOrigin", { origin: used, storageTypes: "all" });
    }
    for (const used of [origin, this.server.origin]) origins.add(used);
    return context;
  }

  /**
   * Has the profile's keeper hold the code of the engines that pages have asked for. An engine's is let go
   * with its worker otherwise, and compiling it anew, with what the browser makes faster as it runs, is a
   * quarter of what opening a page costs.
   */
  async #keepEngines() {
    const { keeper, engines } = this.#profile ?? {};
    const asked = this.server.requests.filter((address) => /\/engine_\w+\.wasm/.test(address));
    for (const address of new Set(asked)) {
      if (!keeper || engines.has(address)) continue;
      engines.add(address);
      const compiled = (address) => WebAssembly.compileStreaming(fetch(address));
      // It lives as long as the handle. Where there is no such engine, there is nothing to keep.
      await keeper.evaluateHandle(compiled, address).catch(() => {});
    }
  }
}

/** The pages of a profile but for the one that keeps its process. */
function pagesOf(profile) {
  return profile?.context.pages().filter((page) => page !== profile.keeper) ?? [];
}

/** A list that grows with each error or warning `page` logs, throws, or meets while loading. */
export function watch(page) {
  const problems = [];
  page.on("console", (message) => {
    const bad = message.type() === "error" || message.type() === "warning";
    if (bad && !HARMLESS.some((pattern) => pattern.test(message.text()))) {
      problems.push(`console ${message.type()}: ${message.text()} (${message.location().url})`);
    }
  });
  page.on("pageerror", (error) => problems.push(`uncaught: ${error.message}`));
  page.on("crash", () => problems.push("the tab crashed"));
  page.on("requestfailed", (request) => {
    // A worker that is ended, or a page that is left, stops its own requests.
    const reason = request.failure()?.errorText ?? "";
    if (reason !== "net::ERR_ABORTED") problems.push(`failed: ${request.url()} (${reason})`);
  });
  page.on("response", (response) => {
    if (response.status() >= 400) problems.push(`${response.status()}: ${response.url()}`);
  });
  return problems;
}

/** What has this `data-testid`. */
export function byId(page, id) {
  return page.locator(`[data-testid="${id}"]`);
}

/** Waits until the figure `name` shows the living model, not a placeholder. */
export async function live(page, name) {
  const figure = page.locator(`[data-testid="figure-${name}"][data-state="live"]`);
  await figure.waitFor({ timeout: PATIENCE });
  return figure;
}

/** Views that share the tab of another one, and that one. */
const SHARED = { copies: "weight", longer: "models", positions: "jobs" };

/** The names of the chapter's tabs, in their order: each is that of a view. */
export function tabs(page) {
  return page.locator(".view-tab").evaluateAll((tabs) => tabs.map((tab) => tab.id.slice("view-".length)));
}

/** The names of the chapter's views, in the order of their tabs. */
export async function views(page) {
  const besides = (tab) => Object.keys(SHARED).filter((view) => SHARED[view] === tab);
  return (await tabs(page)).flatMap((tab) => [tab, ...besides(tab)]);
}

/** Brings the view with this name on the stage, as a learner does. */
export async function chooseView(page, name) {
  const tab = SHARED[name] ?? name;
  await byId(page, `view-${tab}`).click();
  await page.locator(`[data-testid="view-${tab}"][aria-selected="true"]`).waitFor();
  const shares = Object.entries(SHARED).some((pair) => pair.includes(name));
  if (shares) await byId(page.locator("#stage-view"), `switch-${name}`).check();
  await page.locator(`#stage-view > .view[data-view="${name}"]`).waitFor();
}

/** The same; returns when its pictures are of the model as it is. */
export async function openView(page, name) {
  await chooseView(page, name);
  await settled(page);
}

/** On a phone the stage's tools are behind one button: shows them. */
export async function openTools(page) {
  const more = byId(page, "stage-more");
  if ((await more.isVisible()) && (await more.getAttribute("aria-expanded")) !== "true") await more.click();
}

/** Opens the panel with what is set beside the figure, or with the text (`"source"`), if it is closed. */
export async function openSettings(page, panel = "settings") {
  await openTools(page);
  const button = byId(page, `${panel}-open`);
  if ((await button.getAttribute("aria-expanded")) !== "true") await button.click();
  await byId(page, `${panel}-panel`).waitFor();
}

/** Closes that panel, if it is open: it lies over a part of the figure. */
export async function closeSettings(page, panel = "settings") {
  const button = byId(page, `${panel}-open`);
  if ((await button.getAttribute("aria-expanded")) === "true") await byId(page, `${panel}-close`).click();
  await byId(page, `${panel}-panel`).waitFor({ state: "hidden" });
}

/** The beat of the story that is in focus. */
export function beat(page) {
  return page.locator('.beat[aria-current="step"]');
}

/** The number shown by what has this `data-testid`, NaN when there is none. */
export async function number(page, id) {
  return asNumber(await byId(page, id).textContent());
}

/** Reads the first number in `text`, whatever groups its thousands. */
export function asNumber(text) {
  const power = (_, exponent) => `e${[...exponent].map((c) => "-0123456789"["⁻⁰¹²³⁴⁵⁶⁷⁸⁹".indexOf(c)]).join("")}`;
  const powers = (text ?? "").replaceAll("−", "-").replaceAll(/(?<!· ?)10(?=[⁻⁰¹²³⁴⁵⁶⁷⁸⁹])/g, "1·10");
  const plain = powers.replaceAll(/ ?· ?10([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)/g, power);
  const match = plain.replaceAll(/(?<=\d)[\s,\u00a0\u2009\u202f](?=\d{3})/g, "").match(/-?\d+(\.\d+)?(e[-+]?\d+)?/i);
  return match ? Number(match[0]) : Number.NaN;
}

/**
 * Notes every text that `id` shows from now on. What it returns waits until a number among them satisfies a
 * condition: on a busy machine what passes by may be over before the press that began it has returned. Its
 * `numbers` are all of them so far.
 */
export async function noted(page, id) {
  const shown = await page.evaluateHandle((id) => {
    const texts = [];
    const note = () => {
      const text = document.querySelector(`[data-testid="${id}"]`)?.textContent;
      if (text !== undefined && text !== texts.at(-1)) texts.push(text);
    };
    note();
    new MutationObserver(note).observe(document, { subtree: true, childList: true, characterData: true });
    return texts;
  }, id);
  const numbers = async () => (await shown.jsonValue()).map(asNumber);
  const became = (condition, what) => eventually(async () => (await numbers()).some(condition), `${id} becomes ${what}`);
  return Object.assign(became, { numbers });
}

/** Waits until the number shown by `id` satisfies `condition`; returns it. */
export async function numberUntil(page, id, condition, what = String(condition)) {
  const element = byId(page, id);
  const deadline = Date.now() + PATIENCE;
  for (let text = await element.textContent(); ; ) {
    const last = asNumber(text);
    if (condition(last)) return last;
    assert(Date.now() < deadline, `${id} is ${last} and did not become ${what}`);
    // Wakes when the text is another than the one just read, or after a second at the latest, to look at the
    // clock. The element is looked up each time: it may have been made anew.
    text = await element.evaluate(
      (node, seen) =>
        new Promise((resolve) => {
          const done = () => {
            observer.disconnect();
            clearTimeout(timer);
            resolve(node.textContent);
          };
          const observer = new MutationObserver(done);
          const timer = setTimeout(done, 1000);
          observer.observe(node, { subtree: true, childList: true, characterData: true });
          // It may have changed on the way here.
          if (node.textContent !== seen) done();
        }),
      text,
    );
  }
}

/** What the page's address says about `name`; `null` where it says nothing. */
export function parameter(page, name) {
  return new URL(page.url()).searchParams.get(name);
}

/**
 * Waits until `condition`, of this process and not of a page, holds; `what` it is about, or a function that
 * says it in the end.
 */
export async function eventually(condition, what = String(condition)) {
  const deadline = Date.now() + PATIENCE;
  while (!(await condition())) {
    if (Date.now() >= deadline) assert.fail(`waited in vain: ${typeof what === "string" ? what : what()}`);
    await pause(20);
  }
}

/** Waits until the engine has said that it is paused, where the chapter has one, and all pictures in sight
 *  are of that step. */
export async function paused(page) {
  await page.locator('[data-testid="train-toggle"][data-state="paused"], [data-trains="never"]').first().waitFor();
  await settled(page);
}

/** Waits until the models of the chapter on show have taken so many steps, at least one, and rest. */
export async function rested(page, steps = 1) {
  await numberUntil(page, "loss-step", (step) => step >= steps, `at least ${steps}`);
  await paused(page);
}

/** Waits until the engine has said that it trains. */
export async function running(page) {
  await page.locator('[data-testid="train-toggle"][data-state="running"]').waitFor();
}

/** Waits until every picture in sight answers what is asked of the model now. */
export async function settled(page) {
  // A figure that has just come into sight has not asked yet: first its observer is told.
  await drawn(page);
  await page.locator('main:not([data-answers="behind"]):not(:has(.twin-view[data-answers="behind"]))').waitFor();
  // A figure draws an answer in the frame after it.
  await drawn(page);
}

/** Steps that the lab's model takes by itself in the chapters about it, where nobody has trained it. */
export const HEAD_START = 200;

/** Waits until it has taken them, or as many as the link asks for. */
export async function ledOn(page, steps = HEAD_START) {
  await numberUntil(page, "loss-step", (step) => step >= steps, `${steps}`);
  await paused(page);
}

/** Takes one step after another as far as `until`, one press each, and waits until the model rests. */
export async function stepTo(page, until) {
  for (let step = await number(page, "loss-step"); step < until; step++) {
    await byId(page, "train-step").click();
    await numberUntil(page, "loss-step", (now) => now === step + 1, `${step + 1}`);
  }
  await paused(page);
}

/** Presses Train, waits until `steps` steps are done, and presses Pause. Returns the step. */
export async function train(page, steps) {
  await byId(page, "train-toggle").click();
  await numberUntil(page, "loss-step", (step) => step >= steps, `at least ${steps}`);
  await byId(page, "train-toggle").click();
  await paused(page);
  return number(page, "loss-step");
}

/** Waits until a message of the page says this: words, letter by letter, or a pattern. */
export async function said(page, what) {
  const hasText = what instanceof RegExp ? what : new RegExp(what.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  await page.locator('[data-testid="notice"]', { hasText }).waitFor();
}

/** Closes all messages of the page. */
export async function closeNotices(page) {
  const close = page.locator(".notice-close");
  while (await close.count()) await close.first().click();
}

/** Chooses files in the settings, with “Open a file” or another such button. */
export async function choose(page, files, button = "model-open") {
  await openSettings(page);
  await byId(page, button).setInputFiles(files);
}

/** Has the lab's engine, or that `of` a chapter, throw an error, which tests of it allow, and waits until the
 *  page says this. */
export async function crash(page, sentence, of = "") {
  await page.workers().find((worker) => worker.url().includes(of)).evaluate(() => void setTimeout(() => { throw new Error("boom"); }));
  await said(page, sentence);
}

/** That two places give one quantity one value while it trains, but for a frame now and then that has no time left
 *  for both: `read`, which runs in the page and takes nothing, gives both values. */
export async function agreesInFrames(t, page, read) {
  const seen = await page.evaluate(`new Promise((resolve) => {
    const seen = [], read = ${read};
    const look = () => (seen.push(read()) < 100 ? requestAnimationFrame(look) : resolve(seen));
    requestAnimationFrame(look);
  })`);
  const apart = seen.filter(([one, other]) => one !== other);
  const values = new Set(seen.map(([one]) => one)).size;
  t.diagnostic(`${apart.length} of ${seen.length} frames differ, in which ${values} values were shown`);
  assert(values > 1, "it trains");
  assert(apart.length <= 10, `${apart.slice(0, 3).join("; ")}`);
}

/** Waits for two frames, and for what they told observers: whatever was to be drawn is drawn. */
export async function drawn(page) {
  const frames = page.evaluate(
    () =>
      new Promise((resolve) =>
        requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(resolve, 0, true))),
      ),
  );
  // A page that is closed meanwhile says so here, or nowhere.
  frames.catch(() => {});
  if ((await within(PATIENCE, frames.then(() => true), false)) === true) return;
  // A page that is held up by its own code does not answer either.
  const answers = await within(PATIENCE / 10, page.evaluate(() => true), false);
  assert(answers, "the page draws no frames, and does not answer");
  throw new NoFrames("the page answers, but draws no frames");
}

/** Where an element is drawn, once it rests: a drawing follows what moved it by a frame or more, and a mouse
 *  that aims before that misses. */
export async function atRest(locator) {
  let last = null;
  let box = null;
  await eventually(async () => {
    await drawn(locator.page());
    [last, box] = [box, await locator.boundingBox()];
    return box !== null && JSON.stringify(box) === JSON.stringify(last);
  }, `${locator} rests`);
  return box;
}

/** Of a page that goes on while the browser draws nothing of it: the browser's fault. */
class NoFrames extends Error {}

/** A task of the page took longer than any may. */
class TooLong extends Error {}

/** The page's main-thread tasks while `act` runs, as their milliseconds of processor time. */
export async function taskTimes(site, page, act) {
  await site.browser.startTracing(page, { categories: TASKS });
  await page.evaluate(() => performance.mark("unroll-main"));
  await act();
  const { traceEvents } = JSON.parse(await site.browser.stopTracing());
  const main = traceEvents.find((event) => event.name === "unroll-main");
  const own = ({ name, ph, pid, tid }) =>
    name === "RunTask" && ph === "X" && pid === main.pid && tid === main.tid;
  return traceEvents.filter(own).map((task) => (task.tdur ?? 0) / 1000);
}

/**
 * Milliseconds from a click on `pressed` until `shown` has changed, as `observed` says to a
 * MutationObserver, and reads with `beginning`.
 */
export function answerTime(page, pressed, shown, observed, beginning = "") {
  return page.evaluate(
    ([pressed, shown, observed, beginning]) =>
      new Promise((resolve) => {
        const find = (id) => document.querySelector(`[data-testid="${id}"]`);
        const element = find(shown);
        const start = performance.now();
        const observer = new MutationObserver(() => {
          if (!element.textContent.startsWith(beginning)) return;
          observer.disconnect();
          resolve(performance.now() - start);
        });
        observer.observe(element, observed);
        find(pressed).click();
      }),
    [pressed, shown, observed, beginning],
  );
}

/** What the figure's menu exports: JSON read, a picture as bytes, anything else as text. The figure is
 *  that `within` a part of the page, where it is there twice. */
export async function exported(page, figure, kind = "json", within = page) {
  const item = byId(within, `export-${figure}-${kind}`);
  await byId(within, `export-${figure}`).scrollIntoViewIfNeeded();
  if (!(await item.isVisible())) await byId(within, `export-${figure}`).click();
  const waiting = page.waitForEvent("download");
  await item.click();
  const text = await readFile(await (await waiting).path(), kind === "png" ? undefined : "utf8");
  return kind === "json" ? JSON.parse(text) : text;
}

/** Milliseconds that a fixed piece of work takes in the page where the limit of 50 ms was set: twice what the
 *  machine needed on which this was measured (46 ms). */
const USUAL_WORK = 92;

/** How many times slower than there scripts run at the moment; at least 1. */
async function slowness(page) {
  const times = await page.evaluate(() =>
    Array.from({ length: 5 }, () => {
      const start = performance.now();
      const sums = new Map();
      for (let i = 0, x = 1; i < 400_000; i++) {
        x = (x * 48_271) % 2_147_483_647;
        const key = `k${x & 1023}`;
        sums.set(key, (sums.get(key) ?? 0) + 1 / x);
      }
      return performance.now() - start;
    }),
  );
  return Math.max(1, Math.min(...times) / USUAL_WORK);
}

/**
 * That no task of the page's main thread takes 50 ms of processor time while `act` runs; returns them. Where
 * the machine is slower than the limit is meant for, it is that much higher.
 */
export async function staysFree(t, site, page, act) {
  const tasks = (await taskTimes(site, page, act)).sort((a, b) => b - a);
  t.diagnostic(`the longest of ${tasks.length} tasks: ${tasks.slice(0, 3).map((ms) => ms.toFixed(1)).join(", ")} ms`);
  assert(tasks.length > 0, "tasks were seen");
  if (tasks[0] < 50) return tasks;
  const times = await slowness(page);
  const said = `a task took ${tasks[0]} ms of processor time, the machine ${times.toFixed(2)} times the usual`;
  if (tasks[0] >= 50 * times) throw new TooLong(said);
  t.diagnostic(said);
  return tasks;
}

/**
 * That the page, at every width, is no wider than the window, has no bar that is cut, and, small and
 * large, nothing that axe finds serious: by all rules in light, of which only contrast can differ in
 * dark, once.
 */
export async function fitsEverywhere(page) {
  for (const [name, viewport] of Object.entries(VIEWPORTS)) {
    await page.setViewportSize(viewport);
    await settled(page);
    await drawn(page);
    const [whole, ...bars] = await page.evaluate(() => {
      const excess = (element) => element.scrollWidth - element.clientWidth;
      const bars = document.querySelectorAll(".time-bar");
      return [document.documentElement, ...bars].map(excess);
    });
    assert(whole <= 0, `on a ${name} the page is ${whole} px wider than the window`);
    assert(bars.every((bar) => bar <= 0), `on a ${name} a bar is cut: ${bars}`);
    // What a projector shows is what a laptop shows, larger.
    if (name === "projector") continue;
    // Colors are the same at all widths.
    const inDark = name === "laptop" ? [["dark", ["color-contrast"]]] : [];
    for (const [colorScheme, rules] of [["light"], ...inDark]) {
      // What fades from one color to the other is measured when it is there.
      await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
      await drawn(page);
      assert.deepEqual(await accessibilityProblems(page, { rules }), [], `${name}, ${colorScheme}`);
    }
  }
}

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/**
 * axe's findings in words; `page` may be a frame. Of at least the impact "serious", or with `all` of
 * any. `tags` and `rules` choose what is looked for; `within`, a selector, where.
 */
export async function accessibilityProblems(page, { tags, rules, within, all = false } = {}) {
  if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(AXE);
  const violations = await page.evaluate(
    async ([tags, rules, within]) => {
      // What is not violated is not described.
      const options = { resultTypes: ["violations"] };
      if (tags) options.runOnly = { type: "tag", values: tags };
      if (rules) options.runOnly = { type: "rule", values: rules };
      return (await window.axe.run(within ?? document, options)).violations;
    },
    [tags, rules, within],
  );
  return violations
    .filter((violation) => all || ["serious", "critical"].includes(violation.impact))
    .map((v) => `${v.id}: ${v.help} (${v.nodes.map((node) => node.target.join(" ")).join(", ")})`);
}
