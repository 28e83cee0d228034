/**
 * What kind of value stands before the cursor, as far as completion needs to know.
 *
 * A type is `{kind}` with more where there is more to say:
 *   device
 *   domains    `map`: "attributes" or "capacity"; all of them, by domain
 *   domain     `map`, `domain`: those of one domain, by name; domain null if not written out
 *   attribute  `map`, `domain`, `name`: one value; its type is in the catalog
 *   list, optional  `element`
 *   map        `key`, `value`
 *   namespace  `name`: cel, lists, sets …
 *   string, int, quantity, semver …, and unknown
 */

import { GLOBALS, KINDS_WITH_METHODS, NAMESPACES, globalFunction, methodOf } from "./functions.js";
import { nesting } from "./tokenizer.js";

const simple = (kind) => Object.freeze({ kind });
export const UNKNOWN = simple("unknown");
const STRING = simple("string");
const BOOL = simple("bool");
const INT = simple("int");

const MAX_DEPTH = 40; // of operands inside operands; deeper ones are unknown

const FIELDS = new Map(Object.entries({
  driver: Object.freeze({ kind: "string", source: "driver" }),
  attributes: Object.freeze({ kind: "domains", map: "attributes" }),
  capacity: Object.freeze({ kind: "domains", map: "capacity" }),
  allowMultipleAllocations: BOOL,
}));

/** The value inside an optional, or the value itself. */
export const inside = (type) => (type.kind === "optional" ? type.element : type);

const optional = (element) => ({ kind: "optional", element });

const is = (token, ...texts) => token !== undefined && texts.includes(token.text);
const isDot = (token) => is(token, ".", ".?");

/** The index of the bracket that the one at `close` closes, or -1. */
function opening(tokens, close) {
  let depth = 0;
  for (let i = close; i >= 0; i -= 1) {
    depth -= nesting(tokens[i].text);
    if (depth === 0) return i;
  }
  return -1;
}

/** The index of the innermost bracket that is still open before `index`, or -1. */
export function enclosing(tokens, index) {
  let depth = 0;
  for (let i = index - 1; i >= 0; i -= 1) {
    depth += nesting(tokens[i].text);
    if (depth > 0) return i;
  }
  return -1;
}

/**
 * The operand whose last token is `last`: `device.attributes["x"].y`, a call, a literal.
 *
 * @returns {{type: object, first: number} | null} its type and first token; null if no
 *   operand ends there
 */
export function operand(tokens, last, depth = 0) {
  const token = tokens[last];
  if (token === undefined) return null;
  if (depth > MAX_DEPTH) return { type: UNKNOWN, first: last };
  if (token.type === "string") {
    return { type: /b/i.test(token.prefix) ? simple("bytes") : STRING, first: last };
  }
  if (token.type === "number") return { type: numberType(token.text), first: last };
  if (token.type === "word") return word(tokens, last, depth);
  if (!is(token, ")", "]", "}")) return null;
  const open = opening(tokens, last);
  if (open < 0) return null;
  if (token.text === ")") return call(tokens, open, last, depth);
  if (token.text === "]") return index(tokens, open, last, depth);
  return { type: { kind: "map", key: UNKNOWN, value: UNKNOWN }, first: open };
}

function numberType(text) {
  if (/u$/i.test(text)) return simple("uint");
  return /^0x|^[0-9]+$/.test(text) ? INT : simple("double");
}

function word(tokens, at, depth) {
  const { text } = tokens[at];
  if (isDot(tokens[at - 1])) {
    const receiver = operand(tokens, at - 2, depth + 1);
    if (receiver) {
      const type = member(receiver.type, text, tokens[at - 1].text === ".?");
      return { type, first: receiver.first };
    }
  }
  if (text === "in") return null;
  if (text === "true" || text === "false") return { type: BOOL, first: at };
  return { type: variable(tokens, at, depth), first: at };
}

/** The type of `value.name`, or `value.?name`. */
function member(value, name, asOptional) {
  const type = field(inside(value), name);
  return asOptional || value.kind === "optional" ? optional(type) : type;
}

function field(value, name) {
  switch (value.kind) {
    case "device":
      return FIELDS.get(name) ?? UNKNOWN;
    case "domains":
      return { kind: "domain", map: value.map, domain: name };
    case "domain":
      return { kind: "attribute", map: value.map, domain: value.domain, name };
    case "map":
      return value.value;
    default:
      return UNKNOWN;
  }
}

function index(tokens, open, close, depth) {
  const receiver = operand(tokens, open - 1, depth + 1);
  if (!receiver) {
    const first = close === open + 2 ? operand(tokens, close - 1, depth + 1) : null;
    return { type: { kind: "list", element: first?.type ?? UNKNOWN }, first: open };
  }
  const key = tokens[open + 1];
  const written = close === open + 2 && key.type === "string" ? key.value : null;
  const asOptional = tokens[open].text === "[?" || receiver.type.kind === "optional";
  const type = element(inside(receiver.type), written);
  return { type: asOptional ? optional(type) : type, first: receiver.first };
}

/** What an index gives; `key` is null unless it is a string that is written out. */
function element(value, key) {
  if (value.kind === "list") return value.element;
  if (value.kind === "domains") return { kind: "domain", map: value.map, domain: key };
  if (value.kind === "domain") {
    return { kind: "attribute", map: value.map, domain: value.domain, name: key };
  }
  return value.kind === "map" ? value.value : UNKNOWN;
}

function call(tokens, open, close, depth) {
  const callee = tokens[open - 1];
  if (callee?.type !== "word" || callee.text === "in") {
    const inner = operand(tokens, close - 1, depth + 1);
    return { type: inner?.first === open + 1 ? inner.type : UNKNOWN, first: open };
  }
  const receiver = isDot(tokens[open - 2]) ? operand(tokens, open - 3, depth + 1) : null;
  if (!receiver) {
    return { type: resultType(globalFunction(callee.text)?.result, UNKNOWN), first: open - 1 };
  }
  if (receiver.type.kind === "namespace") {
    const name = `${receiver.type.name}.${callee.text}`;
    const bound = name === "cel.bind" ? operand(tokens, close - 1, depth + 1)?.type : null;
    return {
      type: bound ?? resultType(globalFunction(name)?.result, UNKNOWN),
      first: receiver.first,
    };
  }
  const method = methodFor(receiver.type, callee.text);
  return { type: resultType(method?.result, receiver.type), first: receiver.first };
}

function methodFor(type, name) {
  if (type.kind === "domains" || type.kind === "domain") return methodOf("map", name);
  if (type.kind !== "attribute" && type.kind !== "unknown") return methodOf(type.kind, name);
  const kind = KINDS_WITH_METHODS.find((each) => methodOf(each, name));
  return kind ? methodOf(kind, name) : null;
}

/** A result as functions.json writes it: string, list(string), element, same … */
function resultType(written, receiver) {
  if (written === undefined) return UNKNOWN;
  const nested = /^(list|optional)\((.*)\)$/.exec(written);
  if (nested) return { kind: nested[1], element: resultType(nested[2], receiver) };
  switch (written) {
    case "same":
      return receiver;
    case "element":
      return receiver.element ?? UNKNOWN;
    case "list":
    case "optional":
      return { kind: written, element: UNKNOWN };
    case "map":
      return { kind: "map", key: UNKNOWN, value: UNKNOWN };
    default:
      return simple(written);
  }
}

function variable(tokens, at, depth) {
  const { text } = tokens[at];
  const bound = scope(tokens, at).find(({ name }) => name === text);
  if (bound) return bound.type(depth + 1);
  if (text === "device") return simple("device");
  return NAMESPACES.has(text) ? { kind: "namespace", name: text } : UNKNOWN;
}

/**
 * The names that macros around `at` have made, innermost first: of `cel.bind(name, …)`
 * and of `list.exists(name, …)` and its like. `{name, type}`, type a function: most of
 * them nobody asks for, and each may need the others.
 */
export function scope(tokens, at) {
  const names = [];
  for (let open = enclosing(tokens, at); open >= 0; open = enclosing(tokens, open)) {
    names.push(...bindings(tokens, open, at));
  }
  return names;
}

function bindings(tokens, open, at) {
  if (open < 3 || tokens[open].text !== "(") return [];
  const [receiver, dot, callee, , first, comma] = tokens.slice(open - 3, open + 3);
  if (!isDot(dot) || callee.type !== "word" || first?.type !== "word") return [];
  if (!is(comma, ",") || open + 3 > at) return [];
  if (callee.text === "bind") return is(receiver, "cel") ? bound(tokens, open, at) : [];
  if (!methodFor(UNKNOWN, callee.text)?.macro) return [];
  const of = (part) => (depth) => elements(operand(tokens, open - 3, depth)?.type ?? UNKNOWN)[part];
  const second = tokens[open + 3];
  const two = callee.text !== "map" && second?.type === "word" && is(tokens[open + 4], ",");
  if (!two || open + 5 > at) return [{ name: first.text, type: of("key") }];
  return [
    { name: second.text, type: of("value") },
    { name: first.text, type: of("position") },
  ];
}

/** The name of `cel.bind(name, value, …)`, once the value is complete. */
function bound(tokens, open, at) {
  const comma = nextComma(tokens, open + 3, at);
  if (comma < 0) return [];
  const type = (depth) => {
    const value = operand(tokens, comma - 1, depth);
    return value?.first === open + 3 ? value.type : UNKNOWN;
  };
  return [{ name: tokens[open + 1].text, type }];
}

/** What one variable is bound to, and what two are. */
function elements(type) {
  switch (type.kind) {
    case "domains":
      return { key: STRING, position: STRING, value: { kind: "domain", map: type.map, domain: null } };
    case "domain":
      return { key: STRING, position: STRING, value: { kind: "attribute", ...pick(type), name: null } };
    case "map":
      return { key: type.key, position: type.key, value: type.value };
    case "list":
      return { key: type.element, position: INT, value: type.element };
    case "optional":
      return { key: type.element, position: UNKNOWN, value: UNKNOWN };
    default:
      return { key: UNKNOWN, position: UNKNOWN, value: UNKNOWN };
  }
}

const pick = ({ map, domain }) => ({ map, domain });

/** The comma that ends the argument that begins at `from`, before `before`; or -1. */
function nextComma(tokens, from, before) {
  let depth = 0;
  for (let i = from; i < before; i += 1) {
    depth += nesting(tokens[i].text);
    if (depth < 0) return -1;
    if (depth === 0 && is(tokens[i], ",")) return i;
  }
  return -1;
}

/** Members of a namespace: `bind` of `cel`. */
export const inNamespace = (name) =>
  GLOBALS.filter((row) => row.name.startsWith(`${name}.`)).map((row) => ({
    ...row,
    name: row.name.slice(name.length + 1),
  }));
