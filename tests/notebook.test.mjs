// "Open as notebook": a formula's code with the live model's own numbers. With UNROLL_NOTEBOOKS the
// files are kept in that folder, for tests/golden/check_notebooks.py to run.
import assert from "node:assert/strict";
import { copyFile, readFile } from "node:fs/promises";
import { join } from "node:path";

import { byId, eventually, live, number, numberUntil, paused, settled, STUDIES, test, useSite } from "./harness.mjs";

const site = useSite();

/** Opens the formulas, and under each its code. */
async function openCode(page) {
  const more = byId(page, "more");
  await more.locator("> summary").click();
  const snippets = byId(more, "snippet");
  await snippets.first().waitFor();
  for (const snippet of await snippets.all()) {
    await snippet.locator("summary").click();
    await snippet.locator("pre").waitFor();
  }
  return more;
}

/** Presses a snippet's button and reads what is saved. */
async function saved(page, button) {
  const [download] = await Promise.all([page.waitForEvent("download"), button.click()]);
  const file = await download.path();
  if (process.env.UNROLL_NOTEBOOKS) {
    await copyFile(file, join(process.env.UNROLL_NOTEBOOKS, download.suggestedFilename()));
  }
  return { name: download.suggestedFilename(), notebook: JSON.parse(await readFile(file, "utf8")) };
}

const code = (notebook) => notebook.cells.filter((cell) => cell.cell_type === "code").map((cell) => cell.source);

for (const chapter of [...STUDIES, "gpt"]) {
  test(`${chapter} saves notebooks with the numbers of its model`, async (t) => {
    const page = await site.open(t, chapter === "gpt" ? "?view=attention" : `?chapter=${chapter}`);
    if (chapter !== "gpt") await numberUntil(page, "loss-step", (step) => step > 0, "above 0");
    else await live(page, "attention");
    await paused(page);
    await settled(page);
    const step = await number(page, "loss-step");
    const more = await openCode(page);
    const buttons = byId(more, "snippet-notebook");
    await buttons.first().waitFor();
    for (const button of await buttons.all()) {
      const { name, notebook } = await saved(page, button);
      assert.match(name, /^unroll-[a-z0-9-]+\.ipynb$/);
      assert.equal(notebook.nbformat, 4);
      assert.equal(notebook.metadata.unroll.step, step, "of the model as it is");
      const [numbers, ...cells] = code(notebook);
      assert.match(numbers, /tensor\(\[\d+(, \d+)*\], "-?\d[-.e\d ]*"\)/);
      assert.match(cells.at(-1), /page\[[^]*assert_close\(|assert_close\([^]*page\[/, "it ends at a number of the page");
      assert(cells.every((cell) => !cell.includes("randn")), "nothing is made up");
      const says = button.locator("xpath=following-sibling::*[1]");
      await eventually(async () => (await says.textContent()) === `Saved as ${name}.`, "it says what was saved");
    }
  });
}

test("a notebook that the settings rule out says what to choose", async (t) => {
  const page = await site.open(t, "?chapter=rnn&rnn-cell=sigmoid");
  await settled(page);
  const more = await openCode(page);
  await byId(more, "snippet-notebook").first().click();
  const says = byId(more, "notebook-says").first();
  await eventually(async () => /tanh/.test(await says.textContent()), "it names the setting");
});

test("a model too large for a notebook is refused, and its block is offered", async (t) => {
  // Over 500,000 numbers, of which a block has about 270,000.
  const page = await site.open(t, "?chapter=gpt&width=144&layers=2");
  await live(page, "attention");
  await settled(page);
  const more = await openCode(page);
  const [block, whole] = await byId(more, "snippet-notebook").all();
  await whole.click();
  const says = byId(more, "notebook-says").last();
  await eventually(async () => /at most.*smaller part/.test(await says.textContent()), "why, and what to do");
  const { notebook } = await saved(page, block);
  assert.match(code(notebook)[0], /blocks\.0\.attention\.query\.weight/);
});
