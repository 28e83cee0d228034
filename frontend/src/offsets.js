/** Offsets in code points, as the server counts them, to UTF-16 units, as the editor does. */

/**
 * The UTF-16 offset of each code point offset from 0 to the length of the text.
 * An offset behind the end means the end; one before the start, the start.
 */
export function utf16Offsets(text) {
  const starts = [];
  let unit = 0;
  for (const char of text) {
    starts.push(unit);
    unit += char.length;
  }
  starts.push(unit);
  return (codePoint) => starts[Math.min(Math.max(codePoint, 0), starts.length - 1)];
}

/** How many bytes of UTF-8 Kubernetes would count. */
export function byteLength(text) {
  return new TextEncoder().encode(text).length;
}

/**
 * The one stretch in which two texts differ: `from` to `toBefore` of `before`
 * became `from` to `toAfter` of `after`. Null when they are the same.
 */
export function difference(before, after) {
  if (before === after) return null;
  const shorter = Math.min(before.length, after.length);
  let from = 0;
  while (from < shorter && before[from] === after[from]) from += 1;
  let same = 0;
  while (
    same < shorter - from &&
    before[before.length - 1 - same] === after[after.length - 1 - same]
  ) {
    same += 1;
  }
  return { from, toBefore: before.length - same, toAfter: after.length - same };
}
