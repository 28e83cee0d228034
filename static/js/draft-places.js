/* Where the claim editor goes: to a part of the page, to a field, to a place in the text. */
"use strict";
(() => {
  const root = document.getElementById("ed");
  const text = document.getElementById("draft-text");
  const room = document.getElementById("draft-form");
  if (!root || !text || !room) return;

  const { calledAfter } = window.draftOrder;

  const view = (name) => {
    root.dataset.view = name;
    for (const tab of root.querySelectorAll("[data-view-tab]")) {
      const chosen = tab.dataset.viewTab === name;
      tab.setAttribute("aria-selected", String(chosen));
      tab.tabIndex = chosen ? 0 : -1;
    }
  };

  const focusOn = (id) => {
    const element = document.getElementById(id);
    const field = element?.matches("input, textarea, select") ? element : element?.querySelector("input[type=text], textarea, select");
    if (!field) return false;
    field.closest("details:not([open])")?.setAttribute("open", "");
    if (root.dataset.view !== "form") view("form");
    field.focus();
    (field.nextElementSibling?.matches(".cm-editor") ? field.nextElementSibling : field).scrollIntoView({ block: "nearest" });
    return true;
  };

  // Where the hands are: on the button that moves an entry, else in the field to fill in.
  const focusAfter = (step, id) => {
    const [word, path] = step.split(" ");
    const button = (value) => [...room.querySelectorAll("button[name=do]:not([disabled])")].find((one) => one.value === value);
    if (word === "up" || word === "down") {
      const there = calledAfter(path, step);
      (button(`${word} ${there}`) ?? button(`up ${there}`) ?? button(`down ${there}`))?.focus();
    } else if (!(id && focusOn(id)) && word === "remove") {
      const list = path.replace(/\[[^\]]*\]$/, "");
      button(`add ${list}`)?.focus();
    }
  };

  document.addEventListener("click", (event) => {
    const tab = event.target.closest("[data-view-tab]");
    if (tab) view(tab.dataset.viewTab);
    const go = event.target.closest("[data-goto]");
    if (!go || (go.dataset.goto && focusOn(go.dataset.goto)) || !go.dataset.yamlPlace) return;
    view("text");
    const [line, column] = go.dataset.yamlPlace.split(":").map(Number);
    if (text.yamlEditor) text.yamlEditor.select(line, column);
    else text.focus();
  });

  root.querySelector("[role=tablist]")?.addEventListener("keydown", (event) => {
    const tabs = [...root.querySelectorAll("[data-view-tab]")];
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const next = tabs[(tabs.indexOf(document.activeElement) + step + tabs.length) % tabs.length];
    view(next.dataset.viewTab);
    next.focus();
  });

  window.draftPlaces = { view, focusAfter };
})();
