/** CEL for CodeMirror: colours, indentation, brackets. */

import { StreamLanguage, syntaxHighlighting } from "@codemirror/language";
import { Tag, tagHighlighter } from "@lezer/highlight";

import { KINDS, kindOf, nesting, scan } from "./tokenizer.js";

const TAGS = Object.fromEntries([...KINDS, "invalid"].map((kind) => [kind, Tag.define(kind)]));

const spec = {
  name: "cel",
  startState: () => ({ open: null, previous: "", depth: 0 }),
  token(stream, state) {
    const token = scan(stream.string, stream.pos, state.open);
    stream.pos = token.to;
    state.open = token.open ?? null;
    const kind = kindOf(token, state.previous, stream.string.slice(token.to, token.to + 80));
    if (token.type !== "space" && token.type !== "comment") state.previous = token.text ?? "";
    state.depth = Math.max(0, state.depth + nesting(token.text));
    return kind;
  },
  indent(state, textAfter, context) {
    if (state.open) return null;
    const closes = /^[)\]}\s]*/.exec(textAfter)[0].replace(/\s/g, "").length;
    return Math.max(0, state.depth - closes) * context.unit;
  },
  tokenTable: TAGS,
  languageData: {
    commentTokens: { line: "//" },
    closeBrackets: {
      brackets: ["(", "[", "{", '"', "'", '"""', "'''"],
      stringPrefixes: ["r", "R", "b", "B", "br", "bR", "Br", "BR"],
    },
    indentOnInput: /^\s*[)\]}]$/,
  },
};

export const celLanguage = StreamLanguage.define(spec);

/** CEL inside of another text, which has the say about indentation; its comments begin with `comment`. */
export const celInside = (comment) =>
  StreamLanguage.define({
    ...spec,
    indent: () => null,
    languageData: { commentTokens: { line: comment } },
  });

/** The same class names that expressions on pages have. */
export const celHighlighting = syntaxHighlighting(
  tagHighlighter(Object.entries(TAGS).map(([kind, tag]) => ({ tag, class: `hl-${kind}` }))),
);
