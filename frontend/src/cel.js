/** The CEL editor of one textarea. */

import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from "@codemirror/autocomplete";
import { bracketMatching, indentOnInput } from "@codemirror/language";
import { keymap } from "@codemirror/view";

import { catalogAt } from "./catalog.js";
import { complete } from "./completion.js";
import { celDiagnostics, show } from "./diagnostics.js";
import { FieldEditor } from "./editor.js";
import { celHighlighting, celLanguage } from "./language.js";
import { tooLong } from "./limit.js";
import { beside } from "./options.js";
import { saidHere } from "./problems.js";

const KEYS = ["Ctrl+Space completes", "Mod+Enter sends", "Tab leaves"];

export class CelEditor extends FieldEditor {
  constructor(textarea) {
    super(textarea, { language: language(() => textarea.dataset.celCatalog), remark, keys: KEYS });
  }

  focused() {
    catalogAt(this.textarea.dataset.celCatalog);
  }

  showDiagnostics(list, read) {
    show(this.view, list, read);
  }
}

const remark = (state) => tooLong(state) ?? saidHere(state);

function language(catalogAddress) {
  const proposals = async (context) => {
    const catalog = await catalogAt(catalogAddress());
    return complete(context.state.sliceDoc(0, context.pos), catalog, context.explicit);
  };
  return [
    bracketMatching(),
    closeBrackets(),
    indentOnInput(),
    autocompletion({ override: [proposals], icons: false, positionInfo: beside }),
    keymap.of([...closeBracketsKeymap, ...completionKeymap]),
    celLanguage,
    celHighlighting,
    celDiagnostics,
  ];
}
