"""``python -m dra allocate``: JSON Lines in, one answer a line out.

A line is one question: objects, the claims to allocate, a node or several. A bad
line gets an answer that says so, and the next one is read.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator
from typing import Any, cast

from dra.allocation.errors import AllocationError
from dra.allocation.features import Features
from dra.allocation.outcome import DoesNotFit, Fits
from dra.allocation.placing import Question
from dra.allocation.quirks import Mode
from dra.errors import DRAError, NotSupportedError
from dra.objects import Json, Node, ResourceClaim, read, write
from dra.snapshot import Snapshot


class LineError(ValueError):
    """A line that is no question; the text says which field is wrong."""


def run_lines(lines: Iterable[str]) -> Iterator[str]:
    """One answer per line, in order. Never raises for what a line contains."""
    for line in lines:
        if line.strip():
            yield json.dumps(_answer(line), separators=(",", ":"))


def _answer(line: str) -> Json:
    started = time.perf_counter()
    case_id: object = None
    try:
        case = json.loads(line)
        if isinstance(case, dict):
            case_id = case.get("id")
            answer = _of_case(case)
        else:
            answer = _refusal(LineError("a line must be a JSON object"))
    except (LineError, ValueError, DRAError, RecursionError) as error:
        answer = _refusal(error)
    elapsed = round((time.perf_counter() - started) * 1e6)
    return {"id": case_id, **answer, "elapsedUs": elapsed}


def _of_case(case: Json) -> Json:
    nodes = _objects(case, "nodes" if "nodes" in case else "node", Node)
    claims = [read(c, ResourceClaim) for c in _list(case, "claims")]
    features = Features.from_gates(_mapping(case, "features"))
    quirks = cast("Mode", case.get("quirks", "1.36"))
    snapshot = _snapshot(case, nodes)

    def ask(node: Node) -> Json:
        try:
            question = Question(snapshot, claims, features=features, quirks=quirks)
            return _outcome(question, node.metadata.name)
        except DRAError as error:
            return _refusal(error)

    if case.get("nodeMode") == "all":
        return {"ok": True, "nodes": {n.metadata.name: ask(n) for n in nodes}}
    if len(nodes) != 1:
        raise LineError('"node" or "nodes" with "nodeMode": "all" is needed')
    return ask(nodes[0])


def _snapshot(case: Json, nodes: Iterable[Node]) -> Snapshot:
    snapshot = Snapshot.build(
        [
            *nodes,
            *_typed(case, "classes", "DeviceClass"),
            *_typed(case, "slices", "ResourceSlice"),
            *_typed(case, "allocatedClaims", "ResourceClaim"),
        ]
    )
    if snapshot.problems:
        raise snapshot.problems[0]
    return snapshot


def _outcome(question: Question, node_name: str) -> Json:
    outcome = question.on_node(node_name)
    if isinstance(outcome, Fits):
        return {"ok": True, "allocations": [write(a) for a in outcome.allocations]}
    if isinstance(outcome, DoesNotFit):
        return {"ok": True, "allocations": None, "reason": outcome.reason}
    return {"ok": False, "error": outcome.reason, "nodeOnly": False, "gaveUp": True}


def _refusal(error: Exception) -> Json:
    answer: Json = {"ok": False, "error": str(error), "nodeOnly": False}
    if isinstance(error, AllocationError):
        answer["nodeOnly"] = error.node_only
    if isinstance(error, NotSupportedError):
        answer["notSupported"] = error.feature
    return answer


def _typed(case: Json, field: str, kind: str) -> list[Json]:
    return [{**item, "kind": kind} for item in _list(case, field)]


def _objects(case: Json, field: str, cls: type[Node]) -> list[Node]:
    found = case.get(field)
    return [read(o, cls) for o in (found if isinstance(found, list) else [found])]


def _list(case: Json, field: str) -> list[Any]:
    found = case.get(field) or []
    if not isinstance(found, list) or not all(isinstance(i, dict) for i in found):
        raise LineError(f"{field}: must be a list of objects")
    return found


def _mapping(case: Json, field: str) -> Json:
    found = case.get(field) or {}
    if not isinstance(found, dict):
        raise LineError(f"{field}: must be an object")
    return found
