/* The order of entries: what steps do to their fields, and dragging alternatives. */
"use strict";
(() => {
  // What a field is called after a step that moves entries; empty: its entry is gone.
  const calledAfter = (name, step) => {
    const [, word, list, from, to] = /^(remove|up|down|move) (.+)\[(\d+)\](?: (\d+))?$/.exec(step) ?? [];
    const start = word ? name.indexOf(`${list}[`) : -1;
    if (start < 0) {
      const [, change, path] = /^(alternatives|exactly) (.+)$/.exec(step) ?? [];
      const names = [`${path}.exactly.`, `${path}.firstAvailable[0].`];
      return change ? name.replace(...(change === "exactly" ? names.reverse() : names)) : name;
    }
    const at = Number(from);
    const target = { up: at - 1, down: at + 1 }[word] ?? Number(to);
    const rest = name.slice(start + list.length + 1);
    const here = Number.parseInt(rest, 10);
    let there = here;
    if (word === "remove") {
      if (here === at) return "";
      if (here > at) there = here - 1;
    } else if (here === at) there = target;
    else if (at < here && here <= target) there = here - 1;
    else if (target <= here && here < at) there = here + 1;
    return `${name.slice(0, start)}${list}[${there}${rest.slice(String(here).length)}`;
  };

  window.draftOrder = Object.freeze({ calledAfter });

  // --- alternatives are dragged; the arrows beside them do the same ---------------------
  const form = document.getElementById("draft");
  if (!form) return;

  let dragged = null;
  document.addEventListener("pointerdown", (event) => {
    const item = event.target.closest(".ed-grip")?.closest("[data-move]");
    if (item) item.draggable = true;
  });
  document.addEventListener("dragstart", (event) => {
    dragged = event.target.closest?.("[data-move]") ?? null;
    if (!dragged) return;
    event.dataTransfer.effectAllowed = "move";
    dragged.classList.add("dragged");
  });
  document.addEventListener("dragover", (event) => {
    const over = event.target.closest?.("[data-move]");
    if (dragged && over && over.parentElement === dragged.parentElement) event.preventDefault();
  });
  document.addEventListener("drop", (event) => {
    const over = event.target.closest?.("[data-move]");
    if (!dragged || !over || over === dragged || over.parentElement !== dragged.parentElement) return;
    event.preventDefault();
    const button = document.createElement("button");
    const value = `move ${dragged.dataset.move} ${[...over.parentElement.children].indexOf(over)}`;
    Object.assign(button, { type: "submit", name: "do", value, hidden: true });
    form.append(button);
    button.click();
    button.remove();
  });
  document.addEventListener("dragend", () => {
    if (!dragged) return;
    dragged.draggable = false;
    dragged.classList.remove("dragged");
    dragged = null;
  });
})();
