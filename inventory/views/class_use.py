"""How many devices each class matches, and which classes match a device."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from inventory.models import Cluster
from inventory.queries.cache import remembered


@dataclass(frozen=True, slots=True)
class ClassUse:
    """Devices that a class matches, by state. ``problem``: why its selector fails."""

    counts: Mapping[str, int] = field(default_factory=dict)
    problem: str = ""

    @property
    def matched(self) -> int:
        return sum(self.counts.values())

    @property
    def free(self) -> int:
        return self.counts.get("free", 0)


@dataclass(frozen=True, slots=True)
class ClassMatch:
    name: str
    matches: bool
    error: str = ""


def class_uses(cluster: Cluster) -> dict[str, ClassUse]:
    """By class name."""
    return remembered("class-uses", cluster, lambda: _count(cluster))


def _count(cluster: Cluster) -> dict[str, ClassUse]:
    return {}


def classes_of_device(
    cluster: Cluster, driver: str, pool: str, name: str
) -> list[ClassMatch]:
    return []
