/**
 * What the server says about lines of a YAML text.
 *
 * `[{"line", "column", "endLine", "endColumn", "severity": "error" | "warning" | "info", "message"}]`,
 * positions from 1, columns in code points, the end exclusive. Without an end a mark goes to the end
 * of its line. Marks move with what is typed.
 */

import { linter, setDiagnostics } from "@codemirror/lint";
import { ChangeSet, Text } from "@codemirror/state";

import { difference, utf16Offsets } from "./offsets.js";
import { known, withWords } from "./problems.js";

const MOST = 1000; // more than anybody reads

/**
 * The server's list as CodeMirror takes it: `{from, to, severity, message}`, in order.
 *
 * @param {string} read the text that the server has read
 * @param {string} now what stands in the editor meanwhile: what was rewritten is left out
 */
export function placedMarks(list, read, now) {
  if (!Array.isArray(list)) return [];
  const text = Text.of(read.split("\n"));
  const changes = changesBetween(read, now);
  return list
    .slice(0, MOST)
    .flatMap((one) => {
      if (typeof one?.message !== "string" || !isPosition(one.line)) return [];
      const { from, to } = stretch(one, text);
      const at = changes.mapPos(from, 1);
      const end = Math.max(at, changes.mapPos(to, -1));
      if (to > from && end === at) return [];
      return [{ from: at, to: end, severity: known(one.severity), message: one.message }];
    })
    .sort((a, b) => a.from - b.from || a.to - b.to);
}

const isPosition = (value) => Number.isInteger(value) && value >= 1;

function stretch({ line, column, endLine, endColumn }, text) {
  const from = offset(text, line, isPosition(column) ? column : 1);
  const lastLine = isPosition(endLine) ? endLine : line;
  const to = isPosition(endColumn) ? offset(text, lastLine, endColumn) : endOf(text, lastLine);
  return { from, to: Math.max(from, to) };
}

/** The offset in UTF-16 units of a place that is counted from 1; what is behind the end is at the end. */
export function offset(text, line, column) {
  const found = text.line(Math.min(Math.max(line, 1), text.lines));
  return line > text.lines ? found.to : found.from + utf16Offsets(found.text)(column - 1);
}

const endOf = (text, line) => text.line(Math.min(line, text.lines)).to;

function changesBetween(before, after) {
  const found = difference(before, after);
  if (!found) return ChangeSet.empty(before.length);
  const { from, toBefore, toAfter } = found;
  return ChangeSet.of({ from, to: toBefore, insert: after.slice(from, toAfter) }, before.length);
}

export const marks = linter(null);

export function showMarks(view, list, read) {
  const found = placedMarks(list, read, view.state.doc.toString()).map(withWords);
  view.dispatch(setDiagnostics(view.state, found));
}
