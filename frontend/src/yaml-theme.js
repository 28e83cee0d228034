/** What the YAML editor has more than others: gutters, folds and a search panel. */

import { EditorView } from "@codemirror/view";

const sign = (text, colour) => ({ content: "normal", color: colour, "&::before": { content: `"${text}"` } });

export const yamlTheme = EditorView.theme({
  ".cm-scroller": { maxHeight: "var(--editor-max-height, 60vh)" },
  ".cm-gutters": {
    borderRight: "1px solid var(--line)",
    backgroundColor: "var(--surface)",
    color: "var(--text-3)",
  },
  ".cm-activeLineGutter": { backgroundColor: "var(--selected)", color: "var(--text)" },
  ".cm-lineNumbers .cm-gutterElement": { minWidth: "2.5ch" },
  ".cm-foldGutter .cm-gutterElement": { padding: "0 var(--gap-1)", cursor: "pointer" },
  ".cm-foldPlaceholder": {
    border: "1px solid var(--line-strong)",
    backgroundColor: "var(--sunken)",
    color: "var(--text-2)",
  },
  // Signs of different shape: the colour alone says nothing.
  ".cm-gutter-lint .cm-gutterElement": { padding: "0" },
  ".cm-lint-marker": { width: "100%", height: "auto", textAlign: "center" },
  ".cm-lint-marker-error": sign("✕", "var(--bad)"),
  ".cm-lint-marker-warning": sign("▲", "var(--warn)"),
  ".cm-lint-marker-info": sign("●", "var(--info)"),

  ".cm-panels-top": { borderBottom: "1px solid var(--line)" },
  ".cm-panel.cm-search": {
    display: "flex",
    flexWrap: "wrap",
    alignItems: "center",
    gap: "var(--gap-1) var(--gap-2)",
    padding: "var(--gap-2) var(--gap-5) var(--gap-2) var(--gap-2)",
    fontFamily: "var(--font)",
    fontSize: "var(--size-1)",
  },
  ".cm-panel.cm-search br": { flexBasis: "100%" },
  ".cm-panel.cm-search label": {
    display: "inline-flex", alignItems: "center", gap: "var(--gap-1)", margin: "0", fontSize: "inherit",
  },
  ".cm-panel.cm-search input[type=checkbox]": { margin: "0" },
  ".cm-panel.cm-search .cm-textfield": {
    flex: "0 1 14rem",
    minWidth: "6rem",
    margin: "0",
    padding: "0.15rem var(--gap-2)",
    border: "1px solid var(--line-strong)",
    borderRadius: "var(--radius-s)",
    backgroundColor: "var(--surface)",
    color: "var(--text)",
    fontSize: "inherit",
  },
  ".cm-panel.cm-search .cm-button": {
    margin: "0",
    padding: "0.15rem var(--gap-2)",
    border: "1px solid var(--line-strong)",
    borderRadius: "var(--radius-s)",
    backgroundImage: "none",
    backgroundColor: "var(--raised)",
    color: "var(--text)",
    fontSize: "inherit",
  },
  ".cm-panel.cm-search .cm-button:hover": { backgroundColor: "var(--hover)" },
  ".cm-panel.cm-search [name=close]": { width: "1.5rem", height: "1.5rem", color: "var(--text-2)" },
  ".cm-panel.cm-search :focus-visible": { outline: "2px solid var(--focus)", outlineOffset: "1px" },
  ".cm-searchMatch": { backgroundColor: "var(--warn-bg)", outline: "1px solid var(--warn-solid)" },
  ".cm-searchMatch-selected": { backgroundColor: "var(--selected)", outline: "2px solid var(--accent)" },
});
