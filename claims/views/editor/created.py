"""After creating: the objects, and their pages as soon as the watch has brought them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlencode

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.generic import View

from claims.queries.objects import row_of
from claims.views.editor.writing import PAGES, Results, page_of
from inventory.models import Cluster
from inventory.views.kit import InCluster
from web.doors import RequiresRole, Role
from web.pages import Crumb

MOST: Final = 64


@dataclass(frozen=True, slots=True)
class Made:
    """``href`` is empty until the object is in the mirror."""

    kind: str
    namespace: str
    name: str
    href: str


class CreatedPage(InCluster, RequiresRole, View):
    """One object: its page as soon as there is one. Several: a list of them."""

    required_role = Role.VIEWER
    request: HttpRequest

    def get(self, request: HttpRequest, **_kwargs: object) -> HttpResponse:
        made = list(self._made(request.GET.getlist("o")[:MOST]))
        if not made:
            raise Http404("No object is named.")
        if len(made) == 1 and made[0].href:
            if getattr(request, "htmx", None):
                return HttpResponse(headers={"HX-Redirect": made[0].href})
            return redirect(made[0].href)
        context = {
            "cluster": self.cluster,
            "title": "Created",
            "crumbs": [
                self.cluster_crumb(),
                Crumb("Claims", self.url("claims")),
                Crumb("Created"),
            ],
            "made": made,
            "waiting": any(not each.href for each in made),
            "left": request.GET.getlist("left")[:MOST],
        }
        return render(request, "claims/editor/created.html", context)

    def _made(self, named: Sequence[str]) -> Iterator[Made]:
        for text in named:
            kind, _, key = text.partition("/")
            namespace, _, name = key.rpartition("/")
            if kind not in PAGES:
                continue
            there = row_of(self.cluster, kind, namespace, name)
            href = page_of(self.cluster, kind, namespace, name) if there else ""
            yield Made(kind, namespace, name, href)


def created_href(cluster: Cluster, results: Results) -> str:
    """The address that shows what was created."""
    names = []
    for each in results.each:
        meta = each.stored.get("metadata", {})
        key = [each.stored.get("kind", ""), meta.get("namespace"), meta.get("name", "")]
        names.append(("o", "/".join(str(part) for part in key if part)))
    query = urlencode([*names, *(("left", text) for text in results.left)])
    return f"{reverse('created', args=[cluster.name])}?{query}"
