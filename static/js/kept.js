/* What a person has opened, and where the keyboard is, stays so when its surroundings
   are replaced: by a filter, by another order, or because the cluster has changed. */
"use strict";
(() => {
  // --- folds -------------------------------------------------------------
  const byId = new Map(); // these are the same wherever they come from
  const touched = new WeakSet(); // others are known by their words and their place
  document.addEventListener("click", (event) => {
    const fold = event.target.closest("a") ? null : event.target.closest("summary")?.parentElement;
    if (!fold) return;
    touched.add(fold);
    if (fold.id) byId.set(fold.id, !fold.open);
  });

  const wordsOf = (fold) =>
    (fold.querySelector("summary")?.textContent ?? "").replace(/[\d,]+/g, "").trim();
  const foldsOf = (part) => {
    const found = new Map();
    for (const fold of part.querySelectorAll("details:not([id])")) {
      const words = wordsOf(fold);
      let place = 0;
      while (found.has(`${words} ${place}`)) place += 1;
      found.set(`${words} ${place}`, fold);
    }
    return found;
  };

  // --- focus -------------------------------------------------------------
  // Also the names of icons: a link may have no other words.
  const labelOf = (element) =>
    [...element.querySelectorAll("[aria-label]")].reduce(
      (text, icon) => text + icon.getAttribute("aria-label"),
      element.textContent.trim(),
    );
  const addressOf = (element) =>
    (element.matches("tr") ? element.querySelector("a") : element)?.getAttribute("href") || "";
  const fieldOf = (element) => {
    const name = element.getAttribute("name");
    return name && `${name}=${element.value}`;
  };
  // “Next page” leads elsewhere then, and a card has other numbers: first the same in
  // all, then in words, then in where it leads. A row is known by what it leads to.
  const WAYS = [
    (element) => `${fieldOf(element)} ${addressOf(element)} ${labelOf(element)}`,
    fieldOf,
    (element) => (element.matches("tr") ? "" : labelOf(element)),
    addressOf,
  ];
  const alike = (part, element, way) => {
    const said = way(element);
    if (!said) return [];
    const all = [...part.querySelectorAll(element.tagName)];
    return all.filter((other) => way(other) === said);
  };
  const placeIn = (part) => {
    const element = document.activeElement;
    if (!element || !part.contains(element)) return null;
    const places = element === part ? [] : WAYS.map((way) => alike(part, element, way).indexOf(element));
    return { element, places };
  };
  const back = (part, { element, places }) => {
    for (const [index, way] of WAYS.entries()) {
      const found = alike(part, element, way)[places[index]];
      if (!found) continue;
      if (found.matches("tr")) found.tabIndex = -1;
      found.focus({ preventScroll: true });
      if (document.activeElement === found) return;
    }
    // It is gone; the next Tab goes on from where it was.
    part.tabIndex = -1;
    part.focus({ preventScroll: true });
  };

  // --- around a swap ------------------------------------------------------
  const kept = new Map(); // by the part's id
  document.addEventListener("htmx:beforeSwap", ({ detail }) => {
    const part = detail.target;
    if (!part?.id || !detail.shouldSwap) return;
    const open = new Map();
    for (const [key, fold] of foldsOf(part)) if (touched.has(fold)) open.set(key, fold.open);
    kept.set(part.id, { open, place: placeIn(part) });
  });
  document.addEventListener("htmx:afterSwap", ({ detail }) => {
    const part = document.getElementById(detail.target?.id);
    if (!part) return;
    for (const fold of part.querySelectorAll("details[id]")) {
      if (byId.has(fold.id)) fold.open = byId.get(fold.id);
    }
    const before = kept.get(part.id);
    kept.delete(part.id);
    if (!before) return;
    for (const [key, fold] of foldsOf(part)) {
      if (!before.open.has(key)) continue;
      fold.open = before.open.get(key);
      touched.add(fold);
    }
    // htmx itself goes back to an element with an id.
    const lost = !document.activeElement || document.activeElement === document.body;
    if (lost && before.place) back(part, before.place);
  });
})();
