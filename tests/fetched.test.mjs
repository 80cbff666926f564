// Parts of the page that are fetched when they are first shown: most chapters, the glossary.
import assert from "node:assert/strict";

import { byId, eventually, test, useSite } from "./harness.mjs";

const site = useSite({ cors: true });
const PARTS = /\/parts?-[^/]*\.wasm$/;

const opened = async (page, chapter) => byId(page, `chapter-${chapter}`).waitFor();

/** The files of parts that `page` asks for from now on. */
function partsAskedFor(page) {
  const files = [];
  page.on("request", (request) => {
    if (PARTS.test(request.url())) files.push(new URL(request.url()).pathname);
  });
  return files;
}

test("the first screen fetches no part, a chapter its own, and none is fetched twice", async (t) => {
  const page = await site.open(t, site.host("<!doctype html><title>None yet</title>"));
  const files = partsAskedFor(page);
  // Once the first picture is there, some are fetched ahead: it has to wait for its engine here.
  let goOn;
  const held = new Promise((resolve) => (goOn = resolve));
  await page.route(/\/engine_cpu/, async (route) => {
    await held;
    await route.continue();
  });
  await page.goto(site.url);
  await opened(page, "gpt");
  assert.deepEqual(files, []);
  goOn();
  await byId(page, "chapter-previous").click();
  await opened(page, "decode");
  assert(files.length > 0, "nothing was fetched");
  await byId(page, "chapter-next").click();
  await opened(page, "gpt");
  await byId(page, "chapter-previous").click();
  await opened(page, "decode");
  await byId(page, "glossary-open").click();
  await byId(page, "glossary-filter").waitFor();
  assert.deepEqual(files, [...new Set(files)]);
});

test("a chapter that can't be fetched says so, and is there after another try", async (t) => {
  const page = await site.open(t, "", { allow: [/parts?-[^/]*\.wasm|Failed to fetch|503/] });
  await opened(page, "gpt");
  for (const failure of [(route) => route.abort("failed"), (route) => route.fulfill({ status: 503, body: "" })]) {
    await page.route(PARTS, failure);
    await page.reload();
    await opened(page, "gpt");
    await byId(page, "chapter-previous").click();
    await byId(page, "fetch-failed").waitFor();
    assert.match(await page.locator("main").textContent(), /Choosing the next token.*could not be loaded/s);
    // The rest of the page works on.
    await byId(page, "chapter-next").click();
    await opened(page, "gpt");
    await byId(page, "chapter-previous").click();
    await byId(page, "fetch-failed").waitFor();
    await page.unroute(PARTS);
    await byId(page, "fetch-again").click();
    await opened(page, "decode");
    await byId(page, "chapter-next").click();
    await opened(page, "gpt");
  }
});

test("the title keeps the focus while its chapter comes", async (t) => {
  const page = await site.open(t);
  await opened(page, "gpt");
  let goOn;
  const held = new Promise((resolve) => (goOn = resolve));
  await page.route(PARTS, async (route) => {
    await held;
    await route.continue();
  });
  await byId(page, "chapter-previous").focus();
  await page.keyboard.press("Enter");
  const onTitle = () => page.evaluate(() => document.activeElement?.id === "chapter-title");
  await eventually(onTitle);
  assert.equal(await byId(page, "chapter-decode").count(), 0);
  goOn();
  await opened(page, "decode");
  await eventually(onTitle);
});

test("a host that knows no wasm serves chapters as well", async (t) => {
  const page = await site.open(t, "", { allow: [/MIME type/] });
  await page.route(/\.wasm$/, async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, headers: { ...response.headers(), "content-type": "application/octet-stream" } });
  });
  await page.goto(`${site.url}?chapter=machine`);
  await opened(page, "machine");
});

test("a chapter opens in a sandboxed frame of another origin", async (t) => {
  const page = await site.open(
    t,
    site.host(`<!doctype html><html lang="en"><title>A course</title><main><h1>Lesson</h1>
      <iframe title="figure" width="900" height="900" sandbox="allow-scripts"
        src="${site.url}?chapter=machine&embed=1"></iframe></main></html>`),
  );
  await page.frameLocator("iframe").locator('[data-testid="chapter-machine"]').waitFor();
});
