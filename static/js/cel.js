/* The CEL page: links that stand for an expression put it into the editor. Without this they load the page. */
"use strict";
(() => {
  const plainClick = (event) =>
    event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey;

  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[data-cel-set]");
    const field = document.getElementById(link?.dataset.celField || "cel-expression");
    if (!link || !field || event.defaultPrevented || !plainClick(event)) return;
    event.preventDefault();
    field.value = link.dataset.celSet;
    field.dispatchEvent(new Event("input", { bubbles: true }));
    field.focus();
  });
})();
