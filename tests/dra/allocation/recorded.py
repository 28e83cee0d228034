"""Recorded answers of the 1.36.2 allocator, and when ours agrees with one."""

from __future__ import annotations

import json
import lzma
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dra import quantity

Json = dict[str, Any]

DATA = Path(__file__).parent / "data"

# What an error is about, most telling words first; the wording itself is ours.
CAUSES = {
    "class": ("device class", "deviceclass"),
    "updating pool": ("being updated",),
    "invalid pool": ("invalid",),
    "constraint": ("constraint",),
    "selector": ("cel",),
    "limit": ("exceeds", "limit"),
    "gate": ("disabled", "feature"),
    "mode": ("count mode",),
    "node selector": ("nodeselector", "node selection"),
}


def cases(name: str) -> Iterator[Json]:
    with lzma.open(DATA / f"{name}.jsonl.xz", "rt", encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def question(case: Json) -> str:
    """The case as a line of input, without what was recorded."""
    recorded = {"expect", "steps", "expectVariant"}
    return json.dumps({k: v for k, v in case.items() if k not in recorded})


def agrees(expected: Json, answer: Json) -> bool:
    if "nodes" in expected:
        nodes = answer.get("nodes") or {}
        return expected["nodes"].keys() == nodes.keys() and all(
            agrees(e, nodes[name]) for name, e in expected["nodes"].items()
        )
    if "error" in expected:
        return (
            not answer["ok"]
            and cause(answer["error"]) == cause(expected["error"])
            and answer["nodeOnly"] == bool(expected.get("nodeOnly"))
        )
    return bool(answer["ok"]) and plain(answer["allocations"]) == plain(
        expected["allocations"]
    )


def cause(error: str) -> str:
    low = error.lower()
    return next((c for c, words in CAUSES.items() if any(w in low for w in words)), low)


def plain(value: Any, key: str = "") -> Any:
    """An allocation without share ids, empty parts and the spelling of quantities."""
    if key == "shareID":
        return "(a share)"
    if key == "consumedCapacity":
        return {name: quantity.read(amount) for name, amount in value.items()}
    if isinstance(value, dict):
        parts = {k: plain(v, k) for k, v in value.items()}
        return {k: v for k, v in parts.items() if v or k == "devices"}
    if isinstance(value, list):
        return [plain(item) for item in value]
    return value
