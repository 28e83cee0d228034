"""How many devices each class matches, and which classes match a device.

Both evaluate selectors on the newest snapshot; counts are remembered for a while.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from allocator import snapshots
from dra.allocation.classes import ClassUsage, class_usage, matching_classes
from dra.names import DeviceID
from inventory.choices import DeviceState
from inventory.models import Cluster
from inventory.queries.cache import recall, remembered

_NAME = "class-uses"


@dataclass(frozen=True, slots=True)
class ClassUse:
    """Devices that a class matches, by state.

    ``failing`` is on how many devices its selector fails, ``problem`` why on the
    first of them.
    """

    counts: Mapping[str, int] = field(default_factory=dict)
    failing: int = 0
    problem: str = ""

    @property
    def matched(self) -> int:
        return sum(self.counts.values())

    @property
    def free(self) -> int:
        return self.counts.get(DeviceState.FREE.value, 0)


@dataclass(frozen=True, slots=True)
class ClassMatch:
    """``error``: why the selector could not be evaluated; then ``matches`` is False."""

    name: str
    matches: bool
    error: str = ""


def class_uses(cluster: Cluster) -> dict[str, ClassUse]:
    """By class name. A class that cannot be read is absent."""
    return remembered(_NAME, cluster, lambda: _count(cluster))


def known_class_uses(cluster: Cluster) -> tuple[dict[str, ClassUse], bool]:
    """What was counted last, and whether that is still good: costs no evaluation."""
    known = recall(_NAME, cluster)
    return ({}, False) if known is None else (known.value, known.fresh)


def classes_of_device(
    cluster: Cluster, driver: str, pool: str, name: str
) -> list[ClassMatch]:
    """What each class says about the device, those that match first."""
    said = matching_classes(snapshots.current(cluster), DeviceID(driver, pool, name))
    matches = [
        ClassMatch(class_name, matches=False, error=verdict)
        if isinstance(verdict, str)
        else ClassMatch(class_name, matches=verdict)
        for class_name, verdict in said.items()
    ]
    return sorted(matches, key=lambda match: (not match.matches, match.name))


def _count(cluster: Cluster) -> dict[str, ClassUse]:
    usage = class_usage(snapshots.current(cluster))
    return {name: _use(found) for name, found in usage.items()}


def _use(found: ClassUsage) -> ClassUse:
    counts = {
        DeviceState.FREE: found.free,
        DeviceState.IN_USE: found.in_use,
        DeviceState.SHARED: found.shared,
        DeviceState.BLOCKED: found.blocked,
        DeviceState.TAINTED: found.tainted,
        DeviceState.INCOMPLETE: found.incomplete,
        DeviceState.INVALID: found.invalid,
    }
    return ClassUse(
        counts={state.value: number for state, number in counts.items()},
        failing=found.errors,
        problem=found.error,
    )
