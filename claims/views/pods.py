"""Pods that use claims, are of a pod group, or wait for extended resources of which a
claim is made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from django.db.models import QuerySet
from django.http import Http404
from django.shortcuts import get_object_or_404
from django.urls import reverse

from allocator import snapshots
from allocator.findings.queries import ObjectRef, claim_ref
from claims.filtersets import PodFilter
from claims.models import Pod, PodResource, ResourceClaim
from claims.queries import claims as claim_queries
from claims.queries import templates as queries
from claims.views import cells as claim_cells
from dra.pod_needs import EXTENDED_RESOURCES, plugin_nodes_of, served_by
from inventory.queries.raws import mapping_at
from inventory.views.kit import ClusterDetail, ClusterList
from web.pages import Column, Crumb, Fact, Heading, cells


class Pods(ClusterList[Pod]):
    """Pods with resource claims, and those that wait for extended resources of DRA."""

    title = "Pods"
    name = "pods"
    noun = ("pod", "pods")
    filterset_class = PodFilter
    default_sort = "-created"
    refresh_on = ("Pod",)
    nothing_yet = (
        "No pod of this cluster uses a resource claim, belongs to a pod group, or waits "
        "for an extended resource that a class serves."
    )

    def available_columns(self) -> Sequence[Column]:
        name = self.cluster.name
        return (
            Column(
                "name",
                "Pod",
                value=str,
                sort=("name", "namespace"),
                kind="mono",
                href=lambda p: claim_cells.pod_href(name, p.namespace, p.name),
            ),
            Column("phase", "Phase", sort=("phase",), kind="badge"),
            Column(
                "node",
                "Node",
                value="node_name",
                sort=("node_name",),
                cell=lambda p: claim_cells.node_cell(name, p.node_name),
            ),
            Column(
                "claims",
                "Claims",
                value=lambda p: ", ".join(map(str, [*p.claims.all(), *_to_be_made(p)])),
                cell=self.claims_cell,
            ),
            Column(
                "message", "The scheduler says", value="scheduling_message", kind="line"
            ),
            Column(
                "created", "Age", value="created_at", sort=("created_at",), kind="age"
            ),
        )

    def claims_cell(self, pod: Pod) -> str:
        named = [
            cells.link(
                claim_cells.claim_href(
                    self.cluster.name, pod.namespace, entry.claim_name
                ),
                entry.claim_name,
                mono=True,
            )
            if entry.claim_name
            else f"{entry.template_name} (no claim made yet)"
            for entry in pod.claims.all()
        ]
        asked = [f"{resource} (no claim made yet)" for resource in _to_be_made(pod)]
        return cells.joined([*named, *asked])

    def queryset(self) -> QuerySet[Pod]:
        return queries.pod_rows(self.cluster)


def _to_be_made(pod: Pod) -> list[PodResource]:
    """Extended resources of which the scheduler has still to make a claim."""
    if pod.node_name or any(e.entry == EXTENDED_RESOURCES for e in pod.claims.all()):
        return []
    return list(pod.resources.all())


@dataclass(frozen=True, slots=True)
class Resource:
    """One extended resource of a pod, and who serves it.

    ``others`` are classes that name it too and lose. ``claim`` is the one that the
    scheduler made, ``state`` what is so where there is none.
    """

    name: str
    amount: int
    class_name: str
    others: Sequence[str]
    plugin_nodes: int
    claim: str
    state: str


class PodPage(ClusterDetail[Pod]):
    """One pod and its claims."""

    template_name = "claims/pod.html"
    fragments: ClassVar[tuple[str, ...]] = ("pod-body",)

    def load(self) -> Pod:
        kwargs = self.kwargs
        try:
            return get_object_or_404(
                Pod.objects.prefetch_related("claims", "resources"),
                cluster=self.cluster,
                namespace=kwargs["namespace"],
                name=kwargs["name"],
            )
        except Http404:
            raise Http404(
                f"There is no pod {kwargs['namespace']}/{kwargs['name']} with claims or "
                "of a pod group, and none that waits for extended resources of DRA (any "
                "more)."
            ) from None

    def heading(self) -> Heading:
        pod: Pod = self.object
        cluster = self.cluster.name
        return Heading(
            kind="Pod",
            name=str(pod),
            badges=[cells.badge(pod.phase)] if pod.phase else [],
            sentence=pod.problem or pod.scheduling_message,
            crumbs=(
                Crumb(cluster, reverse("overview", args=[cluster])),
                Crumb("Pods", reverse("pods", args=[cluster])),
                Crumb(str(pod)),
            ),
            yaml_href=reverse("pod-yaml", args=[cluster, pod.namespace, pod.name]),
        )

    def facts(self) -> list[Fact]:
        pod = self.object
        return [
            Fact("Namespace", cells.mono(pod.namespace)),
            Fact("Created", cells.ago(pod.created_at)),
            Fact("Node", claim_cells.node_cell(self.cluster.name, pod.node_name)),
        ]

    def concerned(self) -> list[ObjectRef]:
        pod = self.object
        names = [entry.claim_name for entry in pod.claims.all() if entry.claim_name]
        claims = [claim_ref(pod.namespace, name) for name in names]
        return [ObjectRef("Pod", pod.namespace, pod.name), *claims]

    def extra(self) -> dict[str, object]:
        entries = list(self.object.claims.all())
        names = [entry.claim_name for entry in entries if entry.claim_name]
        found: dict[str, ResourceClaim] = {
            claim.name: claim
            for claim in claim_queries.claim_rows(self.cluster).filter(
                namespace=self.object.namespace, name__in=names
            )
        }
        elsewhere = self._elsewhere([name for name in names if name not in found])
        return {
            **super().extra(),
            "entries": [
                (entry, found.get(entry.claim_name), elsewhere.get(entry.claim_name))
                for entry in entries
            ],
            "resources": self._resources(),
            "group": mapping_at(self.object.raw, "spec", "schedulingGroup").get(
                "podGroupName"
            ),
            "may_wait": not self.object.node_name and not self.object.problem,
        }

    def _elsewhere(self, names: Sequence[str]) -> dict[str, str]:
        """Of claims that the namespace lacks: one that has a claim of that name."""
        if not names:
            return {}
        rows = claim_queries.claim_rows(self.cluster).filter(name__in=names)
        return dict(rows.order_by("-namespace").values_list("name", "namespace"))

    def _resources(self) -> list[Resource]:
        pod = self.object
        rows = list(pod.resources.all())
        if not rows:
            return []
        snapshot = snapshots.current(self.cluster)
        served = served_by(snapshot)
        made = [e.claim_name for e in pod.claims.all() if e.entry == EXTENDED_RESOURCES]
        found = []
        for row in rows:
            by = served.get(row.name)
            state = "the scheduler has made none yet"
            if by is None:
                state = "none: no class names it"
            elif pod.node_name:
                state = "none: the node's device plugin serves it"
            found.append(
                Resource(
                    name=row.name,
                    amount=row.amount,
                    class_name=by.class_name if by else "",
                    others=by.others if by else (),
                    plugin_nodes=len(plugin_nodes_of(snapshot, row.name)),
                    claim=made[0] if made and by else "",
                    state=state,
                )
            )
        return found
