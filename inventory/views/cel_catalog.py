"""What can be read in a cluster, for the editor that completes expressions."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.generic import View

from allocator import snapshots
from dra.cel.catalog import Catalog, catalog
from inventory.selecting import features_of
from inventory.views.kit import InCluster
from web.doors import RequiresRole


class CelCatalog(RequiresRole, InCluster, View):
    """Every attribute and capacity that a device publishes, as JSON.

    The ETag is made of the cluster's seq: an unchanged cluster costs one look at it.
    """

    def get(self, request: HttpRequest, *_: object, **__: object) -> HttpResponse:
        etag = f'W/"{self.cluster.pk}-{self.cluster.seq}"'
        response = (
            HttpResponse(status=304)
            if request.headers.get("If-None-Match") == etag
            else JsonResponse(self._body())
        )
        response["ETag"] = etag
        response["Cache-Control"] = "private, no-cache"
        return response

    def _body(self) -> dict[str, Any]:
        lists = features_of(self.cluster).list_type_attributes
        snapshot = snapshots.current(self.cluster)
        known = catalog(snapshot.devices(lists=lists))
        return {
            "devices": known.devices,
            "attributes": _entries(known, "attributes"),
            "capacity": _entries(known, "capacity"),
        }


def _entries(known: Catalog, kind: str) -> list[dict[str, Any]]:
    """By domain and name."""
    reads = sorted(read for read in known if read.kind == kind)
    return [
        {
            "domain": read.domain,
            "name": read.identifier,
            "types": list(known[read].types),
            "devices": known[read].devices,
            "distinct": known[read].distinct,
            "examples": list(known[read].examples),
        }
        for read in reads
    ]
