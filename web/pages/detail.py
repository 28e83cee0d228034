"""The page of one object, and its raw YAML."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Final

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.utils.cache import patch_vary_headers
from django.utils.text import slugify
from django.views.generic import View

from web.doors import RequiresRole
from web.highlight import to_yaml, yaml_lines
from web.pages.addresses import with_parameters
from web.pages.crumbs import Crumb

LIVE_HEADING: Final = "components/heading_live.html"


@dataclass(frozen=True, slots=True)
class Tab:
    """One tab; its context comes from the view's ``tab_<name>`` method.

    ``template`` is included when it is open; ``count`` stands beside the label.
    """

    name: str
    label: str
    template: str = ""
    count: int | None = None


@dataclass(frozen=True, slots=True)
class Fact:
    """One line of the key-value list. ``value`` may be HTML from ``web.pages.cells``."""

    label: str
    value: object
    help: str = ""
    wide: bool = False


@dataclass(frozen=True, slots=True)
class Heading:
    """What stands on top: "Node h100-00017", its badges, one sentence, its YAML."""

    kind: str
    name: str
    sentence: str = ""
    badges: Sequence[str] = ()
    crumbs: Sequence[Crumb] = field(default_factory=tuple)
    yaml_href: str = ""


class DetailPage[M](RequiresRole, View):
    """See the module docstring of ``web.pages`` for how to make one."""

    template_name: ClassVar[str] = "pages/detail.html"
    fragments: ClassVar[tuple[str, ...]] = ()
    tabs: ClassVar[Sequence[Tab]] = ()
    request: HttpRequest

    def load(self) -> M:
        """The object, or Http404."""
        raise NotImplementedError

    def heading(self) -> Heading:
        raise NotImplementedError

    def facts(self) -> Sequence[Fact]:
        return ()

    def extra(self) -> dict[str, Any]:
        """More template context."""
        return {}

    def fragment_template(self, name: str) -> str:
        """Override when a fragment is defined in a tab's template."""
        return f"{self.template_name}#{name}"

    @cached_property
    def object(self) -> M:
        return self.load()

    def shown_tabs(self) -> Sequence[Tab]:
        """Override to add counts or to leave a tab out."""
        return self.tabs

    @cached_property
    def open_tab(self) -> Tab | None:
        tabs = self.shown_tabs()
        asked = self.request.GET.get("tab", "")
        return next(
            (tab for tab in tabs if tab.name == asked), tabs[0] if tabs else None
        )

    @property
    def tab_links(self) -> list[tuple[Tab, str, bool]]:
        """Each tab with its address and whether it is open."""
        return [
            (
                tab,
                with_parameters(
                    self.request, drop=("sort",), tab=tab.name if index else None
                ),
                tab == self.open_tab,
            )
            for index, tab in enumerate(self.shown_tabs())
        ]

    def get(self, request: HttpRequest, *_args: Any, **_kwargs: Any) -> HttpResponse:
        htmx = getattr(request, "htmx", None)
        target = htmx.target if htmx and not htmx.history_restore_request else None
        context = self._context()
        if target in self.fragments:
            response = render(request, self.fragment_template(target), context)
            # The state on top of the page changes with the fragment (htmx, out of band).
            response.write(render_to_string(LIVE_HEADING, context, request))
        else:
            response = render(request, self.template_name, context)
        patch_vary_headers(response, ("HX-Request", "HX-Target"))
        return response

    def _context(self) -> dict[str, Any]:
        heading = self.heading()
        context: dict[str, Any] = {
            "detail": self,
            "object": self.object,
            "heading": heading,
            "title": f"{heading.kind} {heading.name}",
            "crumbs": heading.crumbs,
            "facts": self.facts(),
            **self.extra(),
        }
        tab = self.open_tab
        if tab is not None:
            method: Any = getattr(self, f"tab_{tab.name.replace('-', '_')}", None)
            context |= method() if method else {}
            context["tab"] = tab
        return context


class YamlPage(RequiresRole, View):
    """The object as the server sent it, in v1 form, as YAML to read, copy, download."""

    request: HttpRequest

    def raw(self) -> Any:
        """The JSON value, or Http404."""
        raise NotImplementedError

    def heading(self) -> Heading:
        raise NotImplementedError

    def left_out(self) -> str:
        """A sentence on what of the object is not in :meth:`raw`; empty: nothing."""
        return ""

    def get(self, request: HttpRequest, *_args: Any, **_kwargs: Any) -> HttpResponse:
        text = to_yaml(self.raw())
        if left_out := self.left_out():
            text = f"# {left_out}\n{text}"
        heading = self.heading()
        if request.GET.get("format") == "yaml":
            response = HttpResponse(text, content_type="application/yaml")
            name = slugify(f"{heading.kind}-{heading.name}".replace("/", "-"))
            response["Content-Disposition"] = f'attachment; filename="{name}.yaml"'
            return response
        return render(
            request,
            "pages/yaml.html",
            {
                "heading": heading,
                "title": f"{heading.kind} {heading.name}: YAML",
                "crumbs": heading.crumbs,
                "text": text,
                "lines": yaml_lines(text),
                "download_href": with_parameters(request, format="yaml"),
            },
        )
