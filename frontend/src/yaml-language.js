/** YAML for CodeMirror, with CEL in the expressions of selectors. */

import { yamlLanguage } from "@codemirror/lang-yaml";
import { StreamLanguage, syntaxHighlighting } from "@codemirror/language";
import { parseMixed, Tree } from "@lezer/common";
import { Tag, tagHighlighter, tags } from "@lezer/highlight";

import { celHighlighting, celInside } from "./language.js";

/** Scalars that are no text; pages that show YAML say the same. */
const PLAIN = /^(?:-?\d+(?:\.\d+)?|true|false|null|~)$/;
const LONGEST_PLAIN = 40;

const plain = Tag.define("plain");
const plainScalar = StreamLanguage.define({
  name: "yaml-scalar",
  token: (stream) => (stream.skipToEnd(), "plain"),
  tokenTable: { plain },
  indent: () => null,
  languageData: { commentTokens: { line: "#" } },
});

const celInBlock = celInside("//");
const celInLine = celInside("#");

/** What is nested in a scalar; null for YAML and nothing else. */
function nested(node, input) {
  const isBlock = node.name === "BlockLiteralContent";
  if (!isBlock && node.name !== "Literal" && node.name !== "QuotedLiteral") return null;
  if (keyOf(node.node, input) === "expression") return cel(node, isBlock, input);
  if (node.name !== "Literal" || node.to - node.from > LONGEST_PLAIN) return null;
  return PLAIN.test(input.read(node.from, node.to)) ? { parser: plainScalar.parser } : null;
}

function cel(node, isBlock, input) {
  if (isBlock) return { parser: celInBlock.parser };
  if (node.name === "Literal") return { parser: celInLine.parser };
  const inside = { from: node.from + 1, to: node.to - 1 };
  // Quotes that are escaped for YAML are not what CEL reads.
  if (inside.from >= inside.to || /\\|''/.test(input.read(inside.from, inside.to))) return null;
  return { parser: celInLine.parser, overlay: [inside] };
}

/** The key whose value a scalar is, `""` if it is none's. */
function keyOf(scalar, input) {
  const value = scalar.parent?.name === "BlockLiteral" ? scalar.parent : scalar;
  if (value.parent?.name !== "Pair") return "";
  const key = value.parent.getChild("Key");
  return key ? input.read(key.from, key.to) : "";
}

/**
 * The parser follows nested collections by calling itself, and counts them with 16 bits. A text
 * that is nested more deeply than that or the browser's stack allows stays plain.
 */
function shallow(parse, input) {
  const plainText = () => new Tree(yamlLanguage.parser.topNode, [], [], input.length);
  return {
    advance() {
      try {
        return parse.advance();
      } catch (error) {
        if (error instanceof RangeError || error instanceof TypeError) return plainText();
        throw error;
      }
    },
    stopAt: (position) => parse.stopAt(position),
    get stoppedAt() {
      return parse.stoppedAt;
    },
    get parsedPos() {
      return parse.parsedPos;
    },
  };
}

const withCel = parseMixed(nested);

export const yaml = yamlLanguage.configure({
  wrap: (parse, input, ...places) => shallow(withCel(parse, input, ...places), input),
});

/** The class names that YAML has where it is only read, and those of CEL. */
export const yamlHighlighting = [
  celHighlighting,
  syntaxHighlighting(
    tagHighlighter([
      { tag: tags.definition(tags.propertyName), class: "hl-key" },
      { tag: [tags.string, tags.special(tags.string), tags.content], class: "hl-string" },
      { tag: plain, class: "hl-number" },
      { tag: tags.lineComment, class: "hl-comment" },
      { tag: [tags.meta, tags.keyword, tags.labelName, tags.typeName], class: "hl-keyword" },
    ]),
  ),
];
