"""Capacities that a request could ask for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import msgspec

from claims.authoring.choices.asks import Ask, table_of, wanted
from claims.authoring.choices.kinds import Kind, kinds_of
from claims.authoring.choices.memory import remembered
from claims.authoring.choices.policies import first_amount, policy_words
from claims.authoring.choices.words import counted
from dra import quantity
from dra.allocation import DEFAULT, Features
from dra.errors import QuantityError
from dra.familiar_names import PREFERRED
from dra.objects import DeviceCapacity
from dra.quantity import Quantity
from dra.snapshot import Snapshot

MOST: Final = 64
"""Capacities in one answer."""
MOST_OFFERS: Final = 16
"""Offers of one capacity that are told apart."""
_SHOWN: Final = 2


@dataclass(frozen=True, slots=True)
class Offer:
    """``devices`` that have the same of one capacity under the same policy.

    ``policy`` says in words which amounts there are. Several claims can have shares
    of a device that is ``shareable``; otherwise an amount is what the device must
    have at least. ``capacity`` is what :func:`rounded` asks for.
    """

    value: str
    policy: str
    shareable: bool
    devices: int
    capacity: DeviceCapacity


@dataclass(frozen=True, slots=True)
class CapacityChoice:
    """One capacity, ``name`` as the devices write it: the scheduler compares texts.

    ``having`` of the ``devices`` that match have it, ``shareable`` of these allow
    several allocations. Devices have from ``least`` to ``most``. ``start`` is an
    amount to begin with. ``offers`` are the different ones, those of most devices
    first.
    """

    name: str
    having: int
    devices: int
    shareable: int
    least: str
    most: str
    start: str
    offers: tuple[Offer, ...]
    sentence: str


def capacity_choices(
    snapshot: Snapshot, ask: Ask, features: Features = DEFAULT
) -> list[CapacityChoice]:
    """The capacities of the devices that match, those that most devices have first.

    Shareable ones come before others, and what people usually ask for before the rest. Empty where no device matches.
    """
    table = table_of(snapshot, features)
    devices = wanted(snapshot, ask, features)
    return list(
        remembered(
            table,
            ("capacities", ask.class_name, ask.selectors, features.consumable_capacity),
            (devices,),
            lambda: _choices(
                kinds_of(table, devices.rows),
                len(devices),
                shares=features.consumable_capacity,
            ),
        )
    )


def _choices(
    kinds: list[Kind], devices: int, *, shares: bool
) -> tuple[CapacityChoice, ...]:
    by_name: dict[str, dict[bytes, Offer]] = {}
    for kind in kinds:
        shareable = shares and bool(kind.device.allow_multiple_allocations)
        for name, capacity in (kind.device.capacity or {}).items():
            offers = by_name.setdefault(name, {})
            key = msgspec.msgpack.encode((capacity, shareable))
            before = offers[key].devices if key in offers else 0
            offers[key] = Offer(
                value=str(capacity.value),
                policy=policy_words(capacity),
                shareable=shareable,
                devices=before + kind.number,
                capacity=capacity,
            )
    found = [
        _choice(name, sorted(offers.values(), key=lambda o: -o.devices), devices)
        for name, offers in by_name.items()
    ]
    found.sort(
        key=lambda c: (not c.shareable, not _is_familiar(c.name), -c.having, c.name)
    )
    return tuple(found[:MOST])


def _is_familiar(name: str) -> bool:
    return name.rpartition("/")[2] in PREFERRED["quantity"]


def _choice(name: str, offers: list[Offer], devices: int) -> CapacityChoice:
    having = sum(offer.devices for offer in offers)
    shareable = sum(offer.devices for offer in offers if offer.shareable)
    sizes = sorted(size for offer in offers if (size := _size(offer.value)) is not None)
    start = next((s for o in offers if (s := first_amount(o.capacity))), "")
    return CapacityChoice(
        name=name,
        having=having,
        devices=devices,
        shareable=shareable,
        least=str(sizes[0]) if sizes else "",
        most=str(sizes[-1]) if sizes else "",
        start=start,
        offers=tuple(offers[:MOST_OFFERS]),
        sentence=_sentence(offers, having, devices, shareable),
    )


def _size(value: str) -> Quantity | None:
    try:
        return quantity.parse(value)
    except QuantityError:
        return None


def _sentence(offers: list[Offer], having: int, devices: int, shareable: int) -> str:
    who = f"All {counted(devices)} that match have it"
    if having < devices:
        who = (
            f"{having:,} of {counted(devices)} that match have it; the others cannot be "
            "taken once it is asked for"
        )
    if not shareable:
        return (
            f"{who}. They are not shared: the amount says how much a device must have "
            "at least."
        )
    gives = list(dict.fromkeys(o.policy for o in offers if o.shareable))
    said = "; or ".join(gives[:_SHOWN])
    if len(gives) > _SHOWN:
        said += f"; and {len(gives) - _SHOWN:,} other ways"
    whom = "They are shared" if shareable == having else f"{shareable:,} are shared"
    return f"{who}. {whom} and give {said}."
