"""A page with an editor, served from the built files under the portal's own rules.

No server runs: the browser's requests are answered here, so a test decides what the
catalog says, what comes back for an expression, and when.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from playwright.sync_api import Browser, Page, Route, ViewportSize

from tests.browser.tabs import PATIENCE, taken

ROOT = Path(__file__).resolve().parents[2]
ADDRESS = "http://portal.test"
NONCE = "bm9uY2U"
SIZE: ViewportSize = {"width": 900, "height": 700}
POLICY = (
    f"default-src 'self'; script-src 'self' 'nonce-{NONCE}'; "
    f"style-src 'self' 'nonce-{NONCE}'; img-src 'self' data:; connect-src 'self'; "
    "object-src 'none'; base-uri 'none'; form-action 'self'"
)
CATALOG = {
    "devices": 10_245,
    "attributes": [
        {
            "domain": "gpu.nvidia.com",
            "name": "productName",
            "types": ["string"],
            "devices": 8_192,
            "distinct": 2,
            "examples": ["NVIDIA H100 80GB HBM3", "NVIDIA A100-SXM4-40GB"],
        },
        {
            "domain": "gpu.nvidia.com",
            "name": "driverVersion",
            "types": ["version"],
            "devices": 8_000,
            "distinct": 1,
            "examples": ["580.105.8"],
        },
        {
            "domain": "dra.net",
            "name": "rdma",
            "types": ["bool"],
            "devices": 2_053,
            "distinct": 2,
            "examples": ["true", "false"],
        },
    ],
    "capacity": [
        {
            "domain": "gpu.nvidia.com",
            "name": "memory",
            "types": ["quantity"],
            "devices": 8_192,
            "distinct": 2,
            "examples": ["81559Mi", "40320Mi"],
        }
    ],
}
FORM = """
<form class="field" id="form" action="/sent" method="get">
  <label for="expression">Expression</label>
  <textarea id="expression" name="expression" rows="4" maxlength="10240"
            placeholder="device.driver == …" aria-describedby="help" aria-required="true"
            data-cel-editor data-cel-catalog="/catalog.json"
            hx-get="/evaluate" hx-trigger="input changed delay:150ms" hx-target="#results"
  >{expression}</textarea>
  <span class="help" id="help">A selector of devices.</span>
  <button class="button primary" name="go" value="yes">Save</button>
</form>
<div id="results"></div>
<p><a href="/elsewhere" id="after">after</a></p>
"""
SHELL = """<!doctype html>
<html lang="en" data-theme="{theme}">
<head>
  <meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
  <title>Editor</title>
  <meta name="htmx-config" content='{{"allowEval":false,"includeIndicatorStyles":false}}'>
  <link rel="stylesheet" href="/static/css/tokens.css">
  <link rel="stylesheet" href="/static/css/frame.css">
  <link rel="stylesheet" href="/static/css/parts.css">
  <script src="/htmx.js" nonce="{nonce}" defer></script>
  {scripts}
</head>
<body><main class="content">{body}</main></body>
</html>"""


SCRIPT = '<script src="/static/js/{name}.js" nonce="{nonce}" defer></script>'


def diagnostics(*found: dict[str, Any]) -> str:
    return (
        '<script type="application/json" data-cel-diagnostics="expression">'
        f"{json.dumps(found)}</script>"
    )


FRAMES = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"


class EditorPage:
    """``evaluate`` answers an expression, or a text, with a fragment; ``asked`` are the requests."""

    def __init__(self, page: Page, html: str) -> None:
        self.page = page
        self.asked: list[tuple[str, dict[str, list[str]]]] = []
        self.evaluate: Callable[[str], str] = lambda expression: ""
        self.catalog: dict[str, Any] = CATALOG
        self._html = html
        self._held: list[Callable[[], None]] | None = None

    def answer(self, route: Route) -> None:
        address = urlsplit(route.request.url)
        query = parse_qs(address.query, keep_blank_values=True)
        if address.path.startswith("/static/"):
            route.fulfill(path=ROOT / address.path.lstrip("/"))
            return
        if address.path == "/htmx.js":
            htmx = files("django_htmx") / "static/django_htmx/htmx-2.min.js"
            route.fulfill(body=htmx.read_text("utf-8"), content_type="text/javascript")
            return
        self.asked.append((address.path, query))
        if address.path == "/catalog.json":
            route.fulfill(json=self.catalog)
        elif address.path == "/evaluate":
            about = query.get("expression") or query["text"]
            self._when_let_go(partial(self._say, route, about[0]))
        else:
            route.fulfill(
                body=self._html,
                content_type="text/html; charset=utf-8",
                headers={"Content-Security-Policy": POLICY},
            )

    def _say(self, route: Route, about: str) -> None:
        route.fulfill(body=self.evaluate(about), content_type="text/html")

    def _when_let_go(self, answer: Callable[[], None]) -> None:
        if self._held is None:
            answer()
        else:
            self._held.append(answer)

    @contextmanager
    def no_answers(self) -> Iterator[None]:
        """Whatever is asked in the block is answered after it."""
        held: list[Callable[[], None]] = []
        self._held = held
        yield
        self._held = None
        for answer in held:
            answer()

    def drawn(self) -> None:
        """Until what was written has been measured and painted."""
        self.page.evaluate(FRAMES)

    def requests(self, path: str) -> list[dict[str, list[str]]]:
        return [query for asked, query in self.asked if asked == path]

    @property
    def field(self) -> str:
        """What the form would send."""
        return self.page.locator("#expression").input_value()


class EditorTab:
    """Where editors are tried, one after another."""

    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self._shared = self._new_page()

    def close(self) -> None:
        self._shared.context.close()

    def _new_page(self, **window: Any) -> Page:
        context = self._browser.new_context(viewport=SIZE, **window)
        context.set_default_timeout(PATIENCE)
        page = context.new_page()
        page.add_init_script(
            "addEventListener('securitypolicyviolation', (event) =>"
            " console.error('policy', event.violatedDirective, event.sample))"
        )
        return page

    @contextmanager
    def window(self, **window: Any) -> Iterator[Page]:
        """The tab that all share; with anything said of it, one in a window of its own."""
        if window:
            page = self._new_page(**window)
            with taken(page):
                yield page
            page.context.close()
            return
        try:
            with taken(self._shared):
                yield self._shared
        finally:
            self._shared.unroute(f"{ADDRESS}/**")
            self._shared.set_viewport_size(SIZE)


@contextmanager
def editor_page(
    editors: EditorTab,
    *,
    body: str = "",
    expression: str = "",
    theme: str = "light",
    scripts: Sequence[str] = ("cel-editor", "cel-highlight"),
    **window: Any,
) -> Iterator[EditorPage]:
    """Fails on any error of the browser's console, such as a breach of the policy."""
    loaded = "\n".join(SCRIPT.format(name=name, nonce=NONCE) for name in scripts)
    filled = body or FORM.format(expression=expression)
    html = SHELL.format(nonce=NONCE, theme=theme, body=filled, scripts=loaded)
    with editors.window(**window) as page:
        at = EditorPage(page, html)
        page.route(f"{ADDRESS}/**", at.answer)
        page.goto(f"{ADDRESS}/")
        yield at


CONTRASTS = """() => {
  const channel = (value) =>
    value <= 0.04045 * 255 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4;
  const light = (colour) => {
    const [r, g, b] = colour.match(/[\\d.]+/g).map(Number);
    return 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
  };
  const behind = (element) => {
    for (let one = element; one; one = one.parentElement) {
      const colour = getComputedStyle(one).backgroundColor;
      if (!/, 0\\)$/.test(colour)) return colour;
    }
    return "rgb(255, 255, 255)";
  };
  const found = {};
  const shown = ".cm-line, .cm-line span, .cm-gutterElement, .cm-lint-marker, .editor-status,"
    + " .cm-panel label, .cm-panel button, .cm-tooltip li span, .cm-diagnostic, .cm-completionInfo div";
  for (const element of document.querySelectorAll(shown)) {
    if (!element.textContent.trim()) continue;
    const [a, b] = [getComputedStyle(element).color, behind(element)].map(light);
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    const name = element.className || element.tagName;
    found[name] = Math.min(found[name] ?? 99, ratio);
  }
  return found;
}"""


def contrasts(page: Page) -> dict[str, float]:
    """The lowest ratio of each class of words that the editor shows."""
    found: dict[str, float] = page.evaluate(CONTRASTS)
    return found
