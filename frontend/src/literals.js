/** Values as CEL writes them. */

const ESCAPES = { "\n": "\\n", "\r": "\\r", "\t": "\\t", "\\": "\\\\" };

const escaped = (text, quote) =>
  text.replace(/[\\\n\r\t"']/g, (char) => ESCAPES[char] ?? (char === quote ? `\\${char}` : char));

/** A string literal in double quotes. */
export const quoted = (text) => `"${escaped(text, '"')}"`;

/** A value as it has to be written inside this string; null if it cannot be. */
export function asContent(text, { prefix, quote }) {
  if (!/r/i.test(prefix)) return escaped(text, quote[0]);
  return text.includes(quote[0]) || /[\n\r]/.test(text) ? null : text;
}
