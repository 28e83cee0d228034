/** How long a text may be: `maxlength`, as the browser has it for a textarea, and what Kubernetes takes. */

import { EditorState } from "@codemirror/state";

import { byteLength } from "./offsets.js";
import { setNotice } from "./status.js";

/** Kubernetes does not compile a longer selector. */
export const MAX_BYTES = 10_240;

const number = (value) => value.toLocaleString("en");

/** What there is to say about an expression's length, `{text, tone}`; null if nothing is. */
export function tooLong(state) {
  // A UTF-16 unit is at most three bytes.
  const bytes = state.doc.length * 3 > MAX_BYTES ? byteLength(state.doc.toString()) : 0;
  if (bytes <= MAX_BYTES) return null;
  const text = `${number(bytes)} of ${number(MAX_BYTES)} bytes: Kubernetes refuses longer expressions.`;
  return { text, tone: "bad" };
}

/**
 * What does not fit is left out, and that is said.
 *
 * @param {() => number} limit in UTF-16 units; negative means none
 */
export function limitedTo(limit) {
  return EditorState.transactionFilter.of((transaction) => {
    const most = limit();
    const typed = transaction.docChanged && transaction.isUserEvent("input");
    if (!typed || most < 0 || transaction.newDoc.length <= most) return transaction;
    const notice = setNotice.of(
      `The limit is ${number(most)} characters: what came after was left out.`,
    );
    const { from, to, insert } = onlyChange(transaction.changes);
    const room = most - (transaction.startState.doc.length - (to - from));
    if (from === null || room <= 0) return { effects: notice };
    const text = cut(insert, room);
    return {
      changes: { from, to, insert: text },
      selection: { anchor: from + text.length },
      effects: notice,
      userEvent: "input",
      scrollIntoView: true,
    };
  });
}

function onlyChange(changes) {
  const found = [];
  changes.iterChanges((from, to, _fromAfter, _toAfter, insert) => {
    found.push({ from, to, insert: insert.toString() });
  });
  return found.length === 1 ? found[0] : { from: null, to: 0, insert: "" };
}

/** The beginning of a text, never half a character. */
function cut(text, units) {
  const last = text.charCodeAt(units - 1);
  return text.slice(0, last >= 0xd800 && last < 0xdc00 ? units - 1 : units);
}
