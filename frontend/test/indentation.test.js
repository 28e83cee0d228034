import assert from "node:assert/strict";
import { test } from "node:test";

import { EditorState } from "@codemirror/state";

import { columnsAfter, newLine } from "../src/indentation.js";

function afterEnter(doc, from = doc.length, to = from) {
  let next = null;
  const state = EditorState.create({ doc, selection: { anchor: from, head: to } });
  newLine({ state, dispatch: (transaction) => (next = transaction.state) });
  return `${next.sliceDoc(0, next.selection.main.head)}|${next.sliceDoc(next.selection.main.head)}`;
}

test("the next line begins where its sibling does", () => {
  assert.equal(columnsAfter("name: a"), 0);
  assert.equal(columnsAfter("    name: a"), 4);
  assert.equal(columnsAfter("  - name: a"), 4);
  assert.equal(columnsAfter("  - - name: a"), 6);
  assert.equal(columnsAfter('  - "gpu.example.com/model": a'), 4);
  assert.equal(columnsAfter("  - item"), 2);
  assert.equal(columnsAfter("  # a: comment"), 2);
  assert.equal(columnsAfter("    "), 4);
});

test("it begins deeper where a value has to follow", () => {
  assert.equal(columnsAfter("devices:"), 2);
  assert.equal(columnsAfter("  requests:   # two"), 4);
  assert.equal(columnsAfter("  - exactly:"), 6);
  assert.equal(columnsAfter("    expression: |-"), 6);
  assert.equal(columnsAfter("    expression: >"), 6);
});

test("a line of text is followed by one as deep", () => {
  assert.equal(columnsAfter("      device.driver == 'a:b' &&"), 6);
  assert.equal(columnsAfter("key: http://a:"), 2); // ends as a key does
  assert.equal(columnsAfter(""), 0);
});

test("what stands behind the cursor comes along without its spaces", () => {
  assert.equal(afterEnter("  a: 1"), "  a: 1\n  |");
  assert.equal(afterEnter("  a:  1", 4), "  a:\n    |1");
  assert.equal(afterEnter("  a: 1 xyz", 6, 9), "  a: 1\n  |z");
});

test("a text that is only read stays", () => {
  const state = EditorState.create({ doc: "a", extensions: [EditorState.readOnly.of(true)] });
  assert.equal(newLine({ state, dispatch: () => assert.fail() }), false);
});
