"""Every error of the API has one shape: problem details (RFC 9457) with field paths."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.core.exceptions import PermissionDenied, RequestDataTooBig
from django.http import Http404
from rest_framework import exceptions, status
from rest_framework.exceptions import ErrorDetail
from rest_framework.response import Response
from rest_framework.views import set_rollback

from web.problem_json import CONTENT_TYPE, TITLES


class Conflict(exceptions.APIException):
    """The object is not in a state that allows this."""

    status_code = status.HTTP_409_CONFLICT
    default_detail = "The object is not in a state that allows this."
    default_code = "conflict"


class TooLarge(exceptions.APIException):
    """More bytes than ``DATA_UPLOAD_MAX_MEMORY_SIZE``."""

    status_code = status.HTTP_413_REQUEST_ENTITY_TOO_LARGE
    default_detail = "The request is larger than this portal reads."
    default_code = "too_large"


def field_errors(detail: Any, path: str = "") -> Iterator[dict[str, str]]:
    """Flatten DRF's nested details into ``{"field", "code", "message"}`` entries."""
    if isinstance(detail, dict):
        for key, value in detail.items():
            name = "" if key == "non_field_errors" else str(key)
            yield from field_errors(value, f"{path}.{name}".strip("."))
    elif isinstance(detail, list):
        for index, value in enumerate(detail):
            nested = isinstance(value, dict | list)
            yield from field_errors(value, f"{path}[{index}]" if nested else path)
    elif isinstance(detail, ErrorDetail):
        yield {"field": path, "code": detail.code or "invalid", "message": str(detail)}
    else:
        yield {"field": path, "code": "invalid", "message": str(detail)}


def problem_details(exc: Exception, context: dict[str, Any]) -> Response | None:
    """DRF's exception handler. Unknown exceptions go on to the 500 page and the log."""
    if isinstance(exc, Http404):
        exc = exceptions.NotFound(str(exc) or None)
    elif isinstance(exc, PermissionDenied):
        exc = exceptions.PermissionDenied(*exc.args)
    elif isinstance(exc, RequestDataTooBig):
        exc = TooLarge()
    if not isinstance(exc, exceptions.APIException):
        return None
    headers = {}
    if header := getattr(exc, "auth_header", None):
        headers["WWW-Authenticate"] = header
    if wait := getattr(exc, "wait", None):
        headers["Retry-After"] = str(int(wait))
    body: dict[str, Any] = {
        "type": "about:blank",
        "title": TITLES.get(exc.status_code, "Error"),
        "status": exc.status_code,
    }
    if isinstance(exc.detail, dict | list):
        errors = list(field_errors(exc.detail))
        body["detail"] = " ".join(e["message"] for e in errors[:3])
        body["errors"] = errors
    else:
        body["detail"] = str(exc.detail)
        body["code"] = exc.detail.code
    set_rollback()
    return Response(
        body,
        status=exc.status_code,
        headers=headers,
        content_type=CONTENT_TYPE,
    )
