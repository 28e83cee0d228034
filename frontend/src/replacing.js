/** Typing over selected text without the browser's own hand in it. */

import { EditorView } from "@codemirror/view";

/**
 * Where something is typed over a selection, Chromium puts the new text into an element with the style of
 * the old one before CodeMirror sees it. The page's policy refuses such a style, with a message in the
 * console. So the text is replaced here. A composition (an accent, Japanese) cannot be taken over, but what
 * it replaces can be taken away before.
 */
export const replacing = EditorView.domEventHandlers({
  beforeinput(event, view) {
    if (event.inputType !== "insertText" || event.isComposing || view.composing || !event.data) return false;
    const range = selected(view);
    if (range && !view.state.readOnly) replace(view, range, event.data);
    return range !== null;
  },
  compositionstart(event, view) {
    const range = selected(view);
    if (range && !view.state.readOnly) view.dispatch({ changes: range, userEvent: "delete.selection" });
  },
});

/** What is selected in the page, of which the editor may not have heard yet; null if nothing is. */
function selected(view) {
  const selection = document.getSelection();
  if (!selection.rangeCount || selection.isCollapsed) return null;
  const range = selection.getRangeAt(0);
  if (!view.contentDOM.contains(range.commonAncestorContainer)) return null;
  const from = view.posAtDOM(range.startContainer, range.startOffset);
  const to = view.posAtDOM(range.endContainer, range.endOffset);
  return from < to ? { from, to } : null;
}

/** As CodeMirror does it itself: brackets are closed, a list of proposals opens. */
function replace(view, { from, to }, text) {
  const insert = () => {
    const inserted = view.state.toText(text);
    return view.state.update({
      changes: { from, to, insert: inserted },
      selection: { anchor: from + inserted.length },
      userEvent: "input.type",
      scrollIntoView: true,
    });
  };
  const taken = view.state
    .facet(EditorView.inputHandler)
    .some((handler) => handler(view, from, to, text, insert));
  if (!taken) view.dispatch(insert());
}
