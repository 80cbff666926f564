import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { byId, choose, eventually, settled, Site } from "./harness.mjs";
const FOLDER = process.argv[2];
const FILES = ["model.safetensors", "config.json", "tokenizer.json"].map((name) => join(FOLDER, name));
function now() {
  let best = [0, 0, 0];
  for (const pid of readdirSync("/proc").filter((p) => /^\d+$/.test(p))) {
    try {
      const cmd = readFileSync(`/proc/${pid}/cmdline`, "utf8");
      if (!cmd.includes("--type=renderer") || !cmd.includes(process.env.MARK ?? "")) continue;
      const st = readFileSync(`/proc/${pid}/status`, "utf8");
      const g = (k) => Number(st.match(new RegExp(`^${k}:\\s+(\\d+)`, "m"))?.[1] ?? 0) / 1024;
      if (g("VmRSS") > best[0]) best = [g("VmRSS"), g("RssAnon"), g("VmHWM"), pid, g("RssShmem"), g("RssFile")];
    } catch {}
  }
  return best;
}
const site = await new Site().start({ path: "/" });
try {
  const context = await site.browser.newContext({ viewport: { width: 1440, height: 900 } });
  const page = await context.newPage();
  await page.goto(new URL("?layers=1&device=cpu", site.url).href);
  await settled(page);
  console.log("before", now().map((x) => Math.round(x)).join(" "));
  let done = false; const began = performance.now();
  const poll = (async () => { let last = -1e9; while (!done) { const n = now(); if (performance.now() - last > 700) { last = performance.now(); console.log(((performance.now() - began) / 1000).toFixed(1), n.map((x) => Math.round(x)).join(" ")); } await new Promise((r) => setTimeout(r, 100)); } })();
  await choose(page, FILES);
  await eventually(async () => (await byId(page, "settings-open").textContent()).includes("Opened"), "it is opened");
  console.log("opened");
  await page.locator('[data-testid="figure-attention"][data-state="live"]').waitFor();
  await settled(page);
  console.log("live", await page.evaluate(() => [window.__pieces, window.__spares, window.__fresh]));
  await new Promise((r) => setTimeout(r, 3000));
  done = true; await poll;
  console.log("after", now().map((x) => Math.round(x)).join(" "));
} finally { await site.stop(); }
