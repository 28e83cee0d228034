"""Claim templates: what they ask for, which claims and pods came from them."""

from __future__ import annotations

from collections.abc import Sequence

from django.db.models import QuerySet
from django.http import Http404
from django.urls import reverse

from allocator.findings.queries import ObjectRef
from claims.filtersets import TemplateFilter
from claims.models import ResourceClaimTemplate
from claims.queries import claims as claim_queries
from claims.queries import templates as queries
from claims.views.selectors import selectors_of
from inventory.views.kit import ClusterDetail, ClusterList
from web.pages import Column, Crumb, Fact, Heading, cells

SHOWN = 100


class Templates(ClusterList[ResourceClaimTemplate]):
    """All claim templates of a cluster."""

    template_name = "claims/claims.html"
    title = "Templates"
    name = "templates"
    noun = ("template", "templates")
    filterset_class = TemplateFilter
    default_sort = "name"
    refresh_on = ("ResourceClaimTemplate",)
    nothing_yet = "No ResourceClaimTemplate exists in this cluster."

    def available_columns(self) -> Sequence[Column]:
        name = self.cluster.name
        return (
            Column(
                "name",
                "Template",
                value=str,
                sort=("name", "namespace"),
                kind="mono",
                href=lambda t: reverse("template", args=[name, t.namespace, t.name]),
            ),
            Column("namespace", "Namespace", sort=("namespace",)),
            Column("requests", "Asks for", value="requests_text", kind="line"),
            Column(
                "claims",
                "Claims",
                value="claim_count",
                sort=("claim_count",),
                kind="number",
            ),
            Column(
                "created", "Age", value="created_at", sort=("created_at",), kind="age"
            ),
        )

    def queryset(self) -> QuerySet[ResourceClaimTemplate]:
        return queries.template_rows(self.cluster)


class Template(ClusterDetail[ResourceClaimTemplate]):
    """One template."""

    template_name = "claims/template.html"

    def load(self) -> ResourceClaimTemplate:
        kwargs = self.kwargs
        try:
            return queries.template_with_all(
                self.cluster,
                kwargs["namespace"],
                kwargs["name"],
            )
        except ResourceClaimTemplate.DoesNotExist:
            raise Http404(
                f"There is no template {kwargs['namespace']}/{kwargs['name']} (any more)."
            ) from None

    def heading(self) -> Heading:
        template: ResourceClaimTemplate = self.object
        cluster = self.cluster.name
        return Heading(
            kind="Template",
            name=str(template),
            badges=[cells.badge("unreadable", title=template.problem)]
            if template.problem
            else [],
            sentence=template.problem
            or f"A pod that names it gets a claim of its own for {template.requests_text}.",
            crumbs=(
                Crumb(cluster, reverse("overview", args=[cluster])),
                Crumb("Templates", reverse("templates", args=[cluster])),
                Crumb(str(template)),
            ),
            yaml_href=reverse(
                "template-yaml", args=[cluster, template.namespace, template.name]
            ),
        )

    def facts(self) -> list[Fact]:
        return [
            Fact("Namespace", cells.mono(self.object.namespace)),
            Fact("Created", cells.ago(self.object.created_at)),
        ]

    def concerned(self) -> list[ObjectRef]:
        template = self.object
        return [ObjectRef("ResourceClaimTemplate", template.namespace, template.name)]

    def extra(self) -> dict[str, object]:
        template = self.object
        made = claim_queries.claim_rows(self.cluster).filter(
            namespace=template.namespace, template_name=template.name
        )
        selectors = selectors_of(self.cluster.name, template.raw, "spec", "spec")
        return {
            **super().extra(),
            "requests": [
                (request, selectors.get(str(request), []))
                for request in template.requests.all()
            ],
            "claims": made.order_by("-created_at")[:SHOWN],
            "claim_count": made.count(),
            "pods": queries.pods_of_template(template)[:SHOWN],
        }
