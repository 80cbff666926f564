import { Site, byId, settled, drawn, numberUntil, paused } from "/work/main/tests/harness.mjs";
// shot.mjs out.png W H query [dark] [train=N] [click=testid,...]
const [out, w, h, query, ...rest] = process.argv.slice(2);
const site = await new Site().start();
const context = await site.browser.newContext({ viewport: { width: +w, height: +h }, colorScheme: rest.includes("dark") ? "dark" : "light", reducedMotion: "reduce" });
const page = await context.newPage();
page.on("console", (m) => { if (m.type() === "error") console.log("console:", m.text().slice(0, 400)); });
page.on("pageerror", (e) => console.log("error:", e.message.slice(0, 400)));
await page.goto(new URL(query, site.url).href);
await page.locator('main [data-state="live"]').first().waitFor({ timeout: 60000 });
const train = rest.find((r) => r.startsWith("train="));
if (train) { await byId(page, "train-toggle").click(); await numberUntil(page, "loss-step", (s) => s >= +train.slice(6), "x"); await byId(page, "train-toggle").click(); }
for (const c of (rest.find((r) => r.startsWith("click=")) ?? "click=").slice(6).split(",").filter(Boolean)) await page.locator(c.startsWith(".") || c.startsWith("#") ? c : `[data-testid="${c}"]`).first().click();
await page.waitForTimeout(700);
await page.screenshot({ path: out });
await site.stop();
process.exit(0);
