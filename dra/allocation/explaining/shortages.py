"""What is short on a device that would match: counters or capacity, in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import lru_cache

from dra.allocation.capacity import share_of
from dra.allocation.counts import Standing
from dra.allocation.request import Ask
from dra.allocation.search import Search
from dra.allocation.views import Candidate
from dra.objects import DeviceCapacity
from dra.quantity import Format, Quantity, read

type Shortage = tuple[Standing, str, str]
"""Standing, name of the counter or capacity, in words how much."""
type Shortages = Counter[Shortage]
"""Devices by what is short."""


def shortage_of(
    search: Search, ask: Ask, candidate: Candidate, standing: Standing
) -> Iterator[Shortage]:
    """Of a device with this standing; several where several counters are short."""
    if standing is Standing.NO_COUNTERS:
        for (set_name, counter), missing in search.bookings.counters.shortage(
            candidate
        ).items():
            yield standing, f"{counter} of {set_name}", f"{_text(missing)} short"
    elif standing is Standing.NO_CAPACITY:
        yield standing, *_capacity_shortage(search, ask, candidate)


def _capacity_shortage(
    search: Search, ask: Ask, candidate: Candidate
) -> tuple[str, str]:
    """The first capacity that the device lacks, and in words how."""
    published = candidate.device.capacity or {}
    unknown = next((name for name in ask.capacity if name not in published), None)
    if unknown is not None:
        return unknown, "not published by the device"
    share = share_of(ask, candidate)
    if share is None:
        return _refused_amount(ask, published)
    used = search.bookings.used(candidate)
    for name, amount in share.amounts.items():
        left = share.totals[name] - used.get(name, 0)
        if amount.nanos > left:
            return name, f"{_text(amount.nanos)} wanted, {_text(left)} left"
    return "", ""


def _refused_amount(
    ask: Ask, published: Mapping[str, DeviceCapacity]
) -> tuple[str, str]:
    """The capacity of which the device's policy does not give out what is asked."""
    for name, wanted in ask.capacity.items():
        policy = published[name].request_policy
        limits = policy.valid_range if policy else None
        if limits and limits.max is not None and read(limits.max) < read(wanted):
            return name, f"{wanted} wanted, more than the most it gives, {limits.max}"
    names = ", ".join(ask.capacity)
    return names, "the device's policy does not give out such an amount"


@lru_cache(maxsize=1024)
def _text(nanos: int) -> str:
    whole, rest = divmod(nanos, 10**9)
    if rest:
        return str(read(f"{nanos}n"))
    spellings = (str(Quantity.of(whole, f)) for f in (Format.DECIMAL, Format.BINARY))
    return min(spellings, key=len)
