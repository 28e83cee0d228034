/** Upgrades every `<textarea data-yaml-editor>` of the page, whenever one comes. */

import { parsed, sentAs } from "./answers.js";
import { Fields, has } from "./fields.js";
import { wheneverLoaded } from "./whenever.js";
import { YamlEditor } from "./yaml.js";

const fields = new Fields("textarea[data-yaml-editor]", (textarea) => {
  const editor = new YamlEditor(textarea);
  textarea.yamlEditor = Object.freeze({
    setText: (text) => editor.setText(text),
    select: (line, column) => editor.select(line, column),
  });
  return editor;
});

const shown = new WeakMap(); // by editor: the text node its marks came from, and what stood in it

/** Shows the marks that are in the page, if they have come since. */
function readMarks() {
  for (const [textarea, editor] of fields) {
    const { yamlMarks } = textarea.dataset;
    const script = yamlMarks ? document.querySelector(yamlMarks) : null;
    const node = script?.firstChild ?? null;
    const content = script?.textContent ?? "";
    const before = shown.get(editor);
    if (before ? before.node === node && before.content === content : !node) continue;
    shown.set(editor, { node, content });
    editor.showMarks(parsed(script));
  }
}

/** Which editor a button with `data-yaml-go` means: `data-yaml-field` names it, else it is the first. */
function meant(button) {
  const { yamlField } = button.dataset;
  const field = yamlField ? document.getElementById(yamlField) : document.querySelector(fields.selector);
  return field?.yamlEditor ?? null;
}

const isPlain = (event) =>
  event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey;

function go(event) {
  const button = event.target instanceof Element ? event.target.closest("[data-yaml-go]") : null;
  if (!button || event.defaultPrevented || !isPlain(event)) return;
  const found = /^(\d{1,9})(?::(\d{1,9}))?$/.exec(button.dataset.yamlGo);
  const editor = meant(button);
  if (!found || !editor) return;
  event.preventDefault();
  editor.select(Number(found[1]), Number(found[2] ?? 1));
}

export function upgradeYamlEditors() {
  wheneverLoaded((root) => {
    fields.forget();
    if (fields.upgrade(root) || has(root, "script[type='application/json']")) readMarks();
  });
  document.addEventListener("htmx:beforeSwap", (event) => {
    const request = event.detail?.requestConfig ?? null;
    for (const [textarea, editor] of fields) editor.swapBegins(sentAs(textarea.name, request));
  });
  for (const name of ["htmx:oobAfterSwap", "htmx:afterSwap", "htmx:afterSettle"]) {
    document.addEventListener(name, () => {
      fields.forget();
      readMarks();
    });
  }
  document.addEventListener("htmx:afterSettle", () => {
    for (const [, editor] of fields) editor.swapEnds();
  });
  document.addEventListener("click", go);
}
