"""What the portal may do in a cluster, asked there when the page is opened."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.generic import View

from dra_portal.access import look
from inventory.choices import Source
from inventory.views.kit import InCluster
from web.doors import RequiresRole, Role
from web.pages import Crumb


class ClusterAccess(RequiresRole, InCluster, View):
    """``GET c/<cluster>/access/``: each right, whether it is there, how to grant it."""

    required_role = Role.OPERATOR

    def get(self, request: HttpRequest, cluster: str) -> HttpResponse:
        found = self.cluster
        dump = found.source == Source.DUMP
        return render(
            request,
            "portal/access.html",
            {
                "title": f"Rights in {found.name}",
                "crumbs": [
                    Crumb("Clusters", reverse("clusters")),
                    Crumb(found.name, reverse("overview", args=[found.name])),
                    Crumb("Rights"),
                ],
                "cluster": found,
                "dump": dump,
                "access": None if dump else look(found.name),
            },
        )
