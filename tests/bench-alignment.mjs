// Time until the chapter `alignment` answers 95% of held-out sources without a mistake, the model
// beside it training just as much, one JSON object a line:
// `node tests/bench-alignment.mjs [seed]`, with UNROLL_SITE naming a built site.
import { byId, number, numberUntil, Site } from "./harness.mjs";

const SEED = Number(process.argv[2] ?? 1);

const site = await new Site().start({ path: "/" });
try {
  await reaches("alignment-dates", "&alignment-task=dates");
  await reaches("alignment-reversal-12", "&alignment-length=12");
} finally {
  await site.stop();
}

async function reaches(name, query) {
  const context = await site.browser.newContext({ viewport: { width: 1280, height: 800 } });
  const page = await context.newPage();
  await page.goto(new URL(`?chapter=alignment&seed=${SEED}&autostart=1${query}`, site.url).href);
  await byId(page, "alignment-right-0").waitFor();
  await numberUntil(page, "loss-step", (step) => step >= 1, "the first step");
  const start = Date.now();
  const right = byId(page, "alignment-right-0");
  await right.evaluate(
    (node) =>
      new Promise((resolve, reject) => {
        const timer = setTimeout(() => reject(new Error("not within five minutes")), 300_000);
        const look = () => Number.parseFloat(node.textContent) >= 95 && (clearTimeout(timer), resolve());
        new MutationObserver(look).observe(node, { subtree: true, childList: true, characterData: true });
        look();
      }),
  );
  const seconds = (Date.now() - start) / 1000;
  const [step, beside, each] = [
    await number(page, "loss-step"),
    await number(page, "alignment-right-1"),
    await number(page, "step-time"),
  ];
  console.log(JSON.stringify({ name, unit: "s", seconds, step, withoutAttention: beside, millisecondsPerStep: each }));
  await context.close();
}
