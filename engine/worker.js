// Starts one of the engines in a Web Worker and reports, in a plain object, when that fails:
// before an engine runs there is nobody else to say so.
//
// The page starts it as `worker.js?engine=engine_cpu&v=<build>`. In a sandboxed frame without an
// origin a `data:` worker imports it under the same address, so everything here is taken from
// `import.meta.url`, never from `self.location`.

const ENGINES = {
  engine_cpu: "The CPU engine",
  engine_course: "The chapters’ engine",
  engine_given: "The engine for models that are opened",
  engine_webgpu: "The WebGPU engine",
};

function fail(sentence) {
  self.postMessage({ unroll_engine_failed: sentence });
}

// Browsers tell the page of a worker's uncaught errors, but not of its rejected promises.
self.addEventListener("unhandledrejection", (event) => {
  fail(`The engine stopped: ${said(event.reason)}`);
});

function said(error) {
  return error instanceof Error ? error.message : String(error);
}

async function start() {
  const here = new URL(import.meta.url);
  const engine = here.searchParams.get("engine") ?? "";
  if (!Object.hasOwn(ENGINES, engine)) {
    fail(`There is no engine named “${engine.slice(0, 40)}”.`);
    return;
  }
  const build = encodeURIComponent(here.searchParams.get("v") ?? "");
  const address = (file) => new URL(`./${file}?v=${build}`, here).href;
  // The wasm is fetched while the script is; both come from one build.
  const wasm = fetch(address(`${engine}_bg.wasm`));
  // Awaited below; this only keeps a failure from being reported twice.
  wasm.catch(() => {});
  try {
    const { default: init } = await import(address(`${engine}.js`));
    const response = await wasm;
    if (!response.ok) {
      fail(`${ENGINES[engine]} is not part of this site (${response.status} for its wasm file).`);
      return;
    }
    await init({ module_or_path: response });
  } catch (error) {
    const missing = await wasm.then((response) => response.status === 404, () => false);
    fail(
      missing
        ? `${ENGINES[engine]} is not part of this site.`
        : `${ENGINES[engine]} could not be started: ${said(error)}`,
    );
  }
}

start();
