"""What can go wrong between us and a cluster, told apart by what the caller must do.

Two families: the server answered and refused (:class:`ApiError` and its
children), or there was no usable answer (:class:`Unreachable`). Messages are
sentences for a person and never hold a credential.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec


class ClusterError(Exception):
    """Base of every error that ``cluster`` raises on purpose."""

    outcome_unknown: bool = False
    """True when the request was a write that may have happened all the same."""


class ConfigError(ClusterError):
    """``clusters.yaml`` is wrong. ``path`` is the field path, ``""`` for the file."""

    def __init__(self, file: str, path: str, reason: str) -> None:
        self.file = file
        self.path = path
        self.reason = reason
        super().__init__(": ".join(part for part in (file, path, reason) if part))


class DumpError(ClusterError):
    """A dump file that cannot be read at all; one sentence with file and position."""


class Unreachable(ClusterError):  # noqa: N818 (a word of the field, like the names below)
    """No usable answer from the API server."""

    def __init__(self, message: str, *, outcome_unknown: bool = False) -> None:
        super().__init__(message)
        self.outcome_unknown = outcome_unknown


class ApiError(ClusterError):
    """The server answered with an error.

    ``reason`` and ``details`` are those of the ``Status`` object, empty where the
    server sent none. ``retry_after`` is in seconds, None when not given.
    """

    def __init__(
        self,
        code: int,
        reason: str = "",
        message: str = "",
        details: Mapping[str, Any] | None = None,
        retry_after: float | None = None,
        *,
        outcome_unknown: bool = False,
    ) -> None:
        self.code = code
        self.reason = reason
        self.message = message
        self.details: Mapping[str, Any] = details or {}
        self.retry_after = retry_after
        self.outcome_unknown = outcome_unknown
        super().__init__(message or f"the server answered {code} {reason}".rstrip())

    @property
    def causes(self) -> list[tuple[str, str]]:
        """``(field path, message)`` of every cause, as validation errors list them."""
        causes = self.details.get("causes")
        return [
            (str(cause.get("field") or ""), str(cause.get("message") or ""))
            for cause in (causes if isinstance(causes, list) else [])
            if isinstance(cause, dict)
        ]


class Unauthorized(ApiError):  # noqa: N818
    """401: the server does not know our credentials."""

    def __str__(self) -> str:
        said = self.message or "Unauthorized"
        return (
            f"the server does not accept our credentials ({said}); renew the token or "
            "certificate that the kubeconfig names"
        )


class Forbidden(ApiError):  # noqa: N818
    """403: we may not do this."""


class NotFound(ApiError):  # noqa: N818
    """404: no such object, or the kind is not served at all."""

    @property
    def not_served(self) -> bool:
        """True when the kind or version is missing rather than one object.

        The status code is the same; only an absent object has ``details.name``.
        """
        return not self.details.get("name")


class AlreadyExists(ApiError):  # noqa: N818
    """409 on create: an object of this name is there."""


class Conflict(ApiError):  # noqa: N818
    """409: somebody else changed the object first."""


class Gone(ApiError):  # noqa: N818
    """410: the resourceVersion or continue token is too old; list anew."""


class Invalid(ApiError):  # noqa: N818
    """422: validation failed; see ``causes``."""


class TooManyRequests(ApiError):  # noqa: N818
    """429: wait ``retry_after`` seconds. The request was not executed."""


class ServerError(ApiError):
    """5xx: the server failed. A write may have happened (``outcome_unknown``)."""


BY_CODE: Final[dict[int, type[ApiError]]] = {
    401: Unauthorized,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    410: Gone,
    422: Invalid,
    429: TooManyRequests,
}


def from_status(
    status: Mapping[str, Any],
    *,
    code: int | None = None,
    retry_after: float | None = None,
    write: bool = False,
) -> ApiError:
    """The error that a ``Status`` object (of a response or an ERROR event) means."""
    body_code = status.get("code")
    if code is None:
        code = body_code if isinstance(body_code, int) else 500
    reason = str(status.get("reason") or "")
    details = status.get("details")
    details = details if isinstance(details, dict) else {}
    if retry_after is None:
        retry_after = seconds(details.get("retryAfterSeconds"))
    cls = BY_CODE.get(code, ServerError if code >= 500 else ApiError)
    if code == 409 and reason == "AlreadyExists":
        cls = AlreadyExists
    return cls(
        code,
        reason,
        str(status.get("message") or ""),
        details,
        retry_after,
        # 503 is sent before the request is executed, the others maybe after.
        outcome_unknown=write and code >= 500 and code != 503,
    )


def from_response(
    code: int, headers: Mapping[str, str], body: bytes, *, write: bool = False
) -> ApiError:
    """The error of one HTTP response.

    The body is a ``Status`` object, or plain text (429 of the flow control,
    404 of a wrong path, anything of a proxy in between).
    """
    status: Any = None
    if body.lstrip()[:1] == b"{":
        try:
            status = msgspec.json.decode(body)
        except (msgspec.DecodeError, UnicodeDecodeError):
            status = None
    if not isinstance(status, dict) or status.get("kind") not in ("Status", None):
        text = body[:300].decode("utf-8", "replace").strip()
        markup = text.startswith("<")
        status = {"message": "" if markup else " ".join(text.split())}
    return from_status(
        status,
        code=code,
        retry_after=seconds(headers.get("Retry-After")),
        write=write,
    )


def seconds(value: object) -> float | None:
    """A ``Retry-After`` in seconds; a date or nonsense counts as not given."""
    if not isinstance(value, (str, int, float)):
        return None
    try:
        number = float(value)
    except ValueError:
        return None
    return number if 0 <= number < float("inf") else None
