"""Advice on constraints: whether any devices of one node can meet them, if all were free."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, cast

import numpy as np
from numpy.typing import NDArray

from dra.allocation.constraints import value_set
from dra.cel.columns import Column
from dra.cel.likeness import closest
from dra.names import split_qualified_name
from dra.objects import DeviceAttribute
from dra.validation.advice.advice import Advice, counted
from dra.validation.advice.asks import Demand
from dra.validation.advice.ground import ANYWHERE, UNKNOWN, Mask
from dra.validation.advice.scene import Scene

type Found = Iterator[Advice]
type Places = NDArray[np.int64]
"""Nodes with values of an attribute, each pair as one number."""

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
    derived = {part.demand.name for part in parts if _derives(part.demand, name, scene)}
    lacking = [
        part
        for part in parts
        if part.demand.name not in derived and not part.having.any()
    ]
    if lacking:
        yield _missing(name, lacking[0], parts, field, scene, matches=matches)
        return
    if derived:
        return  # Only evaluating tells what its values are.
    for part in parts:
        yield from _partly(name, part, field)
    if column is None or not parts:
        return
    if matches:
        yield from _types(name, column, parts, field, scene)
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


def _derives(demand: Demand, name: str, scene: Scene) -> bool:
    """Whether an alternative makes the attribute by itself."""
    return scene.gates.derived_attributes and any(
        one.get("name") == name
        for ask in demand.asks
        for one in ask.details.get("derivedAttributes") or ()
    )


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
        if read.kind != "attributes":
            continue
        having = [scene.having(column, part.rows) for part in parts]
        if not all(mask.any() for mask in having):
            continue
        if scene.ground.kinds(column).has_lists:
            continue
        others = [
            replace(part, having=mask) for part, mask in zip(parts, having, strict=True)
        ]
        if not _reached_from_many(others, scene) and (
            _tells_apart(column, _union(others), scene)
            and len(_places(column, others, scene))
        ):
            found.append(f"{read.domain}/{read.identifier}")
    return found


def _tells_apart(column: Column, mask: Mask, scene: Scene) -> bool:
    """Whether devices of one node differ in it."""
    pairs = np.unique(_pairs(column, mask, scene))
    return len(np.unique(pairs // column.size)) < len(pairs)


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


def _types(
    name: str, column: Column, parts: Sequence[Part], field: str, scene: Scene
) -> Found:
    kinds = scene.ground.kinds(column)
    types = [kinds.types(column.codes[part.having]) for part in parts]
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
    unknown = np.isin(column.codes, kinds.unknown) & _union(parts)
    if unknown.any():
        yield Advice(
            "constraint-unknown-value",
            field,
            f"On {counted(int(np.count_nonzero(unknown)))} {name} is {UNKNOWN}, which "
            "usually means that nobody knows; such devices count as having the same "
            "value.",
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
    lists = scene.ground.kinds(column).has_lists
    requests = " and ".join(part.demand.name for part in parts)
    if not (_shared_members if lists else _shared_values)(column, parts):
        yield Advice(
            "constraint-never-met",
            field,
            f"The devices for {requests} have no value of {name} in common.",
        )
    elif lists or _reached_from_many(parts, scene):
        return
    elif not len(_places(column, parts, scene)):
        yield Advice(
            "constraint-never-met",
            field,
            f"On no node are there devices enough for {requests} with the same value "
            f"of {name}, even if all were free.",
        )


def _shared_values(column: Column, parts: Sequence[Part]) -> bool:
    """Whether every request has devices with one value; equal values have one code."""
    shared = np.ones(column.size, np.bool_)
    for part in parts:
        shared &= np.bincount(column.codes[part.having], minlength=column.size) > 0
    return bool(shared.any())


def _shared_members(column: Column, parts: Sequence[Part]) -> bool:
    """The same where values may be lists: a value in common is enough."""
    shared: set[tuple[str, object]] | None = None
    for part in parts:
        members = set()
        for code in np.unique(column.codes[part.having]).tolist():
            raw = column.raws[code]
            values = value_set(raw) if isinstance(raw, DeviceAttribute) else None
            if values is not None:
                members |= {(values.type, member) for member in values.members}
        shared = members if shared is None else shared & members
    return bool(shared)


def _union(parts: Sequence[Part]) -> Mask:
    return cast("Mask", np.logical_or.reduce([part.having for part in parts]))


def _reached_from_many(parts: Sequence[Part], scene: Scene) -> bool:
    return any((scene.nodes[part.having] == ANYWHERE).any() for part in parts)


def _places(column: Column, parts: Sequence[Part], scene: Scene) -> Places:
    """Pairs of node and value at which there are devices enough for every request."""
    total = sum(part.demand.count for part in parts)
    found = _enough(column, _union(parts), total, scene)
    for part in parts:
        here = _enough(column, part.having, part.demand.count, scene)
        found = found[np.isin(found, here, assume_unique=True)]
    return found


def _enough(column: Column, mask: Mask, count: int, scene: Scene) -> Places:
    """Pairs of node and value with ``count`` of the devices, or one that is shared."""
    enough = _often(_pairs(column, mask, scene), count)
    shared = mask & scene.shareable
    if shared.any():
        enough = np.union1d(enough, _pairs(column, shared, scene))
    return enough


def _often(keys: Places, least: int) -> Places:
    """The numbers that are there that often, in order."""
    if int(keys.max(initial=0)) < _DENSE * len(keys):
        return np.flatnonzero(np.bincount(keys) >= least)
    distinct, counts = np.unique(keys, return_counts=True)
    found: Places = distinct[counts >= least]
    return found


_DENSE: Final = 16
"""So many times as large as there are numbers, and counting beats sorting."""


def _pairs(column: Column, mask: Mask, scene: Scene) -> Places:
    """Node and value of each device as one number."""
    nodes = scene.nodes[mask].astype(np.int64)
    keys: Places = nodes * column.size + column.codes[mask]
    return keys


# --- different values -----------------------------------------------------------------------


def _distinct(
    name: str, column: Column, parts: Sequence[Part], field: str, scene: Scene
) -> Found:
    union = _union(parts)
    wanted = sum(part.demand.count for part in parts)
    nodes = scene.nodes[union]
    if (nodes == ANYWHERE).any() or scene.ground.kinds(column).has_lists:
        most = len(np.unique(column.codes[union]))
    else:
        keys = np.unique(_pairs(column, union, scene))
        most = int(np.bincount(keys // column.size).max())
    if most < wanted:
        yield Advice(
            "constraint-never-met",
            field,
            f"Asks for {wanted:,} devices that differ in {name}; no node has more than "
            f"{most:,} values of it.",
        )
