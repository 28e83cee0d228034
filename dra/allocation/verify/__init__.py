"""An independent check of allocations: is this what the rules allow?

Written from the rules a second time and sharing no code with the search, so that
a fault in one shows in the other. It says what is wrong with an allocation; it
does not say whether another one would have been preferred.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dra.allocation.features import DEFAULT, Features
from dra.allocation.verify.agreement import check_constraints
from dra.allocation.verify.assembly import (
    check_admin_namespace,
    check_config,
    check_copies,
    check_nodes,
)
from dra.allocation.verify.devices import Judge
from dra.allocation.verify.holdings import held_by_others
from dra.allocation.verify.sharing import (
    Holdings,
    check_capacity,
    check_counters,
    check_devices,
    has_room,
)
from dra.allocation.verify.taken import Taken, check_numbers, chosen, tie
from dra.allocation.verify.violations import Code, Violation
from dra.allocation.verify.wants import Want, Wanted, check_requests, wants_of
from dra.allocation.verify.world import World
from dra.objects import AllocationResult, ResourceClaim
from dra.snapshot import Snapshot

__all__ = ["Code", "Violation", "verify"]


def verify(
    snapshot: Snapshot,
    claims: Sequence[ResourceClaim],
    allocations: Sequence[AllocationResult],
    node_name: str,
    *,
    features: Features = DEFAULT,
) -> tuple[Violation, ...]:
    """What is wrong with giving ``claims`` these ``allocations`` on one node.

    The claims are those of one pod, with one allocation each. They may be in the
    snapshot or not, and allocated there (with these same devices) or not: what they
    hold does not count as in use, what every other claim holds does. The rules are
    those of the API's documentation (quirks "none").

    Empty when nothing is wrong. Raises ValueError when there are not as many
    allocations as claims.
    """
    if len(claims) != len(allocations):
        raise ValueError(f"{len(allocations)} allocations for {len(claims)} claims")
    node = snapshot.nodes.get(node_name)
    if node is None:
        sentence = f"The node {node_name} does not exist."
        return (Violation(Code.NODE_UNKNOWN, "", "", "", sentence),)
    world = World(snapshot, node, features)
    check = _Check(world, claims)
    found = []
    taken: list[Taken] = []
    for index, (claim, allocation) in enumerate(zip(claims, allocations, strict=True)):
        wanted = wants_of(claim, index, snapshot.classes)
        tied, wrong = tie(wanted, allocation, world)
        found += [*wrong, *check.claim(wanted, allocation, tied)]
        taken += tied
    found += check.together(taken)
    return tuple(found)


class _Check:
    """One question: what to check for each claim, and for all of them together."""

    def __init__(self, world: World, claims: Sequence[ResourceClaim]) -> None:
        self.world = world
        self.features = world.features
        self.judge = Judge(self.features, world.snapshot.taint_rules.values())
        self.held: Holdings = held_by_others(
            world.snapshot,
            {(c.metadata.namespace, c.metadata.name) for c in claims},
            {pool.key for pool in world.pools()},
            sharing=self.features.consumable_capacity,
        )

    def claim(
        self, wanted: Wanted, allocation: AllocationResult, taken: Sequence[Taken]
    ) -> Iterator[Violation]:
        yield from self._allocated_otherwise(wanted, allocation)
        yield from check_requests(wanted, self.features)
        yield from check_numbers(wanted, allocation)
        for one in taken:
            for code, words in self.judge.faults(one.want, one.found):
                yield one.violation(code, words)
            yield from check_copies(one, self.features)
        alternatives = chosen(wanted, allocation)
        for want in alternatives or ():
            namespace = wanted.claim.metadata.namespace
            yield from check_admin_namespace(want, namespace, self.world.snapshot)
            if want.everything:
                yield from self._left_out(want, allocation)
        yield from check_constraints(wanted, taken, self.features)
        if alternatives is not None:
            yield from check_config(wanted, allocation, alternatives)
        if len(taken) == len(allocation.devices.results or ()):
            name = self.world.node.metadata.name
            yield from check_nodes(wanted, allocation, taken, name)

    def together(self, taken: Sequence[Taken]) -> Iterator[Violation]:
        yield from check_devices(taken, self.held, self.features)
        yield from check_capacity(taken, self.held, self.features)
        yield from check_counters(taken, self.held, self.features)

    def _allocated_otherwise(
        self, wanted: Wanted, allocation: AllocationResult
    ) -> Iterator[Violation]:
        meta = wanted.claim.metadata
        known = self.world.snapshot.claims.get((meta.namespace, meta.name))
        now = None if known is None else known.status.allocation
        if now is not None and now.devices != allocation.devices:
            yield Violation(
                Code.ALREADY_ALLOCATED,
                wanted.name,
                "",
                "",
                f"The claim {wanted.name} is allocated already, with other devices.",
            )

    def _left_out(
        self, want: Want, allocation: AllocationResult
    ) -> Iterator[Violation]:
        """A request for all devices gets every one that it means, from pools in order."""
        given = {
            (r.driver, r.pool, r.device)
            for r in allocation.devices.results or ()
            if r.request == want.name
        }
        for pool in self.world.pools():
            driver, name = pool.key
            if pool.problem:
                yield want.violation(
                    Code.POOL_UNUSABLE,
                    f"The {want} is for all devices, but pool {driver}/{name} cannot be "
                    f"used: {pool.problem}.",
                )
                continue
            for published in self.world.devices(pool).values():
                if published.id in given or not self.world.reaches(published):
                    continue
                refusal = self.judge.refusal(want, published)
                if refusal is not None:
                    code, words = refusal
                    if code == Code.SELECTOR_ERROR:
                        sentence = f"The device {published.id} {words}."
                        yield want.violation(code, sentence)
                elif not self.features.consumable_capacity or has_room(
                    published.device, want.capacity, self.held.get(published.id, ())
                ):
                    yield want.violation(
                        Code.NOT_ALL_DEVICES,
                        f"The {want} is for all devices, but does not get {published.id}.",
                    )
