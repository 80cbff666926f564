// The WebGPU engine on the software adapter: right numbers, very slowly. That a model in training moves to it,
// with its moments, is tested with the runs that have some (`run_folder.test.mjs`).
import assert from "node:assert/strict";

import {
  asNumber,
  byId,
  closeSettings,
  eventually,
  hasWebGpuEngine,
  live,
  number,
  numberUntil,
  openSettings,
  parameter,
  test,
  useSite,
} from "./harness.mjs";

const site = useSite({ webgpu: true });
const TINY = "?layers=1&heads=2&width=8&context=8&batch=2&seed=3";
const skip = hasWebGpuEngine() ? false : "the site was built without the WebGPU engine";

test("a software adapter counts as no GPU", { skip }, async (t) => {
  const page = await site.open(t, TINY);
  await page.locator('[data-testid="device-badge"][data-device="cpu"]', { hasText: "software" }).waitFor();
});

/** Rows wider than a workgroup, odd lengths, and parts of another kind than a model begins with. */
const WIDE = "?layers=1&heads=2&width=80&context=71&batch=2&seed=4&dropout=0.1&tied=1";
const OTHER = "&positions=alibi&norms=post";

// On one page: making the kernels takes the adapter longest, and it keeps those that the next model has too.
test("forward, loss and gradients agree with the CPU to 1e-4; models of two kinds train to the same losses", { skip, timeout: 600_000 }, async (t) => {
  const page = await site.open(t, `${WIDE}${OTHER}&device=webgpu&adapter=software`);
  await live(page, "attention");
  const badge = page.locator('[data-testid="device-badge"][data-device="webgpu"]');
  await badge.waitFor({ timeout: 240_000 });
  await badge.click();
  // Logits, loss and gradients of the self-check, each relative to the largest entry.
  await page.locator("details", { has: badge }).getByText("Gradients").waitFor();
  const details = await page.locator("details", { has: badge }).textContent();
  const differences = details.match(/\d\.\de-?\d+/g)?.map(Number) ?? [];
  t.diagnostic(`self-check differences: ${differences}`);
  assert.equal(differences.length, 3, details);
  assert(differences.every((difference) => difference <= 1e-4), details);
  await page.keyboard.press("Escape");

  await sameCell(t, page, await sameLosses(t, page, `${WIDE}${OTHER}`));

  await openSettings(page);
  await byId(page, "architecture").locator("summary").click();
  await byId(page, "control-positions").selectOption("learned");
  await byId(page, "control-norms").selectOption("pre");
  await eventually(() => !["positions", "norms"].some((name) => parameter(page, name)), "the link says nothing of them");
  await byId(page, "start-over").click();
  await numberUntil(page, "loss-step", (step) => step === 0, "0");
  await closeSettings(page);
  assert.equal(await byId(page, "device-badge").getAttribute("data-device"), "webgpu");
  await sameLosses(t, page, WIDE);
});

/** Of a cell of the attention figure: query · key, weight, and a value's way into the output. */
async function cell(page) {
  await byId(page, "attention-heatmap").focus();
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("ArrowLeft");
  await page.keyboard.press("Enter");
  await byId(page, "inspector-dot").waitFor();
  const parts = ["dot", "weight"].map((id) => byId(page, `inspector-${id}`).getAttribute("data-value"));
  const row = await byId(page, "inspector-output").locator("tbody tr").first().innerText();
  const output = row.replaceAll("−", "-").match(/-?\d+\.\d{4}/g);
  assert.equal(output?.length, 4, row);
  return [...(await Promise.all(parts)), ...output].map(Number);
}

/** The first steps of the GPU's page have the losses of the CPU with the same settings, whose page it returns. */
async function sameLosses(t, page, settings) {
  const losses = async (page) => {
    const seen = [];
    for (let step = 1; step <= 3; step++) {
      await byId(page, "train-step").click();
      await numberUntil(page, "loss-step", (now) => now === step, String(step));
      seen.push(asNumber(await byId(page, "loss-value").textContent()));
    }
    return seen;
  };
  const gpu = await losses(page);
  const other = await site.open(t, `${settings}&device=cpu`);
  await live(other, "attention");
  const cpu = await losses(other);
  t.diagnostic(`losses: GPU ${gpu}, CPU ${cpu}`);
  for (const [i, loss] of gpu.entries()) {
    assert(Math.abs(loss - cpu[i]) <= 2e-4 * cpu[i], `step ${i + 1}: GPU ${loss}, CPU ${cpu[i]}`);
  }
  return other;
}

/** After these steps attention has the same numbers inside, too. */
async function sameCell(t, page, other) {
  const [inside, expected] = [await cell(page), await cell(other)];
  t.diagnostic(`a cell: GPU ${inside}, CPU ${expected}`);
  for (const [i, number] of inside.entries()) {
    // The first two are the model's own; the others are rounded, so that what is shown adds up.
    assert(Math.abs(number - expected[i]) <= (i < 2 ? 2e-5 : 2e-4), `number ${i} of a cell: GPU ${number}, CPU ${expected[i]}`);
  }
}

test("where speed decides, a GPU that is slower for this model is not used", { skip, timeout: 300_000 }, async (t) => {
  const page = await site.open(t, `${TINY}&adapter=software&autostart=1`);
  const badge = page.locator('[data-testid="device-badge"]', { hasText: "on the GPU" });
  await badge.waitFor({ timeout: 240_000 });
  const said = await badge.textContent();
  const [, cpu, gpu] = said.match(/a step takes ([\d.]+) ms on the CPU, ([\d.]+) ms on the GPU/).map(Number);
  t.diagnostic(`a step: CPU ${cpu} ms, GPU ${gpu} ms`);
  assert(gpu > cpu, said);
  assert.equal(await badge.getAttribute("data-device"), "cpu");
  const step = await number(page, "loss-step");
  await numberUntil(page, "loss-step", (now) => now > step, "training goes on");
});
