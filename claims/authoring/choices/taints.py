"""Taints that are on devices now, as tolerations ready to be put into a claim."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from claims.authoring.choices.asks import Ask, Rows, table_of, wanted
from claims.authoring.choices.kinds import kinds_of
from claims.authoring.choices.memory import remembered
from claims.authoring.choices.words import counted, listed
from dra.allocation import DEFAULT, Features
from dra.allocation.traits import rule_taints
from dra.cel.table import DeviceTable
from dra.objects import DeviceTaint
from dra.snapshot import Snapshot
from dra.taints import prevents_allocation

MOST: Final = 100
"""Taints in one answer."""
_SHOWN: Final = 3

type Name = tuple[str, str, str]
"""Key, value and effect of a taint."""


@dataclass(frozen=True, slots=True)
class TaintChoice:
    """One taint, by key, value and effect.

    ``devices`` of the cluster have it, ``matching`` of those that the request could
    take (None: no request was asked about). ``rules`` are the DeviceTaintRules that
    put it there, empty where drivers publish it. ``toleration`` is the JSON of one
    for it; a taint that keeps nobody away (``prevents`` False) needs none.
    """

    key: str
    value: str
    effect: str
    devices: int
    matching: int | None
    rules: tuple[str, ...]
    prevents: bool
    toleration: Mapping[str, str]
    sentence: str


def taint_choices(
    snapshot: Snapshot, ask: Ask | None = None, features: Features = DEFAULT
) -> list[TaintChoice]:
    """All taints of the cluster, those that keep most matching devices away first.

    Empty where the version of the cluster knows no device taints.
    """
    if not features.device_taints:
        return []
    table = table_of(snapshot, features)
    devices = None if ask is None else wanted(snapshot, ask, features)
    return list(
        remembered(
            table,
            ("taints", ask and (ask.class_name, ask.selectors)),
            (snapshot.taint_rules, devices),
            lambda: _choices(
                snapshot, table, None if devices is None else devices.rows
            ),
        )
    )


def _choices(
    snapshot: Snapshot, table: DeviceTable, rows: Rows | None
) -> tuple[TaintChoice, ...]:
    everywhere = _tally(snapshot, table, np.arange(len(table), dtype=np.intp))
    matching = None if rows is None else _tally(snapshot, table, rows)
    rules: dict[Name, list[str]] = {}
    for name in sorted(snapshot.taint_rules):
        rules.setdefault(_name(snapshot.taint_rules[name].spec.taint), []).append(name)
    found = [
        _choice(
            taint,
            devices,
            None if matching is None else matching.get(taint, 0),
            tuple(rules.get(taint, ())),
        )
        for taint, devices in everywhere.items()
    ]
    found.sort(
        key=lambda c: (
            not c.prevents,
            -(c.devices if c.matching is None else c.matching),
            -c.devices,
            (c.key, c.value, c.effect),
        )
    )
    return tuple(found[:MOST])


def _tally(snapshot: Snapshot, table: DeviceTable, rows: Rows) -> dict[Name, int]:
    """How many of the devices at ``rows`` have each taint, by whomever."""
    found: dict[Name, int] = {}
    by_rules = rule_taints(snapshot, table)
    codes = None if by_rules is None else by_rules.codes[rows]
    for taints, within in _ruled(codes, by_rules.meanings if by_rules else []):
        here = rows if within is None else rows[within]
        for kind in kinds_of(table, here):
            own = {_name(taint) for taint in kind.device.taints or ()}
            for taint in own | taints:
                found[taint] = found.get(taint, 0) + kind.number
    return found


def _ruled(
    codes: np.ndarray | None, meanings: list[object]
) -> Iterator[tuple[set[Name], np.ndarray | None]]:
    """The taints by rules, each set with the devices that have it."""
    if codes is None:
        yield set(), None
        return
    for code in np.unique(codes).tolist():
        taints = meanings[code]
        assert isinstance(taints, tuple)
        yield set(taints), np.flatnonzero(codes == code)


def _name(taint: DeviceTaint) -> Name:
    return (taint.key, taint.value, taint.effect)


def _choice(
    taint: Name, devices: int, matching: int | None, rules: tuple[str, ...]
) -> TaintChoice:
    key, value, effect = taint
    prevents = prevents_allocation(DeviceTaint(key=key, value=value, effect=effect))
    return TaintChoice(
        key=key,
        value=value,
        effect=effect,
        devices=devices,
        matching=matching,
        rules=rules,
        prevents=prevents,
        toleration=_toleration(taint),
        sentence=_sentence(devices, matching, rules, effect, prevents=prevents),
    )


def _toleration(taint: Name) -> Mapping[str, str]:
    key, value, effect = taint
    if not value:
        return {"key": key, "operator": "Exists", "effect": effect}
    return {"key": key, "operator": "Equal", "value": value, "effect": effect}


def _sentence(
    devices: int,
    matching: int | None,
    rules: tuple[str, ...],
    effect: str,
    *,
    prevents: bool,
) -> str:
    who = "published by the driver"
    if rules:
        more = len(rules) - _SHOWN
        names = [*rules[:_SHOWN], *([f"{more:,} more"] if more > 0 else [])]
        who = f"put there by the rule{'' if len(rules) == 1 else 's'} {listed(names)}"
    where = f"On {counted(devices)}"
    if matching is not None:
        which = f"{matching:,}" if matching else "none"
        where += f", {which} of which {'match' if matching > 1 else 'matches'}"
    if not prevents:
        return f"{where}, {who}. It keeps no claim away and needs no toleration."
    them = "it" if devices == 1 else "them"
    what = f"Without a toleration no new claim gets {them}"
    if effect == "NoExecute":
        what += f", and pods that use {them} are evicted"
    return f"{where}, {who}. {what}."
