// The choice of claims for a batch: keeps what is ticked when rows are loaded anew.
"use strict";
(() => {
  const form = document.getElementById("batch-form");
  if (!form) return;
  const chosen = new Set();
  const said = form.querySelector(".said");

  function show() {
    const n = chosen.size;
    for (const button of form.querySelectorAll("button[data-verb]")) {
      button.disabled = n === 0;
      button.textContent = n === 0 ? `${button.dataset.verb} …` : `${button.dataset.verb} ${n} ${n === 1 ? "claim" : "claims"}`;
    }
    said.textContent = n === 0 ? "Tick pending claims to allocate them together." : "";
    for (const old of form.querySelectorAll("input[data-kept]")) old.remove();
    const here = new Set();
    for (const box of document.querySelectorAll("input.pick")) {
      box.checked = chosen.has(box.value);
      here.add(box.value);
    }
    // Ticked on another page of the list.
    for (const name of chosen) {
      if (here.has(name)) continue;
      const kept = document.createElement("input");
      kept.type = "hidden";
      kept.name = "claim";
      kept.value = name;
      kept.dataset.kept = "";
      form.append(kept);
    }
  }

  document.addEventListener("change", (event) => {
    const box = event.target;
    if (!(box instanceof HTMLInputElement) || !box.classList.contains("pick")) return;
    if (box.checked) chosen.add(box.value);
    else chosen.delete(box.value);
    show();
  });
  // Before anybody sees the new rows.
  document.addEventListener("htmx:afterSwap", show);
  show();
})();
