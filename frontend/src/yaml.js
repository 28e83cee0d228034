/** The YAML editor of one textarea. */

import { closeBrackets, closeBracketsKeymap } from "@codemirror/autocomplete";
import { indentWithTab, isolateHistory } from "@codemirror/commands";
import { bracketMatching, codeFolding, foldGutter, foldKeymap, indentOnInput, indentUnit } from "@codemirror/language";
import { lintGutter, previousDiagnostic } from "@codemirror/lint";
import { diff } from "@codemirror/merge";
import { search, searchKeymap } from "@codemirror/search";
import { EditorSelection, EditorState, Prec } from "@codemirror/state";
import { EditorView, highlightActiveLineGutter, keymap, lineNumbers } from "@codemirror/view";

import { lines } from "./answers.js";
import { FieldEditor, fromPage } from "./editor.js";
import { hangingLines } from "./hanging.js";
import { UNIT, newLine } from "./indentation.js";
import { escapeThenTab } from "./leaving.js";
import { marks, offset, showMarks } from "./marks.js";
import { counts, saidHere } from "./problems.js";
import { yaml, yamlHighlighting } from "./yaml-language.js";
import { yamlTheme } from "./yaml-theme.js";

const KEYS = ["Tab indents", "Escape, then Tab leaves", "Mod+F searches", "Mod+Enter sends"];
const DIFF = { scanLimit: 2000, timeout: 100 }; // ms; beyond that the change is coarser, never wrong

// "Go to line" asks with a form of its own, which cannot stand in a form.
const searchKeys = searchKeymap.filter(({ key }) => key !== "Mod-Alt-g");

const ownKeys = [
  { key: "Enter", run: newLine },
  { key: "Shift-F8", run: previousDiagnostic },
  // Indenting anew is for languages where that changes no meaning.
  { key: "Mod-Alt-\\", run: () => true },
  indentWithTab,
];

export class YamlEditor extends FieldEditor {
  constructor(textarea) {
    super(textarea, { language, remark, keys: KEYS });
    this.marks = [];
    this.areFresh = false;
    this.swap = null;
  }

  /**
   * The server is about to put something into the page.
   *
   * @param {string | null} sent the text that it was asked about, null if it was not
   */
  swapBegins(sent) {
    this.swap = { read: sent === null ? null : lines(sent) };
    this.areFresh = false;
  }

  swapEnds() {
    this.swap = null;
  }

  /** @param {object[]} list as marks.js says */
  showMarks(list) {
    this.marks = list;
    this.areFresh = true;
    showMarks(this.view, list, this.swap?.read ?? this.text);
  }

  /**
   * A new text from the server: cursor, scroll position, folds and undo history stay, and nobody is told.
   * Marks that came with it are about it, whichever of the two comes first.
   */
  setText(text) {
    const wanted = lines(text);
    const now = this.text;
    if (this.swap) this.swap.read = wanted;
    if (wanted !== now) {
      const changes = this.view.state.changes(replacements(now, wanted));
      this.textarea.value = wanted;
      this.told = wanted;
      this.view.dispatch({
        changes,
        effects: this.sameLines(changes),
        annotations: [fromPage.of(true), isolateHistory.of("full")],
      });
    }
    if (this.areFresh) showMarks(this.view, this.marks, wanted);
  }

  /** Keeps the lines on the screen where they are; the beginning of the text stays in sight if it was. */
  sameLines(changes) {
    const { view } = this;
    return view.scrollDOM.scrollTop > 0 ? [view.scrollSnapshot().map(changes)] : [];
  }

  /** Puts the cursor there, both counted from 1, and shows it. */
  select(line, column = 1) {
    const at = offset(this.view.state.doc, line, column);
    this.view.dispatch({
      selection: EditorSelection.cursor(at),
      effects: EditorView.scrollIntoView(at, { y: "center" }),
    });
    this.view.focus();
  }

  updated(update) {
    const typed = update.docChanged && !update.transactions.some((each) => each.annotation(fromPage));
    if (typed) this.areFresh = false;
    super.updated(update);
  }
}

const replacements = (before, after) =>
  diff(before, after, DIFF).map(({ fromA, toA, fromB, toB }) => (
    { from: fromA, to: toA, insert: after.slice(fromB, toB) }
  ));

const plural = (count, one) => `${count.toLocaleString("en")} ${one}${count === 1 ? "" : "s"}`;

function remark(state) {
  const here = saidHere(state);
  if (here) return here;
  const { error, warning } = counts(state);
  const parts = [];
  if (error) parts.push(plural(error, "error"));
  if (warning) parts.push(plural(warning, "warning"));
  if (!parts.length) return null;
  return { text: `${parts.join(", ")}: F8 goes to the next.`, tone: error ? "bad" : "warn" };
}

const language = [
  lineNumbers(),
  lintGutter(),
  foldGutter(),
  codeFolding(),
  highlightActiveLineGutter(),
  bracketMatching(),
  closeBrackets(),
  indentOnInput(),
  indentUnit.of(" ".repeat(UNIT)),
  EditorState.tabSize.of(UNIT),
  search({ top: true }),
  escapeThenTab,
  Prec.high(keymap.of(ownKeys)),
  keymap.of([...closeBracketsKeymap, ...searchKeys, ...foldKeymap]),
  yaml,
  yamlHighlighting,
  marks,
  hangingLines,
  yamlTheme,
];
