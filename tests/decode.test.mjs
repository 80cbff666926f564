// The chapter `decode`: from the model's shares to written text.
import assert from "node:assert/strict";

import {
  byId,
  chooseView,
  drawn,
  eventually,
  exported,
  HEAD_START,
  ledOn,
  live,
  noted,
  number,
  numberUntil,
  openSettings,
  parameter,
  settled,
  staysFree,
  test,
  train,
  useSite,
} from "./harness.mjs";

const site = useSite();
const SMALL = "&layers=2&heads=2&width=16&context=24&batch=4&workers=1";

/** Opens a view of the chapter and waits until its picture is of the model. */
async function open(t, view = "choose", query = SMALL, options = {}) {
  const page = await site.open(t, `?chapter=decode&view=${view}${query}`, options);
  await ledOn(page, Number(/&step=(\d+)/.exec(query)?.[1] ?? HEAD_START));
  await live(page, { choose: "decode" }[view] ?? view);
  await settled(page);
  return page;
}

/** A model that is hardly trained, where it is not about what it learned. */
const FRESH = `${SMALL}&step=1`;

const text = (page, id) => byId(page, id).textContent();
const sentence = (page) => byId(page, "probe-input").inputValue();
const sum = (numbers) => numbers.reduce((a, b) => a + b, 0);

/** What is exported of the figure, with its columns by name. */
async function table(page, name) {
  const { columns, rows } = await exported(page, name);
  return rows.map((row) => Object.fromEntries(columns.map((column, at) => [column, row[at]])));
}

/** Sets a slider to a number, as a hand would. */
async function slide(page, name, value) {
  await byId(page, `control-${name}`).fill(String(value));
  await settled(page);
}

/** The shares of temperature, top k, top p and min p, worked out anew from the logits. */
function worked(logits, { temperature, topk, topp, minp }) {
  const largest = Math.max(...logits);
  let kept = logits.map((logit, id) => ({ id, weight: Math.exp((logit - largest) / temperature) }));
  kept.sort((a, b) => b.weight - a.weight || a.id - b.id);
  if (topk) kept = kept.slice(0, topk);
  const total = sum(kept.map(({ weight }) => weight));
  let before = 0;
  kept = kept.filter(({ weight }, at) => {
    const stays = at === 0 || before / total < topp;
    before += weight;
    return stays;
  });
  kept = kept.filter(({ weight }) => weight >= minp * kept[0].weight);
  const whole = sum(kept.map(({ weight }) => weight));
  const shares = logits.map(() => 0);
  for (const { id, weight } of kept) shares[id] = weight / whole;
  return shares;
}

test("shares follow from the logits, under every cut", async (t) => {
  const page = await open(t, "choose", `${FRESH}&temperature=1`);
  await train(page, 31);
  await settled(page);
  const settings = { temperature: 1, topk: 0, topp: 1, minp: 0 };
  for (const [name, value] of [["temperature", 0.5], ["topk", 7], ["topp", 0.8], ["minp", 0.3]]) {
    settings[name] = value;
    await slide(page, name, value);
    const rows = await table(page, "decode");
    const expected = worked(rows.map((row) => row.logit), settings);
    rows.forEach((row, at) => assert(Math.abs(row.drawn_with - expected[at]) < 1e-5, `${name}: ${row.character}`));
    assert(Math.abs(sum(rows.map((row) => row.share)) - 1) < 1e-5);
    assert(Math.abs(sum(rows.map((row) => row.drawn_with)) - 1) < 1e-5);
    const kept = rows.filter((row) => row.drawn_with > 0).length;
    assert.match(await text(page, "decode-note"), new RegExp(`^(${kept}|All ${kept}) character`));
  }
  await eventually(() => /temperature=0.5.*topk=7.*topp=0.8.*minp=0.3/.test(page.url()), "the link has them");
});

test("a model that nobody has trained takes its first steps by itself, and is not kept for them", async (t) => {
  const page = await open(t);
  const hint = `The first ${HEAD_START} training steps were done for you.`;
  assert.equal(await text(page, "warmed"), hint);
  // It is at hand still: another one takes its place at once, and its first steps.
  await openSettings(page);
  const became = await noted(page, "loss-step");
  await byId(page, "control-layers").fill("1");
  await byId(page, "control-layers").press("Enter");
  await became((step) => step < HEAD_START, "less");
  await ledOn(page);
  assert.equal(await text(page, "warmed"), hint);
  assert.equal(await byId(page, "bring-back").count(), 0, "there is nothing to go back to");
  const step = await train(page, HEAD_START + 10);
  await page.locator('[data-testid="kept-run"]', { hasText: `step ${step},` }).waitFor();
  assert.equal(await byId(page, "kept-run").count(), 1, "what nobody trained is not kept");
  await byId(page, "control-layers").fill("2");
  await byId(page, "control-layers").press("Enter");
  await byId(page, "start-over").getByText("Start over with them").waitFor();
  assert.equal(await number(page, "loss-step"), step, "what was trained stays");
});

test("the lab begins with its writing, also of a model that is trained, and with what that wrote before", async (t) => {
  const page = await open(t);
  await byId(page, "chapter-next").click();
  await byId(page, "chapter-gpt").waitFor();
  await eventually(() => parameter(page, "view") === "writing", "the first beat's view");
  assert.equal(await number(page, "loss-step"), HEAD_START);
  assert.equal(await byId(page, "drafts").locator(".draft-step").first().textContent(), "untrained");
  // And decoding with the model's own shares, whichever way one comes.
  await page.goto(`${site.url}?chapter=machine${SMALL}`);
  await ledOn(page);
  await byId(page, "chapter-next").click();
  await byId(page, "chapter-decode").waitFor();
  const temperature = byId(page, "control-temperature");
  assert.equal(await temperature.inputValue(), "1");
  await slide(page, "temperature", 0.8);
  await eventually(() => parameter(page, "temperature") === "0.8", "the link says what differs");
  await page.reload();
  await live(page, "decode");
  assert.equal(await temperature.inputValue(), "0.8");
  for (const [idea, value] of [["", "1"], ["&idea=3", "0.5"], ["&idea=3&temperature=0.7", "0.7"]]) {
    await page.goto(`${site.url}?chapter=decode${SMALL}${idea}`);
    await live(page, "decode");
    assert.equal(await temperature.inputValue(), value, idea);
  }
});

test("in the beat about cuts a top k of 5 leaves five", async (t) => {
  const page = await site.open(t, `?chapter=decode${FRESH}&idea=4`);
  await live(page, "decode");
  await slide(page, "topk", 5);
  await eventually(async () => (await text(page, "decode-note")).startsWith("5 characters of"), "five are left");
});

test("one press writes the character that the number falls on", async (t) => {
  const page = await open(t, "choose", `${FRESH}&temperature=1`);
  const typed = await sentence(page);
  for (let i = 0; i < 3; i++) {
    const before = await sentence(page);
    const [chosen] = (await table(page, "decode")).filter((row) => row.chosen);
    await byId(page, "decode-write").click();
    await eventually(async () => (await sentence(page)) === before + chosen.character, "it is written");
    await settled(page);
    const marked = await page.locator(".decode-bar").evaluate((bar) => Number(bar.style.getPropertyValue("--written")));
    // Of what was written only the last line is marked.
    assert.equal(marked, (await sentence(page)).slice(typed.length).split("\n").at(-1).length);
    const note = await text(page, "decode-note");
    const [number, from, to] = [...note.matchAll(/0\.\d{4}|1\.0000/g)].map((match) => Number(match[0]));
    assert(number >= from - 1e-4 && number <= to + 1e-4, note);
    assert(Math.abs(to - from - chosen.drawn_with) < 2e-4, note);
  }
  // Another series of numbers, which the link holds; greedy needs none.
  const numbers = new Set();
  for (let i = 0; i < 4; i++) {
    await byId(page, "decode-draw-again").click();
    await settled(page);
    numbers.add((await table(page, "decode")).findIndex((row) => row.chosen));
  }
  assert(numbers.size > 1, "other numbers fall on others");
  await eventually(() => page.url().includes("decode-draw=5"), "the link has the series");
  await slide(page, "temperature", 0);
  const rows = await table(page, "decode");
  assert.deepEqual(rows.map((row) => row.drawn_with), [1, ...Array(rows.length - 1).fill(0)]);
  assert(rows[0].chosen);
});

test("what is written is seen, however long the sentence is", async (t) => {
  const page = await open(t, "choose", `${FRESH}&temperature=1`);
  const beyond = () => byId(page, "probe-input").evaluate(({ parentElement: strip }) => ({
    before: strip.scrollLeft, after: strip.scrollWidth - strip.clientWidth - strip.scrollLeft,
  }));
  const atEnd = async () => {
    const { before, after } = await beyond();
    return before > 0 && after < 2;
  };
  const typed = "the cat sat on the mat and ".repeat(4);
  await byId(page, "probe-input").fill(typed);
  await settled(page);
  // One who edits it stays where the caret is.
  await byId(page, "probe-input").press("Home");
  await page.keyboard.type("x");
  await settled(page);
  assert((await beyond()).before < 20, "the beginning is seen");
  await byId(page, "decode-write").click();
  await eventually(async () => (await sentence(page)).length > typed.length + 1, "it is written");
  await eventually(atEnd, "the end is seen");
  await chooseView(page, "beside");
  await eventually(atEnd, "in another view too");
});

test("on a phone no picture makes its view grow, and the sliders stay in sight", async (t) => {
  const page = await open(t, "choose", FRESH, { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true });
  for (const view of ["choose", "beside", "tree", "surprise", "cache"]) {
    await chooseView(page, view);
    await live(page, { choose: "decode" }[view] ?? view);
    await settled(page);
    const height = () => page.evaluate(() => document.querySelector(".view").scrollHeight);
    // A picture that has its height from its room, and gives it, grows in each frame.
    const heights = [];
    for (let i = 0; i < 12; i++) {
      await drawn(page);
      heights.push(await height());
    }
    assert.equal(heights.at(-1), heights[4], `${view}: ${heights}`);
  }
  await chooseView(page, "choose");
  await live(page, "decode");
  await settled(page);
  const ends = () => page.evaluate(() => {
    const box = (selector) => document.querySelector(selector).getBoundingClientRect();
    const [view, strip] = [box(".view"), box(".probe-strip")];
    const sliders = [...document.querySelectorAll(".decode-side input")].map((slider) => slider.getBoundingClientRect());
    return { foot: view.bottom, wide: strip.width / view.width, first: sliders[0].top, last: sliders.at(-1).bottom };
  });
  const { foot, wide, first, last } = await ends();
  assert(last <= foot && first > foot - 120, "at the foot");
  assert(wide > 0.9, "and the sentence has a line");
  await page.evaluate(() => document.querySelector(".view").scrollTo(0, 80));
  assert.equal((await ends()).last, last, "also where it scrolls");
});

test("on a phone the line that is drawn on is above the sliders where the story tells of it", async (t) => {
  const page = await site.open(t, `?chapter=decode${FRESH}&idea=2`, { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true });
  await live(page, "decode");
  for (const [width, height] of [[390, 844], [320, 640]]) {
    await page.setViewportSize({ width, height });
    // The line is at the foot of the picture.
    await eventually(() => page.evaluate(() => {
      const box = (selector) => document.querySelector(selector).getBoundingClientRect();
      const [picture, sliders] = [box('[data-testid="decode-picture"]'), box(".decode-side")];
      return picture.bottom <= sliders.top + 4 && picture.bottom > sliders.top - 60;
    }), `the line is in sight at ${width}`);
  }
});

test("the picture is read by keyboard alone", async (t) => {
  const page = await open(t, "choose", FRESH);
  await byId(page, "decode-picture").focus();
  await eventually(async () => (await text(page, "decode-readout")).includes("logit"), "the first row is read");
  const seen = new Set();
  for (let i = 0; i < 4; i++) {
    seen.add(await text(page, "decode-readout"));
    await page.keyboard.press("ArrowDown");
    await drawn(page);
  }
  assert.equal(seen.size, 4);
  await page.keyboard.press("End");
  await eventually(async () => (await text(page, "decode-readout")).includes("stretch"), "the line is read");
});

test("seven ways go on with the same sentence, and the same link writes the same", async (t) => {
  const done = async (page) => {
    let rows;
    await eventually(async () => {
      const idle = (await byId(page, "decode-beside").getAttribute("data-busy")) === "false";
      rows = await table(page, "beside");
      return idle && rows.length === 7 * 80;
    }, "all are written");
    const ways = {};
    for (const row of rows) (ways[row.text] ??= []).push(row);
    return ways;
  };
  const page = await open(t, "beside", `${SMALL}&step=30&temperature=0.8`);
  await eventually(async () => (await text(page, "decode-step")).includes("step 30"), "of the trained model");
  const ways = await done(page);
  assert.equal((await text(page, "decode-step")).trim(), "Written after step 30.");
  assert.deepEqual(Object.keys(ways), ["Greedy (0)", "Cool (0.5)", "Unchanged (1)", "Hot (1.6)", "Top k 5", "Top p 0.9", "Yours"]);
  const mean = (rows) => sum(rows.map((row) => row.surprise)) / rows.length;
  assert(mean(ways["Greedy (0)"]) < mean(ways["Unchanged (1)"]), "greedy is less surprising");
  assert(mean(ways["Unchanged (1)"]) < mean(ways["Hot (1.6)"]), "hot is more surprising");
  await page.close();
  const again = await open(t, "beside", `${SMALL}&step=30&temperature=0.8`);
  await eventually(async () => (await text(again, "decode-step")).includes("step 30"), "of the trained model");
  assert.deepEqual(await done(again), ways);
  await byId(again, "decode-again").click();
  await eventually(async () => {
    const other = await done(again);
    const written = (rows) => rows.map((row) => row.character).join("");
    return written(other["Unchanged (1)"]) !== written(ways["Unchanged (1)"]) &&
      written(other["Greedy (0)"]) === written(ways["Greedy (0)"]);
  }, "other numbers change what is drawn, not what is greedy");
});

test("the tree multiplies its shares, opens and closes, and compares the searches", async (t) => {
  const page = await open(t, "tree", `${SMALL}&step=30`);
  await train(page, 31);
  await settled(page);
  const nodes = await table(page, "tree");
  const by = new Map(nodes.map((node) => [node.continuation, node]));
  for (const node of nodes) {
    const parts = [...node.continuation].map((_, at) => by.get([...node.continuation].slice(0, at + 1).join("")).share);
    assert(Math.abs(parts.reduce((a, b) => a * b, 1) - node.probability) < 1e-5 * Math.max(node.probability, 1e-3), node.continuation);
  }
  const ranked = nodes.filter((node) => [...node.continuation].length === 6 && node.rank);
  assert.deepEqual(ranked.map((node) => node.rank).sort(), [1, 2, 3]);
  assert.match(await text(page, "tree-note"), /^Greedy finds “.{6,}”, probability .* Beam search with 3 beams finds “/);
  // A closed node is opened with Enter, and closed again.
  const picture = byId(page, "tree-picture");
  await picture.focus();
  await page.keyboard.press("End");
  await drawn(page);
  await page.keyboard.press("Enter");
  await eventually(async () => (await table(page, "tree")).length === nodes.length + 5, "five branches more");
  await slide(page, "decode-beams", 1);
  await eventually(async () => (await text(page, "tree-note")).startsWith("One beam is greedy"), "greedy");
  // It goes back in the sentence to where the searches differ, or to where it began.
  await slide(page, "decode-beams", 3);
  const whole = await sentence(page);
  await byId(page, "decode-differ").click();
  const said = /^(Your sentence is cut after “.+”: there|After your whole sentence) the two differ\.|every beginning/;
  await eventually(async () => said.test(await text(page, "tree-note")), "a difference, or none");
  assert(whole.startsWith(await sentence(page)));
  // One sees which search goes which way.
  await eventually(async () => {
    const drawn = await picture.textContent();
    return drawn.includes("both") || (drawn.includes("greedy") && drawn.includes("beam"));
  }, "the ends have names");
  // What it cut is there again in other views.
  await chooseView(page, "beside");
  await eventually(async () => (await sentence(page)) === whole, "the whole sentence");
});

test("a link to a step is not run over by the steps that a model takes by itself", async (t) => {
  for (let i = 0; i < 2; i++) {
    const page = await site.open(t, `?chapter=decode&view=surprise${SMALL}&step=1`);
    // The slower the page, the more happens between the engine's messages.
    const session = await page.context().newCDPSession(page);
    await session.send("Emulation.setCPUThrottlingRate", { rate: 4 });
    await ledOn(page, 1);
    await live(page, "surprise");
    await settled(page);
    assert.equal(await number(page, "loss-step"), 1);
    await page.close();
  }
});

test("any text is read with the surprise of each character", async (t) => {
  const page = await open(t, "surprise", `${SMALL}&step=1`);
  await byId(page, "decode-text").fill("the cat sat on the mat, the cat sat on the mat");
  await eventually(async () => (await table(page, "surprise")).length === 46, "the text is read");
  const rows = await table(page, "surprise");
  assert.equal(rows[0].surprise, null);
  const surprises = rows.slice(1).map((row) => row.surprise);
  const mean = sum(surprises) / surprises.length;
  const note = await text(page, "surprise-note");
  assert(note.startsWith(`Mean surprise ${mean.toFixed(3)} nats`), `${mean}: ${note}`);
  assert.match(note, /Perplexity \d+\.\d\d:.*at least 12 characters before it, or all/);
  // Training makes the lab's own text less surprising.
  const begin = mean;
  await train(page, 60);
  await settled(page);
  const after = (await table(page, "surprise")).slice(1).map((row) => row.surprise);
  assert(sum(after) / after.length < begin);
  // Too much, odd, and nothing.
  await byId(page, "decode-text").fill("emoji 🙂 ".repeat(400));
  await eventually(async () => (await text(page, "surprise-note")).includes("Only the first 1000 characters"), "a long text");
  await byId(page, "decode-text").fill("");
  await eventually(async () => (await text(page, "surprise-note")).includes("There is no text"), "an empty text");
  // The picture of the text before goes with it, and another one comes.
  await page.locator('[data-testid="figure-surprise"][data-state="empty"]').waitFor();
  await byId(page, "decode-text").fill("the cat");
  await eventually(async () => (await table(page, "surprise")).length === 7, "the text is read");
});

test("a cache leaves one row to compute, until the context is full", async (t) => {
  const page = await open(t, "cache", FRESH);
  await byId(page, "probe-input").fill("the cat");
  await eventually(async () => (await table(page, "cache")).length === 7, "seven rows");
  let rows = await table(page, "cache");
  assert.deepEqual(rows.map((row) => row.state), [...Array(6).fill("kept"), "computed"]);
  assert(Math.abs(sum(rows.map((row) => row.weight)) - 1) < 1e-5);
  const note = await text(page, "cache-note");
  assert.match(note, /^One row is computed\. The keys and values of the 6 characters before it are read/);
  const [less, more] = [...note.matchAll(/[\d,]{4,}/g)].map((match) => Number(match[0].replaceAll(",", "")));
  assert(less * 4 < more, note);
  // Keys that were kept stay as they were, bit for bit of what is shown, when another character comes.
  const keys = rows.map((row) => row.key_1);
  // What is written is of another answer than the rows are.
  await settled(page);
  await byId(page, "decode-write-cached").click();
  await eventually(async () => (await table(page, "cache")).length === 8, "one more");
  rows = await table(page, "cache");
  rows.slice(0, 7).forEach((row, at) => assert(Math.abs(row.key_1 - keys[at]) < 1e-5));
  await byId(page, "probe-input").fill("the cat sat on the mat and the dog");
  await eventually(async () => (await text(page, "cache-note")).startsWith("The context is full"), "full");
  rows = await table(page, "cache");
  assert.deepEqual(rows.map((row) => row.state), Array(24).fill("computed"));
  await byId(page, "decode-race").click();
  await eventually(async () => /With the cache \d+ characters a second, without it \d+: /.test(await text(page, "cache-note")), "measured");
  // A model that looks ahead has nothing to keep.
  await page.goto(`${site.url}?chapter=decode&view=cache&attends=full${FRESH}`);
  await eventually(async () => (await text(page, "cache-note")).includes("choose a causal mask"), "why not");
});

test("no task of the page takes 50 ms while each view follows the training", async (t) => {
  const page = await open(t, "choose", FRESH, { own: true });
  await byId(page, "train-toggle").click();
  await staysFree(t, site, page, async () => {
    for (const view of ["beside", "tree", "surprise", "cache", "choose"]) {
      // In training its pictures are of the last step for moments only: they are not waited for.
      await chooseView(page, view);
      await live(page, { choose: "decode" }[view] ?? view);
      const from = await number(page, "loss-step");
      await numberUntil(page, "loss-step", (step) => step > from + 20, "20 more");
    }
  });
});

/** The grounds of a drawing's tokens: left and right edges by the line that they stand in. */
const grounds = (page, name) => byId(page, `${name}-picture`).evaluate((picture) => {
  const all = [...picture.querySelectorAll("path.grounds")].flatMap((path) => path.getAttribute("d").match(/M[^z]*z/g));
  return all.map((path) => {
    const [, x, y, across, round] = path.match(/^M([\d.]+) ([\d.]+)h([\d.]+)q([\d.]+)/).map(Number);
    return { left: x - round, right: x + across + round, y };
  }).sort((a, b) => a.y - b.y || a.left - b.left);
});

test("where tokens need not be characters, one sees where each ends", async (t) => {
  const page = await open(t, "choose", `${SMALL}&tokens=pairs&merges=64&step=20`);
  const tokens = byId(page, "probe-tokens").locator(".tint");
  const typed = "the fox 狐🦊 and\nthe";
  await byId(page, "probe-input").fill(typed);
  await settled(page);
  // Of a character that its text never has, each byte is a token: they share one ground, in stripes.
  await eventually(async () => (await tokens.allTextContents()).join("") === typed, "all is on grounds");
  const shown = await tokens.allTextContents();
  assert(shown.length > 4 && shown.length < [...typed].length, `${shown}`);
  assert(shown.includes("狐") && shown.includes("🦊"), `${shown}`);
  const ground = (text) => tokens.filter({ hasText: text }).first().evaluate((token) => token.style.background);
  assert.match(await ground("🦊"), /linear-gradient/);
  // The letters of the ground are where those of the field are, so the field is as wide.
  const [field, under] = await Promise.all([byId(page, "probe-input"), byId(page, "probe-tokens")].map((part) => part.boundingBox()));
  assert(Math.abs(field.x - under.x) < 1 && Math.abs(field.width - under.width) < 1, JSON.stringify([field, under]));
  // What is typed is there at once, and no token before it moves.
  await byId(page, "probe-input").press("End");
  await page.keyboard.type("!");
  assert.equal((await byId(page, "probe-tokens").textContent()).replace("\u200b", ""), `${typed}!`);

  for (const [view, name, least] of [["choose", "decode", 5], ["surprise", "surprise", 40], ["cache", "cache", 8], ["tree", "tree", 8]]) {
    await chooseView(page, view);
    await live(page, name);
    await settled(page);
    await eventually(async () => (await grounds(page, name)).length >= least, `grounds in ${view}`);
    const all = await grounds(page, name);
    for (const [at, ground] of all.entries()) {
      const next = all[at + 1];
      if (next?.y === ground.y) assert(next.left > ground.right + 0.5, `${view}: a gap after ${JSON.stringify(ground)}`);
    }
  }
});

test("where each token is a character, nothing is colored", async (t) => {
  const page = await open(t, "surprise", FRESH);
  assert.deepEqual(await grounds(page, "surprise"), []);
  await chooseView(page, "tree");
  await live(page, "tree");
  assert.deepEqual(await grounds(page, "tree"), []);
  assert.equal(await byId(page, "probe-tokens").count(), 0);
});
