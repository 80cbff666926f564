import { Site, byId, beat, eventually } from "./harness.mjs";
const site = await new Site().start({ path: "/u/" });
const t = { after() {}, diagnostic() {} };
const page = await site.open(t, "?chapter=qkv");
page.on("console", (m) => console.log(m.text()));
page.on("pageerror", (m) => console.log(m.message));
await page.waitForTimeout(8000);
await byId(page, "check-qkv").scrollIntoViewIfNeeded();
for (const right of [1, 2, 0]) {
  await byId(page, `check-qkv-option-${right}`).check({ force: true });
  await eventually(async () => (await byId(page, "check-qkv-submit").getAttribute("aria-disabled")) !== "true");
  await byId(page, "check-qkv-submit").click();
  await byId(page, "check-qkv-verdict").waitFor();
  await byId(page, "check-qkv-another").click();
}
console.log(await beat(page).getAttribute("data-testid"), page.url());
await byId(page, "beat-0").click();
console.log(await beat(page).getAttribute("data-testid"), page.url());
for (let i = 0; i < 6; i++) { await page.keyboard.press("PageDown"); await page.waitForTimeout(1000); console.log(await beat(page).getAttribute("data-testid"), page.url()); }
await site.stop();
