"""The two questions people ask: does it fit here, and where does it fit."""

from __future__ import annotations

import contextlib
import uuid
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import cast

from dra.allocation import reasons
from dra.allocation.booking import Bookings
from dra.allocation.choices import Solution
from dra.allocation.classic import without_sharing
from dra.allocation.counts import count
from dra.allocation.errors import INVALID_POOLS, AllocationError
from dra.allocation.features import DEFAULT, Features
from dra.allocation.groups import Pattern, Signature
from dra.allocation.layout import layout_of
from dra.allocation.matching import Matcher
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
from dra.allocation.search import Search
from dra.allocation.sweep import FEW, Finding, NodeAnswers, Sweep, solution_of
from dra.errors import DRAError, NotSupportedError
from dra.node_pools import NodePool
from dra.objects import Node, ResourceClaim
from dra.snapshot import Snapshot
from dra.taints import TaintRules


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
    names = schedulable(snapshot) if node_names is None else node_names
    return question.on_first_of(names)


def schedulable(snapshot: Snapshot) -> Sequence[str]:
    """Names of the nodes that take new pods, sorted."""
    memo = snapshot.device_tables.memo
    found = memo.get("schedulable")
    if found is None or found[0] is not snapshot.nodes:
        nodes = snapshot.nodes.values()
        names = tuple(sorted(n.metadata.name for n in nodes if _takes_pods(n)))
        found = memo["schedulable"] = (snapshot.nodes, names)
    return cast("tuple[str, ...]", found[1])


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
        quirks: Mode | Collection[Quirk] = "none",
        budget: Budget = DEFAULT_BUDGET,
        new_share_id: Callable[[], str] | None = None,
    ) -> None:
        self.features = features
        self.quirks = of_mode(quirks) if isinstance(quirks, str) else frozenset(quirks)
        self.classic = Quirk.CLASSIC_ALLOCATOR in self.quirks and not (
            features.device_binding_and_status
            or features.consumable_capacity
            or features.list_type_attributes
            or features.derived_attributes
            or features.device_compatibility_groups
        )
        self.snapshot = without_sharing(snapshot) if self.classic else snapshot
        self.meter = Meter(budget)
        self.new_share_id = new_share_id or _random_share_id
        self.plan: Plan = make_plan(
            claims, snapshot.classes, features, classic=self.classic
        )
        self.taint_rules = TaintRules(snapshot.taint_rules.values())
        self.layout = layout_of(
            self.snapshot, features, self.quirks, classic=self.classic
        )

    def on_node(self, node_name: str) -> Outcome:
        """As :func:`allocate`."""
        found = self.search(node_name)
        if found is None:
            return DoesNotFit(node_name, self.why([node_name]))
        return found if isinstance(found, GaveUp) else self.fits(node_name, found)

    def on_nodes(self, node_names: Sequence[str]) -> NodeAnswers:
        """The answer of each node, as if it were the only one tried.

        That goes for the budget's steps too, which each node has to itself.
        """
        sweep = Sweep(self, expected=len(node_names))
        findings: dict[str, Finding] = {}
        for name in node_names:
            self.meter.steps = 0
            try:
                findings[name] = sweep.find(name)
            except NotSupportedError as error:
                findings[name] = error
        return NodeAnswers(self, findings)

    def on_first_of(self, node_names: Sequence[str]) -> Outcome:
        """As :func:`place`."""
        found, error = self.first_of(node_names)
        if found is None:
            return DoesNotFit("", self.why(node_names, error))
        return found

    def fits_on_first_of(self, node_names: Sequence[str]) -> Fits | GaveUp | None:
        """The same without a reason, which costs more than the answer."""
        return self.first_of(node_names)[0]

    def first_of(
        self, node_names: Sequence[str]
    ) -> tuple[Fits | GaveUp | None, AllocationError | None]:
        """The first node that fits, and the first error among those that do not.

        Raises as :func:`place`.
        """
        first_error: AllocationError | None = None
        sweep = Sweep(self, expected=1)
        for tried, name in enumerate(node_names):
            if tried == FEW:
                sweep = Sweep(self, expected=len(node_names))
            found = sweep.find(name)
            try:
                if isinstance(found, DRAError):
                    raise found
                if isinstance(found, GaveUp):
                    return found, first_error
                if found is not None:
                    return self.fits(name, found), first_error
            except AllocationError as error:
                ends = Quirk.ERROR_ENDS_ATTEMPT in self.quirks
                if self.plan.problem is not None or (ends and not error.node_only):
                    raise
                if first_error is None or first_error.node_only > error.node_only:
                    first_error = error
        if first_error is not None and not first_error.node_only:
            raise first_error
        return None, first_error

    def why(
        self, node_names: Sequence[str], error: AllocationError | None = None
    ) -> str:
        """Why no node fits, as far as counts tell; nodes that are alike count once."""
        if not node_names and schedulable(self.snapshot):
            return (
                "There is no node to try: the pod may run on none that takes new pods."
            )
        if not node_names:
            return "There is no node to try: none is ready and takes new pods."
        found: dict[str, NodeCounts] = {}
        known: dict[Signature, NodeCounts] = {}
        sweep = Sweep(self, expected=len(node_names))
        for name in node_names:
            with contextlib.suppress(AllocationError):
                signature = sweep.signature(self.layout.view(name))
                counts = None if signature is None else known.get(signature)
                if counts is None:
                    counts = self._counts(name)
                    if signature is not None:
                        known[signature] = counts
                found[name] = counts
        skipped = len(node_names) - len(found)
        return self.reason(found, skipped, error)

    def reason(
        self,
        found: Mapping[str, NodeCounts],
        skipped: int,
        error: AllocationError | None,
    ) -> str:
        """Why no node fits by the counts of all but the ``skipped`` ones."""
        text = reasons.of_nodes(self.plan, found) if found else "No node has an answer."
        if skipped and error is not None:
            text += f" {skipped:,} more could not be asked: {error}."
        return text

    def prepared(self, node_name: str) -> Search:
        """A search on one node that is ready to begin. Raises AllocationError."""
        search = self.unchecked(node_name)
        search.check()
        return search

    def _counts(self, node_name: str) -> NodeCounts:
        search = self.prepared(node_name)
        return {
            ask: count(search, claim, ask)
            for claim in self.plan.claims
            for request in claim.requests
            for ask in request.alternatives
        }

    def search(self, node_name: str) -> Solution | GaveUp | None:
        """What a search on one node finds; None when it does not fit.

        Raises AllocationError.
        """
        try:
            self.meter.look()
            search = self.prepared(node_name)
            found = search.run()
        except OutOfBudgetError as error:
            return GaveUp(node_name, error.steps, reasons.gave_up(error.steps))
        if found is None and any(pool.invalid for pool in search.pools):
            raise AllocationError(_invalid(search.pools), node_only=True)
        return found

    def unchecked(self, node_name: str) -> Search:
        """A search on one node that does not know yet how much is asked for."""
        view = self.layout.view(node_name)
        return Search(
            plan=self.plan,
            pools=view.pools,
            matcher=Matcher(view.node, self.features),
            bookings=Bookings(
                self.snapshot.in_use,
                view.pools,
                self.taint_rules,
                self.features,
                self.quirks,
            ),
            features=self.features,
            quirks=self.quirks,
            meter=self.meter,
        )

    def fits(self, node_name: str, found: Solution | Pattern) -> Fits:
        """The allocations; raises AllocationError when they cannot be written down."""
        if isinstance(found, Pattern):
            found = solution_of(
                found,
                self.layout.view(node_name),
                self.plan,
                sharing=self.features.consumable_capacity,
            )
        allocations = [
            assemble(
                claim,
                found.chosen[index],
                [p for p in found.picks if p.ask.claim_index == index],
                node_name=node_name,
                features=self.features,
                quirks=self.quirks,
                classic=self.classic,
                new_share_id=self.new_share_id,
            )
            for index, claim in enumerate(self.plan.claims)
        ]
        return Fits(node_name, tuple(allocations))


def _random_share_id() -> str:
    return str(uuid.uuid4())


def _invalid(pools: Sequence[NodePool]) -> str:
    named = [f"{p.driver}/{p.name}: {p.invalid}" for p in pools if p.invalid]
    return f"{INVALID_POOLS} ({'; '.join(named)})"
