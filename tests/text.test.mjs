// Texts good and bad: each bad one gets a sentence, and the model that was there goes on.
import assert from "node:assert/strict";

import {
  byId,
  eventually,
  live,
  number,
  numberUntil,
  openSettings,
  settled,
  staysFree,
  test,
  train,
  useSite,
} from "./harness.mjs";

const site = useSite();
const SMALL = "?layers=1&heads=2&width=16&context=32&batch=4&seed=5";

async function opened(t, query = SMALL, options = {}) {
  const page = await site.open(t, query, options);
  await live(page, "attention");
  await openSettings(page, "source");
  return page;
}

const file = (name, buffer) => ({ name, mimeType: "text/plain", buffer });

/** The model that was there is there, and trains on. */
async function unharmed(page, step) {
  assert.equal(await number(page, "loss-step"), step);
  await train(page, step + 3);
}

test("what is no text is refused with a sentence", async (t) => {
  const page = await opened(t);
  let step = await train(page, 5);
  const cases = [
    [file("empty.txt", Buffer.alloc(0)), /empty/],
    [file("blank.txt", Buffer.from(" \n \n")), /empty/],
    [file("program", Buffer.from([0x7f, 0x45, 0x4c, 0x46, 0, 0, 1, 0xff])), /not a text file/],
    [file("broken.txt", Buffer.from("na\xc3\xafve na\xc3\xafve caf\xe9", "latin1")), /not UTF-8 text \(byte 17 breaks/],
    // “こんにちは” and “Привет, мир и дом”.
    [file("kana.txt", Buffer.from("82b182f182c982bf82cd0a", "hex")), /probably in Shift-JIS \(Japanese\): save it as UTF-8/],
    [file("mir.txt", Buffer.from("cff0e8e2e5f22c20ece8f020e820e4eeec", "hex")), /probably in Windows-1251 \(Cyrillic\)/],
  ];
  for (const [upload, sentence] of cases) {
    await byId(page, "text-open").setInputFiles(upload);
    await page.locator('[data-testid="text-refusal"]', { hasText: sentence }).waitFor();
    await unharmed(page, step);
    step = await number(page, "loss-step");
  }
  await byId(page, "text-paste").fill("too short");
  await byId(page, "text-use").click();
  await page.locator('[data-testid="notice"]', { hasText: /context/ }).waitFor();
  await unharmed(page, step);
});

test("of a file of 49 MB passages are learned, and the page stays free", async (t) => {
  const page = await opened(t, SMALL, { own: true });
  await train(page, 5);
  const line = "a line that comes again and again, so that it is known when it is cut\n";
  // Made in the page: what brings a file of this size there takes seconds of the page's time.
  await page.evaluate((line) => {
    const all = new DataTransfer();
    all.items.add(new File([line.repeat(Math.ceil(49e6 / line.length))], "huge.txt"));
    window.huge = all.files;
  }, line);
  await staysFree(t, site, page, async () => {
    await byId(page, "text-open").evaluate((input) => {
      input.files = window.huge;
      input.dispatchEvent(new Event("change", { bubbles: true }));
    });
    await page.locator('[data-testid="text-present"]', { hasText: "huge.txt" }).waitFor();
    await live(page, "attention");
    await settled(page);
  });
  await page.locator('[data-testid="notice"]', { hasText: "49.0 MB" }).waitFor();
  await page.locator('[data-testid="text-present"]', { hasText: /4,99\d,\d\d\d characters, 19 different/ }).waitFor();
  await train(page, 5);
});

test("of lines of JSON the texts are learned, also in a .json with an object in each line; UTF-16 is converted", async (t) => {
  const page = await opened(t);
  const present = page.locator('[data-testid="text-present"]');
  // Any other .json is read as it is.
  const objects = Array.from({ length: 60 }, (_, at) => ({ id: at, text: "words and words" }));
  const notice = page.locator('[data-testid="notice"]', { hasText: "Text was taken from" });
  const listed = objects.map((object) => JSON.stringify(object)).join("\n");
  await byId(page, "text-open").setInputFiles(file("lines.json", Buffer.from(listed)));
  await notice.filter({ hasText: "Text was taken from 60 lines of JSON." }).waitFor();
  await present.filter({ hasText: `${60 * 16 - 1} characters, 9 different` }).waitFor();
  for (const [name, whole] of [["list.json", JSON.stringify(objects)], ["pretty.json", JSON.stringify(objects, null, 2)]]) {
    await byId(page, "text-open").setInputFiles(file(name, Buffer.from(whole)));
    await present.filter({ hasText: name }).filter({ hasText: `${whole.length.toLocaleString("en")} characters` }).waitFor();
    assert.equal(await notice.count(), 0);
  }

  const lines = Array.from({ length: 60 }, (_, at) => JSON.stringify({ id: at, text: "words and words\nand words" }));
  const upload = file("stories.jsonl", Buffer.from([...lines, "{}"].join("\n")));
  await byId(page, "text-open").setInputFiles(upload);
  await page.locator('[data-testid="notice"]', { hasText: "Text was taken from 60 lines of JSON. 1 other line had no text and was skipped." }).waitFor();
  // As many characters, and the line ends between them.
  const count = 60 * "words and words\nand words".length + 59;
  await present.filter({ hasText: `${count.toLocaleString("en")} characters, 9 different` }).waitFor();
  // A file that has only the name of one is a text as it stands.
  await byId(page, "text-open").setInputFiles(file("plain.jsonl", Buffer.from("no JSON at all, ".repeat(40))));
  await present.filter({ hasText: "plain.jsonl" }).filter({ hasText: "640 characters" }).waitFor();
  const utf16 = Buffer.from("\ufeff" + "Größe, 水, ".repeat(60), "utf16le");
  await byId(page, "text-open").setInputFiles(file("old.txt", utf16));
  await page.locator('[data-testid="notice"]', { hasText: "That file was in UTF-16. It was converted to UTF-8." }).waitFor();
  await present.filter({ hasText: "600 characters, 8 different" }).waitFor();
});

test("files in other encodings are converted, with a note", async (t) => {
  const page = await opened(t);
  const text = "Größe, naïve. ".repeat(60);
  const present = page.locator('[data-testid="text-present"]');
  const wide = (units) => Buffer.from(units.buffer, units.byteOffset, units.byteLength);
  for (const [name, bytes, note] of [
    ["latin.txt", Buffer.from(text, "latin1"), "That file was probably in Windows-1252 (Western European). It was converted to UTF-8."],
    ["utf16.txt", Buffer.from(text, "utf16le"), "That file was in UTF-16. It was converted to UTF-8."],
    ["utf16be.txt", Buffer.from(text, "utf16le").swap16(), "That file was in UTF-16. It was converted to UTF-8."],
    ["utf32.txt", wide(Uint32Array.from(text, (c) => c.codePointAt(0))), "That file was in UTF-32. It was converted to UTF-8."],
    ["mark.txt", wide(Uint32Array.from("\ufeff" + text, (c) => c.codePointAt(0))), "That file was in UTF-32. It was converted to UTF-8."],
  ]) {
    await byId(page, "text-open").setInputFiles(file(name, bytes));
    await present.filter({ hasText: name }).filter({ hasText: "840 characters, 12 different" }).waitFor();
    await page.locator('[data-testid="notice"]', { hasText: note }).waitFor();
  }
  // Of one byte a letter, told by their language: “łąka, żółw ” and “ışık, değil üç ”.
  for (const [name, bytes, note, count] of [
    ["polish.txt", "b3b96b612c20bff3b37720", "That file was probably in Windows-1250 (Central European).", "660 characters, 9 different"],
    ["turkish.txt", "fdfefd6b2c206465f0696c20fce720", "That file was probably in Windows-1254 (Turkish).", "900 characters, 12 different"],
  ]) {
    await byId(page, "text-open").setInputFiles(file(name, Buffer.from(bytes.repeat(60), "hex")));
    await present.filter({ hasText: name }).filter({ hasText: count }).waitFor();
    await page.locator('[data-testid="notice"]', { hasText: note }).waitFor();
  }
  await train(page, 3);
});

test("a file of 5 MB in Windows-1252 is converted, and the page stays free", async (t) => {
  const page = await opened(t, SMALL, { own: true });
  await train(page, 5);
  // Made in the page, as is the huge one. Letters with accents as often as in French, in lines of 100.
  await page.evaluate(() => {
    const line = Uint8Array.from({ length: 100 }, (_, at) => (at === 99 ? 10 : at % 20 === 7 ? 0xe9 : 97 + (at % 26)));
    const bytes = new Uint8Array(4.99e6);
    for (let at = 0; at < bytes.length; at += line.length) bytes.set(line, at);
    const all = new DataTransfer();
    all.items.add(new File([bytes], "western.txt"));
    window.western = all.files;
  });
  await staysFree(t, site, page, async () => {
    await byId(page, "text-open").evaluate((input) => {
      input.files = window.western;
      input.dispatchEvent(new Event("change", { bubbles: true }));
    });
    await page.locator('[data-testid="text-present"]', { hasText: "western.txt" }).waitFor();
    await live(page, "attention");
    await settled(page);
  });
  await page.locator('[data-testid="notice"]', { hasText: "Windows-1252" }).waitFor();
  // Each of them takes two bytes in UTF-8.
  await page.locator('[data-testid="notice"]', { hasText: "larger than the limit of 5 MB, so its end was left out" }).waitFor();
});

test("what was said of a text that was refused goes when another is taken", async (t) => {
  const page = await opened(t);
  const notices = byId(page, "notice");
  const present = page.locator('[data-testid="text-present"]');
  const own = "words of my own. ".repeat(40);
  await byId(page, "text-paste").fill(" \n ");
  await byId(page, "text-use").click();
  await notices.filter({ hasText: "That text is empty" }).waitFor();
  // Typing takes back what stands beside the field.
  await byId(page, "text-paste").fill(own);
  await byId(page, "text-use").click();
  await present.filter({ hasText: "Your text" }).waitFor();
  assert.deepEqual(await notices.allTextContents(), []);
  // The engine's reason, too; and in favor of a text of this page.
  await byId(page, "text-paste").fill("too short");
  await byId(page, "text-use").click();
  await notices.filter({ hasText: /context/ }).waitFor();
  await byId(page, "text-paste").fill("");
  await byId(page, "corpus-names").check();
  await present.filter({ hasText: "Names" }).waitFor();
  assert.deepEqual(await notices.allTextContents(), []);
  await train(page, 3);
});

test("only what is said of a text stands at the text, and goes there with the message", async (t) => {
  // Its lab has no need of the GPT, which never starts.
  const page = await site.open(t, "?chapter=rnn");
  await openSettings(page, "source");
  const [notices, refusal] = [byId(page, "notice"), byId(page, "text-refusal")];
  const present = page.locator('[data-testid="text-present"]');
  await byId(page, "corpus-names").check();
  await present.filter({ hasText: "Names" }).waitFor();
  await byId(page, "text-open").setInputFiles(file("broken.safetensors", Buffer.from("no model")));
  const broken = notices.filter({ hasText: "can’t be opened" });
  await broken.waitFor();
  assert.equal(await refusal.textContent(), "");
  await byId(page, "text-paste").fill(" \n ");
  await byId(page, "text-use").click();
  await refusal.filter({ hasText: "That text is empty" }).waitFor();
  await notices.filter({ hasText: "That text is empty" }).locator(".notice-close").click();
  await eventually(async () => (await refusal.textContent()) === "");
  await byId(page, "corpus-tales").check();
  await present.filter({ hasText: "Tales" }).waitFor();
  assert.equal(await broken.count(), 1, "another text changes nothing about it");
});

test("a text of the page that is slow to come does not replace what was chosen after it", async (t) => {
  let goOn;
  const held = new Promise((resolve) => (goOn = resolve));
  const page = await site.open(t, SMALL);
  await live(page, "attention");
  await page.route(/corpora\/names/, async (route) => {
    await held;
    await route.continue();
  });
  await page.reload();
  await live(page, "attention");
  await openSettings(page, "source");
  const asked = page.waitForRequest(/corpora\/names/);
  await byId(page, "corpus-names").check();
  const chosen = await asked;
  await byId(page, "text-paste").fill("words of my own. ".repeat(40));
  await byId(page, "text-use").click();
  const present = page.locator('[data-testid="text-present"]');
  await present.filter({ hasText: "Your text" }).waitFor();
  goOn();
  await (await chosen.response()).finished();
  await byId(page, "corpus-names").locator("..").locator(".card-preview", { hasText: /\w/ }).waitFor();
  await train(page, 5);
  await present.filter({ hasText: "Your text" }).waitFor();
  await byId(page, "corpus-names").check();
  await present.filter({ hasText: "Names" }).waitFor();
});

test("an empty or overlong probe is answered; one repeated character trains; emoji are characters", async (t) => {
  const page = await opened(t);
  await byId(page, "probe-input").fill("");
  await page.locator('[data-testid="probe-problem"]').waitFor();
  // The last picture stays.
  await live(page, "attention");
  await byId(page, "probe-input").fill("the goat ".repeat(20));
  await page.locator('[data-testid="probe-note"]', { hasText: "32" }).waitFor();
  await byId(page, "token-31").waitFor();
  assert.equal(await byId(page, "token-32").count(), 0);

  await byId(page, "text-paste").fill("a".repeat(400));
  await byId(page, "text-use").click();
  await page.locator('[data-testid="notice"]', { hasText: /one single character/ }).waitFor();
  await train(page, 20);
  assert((await number(page, "loss-value")) < 0.5);

  // Lone surrogates are unknown.
  await page.evaluate(() => {
    const area = document.querySelector('[data-testid="text-paste"]');
    area.value = "🙂🙃 naïve \ud800 café ".repeat(40);
    area.dispatchEvent(new Event("input", { bubbles: true }));
  });
  await byId(page, "text-use").click();
  await page.locator('[data-testid="notice"]', { hasText: /could not be read as Unicode/ }).waitFor();
  await byId(page, "probe-input").fill("🙂 naïve Ω");
  // An emoji is one token; Ω was never in the text.
  await eventually(async () => (await page.locator(".token-row .token").count()) === 9);
  await page.locator('[data-testid="probe-note"]', { hasText: "Ω" }).waitFor();
  await train(page, 5);
});

test("the learner's own text trains and travels in the link", async (t) => {
  const page = await opened(t);
  const text = "my very own words, over and over. ".repeat(20);
  await byId(page, "text-open").setInputFiles(file("mine.txt", Buffer.from(text)));
  await page.locator('[data-testid="text-present"]', { hasText: "mine.txt" }).waitFor();
  await train(page, 10);
  await page.waitForFunction(() => location.search.includes("corpus=own") && location.hash.length > 10);
  const link = page.url();
  await page.close();
  const again = await site.open(t, link);
  await live(again, "attention");
  await openSettings(again, "source");
  await again.locator('[data-testid="text-present"]', { hasText: "680" }).waitFor();
});

test("the other built-in texts train", async (t) => {
  for (const corpus of ["names", "brackets"]) {
    const page = await opened(t, `${SMALL}&corpus=${corpus}`);
    await train(page, 30);
    assert((await number(page, "loss-value")) < 3.2);
    await page.close();
  }
});

test("a link with nonsense is answered and the rest of it used", async (t) => {
  const page = await site.open(t, "?layers=99&speling=1&width=32&heads=4&seed=7#w=nonsense");
  await live(page, "attention");
  for (const sentence of [/layers is a whole number from 1 to 48/, /speling/, /damaged/]) {
    await page.locator('[data-testid="notice"]', { hasText: sentence }).waitFor();
  }
  assert.equal(await byId(page, "control-width").inputValue(), "32");
  assert.equal(await byId(page, "control-seed").inputValue(), "7");
});

test("a link to a model that can't be built says why and begins with the usual one", async (t) => {
  for (const [query, sentence] of [
    ["?width=1024&layers=12", /too big/],
    ["?heads=5", /do not divide/],
    ["?width=384&heads=6&context=512", /too long to stay responsive/],
  ]) {
    const page = await site.open(t, query);
    await page.locator('[data-testid="notice"]', { hasText: sentence }).waitFor();
    await live(page, "attention");
    await train(page, 2);
    assert.equal(await byId(page, "control-width").inputValue(), "64");
    await page.close();
  }
});

test("autostart starts", async (t) => {
  const page = await site.open(t, `${SMALL}&autostart=1`);
  await numberUntil(page, "loss-step", (step) => step >= 5, "at least 5");
});
