"""``python -m dra allocate``: JSON Lines in, one answer a line out.

A line is one question: objects, the claims to allocate, a node or several. A bad
line gets an answer that says so, and the next one is read.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator
from typing import Any, Final, TextIO, cast

import msgspec

from dra.allocation.errors import AllocationError
from dra.allocation.explaining import explain
from dra.allocation.features import Features
from dra.allocation.outcome import Budget, DoesNotFit, Fits, Outcome
from dra.allocation.placing import Question
from dra.allocation.quirks import Mode
from dra.errors import DRAError, NotSupportedError
from dra.objects import Json, Node, ResourceClaim, read, write
from dra.snapshot import Snapshot

PATIENCE: Final = Budget(steps=10_000_000)
"""What a line may cost: more than a page's question, for nobody watches it load, and
searches that the reference ends within its 10 s per node are this long."""


class LineError(ValueError):
    """A line that is no question; the text says which field is wrong."""


def run_lines(lines: Iterable[str]) -> Iterator[str]:
    """One answer per line, in order. Never raises for what a line contains."""
    for line in lines:
        if line.strip():
            yield _as_line(answer(line))


def run(lines: Iterable[str], output: TextIO) -> bool:
    """Write one answer per line; False when there were lines but none was JSON."""
    seen = readable = False
    for line in lines:
        if line.strip():
            found = answer(line)
            seen = True
            readable = readable or "notJSON" not in found
            output.write(_as_line(found) + "\n")
    return readable or not seen


def run_explanations(lines: Iterable[str], output: TextIO) -> bool:
    """The same with an explanation per line (``dra.allocation.explaining``)."""
    seen = readable = False
    for line in lines:
        if line.strip():
            found = answer(line, explained=True)
            seen = True
            readable = readable or "notJSON" not in found
            output.write(_as_line(found) + "\n")
    return readable or not seen


def _as_line(found: Json) -> str:
    return json.dumps(found, separators=(",", ":"))


def answer(line: str, *, explained: bool = False) -> Json:
    """The answer to one line; ``explained``: why, instead of with what."""
    started = time.perf_counter()
    case_id: object = None
    try:
        case = json.loads(line)
    except (ValueError, RecursionError) as error:
        found = {**_refusal(error), "notJSON": True}
    else:
        if isinstance(case, dict):
            case_id = case.get("id")
        found = _of_line(case, explained=explained)
    elapsed = round((time.perf_counter() - started) * 1e6)
    return {"id": case_id, **found, "elapsedUs": elapsed}


def _of_line(case: object, *, explained: bool) -> Json:
    if not isinstance(case, dict):
        return _refusal(LineError("a line must be a JSON object"))
    try:
        return _of_case(case, explained=explained)
    except (ValueError, DRAError, RecursionError) as error:
        return _refusal(error)


def _of_case(case: Json, *, explained: bool) -> Json:
    nodes = _nodes(case)
    claims = [read(c, ResourceClaim) for c in _list(case, "claims")]
    features = Features.from_gates(_mapping(case, "features"))
    quirks = cast("Mode", case.get("quirks", "1.36"))
    snapshot = _snapshot(case, nodes)
    if explained:
        found = explain(
            snapshot,
            claims,
            node_names=[node.metadata.name for node in nodes],
            features=features,
            quirks=quirks,
        )
        return {"ok": True, "explanation": msgspec.to_builtins(found)}
    question = Question(
        snapshot, claims, features=features, quirks=quirks, budget=PATIENCE
    )
    if case.get("nodeMode") == "all":
        names = [node.metadata.name for node in nodes]
        answers = question.on_nodes(names)
        return {"ok": True, "nodes": {n: _answer(answers[n]) for n in names}}
    if len(nodes) != 1:
        raise LineError('nodeMode: must be "all" when there are several nodes')
    return _answer(question.on_node(nodes[0].metadata.name))


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


def _answer(outcome: Outcome | DRAError) -> Json:
    if isinstance(outcome, DRAError):
        return _refusal(outcome)
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


def _nodes(case: Json) -> list[Node]:
    if "nodes" in case:
        return [read(node, Node) for node in _list(case, "nodes")]
    node = case.get("node")
    if not isinstance(node, dict):
        raise LineError("node: must be an object, or nodes a list of them")
    return [read(node, Node)]


def _list(case: Json, field: str) -> list[Any]:
    found = case.get(field)
    if found is None:
        return []
    if not isinstance(found, list) or not all(isinstance(i, dict) for i in found):
        raise LineError(f"{field}: must be a list of objects")
    return found


def _mapping(case: Json, field: str) -> Json:
    found = case.get(field) or {}
    if not isinstance(found, dict):
        raise LineError(f"{field}: must be an object")
    return found
