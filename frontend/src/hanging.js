/** Long lines go on under their own beginning, so that the indentation can still be seen. */

import { countColumn } from "@codemirror/state";
import { Decoration, EditorView, ViewPlugin } from "@codemirror/view";

const DEEPEST = 24; // columns; a narrow page has no room for more
const STEP = 2;

// Classes, not style attributes: those the content security policy forbids.
const decorations = Array.from({ length: DEEPEST + 1 }, (_, columns) =>
  Decoration.line({ class: `yaml-hanging-${columns}` }),
);

const rules = decorations.map((_, columns) => [
  `.cm-line.yaml-hanging-${columns}`,
  { paddingLeft: `calc(var(--gap-2) + ${columns + STEP}ch)`, textIndent: `-${columns + STEP}ch` },
]);

function visible(view) {
  const found = [];
  for (const { from, to } of view.visibleRanges) {
    for (let at = from; at <= to; ) {
      const line = view.state.doc.lineAt(at);
      const [lead] = /^\s*/.exec(line.text);
      const columns = Math.min(countColumn(lead, view.state.tabSize), DEEPEST);
      found.push(decorations[columns].range(line.from));
      at = line.to + 1;
    }
  }
  return Decoration.set(found);
}

const plugin = ViewPlugin.define(
  (view) => ({
    decorations: visible(view),
    update(update) {
      if (update.docChanged || update.viewportChanged) this.decorations = visible(update.view);
    },
  }),
  { decorations: (value) => value.decorations },
);

export const hangingLines = [plugin, EditorView.theme(Object.fromEntries(rules))];
