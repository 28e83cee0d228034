"""What a run changes of its claim, as lines of YAML that go and come."""

from __future__ import annotations

import copy
import difflib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from allocator.choices import RunKind
from allocator.models import AllocationRun
from cluster.writeback import FINALIZER
from web.highlight import to_yaml

Json = dict[str, Any]

_MOST_LINES: Final = 2000
_KINDS: Final = {"+": "added", "-": "removed", " ": "same"}


@dataclass(frozen=True, slots=True)
class Line:
    kind: str
    """``added``, ``removed`` or ``same``."""
    text: str


def difference(run: AllocationRun) -> list[Line]:
    """Finalizers and status of the claim before and after; empty without a plan."""
    if not isinstance(run.before, dict) or not isinstance(run.plan, dict):
        return []
    if run.kind == RunKind.REWRITE:  # what is put back is what was there
        return []
    before: Json = run.before
    after = _released(before) if run.kind == RunKind.DEALLOCATE else _allocated(run)
    return list(_lines(to_yaml(before), to_yaml(after)))


def _allocated(run: AllocationRun) -> Json:
    after = copy.deepcopy(run.before or {})
    finalizers = after.setdefault("metadata", {}).setdefault("finalizers", [])
    if FINALIZER not in finalizers:
        finalizers.append(FINALIZER)
    status = after.setdefault("status", {})
    status["allocation"] = run.plan
    if pins := list(_pins(run)):
        status["reservedFor"] = [*(status.get("reservedFor") or []), *pins]
    return after


def _released(before: Json) -> Json:
    finalizers = (before.get("metadata") or {}).get("finalizers") or []
    return {
        "metadata": {"finalizers": [f for f in finalizers if f != FINALIZER]},
        "status": {},
    }


def _pins(run: AllocationRun) -> Iterator[Json]:
    """Reservations of our own that the requests add."""
    for request in run.patch if isinstance(run.patch, list) else ():
        body = request.get("body")
        status = body.get("status") if isinstance(body, dict) else None
        entries = status.get("reservedFor") if isinstance(status, dict) else None
        yield from (e for e in entries or () if isinstance(e, dict) and "name" in e)


def _lines(before: str, after: str) -> Iterator[Line]:
    found = difflib.ndiff(before.splitlines(), after.splitlines())
    shown = (line for line in found if line[:1] in _KINDS)
    for number, line in enumerate(shown):
        if number == _MOST_LINES:
            yield Line("same", "… (the rest is in the requests below)")
            return
        yield Line(_KINDS[line[0]], line[2:])
