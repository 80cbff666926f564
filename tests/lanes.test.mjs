// One lane measures, the others wait.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { test } from "node:test";

const LANES = new URL("./lanes.mjs", import.meta.url).href;

/** All that was said, in its order. */
const said = [];

/** A lane of this process that says what it is about to do. */
function lane(body) {
  const script = `
    import { alone, beside } from "${LANES}";
    const say = (what) => process.stdout.write(what + "\\n");
    const told = () => new Promise((resolve) => process.stdin.once("data", resolve));
    ${body}
    process.stdin.unref();`;
  const child = spawn(process.execPath, ["--input-type=module", "--eval", script], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  child.stdout.on("data", (data) => said.push(...`${data}`.trim().split("\n")));
  return {
    /** Waits until it has said so. */
    async says(what) {
      while (!said.includes(what)) await once(child.stdout, "data");
    },
    tell: () => child.stdin.write("on\n"),
    kill: () => child.kill("SIGKILL"),
    ended: async () => child.exitCode ?? child.signalCode ?? (await once(child, "exit"))[0],
  };
}

test("what runs alone waits for the tests under way, and later ones wait for it", async () => {
  const first = lane(`await beside(async () => { say("first"); await told(); say("first ends"); });`);
  await first.says("first");
  const measures = lane(`
    await beside(async () => {
      const measured = alone(async () => { say("alone"); await told(); say("measured"); });
      say("asks for the machine");
      await measured;
    });`);
  await measures.says("asks for the machine");
  first.tell();
  await measures.says("alone");
  const later = lane(`const ran = beside(async () => say("later")); say("comes later"); await ran;`);
  await later.says("comes later");
  measures.tell();
  await later.says("later");
  const order = ["first", "asks for the machine", "first ends", "alone", "comes later", "measured", "later"];
  assert.deepEqual(said.splice(0), order);
  for (const each of [first, measures, later]) assert.equal(await each.ended(), 0);
});

test("a lane that was killed holds nobody up", async () => {
  const killed = lane(`await beside(() => alone(async () => { say("alone"); await told(); }));`);
  await killed.says("alone");
  killed.kill();
  const later = lane(`await beside(async () => say("later"));`);
  await later.says("later");
  assert.equal(await later.ended(), 0);
});
