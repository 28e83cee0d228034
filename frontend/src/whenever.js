/** Parts of the page as they come: by themselves, by htmx, or put in by a script. */

const OUR_OWN = ".cm-editor";

/**
 * Calls `act` with the page once it is read, and with each element that is added later, before it is
 * painted. What an editor does to its own lines is left out.
 */
export function wheneverLoaded(act) {
  const begin = () => {
    act(document);
    new MutationObserver((records) => {
      for (const element of added(records)) act(element);
    }).observe(document, { childList: true, subtree: true });
  };
  if (document.readyState === "loading") {
    document.addEventListener("DOMContentLoaded", begin);
  } else {
    begin();
  }
}

function added(records) {
  const found = new Set();
  for (const { target, addedNodes } of records) {
    const inside = target instanceof Element ? target : null;
    if (inside?.closest(OUR_OWN)) continue;
    for (const node of addedNodes) {
      // New text in a <script> of data is as good as a new element.
      const element = node instanceof Element ? node : inside?.closest("script");
      if (element?.isConnected) found.add(element);
    }
  }
  return found;
}
