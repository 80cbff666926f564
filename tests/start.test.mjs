// The chapter before the first: drawings that are moved by hand, and what is worked out from them.
import assert from "node:assert/strict";

import {
  accessibilityProblems,
  asNumber,
  atRest,
  byId,
  drawn,
  eventually,
  live,
  openView,
  parameter,
  settled,
  test,
  useSite,
} from "./harness.mjs";

const site = useSite();

async function opened(t, view = "arrows", query = "") {
  const page = await site.open(t, `?chapter=start&view=${view}${query}`);
  await byId(page, "chapter-start").waitFor();
  await live(page, { arrows: "arrows", matrix: "matrix", shares: "shares", slope: "slope", chain: "chain", valley: "valley" }[view]);
  await settled(page);
  return page;
}

/** The sums of a drawing, by name. */
const lines = (page, board) =>
  byId(page, `${board}-lines`).evaluate((list) =>
    Object.fromEntries([...list.querySelectorAll("dt")].map((name) => [name.textContent, name.nextElementSibling.textContent])),
  );

/** What a line comes to, with a true minus sign read as one. */
const result = (line) => asNumber(line.split("=").at(-1).replaceAll("−", "-"));

/** The lists as they stand at the tips of their arrows. */
const listsOf = async (page) => {
  const texts = await written(page, "arrows");
  return ["a", "b"].map((name) =>
    JSON.parse(texts.find((text) => text.startsWith(`${name} = [`)).slice(4).replaceAll("−", "-")),
  );
};

/** What is written in a drawing. */
const written = (page, board) => byId(page, `${board}-picture`).locator("text").allTextContents();

/** Moves a slider to `value`, as a hand on the keyboard or the mouse does. */
const put = (page, board, knob, value) => byId(page, `${board}-knob-${knob}`).fill(String(value));

/** Drags the grip with this number by so many pixels. */
async function drag(page, board, grip, [dx, dy]) {
  const dot = page.locator(`[data-testid="${board}-picture"] [data-grip="${grip}"] .grip-dot`);
  const box = await atRest(dot);
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  await page.mouse.move(x, y);
  await page.mouse.down();
  await page.mouse.move(x + dx / 2, y + dy / 2);
  await page.mouse.move(x + dx, y + dy);
  await page.mouse.up();
  await drawn(page);
}

test("it needs no model: no engine starts, and nothing waits for one", async (t) => {
  const page = await opened(t);
  assert.equal(page.workers().length, 0);
  assert.equal(await byId(page, "time-bar").count(), 0);
  assert.equal(await byId(page, "settings-open").count(), 0);
  // A chapter with a model opens from it as from any other.
  await byId(page, "chapter-next").click();
  await byId(page, "chapter-tokens").waitFor();
  await byId(page, "time-bar").waitFor();
});

test("an arrow's tip is dragged, and the dot product is the sum of the products", async (t) => {
  const page = await opened(t, "arrows", "&start-shows=product");
  // Undo knows of what changes once it is there; it is fetched behind the first picture.
  await byId(page, "undo").waitFor();
  assert.equal((await lines(page, "arrows"))["a · b"], "3.0 × 1.0 + 1.0 × 2.5 = 5.50");
  await drag(page, "arrows", 0, [-60, 45]);
  const [a, b] = await listsOf(page);
  assert(a[0] < 3 && a[1] < 1, `a is ${a}`);
  assert.deepEqual(b, [1, 2.5]);
  const after = await lines(page, "arrows");
  assert(Math.abs(result(after["a · b"]) - (a[0] * b[0] + a[1] * b[1])) < 0.0051);
  // One press of undo takes the whole drag back.
  await byId(page, "undo").click();
  await eventually(async () => String((await listsOf(page))[0]) === "3,1");
});

test("a finger drags a point all the way, and scrolls nothing", async (t) => {
  const phone = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true };
  for (const [view, grip, [dx, dy]] of [
    ["arrows", 0, [-130, 75]],
    ["matrix", 3, [-110, -60]],
    ["chain", 1, [0, 60]],
    ["valley", 5, [150, 0]],
  ]) {
    const page = await site.open(t, `?chapter=start&view=${view}`, phone);
    await live(page, view);
    await settled(page);
    const dot = page.locator(`[data-testid="${view}-picture"] [data-grip="${grip}"] .grip-dot`);
    const box = await atRest(dot);
    const at = (share) => [{ x: box.x + box.width / 2 + share * dx, y: box.y + box.height / 2 + share * dy }];
    const touches = await page.context().newCDPSession(page);
    const send = (type, touchPoints) => touches.send("Input.dispatchTouchEvent", { type, touchPoints });
    await send("touchStart", at(0));
    for (let move = 1; move <= 10; move += 1) await send("touchMove", at(move / 10));
    await send("touchEnd", []);
    const end = await atRest(dot);
    // A valley's start goes on along the curve, and a number has one decimal.
    const [x, y] = [end.x - box.x - dx, view === "valley" ? 0 : end.y - box.y - dy];
    assert(Math.hypot(x, y) < 8, `${view}: ${x}, ${y} from the finger`);
    const scrolled = await dot.evaluate((dot) => {
      let sum = 0;
      for (let part = dot; part; part = part.parentElement) sum += part.scrollTop;
      return sum;
    });
    assert.equal(scrolled, 0, view);
  }
});

test("how an arrow is walked stands at it, and a sum stands at its own", async (t) => {
  const page = await opened(t);
  const texts = await written(page, "arrows");
  for (const text of ["3 across", "1 up", "1 across", "2.5 up", "a = [3, 1]", "b = [1, 2.5]"]) {
    assert(texts.includes(text), `${text} in ${texts}`);
  }
  await put(page, "arrows", 0, -2);
  await eventually(async () => (await written(page, "arrows")).includes("−2 across"));
  const sum = await opened(t, "arrows", "&start-shows=sum");
  assert.match(await byId(sum, "figure-arrows").textContent(), /^The sum of two lists/);
  assert((await written(sum, "arrows")).includes("a + b = [4, 3.5]"));
});

test("a right angle gives 0, and what is asked of the arrows is about them", async (t) => {
  const page = await opened(t, "arrows", "&idea=3");
  await put(page, "arrows", 0, 2);
  await put(page, "arrows", 1, 0);
  await put(page, "arrows", 2, 0);
  await eventually(async () => result((await lines(page, "arrows"))["a · b"]) === 0);
  assert.match(await byId(page, "arrows-says").textContent(), /90°, a right angle/);
  await put(page, "arrows", 2, -1.5);
  await eventually(async () => result((await lines(page, "arrows"))["a · b"]) === -3);
  const check = byId(page, "check-start-flip");
  await eventually(async () => /is −3.00/.test(await check.textContent()));
  await byId(page, "check-start-flip-option-0").check();
  await byId(page, "check-start-flip-submit").click();
  await eventually(async () => /change their sign/.test(await check.textContent()));
});

test("on a phone the sum and the rate are in sight under their drawings", async (t) => {
  for (const [view, query, part] of [
    ["arrows", "&idea=3", "arrows-lines"],
    ["valley", "&idea=9", "valley-knob-6"],
  ]) {
    const page = await opened(t, view, query);
    await page.setViewportSize({ width: 390, height: 844 });
    const stage = page.locator("#stage-view");
    await eventually(async () => {
      const [box, room] = [await byId(page, part).boundingBox(), await stage.boundingBox()];
      return box.y + box.height <= room.y + room.height + 1;
    });
  }
});

test("an input moves every answer of a matrix, a row only its own", async (t) => {
  const page = await opened(t, "matrix");
  const answers = async () => Object.values(await lines(page, "matrix")).map(result);
  const before = await answers();
  assert.deepEqual(before, [2.5, 0, -0.5]);
  // As a grid, too: its rows, x, and the answers.
  const grid = (await written(page, "matrix")).join(" ");
  for (const row of ["1 1.5 −0.5 2.50", "2 −1.0 2.0 0.00", "3 0.5 −1.5 −0.50"]) assert(grid.includes(row), grid);
  await drag(page, "matrix", 1, [30, -30]);
  const row = await answers();
  assert.deepEqual(row.map((value, i) => value === before[i]), [true, false, true]);
  await drag(page, "matrix", 3, [-40, -25]);
  assert((await answers()).every((value, i) => value !== row[i]), "all three move");
  // A phone leaves the plane most of the stage.
  await page.setViewportSize({ width: 390, height: 844 });
  await eventually(async () => (await byId(page, "matrix-picture").boundingBox()).height > 320);
});

test("shares add up to one, and only differences between scores count", async (t) => {
  const page = await opened(t, "shares");
  const shares = async () => {
    const all = await lines(page, "shares");
    return ["e", "a", "o", "z"].map((letter) => result(all[`share of ${letter}`]));
  };
  const before = await shares();
  assert.deepEqual(before, [64.4, 23.7, 8.7, 3.2]);
  await byId(page, "shares-up").click();
  await eventually(async () => /20.09/.test((await lines(page, "shares")).sum));
  assert.deepEqual(await shares(), before);
  await byId(page, "shares-up").click();
  await eventually(() => byId(page, "shares-up").isDisabled());
  assert.deepEqual(await shares(), before);
  // Each power stands under its score, and where a share has room its letter is in it.
  const places = await byId(page, "shares-picture").evaluate((picture) =>
    [...picture.querySelectorAll("text")].map((text) => [text.textContent, text.getAttribute("x")]),
  );
  const at = Object.fromEntries(places);
  for (const [score, power] of [["4.0", "54.60"], ["3.0", "20.09"]]) {
    assert(score in at && power in at, String(places));
    assert.equal(at[score], at[power]);
  }
  assert("e 64.4%" in at && "z 3.2%" in at, String(places));
  assert.match(await byId(page, "shares-says").textContent(), /“e” has the largest share/);
  for (let letter = 0; letter < 4; letter += 1) await put(page, "shares", letter, 0);
  await eventually(async () => /All four letters have the same share, 25\.0%/.test(await byId(page, "shares-says").textContent()));
  for (const [letter, score] of [4, 3, 2, 1].entries()) await put(page, "shares", letter, score);
  await put(page, "shares", 3, 3);
  await eventually(async () => (await shares())[3] > 10);
  const after = await shares();
  assert(Math.abs(after.reduce((sum, share) => sum + share, 0) - 100) < 0.21, String(after));
  assert(after.slice(0, 3).every((share, i) => share < before[i]), "the others shrink");
});

test("rise over run comes to the slope as the nudge shrinks", async (t) => {
  const page = await opened(t, "slope");
  const read = async () => {
    const all = await lines(page, "slope");
    return [result(all["rise / nudge"]), result(all["slope at w"])];
  };
  assert.deepEqual(await read(), [2, 1]);
  await put(page, "slope", 1, 0.01);
  await eventually(async () => (await read())[0] === 1.01);
  await drag(page, "slope", 1, [-120, 0]);
  const [, slope] = await read();
  assert(slope < 1, `the slope is ${slope}`);
});

test("the slopes of a chain multiply", async (t) => {
  const page = await opened(t, "chain");
  assert.equal(result((await lines(page, "chain"))["after link 4"]), -0.54);
  for (let link = 0; link < 4; link++) await put(page, "chain", link, 1.5);
  await eventually(async () => result((await lines(page, "chain"))["after link 4"]) === 5.0625);
  const texts = await written(page, "chain");
  const row = ["1", "1.5", "2.25", "3.375", "5.0625"];
  assert.deepEqual(texts.filter((text) => row.includes(text)), [...row, "1"], "in the order of the chain, then the line at 1");
  await drag(page, "chain", 0, [0, 400]);
  await eventually(async () => result((await lines(page, "chain"))["after link 1"]) < 0);
});

test("a step goes where the line before it says, and a walk rests in a valley", async (t) => {
  const page = await opened(t, "valley");
  const place = async () => result((await lines(page, "valley"))["place w"]);
  for (let step = 1; step <= 3; step++) {
    const next = result((await lines(page, "valley"))["next w"]);
    await byId(page, "valley-step").click();
    await eventually(async () => result((await lines(page, "valley")).steps) === step);
    assert(Math.abs((await place()) - next) < 0.0011, `${await place()} is not ${next}`);
  }
  await byId(page, "valley-walk").click();
  await eventually(async () => result((await lines(page, "valley")).steps) === 103);
  assert.match(await byId(page, "valley-says").textContent(), /rests, but not in the deepest/);
  await eventually(() => parameter(page, "start-steps") === "103");
  // Another start is another walk, as long as this.
  await put(page, "valley", 5, 1.9);
  await eventually(async () => /in the deepest place/.test(await byId(page, "valley-says").textContent()));
  await byId(page, "back-to-start").click();
  await eventually(async () => parameter(page, "start-steps") === null);
});

test("a word's note leads to the drawing it is about, and back goes the browser's button", async (t) => {
  const page = await site.open(t, "?chapter=bigram&idea=5");
  await byId(page, "chapter-bigram").waitFor();
  await byId(page, "glossary-open").click();
  await byId(page, "word-softmax").getByTestId("by-hand").click();
  await byId(page, "chapter-start").waitFor();
  await live(page, "shares");
  assert.equal(parameter(page, "idea"), "5");
  assert.equal(await byId(page, "glossary").isVisible(), false);
  await page.locator('[data-testid="beat-5"][aria-current="step"]').waitFor();
  await page.goBack();
  await byId(page, "chapter-bigram").waitFor();
});

test("the drawings read well, and are there for keys alone", async (t) => {
  const page = await opened(t);
  for (const view of ["arrows", "matrix", "shares", "slope", "chain", "valley"]) {
    await openView(page, view);
    const knob = page.locator(".knob input").last();
    await knob.focus();
    const before = await byId(page, `${view}-says`).textContent();
    for (let press = 0; press < 3; press++) await page.keyboard.press("ArrowLeft");
    await eventually(async () => (await byId(page, `${view}-says`).textContent()) !== before, `${view} answers`);
    assert.deepEqual(await accessibilityProblems(page), [], view);
  }
});
