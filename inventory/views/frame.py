"""What stands around every page: clusters, navigation, how fresh the mirror is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.urls import NoReverseMatch, reverse
from django.utils.functional import cached_property

from allocator.queries import newest_changes
from inventory.models import Cluster
from inventory.queries.freshness import Freshness, freshness
from inventory.queries.leaving import why_left
from web.doors import Role, role_of

THEMES = frozenset({"light", "dark"})
KINDS = (
    "Node Namespace DeviceClass ResourceSlice DeviceTaintRule ResourceClaim "
    "ResourceClaimTemplate Pod PodGroup AllocationRun Finding"
)
"""The event names of the stream."""

_SESSION_KEY = "cluster"
_MARK = "portal_mark"

# label, icon, URL name, URL names that mark it as current
_GROUPS: tuple[tuple[str, tuple[tuple[str, str, str], ...]], ...] = (
    (
        "",
        (
            ("Overview", "overview", "overview"),
            ("Findings", "alert", "findings"),
            ("What changed", "clock", "changes"),
        ),
    ),
    (
        "What there is",
        (
            ("Devices", "device", "devices"),
            ("Device map", "map", "device-map"),
            ("Nodes", "node", "nodes"),
            ("Pools", "pool", "pools"),
            ("Slices", "slice", "slices"),
            ("Classes", "class", "classes"),
            ("Taint rules", "flag", "taint-rules"),
        ),
    ),
    (
        "What is asked for",
        (
            ("Namespaces", "user", "namespaces"),
            ("Claims", "claim", "claims"),
            ("Templates", "template", "templates"),
            ("Pods", "pod", "pods"),
            ("CEL", "cel", "cel"),
        ),
    ),
    (
        "What would be",
        (
            ("What-if", "puzzle", "what-if"),
            ("Headroom", "pulse", "what-if-headroom"),
        ),
    ),
    ("What the portal did", (("Runs", "run", "runs"),)),
)
_SECTION_OF = {
    "device": "devices",
    "node": "nodes",
    "pool": "pools",
    "slice": "slices",
    "class": "classes",
    "taint-rule": "taint-rules",
    "claim": "claims",
    "template": "templates",
    "pod": "pods",
    "run": "runs",
    "finding": "findings",
    "usage": "overview",
    "namespace": "namespaces",
    "what-if-run": "what-if",
    "what-if-compare": "what-if",
    "what-if-scenarios": "what-if",
    "what-if-scenario": "what-if",
    "cel-device": "cel",
    "claim-delete": "claims",
    "template-delete": "templates",
    "class-delete": "classes",
}


@dataclass(frozen=True, slots=True)
class Item:
    label: str
    icon: str
    href: str
    current: bool
    count: int = 0
    """What somebody should look at there; 0 is not shown."""


@dataclass(frozen=True, slots=True)
class Group:
    title: str
    items: list[Item]


@dataclass(frozen=True, slots=True)
class ClusterLink:
    name: str
    href: str
    read_only: bool
    left: bool
    """``clusters.yaml`` names it no more."""


class Frame:
    """Lazy: a fragment, which does not show the frame, costs no query.

    Templates ask twice for what may be missing, so everything is kept.
    """

    def __init__(self, request: HttpRequest) -> None:
        self._request = request

    @cached_property
    def role(self) -> Role | None:
        return role_of(getattr(self._request, "user", None))

    @cached_property
    def _all(self) -> list[Cluster]:
        if not self.role:
            return []
        return list(Cluster.objects.select_related("finding_pass"))

    @cached_property
    def cluster(self) -> Cluster | None:
        """The one of the address, else the one looked at last, else the first."""
        if not self._all:
            return None
        by_name = {cluster.name: cluster for cluster in self._all}
        session = self._request.session
        match = self._request.resolver_match
        here = by_name.get(match.kwargs.get("cluster", "") if match else "")
        if here is not None:
            if session.get(_SESSION_KEY) != here.name:
                session[_SESSION_KEY] = here.name
            return here
        last = by_name.get(session.get(_SESSION_KEY, ""))
        return last or next((c for c in self._all if c.left_at is None), self._all[0])

    @cached_property
    def left(self) -> str:
        """On pages of a cluster that nobody follows any more: the sentence that says so."""
        match, shown = self._request.resolver_match, self.cluster
        if match is None or shown is None or match.kwargs.get("cluster") != shown.name:
            return ""
        return why_left(shown)

    @cached_property
    def clusters(self) -> list[ClusterLink]:
        return [
            ClusterLink(
                c.name,
                reverse("overview", args=[c.name]),
                c.read_only,
                left=c.left_at is not None,
            )
            for c in self._all
        ]

    @cached_property
    def home_href(self) -> str:
        if self.cluster is None:
            return "/"
        return reverse("overview", args=[self.cluster.name])

    @cached_property
    def search_href(self) -> str:
        return reverse("search", args=[self.cluster.name]) if self.cluster else ""

    @cached_property
    def events_href(self) -> str:
        """The stream of what has changed since the page's data was read."""
        if self.cluster is None:
            return ""
        mark = getattr(self._request, _MARK, None)
        if mark is None or mark[0] != self.cluster.name:
            mark = (self.cluster.name, _mark_of(self.cluster))
        return f"{reverse('events', args=[self.cluster.name])}?since={mark[1]}"

    @property
    def kinds(self) -> str:
        return KINDS

    @cached_property
    def freshness(self) -> Freshness | None:
        return freshness(self.cluster) if self.cluster else None

    @property
    def navigation(self) -> list[Group]:
        if not self.role:
            return []
        match = self._request.resolver_match
        here = (match.url_name or "").removesuffix("-yaml") if match else ""
        here = _SECTION_OF.get(here, here)
        groups = []
        if self.cluster:
            for title, entries in _GROUPS:
                items = [
                    Item(label, icon, href, here == name, self._count(name))
                    for label, icon, name in entries
                    if (href := _href(name, self.cluster.name))
                ]
                groups.append(Group(title, items))
        last = [Item("Clusters", "cluster", reverse("clusters"), here == "clusters")]
        if getattr(self._request.user, "is_staff", False):
            last.append(Item("Admin", "admin", reverse("admin:index"), current=False))
        groups.append(Group("Portal", last))
        return groups

    def _count(self, name: str) -> int:
        """Open findings that are errors; no query, see ``_all``."""
        passing = getattr(self.cluster, "finding_pass", None)
        return passing.errors if name == "findings" and passing is not None else 0

    @property
    def user_links(self) -> list[Item]:
        href = _href("api-docs")
        return [Item("REST API", "code", href, current=False)] if href else []


def note_mark(request: HttpRequest, cluster: Cluster) -> None:
    """Remember how far the cluster is before a page reads its data.

    The page opens the event stream from there, so that nothing which changes while
    it is made is missed. Fragments open no stream.
    """
    if not getattr(request, "htmx", None):
        setattr(request, _MARK, (cluster.name, _mark_of(cluster)))


def _mark_of(cluster: Cluster) -> str:
    runs, findings = newest_changes(cluster)
    return f"{cluster.seq}.{runs}.{findings}"


def _href(name: str, *args: str) -> str:
    """Empty when this installation has no such page."""
    try:
        return reverse(name, args=args)
    except NoReverseMatch:
        return ""


def frame(request: HttpRequest) -> dict[str, Any]:
    """Context processor: ``frame``, and ``theme`` from the cookie of the toggle."""
    theme = request.COOKIES.get("theme", "")
    return {
        "frame": Frame(request),
        "theme": theme if theme in THEMES else "",
        "debug": settings.DEBUG,
    }
