"""The values of every attribute beside the list of devices, to narrow it by."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.generic import View

from inventory.queries import facets
from inventory.views.kit import InCluster
from web.doors import RequiresRole

VALUES_SHOWN: Final = 8


@dataclass(frozen=True, slots=True)
class FacetValue:
    value: str
    number: int
    href: str
    on: bool


@dataclass(frozen=True, slots=True)
class FacetLinks:
    """One facet with the address of each value; the rest is in ``more``."""

    facet: facets.Facet
    values: Sequence[FacetValue]
    more: Sequence[FacetValue]

    @property
    def on(self) -> bool:
        return any(value.on for value in (*self.values, *self.more))


class DeviceFacets(RequiresRole, InCluster, View):
    """The values of all attributes with counts, loaded after the list is there."""

    def get(self, request: HttpRequest, *_: object, **__: object) -> HttpResponse:
        found = facets.facets(self.cluster)
        context = {
            "cluster": self.cluster,
            "facets": [self._links(facet) for facet in found.facets],
            "unique": found.unique,
            "device_total": found.devices,
        }
        return render(request, "inventory/facets.html", context)

    def _links(self, facet: facets.Facet) -> FacetLinks:
        on = set(self.request.GET.getlist("attr"))
        values = [
            FacetValue(
                value=value,
                number=number,
                href=self._href(f"{facet.name}={value}"),
                on=f"{facet.name}={value}" in on,
            )
            for value, number in facet.values
        ]
        return FacetLinks(facet, values[:VALUES_SHOWN], values[VALUES_SHOWN:])

    def _href(self, condition: str) -> str:
        """The list with this condition added, or taken away when it is on."""
        query = self.request.GET.copy()
        query.pop("page", None)
        conditions = query.getlist("attr")
        query.setlist(
            "attr",
            [c for c in conditions if c != condition]
            if condition in conditions
            else [*conditions, condition],
        )
        return f"{self.url('devices')}?{query.urlencode()}"
