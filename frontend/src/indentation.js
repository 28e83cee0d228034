/** Enter in YAML: the next line begins where a sibling would, or deeper where a value has to follow. */

import { EditorSelection, countColumn } from "@codemirror/state";

/** Columns of one step. */
export const UNIT = 2;

const LEAD = /^\s*(?:-\s+)*/;
const KEY = /^(?:[^\s#'"][^#]*?|'[^']*'|"[^"]*"):(?:\s|$)/;
const OPENS = /:\s*(?:[|>][-+0-9]*)?\s*(?:#.*)?$/;

/**
 * How many columns the line after one has to be indented.
 *
 * @param {string} before the line up to the cursor
 */
export function columnsAfter(before, tabSize = UNIT) {
  const [lead] = LEAD.exec(before);
  const rest = before.slice(lead.length);
  const own = countColumn(/^\s*/.exec(before)[0], tabSize);
  if (!KEY.test(rest)) return rest === "" ? countColumn(lead, tabSize) : own;
  const column = countColumn(lead, tabSize);
  return OPENS.test(rest) ? column + UNIT : column;
}

/** The command; spaces around the cursor do not go with the rest of the line. */
export function newLine({ state, dispatch }) {
  if (state.readOnly) return false;
  const changes = state.changeByRange(({ from, to }) => {
    const before = state.sliceDoc(state.doc.lineAt(from).from, from);
    const behind = /^\s*/.exec(state.sliceDoc(to, state.doc.lineAt(to).to))[0];
    const insert = `${state.lineBreak}${" ".repeat(columnsAfter(before, state.tabSize))}`;
    const cursor = from + insert.length;
    return { changes: { from, to: to + behind.length, insert }, range: EditorSelection.cursor(cursor) };
  });
  dispatch(state.update(changes, { scrollIntoView: true, userEvent: "input" }));
  return true;
}
