// Our engine in the browser, as a candidate of bench-training.mjs.
//
// The page itself is opened with the settings to be timed, and starts its own engine (or engines).
// From then on the page's questions to it are held back: no pictures, no writing, no saving, as the
// other libraries draw nothing either. The engine is asked for steps and says when they are done.
// Several workers are let start as in the page (once it has its first picture and trains), and are
// timed when all of them share the steps.
import { readFileSync } from "node:fs";
import { join } from "node:path";

const MESSAGES = readFileSync(join(import.meta.dirname, "../protocol/src/message.rs"), "utf8");
const WIRE = readFileSync(join(import.meta.dirname, "../protocol/src/wire.rs"), "utf8");

/** The numbers that postcard gives the variants of an enum: their places in its source. */
export function variants(name, source = MESSAGES) {
  const body = source.split(`pub enum ${name} {\n`)[1]?.split("\n}\n")[0];
  if (!body) throw new Error(`protocol/src/message.rs has no enum ${name}`);
  const names = [...body.matchAll(/^ {4}([A-Z]\w*)/gm)].map((match) => match[1]);
  return Object.fromEntries(names.map((variant, number) => [variant, number]));
}

const PROTOCOL = {
  version: Number(/VERSION: u8 = (\d+)/.exec(WIRE)[1]),
  command: variants("Command"),
  event: variants("Event"),
  paused: variants("RunState").Paused,
};

/** The page's address for a GPT or a chapter's cell of these settings. */
function address(settings, workers) {
  const query = { corpus: "tales", device: "cpu", embed: 1, hide: "controls,text,loss,sample" };
  if (settings.kind === "gpt") {
    const { layers, heads, width, context, batch, rate } = settings;
    Object.assign(query, { layers, heads, width, context, batch, lr: rate, dropout: 0 });
  } else if (settings.kind === "seq2seq") {
    query.chapter = "seq2seq";
    Object.assign(query, { "seq2seq-hidden": settings.width, "seq2seq-longest": settings.context });
  } else {
    query.chapter = "gates";
    Object.assign(query, { "gates-task": "text", "gates-cell": settings.kind, "gates-units": settings.width });
  }
  if (workers > 1) Object.assign(query, { workers, hide: "text,loss,sample" });
  return `?${new URLSearchParams(query)}`;
}

/** Starts the engine for `settings`; see bench-training.mjs for what is answered. */
export async function ourEngine(browser, url, settings, workers) {
  const context = await browser.newContext({ viewport: { width: 360, height: 300 } });
  const page = await context.newPage();
  await page.addInitScript(inPage, { ...PROTOCOL, workers });
  await page.goto(new URL(address(settings, workers), url).href);
  await page.waitForFunction(() => window.__engine?.started, undefined, { polling: 50, timeout: 60_000 });
  // A setting that is out of range keeps its default, and the page says so.
  const complaint = await page.evaluate(() => document.querySelector(".notice")?.textContent ?? "");
  if (complaint) throw new Error(complaint);
  if (workers > 1) await page.evaluate((count) => window.__engine.share(count - 1), workers);
  return {
    measure: (budget, each) => page.evaluate(([b, e]) => window.__engine.measure(b, e), [budget, each ?? null]),
    close: () => context.close(),
  };
}

/** Runs in the page, before anything else does. */
function inPage(protocol) {
  const { command, event, workers } = protocol;
  const heldBack = new Set(["Run", "Pause", "Steps", "Ask", "Save"].map((name) => command[name]));
  // The first picture is what helpers wait for; nothing else is asked.
  let awaitsPicture = workers > 1;
  const isForPicture = (message) => {
    // Behind the version and the command an id and a length, each of which ends with a byte under 128;
    // the chapter; the question.
    const after = (from) => 1 + message.findIndex((byte, at) => at >= from && byte < 128);
    const chapter = after(after(2));
    return awaitsPicture && message[1] === command.Ask && message[chapter] === 0 && message[chapter + 1] === 0;
  };
  const starts = [command.Start, command.StartStudy];

  class Spied extends Worker {
    #told = null;

    postMessage(message, ...rest) {
      const kind = message instanceof Uint8Array && message[0] === protocol.version ? message[1] : -1;
      if (starts.includes(kind)) engine.worker = this;
      const held = this === engine.worker && heldBack.has(kind) && !isForPicture(message);
      if (!held) super.postMessage(message, ...rest);
    }

    /** Past what the page may send. */
    command(bytes) {
      super.postMessage(Uint8Array.from([protocol.version, ...bytes]));
    }

    set onmessage(told) {
      this.#told = told;
      super.onmessage = (message) => {
        const bytes = message.data;
        const progress = this === engine.worker && bytes instanceof Uint8Array && engine.hear(bytes);
        // The page's curve would be drawn while the engine computes.
        if (!progress) this.#told?.call(this, message);
      };
    }

    get onmessage() {
      return this.#told;
    }
  }
  window.Worker = Spied;

  const engine = (window.__engine = {
    worker: null,
    started: false,
    step: 0,
    target: 0,
    losses: [],
    helping: 0,
    pictured: () => {},
    stopped: () => {},
    failed: () => {},
    /** Takes note of an event; true for what the page need not hear. */
    hear(bytes) {
      switch (bytes[1]) {
        case event.Started:
        case event.StudyStarted:
          engine.started = true;
          return false;
        case event.State:
          // A request for one step is answered as if it were over before it has begun, too.
          engine.step = reader(bytes, 3).whole();
          if (bytes[2] === protocol.paused && engine.step >= engine.target) engine.stopped();
          return false;
        case event.Progress:
          engine.losses.push(...losses(bytes, (read) => (read.option(), read.real(), read.real())));
          return true;
        case event.StudyProgress:
          engine.losses.push(...losses(bytes));
          return true;
        case event.Answered:
          awaitsPicture = false;
          // The page hears of it first.
          setTimeout(engine.pictured);
          return false;
        case event.Pool:
          engine.helping = reader(bytes, 2).whole();
          return false;
        case event.Refused:
        case event.Diverged:
        case event.Failed:
          engine.failed(new Error("the engine refused, diverged or failed"));
          return false;
        default:
          return false;
      }
    },
    steps(count) {
      return new Promise((resolve, reject) => {
        [engine.stopped, engine.failed] = [resolve, reject];
        engine.target = engine.step + count;
        const number = [];
        for (let rest = count; ; rest >>>= 7) {
          if (rest < 128) {
            number.push(rest);
            break;
          }
          number.push((rest & 127) | 128);
        }
        engine.worker.command([command.Steps, ...number]);
      });
    },
    /** Has the page start its helpers, and trains until all of them do their shares. */
    async share(helpers) {
      await engine.picture;
      document.querySelector('[data-testid="train-step"]').click();
      while (engine.helping < helpers) await engine.steps(1);
    },
    /** As `timed` of peers/workload.mjs does it; a sample is one request for steps. The losses are
     * of all steps since those returned last. */
    async measure(budget, each) {
      const samples = [];
      const chunk = each ? Math.max(1, Math.ceil(100 / each)) : 1;
      const begin = performance.now();
      do {
        const start = performance.now();
        await engine.steps(chunk);
        samples.push((performance.now() - start) / chunk);
      } while (performance.now() - begin < budget);
      return { samples, losses: engine.losses.splice(0) };
    },
  });
  engine.picture = new Promise((resolve) => (engine.pictured = resolve));

  /** The loss of every point: of a GPT's curve with `rest`, which reads on past it, else the first
   * series of a chapter's. */
  function losses(bytes, rest) {
    const read = reader(bytes, 2);
    return Array.from({ length: read.whole() }, () => {
      read.whole();
      if (!rest) return Array.from({ length: read.whole() }, () => read.option())[0];
      const loss = read.real();
      rest(read);
      return loss;
    });
  }

  /** Reads postcard's numbers from the byte `at` on. */
  function reader(bytes, at) {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    return {
      whole() {
        for (let value = 0, shift = 0; ; shift += 7) {
          const byte = bytes[at++];
          value += (byte & 127) * 2 ** shift;
          if (byte < 128) return value;
        }
      },
      real: () => view.getFloat32((at += 4) - 4, true),
      option() {
        return bytes[at++] ? this.real() : null;
      },
    };
  }
}
