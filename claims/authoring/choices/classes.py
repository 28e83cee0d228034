"""Device classes to choose from, with what each would give."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from claims.authoring.choices.asks import Ask, Wanted, table_of, wanted
from claims.authoring.choices.memory import remembered
from claims.authoring.choices.words import counted, listed
from dra.allocation import DEFAULT, Features
from dra.allocation.classes import ClassUsage, class_usage
from dra.cel.reads import Read
from dra.cel.table import DeviceTable
from dra.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class ClassChoice:
    """One DeviceClass.

    ``devices`` match it, ``free`` of these can be had now and ``shared`` have shares
    taken already. ``drivers`` publish the matching devices, those with most first.
    ``extended_resource`` is the name by which pods may ask for it, or empty.
    ``failing`` devices have no answer because a selector of the class fails on them;
    ``error`` is the first such text.
    """

    name: str
    devices: int
    free: int
    shared: int
    drivers: tuple[str, ...]
    extended_resource: str
    failing: int
    error: str
    sentence: str


def class_choices(
    snapshot: Snapshot, features: Features = DEFAULT
) -> list[ClassChoice]:
    """Every class of the cluster, the most useful first.

    That is: with free devices, without a selector that fails, with many devices; then
    by name.
    """
    table = table_of(snapshot, features)
    return list(
        remembered(
            table,
            "classes",
            (snapshot.classes, snapshot.pools, snapshot.in_use, snapshot.taint_rules),
            lambda: _choices(snapshot, table, features),
        )
    )


def _choices(
    snapshot: Snapshot, table: DeviceTable, features: Features
) -> tuple[ClassChoice, ...]:
    found = []
    for name, usage in class_usage(snapshot, features=features).items():
        devices = wanted(snapshot, Ask(name), features) if usage.matched else None
        found.append(
            ClassChoice(
                name=name,
                devices=usage.matched,
                free=usage.free,
                shared=usage.shared,
                drivers=() if devices is None else _drivers(table, devices),
                extended_resource=snapshot.classes[name].spec.extended_resource_name
                or "",
                failing=usage.errors,
                error=usage.error,
                sentence=_sentence(usage),
            )
        )
    return tuple(sorted(found, key=_place))


def _place(choice: ClassChoice) -> tuple[bool, bool, int, str]:
    return (
        not (choice.free or choice.shared),
        choice.failing > 0,
        -choice.devices,
        choice.name,
    )


def _drivers(table: DeviceTable, devices: Wanted) -> tuple[str, ...]:
    column = table.columns[Read("driver")]
    counts = np.bincount(column.codes[devices.rows], minlength=column.size)
    used = np.flatnonzero(counts).tolist()
    return tuple(
        str(column.raws[code]) for code in sorted(used, key=lambda c: (-counts[c], c))
    )


def _sentence(usage: ClassUsage) -> str:
    if not usage.matched and usage.errors:
        return (
            f"No device can be of it: its selector fails on {counted(usage.errors)} "
            f"({usage.error}). Ask whoever looks after the class to repair it."
        )
    if not usage.matched:
        return "No device of this cluster is of it. Choose another class."
    said = f"{counted(usage.matched)}: {_states(usage)}."
    if usage.errors:
        said += (
            f" Its selector fails on {usage.errors:,} more ({usage.error}); a claim "
            "that comes to one of them is not scheduled."
        )
    elif not usage.free and not usage.shared:
        said += " A claim will wait until one is released."
    return said


def _states(usage: ClassUsage) -> str:
    unusable = usage.incomplete + usage.invalid
    parts = (
        (usage.free, "free"),
        (usage.shared, "shared, with room left perhaps"),
        (usage.in_use, "in use"),
        (usage.tainted, "tainted"),
        (usage.blocked, "without the counters they draw on"),
        (unusable, "in pools that are incomplete or invalid"),
    )
    said = [f"{number:,} {words}" for number, words in parts if number]
    if len(said) == 1:
        words = said[0].partition(" ")[2]
        return f"all {words}" if usage.matched > 1 else words
    return listed(said)
