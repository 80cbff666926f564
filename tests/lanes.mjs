// Node runs the test files in lanes, each a process of one parent. What measures the page's own time
// may need the machine for itself: then the other lanes finish the test they are in and wait.
import { linkSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

const PREFIX = `unroll-lane-${process.ppid}-`;
/** There while this lane runs a test. */
const RUNNING = join(tmpdir(), `${PREFIX}${process.pid}`);
/** There while one lane has the machine for itself, with its process's number. */
const ALONE = join(tmpdir(), `${PREFIX}alone`);
const MINE = `${ALONE}.${process.pid}`;

/** Whether the process of this number is still there: one that was killed leaves its files behind. */
function lives(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** The process that has the machine for itself, if one has. */
function holder() {
  try {
    const pid = Number(readFileSync(ALONE, "utf8"));
    if (lives(pid)) return pid;
    // Only one lane can move the file of a dead one away, and it looks again whose it was.
    const dead = `${ALONE}-${process.pid}`;
    renameSync(ALONE, dead);
    if (lives(Number(readFileSync(dead, "utf8")))) linkSync(dead, ALONE);
    rmSync(dead, { force: true });
    rmSync(`${ALONE}.${pid}`, { force: true });
  } catch {
    // Nobody, or it went away while it was read.
  }
  return null;
}

/** The processes of the other lanes that run a test. */
function others() {
  const lanes = readdirSync(tmpdir()).filter((name) => name.startsWith(PREFIX));
  const pids = lanes.map((name) => Number(name.slice(PREFIX.length)));
  return pids.filter((pid) => pid && pid !== process.pid && lives(pid));
}

async function enter() {
  for (;;) {
    writeFileSync(RUNNING, "");
    if (holder() === null) return;
    rmSync(RUNNING, { force: true });
    while (holder() !== null) await pause(100);
  }
}

/** Runs `work` as one of the tests that run at once. */
export async function beside(work) {
  await enter();
  try {
    return await work();
  } finally {
    rmSync(RUNNING, { force: true });
  }
}

/** Within [`beside`]: runs `work` while no other lane runs a test. */
export async function alone(work) {
  rmSync(RUNNING, { force: true });
  writeFileSync(MINE, `${process.pid}`);
  for (;;) {
    try {
      // Linked, so that it is never there without its number.
      linkSync(MINE, ALONE);
      break;
    } catch {
      // Another lane measures.
      await pause(100);
      holder();
    }
  }
  try {
    while (others().length > 0) await pause(100);
    return await work();
  } finally {
    rmSync(ALONE, { force: true });
    rmSync(MINE, { force: true });
  }
}
