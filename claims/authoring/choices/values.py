"""What devices publish under one name, for somebody who writes a selector."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from claims.authoring.choices.asks import Ask, table_of, wanted
from claims.authoring.choices.memory import remembered
from claims.authoring.choices.published import Published
from claims.authoring.choices.words import counted
from dra.allocation import DEFAULT, Features
from dra.cel.reads import MAPS, Read
from dra.names import split_qualified_name
from dra.snapshot import Snapshot

MOST: Final = 50
"""Values in one answer."""


@dataclass(frozen=True, slots=True)
class ValueCount:
    """``devices`` publish ``text``. ``expression`` is a CEL term for it, true for more
    as well where values have an order; empty for lists."""

    text: str
    devices: int
    label: str
    expression: str


@dataclass(frozen=True, slots=True)
class Values:
    """The most common values of ``name`` among ``devices`` that match.

    ``having`` publish it, with ``distinct`` different values; ``values`` are at most
    :data:`MOST` of them. ``type`` is the one type they use ("string", "quantity" and so
    on, "strings" for lists), or empty.
    """

    name: str
    type: str
    devices: int
    having: int
    distinct: int
    values: tuple[ValueCount, ...]
    sentence: str


def values_of(
    snapshot: Snapshot,
    ask: Ask,
    name: str,
    features: Features = DEFAULT,
    *,
    kind: str = "attributes",
) -> Values:
    """Of the attribute (or ``kind`` "capacity") ``domain/name``.

    A name that no device publishes has no values. Raises ValueError for another
    ``kind``.
    """
    if kind not in MAPS:
        raise ValueError(f"{kind!r} is no map of a device, only {' and '.join(MAPS)}")
    table = table_of(snapshot, features)
    devices = wanted(snapshot, ask, features)
    column = table.columns.get(Read(kind, *split_qualified_name(name, "")))
    if column is None or not len(devices):
        return Values(name, "", len(devices), 0, 0, (), "No device publishes it.")
    return remembered(
        table,
        ("values", ask.class_name, ask.selectors, column.read),
        (devices,),
        lambda: _values(name, Published(table, column, devices.rows)),
    )


def _values(name: str, published: Published) -> Values:
    found = []
    for text, devices in published.common(MOST):
        test = published.test(text, devices)
        label, expression = (test.label, test.expression) if test else (text, "")
        found.append(ValueCount(text, devices, label, expression))
    return Values(
        name=name,
        type=published.type,
        devices=published.devices,
        having=published.having,
        distinct=published.distinct,
        values=tuple(found),
        sentence=_sentence(published),
    )


def _sentence(published: Published) -> str:
    having, devices = published.having, published.devices
    if not having:
        return f"None of {counted(devices)} that match publishes it."
    said = f"{having:,} of {counted(devices)} that match publish it"
    if published.distinct == having > 1:
        return f"{said}, each with a value of its own."
    return f"{said}, with {counted(published.distinct, 'different value')}."
