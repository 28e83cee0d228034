/** Upgrades every `<textarea data-cel-editor>` of the page, now and when htmx brings more. */

import { CelEditor } from "./editor.js";
import { wheneverLoaded } from "./whenever.js";

const editors = new Map(); // by textarea
const applied = new WeakMap(); // diagnostics by editor: the script element they came from

function upgrade(root) {
  forget();
  const found = [...root.querySelectorAll("textarea[data-cel-editor]")];
  if (root.matches?.("textarea[data-cel-editor]")) found.push(root);
  for (const textarea of found) {
    if (!editors.has(textarea)) editors.set(textarea, new CelEditor(textarea));
  }
  diagnose(null);
}

/** Editors whose textarea has left the page. */
function forget() {
  for (const [textarea, editor] of editors) {
    if (textarea.isConnected) continue;
    editor.destroy();
    editors.delete(textarea);
  }
}

const lines = (text) => text.replace(/\r\n?/g, "\n");

/**
 * Shows the diagnostics that are in the page.
 *
 * @param {object | null} request what htmx asked that brought them, `{path, parameters}`: the
 *   expression in there is the one they are about, whatever has been typed since
 */
function diagnose(request) {
  for (const [textarea, editor] of editors) {
    const selector = `script[data-cel-diagnostics="${CSS.escape(textarea.id)}"]`;
    const script = textarea.id ? document.querySelector(selector) : null;
    if (script === (applied.get(editor) ?? null)) continue;
    applied.set(editor, script);
    const read = lines(sentAs(textarea.name, request) ?? editor.text);
    editor.showDiagnostics(script ? parsed(script.textContent) : [], read);
  }
}

/** The value of a field in a request, or null; an element that refreshes itself has it in its address. */
function sentAs(name, request) {
  const sent = request?.parameters?.[name];
  if (typeof sent === "string" || !request?.path) return sent ?? null;
  return new URL(request.path, location.href).searchParams.get(name);
}

function parsed(json) {
  try {
    return JSON.parse(json);
  } catch {
    return [];
  }
}

wheneverLoaded(upgrade);
for (const name of ["htmx:afterSwap", "htmx:afterSettle"]) {
  document.addEventListener(name, (event) => {
    forget();
    diagnose(event.detail?.requestConfig ?? null);
  });
}
