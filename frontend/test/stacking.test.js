import assert from "node:assert/strict";
import { test } from "node:test";

import { stacked, widened, worded } from "../src/stacking.js";

test("layers add up, and a gap is a gap in all that is above", () => {
  assert.deepEqual(stacked([[1, null, 2], [3, null, 4]]), [[1, null, 2], [4, null, 6]]);
  assert.deepEqual(stacked([]), []);
});

test("averages have one digit, whole and great numbers none", () => {
  assert.deepEqual([3, 3.25, 1234.5].map(worded), ["3", "3.3", "1,235"]);
});

test("a step before a gap is drawn to its end, and one alone too", () => {
  const found = widened([0, 60, 120, 180, 240], 60, [[1, 2, null, 3, null]]);
  assert.deepEqual(found.lines, [[1, 2, 2, null, 3, 3, null]]);
  assert.deepEqual(found.places, [0, 1, 1, 2, 3, 3, 4]);
  assert.deepEqual(found.times, [0, 60, 60 + 59.94, 120, 180, 180 + 59.94, 240]);
  assert.deepEqual(widened([0], 60, [[7]]).lines, [[7, 7]]);
  assert.deepEqual(widened([], 60, [[]]), { times: [], lines: [[]], places: [] });
});
