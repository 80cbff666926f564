// Prints how large each of the given files is with brotli at its best, one line a file, in order.
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { brotliCompress, constants } from "node:zlib";

const compress = promisify(brotliCompress);

// All at once: Node compresses on several threads.
const sizes = await Promise.all(
  process.argv.slice(2).map(async (path) => {
    const bytes = await readFile(path);
    const params = {
      [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
      [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
    };
    return (await compress(bytes, { params })).length;
  }),
);
for (const size of sizes) console.log(size);
