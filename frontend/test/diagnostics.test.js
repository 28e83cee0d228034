import assert from "node:assert/strict";
import { test } from "node:test";

import { setDiagnostics } from "@codemirror/lint";
import { EditorState } from "@codemirror/state";

import { celDiagnostics, placed } from "../src/diagnostics.js";
import { atCursor, counts } from "../src/problems.js";

const error = (start, end, message = "no") => ({ start, end, severity: "error", message });
const places = (list, read, now = read) => placed(list, read, now).map(({ from, to }) => [from, to]);

test("code points become UTF-16 units", () => {
  assert.deepEqual(places([error(3, 4)], '"😀"x'), [[4, 5]]);
});

test("what makes no sense is left out, what is too long is cut", () => {
  assert.deepEqual(places([null, {}, { start: 1 }, { start: "1", message: "m" }, error(null, 3)], "abc"), []);
  assert.deepEqual(places([error(1, 99), error(99, 100), error(2, 1)], "abc"), [[1, 3], [3, 3], [2, 2]]);
  assert.deepEqual(placed("[]", "a", "a"), []);
});

test("an unknown severity counts as an error", () => {
  const [found] = placed([{ start: 0, end: 1, severity: "toString", message: "m" }], "a", "a");
  assert.equal(found.severity, "error");
});

test("text typed since moves what comes behind it", () => {
  assert.deepEqual(places([error(0, 1), error(4, 5)], "a && b", "a && true && b"), [[0, 1]]);
  assert.deepEqual(places([error(0, 1), error(5, 6)], "a && b", "a  && b"), [[0, 1], [6, 7]]);
});

test("what has been rewritten since is left out", () => {
  assert.deepEqual(places([error(2, 5)], "a.foo == 1", "a.bar == 1"), []);
});

function stateWith(doc, ...list) {
  const state = EditorState.create({ doc, extensions: [celDiagnostics] });
  return state.update(setDiagnostics(state, placed(list, doc, doc))).state;
}

const count = (state) => {
  const found = [];
  for (let at = 0; at <= state.doc.length; at += 1) {
    const here = atCursor(state.update({ selection: { anchor: at } }).state);
    if (here && found.at(-1) !== here.message) found.push(here.message);
  }
  return found;
};

test("an edit takes away the diagnostics it touches, and no others", () => {
  const state = stateWith("foo && bar", error(0, 3, "foo"), error(7, 10, "bar"));
  const edited = state.update({ changes: { from: 1, to: 2, insert: "" } }).state;
  assert.deepEqual(count(edited), ["bar"]);
  const appended = state.update({ changes: { from: 3, insert: "x" } }).state;
  assert.deepEqual(count(appended), ["bar"]);
  const between = state.update({ changes: { from: 5, insert: " " } }).state;
  assert.deepEqual(count(between), ["foo", "bar"]);
});

test("diagnostics stay with their words", () => {
  const state = stateWith("foo && bar", error(7, 10, "bar"));
  const edited = state.update({ changes: { from: 0, insert: "true && " } }).state;
  const atEnd = edited.update({ selection: { anchor: 18 } }).state;
  assert.equal(atCursor(atEnd).message, "bar");
});

test("an error comes before a warning at the same place", () => {
  const warning = { start: 0, end: 3, severity: "warning", message: "w" };
  const state = stateWith("foo", warning, error(0, 3, "e"));
  assert.deepEqual([atCursor(state).message, counts(state)], ["e", { error: 1, warning: 1, info: 0 }]);
  assert.equal(counts(stateWith("foo", warning)).error, 0);
});
