// Stands where an engine's worker is, and passes everything on to the engine outside the browser (see
// native/): commands there, events back, as they are. The page starts it as `native.js?v=<build>#<secret>`.

const here = new URL(self.location.href);
const build = encodeURIComponent(here.searchParams.get("v") ?? "");
const at = (path) => new URL(path, here).href.split("#")[0];

let ended = false;
function fail(sentence) {
  if (ended) return;
  ended = true;
  self.postMessage({ unroll_engine_failed: sentence });
}

// Where that engine goes away, the page goes on with the tab's own. Its files come from the same server:
// they must be in the browser's cache by then.
async function fetchAhead() {
  const files = ["worker.js?engine=engine_cpu&v=", "engine_cpu.js?v=", "engine_cpu_bg.wasm?v="];
  // What can't be had now may be had then.
  await Promise.allSettled(files.map(async (file) => (await fetch(at(`./${file}${build}`))).arrayBuffer()));
}

const line = new WebSocket(at("./engine/line").replace("http", "ws"), ["unroll", here.hash.slice(1)]);
line.binaryType = "arraybuffer";
line.onmessage = ({ data }) => {
  const bytes = new Uint8Array(data);
  self.postMessage(bytes, [bytes.buffer]);
};
line.onopen = fetchAhead;
line.onclose = ({ code, reason }) => {
  // The server says itself why it ends a line, with the first code that is free for that.
  fail(code === 4000 ? reason : "The native engine on your computer has stopped, or can’t be reached any more.");
};
self.onmessage = ({ data }) => {
  // A line that has ended tells the page so by itself.
  if (line.readyState === WebSocket.OPEN) line.send(data);
};
