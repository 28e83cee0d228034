/** Upgrades every `<textarea data-cel-editor>` of the page, whenever one comes. */

import { lines, parsed, sentAs } from "./answers.js";
import { CelEditor } from "./cel.js";
import { Fields, has } from "./fields.js";
import { wheneverLoaded } from "./whenever.js";

const fields = new Fields("textarea[data-cel-editor]", (textarea) => new CelEditor(textarea));
const applied = new WeakMap(); // diagnostics by editor: the script element they came from

/**
 * Shows the diagnostics that are in the page.
 *
 * @param {object | null} request what htmx asked that brought them, `{path, parameters}`: the
 *   expression in there is the one they are about, whatever has been typed since
 */
function diagnose(request) {
  for (const [textarea, editor] of fields) {
    const selector = `script[data-cel-diagnostics="${CSS.escape(textarea.id)}"]`;
    const script = textarea.id ? document.querySelector(selector) : null;
    if (script === (applied.get(editor) ?? null)) continue;
    applied.set(editor, script);
    const read = lines(sentAs(textarea.name, request) ?? editor.text);
    editor.showDiagnostics(parsed(script), read);
  }
}

const isStale = () => [...fields].some(([, editor]) => applied.get(editor)?.isConnected === false);

export function upgradeCelEditors() {
  wheneverLoaded((root) => {
    fields.forget();
    const anyNew = fields.upgrade(root);
    if (anyNew || has(root, "script[data-cel-diagnostics]") || isStale()) diagnose(null);
  });
  for (const name of ["htmx:afterSwap", "htmx:afterSettle"]) {
    document.addEventListener(name, (event) => {
      fields.forget();
      diagnose(event.detail?.requestConfig ?? null);
    });
  }
}
