"""``python -m dra validate``: one object a line."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, TextIO

from dra.validation.gates import ALL_OF_1_36, Gates
from dra.validation.outcome import Request
from dra.validation.validate import validate


def run_lines(stdin: Iterable[str], stdout: TextIO) -> None:
    """Answer every line of ``stdin`` with one line, in order.

    In: ``{"id", "kind", "namespace", "object"}`` for a create, ``{"id", "kind",
    "namespace", "old", "new", "sub"}`` for an update; besides, ``features`` (gates
    by name, all of 1.36 when left out) and ``namespaces`` (labels of those that
    exist). Out: ``{"id", "accepted", "causes", "defaulted", "code", "reason",
    "message", "warnings"}``; a line that cannot be read gets ``{"id", "error"}``.
    """
    for line in stdin:
        if line.strip():
            stdout.write(json.dumps(answer(line)) + "\n")


def answer(line: str) -> dict[str, Any]:
    """The answer to one line."""
    try:
        case = json.loads(line)
    except (ValueError, RecursionError) as error:
        return {"id": None, "error": f"not JSON: {error}"}
    if not isinstance(case, dict):
        return {"id": None, "error": "a JSON object is expected"}
    try:
        request = _request(case)
    except (TypeError, ValueError) as error:
        return {"id": case.get("id"), "error": str(error)}
    outcome = validate(request)
    refusal = outcome.refusal
    return {
        "id": case.get("id"),
        "accepted": outcome.accepted,
        "causes": [
            {"field": c.field, "reason": c.reason, "message": c.message}
            for c in outcome.causes
        ],
        "defaulted": dict(outcome.defaulted) if outcome.accepted else {},
        "code": outcome.code,
        "reason": refusal.reason if refusal else "" if outcome.accepted else "Invalid",
        "message": refusal.message if refusal else "",
        "warnings": list(outcome.warnings),
    }


def _request(case: dict[str, Any]) -> Request:
    kind, namespace = case.get("kind"), case.get("namespace")
    subresource = case.get("sub") or ""
    if not isinstance(kind, str):
        raise TypeError("kind: a string is expected")
    if not (namespace is None or isinstance(namespace, str)):
        raise TypeError("namespace: a string is expected")
    if not isinstance(subresource, str):
        raise TypeError("sub: a string is expected")
    update = "new" in case
    return Request(
        kind=kind,
        object=case.get("new" if update else "object"),
        namespace=namespace,
        update=update,
        old=case.get("old"),
        subresource=subresource,
        features=_gates(case.get("features")),
        namespaces=_namespaces(case.get("namespaces")),
    )


def _gates(raw: Any) -> Gates:
    if raw is None:
        return ALL_OF_1_36
    if not isinstance(raw, dict):
        raise TypeError("features: an object is expected")
    return Gates.from_names(raw)


def _namespaces(raw: Any) -> dict[str, dict[str, str]] | None:
    if raw is None:
        return None
    if not isinstance(raw, dict):
        raise TypeError("namespaces: an object of names and labels is expected")
    return {
        str(name): {str(key): str(value) for key, value in (labels or {}).items()}
        for name, labels in raw.items()
        if labels is None or isinstance(labels, dict)
    }
