/** The line under the editor: what is wrong at the cursor or with the length, else the keys. */

import { StateEffect, StateField } from "@codemirror/state";
import { EditorView, showPanel } from "@codemirror/view";

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

/**
 * What there is to say, `{text, tone}` with tone bad, warn, info or none; null if nothing is.
 *
 * @param {(state) => {text, tone} | null} otherwise what is said without a notice
 */
export function remark(state, otherwise) {
  const said = state.field(notice);
  return said ? { text: said, tone: "bad" } : otherwise(state);
}

/**
 * @param {string} id of the line, for `aria-describedby`
 * @param {string} hint shown while there is nothing to say; never read out by itself
 * @param {(state) => {text, tone} | null} otherwise as for `remark`
 */
export function statusLine(id, hint, otherwise) {
  const panel = (view) => {
    const dom = document.createElement("div");
    dom.className = "editor-status";
    dom.id = id;
    const said = document.createElement("span");
    said.setAttribute("role", "status");
    const keys = document.createElement("span");
    keys.textContent = hint;
    dom.append(said, keys);
    const render = (state) => {
      const { text, tone } = remark(state, otherwise) ?? { text: "", tone: "" };
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
  ".editor-status": {
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
  ".editor-status[data-tone=bad]": { color: "var(--bad)" },
  ".editor-status[data-tone=warn]": { color: "var(--warn)" },
  ".editor-status[data-tone=info]": { color: "var(--info)" },
});
