"""Clusters and the state of each watch: is what I see current?"""

from __future__ import annotations

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.generic import View

from inventory.models import Cluster
from web.doors import RequiresRole
from web.pages import Crumb


class Clusters(RequiresRole, View):
    """Every cluster of clusters.yaml with one row per watched kind."""

    template_name = "portal/clusters.html"

    def get(self, request: HttpRequest) -> HttpResponse:
        htmx = getattr(request, "htmx", None)
        fragment = htmx is not None and htmx.target == "clusters-body"
        name = f"{self.template_name}#clusters-body" if fragment else self.template_name
        return render(
            request,
            name,
            {
                "title": "Clusters",
                "crumbs": [Crumb("Clusters")],
                "clusters": Cluster.objects.prefetch_related("watches"),
                "clusters_file": settings.CLUSTERS_FILE.rpartition("/")[2],
            },
        )
