import assert from "node:assert/strict";
import { test } from "node:test";

import { pieces } from "../src/highlight.js";
import { scan, tokenize } from "../src/tokenizer.js";

const kinds = (text) => pieces(text).filter(([kind, piece]) => kind !== null && piece.trim());
const types = (text) => tokenize(text).map((token) => [token.type, text.slice(token.from, token.to)]);

test("every piece of a text is shown, none twice", () => {
  const texts = [
    'device.driver == "gpu.nvidia.com" // the driver\n&& true',
    "'unclosed\nx", '"""three\nlines""" + r\'raw\\\'', "a ? .5 : `b` ¿ 😀 'é😀", "\\", '"\\', "'''a\\",
  ];
  for (const text of texts) assert.equal(pieces(text).map(([, piece]) => piece).join(""), text);
});

test("strings of every form are one token", () => {
  const strings = [
    '"a"', "'a'", 'r"\\"', "R'\\'", 'b"a"', "B'a'", 'br"\\"', '"\\""', "'\\''", '"""a"b\n"""', "'''a\n'b'''",
    'r"""\\"""', 'b"""x"""', '""', "''", '"😀"',
  ];
  for (const text of strings) {
    const tokens = tokenize(text);
    assert.deepEqual(tokens.map(({ type, to, closed }) => [type, to, closed]), [["string", text.length, true]], text);
  }
});

test("a prefix that CEL does not have is a word", () => {
  assert.deepEqual(types('rb"a"'), [["word", "rb"], ["string", '"a"']]);
  assert.deepEqual(types('f"a"'), [["word", "f"], ["string", '"a"']]);
});

test("a string of one line ends with the line", () => {
  assert.deepEqual(types('"a\nb'), [["string", '"a'], ["word", "b"]]);
});

test("a string of three quotes goes on in the next line", () => {
  const first = scan('"""a', 0);
  assert.equal(first.closed, false);
  const second = scan('b""" c', 0, first.open);
  assert.deepEqual([second.to, second.closed, second.open], [4, true, null]);
});

test("numbers of every form are one token", () => {
  for (const text of ["0", "12u", "12U", "0xFf", "0x1u", "1.5", ".5", "1e3", "1.5E-3", "2e+1", ".5e1"]) {
    assert.deepEqual(types(text), [["number", text]]);
  }
  assert.deepEqual(types("1."), [["number", "1"], ["operator", "."]]);
});

test("optional access is one operator, a question mark of its own is another", () => {
  assert.deepEqual(types('a.?b[?"c"]').map(([, text]) => text), ["a", ".?", "b", "[?", '"c"', "]"]);
  assert.deepEqual(types("a?b:c").map(([, text]) => text), ["a", "?", "b", ":", "c"]);
});

test("words are shown for what they are", () => {
  assert.deepEqual(kinds('has(device.attributes["a"].device) && x.in.size() in [true]'), [
    ["macro", "has"], ["device", "device"], ["name", "attributes"], ["string", '"a"'], ["name", "device"],
    ["operator", "&&"], ["name", "x"], ["name", "in"], ["call", "size"], ["keyword", "in"], ["keyword", "true"],
  ]);
});

test("a macro is one only where it can be", () => {
  assert.deepEqual(kinds("map(all) x.has(y) l.exists (x, x) cel.bind(a, b, c)").slice(0, 7), [
    ["call", "map"], ["name", "all"], ["name", "x"], ["call", "has"], ["name", "y"], ["name", "l"], ["macro", "exists"],
  ]);
});

test("a comment ends with its line, and is none inside a string", () => {
  assert.deepEqual(types('1 // "a\n"//b"'), [["number", "1"], ["comment", '// "a'], ["string", '"//b"']]);
});

test("what starts no token is invalid, character by character", () => {
  assert.deepEqual(types("`😀="), [["invalid", "`"], ["invalid", "😀"], ["invalid", "="]]);
});

test("no text takes long", () => {
  for (const text of ['"'.repeat(50_000), "(".repeat(50_000), "\\".repeat(50_000), "r'".repeat(25_000)]) {
    const started = performance.now();
    pieces(text);
    assert.ok(performance.now() - started < 2_000);
  }
});
