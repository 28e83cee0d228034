/** Tab indents; after Escape it leaves the editor, however long that takes. */

import { EditorView } from "@codemirror/view";

const ALONE = new Set(["Tab", "Shift", "Control", "Alt", "Meta"]);

export const escapeThenTab = EditorView.domEventObservers({
  keydown(event, view) {
    if (event.key === "Escape") view.setTabFocusMode(true);
    else if (!ALONE.has(event.key)) view.setTabFocusMode(false);
  },
  mousedown: (_event, view) => view.setTabFocusMode(false),
  blur: (_event, view) => view.setTabFocusMode(false),
});
