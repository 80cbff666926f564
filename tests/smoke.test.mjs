// The site, the server and the harness themselves: what other tests take for granted.
import assert from "node:assert/strict";

import {
  accessibilityProblems,
  asNumber,
  drawn,
  eventually,
  hasWebGpuEngine,
  SUB_PATH,
  test,
  useSite,
  watch,
} from "./harness.mjs";
import { fileFor } from "./server.mjs";

const site = useSite({ cors: true });
const gpuSite = useSite({ webgpu: true });

/** Starts a worker in `page` (or a frame) and returns its first message; bytes become "bytes". */
function firstMessage(page, url) {
  return page.evaluate(
    (url) =>
      new Promise((resolve, reject) => {
        const worker = new Worker(url, { type: "module" });
        worker.onmessage = ({ data }) => resolve(data instanceof Uint8Array ? "bytes" : data);
        worker.onerror = (event) => reject(new Error(`worker: ${event.message}`));
      }),
    url,
  );
}

test("the page works below a sub-path", async (t) => {
  const page = await site.open(t);
  assert.equal(new URL(page.url()).pathname, SUB_PATH);
  // The app's wasm has run: it puts its elements into the body.
  await page.locator("body main").first().waitFor();
  const build = await page.locator("meta[name=unroll-build]").getAttribute("content");
  assert.match(build, /^[0-9a-f]{16}$/);
});

test("the server tells missing files apart and keeps to its folder", async () => {
  for (const [address, status] of [
    ["", 200],
    ["worker.js", 200],
    ["engine_cpu_bg.wasm?v=1", 200],
    ["missing.js", 404],
    ["%2e%2e/%2e%2e/etc/passwd", 404],
    ["%", 400],
    ["../unrolled/", 404],
  ]) {
    assert.equal((await fetch(site.url + address)).status, status, address);
  }
  const wasm = await fetch(`${site.url}engine_cpu_bg.wasm`);
  assert.equal(wasm.headers.get("content-type"), "application/wasm");
  await wasm.body.cancel();
  assert.equal(fileFor("/site", "/a/", "/a/../../etc/passwd"), null);
  assert.equal(fileFor("/site", "/a/", "/b/index.html"), null);
});

test("a page with problems fails its test", async (t) => {
  const address = site.host(`<script>
    console.error("logged"); fetch("/missing"); setTimeout(() => { throw new Error("thrown") });
  </script>`);
  const context = await site.browser.newContext();
  t.after(() => context.close());
  const page = await context.newPage();
  const problems = watch(page);
  await page.goto(address);
  for (const part of ["logged", "404", "thrown"]) {
    await eventually(() => problems.some((problem) => problem.includes(part)), part);
  }

  const closers = [];
  await site.open({ after: (closer) => closers.push(closer) }, address);
  await assert.rejects(async () => closers[0](), /the page had problems/);
});

test("worker.js starts the CPU engine, also from an origin of its own", async (t) => {
  const page = await site.open(t);
  assert.equal(await firstMessage(page, "./worker.js?engine=engine_cpu&v=1"), "bytes");
  assert(site.server.requests.includes(`${SUB_PATH}engine_cpu_bg.wasm?v=1`));

  const host = await site.open(t, site.host(`<iframe sandbox="allow-scripts" srcdoc="<p>x"></iframe>`));
  const frame = host.frames()[1];
  assert.equal(await frame.evaluate(() => self.origin), "null");
  const source = `import "${site.url}worker.js?engine=engine_cpu&v=2";`;
  const url = `data:text/javascript,${encodeURIComponent(source)}`;
  assert.equal(await firstMessage(frame, url), "bytes");
});

test("worker.js says what is wrong when there is no engine", async (t) => {
  const page = await site.open(t, "", { allow: [/404/] });
  const unknown = await firstMessage(page, "./worker.js?engine=../evil&v=1");
  assert.deepEqual(unknown, { unroll_engine_failed: "There is no engine named “../evil”." });

  // An engine that is not there, as on a page whose WebGPU engine is still being built.
  await page.route(/\/engine_webgpu/, (route) => route.fulfill({ status: 404, body: "" }));
  const missing = await firstMessage(page, "./worker.js?engine=engine_webgpu&v=1");
  assert.deepEqual(missing, { unroll_engine_failed: "The WebGPU engine is not part of this site." });
});

test("there is an adapter only where a test asks for one", async (t) => {
  const adapter = (page) => page.evaluate(async () => Boolean(await navigator.gpu?.requestAdapter()));
  assert.equal(await adapter(await site.open(t)), false);
  assert.equal(await adapter(await gpuSite.open(t)), true);
  t.diagnostic(`the site ${hasWebGpuEngine() ? "has" : "lacks"} the WebGPU engine`);
});

test("helpers read what pages show", async (t) => {
  assert.equal(asNumber("step 12 345 of 3"), 12345);
  assert.equal(asNumber("1,234.5 tokens/s"), 1234.5);
  assert.equal(asNumber("-1.5e-3"), -0.0015);
  assert(Number.isNaN(asNumber("–")));
  const page = await site.open(t, site.host(`<html lang="en"><title>t</title><img src="data:,">`));
  await drawn(page);
  const problems = await accessibilityProblems(page);
  assert(problems.some((problem) => problem.startsWith("image-alt")), problems.join("\n"));
});
