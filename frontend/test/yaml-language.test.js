import assert from "node:assert/strict";
import { test } from "node:test";

import { EditorState } from "@codemirror/state";
import { ensureSyntaxTree, foldable, highlightingFor } from "@codemirror/language";
import { highlightTree } from "@lezer/highlight";

import { yaml, yamlHighlighting } from "../src/yaml-language.js";

/** `{"device": "hl-device"}` and so on, as the editor shows a text. */
function shown(doc) {
  const state = EditorState.create({ doc, extensions: [yaml, yamlHighlighting] });
  const found = {};
  const style = (tags) => highlightingFor(state, tags);
  highlightTree(ensureSyntaxTree(state, doc.length, 5000), { style }, (from, to, classes) => {
    found[doc.slice(from, to)] = classes;
  });
  return found;
}

test("keys, texts, plain scalars and comments have the colours of pages that show YAML", () => {
  const found = shown("name: train # ours\ncount: 8\nall: true\nname2: '8'\n");
  assert.equal(found.name, "hl-key");
  assert.equal(found.train, "hl-string");
  assert.equal(found["# ours"], "hl-comment");
  assert.equal(found["8"], "hl-number");
  assert.equal(found.true, "hl-number");
  assert.equal(found["'8'"], "hl-string");
});

test("an expression has the colours of CEL, however it is written", () => {
  const cel = 'device.driver == "gpu.example.com"';
  for (const doc of [
    `- cel:\n    expression: ${cel}\n`,
    `cel:\n  expression: >-\n    true &&\n    ${cel}\nmore: 1\n`,
    `cel:\n  expression: |\n    ${cel}\n`,
    `cel: {expression: '${cel}'}\n`,
  ]) {
    const found = shown(doc);
    assert.equal(found.expression, "hl-key", doc);
    assert.equal(found.device, "hl-device", doc);
    assert.equal(found["=="], "hl-operator", doc);
    assert.equal(found['"gpu.example.com"'], "hl-string", doc);
  }
});

test("escapes of YAML are not taken for CEL, nor are other fields", () => {
  assert.equal(shown('expression: "device.driver == \\"a\\""\n').device, undefined);
  assert.equal(shown("expression: 'a ''b'' device'\n").device, undefined);
  assert.equal(shown("title: device.driver\n").device, undefined);
});

test("a request can be folded", () => {
  const doc = "devices:\n  requests:\n  - name: a\n    exactly:\n      count: 1\n  - name: b\n";
  const state = EditorState.create({ doc, extensions: [yaml] });
  ensureSyntaxTree(state, doc.length, 5000);
  const line = state.doc.line(3);
  const found = foldable(state, line.from, line.to);
  assert.equal(state.sliceDoc(found.from, found.to), "\n    exactly:\n      count: 1");
});

test("a text that is nested too deeply for the parser stays plain", () => {
  const doc = "- ".repeat(20_000);
  const state = EditorState.create({ doc, extensions: [yaml] });
  const tree = ensureSyntaxTree(state, doc.length, 20_000);
  assert.equal(tree.length, doc.length);
  assert.equal(tree.topNode.firstChild, null);
});

test("no text takes long", () => {
  for (const doc of ["- ".repeat(20_000), "[".repeat(20_000), "a: ".repeat(20_000), '"'.repeat(20_001)]) {
    const began = performance.now();
    const state = EditorState.create({ doc, extensions: [yaml] });
    ensureSyntaxTree(state, doc.length, 1000);
    assert.ok(performance.now() - began < 10_000);
  }
});
