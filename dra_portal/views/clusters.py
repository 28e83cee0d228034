"""Clusters and the state of each watch: is what I see current?"""

from __future__ import annotations

from pathlib import Path

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.generic import View

from dra_portal.checks import clusters_file_problem
from inventory import clients
from inventory.models import Cluster
from web.doors import RequiresRole, Role, role_of
from web.pages import Crumb


class Clusters(RequiresRole, View):
    """Every cluster of clusters.yaml with one row per watched kind."""

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
                "shown": [(each, risks.get(each.name, "")) for each in clusters],
                "may_ask": role is not None and role.includes(Role.OPERATOR),
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
