/** What may stand where the cursor is. */

import { enclosing, inside, operand, scope } from "./types.js";
import { tokenize } from "./tokenizer.js";

const EQUALITY = ["==", "!="];
const ORDER = ["<", "<=", ">", ">="];
const WRAPPERS = ["quantity", "semver"];

/**
 * The place at the end of `text`, which is the expression up to the cursor.
 *
 * @returns {{place: string, from: number} | null} `from` is where the word begins that the
 *   cursor is in or behind. Places:
 *   - start: an operand may begin; `scope` names in reach, `compared` as below or null
 *   - member: after a dot; `type` before it, `dot` its offset, `optional` for `.?`
 *   - key: in the brackets of `device.attributes[…]`; `type` before them
 *   - string: in a string; `compared` is the value it is compared with
 *   Key and string have `string`, the token of the open string: null outside of one.
 *   `compared` is `{type, by, wrapper}`: the other side, how (equality, order, in,
 *   method), and `quantity` or `semver` when the string is the argument of that.
 */
export function placeAt(text) {
  const all = tokenize(text);
  const end = all.at(-1);
  if (end?.type === "comment") return null;
  const tokens = all.filter((token) => token.type !== "comment");
  if (end?.type === "string" && !end.closed) return placeInString(tokens, end);
  const touching = end && end.to === text.length && (end.type === "word" || end.type === "number");
  const from = touching ? end.from : text.length;
  const before = tokens.length - (touching ? 2 : 1);
  return placeOutside(tokens, before, from, touching ? end.type : null);
}

function placeInString(tokens, string) {
  if (/b/i.test(string.prefix)) return null;
  const before = tokens.length - 2;
  const type = keyedType(tokens, before);
  if (type) return { place: "key", from: string.content, type, string };
  const compared = comparedAt(tokens, before);
  return compared && { place: "string", from: string.content, compared, string };
}

function placeOutside(tokens, before, from, touching) {
  const token = tokens[before];
  if (token?.text === "." || token?.text === ".?") {
    const receiver = operand(tokens, before - 1);
    if (!receiver || touching === "number") return null;
    const optional = token.text === ".?";
    return { place: "member", from, type: receiver.type, dot: token.from, optional };
  }
  const type = keyedType(tokens, before);
  if (type) return { place: "key", from, type, string: null };
  if (token && operand(tokens, before)) return null;
  const compared = comparedAt(tokens, before);
  if (touching === "number" && !compared) return null;
  return { place: "start", from, scope: scope(tokens, before + 1), compared };
}

/** The map whose key stands in the bracket at `at`; null if that is no such bracket. */
function keyedType(tokens, at) {
  if (!["[", "[?"].includes(tokens[at]?.text)) return null;
  const type = operand(tokens, at - 1)?.type;
  return type && ["domains", "domain"].includes(inside(type).kind) ? inside(type) : null;
}

/** What the literal after the token at `at` is compared with, or null. */
function comparedAt(tokens, at) {
  const text = tokens[at]?.text;
  if (EQUALITY.includes(text)) return against(tokens, at - 1, "equality");
  if (ORDER.includes(text)) return against(tokens, at - 1, "order");
  if (text === "(") return comparedByCall(tokens, at);
  if (text !== "[" && text !== ",") return null;
  const open = text === "[" ? at : enclosing(tokens, at);
  const isListOf = tokens[open]?.text === "[" && tokens[open - 1]?.text === "in";
  return isListOf ? against(tokens, open - 2, "in") : null;
}

function comparedByCall(tokens, open) {
  const callee = tokens[open - 1];
  if (callee?.type !== "word") return null;
  if (tokens[open - 2]?.text === ".") return against(tokens, open - 3, "method");
  if (!WRAPPERS.includes(callee.text)) return null;
  const outer = comparedAt(tokens, open - 2);
  return outer && { ...outer, wrapper: callee.text };
}

function against(tokens, last, by) {
  const found = operand(tokens, last);
  return found && { type: inside(found.type), by, wrapper: null };
}
