"""Clusters and the state of each watch: is what I see current? Deleting what left."""

from __future__ import annotations

from pathlib import Path

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.generic import View

from allocator.models import AllocationRun
from dra_portal.checks import clusters_file_problem
from inventory import clients
from inventory.models import Cluster
from inventory.queries.leaving import why_left
from inventory.services import leaving
from inventory.views.kit import InCluster
from web.doors import RequiresRole, Role, role_of
from web.pages import Crumb


class Clusters(RequiresRole, View):
    """Every cluster with one row per watched kind, those that left clusters.yaml too."""

    template_name = "portal/clusters.html"

    def get(self, request: HttpRequest) -> HttpResponse:
        htmx = getattr(request, "htmx", None)
        fragment = htmx is not None and htmx.target == "clusters-body"
        name = f"{self.template_name}#clusters-body" if fragment else self.template_name
        role = role_of(request.user)
        clusters = list(Cluster.objects.prefetch_related("watches"))
        risks = clients.rule_risks()
        return render(
            request,
            name,
            {
                "title": "Clusters",
                "crumbs": [Crumb("Clusters")],
                "shown": [
                    (each, risks.get(each.name, ""), why_left(each))
                    for each in clusters
                ],
                "may_ask": role is not None and role.includes(Role.OPERATOR),
                "may_delete": role is Role.ADMIN,
                "file_problem": self.file_problem(any_cluster=bool(clusters)),
                "clusters_file": settings.CLUSTERS_FILE.rpartition("/")[2],
            },
        )

    def file_problem(self, *, any_cluster: bool) -> str:
        """Why ``clusters.yaml`` cannot be used.

        A file that is not there is no problem of ours while the watch, perhaps on
        another machine, has one.
        """
        if any_cluster and not Path(settings.CLUSTERS_FILE).exists():
            return ""
        return clusters_file_problem()


class DeleteCluster(RequiresRole, InCluster, View):
    """A cluster that left clusters.yaml: first what goes with it, then one button."""

    required_role = Role.ADMIN

    def get(self, request: HttpRequest, cluster: str) -> HttpResponse:
        found = self.cluster
        return render(
            request,
            "portal/delete_cluster.html",
            {
                "title": f"Delete {found.name}",
                "crumbs": [
                    Crumb("Clusters", reverse("clusters")),
                    Crumb(found.name, reverse("overview", args=[found.name])),
                    Crumb("Delete"),
                ],
                "cluster": found,
                "can_delete": found.left_at is not None and not found.deleted_by,
                "runs": AllocationRun.objects.filter(cluster=found).count(),
            },
        )

    def post(self, request: HttpRequest, cluster: str) -> HttpResponse:
        try:
            leaving.ask_deletion(self.cluster, request.user.get_username())
        except leaving.StillNamedError as refused:
            messages.error(request, f"{refused} Nothing was deleted.")
            return redirect("cluster-delete", cluster)
        messages.success(
            request,
            f"The cluster {cluster} is being deleted; a worker begins within a minute.",
        )
        return redirect("clusters")
