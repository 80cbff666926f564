// What a training step costs on WebGPU in calls, one JSON object a line:
// `UNROLL_SITE=<a site with the WebGPU engine> node tests/bench-webgpu.mjs`.
//
// Counts and not times: the software adapter, the only one a headless browser has, says nothing
// about a GPU's speed, but as much as any about how often it is called.
import { byId, live, number, numberUntil, Site } from "./harness.mjs";

/** Steps that are counted, after as many that are not. */
const STEPS = 4;
const SETTINGS = "layers=2&heads=2&width=16&context=8&batch=4&dropout=0";

const site = await new Site().start({ webgpu: true });
try {
  const page = await site.open({ after() {} }, `?${SETTINGS}&device=webgpu&adapter=software`);
  await live(page, "attention");
  const badge = page.locator('[data-testid="device-badge"][data-device="webgpu"]');
  await badge.waitFor({ timeout: 240_000 });
  const worker = page.workers().find((worker) => worker.url().includes("engine_webgpu"));
  await worker.evaluate(() => {
    const counts = { dispatches: 0, passes: 0, submissions: 0, pipelines: 0, reads: 0, buffers: 0 };
    self.__counts = counts;
    const count = (type, method, name) => {
      const original = type.prototype[method];
      type.prototype[method] = function (...rest) {
        counts[name] += 1;
        return original.apply(this, rest);
      };
    };
    count(GPUComputePassEncoder, "dispatchWorkgroups", "dispatches");
    count(GPUComputePassEncoder, "dispatchWorkgroupsIndirect", "dispatches");
    count(GPUCommandEncoder, "beginComputePass", "passes");
    count(GPUQueue, "submit", "submissions");
    count(GPUDevice, "createComputePipeline", "pipelines");
    count(GPUDevice, "createComputePipelineAsync", "pipelines");
    count(GPUDevice, "createBuffer", "buffers");
    count(GPUBuffer, "mapAsync", "reads");
  });
  const counts = () => worker.evaluate(() => ({ ...self.__counts }));
  await byId(page, "train-toggle").click();
  await numberUntil(page, "loss-step", (step) => step >= STEPS);
  const [from, before] = [await number(page, "loss-step"), await counts()];
  await numberUntil(page, "loss-step", (step) => step >= from + STEPS);
  const [to, after] = [await number(page, "loss-step"), await counts()];
  for (const name of Object.keys(after)) {
    const value = (after[name] - before[name]) / (to - from);
    console.log(JSON.stringify({ name: `webgpu-step/${name}`, unit: "calls/step", value: Math.round(value * 10) / 10 }));
  }
  console.log(JSON.stringify({ name: "webgpu-start/pipelines", unit: "calls", value: before.pipelines }));
} finally {
  await site.stop();
}
