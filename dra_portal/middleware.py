"""Gives each request an id, tells of it in one line when it is over, and times it."""

from __future__ import annotations

import re
import time
import uuid
from collections.abc import Awaitable, Callable
from typing import Final, cast

import structlog
from asgiref.sync import iscoroutinefunction, markcoroutinefunction
from django.http import HttpRequest
from django.http.response import HttpResponseBase

from web import metrics

log = structlog.get_logger("dra_portal.requests")

HEADER: Final = "X-Request-ID"
_GIVEN: Final = re.compile(r"[A-Za-z0-9._-]{8,64}")
_PROBES: Final = frozenset({"healthz", "readyz", "metrics"})

Sync = Callable[[HttpRequest], HttpResponseBase]
Async = Callable[[HttpRequest], Awaitable[HttpResponseBase]]


class RequestLog:
    """Outermost. ``X-Request-ID`` of the caller is kept when it looks like one.

    The line has path and view, never the query: people type things there. Probes
    are told of at level debug.
    """

    sync_capable = True
    async_capable = True

    def __init__(self, get_response: Sync | Async) -> None:
        self._get_response = get_response
        self._async = iscoroutinefunction(get_response)
        if self._async:
            markcoroutinefunction(self)

    def __call__(
        self, request: HttpRequest
    ) -> HttpResponseBase | Awaitable[HttpResponseBase]:
        if self._async:
            return self._call_async(request)
        request_id, began = _begin(request)
        with structlog.contextvars.bound_contextvars(request_id=request_id):
            response = cast("Sync", self._get_response)(request)
            return _end(request, response, request_id, began)

    async def _call_async(self, request: HttpRequest) -> HttpResponseBase:
        request_id, began = _begin(request)
        with structlog.contextvars.bound_contextvars(request_id=request_id):
            response = await cast("Async", self._get_response)(request)
            return _end(request, response, request_id, began)


def _begin(request: HttpRequest) -> tuple[str, float]:
    given = request.headers.get(HEADER, "")
    request_id = given if _GIVEN.fullmatch(given) else uuid.uuid4().hex
    return request_id, time.monotonic()


def _end(
    request: HttpRequest, response: HttpResponseBase, request_id: str, began: float
) -> HttpResponseBase:
    seconds = time.monotonic() - began
    match = request.resolver_match
    view = (match.view_name or "unnamed") if match else "none"
    response[HEADER] = request_id
    method = request.method if request.method in _METHODS else "other"
    metrics.REQUEST_SECONDS.labels(view, method, str(response.status_code)).observe(
        seconds
    )
    tell = log.debug if view in _PROBES else log.info
    tell(
        "request.done",
        method=method,
        path=request.path[:200],
        view=view,
        status=response.status_code,
        seconds=round(seconds, 4),
    )
    return response


_METHODS: Final = frozenset(
    {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}
)
