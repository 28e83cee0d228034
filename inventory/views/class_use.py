"""How many devices each class matches, and which classes match a device.

Both evaluate selectors on the newest snapshot; counts are remembered for a while.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from allocator import snapshots
from dra.allocation.classes import (
    ClassUsage,
    chain_of,
    class_usage,
    matching_classes,
)
from dra.cel import CelFeatures, DeviceTable
from dra.names import DeviceID
from inventory.choices import DeviceState
from inventory.models import Cluster
from inventory.queries.cache import recall, remembered
from inventory.selecting import Deadline, compiled, features_of
from inventory.views.cel_reasons import reason

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
    """``error``: why the selector could not be evaluated; then ``matches`` is False.

    ``why`` is the first term that is false, ``selector`` the whole it is part of.
    """

    name: str
    matches: bool
    error: str = ""
    why: str = ""
    selector: str = ""


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
    snapshot, device = snapshots.current(cluster), DeviceID(driver, pool, name)
    features = features_of(cluster)
    table = snapshot.devices(lists=features.list_type_attributes)
    row = table.ids.row(device)
    deadline = Deadline()
    matches = []
    for class_name, verdict in matching_classes(snapshot, device).items():
        why, selector = "", ""
        if verdict is not True and row is not None:
            chain = chain_of(snapshot.classes[class_name])
            why, selector = _first_false(chain, table, row, features, deadline)
        error = verdict if isinstance(verdict, str) else ""
        matches.append(ClassMatch(class_name, verdict is True, error, why, selector))
    return sorted(matches, key=lambda match: (not match.matches, match.name))


def _first_false(
    chain: Sequence[str],
    table: DeviceTable,
    row: int,
    features: CelFeatures,
    deadline: Deadline,
) -> tuple[str, str]:
    """The term that decides against a device, and its selector; empty if unknown."""
    for expression in chain:
        program = compiled(expression, features).program
        found = None if program is None else reason(program, table, row, deadline)
        if found is None or found.outcome != "true":
            return (found.why or expression if found else ""), expression
    return "", ""


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
