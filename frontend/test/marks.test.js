import assert from "node:assert/strict";
import { test } from "node:test";

import { setDiagnostics } from "@codemirror/lint";
import { EditorState, Text } from "@codemirror/state";

import { marks, offset, placedMarks } from "../src/marks.js";
import { atCursor, counts } from "../src/problems.js";

const TEXT = "kind: ResourceClaim\nname: 😀 claim\n\nlast: 1";
const mark = (line, column, more = {}) => ({ line, column, severity: "error", message: "no", ...more });
const words = (list, read = TEXT, now = read) =>
  placedMarks(list, read, now).map(({ from, to }) => now.slice(from, to));

test("positions count from 1, columns in code points, the end is exclusive", () => {
  assert.deepEqual(words([mark(1, 7, { endLine: 1, endColumn: 15 })]), ["Resource"]);
  assert.deepEqual(words([mark(2, 9, { endLine: 2, endColumn: 14 })]), ["claim"]);
  assert.deepEqual(words([mark(1, 7, { endLine: 2, endColumn: 5 })]), ["ResourceClaim\nname"]);
});

test("without an end a mark goes to the end of its line", () => {
  assert.deepEqual(words([mark(1, 7)]), ["ResourceClaim"]);
  assert.deepEqual(words([mark(4, undefined)]), ["last: 1"]);
  assert.deepEqual(words([mark(1, 1, { endLine: 2 })]), ["kind: ResourceClaim\nname: 😀 claim"]);
  assert.deepEqual(placedMarks([mark(3, 1)], TEXT, TEXT).map(({ from, to }) => [from, to]), [[35, 35]]);
});

test("a place behind the end is at the end, and nonsense is left out", () => {
  assert.deepEqual(placedMarks([mark(99, 5)], TEXT, TEXT).map(({ from, to }) => [from, to]), [[43, 43]]);
  assert.deepEqual(words([mark(4, 99)]), [""]);
  assert.deepEqual(words([null, {}, mark(0, 1), mark("1", 1), { line: 1, column: 1 }]), []);
  assert.deepEqual(placedMarks({}, TEXT, TEXT), []);
  assert.equal(placedMarks([mark(1, 1, { severity: "fatal" })], TEXT, TEXT)[0].severity, "error");
  assert.equal(placedMarks(Array.from({ length: 5000 }, () => mark(1, 1)), TEXT, TEXT).length, 1000);
  assert.equal(offset(Text.of(["ab", "c"]), 2, 1), 3);
});

test("what was typed since the request moves marks, what was rewritten takes them away", () => {
  const now = `# mine\n${TEXT}`;
  assert.deepEqual(words([mark(4, 1)], TEXT, now), ["last: 1"]);
  const rewritten = TEXT.replace("ResourceClaim", "Pod");
  assert.deepEqual(words([mark(1, 9, { endColumn: 12 }), mark(4, 1)], TEXT, rewritten), ["last: 1"]);
});

test("marks move with later edits", () => {
  let state = EditorState.create({ doc: TEXT, extensions: [marks] });
  state = state.update(setDiagnostics(state, placedMarks([mark(4, 1)], TEXT, TEXT))).state;
  state = state.update({ changes: { from: 0, insert: "# mine\n" } }).state;
  state = state.update({ selection: { anchor: state.doc.length } }).state;
  assert.equal(atCursor(state).message, "no");
  assert.deepEqual(counts(state), { error: 1, warning: 0, info: 0 });
});
