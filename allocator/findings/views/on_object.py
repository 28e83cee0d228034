"""The lines on top of an object's page, asked for again when findings change."""

from __future__ import annotations

from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.generic import View

from allocator.findings.queries import MOST_REFS, ObjectRef, OnObject
from inventory.views.kit import InCluster
from web.doors import RequiresRole

LONGEST = 400
"""Characters of a name."""


class ObjectFindings(RequiresRole, InCluster, View):
    """``?kind=&namespace=&name=``, repeated for each object that the page is about."""

    def get(self, request: HttpRequest, **_: str) -> HttpResponse:
        parts = [request.GET.getlist(name) for name in ObjectRef._fields]
        texts = [text for part in parts for text in part]
        if len({len(part) for part in parts}) != 1 or len(parts[0]) > MOST_REFS:
            raise BadRequest("kind, namespace and name: each of them for every object.")
        if any("\0" in text or len(text) > LONGEST for text in texts):
            raise BadRequest("kind, namespace, name: no name is like this.")
        refs = [ObjectRef(*ref) for ref in zip(*parts, strict=True)]
        return render(
            request,
            "allocator/findings/on_object.html",
            {"cluster": self.cluster, "on_object": OnObject(self.cluster, refs)},
        )
