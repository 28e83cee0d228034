"""What the search sees of a device beside selectors and constraints, as numbers.

Two devices with equal numbers are the same to a search. Each column has one code
per device of a snapshot's table; codes keep their meaning from one snapshot to the
next as long as the column's dictionary is the same object.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Final, NamedTuple, cast

import msgspec
import numpy as np

from dra.allocation.amounts import read_quantity
from dra.allocation.following import changed_uses, following
from dra.cel.columns import Codes, Column, Dictionary
from dra.cel.listing import Listing
from dra.cel.reads import Read
from dra.cel.table import DeviceTable
from dra.errors import DRAError
from dra.names import DeviceID, PoolKey
from dra.objects import Device, DeviceTaintRule
from dra.snapshot import Snapshot
from dra.taints import TaintRules
from dra.usage import Holder, InUse, PoolUse

UNHELD: Final = 0


class Kind(NamedTuple):
    """A device without its name and its attributes; ``draws``: from counters."""

    content: bytes
    draws: bool


def kinds(listing: Listing) -> Column:
    """The kind of each device. Made for :meth:`DeviceTable.made_by`."""
    dictionary = Dictionary(lambda raw: raw, lambda raw: raw)
    codes_by_parts: dict[tuple[object, ...], int] = {}
    codes = []
    for device in listing.devices:
        # Equal parts of devices are one object (dra.sharing): looking at their
        # identity saves writing out nearly all of them.
        parts = (
            id(device.capacity),
            id(device.consumes_counters),
            id(device.taints),
            id(device.binding_conditions),
            id(device.node_selector),
            device.node_name,
            device.all_nodes,
            device.binds_to_node,
            device.allow_multiple_allocations,
        )
        code = codes_by_parts.get(parts)
        if code is None:
            (found,) = dictionary.encode([_kind(device)]).tolist()
            code = codes_by_parts[parts] = found
        codes.append(code)
    return Column(Read("kind"), np.array(codes, np.int32), dictionary)


def _kind(device: Device) -> Kind:
    parts = (
        device.capacity,
        device.consumes_counters,
        device.taints,
        device.binding_conditions,
        device.node_selector,
        device.node_name,
        device.all_nodes,
        device.binds_to_node,
        device.allow_multiple_allocations,
    )
    return Kind(msgspec.msgpack.encode(parts), bool(device.consumes_counters))


class Use(NamedTuple):
    """What holders of a device mean to a search.

    ``alone``: one of them has it to itself. ``consumed`` is what shares consume, in
    nano units by capacity. ``drawn``: a share with consumed capacity exists.
    ``odd`` is the device itself where that cannot be read.
    """

    alone: bool
    consumed: tuple[tuple[str, int], ...] = ()
    drawn: bool = False
    odd: DeviceID | None = None


class Uses:
    """The use of every device of one snapshot; ``codes[row]`` into ``known``."""

    def __init__(self, table: DeviceTable, in_use: InUse, earlier: Uses | None) -> None:
        self.table = table
        self.in_use = in_use
        follows = earlier is not None and earlier.table is table
        self._places: dict[Use | None, int] = {None: UNHELD}
        self.known: list[Use | None] = [None]
        if follows:
            assert earlier is not None
            self._places, self.known = earlier._places, earlier.known
        old: Mapping[PoolKey, PoolUse] = {}
        self.codes: Codes = np.zeros(len(table), np.int32)
        if follows:
            assert earlier is not None
            old, self.codes = earlier.in_use.by_pool, earlier.codes.copy()
        self._patch(old)

    def _patch(self, old: Mapping[PoolKey, PoolUse]) -> None:
        for key, before, after in changed_uses(old, self.in_use.by_pool):
            rows = self.table.listing.rows_of(key)
            for name in before.holders:
                at = rows.get(name)
                if at is not None:
                    self.codes[at] = UNHELD
            for name, holders in after.holders.items():
                at = rows.get(name)
                if at is not None:
                    self.codes[at] = self._code(use_of(key, name, holders))

    def _code(self, use: Use) -> int:
        code = self._places.get(use)
        if code is None:
            self.known.append(use)
            code = self._places[use] = len(self.known) - 1
        return code


def use_of(key: PoolKey, name: str, holders: Sequence[Holder]) -> Use:
    shares = [h.result for h in holders if h.result.share_id is not None]
    alone = len(shares) < len(holders)
    total: dict[str, int] = {}
    try:
        for result in shares:
            for capacity, raw in (result.consumed_capacity or {}).items():
                amount = read_quantity(raw, capacity).nanos
                total[capacity] = total.get(capacity, 0) + amount
    except DRAError:
        return Use(alone, odd=DeviceID(key.driver, key.name, name))
    drawn = any(result.consumed_capacity for result in shares)
    return Use(alone, tuple(sorted(total.items())), drawn)


def uses_of(snapshot: Snapshot, table: DeviceTable) -> Uses:
    """The uses of a snapshot's devices; follows those of an earlier snapshot."""
    return following(snapshot, table, "uses", Uses)


class RuleTaints(NamedTuple):
    """The taints that rules put on each device: a code per device, and its meaning.

    ``rules`` and ``table`` are what they were worked out from.
    """

    rules: Mapping[str, DeviceTaintRule]
    table: DeviceTable
    codes: Codes
    meanings: list[Hashable]


def rule_taints(snapshot: Snapshot, table: DeviceTable) -> RuleTaints | None:
    """None when there is no rule."""
    if not snapshot.taint_rules:
        return None
    memo = snapshot.device_tables.memo
    found = cast("RuleTaints | None", memo.get("rule taints"))
    if (
        found is None
        or found.rules is not snapshot.taint_rules
        or found.table is not table
    ):
        found = memo["rule taints"] = _rule_taints(snapshot, table)
    return found


def _rule_taints(snapshot: Snapshot, table: DeviceTable) -> RuleTaints:
    rules = TaintRules(snapshot.taint_rules.values())
    codes: Codes = np.zeros(len(table), np.int32)
    places: dict[Hashable, int] = {(): 0}
    for key in table.listing.starts:
        rows = table.listing.rows_of
        for name, taints in rules.for_pool(snapshot.pools[key]).items():
            meaning = tuple((t.key, t.value, t.effect) for t in taints)
            codes[rows(key)[name]] = places.setdefault(meaning, len(places))
    return RuleTaints(snapshot.taint_rules, table, codes, list(places))
