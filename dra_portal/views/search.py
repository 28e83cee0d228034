"""One box over every name, identifier and attribute value of a cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.generic import View

from claims.models import Pod, PodResource, ResourceClaim, ResourceClaimTemplate
from inventory.models import (
    Cluster,
    Device,
    DeviceClass,
    DeviceTaintRule,
    Namespace,
    Node,
    Pool,
    ResourceSlice,
)
from inventory.views.kit import InCluster
from web.doors import RequiresRole

SHOWN = 10
LONGEST = 253
SHORTEST = 2


@dataclass(frozen=True, slots=True)
class Hit:
    text: str
    href: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Group:
    """Hits of one kind; ``more`` is the list page with the same text, when there are more."""

    title: str
    hits: list[Hit]
    more: str = ""


def search(cluster: Cluster, text: str) -> list[Group]:
    """What contains ``text``, grouped by kind, kinds without a hit left out.

    ``text`` may also be a UID, or a whole identifier as pages write it:
    ``namespace/name`` of a claim, ``driver/pool/device``.
    """
    here = cluster.name

    def page(name: str, *key: str) -> str:
        return reverse(name, args=[here, *key])

    def of(model: type[Any], where: Q) -> QuerySet[Any]:
        found: QuerySet[Any] = model.objects.filter(where, cluster=cluster)
        return found

    part = Q(name__icontains=text)
    named = part | Q(uid=text)
    namespace, _, name = text.partition("/")
    driver, _, rest = text.partition("/")
    pool, _, device = rest.rpartition("/")
    in_namespace = named | Q(namespace=namespace, name=name)
    asking = of(PodResource, part).values("pod")
    kinds: list[tuple[str, str, QuerySet[Any], Callable[[Any], Hit]]] = [
        (
            "Claims",
            "claims",
            of(ResourceClaim, in_namespace).defer("raw"),
            lambda c: Hit(str(c), page("claim", c.namespace, c.name), c.state),
        ),
        (
            "Pods",
            "pods",
            of(Pod, in_namespace | Q(pk__in=asking)).defer("raw"),
            lambda p: Hit(str(p), page("pod", p.namespace, p.name), p.phase),
        ),
        (
            "Nodes",
            "nodes",
            of(Node, named).defer("raw"),
            lambda n: Hit(n.name, page("node", n.name)),
        ),
        (
            "Namespaces",
            "namespaces",
            of(Namespace, named).defer("raw"),
            lambda n: Hit(n.name, page("namespace", n.name)),
        ),
        (
            "Devices",
            "devices",
            of(
                Device,
                part
                | Q(facts__icontains=text)
                | Q(driver=driver, pool=pool, name=device),
            ).defer("attributes", "capacity"),
            lambda d: Hit(
                str(d), page("device", d.driver, d.pool, d.name), matching_fact(d, text)
            ),
        ),
        (
            "Pools",
            "pools",
            of(Pool, part | Q(driver__icontains=text) | Q(driver=driver, name=rest)),
            lambda p: Hit(str(p), page("pool", p.driver, p.name), p.problem),
        ),
        (
            "Classes",
            "classes",
            of(DeviceClass, named | Q(extended_resource_name__icontains=text)).defer(
                "raw"
            ),
            lambda c: Hit(c.name, page("class", c.name), c.extended_resource_name),
        ),
        (
            "Templates",
            "templates",
            of(ResourceClaimTemplate, in_namespace).defer("raw"),
            lambda t: Hit(
                str(t), page("template", t.namespace, t.name), t.requests_text
            ),
        ),
        (
            "Slices",
            "slices",
            of(ResourceSlice, named).defer("raw"),
            lambda s: Hit(s.name, page("slice", s.name)),
        ),
        (
            "Taint rules",
            "taint-rules",
            of(DeviceTaintRule, named).defer("raw"),
            lambda r: Hit(r.name, page("taint-rule", r.name), r.effect),
        ),
    ]
    groups = []
    for title, list_name, found, hit in kinds:
        rows = list(found.order_by("name")[: SHOWN + 1])
        if rows:
            more = (
                f"{page(list_name)}?{urlencode({'q': text})}"
                if len(rows) > SHOWN
                else ""
            )
            groups.append(Group(title, as_hits(rows[:SHOWN], hit), more))
    return groups


def as_hits(rows: Iterable[Any], hit: Callable[[Any], Hit]) -> list[Hit]:
    return [hit(row) for row in rows]


def matching_fact(device: Device, text: str) -> str:
    """The ``name=value`` line that matched, when the name of the device did not."""
    wanted = text.lower()
    if wanted in device.name.lower():
        return ""
    lines = (line for line in device.facts.split("\n") if wanted in line.lower())
    return next(lines, "")


class Search(RequiresRole, InCluster, View):
    """``?q=``; a single hit is not jumped to, so that the answer is always a page."""

    def get(self, request: HttpRequest, **_: str) -> HttpResponse:
        text = request.GET.get("q", "").replace("\0", "").strip()[:LONGEST]
        groups = search(self.cluster, text) if len(text) >= SHORTEST else []
        return render(
            request,
            "portal/search.html",
            {
                "title": f"Search: {text}" if text else "Search",
                "search_text": text,
                "too_short": len(text) < SHORTEST,
                "groups": groups,
                "cluster": self.cluster,
            },
        )
