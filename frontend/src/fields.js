/** The editors of a page, by textarea. */

export class Fields {
  /** @param {string} selector of the textareas; `create` makes the editor of one */
  constructor(selector, create) {
    this.selector = selector;
    this.create = create;
    this.editors = new Map();
  }

  /** Gives every such textarea in `root`, and `root` itself, an editor; true if any was new. */
  upgrade(root) {
    const found = [...root.querySelectorAll(this.selector)];
    if (root.matches?.(this.selector)) found.push(root);
    let anyNew = false;
    for (const textarea of found) {
      // A page may have two of the built scripts: the first one wins.
      if (textarea.hasEditor) continue;
      textarea.hasEditor = true;
      this.editors.set(textarea, this.create(textarea));
      anyNew = true;
    }
    return anyNew;
  }

  /** Ends the editors whose textarea has left the page. */
  forget() {
    for (const [textarea, editor] of this.editors) {
      if (textarea.isConnected) continue;
      editor.destroy();
      this.editors.delete(textarea);
      textarea.hasEditor = false;
    }
  }

  [Symbol.iterator]() {
    return this.editors.entries();
  }
}

/** Whether `root` is, or has in it, an element for `selector`. */
export const has = (root, selector) => Boolean(root.matches?.(selector) || root.querySelector(selector));
