/**
 * CEL as Kubernetes has it, from text to tokens. Offsets are UTF-16 units.
 *
 * Unlike the server's tokenizer this one never fails: people type, and half an
 * expression has to have colours too.
 */

const SPACE = /[\t \r\n\f]+/y;
const COMMENT = /\/\/[^\n]*/y;
const STRING = /([bB]?[rR]?)("""|'''|"|')/y;
const NUMBER =
  /0x[0-9a-fA-F]+[uU]?|[0-9]+\.[0-9]+(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+|\.[0-9]+(?:[eE][+-]?[0-9]+)?|[0-9]+[uU]?/y;
const WORD = /[A-Za-z_][A-Za-z0-9_]*/y;
const OPERATOR = /==|!=|<=|>=|&&|\|\||\.\?|\[\?|\{\?|[-<>[\]{}().,!?:+*/%]/y;

const KEYWORDS = new Set(["true", "false", "null", "in"]);
const MACROS = new Set([
  "has", "all", "exists", "exists_one", "existsOne", "map", "filter", "transformList",
  "transformMap", "transformMapEntry", "bind", "optMap", "optFlatMap", "sortBy",
]);
const OPENING = new Set(["(", "[", "[?", "{", "{?"]);
const CLOSING = new Set([")", "]", "}"]);

/** What a token is called in style sheets: `hl-` and this. Others keep the text's colour. */
export const KINDS = ["comment", "string", "number", "keyword", "macro", "call", "device", "name", "operator"];

function matchAt(pattern, text, at) {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

/** Where a string ends that is closed by `close`, and whether it is closed at all. */
function endOfString(text, at, { close, raw }) {
  const oneLine = close.length === 1;
  let end = at;
  while (end < text.length) {
    if (oneLine && (text[end] === "\n" || text[end] === "\r")) return { end, closed: false };
    if (text.startsWith(close, end)) return { end: end + close.length, closed: true };
    end += text[end] === "\\" && !raw ? 2 : 1;
  }
  return { end: Math.min(end, text.length), closed: false };
}

/**
 * The token that starts at `at`. `inside` is the string that is still open there, for
 * texts that come line by line: `{close, raw}`, else null.
 *
 * Types: space, comment, string, number, word, operator, invalid. A string also has
 * `prefix`, `quote`, `content` (where it begins), `value` (as written, escapes and all),
 * `closed`, and `open`, which is the next token's `inside`.
 */
export function scan(text, at, inside = null) {
  if (inside) return stringToken(text, at, at, "", inside);
  let hit = matchAt(SPACE, text, at);
  if (hit) return { type: "space", from: at, to: at + hit[0].length };
  hit = matchAt(COMMENT, text, at);
  if (hit) return { type: "comment", from: at, to: at + hit[0].length };
  hit = matchAt(STRING, text, at);
  if (hit) {
    const open = { close: hit[2], raw: /r/i.test(hit[1]) };
    return stringToken(text, at, at + hit[0].length, hit[1], open);
  }
  for (const [type, pattern] of [["number", NUMBER], ["word", WORD], ["operator", OPERATOR]]) {
    hit = matchAt(pattern, text, at);
    if (hit) return { type, from: at, to: at + hit[0].length, text: hit[0] };
  }
  const char = String.fromCodePoint(text.codePointAt(at));
  return { type: "invalid", from: at, to: at + char.length, text: char };
}

function stringToken(text, from, content, prefix, inside) {
  const { end, closed } = endOfString(text, content, inside);
  const open = !closed && inside.close.length === 3 ? inside : null;
  const value = text.slice(content, closed ? end - inside.close.length : end);
  return { type: "string", from, to: end, prefix, quote: inside.close, content, value, closed, open };
}

/** All tokens of a text but space. */
export function tokenize(text) {
  const tokens = [];
  for (let at = 0; at < text.length; ) {
    const token = scan(text, at);
    if (token.type !== "space") tokens.push(token);
    at = token.to;
  }
  return tokens;
}

/**
 * What a token is shown as: one of KINDS, "invalid", or null for brackets and space.
 * `previous` is the text of the token before it, `rest` what follows it.
 */
export function kindOf(token, previous, rest) {
  switch (token.type) {
    case "operator":
      return isBracket(token.text) || ".?,".includes(token.text) ? null : "operator";
    case "word":
      return wordKind(token.text, previous === "." || previous === ".?", /^\s*\(/.test(rest));
    case "space":
      return null;
    default:
      return token.type;
  }
}

function wordKind(word, isField, isCalled) {
  if (!isField && KEYWORDS.has(word)) return "keyword";
  if (isCalled) return MACROS.has(word) && isField === (word !== "has") ? "macro" : "call";
  return !isField && word === "device" ? "device" : "name";
}

export function isBracket(text) {
  return OPENING.has(text) || CLOSING.has(text);
}

/** One more level of brackets, one less, or neither: 1, -1 or 0. */
export function nesting(text) {
  if (OPENING.has(text)) return 1;
  return CLOSING.has(text) ? -1 : 0;
}
