"""Which attributes devices have, with their values counted."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Final

from inventory.models import Cluster, Device
from inventory.queries.cache import remembered

MAX_VALUES: Final = 40
"""An attribute with more values than this tells devices apart; it is no facet."""

FEW_VALUES: Final = 8
_STOP_AT: Final = 5_000


@dataclass(frozen=True, slots=True)
class Facet:
    """An attribute or capacity by qualified name, its values by frequency."""

    name: str
    values: tuple[tuple[str, int], ...]

    @property
    def domain(self) -> str:
        return self.name.rpartition("/")[0]

    @property
    def short(self) -> str:
        return self.name.rpartition("/")[2]


@dataclass(frozen=True, slots=True)
class Facets:
    """``unique``: names whose values are too many to list (UUIDs, addresses)."""

    facets: tuple[Facet, ...]
    unique: tuple[str, ...]
    devices: int


def facets(cluster: Cluster) -> Facets:
    """Of all devices of the cluster; reads them once, remembered for a while."""
    return remembered("facets", cluster, lambda: _count(cluster))


def _count(cluster: Cluster) -> Facets:
    counters: dict[str, Counter[str]] = {}
    too_many: set[str] = set()
    devices = 0
    rows = Device.objects.filter(cluster=cluster).values_list("facts", flat=True)
    for facts in rows.iterator(chunk_size=2000):
        devices += 1
        for line in facts.split("\n"):
            name, equals, value = line.partition("=")
            if not equals or name in too_many:
                continue
            counter = counters.setdefault(name, Counter())
            counter[value] += 1
            if len(counter) > _STOP_AT:
                too_many.add(name)
    found = []
    for name in sorted(counters):
        if name in too_many or _tells_apart(counters[name]):
            too_many.add(name)
        else:
            values = sorted(
                counters[name].items(), key=lambda pair: (-pair[1], pair[0])
            )
            found.append(Facet(name, tuple(values)))
    return Facets(tuple(found), tuple(sorted(too_many)), devices)


def _tells_apart(values: Counter[str]) -> bool:
    """Whether (nearly) every device has a value of its own."""
    many = len(values) > FEW_VALUES and len(values) * 2 > values.total()
    return many or len(values) > MAX_VALUES
