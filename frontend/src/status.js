/** The line under the editor: what is wrong at the cursor or with the length, else the keys. */

import { StateEffect, StateField } from "@codemirror/state";
import { EditorView, showPanel } from "@codemirror/view";

import { atCursor, sentence } from "./diagnostics.js";
import { byteLength } from "./offsets.js";

/** Kubernetes does not compile a longer selector. */
export const MAX_BYTES = 10_240;

/** A remark about the last edit; it goes with the next one. Null takes it away. */
export const setNotice = StateEffect.define();

const notice = StateField.define({
  create: () => null,
  update(value, transaction) {
    const said = transaction.effects.find((effect) => effect.is(setNotice));
    if (said) return said.value;
    return transaction.docChanged ? null : value;
  },
});

const number = (value) => value.toLocaleString("en");

/** What there is to say, `{text, tone}` with tone bad or warn; null if nothing is. */
export function remark(state) {
  const said = state.field(notice);
  if (said) return { text: said, tone: "bad" };
  // A UTF-16 unit is at most three bytes.
  const bytes = state.doc.length * 3 > MAX_BYTES ? byteLength(state.doc.toString()) : 0;
  if (bytes > MAX_BYTES) {
    const text = `${number(bytes)} of ${number(MAX_BYTES)} bytes: Kubernetes refuses longer expressions.`;
    return { text, tone: "bad" };
  }
  const { here } = atCursor(state);
  return here && { text: sentence(here), tone: here.severity === "error" ? "bad" : "warn" };
}

/**
 * @param {string} id of the line, for `aria-describedby`
 * @param {string} hint shown while there is nothing to say; never read out by itself
 */
export function statusLine(id, hint) {
  const panel = (view) => {
    const dom = document.createElement("div");
    dom.className = "cel-status";
    dom.id = id;
    const said = document.createElement("span");
    said.setAttribute("role", "status");
    const keys = document.createElement("span");
    keys.textContent = hint;
    dom.append(said, keys);
    const render = (state) => {
      const { text, tone } = remark(state) ?? { text: "", tone: "" };
      if (said.textContent !== text) said.textContent = text;
      dom.title = text;
      dom.dataset.tone = tone;
      keys.hidden = text !== "";
    };
    render(view.state);
    return { dom, update: (update) => render(update.state) };
  };
  return [notice, showPanel.of(panel), theme];
}

const theme = EditorView.theme({
  // One line, as wide as the editor, whatever it says: nothing may move while people type.
  ".cel-status": {
    width: "0",
    minWidth: "100%",
    height: "1.5rem",
    padding: "0 var(--gap-2)",
    overflow: "hidden",
    color: "var(--text-3)",
    fontSize: "var(--size-1)",
    lineHeight: "1.5rem",
    textOverflow: "ellipsis",
    whiteSpace: "nowrap",
  },
  ".cel-status[data-tone=bad]": { color: "var(--bad)" },
  ".cel-status[data-tone=warn]": { color: "var(--warn)" },
});
