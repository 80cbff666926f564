// Characters a second that the lab writes with a cache of keys and values and without, on the CPU,
// at nanoGPT's CPU setting (4 layers, 4 heads, width 128, context 64: 0.8 million parameters), one
// JSON object a line: `node tests/bench-writing.mjs [times] [python]`, with UNROLL_SITE naming a built
// site. With a Python that has torch, the same by PyTorch (tests/peers/writing.py).
import { execFileSync } from "node:child_process";

import { byId, eventually, live, settled, Site } from "./harness.mjs";

const TIMES = Number(process.argv[2] ?? 7);
const PYTHON = process.argv[3];

const median = (numbers) => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)];

const site = await new Site().start({ path: "/" });
try {
  const context = await site.browser.newContext({ viewport: { width: 1280, height: 800 } });
  const page = await context.newPage();
  const query = "?chapter=decode&view=cache&layers=4&heads=4&width=128&context=64&workers=1&device=cpu";
  await page.goto(new URL(query, site.url).href);
  await live(page, "cache");
  await byId(page, "probe-input").fill("the ");
  await settled(page);
  const note = byId(page, "cache-note");
  const races = [];
  for (let i = 0; i < TIMES; i++) {
    const race = byId(page, "decode-race");
    await race.click();
    await eventually(async () => (await race.getAttribute("aria-disabled")) === "false", "it is measured");
    await eventually(async () => /With the cache/.test(await note.textContent()), "and said");
    const [, cached, uncached] = (await note.textContent()).match(/cache (\d+) characters a second, without it (\d+)/);
    races.push([Number(cached), Number(uncached)]);
  }
  const [cached, uncached] = [0, 1].map((at) => median(races.map((race) => race[at])));
  console.log(JSON.stringify({ name: "writing-0.8m", unit: "characters/s", cached, uncached, races }));
} finally {
  await site.stop();
}
if (PYTHON) {
  const script = new URL("peers/writing.py", import.meta.url).pathname;
  process.stdout.write(execFileSync(PYTHON, [script, String(TIMES)]));
}
