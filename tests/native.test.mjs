// The engine outside the browser, driven by its own page: trained on, closed, found again, cut off in the
// middle, and refused to whom it is not for.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after } from "node:test";

import {
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
  said,
  settled,
  siteFolder,
  stepTo,
  test,
  train,
  useSite,
} from "./harness.mjs";

const site = useSite();
/** Small enough for tests, and large enough that two threads share its steps where that is asked for. */
const SMALL = "layers=1&heads=2&width=16&context=24&batch=4&seed=5";
const SECRET = /native=([0-9a-f]{48})/;

/** What a page logs whose engine is gone, or refuses it. */
const GONE = [/ERR_CONNECTION_REFUSED/, /WebSocket connection/];
const REFUSED = [/403/];

function program() {
  const target = process.env.CARGO_TARGET_DIR || join(import.meta.dirname, "../target");
  const suffix = process.platform === "win32" ? ".exe" : "";
  const program = process.env.UNROLL_ENGINE || join(target, `release/unroll-native${suffix}`);
  assert(existsSync(program), `There is no engine at ${program}: \`cargo xtask engine\` builds one.`);
  return program;
}

/** The engines of this file's tests. They end after all pages are closed, which would miss them. */
const engines = [];
after(() => engines.forEach((child) => child.kill("SIGKILL")));

/** Starts an engine. Returns its process and its link. */
async function engine(threads = 1, ...more) {
  const options = ["--site", siteFolder(), "--port", "0", "--threads", String(threads), ...more];
  const child = spawn(program(), options, { stdio: ["ignore", "pipe", "inherit"] });
  engines.push(child);
  for await (const line of createInterface({ input: child.stdout })) {
    const link = line.trim();
    if (link.startsWith("http://")) return { child, link, secret: SECRET.exec(link)[1] };
  }
  throw new Error("the engine ended before it gave its link");
}

/** The link with settings in it, as a learner may write them there. */
const withSettings = (link, settings) => link.replace("?chapter=gpt", `?chapter=gpt&${settings}`);

/** Waits until the device is this one. */
const device = (page, kind) => page.locator(`[data-testid="device-badge"][data-device="${kind}"]`).waitFor();

async function opened(t, address, options) {
  const page = await site.open(t, address, options);
  // A link without settings opens at what the model writes.
  await openView(page, "attention");
  await live(page, "attention");
  return page;
}

/** The losses of the run by step, as the figure's menu exports them. */
async function losses(page) {
  await openView(page, "loss");
  return (await exported(page, "loss")).values.map(([step, loss]) => [step, loss]);
}

test("training goes on when the page is closed, and another finds the run as it is", async (t) => {
  const { link, secret } = await engine();
  const first = await opened(t, withSettings(link, SMALL));
  await device(first, "native");
  await byId(first, "device-badge").click();
  await first.getByText("CPU, native engine on this computer").waitFor();
  await byId(first, "device-badge").click();
  assert.match(first.workers()[0].url(), /native\.js/);
  await openSettings(first, "source");
  const text = "an otter, an owl and an ox ate oats. ".repeat(40);
  await byId(first, "text-paste").fill(text);
  await byId(first, "text-use").click();
  await first.locator('[data-testid="text-present"]', { hasText: "Your text" }).waitFor();
  await byId(first, "source-close").click();
  await byId(first, "probe-input").fill("an otter ate");
  await settled(first);
  // The page keeps the secret to itself.
  const own = new RegExp(`#native=${secret}&w=`);
  await eventually(() => own.test(first.url()), "the page's own address has the secret and what was written");
  await byId(first, "copy-link").click();
  const shared = await byId(first, "link-address").inputValue();
  assert(shared.includes("w=") && !shared.includes(secret), shared);
  await byId(first, "train-toggle").click();
  const left = await numberUntil(first, "loss-step", (step) => step > 20);
  assert.equal(first.workers().length, 1, "no helpers are in the tab");
  const stored = await first.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }]));
  assert(!stored.includes(secret), stored);
  await first.close();

  // By the link as it was printed, in a browser that knows nothing of the run.
  const second = await opened(t, link);
  await device(second, "native");
  await running(second);
  await numberUntil(second, "loss-step", (step) => step > left + 20);
  assert.equal(await byId(second, "probe-input").inputValue(), "an otter ate");
  await byId(second, "train-toggle").click();
  await paused(second);
  const step = await number(second, "loss-step");
  const curve = await losses(second);
  assert.deepEqual(curve.map(([at]) => at), Array.from({ length: step }, (_, at) => at + 1), "the whole curve");
  for (const [name, value] of new URLSearchParams(SMALL)) {
    await eventually(() => parameter(second, name) === value, `the address says ${name}=${value}`);
  }
  await stepTo(second, step + 2);
  // Reloaded, it finds the engine by the address that it has given itself.
  await second.reload();
  await device(second, "native");
  await numberUntil(second, "loss-step", (now) => now === step + 2, `${step + 2}`);
});

/** 13.8 million parameters and a context twice as long as a tab allows. */
const LARGE = "layers=2&heads=8&width=736&context=1024&batch=1&seed=5";

test("a model too large for a tab trains here, is found again and kept beside the engine", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "unroll-large-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const { child, link } = await engine(1, "--keep", folder);
  const first = await opened(t, withSettings(link, LARGE), { allow: GONE });
  await device(first, "native");
  const file = join(folder, "gpt-2-layers-width-736-run-1.safetensors");
  await said(first, `This model is too large for the browser to keep. The native engine keeps it every five minutes, and when it ends, in ${file}.`);
  await openSettings(first);
  assert.equal(await byId(first, "control-context").getAttribute("aria-valuemax"), "2048");
  await byId(first, "settings-close").click();
  await stepTo(first, 1);
  await first.close();

  const second = await opened(t, link, { allow: GONE });
  await device(second, "native");
  await numberUntil(second, "loss-step", (step) => step === 1, "1");
  await eventually(() => parameter(second, "context") === "1024", "the address says context=1024");
  // Asked to end, it keeps what it has, and the page has no more than where that is.
  const ended = new Promise((resolve) => child.once("exit", resolve));
  child.kill(process.platform === "win32" ? "SIGKILL" : "SIGTERM");
  await ended;
  await said(second, `What was kept of the run is in ${file}.`);
  await device(second, "cpu");
  await eventually(() => parameter(second, "context") !== "1024", "the form is that of the usual model");
  if (process.platform !== "win32") {
    const bytes = readFileSync(file);
    const head = JSON.parse(bytes.subarray(8, 8 + Number(bytes.readBigUInt64LE())).toString());
    assert.equal(JSON.parse(head.__metadata__.unroll).step, 1);
    assert.deepEqual(head["transformer.wpe.weight"].shape, [1024, 736]);
    assert(head["optimizer.exp_avg_sq.transformer.wpe.weight"], "what the optimizer keeps is there, too");
  }
});

test("a link to a model that is too large for a tab is refused there with the way to train it", async (t) => {
  for (const settings of [LARGE, "layers=12&width=1024&context=64"]) {
    const page = await site.open(t, `?device=cpu&${settings}`);
    await said(page, /too (large|big) to train in a tab .*native engine: “cargo xtask engine” starts it/);
    await live(page, "attention");
    await openSettings(page);
    assert.equal(await byId(page, "control-context").inputValue(), "48", "the usual model is there");
    assert.equal(await byId(page, "control-context").getAttribute("aria-valuemax"), "512");
    await page.close();
  }
});

test("cut off in the middle, the page goes on in its tab with what it has", async (t) => {
  const { child, link } = await engine();
  const page = await opened(t, withSettings(link, SMALL), { allow: GONE });
  await device(page, "native");
  await stepTo(page, 7);
  // It rests: its state is kept a second later.
  await openSettings(page);
  await page.locator('[data-testid="kept-run"]', { hasText: "step 7," }).waitFor();
  await byId(page, "settings-close").click();
  await byId(page, "train-toggle").click();
  await numberUntil(page, "loss-step", (step) => step > 9);
  child.kill("SIGKILL");
  await said(page, "The native engine on your computer has stopped");
  await said(page, /a fresh one has taken over with the model as it was at step \d+/);
  await device(page, "cpu");
  await paused(page);
  const step = await number(page, "loss-step");
  assert(step >= 7, `at step ${step}`);
  await stepTo(page, step + 3);
  const steps = (await losses(page)).map(([at]) => at);
  assert.deepEqual(steps, Array.from({ length: step + 3 }, (_, at) => at + 1));
});

test("the page that comes last has the engine, and the one before says so and goes on", async (t) => {
  const { link } = await engine();
  const first = await opened(t, withSettings(link, SMALL));
  await device(first, "native");
  await stepTo(first, 3);
  const second = await opened(t, link);
  await device(second, "native");
  assert.equal(await number(second, "loss-step"), 3);
  await said(first, "The native engine works for another page now");
  await device(first, "cpu");
  await paused(first);
  await train(second, 6);
});

test("with a wrong secret, and from another site, it is not to be had", async (t) => {
  const { link, secret } = await engine();
  const { origin } = new URL(link);
  const wrong = withSettings(link, SMALL).replace(secret, "0".repeat(secret.length));
  const page = await opened(t, wrong, { allow: REFUSED });
  await said(page, "The secret in this link is not the one of the engine that runs now");
  await device(page, "cpu");
  await stepTo(page, 2);
  await page.close();

  // A page of another site that has found out the secret.
  const foreign = await site.open(t, site.host("<!doctype html><title>foreign</title>"), {
    allow: [/403/, /CORS/, /ERR_FAILED/, /WebSocket/],
  });
  const reached = await foreign.evaluate(
    ([origin, secret]) =>
      Promise.all([
        new Promise((resolve) => {
          const line = new WebSocket(`${origin.replace("http", "ws")}/engine/line`, ["unroll", secret]);
          line.onopen = () => resolve("opened");
          line.onclose = () => resolve("refused");
        }),
        fetch(`${origin}/engine/found`, { headers: { authorization: secret } }).then(
          () => "read",
          () => "refused",
        ),
        fetch(`${origin}/engine/found`).then(() => "read", () => "refused"),
      ]),
    [origin, secret],
  );
  assert.deepEqual(reached, ["refused", "refused", "refused"]);
  // Its own page is heard all the same.
  const own = await opened(t, withSettings(link, SMALL));
  await device(own, "native");
});

test("the same seed gives the losses of the tab within rounding", async (t) => {
  // What another number of workers changes is compared in native/tests/line.rs and the tests of the pool.
  const workers = 2;
  const { link } = await engine(workers);
  const query = `${SMALL}&workers=${workers}`;
  const runs = [];
  for (const address of [withSettings(link, query), `?${query}&device=cpu`]) {
    const page = await opened(t, address);
    await train(page, 60);
    runs.push((await losses(page)).slice(0, 60).map(([, loss]) => loss));
    await page.close();
  }
  const [native, tab] = runs;
  // Natively a product and a sum are rounded together (FMA), which wasm can't; the difference grows with
  // the steps, as any does.
  const apart = native.map((loss, at) => Math.abs(loss - tab[at]) / tab[at]);
  const equal = apart.filter((difference) => difference === 0).length;
  t.diagnostic(`${equal} of 60 equal; at most ${Math.max(...apart)} apart, of the first 20 ${Math.max(...apart.slice(0, 20))}`);
  assert.equal(native.length, 60);
  assert(Math.max(...apart) < 1e-5, `${Math.max(...apart)} apart`);
});
