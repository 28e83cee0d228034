"""Pages of one cluster: the kit of ``web.pages`` with the cluster of the address."""

from __future__ import annotations

from functools import cached_property
from typing import Any, ClassVar

from django.db.models import Model
from django.http import Http404, HttpRequest
from django.urls import reverse

from allocator.findings.queries import ObjectRef, OnObject
from inventory.models import Cluster, MirroredObject
from inventory.views.frame import note_mark
from web.pages import Crumb, DetailPage, Heading, ListPage, YamlPage


class InCluster:
    """Mixin: ``self.cluster`` is the cluster named in the address, or a 404."""

    request: HttpRequest
    kwargs: dict[str, Any]

    @cached_property
    def cluster(self) -> Cluster:
        try:
            found = Cluster.objects.get(name=self.kwargs["cluster"])
        except Cluster.DoesNotExist:
            raise Http404(
                f"There is no cluster named “{self.kwargs['cluster']}” in clusters.yaml."
            ) from None
        note_mark(self.request, found)
        return found

    def cluster_crumb(self) -> Crumb:
        return Crumb(self.cluster.name, reverse("overview", args=[self.cluster.name]))

    def url(self, name: str, *args: object) -> str:
        """The address of another page of this cluster."""
        return reverse(name, args=[self.cluster.name, *args])

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        _ = self.cluster  # an unknown cluster is a 404 before anything else
        return super().get(request, *args, **kwargs)  # type: ignore[misc]  # a page of web.pages comes next


class ClusterList[M: Model](InCluster, ListPage[M]):
    """A list of one cluster. ``queryset`` must narrow to ``self.cluster``."""

    def crumbs(self) -> list[Crumb]:
        return [self.cluster_crumb(), Crumb(self.title)]

    def extra(self) -> dict[str, object]:
        return {"cluster": self.cluster}


class ClusterDetail[M](InCluster, DetailPage[M]):
    """One object of a cluster; ``concerned`` has what is wrong with it shown on top."""

    def concerned(self) -> list[ObjectRef]:
        """The objects that the page is about, as findings name them."""
        return []

    def extra(self) -> dict[str, object]:
        refs = self.concerned()
        found = OnObject(self.cluster, refs) if refs else None
        return {"cluster": self.cluster, "on_object": found}


class ClusterYaml(InCluster, YamlPage):
    """The raw YAML of one object of a cluster."""


class MirroredYaml(ClusterYaml):
    """The raw YAML of a cluster-scoped object that is named in the address.

    ``kind`` is its word in headings, ``section`` the list's label and URL name,
    ``page`` the URL name of its page.
    """

    model: ClassVar[type[MirroredObject]]
    kind: ClassVar[str]
    section: ClassVar[tuple[str, str]]
    page: ClassVar[str]

    def raw(self) -> Any:
        rows = self.model._default_manager.filter(cluster=self.cluster)
        row = rows.filter(name=self.kwargs["name"]).first()
        if row is None:
            raise Http404(f"The {self.kind.lower()} is not in the cluster (any more).")
        return row.raw

    def heading(self) -> Heading:
        name = self.kwargs["name"]
        label, list_name = self.section
        return Heading(
            kind=self.kind,
            name=name,
            crumbs=[
                self.cluster_crumb(),
                Crumb(label, self.url(list_name)),
                Crumb(name, self.url(self.page, name)),
                Crumb("YAML"),
            ],
        )
