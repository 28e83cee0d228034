"""Allocations that were right, changed in one place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from msgspec.structs import replace

from dra.objects import AllocationResult, DeviceResult

Change = Callable[[list[DeviceResult]], list[DeviceResult]]


def with_results(allocation: AllocationResult, change: Change) -> AllocationResult:
    devices = allocation.devices
    results = change(list(devices.results or ()))
    return replace(allocation, devices=replace(devices, results=results or None))


def with_first(allocation: AllocationResult, **fields: Any) -> AllocationResult:
    """The first result with other fields."""
    return with_results(allocation, lambda r: [replace(r[0], **fields), *r[1:]])


def without_last(allocation: AllocationResult) -> AllocationResult:
    return with_results(allocation, lambda r: r[:-1])


def first_twice(allocation: AllocationResult) -> AllocationResult:
    return with_results(allocation, lambda r: [r[0], *r])


def without_config(allocation: AllocationResult) -> AllocationResult:
    return replace(allocation, devices=replace(allocation.devices, config=None))


def on_first(
    allocations: Sequence[AllocationResult],
    change: Callable[[AllocationResult], AllocationResult],
) -> list[AllocationResult]:
    """``change`` made to the first allocation that gives devices."""
    changed = list(allocations)
    at = next(i for i, a in enumerate(changed) if a.devices.results)
    changed[at] = change(changed[at])
    return changed
