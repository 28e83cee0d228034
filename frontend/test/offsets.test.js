import assert from "node:assert/strict";
import { test } from "node:test";

import { byteLength, difference, utf16Offsets } from "../src/offsets.js";

test("code points count characters, UTF-16 counts units", () => {
  const at = utf16Offsets("a😀é\n𝒳");
  assert.deepEqual([0, 1, 2, 3, 4, 5].map(at), [0, 1, 3, 4, 5, 7]);
});

test("an offset outside of the text is moved to its end", () => {
  const at = utf16Offsets("ab");
  assert.deepEqual([at(-3), at(99)], [0, 2]);
  assert.equal(utf16Offsets("")(1), 0);
});

test("a lone surrogate is a code point of its own", () => {
  assert.deepEqual([0, 1, 2, 3].map(utf16Offsets("\ud83dx\ude00")), [0, 1, 2, 3]);
});

test("bytes are those of UTF-8", () => {
  assert.equal(byteLength("aé€😀"), 1 + 2 + 3 + 4);
});

test("the difference of two texts turns one into the other", () => {
  const texts = ["", "a", "aa", "aaa", "aba", "abba", "ba", "xaay", "a😀b", "ab"];
  for (const before of texts) {
    for (const after of texts) {
      const change = difference(before, after);
      if (before === after) {
        assert.equal(change, null);
        continue;
      }
      const { from, toBefore, toAfter } = change;
      assert.equal(before.slice(0, from) + after.slice(from, toAfter) + before.slice(toBefore), after);
    }
  }
});
