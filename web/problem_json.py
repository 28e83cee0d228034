"""Problem details (RFC 9457) without DRF, for answers from outside of its views."""

from __future__ import annotations

import json
from typing import Final

from django.http import HttpResponse

CONTENT_TYPE: Final = "application/problem+json"
TITLES: Final = {
    400: "The request is not valid",
    401: "Not signed in",
    403: "Not allowed",
    404: "Not found",
    405: "Method not allowed",
    406: "Not acceptable",
    409: "Conflict",
    413: "Too large",
    415: "Unsupported media type",
    429: "Too many requests",
    500: "The portal failed",
}


def problem(
    status: int, detail: str, headers: dict[str, str] | None = None
) -> HttpResponse:
    """One answer; ``detail`` is a sentence."""
    body = {
        "type": "about:blank",
        "title": TITLES.get(status, "Error"),
        "status": status,
        "detail": detail,
    }
    return HttpResponse(
        json.dumps(body), status=status, headers=headers, content_type=CONTENT_TYPE
    )
