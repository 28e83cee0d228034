/** Calls `act` with the page once it is read, and with each part that htmx adds later. */
export function wheneverLoaded(act) {
  if (document.readyState === "loading") {
    document.addEventListener("DOMContentLoaded", () => act(document));
  } else {
    act(document);
  }
  document.addEventListener("htmx:load", (event) => act(event.detail?.elt ?? document));
}
