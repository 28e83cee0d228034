"""Selectors with the answers of Kubernetes 1.36.2's own compiler."""

from __future__ import annotations

import json
import lzma
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from dra import cel, objects

_FILE = Path(__file__).parent / "data" / "conformance.jsonl.xz"


class Case(NamedTuple):
    """``compile_error``, ``runtime_error`` are texts; ``cost`` is the estimate."""

    id: str
    expression: str
    device: cel.DeviceInput
    features: cel.CelFeatures
    age: Any
    compile_error: str | None
    runtime_error: str | None
    result: bool | None
    cost: int | None


@cache
def cases() -> tuple[Case, ...]:
    return tuple(_read())


def _read() -> Iterator[Case]:
    with lzma.open(_FILE, "rt", encoding="utf-8") as lines:
        devices = [_device(raw) for raw in json.loads(next(lines))["devices"]]
        for line in lines:
            raw = json.loads(line)
            gates = raw["features"]
            yield Case(
                id=raw["id"],
                expression=raw["expression"],
                device=devices[raw["device"]],
                features=cel.CelFeatures(
                    consumable_capacity=gates.get("consumableCapacity", False),
                    list_type_attributes=gates.get("listTypeAttributes", False),
                ),
                age=raw["age"],
                compile_error=raw["compileError"],
                runtime_error=raw["runtimeError"],
                result=raw["result"],
                cost=raw["cost"],
            )


def _device(raw: dict[str, Any]) -> cel.DeviceInput:
    device = objects.read(raw, objects.Device)
    return cel.DeviceInput(
        driver=raw.get("driver", ""),
        attributes=device.attributes or {},
        capacity=device.capacity or {},
        allow_multiple_allocations=bool(device.allow_multiple_allocations),
    )
