"""The freshness line alone, for the browser that asks again."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from web.doors import Role, requires


@require_GET
@requires(Role.VIEWER)
def freshness(request: HttpRequest, cluster: str) -> HttpResponse:
    """The frame finds the cluster in the address, an unknown one shows the default."""
    return render(request, "components/freshness.html")
