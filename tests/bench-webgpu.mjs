// What a training step costs on WebGPU in calls, one JSON object a line:
// `UNROLL_SITE=<a site with the WebGPU engine> node tests/bench-webgpu.mjs [--kernels]`.
//
// Counts first: the software adapter, the only one a headless browser has, says little about a
// GPU's speed, but as much as any about how often it is called. What is counted are the steps of a
// throw-away model with which the page finds out whether the GPU is the faster device: no pictures,
// no writing. A step ends with a read, of its loss and its gradient's norm. `--kernels` says which
// programs the last step ran, and how often.
//
// The times are what compiling costs: that of the self-check and of each step, beside the pipelines
// created in it. A page can't keep compiled programs for its next visit: WebGPU has no call for
// that, and Chromium keeps its own cache of them in the profile, which is fresh here.
import { Site } from "./harness.mjs";

const SETTINGS = "layers=2&heads=2&width=16&context=8&batch=4&dropout=0&autostart=1";

const site = await new Site().start({ webgpu: true });
try {
  const page = await site.open({ after() {} }, "about:blank");
  page.on("console", (message) => message.type() === "error" && console.error(message.text()));
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
  const { begin, reads } = await worker.evaluate(() => self.__counted);
  // Reads that follow work: two of the self-check, then one a step.
  const ends = reads.filter(({ dispatches }, at) => dispatches > (reads[at - 1]?.dispatches ?? -1));
  const [from, to] = [ends.at(-2), ends.at(-1)];
  for (const name of ["dispatches", "passes", "submissions", "reads", "pipelines", "buffers"]) {
    const value = to[name] - from[name];
    console.log(JSON.stringify({ name: `webgpu-step/${name}`, unit: "calls/step", value }));
  }
  const stretch = (name, before, after) => {
    const value = Math.round(after.time - before.time);
    const pipelines = after.pipelines - (before.pipelines ?? 0);
    console.log(JSON.stringify({ name: `webgpu-time/${name}`, unit: "ms", value, pipelines }));
  };
  stretch("self-check", begin, ends[1]);
  ends.slice(2).forEach((end, at) => stretch(`step-${at + 1}`, ends[at + 1], end));
  if (process.argv.includes("--kernels")) {
    const kernels = Object.entries(to.kernels).map(([name, calls]) => [calls - (from.kernels[name] ?? 0), name]);
    for (const [value, name] of kernels.filter(([calls]) => calls > 0).sort((a, b) => b[0] - a[0])) {
      console.log(JSON.stringify({ name: `webgpu-kernel/${name}`, unit: "calls/step", value }));
    }
  }
} finally {
  await site.stop();
}

/** In the worker: counts calls, and notes the counts at every read. */
function count() {
  const counts = { dispatches: 0, passes: 0, submissions: 0, reads: 0, pipelines: 0, buffers: 0 };
  const kernels = {};
  const names = new WeakMap();
  const current = new WeakMap();
  self.__counted = { begin: { time: performance.now() }, reads: [] };
  const wrap = (type, method, before, after = () => {}) => {
    const original = type.prototype[method];
    type.prototype[method] = function (...rest) {
      before.call(this, ...rest);
      const result = original.apply(this, rest);
      after(result, ...rest);
      return result;
    };
  };
  const counted = (name) => () => {
    counts[name] += 1;
  };
  const dispatched = function () {
    counts.dispatches += 1;
    const name = current.get(this);
    kernels[name] = (kernels[name] ?? 0) + 1;
  };
  wrap(GPUComputePassEncoder, "dispatchWorkgroups", dispatched);
  wrap(GPUComputePassEncoder, "dispatchWorkgroupsIndirect", dispatched);
  wrap(GPUComputePassEncoder, "setPipeline", function (pipeline) {
    current.set(this, names.get(pipeline));
  });
  wrap(GPUCommandEncoder, "beginComputePass", counted("passes"));
  wrap(GPUQueue, "submit", counted("submissions"));
  wrap(GPUDevice, "createComputePipeline", counted("pipelines"), (pipeline, { label }) => names.set(pipeline, label));
  wrap(GPUDevice, "createBuffer", counted("buffers"));
  wrap(GPUBuffer, "mapAsync", () => {
    counts.reads += 1;
    self.__counted.reads.push({ ...counts, kernels: { ...kernels }, time: performance.now() });
  });
}
