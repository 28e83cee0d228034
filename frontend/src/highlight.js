/** Expressions that are only read: `<code data-cel>` gets the colours of the editor. */

import { kindOf, scan } from "./tokenizer.js";

/** The text in pieces: `[kind, text]`, kind null where it has no colour of its own. */
export function pieces(text) {
  const found = [];
  let previous = "";
  for (let at = 0; at < text.length; ) {
    const token = scan(text, at);
    found.push([kindOf(token, previous, text.slice(token.to, token.to + 80)), text.slice(at, token.to)]);
    if (token.type !== "space" && token.type !== "comment") previous = token.text ?? "";
    at = token.to;
  }
  return found;
}

/** Marks up one element; leaves it alone when something has done so already. */
export function highlight(element) {
  if (element.childElementCount) return;
  const fragment = document.createDocumentFragment();
  for (const [kind, text] of pieces(element.textContent)) {
    if (kind === null) {
      fragment.append(text);
      continue;
    }
    const span = document.createElement("span");
    span.className = `hl-${kind}`;
    span.textContent = text;
    fragment.append(span);
  }
  element.replaceChildren(fragment);
}

/** Every such block in `root`, and `root` itself if it is one. */
export function highlightAll(root) {
  if (root.matches?.("code[data-cel]")) highlight(root);
  for (const element of root.querySelectorAll("code[data-cel]")) highlight(element);
}
