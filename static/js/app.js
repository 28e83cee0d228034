/* The few lines that links and forms cannot do. Everything works without them. */
"use strict";
(() => {
  const root = document.documentElement;
  root.classList.add("js");

  // --- theme: a cookie, so that the server renders it and nothing flashes ----
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const toggleTheme = () => {
    const now = root.dataset.theme || (dark.matches ? "dark" : "light");
    const next = now === "dark" ? "light" : "dark";
    root.dataset.theme = next;
    const secure = location.protocol === "https:" ? "; Secure" : "";
    document.cookie = `theme=${next}; Path=/; Max-Age=31536000; SameSite=Lax${secure}`;
  };

  // --- small clicks ------------------------------------------------------
  const toast = (text) => {
    const box = document.getElementById("toasts");
    if (!box) return;
    const note = document.createElement("div");
    note.className = "toast";
    note.textContent = text;
    box.append(note);
    setTimeout(() => note.remove(), 2500);
  };

  const copy = async (button) => {
    const from = button.dataset.copyFrom;
    const text = from ? document.querySelector(from).textContent : button.dataset.copy;
    try {
      await navigator.clipboard.writeText(text);
      button.classList.add("done");
      setTimeout(() => button.classList.remove("done"), 1200);
      toast("Copied.");
    } catch {
      toast("The browser does not allow copying here.");
    }
  };

  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-copy], [data-copy-from]");
    if (button) copy(button);
    if (event.target.closest("[data-theme-toggle]")) toggleTheme();
    for (const menu of document.querySelectorAll("details.menu[open]")) {
      if (!menu.contains(event.target)) menu.removeAttribute("open");
    }
  });

  // A filter of several choices says how many are on.
  document.addEventListener("change", (event) => {
    const menu = event.target.closest("details.menu");
    const said = menu?.querySelector("[data-chosen]");
    if (!said) return;
    const on = menu.querySelectorAll("input:checked").length;
    said.textContent = on ? `${on} chosen` : "any";
  });

  // --- keyboard: "/" searches, j and k or arrows walk rows, Enter opens --------
  const typing = (element) =>
    element.closest("input, textarea, select, [contenteditable]") !== null;

  const walk = (step) => {
    const rows = [...document.querySelectorAll("table[data-walk] tbody tr")];
    if (!rows.length) return false;
    const here = rows.indexOf(document.activeElement.closest("tr"));
    const next = rows[Math.min(rows.length - 1, Math.max(0, here + step))];
    next.tabIndex = -1;
    next.focus();
    return true;
  };

  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      for (const menu of document.querySelectorAll("details.menu[open]")) {
        menu.removeAttribute("open");
        menu.querySelector("summary").focus();
      }
    }
    if (event.ctrlKey || event.metaKey || event.altKey || typing(event.target)) return;
    if (event.key === "/") {
      const search = document.getElementById("search");
      if (search) {
        event.preventDefault();
        search.focus();
        search.select();
      }
    } else if (event.key === "j" || (event.key === "ArrowDown" && event.target.matches("tr"))) {
      if (walk(1)) event.preventDefault();
    } else if (event.key === "k" || (event.key === "ArrowUp" && event.target.matches("tr"))) {
      if (walk(-1)) event.preventDefault();
    } else if (event.key === "Enter" && event.target.matches("table[data-walk] tbody tr")) {
      event.target.querySelector("a")?.click();
    }
  });

  // --- htmx --------------------------------------------------------------
  // A request that a newer one has ended is no error; htmx would say so on the console.
  if (window.htmx) {
    window.htmx.logger = (_element, name, detail) => {
      if (["htmx:sendAbort", "htmx:afterRequest"].includes(name)) delete detail.error;
    };
  }
  document.addEventListener("htmx:configRequest", (event) => {
    // Empty filters have no place in an address.
    const { parameters, verb } = event.detail;
    if (verb !== "get") return;
    for (const name of [...new Set(parameters.keys?.() ?? Object.keys(parameters))]) {
      const value = parameters[name];
      if (value === "" || value === null) delete parameters[name];
    }
  });
  let running = 0;
  const ended = () => {
    running -= 1;
    if (!running) root.classList.remove("busy");
  };
  document.addEventListener("htmx:beforeSend", ({ detail }) => {
    running += 1;
    root.classList.add("busy");
    // No event of htmx tells of the end when what asked is gone from the page by then.
    detail.xhr.addEventListener("loadend", ended, { once: true });
  });
  document.addEventListener("htmx:beforeSwap", (event) => {
    // Signed out meanwhile: the answer is the login page, not a fragment.
    const { xhr } = event.detail;
    const home = document.body.dataset.login;
    if (home && xhr.responseURL && new URL(xhr.responseURL).pathname === home) {
      event.detail.shouldSwap = false;
      location.reload();
    }
  });
  const failed = () => toast("The portal did not answer. What you see may be old.");
  let warned = 0;
  for (const name of ["htmx:sendError", "htmx:responseError", "htmx:timeout"]) {
    document.addEventListener(name, () => {
      if (Date.now() - warned > 30000) {
        warned = Date.now();
        failed();
      }
    });
  }

  // --- what asks for itself gives way -------------------------------------------
  // To a pointer that is down in it, whose click would be lost, and to what somebody has
  // asked for in its place, whose answer would find that place gone.
  let pressed = null;
  const wanted = new Map(); // by the part's id: the newest request of somebody for it
  const postponed = new Map(); // by the part's id: how to ask again
  const byItself = ({ elt, target, verb }) => elt === target && verb === "get";

  const resume = () => {
    for (const [id, ask] of postponed) {
      if (wanted.has(id) || pressed) continue;
      postponed.delete(id);
      ask();
    }
  };
  const release = () => {
    pressed = null;
    setTimeout(resume); // after the click
  };
  document.addEventListener("pointerdown", ({ target }) => (pressed = target), true);
  for (const name of ["pointerup", "pointercancel", "dragend"]) {
    document.addEventListener(name, release, true);
  }
  window.addEventListener("blur", release);

  document.addEventListener("htmx:beforeSend", ({ detail }) => {
    const { target, requestConfig, xhr } = detail;
    if (!target?.id || byItself(requestConfig)) return;
    wanted.set(target.id, xhr);
    const answered = () => {
      if (wanted.get(target.id) === xhr) wanted.delete(target.id);
      resume();
    };
    xhr.addEventListener("loadend", answered, { once: true });
  });
  document.addEventListener("htmx:beforeSwap", ({ detail }) => {
    const { target, requestConfig } = detail;
    if (!detail.shouldSwap || !target.id || !byItself(requestConfig)) return;
    if (!target.contains(pressed) && !wanted.has(target.id)) return;
    detail.shouldSwap = false;
    postponed.set(target.id, () => {
      if (!target.isConnected) return;
      const swap = target.getAttribute("hx-swap") || "outerHTML";
      window.htmx.ajax("GET", requestConfig.path, { source: target, target, swap });
    });
  });

  // --- live: the stream nudges, elements ask again for themselves ---------------
  const QUIET = 2000; // at most one request per element in this many milliseconds
  const POLL = 20000; // when there is no stream
  const asked = new Map(); // by id: an element is replaced by its own answer
  const waiting = new Set();
  const kindsOf = (element) => (element.dataset.refreshOn || "").split(/\s+/).filter(Boolean);

  const reload = (element) => {
    if (!element.isConnected || !element.id || !window.htmx) return;
    if (element.contains(document.activeElement) && typing(document.activeElement)) return;
    asked.set(element.id, Date.now());
    window.htmx.ajax("GET", element.dataset.refreshUrl || location.href, {
      source: element,
      target: element,
      swap: "outerHTML",
    });
  };

  const nudge = (element) => {
    if (document.hidden || waiting.has(element.id)) {
      waiting.add(element.id);
      return;
    }
    const rest = QUIET - (Date.now() - (asked.get(element.id) || 0));
    if (rest <= 0) {
      reload(element);
      return;
    }
    waiting.add(element.id);
    setTimeout(() => flush(element.id), rest);
  };

  const flush = (id) => {
    if (document.hidden || !waiting.delete(id)) return;
    const element = document.getElementById(id);
    if (element) reload(element);
  };

  const changes = new Map();
  const countChange = (kind) => {
    const bar = document.getElementById("changes");
    if (!bar || !(bar.dataset.changesOn || "").split(/\s+/).includes(kind)) return;
    const seen = (changes.get(location.href) || 0) + 1;
    changes.set(location.href, seen);
    bar.querySelector("[data-count]").textContent = seen === 1 ? "1 change" : `${seen} changes`;
    bar.hidden = false;
  };
  document.addEventListener("htmx:afterSwap", (event) => {
    if (["results", "cel-answer"].includes(event.detail.target?.id)) changes.clear();
  });

  const onKind = (kind) => {
    for (const element of document.querySelectorAll("[data-refresh-on]")) {
      if (kindsOf(element).includes(kind)) nudge(element);
    }
    countChange(kind);
  };

  const everything = () => {
    for (const element of document.querySelectorAll("[data-refresh-on]")) nudge(element);
  };

  const KINDS = (document.body.dataset.kinds || "").split(/\s+/).filter(Boolean);
  const address = document.body.dataset.events;
  let poll = 0;
  const setPolling = (on) => {
    if (on && !poll) poll = setInterval(everything, POLL);
    if (!on && poll) {
      clearInterval(poll);
      poll = 0;
    }
  };
  if (address && window.EventSource) {
    let stream = null;
    let retry = 0;
    let last = "";
    const since = () => (last ? `${address.split("?")[0]}?since=${encodeURIComponent(last)}` : address);
    const open = () => {
      if (stream || document.hidden) return;
      stream = new EventSource(since());
      stream.onopen = () => {
        setPolling(false);
        retry = 0;
      };
      stream.onerror = () => {
        setPolling(true);
        // The browser reconnects by itself unless the server refused.
        if (stream && stream.readyState === EventSource.CLOSED) {
          stream = null;
          retry = Math.min(retry + 1, 6);
          setTimeout(open, 2000 * 2 ** retry);
        }
      };
      for (const kind of KINDS) {
        stream.addEventListener(kind, (event) => {
          last = event.lastEventId || last;
          onKind(kind);
        });
      }
    };
    let sleep = 0;
    document.addEventListener("visibilitychange", () => {
      clearTimeout(sleep);
      if (document.hidden) {
        sleep = setTimeout(() => {
          stream?.close();
          stream = null;
          setPolling(false);
        }, 60000);
        return;
      }
      for (const id of [...waiting]) flush(id);
      open();
    });
    window.addEventListener("pagehide", () => stream?.close());
    window.addEventListener("pageshow", (event) => {
      if (!event.persisted) return;
      stream = null;
      open();
    });
    open();
  } else if (address) {
    setPolling(true);
  }

  // What was too costly to wait for.
  for (const element of document.querySelectorAll("[data-refresh-now]")) reload(element);

  // Elements that age without an event (the freshness line).
  setInterval(() => {
    if (document.hidden) return;
    for (const element of document.querySelectorAll("[data-refresh-every]")) {
      const due = Number(element.dataset.refreshEvery) * 1000;
      if (Date.now() - (asked.get(element.id) || start) >= due) reload(element);
    }
  }, 1000);
  const start = Date.now();
})();
