"""Pods that use claims."""

from __future__ import annotations

from collections.abc import Sequence

from django.db.models import QuerySet
from django.http import Http404
from django.shortcuts import get_object_or_404
from django.urls import reverse

from claims.filtersets import PodFilter
from claims.models import Pod, ResourceClaim
from claims.queries import claims as claim_queries
from claims.queries import templates as queries
from claims.views import cells as claim_cells
from inventory.views.kit import ClusterDetail, ClusterList
from web.pages import Column, Crumb, Fact, Heading, cells


class Pods(ClusterList[Pod]):
    """Pods with resource claims."""

    title = "Pods"
    name = "pods"
    noun = ("pod with claims", "pods with claims")
    filterset_class = PodFilter
    default_sort = "-created"
    refresh_on = ("Pod",)
    nothing_yet = "No pod of this cluster uses a resource claim."

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
                value=lambda p: ", ".join(map(str, p.claims.all())),
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
        return cells.joined(
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
        )

    def queryset(self) -> QuerySet[Pod]:
        return queries.pod_rows(self.cluster)


class PodPage(ClusterDetail[Pod]):
    """One pod and its claims."""

    template_name = "claims/pod.html"
    fragments = ("pod-body",)

    def load(self) -> Pod:
        kwargs = self.kwargs
        try:
            return get_object_or_404(
                Pod.objects.prefetch_related("claims"),
                cluster=self.cluster,
                namespace=kwargs["namespace"],
                name=kwargs["name"],
            )
        except Http404:
            raise Http404(
                f"There is no pod {kwargs['namespace']}/{kwargs['name']} with claims "
                "(any more)."
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

    def extra(self) -> dict[str, object]:
        entries = list(self.object.claims.all())
        names = [entry.claim_name for entry in entries if entry.claim_name]
        found: dict[str, ResourceClaim] = {
            claim.name: claim
            for claim in claim_queries.claim_rows(self.cluster).filter(
                namespace=self.object.namespace, name__in=names
            )
        }
        return {
            **super().extra(),
            "entries": [(entry, found.get(entry.claim_name)) for entry in entries],
        }
