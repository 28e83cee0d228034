"""Why a pool, or what a node sees of it, is not complete or contradicts itself."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from dra.objects import Device, ResourceSlice


def unreadable_value(
    slices: Iterable[ResourceSlice], unreadable: Mapping[str, str]
) -> str:
    """The first of ``slices`` that is ``unreadable``, with the reason; empty: none."""
    if not unreadable:
        return ""
    reasons = (unreadable.get(piece.metadata.name, "") for piece in slices)
    return next(filter(None, reasons), "")


def what_is_missing(
    generation: int,
    current: tuple[ResourceSlice, ...],
    older: tuple[ResourceSlice, ...],
) -> str:
    """Why the pool is not complete, in words; empty when it is."""
    wanted = sorted({s.spec.pool.resource_slice_count for s in current})
    present = len(current)
    if wanted == [present]:
        return ""
    if len(wanted) > 1:
        counts = ", ".join(map(str, wanted[:-1])) + f" and {wanted[-1]}"
        reason = (
            f"slices of generation {generation} announce different counts: {counts}"
        )
    elif wanted[0] > present:
        reason = f"{present} of {_slices(wanted[0])} of generation {generation}"
    else:
        reason = (
            f"{_slices(present)} of generation {generation} present, "
            f"{wanted[0]} announced"
        )
    left: dict[int, int] = {}
    for piece in older:
        number = piece.spec.pool.generation
        left[number] = left.get(number, 0) + 1
    for number in sorted(left, reverse=True):
        reason += f"; generation {number} still has {_slices(left[number])}"
    return reason


def _slices(count: int) -> str:
    return "1 slice" if count == 1 else f"{count} slices"


def contradiction(
    relevant: Iterable[ResourceSlice], consumers: Iterable[ResourceSlice]
) -> str:
    """How slices of a complete pool contradict each other; empty when they do not.

    Device names and counter sets come from ``relevant`` slices, references to
    counters are checked in ``consumers``.
    """
    sets: dict[str, set[str]] = {}
    names: set[str] = set()
    for piece in relevant:
        for counter_set in piece.spec.shared_counters or ():
            if counter_set.name in sets:
                return f'counter set "{counter_set.name}" is published twice'
            sets[counter_set.name] = set(counter_set.counters or ())
        if not piece.spec.shared_counters:
            for device in piece.spec.devices or ():
                if device.name in names:
                    return f'device "{device.name}" is published twice'
                names.add(device.name)
    for piece in consumers:
        for device in piece.spec.devices or ():
            reason = _unknown_counter(device, sets)
            if reason:
                return reason
    return ""


def _unknown_counter(device: Device, sets: Mapping[str, set[str]]) -> str:
    for use in device.consumes_counters or ():
        known = sets.get(use.counter_set)
        if known is None:
            return (
                f'device "{device.name}" consumes from counter set '
                f'"{use.counter_set}", which the pool does not have'
            )
        for counter in use.counters or ():
            if counter not in known:
                return (
                    f'device "{device.name}" consumes counter "{counter}", which '
                    f'counter set "{use.counter_set}" does not have'
                )
    return ""
