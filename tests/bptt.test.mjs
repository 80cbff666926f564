// The chapter on backpropagation through time, as a learner meets it.
import assert from "node:assert/strict";

import {
  atRest,
  byId,
  drawn,
  eventually,
  exported,
  live,
  number,
  numberUntil,
  openSettings,
  openView,
  parameter,
  rested,
  test,
  train,
  useSite,
} from "./harness.mjs";

const site = useSite();

/** Opens the chapter once its first steps are taken and answered. */
async function open(t, query = "&bptt-shown=all", options = {}, steps = 50) {
  const page = await site.open(t, `?chapter=bptt${steps === 50 ? "" : `&step=${steps}`}${query}`, options);
  await live(page, "bptt-norms");
  await rested(page, steps);
  // What is on show is of the last step.
  await byId(page, "bptt-seen").and(page.locator(`[data-step="${steps}"]`)).waitFor({ state: "attached" });
  return page;
}

/** The same with networks that are hardly trained, where it is not about what they learned. */
const fresh = (t, query, options) => open(t, query, options, 1);

/** Opens the chapter as a newcomer does: on the nudge. */
async function begin(t) {
  const page = await site.open(t, "?chapter=bptt");
  await live(page, "bptt-ripple");
  await rested(page, 50);
  return page;
}

/** Names of the curves and the shares that come back, as the table beside the figure has it. */
function shares(page) {
  return byId(page, "bptt-seen")
    .locator("tbody")
    .evaluateAll((rows) =>
      Object.fromEntries(rows.map((row) => [row.dataset.name, Number(row.dataset.share)])),
    );
}

const choose = (page, control, choice) => byId(page, `control-${control}-${choice}`).check();

/** Moves a slider to its least value or so many steps above it. */
async function slide(page, name, steps) {
  const slider = byId(page, `control-${name}`);
  await slider.focus();
  await slider.press("Home");
  for (let i = 0; i < steps; i += 1) await slider.press("ArrowRight");
}

/** The decimals of a list of shown terms as whole numbers. */
const whole = (text) => Number(text.replace("−", "-").replace("+", "").replace(".", ""));

/** The story’s beat on the way back, and the rule beside the curve, say what the RNN’s share is now. */
async function saysWhatIsTrue(page, wanted) {
  const now = (await byId(page, "beat-3").textContent()).match(/At training step ([\d,]+), your RNN’s letter gets .+? the last step’s gradient: ([^.]+)\./);
  const share = (await shares(page)).RNN;
  assert.equal(Number(now[1].replace(",", "")), await number(page, "loss-step"));
  const ends = ["it vanishes on the way", "faint, but not gone", "it does not vanish", "it grows on the way"];
  assert.equal(now[2], ends[[0.001, 0.1, 2, Infinity].findIndex((most) => share <= most)], `${share}`);
  assert.match(now[2], wanted);
  const rule = await byId(page, "bptt-in-words").textContent();
  const [, , product, measured] = rule.match(/\d+\.\d\d/g).map(Number);
  const holds = Math.abs(measured - product) <= 0.05 * product;
  // As written they may be just within it.
  if (Math.abs(Math.abs(measured - product) - 0.05 * product) > 0.01) {
    const why = measured > product ? /The rule fails here: .* above the mean\.$/ : /The rule fails here: .* below the mean\.$/;
    assert.match(rule, holds ? /The rule holds here\.$/ : why);
  }
  assert.match(await byId(page, "bptt-rule").textContent(), /When does this rule hold\?/);
}

test("opens on a gradient that dies in the RNN and not along the LSTM's cell", async (t) => {
  const page = await open(t);
  const { RNN: rnn, "LSTM cell": cell } = await shares(page);
  assert(rnn < 1e-5, `${rnn} comes back`);
  assert(cell > 1e-2, `${cell} comes back`);
});

test("the task and a nudge come first, then the RNN’s curve alone, and formulas once they are explained", async (t) => {
  const page = await begin(t);
  // The model's own example: the letter, the gap, and the letter again as the answer.
  const example = byId(page, "story").locator('[data-testid="bptt-example"]');
  const [read, answer] = (await example.textContent()).split("→").map((part) => part.trim());
  assert.match(read, /^[A-P]( [a-p]){30} \?$/);
  assert.equal(answer, read[0]);
  // The same stands above the squares of each step, the “?” over the last one.
  const above = page.locator(".bptt-letters > span");
  assert.equal((await above.allTextContents()).join(" "), read);
  const [last, cells] = [await page.locator(".bptt-letters > .bptt-asked").boundingBox(), await byId(page, "bptt-ripple-cells").boundingBox()];
  assert(Math.abs(last.x + last.width - cells.x - cells.width) < 5, "the last column");
  // A frame is around it and its squares.
  const asked = await page.locator(".bptt-question").boundingBox();
  assert(Math.abs(asked.x - last.x) < 2 && Math.abs(asked.width - last.width) < 2, "the “?” and its column");
  assert(asked.y <= last.y && Math.abs(asked.y + asked.height - cells.y - cells.height) < 5, "down to the last square");
  // It opens on an early nudge, whose ripple dies on the way; a late one arrives.
  await page.getByText("nudge to unit 2 at step 3 of the RNN").first().waitFor();
  const reaches = byId(page, "bptt-reaches");
  await reaches.and(page.getByText("At the “?”, the ripple is less than 0.01% of the nudge: it does not arrive.")).waitFor();
  // What it does to the loss is lost in rounding, and slopes come later: no numbers yet.
  await byId(page, "bptt-too-little").and(page.getByText("At step 3, this nudge changes the loss at the “?” by too little to measure.")).waitFor();
  assert.equal(await byId(page, "bptt-nudged").count(), 0);
  const { scale, values } = await exported(page, "bptt-ripple");
  assert(Math.abs(Math.log10(scale[0]) + 4) < 1e-6 && Math.abs(scale[1] - 1) < 1e-6, `from ${scale[0]} to ${scale[1]}`);
  assert(values.flat().every((size) => size === null || size >= 0), "sizes");
  assert(values.every((unit) => unit.at(-1) < 1e-3), "none of it at the “?”");
  await drawn(page);
  await byId(page, "bptt-ripple-cells").focus();
  await page.keyboard.press("End");
  for (let step = 32; step > 29; step -= 1) await page.keyboard.press("ArrowLeft");
  await page.keyboard.press("Enter");
  await reaches.and(page.getByText(/^At the “\?”, the ripple is up to .+ the nudge: it arrives/)).waitFor();
  await byId(page, "bptt-nudged").waitFor();
  await page.locator("#chapter-title").focus();
  for (let beat = 0; beat < 2; beat += 1) await page.keyboard.press("PageDown");
  await live(page, "bptt-norms");
  await eventually(async () => Object.keys(await shares(page)).join() === "RNN");
  assert.equal((await byId(page, "bptt-formula").textContent()).trim(), "");
  assert.doesNotMatch(await byId(page, "bptt-seen").textContent(), /size of U/);
  await page.keyboard.press("PageDown");
  // In words first, whose numbers are on show.
  const words = byId(page, "bptt-in-words").and(page.getByText(/^Share left per step/));
  const [size, slope, product] = (await words.textContent()).match(/\d+\.\d\d/g).map(Number);
  assert(Math.abs(size * slope - product) <= 0.0051, `${size} × ${slope} = ${product}`);
  await saysWhatIsTrue(page, /vanishes/);
  // The table has the words and the numbers of the rule below it.
  assert((await byId(page, "bptt-seen").textContent()).includes(`size of U ${size.toFixed(2)}; mean slope of tanh ${slope.toFixed(2)}`));
});

test("both losses, each with its formula", async (t) => {
  const page = await open(t, "&idea=3");
  const before = await shares(page);
  const formula = byId(page, "bptt-formula").locator('[role="group"]').first();
  assert.match(await formula.getAttribute("aria-label"), /times the Jacobians J of steps T down to t/);
  await choose(page, "bptt-loss", "every");
  await byId(page, "bptt-formula").and(page.locator('[data-loss="every"]')).waitFor();
  assert.match(await formula.getAttribute("aria-label"), /plus D at the next step/);
  // Every step has a gradient of its own: much more is there at the symbol.
  await eventually(async () => (await shares(page)).RNN > 100 * before.RNN);
  // What comes from the last step is as small as it was.
  await eventually(async () => (await shares(page))["last step’s part"] === before.RNN);
});

test("rescaling U: radius 0 ends the curve at once, less dies faster, the RNN itself stays", async (t) => {
  const page = await open(t, "&bptt-shown=rnn");
  const before = await shares(page);
  // The beat that rescales it says to what, whatever is set now.
  assert.match(await byId(page, "beat-5").textContent(), /spectral radius, is 2\.5\./);
  await slide(page, "bptt-radius", 0);
  await page.getByText("U is all zeros").waitFor();
  assert.equal((await shares(page))["RNN at radius 0"], 0);
  await eventually(() => parameter(page, "bptt-rescale") === "1");
  await slide(page, "bptt-radius", 10);
  await eventually(async () => (await shares(page))["RNN at radius 0.5"] > 0);
  const half = (await shares(page))["RNN at radius 0.5"];
  await slide(page, "bptt-radius", 22);
  await eventually(async () => (await shares(page))["RNN at radius 1.1"] > 1e3 * half);
  // The rule beside the curves is about the one that was moved.
  await byId(page, "beat-5").locator(".beat-title").click();
  await byId(page, "control-bptt-radius").press("End");
  await byId(page, "bptt-in-words").and(page.getByText(/at radius 4, by a rule of thumb: .* = 4\.00 × /)).waitFor();
  assert.equal((await shares(page)).RNN, before.RNN);
});

test("the parts of a weight's gradient add up on screen, whichever weight is clicked", async (t) => {
  const page = await fresh(t);
  const check = async () => {
    // In one moment: another answer may come between two looks.
    const [terms, shown, swept] = await byId(page, "bptt-terms").evaluate((list) => {
      const text = (id) => document.querySelector(`[data-testid="${id}"]`).textContent;
      return [[...list.querySelectorAll(".bptt-term")].map((term) => term.textContent), text("bptt-sum"), text("bptt-whole")];
    });
    assert.equal(terms.length, 7, "the last six, and the others in one");
    const sum = terms.map(whole).reduce((sum, term) => sum + term, 0);
    assert.equal(sum, whole(shown));
    const backward = whole(swept);
    assert(Math.abs(sum - backward) <= 32, `${sum} and ${backward}`);
    return terms;
  };
  await openView(page, "weight");
  const first = await check();
  await live(page, "bptt-weights");
  await drawn(page);
  const cells = byId(page, "bptt-weights-cells");
  const box = await atRest(cells);
  await cells.click({ position: { x: box.width * 0.6, y: box.height * 0.5 } });
  await eventually(() => parameter(page, "bptt-from") !== null);
  await eventually(async () => (await check()).join() !== first.join());
  await choose(page, "bptt-cell", "lstm");
  await page.getByText(/^Weight from unit \d+ to unit \d+ of the LSTM$/).first().waitFor();
  await check();
});

test("a nudge by hand measures backpropagation's number, wherever it is; a large one does not", async (t) => {
  const page = await open(t, "&bptt-step=28&bptt-unit=2");
  await openView(page, "nudge");
  await live(page, "bptt-ripple");
  const nudged = byId(page, "bptt-nudged");
  const exact = async (name) => Number(await byId(page, `bptt-${name}`).getAttribute("data-value"));
  /** How far the slopes are apart, as a share of backpropagation's. */
  const apart = async () => {
    const swept = await exact("swept");
    return Math.abs(((await exact("measured")) - swept) / swept);
  };
  assert((await apart()) < 0.05, `${await apart()} apart`);
  // What is on show adds up.
  const [before, after, difference] = (await nudged.locator("dd").allTextContents()).map(whole);
  assert(Math.abs(after - before - difference) <= 1);
  // Another column is another step, and so the ripple begins elsewhere.
  await drawn(page);
  await byId(page, "bptt-ripple-cells").focus();
  await page.keyboard.press("End");
  await page.keyboard.press("Enter");
  await eventually(() => parameter(page, "bptt-step") === "32");
  await nudged.and(page.locator('[data-step="32"][data-unit="2"]')).waitFor();
  assert((await apart()) < 0.05, `${await apart()} apart at the last step`);
  await page.getByText("nudge to unit 2 at step 32").first().waitFor();
  const small = await apart();
  await byId(page, "control-bptt-nudge").focus();
  await page.keyboard.press("End");
  await nudged.and(page.locator('[data-nudge="1"]')).waitFor();
  assert((await apart()) > 10 * small, `${small}, then ${await apart()} apart`);
});

test("a finger nudges the square that it presses, and reads the slope there", async (t) => {
  const phone = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true };
  // From the beat on that explains slopes: before it those lost in rounding are not told.
  const page = await site.open(t, "?chapter=bptt&step=1&idea=1&bptt-step=28&bptt-unit=2", phone);
  await live(page, "bptt-ripple");
  await rested(page, 1);
  await drawn(page);
  const readout = byId(page, "bptt-ripple-readout");
  // Before the nudge and behind it: the sentences differ, the squares stay where they are.
  for (const [across, down] of [[0.6, 0.7], [0.9, 0.9]]) {
    const box = await atRest(byId(page, "bptt-ripple-cells"));
    await page.touchscreen.tap(box.x + across * box.width, box.y + down * box.height);
    const [unit, step] = await Promise.all(["row", "column"].map(async (side) => Number(await readout.getAttribute(`data-${side}`)) + 1));
    await byId(page, "bptt-nudged").and(page.locator(`[data-step="${step}"][data-unit="${unit}"]`)).waitFor();
    await readout.and(page.getByText(/^Loss change .* ÷ 0\.01 = slope /)).waitFor();
    assert.deepEqual(await atRest(byId(page, "bptt-ripple-cells")), box);
  }
});

test("the forget bias decides what comes back along the cell", async (t) => {
  const along = async (bias) => {
    const page = await fresh(t, `&bptt-shown=lstm&bptt-forget=${bias}`);
    const share = (await shares(page))["LSTM cell"];
    await page.close();
    return share;
  };
  const [none, three] = [await along(0), await along(3)];
  assert(three > 100 * none, `${none} with bias 0, ${three} with bias 3`);
});

test("truncation: exactly nothing before the cut, and less memory", async (t) => {
  const page = await fresh(t, "&bptt-truncation=10");
  assert.match(await byId(page, "bptt-seen").textContent(), /exactly 0 before step 31/);
  assert.equal((await shares(page)).RNN, 0);
  await openView(page, "memory");
  await live(page, "bptt-memory");
  assert.match(await byId(page, "bptt-memory-said").textContent(), /RNN 16 × 16 × 10 = 2560/);
});

test("clipping is shown where it acts", async (t) => {
  const page = await open(t, "&bptt-clip=0.05");
  await openView(page, "clipping");
  await live(page, "bptt-clipping");
  assert.match(await byId(page, "bptt-clipping-said").textContent(), /clipped to 0\.050/);
  assert.match(await byId(page, "bptt-clipping-said").textContent(), /as were (\d+) of the \1 steps/);
  const usual = await open(t, "&bptt-clip=1");
  await openView(usual, "clipping");
  await live(usual, "bptt-clipping");
  const { values: [before] } = await exported(usual, "bptt-clipping");
  const most = Math.max(...before.map(([, norm]) => norm)).toFixed(3);
  assert((await byId(usual, "bptt-clipping-said").textContent()).includes(`largest norm was ${most}.`));
});

test("what can't be shown is said, and the page goes on", async (t) => {
  const page = await site.open(t, "?chapter=bptt&bptt-gap=40");
  await page.getByText("A gap of 40 does not fit a sequence of 32").waitFor();
  await openSettings(page);
  // In one movement: the models of each gap on the way would be trained too.
  await byId(page, "control-bptt-gap").fill("10");
  await live(page, "bptt-norms");
  await rested(page, 50);
  await train(page, 60);
  const narrow = await open(t, "&bptt-hidden=4&bptt-from=20");
  await openView(narrow, "weight");
  assert.match(await byId(narrow, "bptt-missing").textContent(), /no unit 20 in networks of 4/);
});

test("the check is answered from the live networks", async (t) => {
  const page = await fresh(t);
  const { values: [rnn] } = await exported(page, "bptt-norms");
  const last = rnn.length;
  const step = rnn.findLast(([, share]) => share < 1e-3)?.[0] ?? 0;
  const part = [step > 0.75 * last, step > 0.25 * last, step > 0, true].indexOf(true);
  await byId(page, `check-bptt-option-${part}`).check();
  await byId(page, "check-bptt-submit").click();
  await byId(page, "check-bptt-verdict").and(page.locator('[data-right="true"]')).waitFor();
});

test("one idea after the other, and all of it by keyboard", async (t) => {
  const page = await begin(t);
  await page.locator("#chapter-title").focus();
  await page.keyboard.press("PageDown");
  // The ripple goes on to the last step, where the two slopes agree.
  await page.getByText("nudge to unit 2 at step 22 of the RNN").first().waitFor();
  await byId(page, "bptt-nudge-said").and(page.getByText("They agree.")).waitFor();
  // The division can be done with the digits on show.
  const [, , change, slope] = (await byId(page, "bptt-nudged").locator("dd").allTextContents()).map((text) => text.replace("−", "-"));
  if (!change.includes("·")) assert(Math.abs(Number(change) / 0.01 / Number(slope) - 1) < 0.005, `${change} ÷ 0.01 = ${slope}`);
  assert.match(await byId(page, "bptt-reaches").textContent(), /the ripple is up to .+% of the nudge: it arrives/);
  await page.keyboard.press("PageDown");
  await page.keyboard.press("PageDown");
  await eventually(async () => Object.keys(await shares(page)).join() === "RNN");
  await page.keyboard.press("PageDown");
  await page.keyboard.press("PageDown");
  await eventually(async () => (await shares(page))["RNN at radius 2.5"] > 100);
  await page.keyboard.press("PageUp");
  await byId(page, "bptt-formula").and(page.locator('[data-loss="every"]')).waitFor();
  assert(await byId(page, "control-bptt-loss-every").isChecked());
  await byId(page, "control-bptt-shown-all").focus();
  await page.keyboard.press("Space");
  await eventually(async () => Object.keys(await shares(page)).length === 4);
  await byId(page, "figure-bptt-norms").locator('[role="slider"]').focus();
  await page.keyboard.press("Home");
  assert.equal(await byId(page, "bptt-norms-readout").getAttribute("data-x"), "1");
  // Along the tabs to the weight.
  await byId(page, "view-norms").focus();
  for (let tab = 0; tab < 3; tab += 1) await page.keyboard.press("ArrowRight");
  await live(page, "bptt-weights");
  await byId(page, "bptt-weights-cells").focus();
  await drawn(page);
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("Enter");
  await eventually(() => parameter(page, "bptt-to") === "2" && parameter(page, "bptt-from") === "2");
  await byId(page, "train-step").focus();
  await page.keyboard.press("Enter");
  await numberUntil(page, "loss-step", (step) => step === 51, "51");
});

test("what the text says of the cell is of the networks with that bias; trained side by side, the RNN fails at a gap where LSTM and GRU do not", async (t) => {
  const page = await open(t, "&idea=7");
  const beat = byId(page, "beat-7");
  const arrives = async () => (await beat.textContent()).match(/At training step 50, the cell at the letter gets (about \d+ parts in a [a-z]+) of/)?.[1];
  await eventually(arrives);
  const [said, cell] = [await arrives(), (await shares(page))["LSTM cell"]];
  const name = { thousand: 1e3, million: 1e6, billion: 1e9 }[said.split(" ").at(-1)];
  assert(Math.abs(Number(said.match(/\d+/)[0]) / name / cell - 1) < 0.1, `${said}, and ${cell}`);
  await byId(page, "figure-bptt-norms").locator(".figure-title", { hasText: "(forget bias 0)" }).waitFor();
  // Another beat has other networks.
  await page.keyboard.press("PageDown");
  await live(page, "bptt-accuracy");
  await byId(page, "figure-bptt-accuracy").locator(".figure-title", { hasText: "(forget bias 1)" }).waitFor();
  await rested(page, 50);
  assert.equal(await arrives(), said);
  // Guessed before the networks are trained, and answered by them after.
  await byId(page, "check-bptt-near-option-0").check();
  const submit = byId(page, "check-bptt-near-submit");
  assert(await submit.isHidden());
  assert.match(await byId(page, "bptt-accuracy-said").textContent(), /may be due to chance/);
  const enough = byId(page, "bptt-enough");
  await enough.click();
  await rested(page, 1000);
  await enough.waitFor({ state: "hidden" });
  await eventually(async () => (await submit.getAttribute("aria-disabled")) === null);
  assert(await byId(page, "check-bptt-near-option-0").isChecked());
  await submit.click();
  const verdict = byId(page, "check-bptt-near-verdict").and(page.locator('[data-right="true"]'));
  const answers = (await verdict.textContent()).match(/Right answers at a gap of 30: RNN ([\d.]+)%, LSTM ([\d.]+)%, GRU ([\d.]+)%\./);
  const [rnn, lstm, gru] = answers.slice(1).map(Number);
  t.diagnostic(answers[0]);
  // The figure and the text read in the same digits.
  const read = await byId(page, "bptt-accuracy-readout").textContent();
  assert(answers.slice(1).every((share) => read.includes(`${share}%`)), `${read} ${answers[0]}`);
  assert(rnn < 60 && lstm >= 95 && gru >= 95, answers[0]);
  // Live: the curves moved with the training.
  await openView(page, "norms");
  await eventually(async () => (await shares(page)).RNN > 1e-5);
  // Nor does the text go on saying what was true before.
  await byId(page, "beat-3").locator(".beat-title").click();
  await eventually(async () => Object.keys(await shares(page)).join() === "RNN");
  await saysWhatIsTrue(page, /faint|does not vanish|grows/);
});

test("each view's figure is live and whole", async (t) => {
  const page = await open(t);
  const figures = {
    nudge: ["bptt-ripple"],
    accuracy: ["bptt-accuracy"],
    weight: ["bptt-weights", "bptt-weight"],
    copies: ["bptt-copies"],
    clipping: ["bptt-clipping"],
    memory: ["bptt-memory"],
    norms: ["bptt-norms"],
  };
  for (const [view, names] of Object.entries(figures)) {
    await openView(page, view);
    for (const name of names) await live(page, name);
    assert.equal(await page.locator(".view").count(), 1, "one view at a time");
    await drawn(page);
    const [wide, high] = await page.locator(".view").evaluate((view) => [
      view.scrollWidth - view.clientWidth,
      view.scrollHeight - view.clientHeight,
    ]);
    assert(wide <= 0 && high <= 0, `${view} is ${wide} and ${high} px too large`);
  }
});

