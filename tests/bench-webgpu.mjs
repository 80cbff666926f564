// What a training step costs on WebGPU in calls, one JSON object a line:
// `UNROLL_SITE=<a site with the WebGPU engine> node tests/bench-webgpu.mjs`.
//
// Counts and not times: the software adapter, the only one a headless browser has, says nothing
// about a GPU's speed, but as much as any about how often it is called. What is counted are the
// steps of a throw-away model with which the page finds out whether the GPU is the faster device:
// no pictures, no writing. A step ends with reads, of its loss and its gradient's norm.
import { Site } from "./harness.mjs";

const SETTINGS = "layers=2&heads=2&width=16&context=8&batch=4&dropout=0&autostart=1";

const site = await new Site().start({ webgpu: true });
try {
  const page = await site.open({ after() {} }, "about:blank");
  const counting = new Promise((resolve) => {
    page.on("worker", async (worker) => {
      if (!worker.url().includes("engine_webgpu")) return;
      await worker.evaluate(count);
      resolve(worker);
    });
  });
  await page.goto(new URL(`?${SETTINGS}&adapter=software`, site.url).href);
  const worker = await counting;
  await page
    .locator('[data-testid="device-badge"]', { hasText: "on the GPU" })
    .waitFor({ timeout: 240_000 });
  // A step reads more than one number: the reads that follow work end the steps.
  const reads = (await worker.evaluate(() => self.__reads)).filter(
    ({ dispatches }, at, all) => dispatches > (all[at - 1]?.dispatches ?? -1),
  );
  // The last step: the first ones compile what the self-check did not.
  const [before, from, to] = [reads[0], reads.at(-2), reads.at(-1)];
  for (const name of Object.keys(to)) {
    const value = to[name] - from[name];
    console.log(JSON.stringify({ name: `webgpu-step/${name}`, unit: "calls/step", value }));
  }
  const value = to.pipelines;
  console.log(JSON.stringify({ name: "webgpu-start/pipelines", unit: "calls", value, before: before.pipelines }));
} finally {
  await site.stop();
}

/** In the worker: counts calls, and notes the counts at every read. */
function count() {
  const counts = { dispatches: 0, passes: 0, submissions: 0, pipelines: 0, buffers: 0 };
  self.__reads = [];
  const wrap = (type, method, before) => {
    const original = type.prototype[method];
    type.prototype[method] = function (...rest) {
      before();
      return original.apply(this, rest);
    };
  };
  const counted = (name) => () => {
    counts[name] += 1;
  };
  wrap(GPUComputePassEncoder, "dispatchWorkgroups", counted("dispatches"));
  wrap(GPUComputePassEncoder, "dispatchWorkgroupsIndirect", counted("dispatches"));
  wrap(GPUCommandEncoder, "beginComputePass", counted("passes"));
  wrap(GPUQueue, "submit", counted("submissions"));
  wrap(GPUDevice, "createComputePipeline", counted("pipelines"));
  wrap(GPUDevice, "createComputePipelineAsync", counted("pipelines"));
  wrap(GPUDevice, "createBuffer", counted("buffers"));
  wrap(GPUBuffer, "mapAsync", () => self.__reads.push({ ...counts }));
}
