"""The two questions people ask: does it fit here, and where does it fit."""

from __future__ import annotations

import contextlib
import dataclasses
import uuid
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from dra.allocation import reasons
from dra.allocation.booking import Bookings
from dra.allocation.counts import count
from dra.allocation.errors import INVALID_POOLS, AllocationError
from dra.allocation.features import DEFAULT, Features
from dra.allocation.matching import Matcher, judge_all
from dra.allocation.metering import Meter, OutOfBudgetError
from dra.allocation.outcome import (
    DEFAULT_BUDGET,
    Budget,
    DoesNotFit,
    Fits,
    GaveUp,
    Outcome,
)
from dra.allocation.quirks import Mode, Quirk, of_mode
from dra.allocation.reasons import NodeCounts
from dra.allocation.request import Plan, make_plan, with_defaults
from dra.allocation.result import assemble
from dra.allocation.search import Search, Solution
from dra.errors import SelectorError
from dra.names import PoolKey
from dra.objects import Node, ResourceClaim
from dra.pools import NodePool, pools_for_node
from dra.snapshot import Snapshot
from dra.taints import TaintRules

_FEW_NODES: Final = 4
"""Where so many nodes did not fit many more may not: selectors are evaluated on all
devices at once then."""


def allocate(
    snapshot: Snapshot,
    claims: Sequence[ResourceClaim],
    node_name: str,
    *,
    features: Features = DEFAULT,
    quirks: Mode = "none",
    budget: Budget = DEFAULT_BUDGET,
) -> Outcome:
    """Devices for ``claims``, all of them, on one node.

    The claims are those of one pod in its order and not allocated yet, with the
    API's defaults filled in where they lack them; what the snapshot's allocated claims hold is in use. ``Fits`` has one AllocationResult
    per claim and is the first solution in the reference's order; nothing is
    remembered, so the caller must write it down. ``DoesNotFit`` and ``GaveUp``
    are answers, not errors.

    Raises AllocationError for bad input, ``node_only`` when only this node is
    concerned; NotSupportedError for something the engine does not know.
    """
    question = Question(
        snapshot,
        [with_defaults(claim) for claim in claims],
        features=features,
        quirks=quirks,
        budget=budget,
    )
    return question.on_node(node_name)


def place(
    snapshot: Snapshot,
    claims: Sequence[ResourceClaim],
    *,
    node_names: Sequence[str] | None = None,
    features: Features = DEFAULT,
    quirks: Mode = "none",
    budget: Budget = DEFAULT_BUDGET,
) -> Outcome:
    """The first of ``node_names`` on which all ``claims`` fit.

    Without names: every node of the snapshot by name, cordoned and unready ones
    left out. An error on one node does not hide another that fits, except with
    quirks "1.36", where it ends the attempt as it does in that scheduler; when
    none fits, the first error is raised. ``GaveUp`` when the budget ended first.
    """
    question = Question(
        snapshot,
        [with_defaults(claim) for claim in claims],
        features=features,
        quirks=quirks,
        budget=budget,
    )
    names = schedulable(snapshot.nodes.values()) if node_names is None else node_names
    return question.on_first_of(names)


def schedulable(nodes: Iterable[Node]) -> list[str]:
    """Names of the nodes that take new pods, sorted."""
    return sorted(n.metadata.name for n in nodes if _takes_pods(n))


def _takes_pods(node: Node) -> bool:
    if node.spec.unschedulable or node.metadata.deletion_timestamp:
        return False
    return all(
        condition.status == "True"
        for condition in node.status.conditions or ()
        if condition.type == "Ready"
    )


class Question:
    """One set of claims against one snapshot, for one node after another.

    The budget is for all nodes together.
    """

    def __init__(
        self,
        snapshot: Snapshot,
        claims: Sequence[ResourceClaim],
        *,
        features: Features = DEFAULT,
        quirks: Mode = "none",
        budget: Budget = DEFAULT_BUDGET,
        new_share_id: Callable[[], str] | None = None,
    ) -> None:
        self.snapshot = snapshot
        self.features = features
        self.quirks = of_mode(quirks)
        self.classic = Quirk.CLASSIC_ALLOCATOR in self.quirks and not (
            features.device_binding_and_status
            or features.consumable_capacity
            or features.list_type_attributes
        )
        self.meter = Meter(budget)
        self.new_share_id = new_share_id or _random_share_id
        self.plan: Plan = make_plan(
            claims, snapshot.classes, features, distinct_allowed=not self.classic
        )
        self.taint_rules = TaintRules(snapshot.taint_rules.values())

    def on_node(self, node_name: str) -> Outcome:
        """As :func:`allocate`."""
        outcome = self._try(node_name)
        if outcome is None:
            return DoesNotFit(node_name, self._why([node_name]))
        return outcome

    def _why(
        self, node_names: Sequence[str], error: AllocationError | None = None
    ) -> str:
        """Why no node fits, as far as counts tell."""
        found: dict[str, NodeCounts] = {}
        for name in node_names:
            with contextlib.suppress(AllocationError):
                search = self._search(name)
                search.check()
                found[name] = {
                    ask: count(search, claim, ask)
                    for claim in self.plan.claims
                    for request in claim.requests
                    for ask in request.alternatives
                }
        if not node_names:
            return "There is no node to try: none is ready and takes new pods."
        skipped = len(node_names) - len(found)
        text = reasons.of_nodes(self.plan, found) if found else "No node has an answer."
        if skipped and error is not None:
            text += f" {skipped:,} more could not be asked: {error}."
        return text

    def on_first_of(self, node_names: Sequence[str]) -> Outcome:
        """As :func:`place`."""
        first_error: AllocationError | None = None
        for tried, name in enumerate(node_names):
            if tried == _FEW_NODES:
                self._judge()
            try:
                outcome = self._try(name)
            except AllocationError as error:
                ends = Quirk.ERROR_ENDS_ATTEMPT in self.quirks
                if self.plan.problem is not None or (ends and not error.node_only):
                    raise
                if first_error is None or first_error.node_only > error.node_only:
                    first_error = error
                continue
            if outcome is not None:
                return outcome
        if first_error is not None and not first_error.node_only:
            raise first_error
        return DoesNotFit("", self._why(node_names, first_error))

    def _judge(self) -> None:
        """Evaluate the selectors on all devices at once."""
        chains = [
            ask.chain
            for claim in self.plan.claims
            for request in claim.requests
            for ask in request.alternatives
        ]
        judge_all(chains, self.snapshot, lists=self.features.list_type_attributes)

    def _try(self, node_name: str) -> Fits | GaveUp | None:
        try:
            self.meter.look()
            search = self._search(node_name)
            search.check()
            found = search.run()
        except OutOfBudgetError as error:
            return GaveUp(node_name, error.steps, reasons.gave_up(error.steps))
        if found is not None:
            return self._fits(node_name, found)
        if any(pool.invalid for pool in search.pools):
            raise AllocationError(_invalid(search.pools), node_only=True)
        return None

    def _search(self, node_name: str) -> Search:
        node = self.snapshot.nodes.get(node_name)
        if node is None:
            raise AllocationError(f"node {node_name} does not exist")
        pools = self._pools(node)
        return Search(
            plan=self.plan,
            pools=pools,
            matcher=Matcher(node, self.features),
            bookings=Bookings(
                self.snapshot.in_use,
                pools,
                self.taint_rules,
                self.features,
                self.quirks,
            ),
            features=self.features,
            quirks=self.quirks,
            meter=self.meter,
        )

    def _pools(self, node: Node) -> tuple[NodePool, ...]:
        try:
            pools = pools_for_node(
                self.snapshot,
                node,
                self.features,
                foreign_counters=Quirk.COUNTER_POOLS_EVERYWHERE in self.quirks,
            )
        except SelectorError as error:
            raise AllocationError(
                f"gather pool information: failed to perform node selection: {error}"
            ) from error
        if Quirk.NEWER_GENERATION_UNSEEN not in self.quirks:
            newest = self.snapshot.pools
            pools = tuple(
                pool
                for pool in pools
                if pool.generation == newest[_key(pool)].generation
            )
        if self.classic:
            pools = tuple(self._as_listed(pool) for pool in pools)
        return pools

    def _as_listed(self, pool: NodePool) -> NodePool:
        """The pool with its slices in the order in which they came."""
        came = [s.metadata.name for s in self.snapshot.pools[_key(pool)].arrival]
        order = {name: place for place, name in enumerate(came)}
        slices = sorted(pool.slices, key=lambda s: order[s.metadata.name])
        return dataclasses.replace(pool, slices=tuple(slices))

    def _fits(self, node_name: str, found: Solution) -> Fits:
        allocations = [
            assemble(
                claim,
                found.chosen[index],
                [p for p in found.picks if p.ask.claim_index == index],
                node_name=node_name,
                features=self.features,
                quirks=self.quirks,
                new_share_id=self.new_share_id,
            )
            for index, claim in enumerate(self.plan.claims)
        ]
        return Fits(node_name, tuple(allocations))


def _key(pool: NodePool) -> PoolKey:
    return PoolKey(pool.driver, pool.name)


def _random_share_id() -> str:
    return str(uuid.uuid4())


def _invalid(pools: Sequence[NodePool]) -> str:
    named = [f"{p.driver}/{p.name}: {p.invalid}" for p in pools if p.invalid]
    return f"{INVALID_POOLS} ({'; '.join(named)})"
