"""Namespaces: who asks for devices, who holds how many, what waits."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Final

from django.db.models import Q, QuerySet
from django.http import Http404
from django.utils.html import format_html
from django.utils.safestring import SafeString

from allocator.findings.queries import ObjectRef, findings
from claims.queries import claims as claim_queries
from claims.queries import namespaces as queries
from claims.queries import templates as template_queries
from claims.queries.namespaces import HeldOf
from inventory.filtersets import NamespaceFilter
from inventory.history.happenings import first_list, of_namespace
from inventory.models import Namespace
from inventory.views.history_changes import change_of
from inventory.views.kit import ClusterDetail, ClusterList, MirroredYaml
from web.pages import Column, Crumb, Fact, Heading, Tab, cells
from web.pages.addresses import asking

SHOWN: Final = 100
"""Rows of a tab; the lists that are linked have all."""
CLASSES_IN_A_CELL: Final = 2
ADMIN: Final = "its claims may look at devices that others use"


class Namespaces(ClusterList[Namespace]):
    """All namespaces of a cluster with what their claims hold and wait for."""

    title = "Namespaces"
    name = "namespaces"
    noun = ("namespace", "namespaces")
    filterset_class = NamespaceFilter
    refresh_on = ("Namespace", "ResourceClaim", "Pod")
    nothing_yet = "The watch has not seen a namespace of this cluster."

    def available_columns(self) -> Sequence[Column]:
        return (
            Column(
                "name",
                "Namespace",
                sort=("name",),
                kind="mono",
                href=lambda n: self.url("namespace", n.name),
            ),
            Column(
                "claims",
                "Claims",
                value=lambda n: sum(self._states.get(n.name, {}).values()),
                sort=("claim_total", "name"),
                kind="number",
                cell=self._claims_cell,
            ),
            Column(
                "states",
                "By state",
                value=lambda n: ", ".join(states_of(self._states.get(n.name, {}))),
                cell=self._states_cell,
            ),
            Column(
                "held",
                "Devices held",
                value=lambda n: sum(one.devices for one in self._held.get(n.name, ())),
                sort=("held_total", "name"),
                kind="number",
            ),
            Column(
                "waiting",
                "Pods waiting",
                value=lambda n: self._waiting.get(n.name, 0),
                sort=("waiting_total", "name"),
                kind="number",
                cell=self._waiting_cell,
                title="Pods with claims, of pod groups or for extended resources, "
                "without a node.",
            ),
            Column(
                "admin_access",
                "Admin access",
                value=lambda n: "allowed" if n.admin_access else "",
                sort=("-admin_access", "name"),
                cell=_admin_cell,
            ),
            Column(
                "classes",
                "By class",
                value=lambda n: ", ".join(
                    f"{one.class_name or one.driver}: {one.devices}"
                    for one in self._held.get(n.name, ())
                ),
                cell=self._classes_cell,
            ),
            Column(
                "created", "Age", value="created_at", sort=("-created_at",), kind="age"
            ),
        )

    def queryset(self) -> QuerySet[Namespace]:
        rows = Namespace.objects.filter(cluster=self.cluster).defer("raw")
        if self.sort.removeprefix("-") in {"claims", "held", "waiting"}:
            rows = queries.with_counts(rows)
        return rows

    def prepare(self, rows: list[Namespace]) -> list[Namespace]:
        names = [row.name for row in rows]
        self._states = queries.claim_states(self.cluster, names)
        self._held = queries.held_devices(self.cluster, names)
        self._waiting = queries.waiting_pods(self.cluster, names)
        return rows

    def sentence(self) -> str:
        names = queries.unlisted(self.cluster)
        if not names:
            return ""
        links = [
            cells.link(self.url("namespace", one), one, mono=True) for one in names
        ]
        more = f" and {len(names) - 8} more" if len(names) > 8 else ""
        return format_html(
            "Not in this list, but in claims: {}{}. A dump without namespaces is why, "
            "or one that is just being made.",
            cells.joined(links[:8]),
            more,
        )

    def _claims_cell(self, row: Namespace) -> SafeString | str:
        number = sum(self._states.get(row.name, {}).values())
        if not number:
            return cells.NOTHING
        href = asking(self.url("claims"), namespace=row.name)
        return cells.link(href, f"{number:,}")

    def _states_cell(self, row: Namespace) -> SafeString | str:
        return cells.joined(
            format_html('<span class="nowrap">{}</span>', words)
            for words in states_of(self._states.get(row.name, {}))
        )

    def _classes_cell(self, row: Namespace) -> SafeString | str:
        held = self._held.get(row.name, [])
        more = len(held) - CLASSES_IN_A_CELL
        shown = cells.joined(
            format_html('<span class="nowrap">{} {}</span>', *self._class_of(one))
            for one in held[:CLASSES_IN_A_CELL]
        )
        return format_html("{} +{} more", shown, more) if more > 0 else shown

    def _class_of(self, one: HeldOf) -> tuple[str, SafeString | str]:
        return f"{one.devices:,} ×", class_link(self, one)

    def _waiting_cell(self, row: Namespace) -> SafeString | str:
        number = self._waiting.get(row.name, 0)
        if not number:
            return cells.NOTHING
        href = asking(self.url("pods"), namespace=row.name, waiting="true")
        return cells.link(href, f"{number:,}")


def _admin_cell(row: Namespace) -> SafeString | str:
    return cells.toned("warn", "key", "allowed", ADMIN) if row.admin_access else ""


def states_of(states: dict[str, int]) -> list[str]:
    """``12 in use``, ``3 pending``: the most first."""
    ordered = sorted(states.items(), key=lambda one: (-one[1], one[0]))
    return [f"{number:,} {state}" for state, number in ordered if number]


def class_link(page: ClusterList[Namespace] | NamespacePage, one: HeldOf) -> str:
    """The class; where the request is not known, the driver."""
    if not one.class_name:
        return cells.mono(one.driver)
    return cells.link(page.url("class", one.class_name), one.class_name, mono=True)


class NamespacePage(ClusterDetail[Namespace]):
    """What its claims hold, what waits, how that went, and what is wrong."""

    template_name = "inventory/namespace.html"
    fragments = ("namespace-held",)

    def load(self) -> Namespace:
        name = self.kwargs["name"]
        found = Namespace.objects.filter(cluster=self.cluster, name=name).first()
        if found is None and (any(self._counts.values()) or self._templates):
            # A dump need not have the namespaces of its claims.
            return Namespace(cluster=self.cluster, name=name)
        if found is None:
            raise Http404("The namespace is not in the cluster (any more).")
        return found

    def shown_tabs(self) -> Sequence[Tab]:
        claims = sum(self._counts.values())
        return (
            Tab("claims", "Claims", "inventory/namespace_claims.html", claims),
            Tab(
                "templates",
                "Templates",
                "inventory/namespace_templates.html",
                self._templates,
            ),
            Tab("pods", "Pods", "inventory/namespace_pods.html"),
            Tab("findings", "Findings", "inventory/namespace_findings.html"),
            Tab("changes", "What changed", "inventory/namespace_changes.html"),
        )

    def heading(self) -> Heading:
        return Heading(
            kind="Namespace",
            name=self.object.name,
            sentence=self._sentence(),
            badges=[_admin_cell(self.object)] if self.object.admin_access else [],
            crumbs=[
                self.cluster_crumb(),
                Crumb("Namespaces", self.url("namespaces")),
                Crumb(self.object.name),
            ],
            yaml_href=self.url("namespace-yaml", self.object.name)
            if self.object.pk
            else "",
        )

    def facts(self) -> list[Fact]:
        here = self.url("claims")
        name = self.object.name
        facts = [
            Fact(
                f"Claims {state}",
                cells.link(asking(here, namespace=name, state=state), f"{number:,}"),
            )
            for state, number in sorted(self._counts.items())
            if number
        ]
        if self._waiting:
            href = asking(self.url("pods"), namespace=name, waiting="true")
            facts.append(Fact("Pods waiting", cells.link(href, f"{self._waiting:,}")))
        facts.append(Fact("Created", cells.ago(self.object.created_at)))
        if self.object.admin_access:
            facts.append(Fact("Admin access", ADMIN))
        return facts

    def concerned(self) -> list[ObjectRef]:
        return [ObjectRef("Namespace", "", self.object.name)]

    def extra(self) -> dict[str, object]:
        held = queries.held_devices(self.cluster, [self.object.name])
        return super().extra() | {
            "held": [
                (class_link(self, one), one.driver, one.devices)
                for one in held.get(self.object.name, ())
            ],
            "shown": SHOWN,
        }

    def tab_claims(self) -> dict[str, object]:
        rows = claim_queries.claim_rows(self.cluster).filter(namespace=self.object.name)
        return {"claims": rows.order_by("name")[:SHOWN]}

    def tab_templates(self) -> dict[str, object]:
        rows = template_queries.template_rows(self.cluster).filter(
            namespace=self.object.name
        )
        return {"templates": rows.order_by("name")[:SHOWN]}

    def tab_pods(self) -> dict[str, object]:
        rows = template_queries.pod_rows(self.cluster).filter(
            namespace=self.object.name
        )
        return {"pods": rows.order_by("node_name", "name")[:SHOWN]}

    def tab_findings(self) -> dict[str, object]:
        name = self.object.name
        own = Q(namespace=name) | Q(kind="Namespace", name=name)
        rows = findings(self.cluster).filter(own, ended_at=None)
        return {"rows": rows.order_by("rank", "code", "pk")[:SHOWN]}

    def tab_changes(self) -> dict[str, object]:
        here, name = self.cluster, self.object.name
        return {
            "changes": [
                change_of(here.name, row) for row in of_namespace(here.pk, name)[:SHOWN]
            ],
            "begun": first_list(here.pk, "ResourceClaim"),
        }

    def _sentence(self) -> str:
        counts = self._counts
        total, waiting = sum(counts.values()), counts["pending"]
        if not total:
            return "It has no claim."
        return (
            f"It has {cells.count(total, 'claim')}; {waiting:,} "
            f"{'waits' if waiting == 1 else 'wait'}."
        )

    @cached_property
    def _counts(self) -> dict[str, int]:
        return claim_queries.claim_counts(self.cluster, self.kwargs["name"])

    @cached_property
    def _templates(self) -> int:
        name = self.kwargs["name"]
        return queries.template_counts(self.cluster, [name]).get(name, 0)

    @cached_property
    def _waiting(self) -> int:
        name = self.kwargs["name"]
        return queries.waiting_pods(self.cluster, [name]).get(name, 0)


class NamespaceYaml(MirroredYaml):
    model = Namespace
    kind = "Namespace"
    section = ("Namespaces", "namespaces")
    page = "namespace"
