"""Liveness and readiness, for load balancers. They tell nothing about the clusters."""

from __future__ import annotations

from django.contrib.auth.decorators import login_not_required
from django.db import DatabaseError, connection
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_GET


@login_not_required
@require_GET
def live(request: HttpRequest) -> HttpResponse:
    """200 while the process answers."""
    return HttpResponse("ok\n", content_type="text/plain")


@login_not_required
@require_GET
def ready(request: HttpRequest) -> HttpResponse:
    """200 when the database answers, else 503."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        return HttpResponse(
            "the database does not answer\n", status=503, content_type="text/plain"
        )
    return HttpResponse("ok\n", content_type="text/plain")
