"""Values inside a slice that cannot be computed with.

Reading an object leaves quantities as text. What asks here learns whether they
parse, before anybody computes: a pool with an unreadable quantity is invalid,
with that reason, and nothing crashes.
"""

from __future__ import annotations

from collections.abc import Iterator

from dra import quantity
from dra.errors import ObjectError, QuantityError
from dra.objects import CapacityRequestPolicy, Device, RawQuantity, ResourceSlice

type Found = Iterator[tuple[str, RawQuantity | None]]
"""Field paths and the quantities there."""


def first_value_problem(piece: ResourceSlice) -> ObjectError | None:
    """The first of :func:`value_problems`."""
    return next(value_problems(piece), None)


def value_problems(piece: ResourceSlice) -> Iterator[ObjectError]:
    """The quantities of a slice that do not parse, each with its field path.

    For example ``spec.devices[3].capacity[memory].value``.
    """
    for path, raw in _quantities(piece):
        try:
            quantity.read(raw)
        except QuantityError as error:
            yield ObjectError(
                kind="ResourceSlice",
                name=piece.metadata.name,
                path=path,
                reason=str(error),
            )


def _quantities(piece: ResourceSlice) -> Found:
    for i, counter_set in enumerate(piece.spec.shared_counters or ()):
        for name, counter in (counter_set.counters or {}).items():
            yield f"spec.sharedCounters[{i}].counters[{name}].value", counter.value
    for i, device in enumerate(piece.spec.devices or ()):
        if device.capacity or device.consumes_counters:
            yield from _of_device(f"spec.devices[{i}]", device)


def _of_device(path: str, device: Device) -> Found:
    for name, capacity in (device.capacity or {}).items():
        at = f"{path}.capacity[{name}]"
        yield f"{at}.value", capacity.value
        if capacity.request_policy is not None:
            yield from _of_policy(f"{at}.requestPolicy", capacity.request_policy)
    for i, use in enumerate(device.consumes_counters or ()):
        for name, counter in (use.counters or {}).items():
            at = f"{path}.consumesCounters[{i}].counters[{name}]"
            yield f"{at}.value", counter.value


def _of_policy(path: str, policy: CapacityRequestPolicy) -> Found:
    yield f"{path}.default", policy.default
    for i, raw in enumerate(policy.valid_values or ()):
        yield f"{path}.validValues[{i}]", raw
    if policy.valid_range is not None:
        yield f"{path}.validRange.min", policy.valid_range.min
        yield f"{path}.validRange.max", policy.valid_range.max
        yield f"{path}.validRange.step", policy.valid_range.step
