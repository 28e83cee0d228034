"""Advice on constraints: whether any devices of one node can meet them, if all were free."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from dra.allocation.constraints import value_set
from dra.cel.columns import Column
from dra.cel.likeness import closest
from dra.names import split_qualified_name
from dra.objects import DeviceAttribute
from dra.validation.advice.advice import Advice
from dra.validation.advice.asks import Demand
from dra.validation.advice.scene import ANYWHERE, Mask, Scene

type Found = Iterator[Advice]

_MOST: Final = 3


@dataclass(frozen=True, slots=True)
class Part:
    """A request that the constraint holds whatever alternative is taken.

    ``rows`` are its devices, ``having`` those with the attribute.
    """

    demand: Demand
    rows: Mask
    having: Mask


def on_constraints(
    devices: Mapping[str, Any], demands: Sequence[Demand], path: str, scene: Scene
) -> Found:
    for index, constraint in enumerate(devices.get("constraints") or ()):
        field = f"{path}.constraints[{index}]"
        match, distinct = (
            constraint.get("matchAttribute"),
            constraint.get("distinctAttribute"),
        )
        if match is not None and distinct is not None:
            yield Advice(
                "distinct-ignored",
                f"{field}.distinctAttribute",
                "matchAttribute is set, too; then distinctAttribute has no effect. Use "
                "two constraints for both.",
            )
        name = match if match is not None else distinct
        if name is None or "/" not in name:
            continue
        field += ".matchAttribute" if match is not None else ".distinctAttribute"
        names = frozenset(constraint.get("requests") or ())
        yield from _constraint(
            name, names, demands, field, scene, matches=match is not None
        )


def _constraint(
    name: str,
    names: frozenset[str],
    demands: Sequence[Demand],
    field: str,
    scene: Scene,
    *,
    matches: bool,
) -> Found:
    column = scene.column("attributes", name)
    parts = list(_parts(column, names, demands, scene))
    lacking = [part for part in parts if not part.having.any()]
    if lacking:
        yield _missing(name, lacking[0], parts, field, scene, matches=matches)
        return
    for part in parts:
        yield from _partly(name, part, field)
    if column is None or not parts:
        return
    if matches:
        yield from _types(name, column, parts, field)
        yield from _match(name, column, parts, field, scene)
    else:
        yield from _distinct(name, column, parts, field, scene)


def _parts(
    column: Column | None,
    names: frozenset[str],
    demands: Sequence[Demand],
    scene: Scene,
) -> Iterator[Part]:
    for demand in demands:
        concerned = not names or demand.name in names
        if not concerned and not (
            demand.asks and all(ask.name in names for ask in demand.asks)
        ):
            continue
        rows = demand.rows(scene)
        if rows is not None and rows.any():
            yield Part(demand, rows, scene.having(column, rows))


# --- who has the attribute ------------------------------------------------------------------


def _missing(
    name: str,
    lacking: Part,
    parts: Sequence[Part],
    field: str,
    scene: Scene,
    *,
    matches: bool,
) -> Advice:
    names = _near(name, lacking.rows, scene)
    if matches:
        names += _meeting(parts, scene)
    near = list(dict.fromkeys(names))[:_MOST]
    total = int(np.count_nonzero(lacking.rows))
    taken = f"that the request {lacking.demand.name} can take"
    if total == 1:
        told, have = f"The only device {taken} lacks {name}", "it has"
    else:
        told, have = f"None of the {total:,} devices {taken} has {name}", "they have"
    more = f"; {have} {' and '.join(near)}." if near else "."
    return Advice(
        "constraint-attribute-missing",
        field,
        f"{told}, so the constraint can never be met{more}",
        suggestion=near[0] if near else "",
    )


def _near(name: str, mask: Mask, scene: Scene) -> list[str]:
    """Attributes of these devices with names like it, the likest first."""
    published = [
        read
        for read, column in scene.table.columns.items()
        if read.kind == "attributes" and scene.having(column, mask).any()
    ]
    names = [f"{read.domain}/{read.identifier}" for read in published]
    identifier = split_qualified_name(name, "")[1]
    like = [(read.identifier, at) for read, at in zip(published, names, strict=True)]
    return [*closest(name, zip(names, names, strict=True)), *closest(identifier, like)]


def _meeting(parts: Sequence[Part], scene: Scene) -> list[str]:
    """Attributes that would do: they tell devices of one node apart, and enough agree."""
    found = []
    for read, column in scene.table.columns.items():
        if read.kind != "attributes" or _has_lists(column):
            continue
        having = [scene.having(column, part.rows) for part in parts]
        if not all(mask.any() for mask in having):
            continue
        others = [
            replace(part, having=mask) for part, mask in zip(parts, having, strict=True)
        ]
        if not _reached_from_many(others, scene) and (
            _tells_apart(column, np.logical_or.reduce(having), scene)
            and _places(column, others, scene)
        ):
            found.append(f"{read.domain}/{read.identifier}")
    return found


def _tells_apart(column: Column, mask: Mask, scene: Scene) -> bool:
    """Whether devices of one node differ in it."""
    pairs = np.unique(_pairs(column, mask, scene))
    return len(np.unique(pairs // len(column.raws))) < len(pairs)


def _partly(name: str, part: Part, field: str) -> Found:
    total, having = (int(np.count_nonzero(mask)) for mask in (part.rows, part.having))
    if having < total:
        yield Advice(
            "constraint-attribute-partly",
            field,
            f"Only {having:,} of the {total:,} devices that the request "
            f"{part.demand.name} can take have {name}; the others cannot be taken.",
        )


# --- the same value ---------------------------------------------------------------------------


def _members(column: Column, mask: Mask) -> Counter[tuple[str, object]]:
    """How many of the devices have each value, lists taken apart."""
    found: Counter[tuple[str, object]] = Counter()
    counts = np.bincount(column.codes[mask], minlength=len(column.raws))
    for code in np.flatnonzero(counts).tolist():
        raw = column.raws[code]
        values = value_set(raw) if isinstance(raw, DeviceAttribute) else None
        if values is not None:
            for member in values.members:
                found[values.type, member] += int(counts[code])
    return found


def _types(name: str, column: Column, parts: Sequence[Part], field: str) -> Found:
    members = [_members(column, part.having) for part in parts]
    types = [{kind for kind, _ in of_part} for of_part in members]
    for index in range(1, len(parts)):
        if not types[0] & types[index]:
            first, other = parts[0].demand.name, parts[index].demand.name
            yield Advice(
                "constraint-types-differ",
                field,
                f"{name} is {_named(types[0])} on the devices for {first} and "
                f"{_named(types[index])} on those for {other}: they are never the same.",
            )
            return
    unknown = sum(of_part.get(("int", -1), 0) for of_part in members)
    if unknown:
        yield Advice(
            "constraint-unknown-value",
            field,
            f"On {unknown:,} devices {name} is -1, which usually means that nobody "
            "knows; such devices count as having the same value.",
        )


_TYPES: Final = {
    "int": "an integer",
    "bool": "a boolean",
    "string": "a text",
    "version": "a version",
}


def _named(types: set[str]) -> str:
    return " or ".join(sorted(_TYPES.get(kind, kind) for kind in types))


def _match(
    name: str, column: Column, parts: Sequence[Part], field: str, scene: Scene
) -> Found:
    shared: set[tuple[str, object]] | None = None
    for part in parts:
        of_part = set(_members(column, part.having))
        shared = of_part if shared is None else shared & of_part
    requests = " and ".join(part.demand.name for part in parts)
    if shared is not None and not shared:
        yield Advice(
            "constraint-never-met",
            field,
            f"The devices for {requests} have no value of {name} in common.",
        )
    elif _has_lists(column) or _reached_from_many(parts, scene):
        return
    elif not _places(column, parts, scene):
        yield Advice(
            "constraint-never-met",
            field,
            f"On no node are there devices enough for {requests} with the same value "
            f"of {name}, even if all were free.",
        )


def _reached_from_many(parts: Sequence[Part], scene: Scene) -> bool:
    return any((scene.nodes[part.having] == ANYWHERE).any() for part in parts)


def _has_lists(column: Column) -> bool:
    return any(
        isinstance(raw, DeviceAttribute)
        and (raw.ints or raw.bools or raw.strings or raw.versions) is not None
        for raw in column.raws
    )


def _places(column: Column, parts: Sequence[Part], scene: Scene) -> set[int]:
    """Pairs of node and value at which there are devices enough for every request."""
    union = np.zeros(len(scene.table), np.bool_)
    found: set[int] | None = None
    for part in parts:
        union |= part.having
        here = _enough(column, part.having, part.demand.count, scene)
        found = here if found is None else found & here
    together = _enough(column, union, sum(p.demand.count for p in parts), scene)
    return (found or set()) & together


def _enough(column: Column, mask: Mask, count: int, scene: Scene) -> set[int]:
    """Pairs of node and value with ``count`` of the devices, or one that is shared."""
    keys = _pairs(column, mask, scene)
    found, counts = np.unique(keys, return_counts=True)
    enough = set(found[counts >= count].tolist())
    return enough | set(keys[scene.shareable[mask]].tolist())


def _pairs(column: Column, mask: Mask, scene: Scene) -> NDArray[np.int64]:
    """Node and value of each device as one number."""
    nodes = scene.nodes[mask].astype(np.int64)
    keys: NDArray[np.int64] = nodes * len(column.raws) + column.codes[mask]
    return keys


# --- different values -----------------------------------------------------------------------


def _distinct(
    name: str, column: Column, parts: Sequence[Part], field: str, scene: Scene
) -> Found:
    union = np.zeros(len(scene.table), np.bool_)
    for part in parts:
        union |= part.having
    wanted = sum(part.demand.count for part in parts)
    nodes = scene.nodes[union]
    if (nodes == ANYWHERE).any() or _has_lists(column):
        most = len(np.unique(column.codes[union]))
    else:
        keys = np.unique(_pairs(column, union, scene))
        most = int(np.bincount(keys // len(column.raws)).max())
    if most < wanted:
        yield Advice(
            "constraint-never-met",
            field,
            f"Asks for {wanted:,} devices that differ in {name}; no node has more than "
            f"{most:,} values of it.",
        )
