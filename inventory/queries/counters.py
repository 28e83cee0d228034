"""Shared counters of a pool: how much there is, what is taken, by which devices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dra import objects, quantity
from dra.errors import ObjectError, QuantityError
from dra.quantity import Quantity
from inventory.models import Cluster, Device, Pool, ResourceSlice


@dataclass(frozen=True, slots=True)
class Counter:
    """One counter of a set; amounts are written as the driver writes them.

    ``needed`` is what the device in question takes of it, empty on pool pages.
    """

    name: str
    total: str
    taken: str
    left: str
    taken_share: float
    """0 to 1."""
    needed: str = ""
    suffices: bool = True
    """Whether what is left covers ``needed``."""


@dataclass(frozen=True, slots=True)
class CounterSet:
    """A physical device, usually: its counters and the devices cut from it."""

    name: str
    counters: Sequence[Counter]
    devices: Sequence[Device] = field(default_factory=tuple)

    @property
    def taken_by(self) -> list[Device]:
        return [device for device in self.devices if device.holder_count]

    @property
    def lacking(self) -> list[Counter]:
        return [counter for counter in self.counters if not counter.suffices]


@dataclass(frozen=True, slots=True)
class PublishedSet:
    name: str
    counters: Sequence[tuple[str, str]]


def published_sets(raw: Mapping[str, Any]) -> list[PublishedSet]:
    """The counter sets in one slice's JSON; nothing when it cannot be read."""
    try:
        piece = objects.read(raw, objects.ResourceSlice)
    except ObjectError:
        return []
    return [
        PublishedSet(
            shared.name,
            [(name, str(c.value)) for name, c in (shared.counters or {}).items()],
        )
        for shared in piece.spec.shared_counters or ()
    ]


def sets_of_pool(cluster: Cluster, driver: str, pool: str) -> list[CounterSet]:
    """All counter sets of the newest generation, by name; two queries."""
    totals = _totals(cluster, driver, pool)
    if not totals:
        return []
    members = _members(cluster, driver, pool)
    return [
        _use(name, counters, members.get(name, []), None)
        for name, counters in sorted(totals.items())
    ]


def sets_of_device(device: Device) -> list[CounterSet]:
    """The sets that this device draws from, with what it needs of each counter."""
    if not device.counters:
        return []
    names = [str(item.get("counterSet", "")) for item in device.counters]
    totals = _totals(device.cluster, device.driver, device.pool)
    members = _members(device.cluster, device.driver, device.pool)
    return [
        _use(name, totals.get(name, {}), members.get(name, []), device)
        for name in names
    ]


def _totals(cluster: Cluster, driver: str, pool: str) -> dict[str, dict[str, Quantity]]:
    of_pool = Pool.objects.filter(cluster=cluster, driver=driver, name=pool)
    newest = of_pool.values_list("generation", flat=True).first() or 0
    # One that cannot be read counts no set; one with an unreadable quantity does.
    rows = ResourceSlice.objects.filter(
        cluster=cluster,
        driver=driver,
        pool_name=pool,
        generation=newest,
        counter_set_count__gt=0,
    )
    found: dict[str, dict[str, Quantity]] = {}
    for raw in rows.values_list("raw", flat=True):
        piece = objects.read(raw, objects.ResourceSlice)
        for shared in piece.spec.shared_counters or ():
            found[shared.name] = {
                name: _read(counter.value)
                for name, counter in (shared.counters or {}).items()
            }
    return found


def _members(cluster: Cluster, driver: str, pool: str) -> dict[str, list[Device]]:
    """Counter set → devices that draw from it."""
    rows = (
        Device.objects.filter(cluster=cluster, driver=driver, pool=pool)
        .exclude(counters=[])
        .only("name", "driver", "pool", "state", "holder_count", "counters", "position")
        .order_by("slice_id", "position")
    )
    found: dict[str, list[Device]] = {}
    for device in rows:
        for item in device.counters:
            found.setdefault(str(item.get("counterSet", "")), []).append(device)
    return found


def _use(
    name: str,
    totals: Mapping[str, Quantity],
    members: Sequence[Device],
    about: Device | None,
) -> CounterSet:
    taken: dict[str, int] = {}
    for device in members:
        if device.holder_count:
            for counter, amount in _draws(device, name).items():
                taken[counter] = taken.get(counter, 0) + amount.nanos
    needs = _draws(about, name) if about else {}
    names = list(totals) + [counter for counter in needs if counter not in totals]
    return CounterSet(
        name=name,
        counters=[
            _counter(
                counter,
                totals.get(counter, quantity.ZERO),
                taken.get(counter, 0),
                needs.get(counter),
                held=about is not None and about.holder_count > 0,
            )
            for counter in names
        ],
        devices=members,
    )


def _counter(
    name: str, total: Quantity, taken: int, need: Quantity | None, *, held: bool
) -> Counter:
    left = total.nanos - taken
    return Counter(
        name=name,
        total=str(total),
        taken=str(Quantity(taken, total.format)),
        left=str(Quantity(left, total.format)),
        taken_share=min(1.0, max(0.0, taken / total.nanos)) if total.nanos else 0.0,
        needed=str(need) if need is not None else "",
        suffices=held or need is None or need.nanos <= left,
    )


def _draws(device: Device, counter_set: str) -> dict[str, Quantity]:
    return {
        name: _read(counter.get("value") if isinstance(counter, dict) else None)
        for item in device.counters
        if isinstance(item, dict) and item.get("counterSet") == counter_set
        for name, counter in (item.get("counters") or {}).items()
    }


def _read(raw: Any) -> Quantity:
    """A value that does not parse counts as nothing: its pool says so already."""
    try:
        return quantity.read(raw)
    except QuantityError:
        return quantity.ZERO
