// A walk through all chapters in Firefox and in WebKit, the engine of Safari; the tests are Chromium's.
// `node tests/other-browsers.mjs firefox|webkit [chapter ...]`, with UNROLL_SITE naming a built site.
//
// On Debian: `apt-get install firefox-esr`, or `webkit2gtk-driver xvfb` and `xvfb-run -a` before the
// command. Firefox is spoken to in WebDriver BiDi, over a WebSocket: Node 22 has one, Node 20 with
// `--experimental-websocket`. WebKit's driver is spoken to in WebDriver classic.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

import { CHAPTERS, PATIENCE, siteFolder, STUDIES, SUB_PATH, VIEWPORTS } from "./harness.mjs";
import { serve } from "./server.mjs";
const [name, ...wanted] = process.argv.slice(2);
if (!["firefox", "webkit"].includes(name) || wanted.some((chapter) => !CHAPTERS.includes(chapter))) {
  console.error("node tests/other-browsers.mjs firefox|webkit [chapter ...]");
  process.exit(2);
}
// For WebKit, which has no sandbox for root.
process.env.WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS = "1";
const PORT = 9400 + (process.pid % 500);
/** Keeps what goes wrong, from the page's first moment on. */
const RECORDER = `<script>window.problems = [];
  addEventListener("error", (e) => problems.push(String(e.message ?? e.target.src ?? e.target.href)), true);
  addEventListener("unhandledrejection", (e) => problems.push(String(e.reason)));
  for (const kind of ["error", "warn"]) console[kind] = (...words) => problems.push(words.join(" "));</script>`;

/** Starts a program; returns it with the first answer to `ask`. */
async function started(program, args, ask) {
  const child = spawn(program, args, { stdio: "ignore" });
  child.on("error", (error) => (console.error(`${program}: ${error.message}`), process.exit(2)));
  for (const deadline = Date.now() + PATIENCE; ; await pause(200)) {
    const answer = await ask().catch((error) => Date.now() > deadline && Promise.reject(error));
    if (answer) return [child, answer];
  }
}

async function firefox() {
  const profile = await mkdtemp(join(tmpdir(), "unroll-firefox-"));
  const args = ["--headless", "--no-remote", "--profile", profile, `--remote-debugging-port=${PORT}`];
  const [child, socket] = await started(process.env.UNROLL_FIREFOX || "firefox-esr", args, () => {
    const socket = new WebSocket(`ws://127.0.0.1:${PORT}/session`);
    return new Promise((onopen, onerror) => Object.assign(socket, { onopen: () => onopen(socket), onerror }));
  });
  const waiting = [];
  socket.onmessage = ({ data }) => {
    const { id, type, result, message } = JSON.parse(data);
    if (type === "error") waiting[id]?.reject(new Error(message));
    else waiting[id]?.resolve(result);
  };
  const send = (method, params) => new Promise((resolve, reject) => {
    socket.send(JSON.stringify({ id: waiting.push({ resolve, reject }) - 1, method, params }));
  });
  await send("session.new", { capabilities: {} });
  const { context } = (await send("browsingContext.getTree", {})).contexts[0];
  await send("browsingContext.setViewport", { context, viewport: VIEWPORTS.laptop });
  return {
    open: (url) => send("browsingContext.navigate", { context, url, wait: "complete" }),
    async run(expression) {
      const asked = { expression: `JSON.stringify([${expression}])`, target: { context }, awaitPromise: false };
      const { result, exceptionDetails } = await send("script.evaluate", asked);
      if (exceptionDetails) throw new Error(exceptionDetails.text);
      return JSON.parse(result.value)[0];
    },
    async close() {
      await Promise.all([once(child, "exit"), send("browser.close", {})]);
      await rm(profile, { recursive: true, force: true });
    },
  };
}

async function webkit() {
  const call = async (method, path, body) => {
    const answer = await fetch(`http://127.0.0.1:${PORT}/session${path}`, { method, body: body && JSON.stringify(body) });
    const { value } = await answer.json();
    if (value?.error) throw new Error(value.message || value.error);
    return value;
  };
  const binary = process.env.UNROLL_MINIBROWSER || "/usr/lib/x86_64-linux-gnu/webkit2gtk-4.1/MiniBrowser";
  const alwaysMatch = { browserName: "MiniBrowser", "webkitgtk:browserOptions": { binary, args: ["--automation"] } };
  const [child, { sessionId }] = await started("WebKitWebDriver", [`--port=${PORT}`], () =>
    call("POST", "", { capabilities: { alwaysMatch } }));
  await call("POST", `/${sessionId}/window/rect`, VIEWPORTS.laptop);
  return {
    open: (url) => call("POST", `/${sessionId}/url`, { url }),
    run: (expression) => call("POST", `/${sessionId}/execute/sync`, { script: `return (${expression})`, args: [] }),
    close: () => call("DELETE", `/${sessionId}`).finally(() => child.kill()),
  };
}

const find = (id) => `document.querySelector('[data-testid="${id}"]')`;
const step = `Number(${find("loss-step")}?.textContent.replace(/\\D/g, ""))`;
const rests = `document.querySelector('[data-testid="train-toggle"][data-state="paused"], [data-trains="never"]')`;
const drawn = `document.querySelector('main:not([data-answers="behind"])') && !document.querySelector(".view .fetching")
  && [...document.querySelectorAll(".view .figure[data-state]")].every((figure) => figure.dataset.state === "live")`;
const index = await readFile(join(siteFolder(), "index.html"), "utf8");
const site = await serve(siteFolder(), { path: SUB_PATH, pages: new Map([[SUB_PATH, index.replace("<head>", `<head>${RECORDER}`)]]) });
const browser = await { firefox, webkit }[name]();
const click = (id) => browser.run(`void ${find(id)}.click()`);

/** Waits until an expression of the page holds. */
async function until(expression, what) {
  for (const deadline = Date.now() + PATIENCE; !(await browser.run(`Boolean(${expression})`)); await pause(100)) {
    if (Date.now() > deadline) throw new Error(`waited in vain: ${what}`);
  }
}

/** The chapter comes up and trains, its past is shown, and each view and each beat of the story opens. */
async function walk(chapter) {
  // The lab's start has no figure before the first step.
  await browser.open(`${site.url}?chapter=${chapter}&device=cpu${chapter === "gpt" ? "&view=attention" : ""}`);
  await until(`document.querySelector('.view .figure[data-state="live"]')`, "the first figure");
  if (STUDIES.includes(chapter)) await until(`${step} > 0`, "its own first steps");
  await until(rests, "training rests");
  if (chapter !== "start") {
    const from = await browser.run(step);
    await click("train-toggle");
    await until(`${step} > ${from + 10}`, "it trains");
    await click("train-toggle");
    await until(`${rests} && ${find("time-track")}`, "it pauses");
    await browser.run(`void ${find("time-track")}.dispatchEvent(new KeyboardEvent("keydown", { key: "Home", bubbles: true }))`);
    await until(`${find("time-shown")}?.textContent === "0"`, "the first moment is shown");
    await click("time-live");
  }
  const views = await browser.run(`[...document.querySelectorAll(".view-tab")].map((tab) => tab.id.slice("view-".length))`);
  for (const view of views) {
    await click(`view-${view}`);
    await until(`document.querySelector('.view[data-view="${view}"]') && ${drawn}`, `${view} is drawn`);
  }
  const beats = await browser.run(`document.querySelectorAll(".beat").length`);
  for (let beat = 1; beat < beats; beat++) {
    await click("idea-next");
    await until(`document.querySelector('[data-testid="beat-${beat}"][aria-current="step"]')`, `beat ${beat}`);
  }
  // WebKit says so where a figure hears of its size a frame later.
  const problems = (await browser.run("window.problems")).filter((problem) => !/ResizeObserver loop/.test(problem));
  if (await browser.run("document.documentElement.scrollWidth > innerWidth")) problems.push("the page is too wide");
  if (problems.length) throw new Error(problems.join("; "));
  return `${views.length} views, ${beats} beats, ${await browser.run(`${find("step-time")}?.textContent ?? "–"`)} ms a step`;
}

try {
  for (const chapter of wanted.length ? wanted : CHAPTERS) {
    console.log(`${name} ${chapter}:`, await walk(chapter).catch((error) => ((process.exitCode = 1), `failed: ${error.message}`)));
  }
} finally {
  await Promise.all([browser.close(), site.close()]);
}
