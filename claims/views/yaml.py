"""The raw YAML of claims, templates and pods."""

from __future__ import annotations

from typing import Any, ClassVar

from django.http import Http404

from claims.models import Pod, ResourceClaim, ResourceClaimTemplate
from inventory.models import NamespacedObject
from inventory.views.kit import ClusterYaml
from web.pages import Crumb, Heading


class NamespacedYaml(ClusterYaml):
    """``kind`` is its word in headings, ``section`` the list's label and URL name."""

    model: ClassVar[type[NamespacedObject]]
    kind: ClassVar[str]
    section: ClassVar[tuple[str, str]]
    page: ClassVar[str]

    def raw(self) -> Any:
        row = self.model._default_manager.filter(
            cluster=self.cluster,
            namespace=self.kwargs["namespace"],
            name=self.kwargs["name"],
        ).first()
        if row is None:
            raise Http404(f"The {self.kind.lower()} is not in the cluster (any more).")
        return row.raw

    def heading(self) -> Heading:
        namespace, name = self.kwargs["namespace"], self.kwargs["name"]
        label, list_name = self.section
        return Heading(
            kind=self.kind,
            name=f"{namespace}/{name}",
            crumbs=[
                self.cluster_crumb(),
                Crumb(label, self.url(list_name)),
                Crumb(f"{namespace}/{name}", self.url(self.page, namespace, name)),
                Crumb("YAML"),
            ],
        )


class ClaimYaml(NamespacedYaml):
    model = ResourceClaim
    kind = "Claim"
    section = ("Claims", "claims")
    page = "claim"


class TemplateYaml(NamespacedYaml):
    model = ResourceClaimTemplate
    kind = "Template"
    section = ("Templates", "templates")
    page = "template"


class PodYaml(NamespacedYaml):
    model = Pod
    kind = "Pod"
    section = ("Pods", "pods")
    page = "pod"
