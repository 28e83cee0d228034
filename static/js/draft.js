/* The claim editor: form, text and answer stay one. Without this, buttons apply what was typed. */
"use strict";
(() => {
  const form = document.getElementById("draft");
  const text = document.getElementById("draft-text");
  const room = document.getElementById("draft-form");
  if (!form || !text || !room || !window.htmx) return;

  const PAUSE = 300; // milliseconds without a keystroke before the server is asked
  const { calledAfter } = window.draftOrder;
  const { view, focusAfter } = window.draftPlaces;
  const NARROW = matchMedia("(max-width: 62rem)"); // as in editor.css
  const PLAIN = new Set(["text", "doc", "revision", "page", "turn", "do", "source", "touched", "csrfmiddlewaretoken"]);
  const CHANGING = /^(add|remove|up|down|move|alternatives|exactly|capacity|sets?|and|kind|renew|document|remove-document|in) /;
  const MOST_BEACON = 60_000; // bytes that a browser sends for a page that is gone
  const AFTER_FAILURE = 10_000; // milliseconds
  const CATCHING = 100; // milliseconds from leaving a field to renewing its part

  // Requests that a newer one ends are saved all the same. By these two the server knows
  // that such a change was not somebody else's.
  const PAGE = [...crypto.getRandomValues(new Uint8Array(12))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  let turn = 0;

  // --- what was touched since the server knew all --------------------------
  const touched = new Map(); // field name → number of the touch
  let touches = 0;
  let known = text.defaultValue; // the text as the server has it
  let timer = 0;
  let again = false;
  let redo = ""; // a step that has to be done once more, on what was typed meanwhile
  let stepping = false;
  let sent = null;
  let unsaved = false; // the server has not kept what it was sent
  let leaving = false; // to where the server says
  let signedOut = false;
  let pressed = false; // the pointer is down

  // For style sheets and whoever drives the page: the server has not answered all of it yet.
  const tell = () => form.toggleAttribute("data-pending", Boolean(timer || sent));

  const isField = (element) => element.form === form && element.name && !PLAIN.has(element.name);

  // Leaving a field says once more what each keystroke has said.
  const told = new WeakMap();
  const stateOf = (field) => (field.type === "checkbox" ? String(field.checked) : field.value);

  const touch = (event) => {
    const element = event.target;
    if (isField(element)) {
      if (event.type === "change" && told.get(element) === stateOf(element)) return;
      told.set(element, stateOf(element));
      touches += 1;
      touched.set(element.name, touches);
    } else if (element !== text || (text.value === known && !sent)) {
      return;
    }
    clearTimeout(timer);
    timer = setTimeout(ask, PAUSE);
    tell();
  };
  form.addEventListener("input", touch);
  form.addEventListener("change", touch);

  // What was typed before this script was there, or put back by the browser.
  const differs = (field) => {
    if (field.type === "checkbox") return field.checked !== field.defaultChecked;
    if (field.options) return [...field.options].some((one) => one.selected !== one.defaultSelected);
    return field.value !== field.defaultValue;
  };

  const ask = () => {
    timer = 0;
    if (stepping) {
      again = true;
      return;
    }
    htmx.trigger(form, "draft-changed");
  };

  const fieldsNamed = (name) =>
    [...form.elements].filter((field) => field.name === name && field.type !== "hidden");

  const put = (field, values) => {
    if (field.type === "checkbox") field.checked = values.includes(field.value);
    else field.value = values.at(-1) ?? "";
  };

  // What could not be sent when the page went: it comes back as if it were typed now.
  const KEPT = `draft ${location.pathname}`;
  const bringBack = () => {
    let kept = [];
    try {
      kept = JSON.parse(sessionStorage.getItem(KEPT) ?? "[]");
      sessionStorage.removeItem(KEPT);
    } catch {
      return;
    }
    const data = new Map();
    for (const [name, value] of kept) data.set(name, [...(data.get(name) ?? []), value]);
    for (const [name, values] of data) {
      if (name === "text") text.value = values[0];
      else if (name === "revision" || name === "doc") form.elements[name].value = values[0];
      else if (!PLAIN.has(name)) for (const field of fieldsNamed(name)) put(field, values);
    }
  };
  bringBack();

  for (const field of form.elements) {
    if (isField(field) && field.type !== "hidden" && differs(field)) touched.set(field.name, touches);
  }
  if (touched.size || text.value !== known) timer = setTimeout(ask, PAUSE);
  tell();

  const trimmed = (data) => {
    for (const name of new Set(data.keys())) {
      if (!PLAIN.has(name) && !touched.has(name)) data.delete(name);
    }
    data.set("touched", JSON.stringify([...touched.keys()]));
    turn += 1;
    data.set("page", PAGE);
    data.set("turn", String(turn));
  };

  document.addEventListener("htmx:configRequest", (event) => {
    const { elt, formData, triggeringEvent } = event.detail;
    if (elt !== form && !elt.matches("[data-changes]")) return;
    // htmx adds the button that has the focus, which may only have been tabbed to.
    if (triggeringEvent?.type !== "submit") formData.delete("do");
    trimmed(formData);
  });

  // One step at a time: a second click would end the first one's request half way.
  document.addEventListener(
    "submit",
    (event) => {
      if (event.target !== form || !stepping) return;
      event.preventDefault();
      event.stopImmediatePropagation();
    },
    true,
  );

  form.addEventListener("htmx:beforeRequest", (event) => {
    if (event.detail.elt !== form) return;
    const step = event.detail.requestConfig.formData.get("do") || "";
    clearTimeout(timer);
    timer = 0;
    stepping = step !== "";
    sent = { text: text.value, touched: new Map(touched), touches, step, doc: form.elements.doc.value };
    form.toggleAttribute("aria-busy", stepping);
    tell();
  });

  form.addEventListener("htmx:afterRequest", (event) => {
    if (event.detail.elt !== form) return;
    stepping = false;
    form.removeAttribute("aria-busy");
    if (event.detail.successful) {
      leaving = event.detail.xhr.getResponseHeader("HX-Redirect") !== null;
      if (!leaving && !signedOut) receive();
    }
    // Not before htmx is through with this one, or it takes the next one for done.
    if (redo || again) clearTimeout(timer);
    if (redo) timer = setTimeout(doStep, 0, redo);
    else if (again) timer = setTimeout(ask, 0);
    again = false;
    redo = "";
    tell();
  });

  const failed = (why) => {
    unsaved = true;
    sent = null;
    const note = document.querySelector(".ed-saved");
    if (note) note.textContent = `not saved: ${why}`;
  };
  const later = () => {
    failed("the portal did not answer");
    if (!timer) timer = setTimeout(ask, AFTER_FAILURE);
    tell();
  };
  form.addEventListener("htmx:sendError", later);
  form.addEventListener("htmx:timeout", later);
  form.addEventListener("htmx:responseError", ({ detail }) => {
    // What was typed is still here after that: see bringBack.
    failed(detail.xhr.status === 403 ? "reload the page" : "the portal failed");
  });

  document.addEventListener(
    "htmx:beforeSwap",
    ({ detail }) => {
      const { login } = document.body.dataset;
      const from = detail.xhr.responseURL;
      if (login && from && new URL(from).pathname === login) signedOut = true;
    },
    true,
  );

  // A screen reader says the sentence when it is another one.
  document.addEventListener("htmx:oobBeforeSwap", ({ detail }) => {
    if (detail.target.id === "draft-sentence" && detail.target.innerHTML === detail.fragment.innerHTML) {
      detail.shouldSwap = false;
    }
    // An open menu, or a button that is pressed, is not taken away by an answer to typing.
    const inUse = pressed || document.querySelector("#ed-menu[open]");
    if (detail.target.id === "draft-bar" && inUse && !sent?.step && !detail.fragment.querySelector(".callout")) {
      detail.shouldSwap = false;
    }
  });

  // --- the answer of the server ---------------------------------------------
  const read = (id) => JSON.parse(document.getElementById(id)?.textContent || "{}");

  const receive = () => {
    const state = read("draft-state");
    if (state.text === undefined || !sent) return;
    unsaved = !state.saved;
    const { step } = sent;
    const movedOn = text.value !== sent.text || touches !== sent.touches;
    if (text.value === sent.text) {
      for (const [name, number] of sent.touched) {
        if (touched.get(name) === number) touched.delete(name);
      }
      if (state.text !== text.value) setText(state.text);
      known = state.text;
    } else if (CHANGING.test(step)) {
      // Typed on meanwhile: what was sent goes once more, with what was typed since.
      form.elements.doc.value = sent.doc;
      redo = step;
      sent = null;
      return;
    }
    if (String(state.index) !== sent.doc) touched.clear(); // they were another document's
    if (step) placeAll(step);
    else place(false);
    if (step && !movedOn) focusAfter(step, state.focus);
    // Where one part is shown at a time: what the API server said is in the answer.
    if (["dry-run", "create"].includes(step) && NARROW.matches) view("answer");
    sent = null;
  };

  const setText = (value) => {
    if (text.yamlEditor) text.yamlEditor.setText(value);
    else text.value = value;
  };

  // --- the form, part by part: a part that somebody types in keeps its fields -------
  const parts = new Map(); // id → what the server sent last
  for (const part of document.querySelectorAll("[data-part]")) parts.set(part.id, part.outerHTML);

  const isBusy = (part) => {
    const here = document.activeElement;
    if (part.contains(here) && here.matches("input[type=text], textarea, [contenteditable]")) return true;
    return [...part.querySelectorAll("[name]")].some((field) => touched.has(field.name));
  };

  const fill = (part, fresh) => {
    for (const slot of fresh.querySelectorAll("[data-slot]")) {
      const old = part.querySelector(`#${CSS.escape(slot.id)}`);
      if (old && old.innerHTML !== slot.innerHTML) old.innerHTML = slot.innerHTML;
    }
    for (const field of fresh.querySelectorAll("input[id], textarea[id]")) {
      const old = part.querySelector(`#${CSS.escape(field.id)}`);
      if (!old) continue;
      const wrong = field.hasAttribute("aria-invalid");
      if (wrong) old.setAttribute("aria-invalid", "true");
      else old.removeAttribute("aria-invalid");
      old.closest(".field")?.classList.toggle("wrong", wrong);
    }
  };

  const replace = (old, fresh) => {
    const part = document.importNode(fresh, true);
    for (const fold of part.querySelectorAll("details[id]")) {
      const before = old?.querySelector(`#${CSS.escape(fold.id)}`);
      if (before && !before.matches(".menu")) fold.open = before.open;
    }
    if (old) old.replaceWith(part);
    else room.append(part);
    htmx.process(part);
    return part;
  };

  // How to find what has the focus again when its part is a new one.
  const tracked = (element) => {
    if (!room.contains(element)) return null;
    const { id, name, value } = element;
    if (id) return () => document.getElementById(id);
    if (element.matches("summary")) return () => document.querySelector(`#${CSS.escape(element.parentElement.id)} > summary`);
    return () => [...room.querySelectorAll("[name]")].find((one) => one.name === name && one.value === value);
  };

  const place = (all) => {
    const found = tracked(document.activeElement);
    const fresh = document.getElementById("draft-form-new")?.content;
    if (!fresh?.firstElementChild) return;
    let last = null;
    const wanted = new Set();
    for (const next of fresh.querySelectorAll("[data-part]")) {
      const html = next.outerHTML;
      let part = document.getElementById(next.id);
      wanted.add(next.id);
      if (!part || parts.get(next.id) !== html) {
        const busy = part && !all && isBusy(part);
        if (busy) fill(part, next);
        else part = replace(part, next);
        parts.set(next.id, busy ? "" : html);
      }
      if (next.id === "ed-lists") continue;
      const after = last ? last.nextElementSibling : room.firstElementChild;
      if (after !== part) room.insertBefore(part, after);
      last = part;
    }
    for (const part of [...room.children]) if (!wanted.has(part.id)) part.remove();
    if (document.activeElement === document.body) found?.()?.focus({ preventScroll: true });
  };

  // A part that was left alone while somebody typed in it is renewed when it is left.
  let catching = 0;
  const catchUp = () => {
    clearTimeout(catching);
    catching = setTimeout(() => {
      if (pressed) catchUp(); // or what is pressed would be gone before it is let go
      else if (!stepping && !timer) place(false);
    }, CATCHING);
  };
  room.addEventListener("focusout", catchUp);
  document.addEventListener("pointerdown", () => (pressed = true));
  for (const name of ["pointerup", "pointercancel", "dragend"]) document.addEventListener(name, () => (pressed = false));

  // After a step every part is new. What was typed since it was sent stays.
  const placeAll = (step) => {
    const typed = [...touched].map(([name, number]) => {
      const fields = fieldsNamed(name).filter((field) => field.type !== "checkbox" || field.checked);
      return [name, number, fields.map((field) => field.value)];
    });
    const caret = document.activeElement?.selectionStart;
    place(true);
    touched.clear();
    for (const [name, number, values] of typed) {
      const now = calledAfter(name, step);
      const fields = now ? fieldsNamed(now) : [];
      for (const field of fields) put(field, values);
      if (fields.length) touched.set(now, number);
    }
    if (typed.length && typeof caret === "number" && document.activeElement?.type === "text") {
      document.activeElement.setSelectionRange(caret, caret);
    }
    if (touched.size) again = true;
  };

  const doStep = (value) => {
    const button = document.createElement("button");
    Object.assign(button, { type: "submit", name: "do", value, hidden: true });
    form.append(button);
    button.click();
    button.remove();
  };

  // --- a tab that is closed in the middle of a word -------------------------------------
  const isOpen = () => !leaving && Boolean(timer || touched.size || unsaved || text.value !== known);

  window.addEventListener("beforeunload", (event) => {
    if (!isOpen() || signedOut || (!unsaved && text.value.length < MOST_BEACON)) return;
    if (!sent) ask();
    event.preventDefault();
  });

  window.addEventListener("pagehide", () => {
    if (!isOpen()) return;
    const data = new FormData(form);
    trimmed(data);
    if (!unsaved && !signedOut && navigator.sendBeacon(form.action, data)) return;
    try {
      sessionStorage.setItem(KEPT, JSON.stringify([...data].filter(([name]) => name !== "csrfmiddlewaretoken")));
    } catch {
      // There is no room; the browser has asked before.
    }
  });

  // Back to a page that the browser had put aside: the draft may be another one by now.
  window.addEventListener("pageshow", (event) => {
    if (!event.persisted) return;
    leaving = false;
    if (isOpen()) ask();
    else location.reload();
  });
})();
