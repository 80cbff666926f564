// node in-order.mjs [--test-name-pattern=…] FILE…: as `node --test` with two files at once, but in the order
// given, which that sorts by name: the last file to begin runs alone for its whole length.
import { resolve } from "node:path";
import { run } from "node:test";
import { spec } from "node:test/reporters";
import { parseArgs } from "node:util";

const { values, positionals } = parseArgs({
  options: { "test-name-pattern": { type: "string" } },
  allowPositionals: true,
});
const pattern = values["test-name-pattern"];

run({
  files: positionals.map((file) => resolve(file)),
  concurrency: 2,
  ...(pattern === undefined ? {} : { testNamePatterns: [pattern] }),
})
  .on("test:fail", () => (process.exitCode = 1))
  .compose(new spec())
  .pipe(process.stdout);
