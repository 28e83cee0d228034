"""Classes: what can I ask for?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import ClassVar
from urllib.parse import urlencode

from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.html import format_html
from django.views.generic import View

from allocator import snapshots
from allocator.findings.queries import ObjectRef
from claims.queries import claims as claim_queries
from claims.queries import templates as template_queries
from dra.container_asks import CLASS_PREFIX
from dra.pod_needs import plugin_nodes_of, served_by
from inventory.filtersets import ClassFilter
from inventory.models import DeviceClass
from inventory.queries import classes as queries
from inventory.queries import devices
from inventory.views.cel_links import cel_href, joined
from inventory.views.class_use import (
    ClassMatch,
    ClassUse,
    class_uses,
    classes_of_device,
    known_class_uses,
)
from inventory.views.kit import ClusterDetail, ClusterList, InCluster, MirroredYaml
from web import highlight
from web.doors import RequiresRole
from web.pages import Column, Crumb, Fact, Heading, Tab, cells
from web.pages.addresses import asking

SELECTOR_SHOWN = 160
CLAIMS_SHOWN = 100
PODS_SHOWN = 50


class Classes(ClusterList[DeviceClass]):
    """All classes, their selectors, and how many devices each matches."""

    title = "Classes"
    name = "classes"
    noun = ("class", "classes")
    filterset_class = ClassFilter
    refresh_on = ("DeviceClass", "ResourceSlice", "ResourceClaim")
    nothing_yet = (
        "No DeviceClass exists: nothing can be asked for until somebody makes one."
    )

    def available_columns(self) -> Sequence[Column]:
        return (
            Column(
                "name",
                "Class",
                sort=("name",),
                kind="mono",
                href=lambda c: self.url("class", c.name),
            ),
            Column(
                "free",
                "Free / matched",
                value=lambda c: use.free if (use := self._use(c)) else None,
                cell=self._use_cell,
            ),
            Column(
                "matched",
                "Matched",
                value=lambda c: use.matched if (use := self._use(c)) else None,
                kind="number",
                shown=False,
            ),
            Column(
                "selectors",
                "Selector",
                value=lambda c: " && ".join(queries.expressions(c.raw)),
                cell=lambda c: _selector_cell(queries.expressions(c.raw)),
            ),
            Column(
                "extended_resource_name",
                "Extended resource",
                sort=("extended_resource_name", "name"),
                kind="mono",
            ),
            Column(
                "claims",
                "Claims",
                value=lambda c: self._asked.get(c.name, (0, 0))[0],
                kind="number",
                cell=lambda c: self._asked_cell(c, 0, "claims"),
            ),
            Column(
                "templates",
                "Templates",
                value=lambda c: self._asked.get(c.name, (0, 0))[1],
                kind="number",
                cell=lambda c: self._asked_cell(c, 1, "templates"),
            ),
            Column("problem", "Problem", if_any=True, value=self._problem),
            Column(
                "created", "Age", value="created_at", sort=("-created_at",), kind="age"
            ),
        )

    def queryset(self) -> QuerySet[DeviceClass]:
        return queries.class_rows(self.cluster)

    def prepare(self, rows: list[DeviceClass]) -> list[DeviceClass]:
        waits = self.is_fragment or "format" in self.request.GET
        self._uses = class_uses(self.cluster) if waits else self._known[0]
        self._asked = claim_queries.class_use_counts(self.cluster)
        return rows

    @cached_property
    def _known(self) -> tuple[dict[str, ClassUse], bool]:
        return known_class_uses(self.cluster)

    @property
    def incomplete(self) -> bool:
        """The page is shown at once, with what was counted before, if anything was."""
        return not self.is_fragment and not self._known[1]

    def _use(self, row: DeviceClass) -> ClassUse | None:
        return self._uses.get(row.name)

    def _problem(self, row: DeviceClass) -> str:
        use = self._use(row)
        return row.problem or (use.problem if use else "")

    def _asked_cell(self, row: DeviceClass, index: int, page: str) -> str:
        number = self._asked.get(row.name, (0, 0))[index]
        if not number:
            return cells.NOTHING
        href = asking(self.url(page), device_class=row.name)
        return cells.link(href, f"{number:,}")

    def _use_cell(self, row: DeviceClass) -> str:
        use = self._use(row)
        if use is None:
            word = "counting …" if self.incomplete else "not counted"
            return format_html('<span class="dim">{}</span>', word)
        return _use_cell(use)


def _use_cell(use: ClassUse) -> str:
    if use.problem:
        return cells.badge("error", "selector fails", use.problem)
    if not use.matched:
        return format_html('<span class="dim">{}</span>', "matches no device")
    return cells.usage_cell(use.counts)


def _selector_cell(expressions: Sequence[str]) -> str:
    if not expressions:
        return format_html('<span class="dim">{}</span>', "none: every device matches")
    text = " && ".join(expressions)
    short = text if len(text) <= SELECTOR_SHOWN else f"{text[:SELECTOR_SHOWN]}…"
    return format_html(
        '<code title="{}">{}</code>', text[:2000], highlight.expression(short)
    )


class ClassPage(ClusterDetail[DeviceClass]):
    """One class: selector, what it matches, who asks for it, what it hands to drivers."""

    template_name = "inventory/class.html"
    fragments: ClassVar[tuple[str, ...]] = ("class-use",)

    def load(self) -> DeviceClass:
        name = self.kwargs["name"]
        try:
            return DeviceClass.objects.get(cluster=self.cluster, name=name)
        except DeviceClass.DoesNotExist:
            raise Http404(
                f"The cluster has no device class “{name}” (any more). Claims that ask "
                "for it wait until it exists."
            ) from None

    def shown_tabs(self) -> Sequence[Tab]:
        return (
            Tab("claims", "Claims", "inventory/class_claims.html"),
            Tab("config", "Config", "inventory/class_config.html"),
        )

    def heading(self) -> Heading:
        row = self.object
        badges = [cells.badge("unreadable", title=row.problem)] if row.problem else []
        return Heading(
            kind="Class",
            name=row.name,
            sentence=f"This class cannot be read: {row.problem} Claims that ask for it wait."
            if row.problem
            else "",
            badges=badges,
            crumbs=[
                self.cluster_crumb(),
                Crumb("Classes", self.url("classes")),
                Crumb(row.name),
            ],
            yaml_href=self.url("class-yaml", row.name),
        )

    def facts(self) -> list[Fact]:
        row = self.object
        others = queries.same_extended_resource(self.cluster, row)
        resource: object = cells.NOTHING
        if row.extended_resource_name:
            resource = cells.copyable(row.extended_resource_name)
        facts = [
            Fact(
                "Extended resource",
                resource,
                help="Pods may ask for this resource as they ask for CPU; the "
                "scheduler makes the claim.",
            ),
            Fact("Age", cells.age(row.created_at)),
        ]
        plugin = self._plugin_nodes()
        if plugin:
            facts.append(
                Fact(
                    "Device plugin",
                    f"serves it too, on {cells.count(plugin, 'node')}",
                    help="There pods get the resource without a claim.",
                )
            )
        if others:
            facts.append(
                Fact(
                    "Conflict",
                    format_html(
                        "{} {} the same extended resource; the newest class wins.",
                        cells.joined(
                            cells.link(self.url("class", name), name, mono=True)
                            for name in others
                        ),
                        "offers" if len(others) == 1 else "offer",
                    ),
                    wide=True,
                )
            )
        return facts

    def _plugin_nodes(self) -> int:
        """Nodes that serve the class's extended resource without DRA."""
        name = self.object.extended_resource_name
        if not name:
            return 0
        return len(plugin_nodes_of(snapshots.current(self.cluster), name))

    def concerned(self) -> list[ObjectRef]:
        return [ObjectRef("DeviceClass", "", self.object.name)]

    def extra(self) -> dict[str, object]:
        row = self.object
        asked = claim_queries.class_use_counts(self.cluster)
        uses, fresh = self._uses
        use = uses.get(row.name)
        expressions = queries.expressions(row.raw)
        return super().extra() | {
            "expressions": expressions,
            "try_href": cel_href(self.cluster.name, joined(expressions))
            if expressions
            else "",
            "devices_href": asking(self.url("devices"), cel=joined(expressions)),
            "use": use,
            "use_sentence": _use_sentence(use) if use else "",
            "fresh": fresh,
            "asked": asked.get(row.name, (0, 0)),
        }

    @cached_property
    def _uses(self) -> tuple[dict[str, ClassUse], bool]:
        """Counted now for the fragment; the page shows what was counted before."""
        if getattr(self.request, "htmx", None):
            return class_uses(self.cluster), True
        return known_class_uses(self.cluster)

    def tab_claims(self) -> dict[str, object]:
        rows = claim_queries.claims_of_class(self.cluster, self.object.name)
        pods = template_queries.pods_of_class(self.cluster, self._resources())
        return {
            "claims": rows[:CLAIMS_SHOWN],
            "claims_shown": CLAIMS_SHOWN,
            "pods": pods[:PODS_SHOWN],
            "pods_shown": PODS_SHOWN,
        }

    def _resources(self) -> list[str]:
        """The extended resources by which pods ask for this class: its own name only
        where no other class has the better right to it."""
        row = self.object
        named = row.extended_resource_name
        served = served_by(snapshots.current(self.cluster))
        mine = named in served and served[named].class_name == row.name
        return [CLASS_PREFIX + row.name, *([named] if mine else [])]

    def tab_config(self) -> dict[str, object]:
        return {"configs": queries.configs(self.object.raw)}


def _use_sentence(use: ClassUse) -> str:
    if use.problem:
        devices_ = cells.count(use.failing, "device")
        return (
            f"The selector fails on {devices_}: {use.problem} A claim that comes to one "
            "of these cannot be scheduled."
        )
    if not use.matched:
        return (
            "No published device matches it: a claim that asks for it waits. "
            "Compare the selector with the attributes on the page Devices."
        )
    return ""


class ClassYaml(MirroredYaml):
    model = DeviceClass
    kind = "Class"
    section = ("Classes", "classes")
    page = "class"


class DeviceClassesOfDevice(RequiresRole, InCluster, View):
    """Which classes match one device; a fragment, because it evaluates selectors."""

    def get(
        self, request: HttpRequest, *_: object, **kwargs: Mapping[str, str]
    ) -> HttpResponse:
        key = (str(kwargs["driver"]), str(kwargs["pool"]), str(kwargs["device"]))
        if (
            not devices.device_rows(self.cluster)
            .filter(driver=key[0], pool=key[1], name=key[2])
            .exists()
        ):
            raise Http404("The device is not published (any more).")
        return render(
            request,
            "inventory/device_classes.html",
            {
                "cluster": self.cluster,
                "matches": [
                    (match, self._explain_href(match, key))
                    for match in classes_of_device(self.cluster, *key)
                ],
                "cel_href": self.url("cel-device", *key),
            },
        )

    def _explain_href(self, match: ClassMatch, key: tuple[str, str, str]) -> str:
        """The selector step by step on this device."""
        if not match.selector:
            return ""
        query = urlencode({"expression": match.selector}, errors="replace")
        return f"{self.url('cel-device', *key)}?{query}"
