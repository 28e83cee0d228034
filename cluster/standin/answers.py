"""Error answers: the ``Status`` object with Kubernetes' codes, reasons and words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from cluster.standin.kinds import Kind

Json = dict[str, Any]

MAX_BODY: Final = 3 * 1024 * 1024
"""Bytes of a request body; more is 413."""


@dataclass(frozen=True, slots=True)
class Cause:
    """One entry of ``details.causes``."""

    reason: str
    message: str
    field: str

    def json(self) -> Json:
        cause = {"reason": self.reason, "message": self.message, "field": self.field}
        return {key: value for key, value in cause.items() if value}


class StatusError(Exception):
    """A request that is refused. ``body()`` is what the client gets."""

    def __init__(
        self,
        code: int,
        reason: str,
        message: str,
        *,
        details: Json | None = None,
        retry_after: int | None = None,
        metadata: Json | None = None,
    ) -> None:
        self.code = code
        self.reason = reason
        self.message = message
        self.details = details
        self.retry_after = retry_after
        self.metadata = metadata
        super().__init__(f"{code} {reason}: {message}")

    def body(self) -> Json:
        status: Json = {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": self.metadata or {},
            "status": "Failure",
            "message": self.message,
        }
        if self.reason:
            status["reason"] = self.reason
        if self.details is not None:
            status["details"] = self.details
        status["code"] = self.code
        return status


def _details(kind: Kind, name: str = "", *, by_kind: bool = False) -> Json:
    shown = kind.name if by_kind else kind.plural
    details = {"name": name, "group": kind.group, "kind": shown}
    return {key: value for key, value in details.items() if value}


def bad_request(message: str) -> StatusError:
    return StatusError(400, "BadRequest", message)


def unauthorized() -> StatusError:
    return StatusError(401, "Unauthorized", "Unauthorized")


def no_such_resource() -> StatusError:
    """404 for a path that nothing is served under; an absent object has a name."""
    return StatusError(
        404,
        "NotFound",
        "the server could not find the requested resource",
        details={},
    )


def not_found(kind: Kind, name: str) -> StatusError:
    return StatusError(
        404,
        "NotFound",
        f'{kind.qualified} "{name}" not found',
        details=_details(kind, name),
    )


def not_allowed() -> StatusError:
    return StatusError(
        405,
        "MethodNotAllowed",
        "the server does not allow this method on the requested resource",
        details={},
    )


def already_exists(kind: Kind, name: str) -> StatusError:
    return StatusError(
        409,
        "AlreadyExists",
        f'{kind.qualified} "{name}" already exists',
        details=_details(kind, name),
    )


def conflict(kind: Kind, name: str, why: str, *, by_kind: bool = False) -> StatusError:
    """409; ``by_kind`` names ``ResourceClaim.resource.k8s.io`` and not the plural."""
    shown = f"{kind.name}.{kind.group}".rstrip(".") if by_kind else kind.qualified
    return StatusError(
        409,
        "Conflict",
        f'Operation cannot be fulfilled on {shown} "{name}": {why}',
        details=_details(kind, name, by_kind=by_kind),
    )


def stale(kind: Kind, name: str) -> StatusError:
    return conflict(
        kind,
        name,
        "the object has been modified; please apply your changes to the latest "
        "version and try again",
    )


def invalid(kind: Kind, name: str, causes: list[Cause]) -> StatusError:
    """422; the message joins the causes as Kubernetes does."""
    joined = _joined(causes)
    shown = f"{kind.name}.{kind.group}" if kind.group else kind.name
    details = _details(kind, name, by_kind=True)
    details["causes"] = [cause.json() for cause in causes]
    return StatusError(
        422, "Invalid", f'{shown} "{name}" is invalid: {joined}', details=details
    )


def forbidden(field: str, why: str) -> Cause:
    return Cause("FieldValueForbidden", f"Forbidden: {why}", field)


def invalid_options(kind: str, causes: list[Cause]) -> StatusError:
    """422 for request options (``ListOptions``, ``CreateOptions`` …) that are wrong."""
    return StatusError(
        422,
        "Invalid",
        f'{kind}.meta.k8s.io "" is invalid: {_joined(causes)}',
        details={
            "group": "meta.k8s.io",
            "kind": kind,
            "causes": [cause.json() for cause in causes],
        },
    )


def _joined(causes: list[Cause]) -> str:
    texts = [f"{cause.field}: {cause.message}" for cause in causes]
    return texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"


def expired(message: str, *, continue_token: str = "") -> StatusError:
    return StatusError(
        410,
        "Expired",
        message,
        metadata={"continue": continue_token} if continue_token else None,
    )


def too_old(asked: int, oldest: int) -> StatusError:
    """410 of a watch that starts before the kept history."""
    return expired(f"too old resource version: {asked} ({oldest})")


def too_large_version(asked: int, current: int) -> StatusError:
    return StatusError(
        504,
        "Timeout",
        f"Timeout: Too large resource version: {asked}, current: {current}",
        details={
            "causes": [
                {
                    "reason": "ResourceVersionTooLarge",
                    "message": "Too large resource version",
                }
            ],
            "retryAfterSeconds": 1,
        },
        retry_after=1,
    )
