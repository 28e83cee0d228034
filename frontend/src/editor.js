/** A textarea with an editor in front of it. The textarea stays the form's field. */

import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { lintKeymap } from "@codemirror/lint";
import { Annotation, Compartment, EditorState, Prec } from "@codemirror/state";
import { EditorView, keymap, placeholder } from "@codemirror/view";
import { StyleModule } from "style-mod";

import { limitedTo } from "./limit.js";
import { difference } from "./offsets.js";
import { counts } from "./problems.js";
import { replacing } from "./replacing.js";
import { setNotice, statusLine } from "./status.js";
import { portalTheme } from "./theme.js";

const APPLE = /Mac|iPhone|iPad/.test(globalThis.navigator?.platform ?? "");

/** Marks what came from the page: the textarea has it, and nobody need be told. */
export const fromPage = Annotation.define();

// The style sheets of CodeMirror need the page's nonce; this script carries it.
const NONCE = globalThis.document?.currentScript?.nonce ?? "";

// No class: htmx gives an element the classes of the one it replaces, and takes them away again.
const OUT_OF_SIGHT = "data-behind-editor";
const hiding = new StyleModule({
  // Two attributes count more than what a page says about its textareas.
  [`textarea[${OUT_OF_SIGHT}]:is([data-cel-editor], [data-yaml-editor])`]: {
    position: "absolute", width: "1px", height: "1px", minHeight: "0", margin: "-1px", padding: "0",
    border: "0", overflow: "hidden", clipPath: "inset(50%)", resize: "none",
  },
});

const WATCHED = [
  "readonly", "disabled", "required", "placeholder", "title", "lang",
  "aria-label", "aria-labelledby", "aria-describedby", "aria-invalid",
];

let count = 0;

/** What the editors of all languages have in common. */
export class FieldEditor {
  /** @param {{language, remark, keys: string[]}} kind its extensions; see status.js for the others */
  constructor(textarea, { language, remark, keys }) {
    this.textarea = textarea;
    this.id = `editor-${(count += 1)}`;
    this.attributes = new Compartment();
    this.listeners = new AbortController();
    const hadFocus = document.activeElement === textarea;
    const { selectionStart, selectionEnd } = textarea;
    this.told = textarea.value;
    const status = statusLine(`${this.id}-status`, hintFor(textarea, keys), remark);
    this.view = new EditorView({ state: this.startState([language, status]) });
    StyleModule.mount(document, hiding, NONCE ? { nonce: NONCE } : undefined);
    this.hideTextarea();
    textarea.after(this.view.dom);
    this.view.scrollDOM.style.minHeight = `calc(${textarea.rows} * 1.5em + 2 * var(--gap-2))`;
    this.listen();
    if (hadFocus) {
      this.view.dispatch({ selection: { anchor: selectionStart, head: selectionEnd } });
      this.view.focus();
    }
  }

  startState(extensions) {
    const { textarea } = this;
    return EditorState.create({
      doc: textarea.value,
      extensions: [
        EditorView.cspNonce.of(NONCE),
        Prec.highest(keymap.of([{ key: "Mod-Enter", run: () => this.submit() }])),
        history(),
        replacing,
        extensions,
        keymap.of([...lintKeymap, ...historyKeymap, ...defaultKeymap]),
        portalTheme,
        EditorView.lineWrapping,
        limitedTo(() => textarea.maxLength),
        this.attributes.of(this.fromAttributes()),
        EditorView.updateListener.of((update) => this.updated(update)),
      ],
    });
  }

  /** What the textarea's attributes say; asked for again when they change. */
  fromAttributes() {
    const { textarea } = this;
    const content = { spellcheck: "false", "aria-describedby": `${this.id}-status` };
    for (const { name, value } of textarea.attributes) {
      if (name.startsWith("aria-") || name === "title" || name === "lang") content[name] = value;
    }
    delete content["aria-hidden"];
    if (textarea.hasAttribute("aria-describedby")) {
      content["aria-describedby"] = `${textarea.getAttribute("aria-describedby")} ${this.id}-status`;
    }
    const labels = [...(textarea.labels ?? [])].map((label, at) => (label.id ||= `${this.id}-label-${at}`));
    if (labels.length && !content["aria-labelledby"]) content["aria-labelledby"] = labels.join(" ");
    if (textarea.required) content["aria-required"] = "true";
    if (textarea.readOnly) content["aria-readonly"] = "true";
    if (textarea.disabled) content["aria-disabled"] = "true";
    return [
      EditorView.contentAttributes.of((view) =>
        counts(view.state).error ? { ...content, "aria-invalid": "true" } : content,
      ),
      EditorView.editorAttributes.of(textarea.disabled ? { "data-disabled": "" } : {}),
      EditorState.readOnly.of(textarea.readOnly || textarea.disabled),
      EditorView.editable.of(!textarea.disabled),
      textarea.placeholder ? placeholder(textarea.placeholder) : [],
    ];
  }

  /** Out of sight, but still there: for its label, for the form, and for the focus it passes on. */
  hideTextarea() {
    const { textarea } = this;
    textarea.tabIndex = -1;
    textarea.setAttribute("aria-hidden", "true");
    textarea.setAttribute(OUT_OF_SIGHT, "");
  }

  listen() {
    const { textarea, view } = this;
    const options = { signal: this.listeners.signal };
    textarea.addEventListener("focus", () => view.focus(), options);
    textarea.addEventListener("invalid", (event) => this.refused(event), options);
    for (const name of ["input", "change"]) {
      textarea.addEventListener(name, () => this.pull(), options);
      // Those of the editor itself and of its search field are not the form's.
      view.dom.addEventListener(name, (event) => event.stopPropagation(), options);
    }
    // The browser puts back what was typed: on reset, and on the way back to the page.
    document.addEventListener("reset", (event) => {
      if (event.target === textarea.form) setTimeout(() => this.pull());
    }, options);
    window.addEventListener("pageshow", () => this.pull(), options);
    this.observer = new MutationObserver(() => {
      view.dispatch({ effects: this.attributes.reconfigure(this.fromAttributes()) });
    });
    this.observer.observe(textarea, { attributeFilter: WATCHED });
  }

  get text() {
    return this.view.state.doc.toString();
  }

  /** Something else than the editor has changed the textarea. */
  pull() {
    const { value } = this.textarea;
    if (value === this.text) return;
    this.told = value;
    const { from, toBefore, toAfter } = difference(this.text, value);
    this.view.dispatch({
      changes: { from, to: toBefore, insert: value.slice(from, toAfter) },
      annotations: fromPage.of(true),
    });
  }

  updated(update) {
    if (update.docChanged && !update.transactions.some((each) => each.annotation(fromPage))) {
      this.textarea.value = this.text;
      this.textarea.dispatchEvent(new Event("input", { bubbles: true }));
    }
    if (!update.focusChanged) return;
    if (this.view.hasFocus) {
      this.focused();
    } else if (this.told !== this.textarea.value) {
      this.told = this.textarea.value;
      this.textarea.dispatchEvent(new Event("change", { bubbles: true }));
    }
  }

  focused() {}

  /** As Enter does in a field of one line: through the form's first submit button. */
  submit() {
    const { form } = this.textarea;
    if (!form) return false;
    const button = [...form.elements].find((each) => each.type === "submit" || each.type === "image");
    if (!button) form.requestSubmit();
    else if (!button.disabled) form.requestSubmit(button);
    return true;
  }

  /** The form was not sent because of this field: the browser's bubble has nowhere to point to. */
  refused(event) {
    event.preventDefault();
    this.view.dispatch({ effects: setNotice.of(this.textarea.validationMessage) });
    if (this.textarea.form?.querySelector(":invalid") === this.textarea) this.view.focus();
  }

  destroy() {
    this.listeners.abort();
    this.observer.disconnect();
    this.view.destroy();
  }
}

/** The keys in one line, the most needed first: what does not fit is cut off. */
function hintFor(textarea, keys) {
  if (textarea.readOnly || textarea.disabled) return "";
  const parts = keys.filter((key) => textarea.form || !key.endsWith(" sends"));
  return parts.join(" · ").replaceAll("Mod+", APPLE ? "⌘" : "Ctrl+");
}
