/**
 * What is wrong with the expression, as the server says, under the words it is about.
 *
 * `<script type="application/json" data-cel-diagnostics="id of the textarea">` holds
 * `[{"start", "end", "severity": "error" | "warning", "message"}]`, offsets in code points of the
 * expression that the server has read; a line break counts as one.
 */

import { forEachDiagnostic, linter, setDiagnosticsEffect, setDiagnostics } from "@codemirror/lint";
import { EditorState } from "@codemirror/state";

import { difference, utf16Offsets } from "./offsets.js";
import { known, withWords } from "./problems.js";

/**
 * The server's list as CodeMirror takes it: `{from, to, severity, message}`.
 *
 * @param {string} read the expression that the server has read
 * @param {string} now what stands in the editor meanwhile: what touches a change is left out
 */
export function placed(list, read, now) {
  if (!Array.isArray(list)) return [];
  const utf16 = utf16Offsets(read);
  const change = difference(read, now);
  return list.flatMap((one) => {
    if (!Number.isInteger(one?.start) || typeof one.message !== "string") return [];
    const from = utf16(one.start);
    const to = Math.max(from, utf16(Number.isInteger(one.end) ? one.end : one.start));
    const shift = change ? shifted(from, to, change) : 0;
    if (shift === null) return [];
    return [{ from: from + shift, to: to + shift, severity: known(one.severity), message: one.message }];
  });
}

/** How far a change moves this stretch; null if it touches it. */
function shifted(from, to, change) {
  if (to < change.from) return 0;
  return from > change.toBefore ? change.toAfter - change.toBefore : null;
}

/** Edits take away the diagnostics that they touch: those are about words no longer there. */
const forgetStale = EditorState.transactionExtender.of((transaction) => {
  if (!transaction.docChanged || transaction.effects.some((each) => each.is(setDiagnosticsEffect))) {
    return null;
  }
  const { changes, startState } = transaction;
  const kept = [];
  let stale = false;
  forEachDiagnostic(startState, (diagnostic, from, to) => {
    if (changes.touchesRange(from, to)) {
      stale = true;
    } else {
      kept.push({ ...diagnostic, from: changes.mapPos(from), to: changes.mapPos(to) });
    }
  });
  return stale ? { effects: setDiagnosticsEffect.of(kept) } : null;
});

export const celDiagnostics = [linter(null), forgetStale];

export function show(view, list, read) {
  const found = placed(list, read, view.state.doc.toString()).map(withWords);
  view.dispatch(setDiagnostics(view.state, found));
}
