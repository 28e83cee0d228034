"""Writes of objects with the answers of a Kubernetes 1.36.2 API server, all DRA gates on.

The first line of the file is what that server knew beside the objects: the
namespaces and their labels.
"""

from __future__ import annotations

import json
import lzma
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from dra.validation import Request

_FILE = Path(__file__).parent / "data" / "conformance.jsonl.xz"


class Case(NamedTuple):
    """``causes`` are (field, reason, message); ``code`` is 0 for a closed connection."""

    id: str
    request: Request
    line: dict[str, Any]
    accepted: bool
    code: int
    causes: tuple[tuple[str, str, str], ...]
    defaulted: dict[str, Any]


@cache
def cases() -> tuple[Case, ...]:
    with lzma.open(_FILE, "rt", encoding="utf-8") as lines:
        namespaces = json.loads(next(lines))["namespaces"]
        return tuple(_case(json.loads(line), namespaces) for line in lines)


def _case(raw: dict[str, Any], namespaces: dict[str, dict[str, str]]) -> Case:
    expect = raw.pop("expect")
    update = "new" in raw
    return Case(
        id=raw["id"],
        request=Request(
            kind=raw["kind"],
            object=raw["new" if update else "object"],
            namespace=raw["namespace"],
            update=update,
            old=raw.get("old"),
            subresource=raw.get("sub") or "",
            namespaces=namespaces,
        ),
        line=raw | {"namespaces": namespaces},
        accepted=expect["accepted"],
        code=expect["code"] or 0,
        causes=tuple(
            (cause["field"], cause["reason"], cause["message"])
            for cause in expect.get("causes", ())
        ),
        defaulted=expect.get("defaulted", {}),
    )
