// What a browser's translation does to the page.

/** Does to the page what a translation does in Chrome: each text becomes another in `<font>` elements.
 *  [`translateBack`] finds what they were. */
export function translate() {
  const skipped = "font, [translate=no], script, style, svg, math, code, textarea, select, option, .visually-hidden";
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const found = [];
  while (texts.nextNode()) found.push(texts.currentNode);
  for (const node of found) {
    if (!/\p{L}{2}/u.test(node.data) || node.parentElement.closest(skipped)) continue;
    const [outer, inner] = [document.createElement("font"), document.createElement("font")];
    inner.textContent = node.data.replace(/\p{L}{2,}/gu, (word) => word + "ä".repeat(Math.ceil(0.4 * word.length)));
    outer.append(inner);
    node.replaceWith(outer);
    (window.__translated ??= []).push([outer, node]);
  }
}

/** Puts the texts back that the page made, so that it goes on as if it had not been translated. */
export function translateBack() {
  for (const [outer, node] of window.__translated.splice(0)) outer.replaceWith(node);
}
