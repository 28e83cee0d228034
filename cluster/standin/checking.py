"""The form of claims, templates and classes: decoded and validated as by kube-apiserver.

``dra.validation`` knows the rules; here its answers become those of the server. What
is in the store already (a recorded cluster, a generated one) is not looked at.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from cluster.standin.answers import Cause, StatusError, bad_request, invalid
from cluster.standin.kinds import Kind
from dra.validation import Request, validate
from dra.validation.decoding import Refused, decode

Json = dict[str, Any]
CHECKED: Final = frozenset({"ResourceClaim", "ResourceClaimTemplate", "DeviceClass"})
_NO_TIME: Final = "1970-01-01T00:00:00Z"


def check_strictly(kind: Kind, version: str, sent: Json) -> None:
    """400 for a field that nobody knows (``fieldValidation=Strict``)."""
    if kind.name not in CHECKED:
        return
    header = {"apiVersion": f"{kind.group}/{version}", "kind": kind.name}
    try:
        unknown = decode(kind.name, {**sent, **header}, _NO_TIME).unknown
    except Refused:
        return  # the write itself says so
    if unknown:
        listed = ", ".join(f'unknown field "{path}"' for path in unknown)
        raise bad_request(
            f'{kind.name} in version "{version}" cannot be handled as a {kind.name}: '
            f"strict decoding error: {listed}"
        )


def check(
    kind: Kind,
    body: Json,
    *,
    old: Json | None = None,
    labels: Mapping[str, str] | None = None,
) -> None:
    """400 or 422 for a stored-form body that a create or (with ``old``) an update makes.

    ``labels`` are those of the object's namespace.
    """
    if kind.name not in CHECKED:
        return
    header = {"apiVersion": kind.stored, "kind": kind.name}
    namespace = body["metadata"].get("namespace")
    outcome = validate(
        Request(
            kind.name,
            {**header, **body},
            namespace=namespace,
            update=old is not None,
            old={**header, **old} if old is not None else None,
            namespaces={namespace: labels or {}} if namespace else None,
        )
    )
    if outcome.refusal is not None:
        refusal = outcome.refusal
        raise StatusError(refusal.code, refusal.reason, refusal.message)
    if outcome.causes:
        causes = [Cause(c.reason, c.message, c.field) for c in outcome.causes]
        raise invalid(kind, str(body["metadata"].get("name") or ""), causes)
