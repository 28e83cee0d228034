import assert from "node:assert/strict";
import { test } from "node:test";

import { insertNewlineAndIndent } from "@codemirror/commands";
import { insertBracket } from "@codemirror/autocomplete";
import { getIndentation } from "@codemirror/language";
import { EditorState } from "@codemirror/state";

import { celLanguage } from "../src/language.js";
import { MAX_BYTES, limitedTo, tooLong } from "../src/limit.js";
import { remark, statusLine } from "../src/status.js";

const cel = (doc, at = doc.length) =>
  EditorState.create({ doc, selection: { anchor: at }, extensions: [celLanguage] });

function afterEnter(state) {
  let next = state;
  insertNewlineAndIndent({ state, dispatch: (transaction) => (next = transaction.state) });
  return next.doc.toString();
}

test("a new line is indented by the brackets that are open", () => {
  assert.equal(afterEnter(cel("size([")), "size([\n    ");
  assert.equal(afterEnter(cel("a &&")), "a &&\n");
});

test("a closing bracket stands where its line began", () => {
  assert.equal(getIndentation(cel("(\n  a\n)"), 6), 0);
  assert.equal(getIndentation(cel('("(["\n)'), 6), 0);
  assert.equal(getIndentation(cel("size([\n    1\n])"), 13), 0);
});

test("the inside of a string is not indented", () => {
  assert.equal(afterEnter(cel('("""a')), '("""a\n');
  assert.equal(afterEnter(cel('("""a\n b')), '("""a\n b\n ');
});

test("brackets and quotes are closed, in strings with a prefix too", () => {
  const typed = (doc, bracket) => insertBracket(cel(doc), bracket)?.newDoc.toString() ?? null;
  assert.equal(typed("a", "["), "a[]");
  assert.equal(typed("a[", '"'), 'a[""');
  assert.equal(typed("r", '"'), 'r""');
  assert.equal(typed("x", '"'), null);
});

const limited = (doc, most) => {
  const state = EditorState.create({ doc, extensions: [limitedTo(() => most), statusLine("s", "", tooLong)] });
  return (from, insert, userEvent = "input.type") =>
    state.update({ changes: { from, insert }, ...(userEvent && { userEvent }) }).state;
};

test("maxlength leaves out what does not fit, and says so", () => {
  const edit = limited("abc", 5);
  assert.equal(edit(3, "de").doc.toString(), "abcde");
  assert.equal(remark(edit(3, "de"), tooLong), null);
  const cut = edit(1, "12345", "input.paste");
  assert.equal(cut.doc.toString(), "a12bc");
  assert.equal(cut.selection.main.head, 3);
  assert.match(remark(cut, tooLong).text, /limit is 5 characters/);
  assert.equal(limited("abcde", 5)(5, "f").doc.toString(), "abcde");
});

test("maxlength never cuts a character in half", () => {
  assert.equal(limited("abc", 4)(3, "😀").doc.toString(), "abc");
  assert.equal(limited("abc", 5)(3, "😀😀").doc.toString(), "abc😀");
});

test("maxlength holds for what people type, not for what the page sets", () => {
  assert.equal(limited("abc", 4)(3, "defg", null).doc.toString(), "abcdefg");
  assert.equal(limited("abc", -1)(3, "defg").doc.toString(), "abcdefg");
});

test("the limit of Kubernetes counts bytes", () => {
  const said = (doc) => tooLong(EditorState.create({ doc }))?.text ?? null;
  assert.equal(said("a".repeat(MAX_BYTES)), null);
  assert.match(said("a".repeat(MAX_BYTES + 1)), /^10,241 of 10,240 bytes/);
  assert.match(said("é".repeat(MAX_BYTES / 2 + 1)), /^10,242 of 10,240 bytes/);
});
