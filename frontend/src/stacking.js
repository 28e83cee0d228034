/** Lines on top of each other: pure arithmetic, no chart. */

/**
 * The upper edge of each layer, the lowest layer first. Where nobody looked (null), there is no edge.
 *
 * @param {(number | null)[][]} layers
 */
export function stacked(layers) {
  const sums = layers.length ? layers[0].map(() => 0) : [];
  return layers.map((values) =>
    values.map((value, at) => {
      if (value === null || sums[at] === null) return (sums[at] = null);
      return (sums[at] += value);
    }),
  );
}

/**
 * Steps have a width: where nobody looked afterwards, the last one known is drawn to its end.
 *
 * A point more stands there, just before the next step. `places` says which step each point is of.
 *
 * @param {number[]} times
 * @param {number} step
 * @param {(number | null)[][]} lines
 */
export function widened(times, step, lines) {
  const places = [];
  const wide = { times: [], lines: lines.map(() => []) };
  const put = (time, at) => {
    wide.times.push(time);
    wide.lines.forEach((line, number) => line.push(lines[number][at]));
    places.push(at);
  };
  const known = (at) => lines.some((line) => (line[at] ?? null) !== null);
  times.forEach((time, at) => {
    put(time, at);
    if (known(at) && !known(at + 1)) put(time + step * 0.999, at);
  });
  return { ...wide, places };
}

/** A number for people: whole ones plainly, averages with one digit. */
export function worded(value) {
  const digits = Number.isInteger(value) || value >= 100 ? 0 : 1;
  return value.toLocaleString("en", { maximumFractionDigits: digits });
}
