"""A result as JSON that a row can hold: every list bounded, what was left out counted."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from allocator.whatif.maps import node_maps
from dra.snapshot import Snapshot
from dra.whatif import Simulation
from dra.whatif.result import Result

type Json = dict[str, Any]

MAX_BYTES: Final = 4 * 1024 * 1024
_MOST: Final = {
    "placements": 2_000,
    "losses": 2_000,
    "stranded": 200,
    "pools": 500,
    "notes": 100,
}
_MOST_DIFFERENCES: Final = {
    "classes": 500,
    "nodes": 1_000,
    "namespaces": 500,
    "capacities": 200,
    "counters": 200,
    "counterSets": 500,
    "devices": 5_000,
}
_MOST_EXPLAINED: Final = 20
_MOST_GROUPS: Final = 20
_SMALLER: Final = 4
"""By how much lists shrink while the whole is too large."""


def stored(before: Snapshot, found: Simulation) -> Json:
    """The result in JSON with ``maps``, the nodes before and after, and ``leftOut``.

    ``leftOut`` says by list how many entries are missing; counts and sentences are
    those of the whole result. At most :data:`MAX_BYTES` long.
    """
    whole = _whole(found.result)
    whole["maps"] = node_maps(before, found.after, found.result)
    divisor = 1
    while True:
        made = _bounded(whole, divisor)
        if len(msgspec.json.encode(made)) <= MAX_BYTES or divisor > _SMALLER**4:
            return made
        divisor *= _SMALLER


def _whole(result: Result) -> Json:
    made: Json = msgspec.to_builtins(result)
    for entries in (made["items"], made["stranded"]):
        _cut_explanations(entries)
    difference = made["difference"]
    difference["nodes"] = _changed(difference["nodes"])
    return made


def _cut_explanations(entries: list[Json]) -> None:
    for number, entry in enumerate(entries):
        explained = entry.get("explanation")
        if explained is None:
            continue
        if number >= _MOST_EXPLAINED:
            entry["explanation"] = None
        else:
            explained["groups"] = explained["groups"][:_MOST_GROUPS]


def _changed(rows: list[Json]) -> list[Json]:
    return [row for row in rows if row["before"] != row["after"]]


def _bounded(whole: Json, divisor: int) -> Json:
    difference = whole["difference"]
    left = {
        "devices": difference["moreDevices"],
        "counterSets": difference["moreCounters"],
    }
    made = whole | {"difference": dict(difference)}
    for part, limits in ((made, _MOST), (made["difference"], _MOST_DIFFERENCES)):
        for name, most in limits.items():
            rows = part[name]
            kept = max(most // divisor, 1)
            part[name] = rows[:kept]
            if len(rows) > kept:
                left[name] = left.get(name, 0) + len(rows) - kept
    made["maps"] = whole["maps"][: max(len(whole["maps"]) // divisor, 1)]
    made["leftOut"] = {name: number for name, number in left.items() if number}
    return made
