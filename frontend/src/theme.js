/** The editor in the portal's colours: custom properties, so that light and dark follow the page. */

import { EditorView } from "@codemirror/view";

const popup = {
  border: "1px solid var(--line-strong)",
  borderRadius: "var(--radius)",
  backgroundColor: "var(--raised)",
  color: "var(--text)",
  boxShadow: "var(--shadow)",
};

const underline = (style, colour) => ({
  backgroundImage: "none",
  paddingBottom: "0",
  textDecoration: `underline ${style} ${colour} 1.5px`,
  textDecorationSkipInk: "none",
  textUnderlineOffset: "3px",
});

export const portalTheme = EditorView.theme({
  "&": {
    border: "1px solid var(--line-strong)",
    borderRadius: "var(--radius)",
    backgroundColor: "var(--surface)",
    color: "var(--text)",
    fontSize: "var(--size-2)",
  },
  "&.cm-focused": { outline: "2px solid var(--focus)", outlineOffset: "1px" },
  "&[data-disabled]": { opacity: "0.6" },
  ".cm-scroller": {
    maxHeight: "60vh",
    overflow: "auto",
    fontFamily: "var(--font-mono)",
    fontVariantLigatures: "none",
    lineHeight: "1.5",
  },
  ".cm-content": { padding: "var(--gap-2) 0", caretColor: "var(--text)" },
  ".cm-line": { padding: "0 var(--gap-2)" },
  ".cm-placeholder": { color: "var(--text-3)" },
  "&.cm-focused .cm-matchingBracket": { backgroundColor: "var(--selected)", outline: "1px solid var(--accent)" },
  "&.cm-focused .cm-nonmatchingBracket": { backgroundColor: "var(--bad-bg)", color: "var(--bad)" },
  ".hl-invalid": { color: "var(--bad)" },
  ".cm-panels": { backgroundColor: "transparent", color: "inherit" },
  ".cm-panels-bottom": { borderTop: "1px solid var(--line)" },

  ".cm-tooltip": popup,
  ".cm-tooltip.cm-tooltip-autocomplete > ul": {
    maxHeight: "16rem",
    borderRadius: "inherit",
    fontFamily: "var(--font-mono)",
    fontSize: "var(--size-2)",
  },
  ".cm-tooltip.cm-tooltip-autocomplete > ul > li": {
    display: "flex",
    gap: "var(--gap-4)",
    justifyContent: "space-between",
    padding: "0.15rem var(--gap-2)",
    lineHeight: "1.3rem",
  },
  ".cm-tooltip.cm-tooltip-autocomplete > ul > li[aria-selected]": {
    backgroundColor: "var(--accent-fill)",
    color: "var(--on-accent)",
  },
  ".cm-completionLabel": { overflow: "hidden", textOverflow: "ellipsis" },
  ".cm-completionMatchedText": { textDecoration: "none", fontWeight: "700" },
  ".cm-completionDetail": {
    flex: "none",
    color: "var(--text-3)",
    fontFamily: "var(--font)",
    fontSize: "var(--size-1)",
    fontStyle: "normal",
  },
  "li[aria-selected] .cm-completionDetail": { color: "inherit" },
  ".cm-tooltip.cm-completionInfo": {
    padding: "var(--gap-2) var(--gap-3)",
    fontFamily: "var(--font)",
    fontSize: "var(--size-1)",
    overflowWrap: "anywhere",
  },
  ".cel-info-head": { fontFamily: "var(--font-mono)", fontWeight: "550" },

  ".cm-lintRange-error": underline("wavy", "var(--bad)"),
  ".cm-lintRange-warning": underline("dashed", "var(--warn)"),
  ".cm-lintRange-info": underline("dotted", "var(--info)"),
  ".cm-lintRange-active": { backgroundColor: "var(--selected)" },
  ".cm-tooltip-lint": { maxWidth: "min(32rem, 90vw)", fontSize: "var(--size-1)" },
  ".cm-diagnostic": { padding: "var(--gap-1) var(--gap-2)", whiteSpace: "pre-wrap", overflowWrap: "anywhere" },
  ".cm-diagnostic-error": { borderLeft: "3px solid var(--bad-solid)" },
  ".cm-diagnostic-warning": { borderLeft: "3px solid var(--warn-solid)" },
  ".cm-diagnostic-info": { borderLeft: "3px solid var(--info-solid)" },
  ".cm-lintPoint:after": { borderBottomColor: "var(--bad)" },
  ".cm-lintPoint-warning:after": { borderBottomColor: "var(--warn)" },
  ".cm-lintPoint-info:after": { borderBottomColor: "var(--info)" },
  ".cm-panel.cm-panel-lint": { color: "var(--text)" },
  ".cm-panel.cm-panel-lint ul [aria-selected]": { backgroundColor: "var(--selected)" },
  ".cm-panel.cm-panel-lint button[name=close]": { color: "var(--text-2)" },
});
