// Stands where an engine's worker is, and passes everything on to the engine outside the browser (see
// native/): commands there, events back, as they are. The page starts it as
// `native.js?v=<build>#native=<secret>`.

const here = new URL(self.location.href);
const build = encodeURIComponent(here.searchParams.get("v") ?? "");
const secret = here.hash.replace("#native=", "");
const at = (path) => new URL(path, here).href;

let ended = false;
function fail(sentence) {
  if (ended) return;
  ended = true;
  self.postMessage({ unroll_engine_failed: sentence });
}

// What the page asks for with the build in the address.
const WITH_BUILD = /^(corpora\/|engine_|worker\.js)/;

// The engine's process serves the page too. Where it goes away, the page goes on with the tab's own engine,
// and with parts that it never showed: all its files must be in the browser's cache by then.
async function fetchAhead() {
  const list = await (await fetch(at("./engine/files"))).text();
  const files = [
    ...["worker.js?engine=engine_cpu&v=", "engine_cpu.js?v=", "engine_cpu_bg.wasm?v="].map((file) => file + build),
    ...["engine_course", "engine_given"].map((engine) => `worker.js?engine=${engine}&v=${build}`),
    ...list.split("\n").map((file) => (WITH_BUILD.test(file) ? `${file}?v=${build}` : file)),
  ];
  // One after the other, for the page fetches too. What can't be had now may be had when it is wanted.
  for (const file of files) {
    await fetch(at(`./${file}`)).then((response) => response.arrayBuffer()).catch(() => {});
  }
}

const line = new WebSocket(at("./engine/line").replace("http", "ws"), ["unroll", secret]);
line.binaryType = "arraybuffer";
line.onmessage = ({ data }) => {
  const bytes = new Uint8Array(data);
  self.postMessage(bytes, [bytes.buffer]);
};
line.onopen = () => fetchAhead().catch(() => {});
line.onclose = ({ code, reason }) => {
  // The server says itself why it ends a line, with the first code that is free for that.
  fail(code === 4000 ? reason : "The native engine on your computer has stopped, or can’t be reached any more.");
};
self.onmessage = ({ data }) => {
  // A line that has ended tells the page so by itself.
  if (line.readyState === WebSocket.OPEN) line.send(data);
};
