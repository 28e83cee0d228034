"""Every way to serve some claims on one node, in the documented order.

Not a search: each choice is written out whole and then checked. Only what the
check says about a single device is used to leave hopeless ones out.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence

from dra.allocation import Features
from dra.allocation.verify import assembly, verify
from dra.allocation.verify.capacity import Amounts, amounts_of
from dra.allocation.verify.devices import Judge
from dra.allocation.verify.holdings import held_by_others
from dra.allocation.verify.sharing import has_room
from dra.allocation.verify.taken import Taken
from dra.allocation.verify.wants import Want, Wanted, wants_of
from dra.allocation.verify.world import Published, SeenPool, World
from dra.objects import (
    AllocationDevices,
    AllocationResult,
    DeviceResult,
    ResourceClaim,
)
from dra.snapshot import Snapshot

Option = tuple[Want, tuple[Published, ...]]


class TooManyError(Exception):
    """There are more ways than somebody would want to try."""


class Ways:
    """The ways to serve ``claims`` on one node; at most ``limit`` of them."""

    def __init__(
        self,
        snapshot: Snapshot,
        claims: Sequence[ResourceClaim],
        node_name: str,
        features: Features,
        *,
        limit: int,
    ) -> None:
        self.snapshot = snapshot
        self.claims = claims
        self.node_name = node_name
        self.features = features
        self.limit = limit
        self.world = World(snapshot, snapshot.nodes[node_name], features)
        self.judge = Judge(features, snapshot.taint_rules.values())
        self.devices = list(self._in_order())
        self.wanted = [
            wants_of(claim, index, snapshot.classes)
            for index, claim in enumerate(claims)
        ]

    def first(self) -> list[AllocationResult] | None:
        """The first way that breaks no rule. Raises TooManyError."""
        for way in self._all():
            allocations = self._write(way)
            if allocations is not None and not verify(
                self.snapshot,
                self.claims,
                allocations,
                self.node_name,
                features=self.features,
            ):
                return allocations
        return None

    def _in_order(self) -> Iterator[Published]:
        def place(pool: SeenPool) -> tuple[bool, tuple[str, str]]:
            devices = self.world.devices(pool).values()
            late = any(p.device.binding_conditions is not None for p in devices)
            return late, pool.key

        for pool in sorted(self.world.pools(), key=place):
            published = self.world.devices(pool)
            for piece in sorted(pool.here, key=lambda s: s.metadata.name):
                for device in piece.spec.devices or ():
                    if not pool.problem and self.world.reaches(published[device.name]):
                        yield published[device.name]

    def _all(self) -> Iterator[list[list[Option]]]:
        """Per claim and request: the alternative and its devices."""
        options = [
            [self._options(wants) for _, wants in wanted.requests]
            for wanted in self.wanted
        ]
        if math.prod(len(o) for of_claim in options for o in of_claim) > self.limit:
            raise TooManyError
        of_claims = [itertools.product(*of_claim) for of_claim in options]
        for way in itertools.product(*of_claims):
            yield [list(of_claim) for of_claim in way]

    def _options(self, wants: Sequence[Want]) -> list[Option]:
        found: list[Option] = []
        for want in wants:
            if want.everything:
                meant = tuple(d for d in self.devices if self._is_meant(want, d))
                found += [(want, meant)] if meant else []
                continue
            able = [d for d in self.devices if not [*self.judge.faults(want, d)]]
            if math.comb(len(able), want.count) > self.limit:
                raise TooManyError
            found += [(want, p) for p in itertools.combinations(able, want.count)]
        return found

    def _is_meant(self, want: Want, published: Published) -> bool:
        if self.judge.refusal(want, published) is not None:
            return False
        if not self.features.consumable_capacity:
            return True
        key = published.pool.key
        held = held_by_others(self.snapshot, (), {key}, sharing=True)
        return has_room(published.device, want.capacity, held.get(published.id, ()))

    def _write(self, way: list[list[Option]]) -> list[AllocationResult] | None:
        ids = itertools.count()
        allocations = []
        for wanted, options in zip(self.wanted, way, strict=True):
            taken = []
            for want, devices in options:
                for published in devices:
                    result = self._result(want, published, f"share-{next(ids)}")
                    if result is None:
                        return None
                    taken.append(Taken(want, result, published))
            allocations.append(self._assemble(wanted, options, taken))
        return [a for a in allocations if a is not None] if all(allocations) else None

    def _result(
        self, want: Want, published: Published, share_id: str
    ) -> DeviceResult | None:
        device = published.device
        shared = self.features.consumable_capacity and bool(
            device.allow_multiple_allocations
        )
        amounts: Amounts | str = amounts_of(want.capacity, device) if shared else {}
        if isinstance(amounts, str):
            return None
        binding = self.features.device_binding_and_status
        return DeviceResult(
            request=want.name,
            driver=published.id.driver,
            pool=published.id.pool,
            device=published.id.device,
            admin_access=True if want.admin else None,
            tolerations=want.body.tolerations or None,
            binding_conditions=(binding and device.binding_conditions) or None,
            binding_failure_conditions=(binding and device.binding_failure_conditions)
            or None,
            share_id=share_id if shared else None,
            consumed_capacity={n: str(a) for n, a in amounts.items()} or None,
        )

    def _assemble(
        self, wanted: Wanted, options: Sequence[Option], taken: Sequence[Taken]
    ) -> AllocationResult | None:
        try:
            selector = assembly.selector_of(taken, self.node_name)
        except ValueError:
            return None
        config = assembly.config_of(wanted, [want for want, _ in options])
        return AllocationResult(
            devices=AllocationDevices(
                results=[one.result for one in taken] or None, config=config or None
            ),
            node_selector=selector,
        )
