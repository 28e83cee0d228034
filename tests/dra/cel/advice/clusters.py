"""Clusters to ask selectors about."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from typing import Any

import numpy as np

from cluster.standin.generator import generate
from dra import cel
from dra.cel.advice import Warning, advise  # noqa: A004 - the word of the field
from dra.cel.table import DeviceTable
from dra.objects import DeviceAttribute, DeviceCapacity
from dra.snapshot import Snapshot

NVIDIA = 'device.attributes["gpu.nvidia.com"]'
MEMORY = 'device.capacity["gpu.nvidia.com"].memory'
IS_NVIDIA = 'device.driver == "gpu.nvidia.com"'


@cache
def real_drivers() -> DeviceTable:
    """568 devices of four drivers: 432 NVIDIA (84 whole GPUs), 64 NICs, 40 CPUs, 32 AMD."""
    moment = datetime(2026, 1, 1, tzinfo=UTC)
    return Snapshot.build(generate(nodes=20, seed=1, now=moment)).devices()


def attribute(value: Any) -> DeviceAttribute:
    """An int, a bool or a string; a version where a string starts with ``v:``."""
    if isinstance(value, bool):
        return DeviceAttribute(bool_=value)
    if isinstance(value, int):
        return DeviceAttribute(int_=value)
    if value.startswith("v:"):
        return DeviceAttribute(version=value[2:])
    return DeviceAttribute(string=value)


def device(
    driver: str = "d.example",
    attributes: Mapping[str, Any] | None = None,
    /,
    **capacity: str,
) -> cel.DeviceInput:
    return cel.DeviceInput(
        driver,
        {name: attribute(value) for name, value in (attributes or {}).items()},
        {name: DeviceCapacity(value=value) for name, value in capacity.items()},
    )


def advice(
    expression: str, table: DeviceTable | list[cel.DeviceInput], *, asked: str = "true"
) -> tuple[Warning, ...]:
    """The warnings of ``expression`` for the devices that ``asked`` selects."""
    if isinstance(table, list):
        table = DeviceTable.of(table)
    within = None
    if asked != "true":
        within = np.array([a is True for a in table.select(cel.compile(asked))], bool)
    return advise(cel.compile(expression), table, within=within)


def codes(found: tuple[Warning, ...]) -> list[str]:
    return [warning.code for warning in found]


def only(found: tuple[Warning, ...], code: str) -> Warning:
    """The one warning with this code."""
    (warning,) = [warning for warning in found if warning.code == code]
    return warning


def repaired(expression: str, warning: Warning) -> str:
    """The expression with the suggestion in its place."""
    before, after = expression[: warning.start], expression[warning.end :]
    return f"{before}{warning.suggestion}{after}"
