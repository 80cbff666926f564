// A static web server for tests: a built site under any sub-path, and pages made up by a test on
// an origin of their own.
import { createServer } from "node:http";
import { readFile } from "node:fs/promises";
import { extname, join, normalize, sep } from "node:path";

const TYPES = {
  ".css": "text/css; charset=utf-8",
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".json": "application/json",
  ".mjs": "text/javascript; charset=utf-8",
  ".png": "image/png",
  ".svg": "image/svg+xml",
  ".txt": "text/plain; charset=utf-8",
  ".wasm": "application/wasm",
  ".woff2": "font/woff2",
};

/**
 * Serves `folder` below `path` (which starts and ends with a slash) on a free port.
 *
 * `cors: true` lets pages of other origins read the files, as many static hosts do;
 * `isolated: true` makes the pages cross-origin isolated, as few do. `pages` maps addresses to HTML;
 * entries may be added while the server runs. `requests` lists the addresses asked for so far.
 */
export async function serve(folder, { path = "/", cors = false, isolated = false, pages = new Map() } = {}) {
  const requests = [];
  const server = createServer(async (request, response) => {
    requests.push(request.url);
    const headers = { "cache-control": "no-store" };
    if (cors) headers["access-control-allow-origin"] = "*";
    if (isolated) {
      headers["cross-origin-opener-policy"] = "same-origin";
      headers["cross-origin-embedder-policy"] = "require-corp";
    }
    const answer = (status, type, body) => {
      response.writeHead(status, { ...headers, "content-type": type, "content-length": body.length });
      response.end(request.method === "HEAD" ? undefined : body);
    };
    let address;
    try {
      address = decodeURIComponent(new URL(request.url, "http://localhost").pathname);
    } catch {
      return answer(400, TYPES[".txt"], Buffer.from("Bad address\n"));
    }
    if (pages.has(address)) return answer(200, TYPES[".html"], Buffer.from(pages.get(address)));
    const file = folder && fileFor(folder, path, address);
    const bytes = file && (await readFile(file).catch(() => null));
    if (!bytes) return answer(404, TYPES[".txt"], Buffer.from("Not found\n"));
    answer(200, TYPES[extname(file)] ?? "application/octet-stream", bytes);
  });
  await new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
  const origin = `http://127.0.0.1:${server.address().port}`;
  return {
    origin,
    url: origin + path,
    requests,
    pages,
    close: () =>
      new Promise((resolve) => {
        server.close(resolve);
        server.closeAllConnections();
      }),
  };
}

/** The file an address names, or null when it lies outside of what is served. */
export function fileFor(folder, path, address) {
  if (!address.startsWith(path)) return null;
  let name = address.slice(path.length);
  if (name === "" || name.endsWith("/")) name += "index.html";
  const file = normalize(join(folder, name));
  return file.startsWith(normalize(folder) + sep) ? file : null;
}
