"""Who holds what: the cluster's claims, and what this search has picked so far."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Collection, Mapping, Sequence

from dra.allocation.amounts import read_quantity
from dra.allocation.capacity import Share, Usage, share_of
from dra.allocation.counters import CounterBook
from dra.allocation.features import Features
from dra.allocation.quirks import Quirk
from dra.allocation.request import Ask
from dra.allocation.views import Candidate
from dra.names import DeviceID, PoolKey
from dra.node_pools import NodePool
from dra.taints import TaintRules, untolerated
from dra.usage import Holder, InUse, PoolUse

_NOTHING: Usage = {}


@dataclasses.dataclass(slots=True, eq=False)
class Pick:
    """One device taken for one request.

    ``share`` is what it consumes when the device is shareable, else None.
    ``charged`` says that this pick, not an earlier share, drew the counters.
    """

    ask: Ask
    candidate: Candidate
    share: Share | None
    charged: bool


class Bookings:
    """The in-use state of one node while a search goes on."""

    def __init__(
        self,
        in_use: InUse,
        pools: Sequence[NodePool],
        taint_rules: TaintRules,
        features: Features,
        quirks: Collection[Quirk],
    ) -> None:
        self.uses: Mapping[tuple[str, str], PoolUse] = {
            (pool.driver, pool.name): in_use.pool(PoolKey(pool.driver, pool.name))
            for pool in pools
        }
        self.taint_rules = taint_rules
        self.features = features
        self.sharing = features.consumable_capacity
        self.counters = CounterBook(
            pools,
            self.uses,
            quirks,
            grouping=features.device_compatibility_groups,
        )
        self.leaks = Quirk.COUNTERS_STAY_BOOKED in quirks
        self.keeps_shared_counters = Quirk.SHARED_COUNTERS_KEPT in quirks
        self.keeps_share_mark = Quirk.SHARE_MARK_KEPT in quirks
        self.admin_blocks = Quirk.ADMIN_PICK_BLOCKS in quirks
        self.ignores_leftovers = Quirk.LEFTOVER_SHARES in quirks
        self.picked: dict[DeviceID, dict[int, bool]] = {}
        """Devices taken alone: claim to whether with admin access."""
        self.shared: dict[DeviceID, list[Share]] = {}
        """Shareable devices: the shares this search took."""
        self.marked: set[DeviceID] = set()
        """Shareable devices whose counters 1.36 takes for drawn by this search."""
        self._used: dict[DeviceID, Usage] = {}

    def fresh(self) -> Bookings:
        """The same before anything was picked."""
        new = copy.copy(self)
        new.counters = self.counters.fresh()
        new.picked, new.shared, new.marked = {}, {}, set()
        return new

    # --- what the cluster's claims hold --------------------------------------

    def holders(self, candidate: Candidate) -> tuple[Holder, ...]:
        device = candidate.id
        return self.uses[device.driver, device.pool].holders.get(device.device, ())

    def is_held(self, candidate: Candidate) -> bool:
        """Whether any claim holds the device, alone or shared."""
        return bool(self.holders(candidate))

    def is_dedicated(self, candidate: Candidate) -> bool:
        """Whether a claim holds the device alone."""
        holders = self.holders(candidate)
        if not holders:
            return False
        return not self.sharing or any(h.result.share_id is None for h in holders)

    def used(self, candidate: Candidate) -> Usage:
        """Capacity that shares of the cluster's claims consume."""
        holders = self.holders(candidate)
        if not holders or not self.sharing:
            return _NOTHING
        found = self._used.get(candidate.id)
        if found is None:
            found = self._used[candidate.id] = _consumed(holders)
        return found

    # --- may the device be taken? --------------------------------------------

    def is_shareable(self, candidate: Candidate) -> bool:
        return self.sharing and candidate.shareable

    def is_free(self, ask: Ask, candidate: Candidate) -> bool:
        """Whether nobody stands in the way, capacity left aside."""
        picked = self.picked.get(candidate.id)
        if ask.admin:
            return picked is None or ask.claim_index not in picked
        if self.is_dedicated(candidate):
            return False
        if (
            not self.ignores_leftovers
            and not self.is_shareable(candidate)
            and self.is_held(candidate)
        ):
            return False
        if not picked:
            return True
        if self.admin_blocks or ask.claim_index in picked:
            return False
        return all(picked.values())

    def has_room(self, ask: Ask, candidate: Candidate) -> bool:
        """Whether the device has the capacity that ``ask`` wants, right now."""
        if not self.sharing:
            return True
        share = share_of(ask, candidate)
        if share is None:
            return False
        used = self.used(candidate)
        ours = self.shared.get(candidate.id)
        if not ours:
            return share.fits(used)
        return share.fits(used, _total(ours))

    def times(self, asks: Collection[Ask], candidate: Candidate) -> int:
        """How often requests of one claim can have the device now, at most.

        Each of them has it once; capacity left aside, nothing limits a shareable one.
        """
        if not self.is_shareable(candidate):
            return 1
        least: dict[str, int] = {}
        left: dict[str, int] = {}
        ours = _total(self.shared.get(candidate.id, ()))
        used = self.used(candidate)
        for ask in asks:
            share = share_of(ask, candidate)
            for name, amount in ({} if share is None else share.amounts).items():
                assert share is not None
                least[name] = min(amount.nanos, least.get(name, amount.nanos))
                left[name] = share.totals[name] - used.get(name, 0) - ours.get(name, 0)
        limits = [left[name] // amount for name, amount in least.items() if amount > 0]
        return max(0, min([len(asks), *limits]))

    def is_kept_away(self, ask: Ask, candidate: Candidate) -> bool:
        """Whether a taint, its own or a rule's, prevents this request's use."""
        if not self.features.device_taints:
            return False
        rules = self.taint_rules.for_device(candidate.id)
        taints = (*(candidate.device.taints or ()), *(r.taint for r in rules))
        return untolerated(taints, ask.tolerations) is not None

    def has_counters(self, ask: Ask, candidate: Candidate) -> bool:
        """Whether its pool's counters leave room for the device, right now."""
        if not candidate.device.consumes_counters:
            return True
        if not self.features.partitionable_devices:
            return False
        share = share_of(ask, candidate) if self.is_shareable(candidate) else None
        if share is not None and self._is_drawn(candidate):
            return True
        return self.counters.fits(candidate)

    # --- taking and giving back ----------------------------------------------

    def take(self, ask: Ask, candidate: Candidate) -> Pick | None:
        """Begin to take the device: counters and taints; None when it cannot be.

        Goes on with :meth:`confirm`, or :meth:`reject` when constraints refuse.
        """
        if not self.is_free(ask, candidate):
            return None
        share = share_of(ask, candidate) if self.is_shareable(candidate) else None
        pick = Pick(ask, candidate, share, charged=False)
        if candidate.device.consumes_counters:
            if not self.features.partitionable_devices:
                return None
            if share is None or not self._is_drawn(candidate):
                if not self.counters.book(candidate):
                    return None
                pick.charged = True
        if self.is_kept_away(ask, candidate):
            self.reject(pick)
            return None
        return pick

    def confirm(self, pick: Pick) -> bool:
        """Take the device for good unless its capacity went meanwhile."""
        if not self.has_room(pick.ask, pick.candidate):
            return False
        device = pick.candidate.id
        if pick.share is not None:
            self.shared.setdefault(device, []).append(pick.share)
            self.marked.add(device)
        else:
            self.picked.setdefault(device, {})[pick.ask.claim_index] = pick.ask.admin
        return True

    def reject(self, pick: Pick) -> None:
        """Give back what :meth:`take` booked."""
        if pick.charged and not self.leaks:
            self.counters.give_back(pick.candidate)

    def undo(self, pick: Pick) -> None:
        """Give back a device that was taken; the latest first."""
        device = pick.candidate.id
        if pick.share is None:
            del self.picked[device][pick.ask.claim_index]
        else:
            left = self.shared[device]
            left.pop()
            if pick.share.amounts and not any(_total(left).values()):
                self.marked.discard(device)
        if pick.charged and not (self.keeps_shared_counters and pick.share is not None):
            self.counters.give_back(pick.candidate)

    def _is_drawn(self, candidate: Candidate) -> bool:
        """Whether a share that exists already drew the device's counters."""
        device = candidate.id
        if self.keeps_share_mark:
            return device in self.marked or any(
                h.result.share_id is not None and h.result.consumed_capacity is not None
                for h in self.holders(candidate)
            )
        return bool(self.shared.get(device)) or self.is_held(candidate)


def _consumed(holders: Sequence[Holder]) -> Usage:
    total: dict[str, int] = {}
    for holder in holders:
        result = holder.result
        if result.share_id is None:
            continue
        where = f"claim {holder.namespace}/{holder.claim}, consumed capacity"
        for name, raw in (result.consumed_capacity or {}).items():
            amount = read_quantity(raw, f"{where} {name}").nanos
            total[name] = total.get(name, 0) + amount
    return total


def _total(shares: Sequence[Share]) -> Usage:
    total: dict[str, int] = {}
    for share in shares:
        for name, amount in share.amounts.items():
            total[name] = total.get(name, 0) + amount.nanos
    return total
