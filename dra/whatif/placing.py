"""Placing pods one after another, as the scheduler would."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from typing import Final, Literal, NamedTuple

import msgspec
from msgspec.structs import replace

from dra.allocation.explaining import Explanation, explain
from dra.allocation.outcome import Fits, GaveUp
from dra.allocation.placing import schedulable
from dra.allocation.request import claim_name, with_defaults
from dra.errors import DRAError
from dra.labels import matches_node
from dra.names import PoolKey
from dra.objects import ConsumerReference, DeviceResult, NodeSelector, ResourceClaim
from dra.snapshot import Snapshot
from dra.whatif.board import Board
from dra.whatif.consumers import PODS, Consumer
from dra.whatif.node_taints import without_passing
from dra.whatif.scenario import Policy
from dra.whatif.scoring import taken_part
from dra.whatif.world import World, released

MOST_CONSUMERS: Final = 256
"""Entries that ``status.reservedFor`` holds."""
_MOST_BOARDS: Final = 64


@dataclasses.dataclass(frozen=True, slots=True)
class Unit:
    """What goes to one node together: the claims of a pod, or a claim by itself.

    ``claims`` are in the pod's order; those that are allocated decide which nodes
    are left. ``allowed`` are the only nodes to use, None: all. ``problem``: why it can
    go nowhere, in a sentence.
    """

    name: str
    pod: Consumer | None
    claims: tuple[ResourceClaim, ...]
    allowed: frozenset[str] | None = None
    problem: str = ""


def kind_of(unit: Unit) -> bytes:
    """The same for units that ask the same of the same nodes."""
    waiting = [c.spec for c in unit.claims if c.status.allocation is None]
    bound = [
        c.status.allocation.node_selector
        for c in unit.claims
        if c.status.allocation is not None
    ]
    allowed = None if unit.allowed is None else sorted(unit.allowed)
    return msgspec.msgpack.encode((waiting, bound, allowed))


@dataclasses.dataclass(frozen=True, slots=True)
class Placed:
    """``claims`` are those that got devices now, as they are written down; ``freed``
    are those of them that had others before, as they were."""

    unit: Unit
    node: str
    claims: tuple[ResourceClaim, ...]
    freed: tuple[ResourceClaim, ...] = ()


@dataclasses.dataclass(frozen=True, slots=True)
class Refused:
    """``reason`` is empty for what simply does not fit (:meth:`Placer.explain`)."""

    unit: Unit
    verdict: Literal["does not fit", "undecided", "refused"]
    reason: str = ""


class Stuck(NamedTuple):
    """What could not be placed; ``snapshot`` if the cluster is no longer as it was."""

    refused: Refused
    snapshot: Snapshot | None = None


class Placer:
    """Places units in a world and writes down what they get."""

    def __init__(self, world: World, policy: Policy) -> None:
        self.world = world
        self.policy = policy
        self.names = schedulable(world.snapshot)
        self._well = without_passing(world.snapshot)
        self._boards: dict[bytes, Board] = {}
        self._reach: dict[int, tuple[NodeSelector, frozenset[str]]] = {}

    def place(self, unit: Unit, *, expected: int = 1) -> Placed | Refused:
        """``expected``: how many units like this one are going to be placed.

        Of a pod that fits nowhere the scheduler takes back the claims that bind it to
        nodes and that no other pod uses, one after another, and tries again. Source:
        PostFilter of the plugin DynamicResources of Kubernetes 1.36.
        """
        found = self._place(unit, expected)
        if not isinstance(found, Refused) or found.verdict != "does not fit":
            return found
        freed: list[ResourceClaim] = []
        for claim in filter(self._binds, unit.claims):
            if not _is_free_for(claim, unit.pod):
                continue
            freed.append(claim)
            self._tell(self._nodes_of(self.world.take_back(claim)), None)
            claims = tuple(released(c) if c in freed else c for c in unit.claims)
            anew = self._place(dataclasses.replace(unit, claims=claims), expected)
            if isinstance(anew, Placed):
                self.world.notes += _notes_on(unit, freed)
                return dataclasses.replace(anew, freed=tuple(freed))
        for claim in freed:
            self._tell(self._nodes_of(self.world.hold(claim)), None)
        return found

    def _binds(self, claim: ResourceClaim) -> bool:
        """Whether there are nodes where what the claim has cannot be used."""
        allocation = claim.status.allocation
        if allocation is None or allocation.node_selector is None:
            return False
        return not self._reached(allocation.node_selector).issuperset(self.names)

    def _place(self, unit: Unit, expected: int) -> Placed | Refused:
        if unit.problem:
            return Refused(unit, "refused", unit.problem)
        waiting = [c for c in unit.claims if c.status.allocation is None]
        allowed = self.allowed(unit)
        for claim in unit.claims:
            obstacle = _obstacle(claim, unit)
            if obstacle:
                return Refused(unit, "refused", obstacle)
            allocation = claim.status.allocation
            if allocation is not None and allocation.node_selector is not None:
                try:
                    reach = self._reached(allocation.node_selector)
                except DRAError as error:
                    return Refused(unit, "refused", f"{claim_name(claim)}: {error}")
                allowed = reach if allowed is None else allowed & reach
        if not waiting:
            return self._join(unit, allowed)
        board = self._board(waiting, expected)
        try:
            found = board.first(allowed)
        except DRAError as error:
            return Refused(unit, "refused", f"It cannot be scheduled: {error}.")
        if isinstance(found, GaveUp):
            return Refused(unit, "undecided", found.reason)
        if found is None:
            return Refused(unit, "does not fit", _nowhere(unit, waiting, allowed))
        return self._write_down(unit, waiting, found, board)

    def allowed(self, unit: Unit) -> frozenset[str] | None:
        """The nodes that a unit may use by its own rules, None: all. One without rules
        keeps off nodes with passing taints; a pod's own rules know its tolerations."""
        return self._well if unit.allowed is None else unit.allowed

    def explain(
        self, unit: Unit, *, snapshot: Snapshot | None = None, relax: bool = False
    ) -> Explanation:
        """Why the claims of a unit that wait do not fit, as things are or were in an
        earlier ``snapshot`` of this run; ``relax``: and which changes would help.
        """
        waiting = [c for c in unit.claims if c.status.allocation is None]
        names = self.names
        for claim in unit.claims:
            allocation = claim.status.allocation
            if allocation is not None and allocation.node_selector is not None:
                reach = self._reached(allocation.node_selector)
                names = [name for name in names if name in reach]
        allowed = self.allowed(unit)
        if allowed is not None:
            names = [name for name in names if name in allowed]
        return explain(
            snapshot or self.world.snapshot,
            waiting,
            node_names=names,
            features=self.world.features,
            quirks=self.world.quirks,
            relax=relax,
            compare=False,
            stop=self.world.stop,
        )

    def go_back(self, snapshot: Snapshot, placed: Sequence[Placed]) -> None:
        """Undo ``placed``, the latest, all of which came after ``snapshot``."""
        pools = {
            (result.driver, result.pool)
            for one in placed
            for claim in (*one.claims, *one.freed)
            for result in _results(claim)
        }
        for one in placed:
            for note in _notes_on(one.unit, one.freed):
                self.world.notes.remove(note)
        self.world.go_back(snapshot)
        self._tell(self._nodes_of(PoolKey(*key) for key in pools), None)

    # --- one placement ---

    def _join(self, unit: Unit, allowed: frozenset[str] | None) -> Placed | Refused:
        """A pod whose claims are all allocated: any node that they allow."""
        names = [n for n in self.names if allowed is None or n in allowed]
        if not names:
            return Refused(
                unit,
                "does not fit",
                "Its claims are allocated already, and no node that takes pods can use "
                "all of them.",
            )
        node = names[0]
        if self.policy != "firstFit":
            sign = 1 if self.policy == "spread" else -1
            snapshot = self.world.for_search
            node = min(names, key=lambda n: (sign * taken_part(snapshot, n), n))
        for claim in unit.claims:
            self.world.hold(_reserved(claim, unit.pod))
        return Placed(unit, node, ())

    def _write_down(
        self, unit: Unit, waiting: Sequence[ResourceClaim], found: Fits, board: Board
    ) -> Placed:
        pools: dict[PoolKey, None] = {}
        placed = []
        for claim, allocation in zip(waiting, found.allocations, strict=True):
            status = replace(claim.status, allocation=allocation)
            held = _reserved(replace(claim, status=status), unit.pod)
            pools |= dict.fromkeys(self.world.hold(held))
            placed.append(held)
        for claim in unit.claims:
            if claim.status.allocation is not None:
                self.world.hold(_reserved(claim, unit.pod))
        nodes = self._nodes_of(pools)
        own = board if nodes == {found.node_name} else None
        self._tell(nodes, own)
        return Placed(unit, found.node_name, tuple(placed))

    def _tell(self, nodes: set[str] | None, own: Board | None) -> None:
        for board in self._boards.values():
            board.touch(nodes, own=board is own)

    def _nodes_of(self, pools: Iterable[PoolKey]) -> set[str] | None:
        """Nodes that see any of the pools; None: any node may."""
        snapshot = self.world.for_search
        found: set[str] = set()
        for key in pools:
            pool = snapshot.pools.get(key)
            if pool is None:
                continue
            if key in snapshot.pool_index.networked or self._is_troubled(key):
                return None
            found |= {p.spec.node_name for p in pool.arrival if p.spec.node_name}
        return found

    def _is_troubled(self, key: PoolKey) -> bool:
        """Whether nodes notice the pool that have no part of it."""
        boards = iter(self._boards.values())
        first = next(boards, None)
        return first is not None and key in first.question.layout.troubled

    # --- what is kept ---

    def _board(self, waiting: Sequence[ResourceClaim], expected: int) -> Board:
        key = msgspec.msgpack.encode([claim.spec for claim in waiting])
        board = self._boards.pop(key, None)
        if board is None:
            claims = [with_defaults(claim) for claim in waiting]
            board = Board(
                self.world, claims, self.names, self.policy, expected=expected
            )
        self._boards[key] = board
        while len(self._boards) > _MOST_BOARDS:
            del self._boards[next(iter(self._boards))]
        return board

    def _reached(self, selector: NodeSelector) -> frozenset[str]:
        """Names of the nodes on which an allocation can be used."""
        known = self._reach.get(id(selector))
        if known is None:
            nodes = self.world.for_search.nodes.values()
            names = frozenset(
                n.metadata.name for n in nodes if matches_node(selector, n)
            )
            known = self._reach[id(selector)] = (selector, names)
        return known[1]


def _obstacle(claim: ResourceClaim, unit: Unit) -> str:
    """Why a pod cannot use a claim wherever it goes."""
    if claim.metadata.deletion_timestamp:
        return f"{claim_name(claim).capitalize()} is being deleted."
    reserved = claim.status.reserved_for or ()
    full = len(reserved) >= MOST_CONSUMERS and not _is_reserved(claim, unit.pod)
    if unit.pod is not None and full:
        return (
            f"{claim_name(claim).capitalize()} is reserved for {len(reserved)} consumers, "
            f"which is as many as it can be: use another claim."
        )
    return ""


def _nowhere(
    unit: Unit, waiting: Sequence[ResourceClaim], allowed: frozenset[str] | None
) -> str:
    if allowed is not None and not allowed and len(waiting) < len(unit.claims):
        return "Its claims that are allocated already cannot be used on one node."
    return ""


def _reserved(claim: ResourceClaim, pod: Consumer | None) -> ResourceClaim:
    if pod is None:
        return claim
    if _is_reserved(claim, pod):
        return claim
    reserved = claim.status.reserved_for or []
    reference = ConsumerReference(resource=PODS, name=pod.name, uid=pod.uid)
    status = replace(claim.status, reserved_for=[*reserved, reference])
    return replace(claim, status=status)


def _is_reserved(claim: ResourceClaim, pod: Consumer | None) -> bool:
    namespace = claim.metadata.namespace
    reserved = claim.status.reserved_for or ()
    return pod is not None and any(pod.is_meant_by(namespace, r) for r in reserved)


def _is_free_for(claim: ResourceClaim, pod: Consumer | None) -> bool:
    """Whether nobody but the pod uses the claim, so that it may be taken back for it."""
    namespace = claim.metadata.namespace
    reserved = claim.status.reserved_for or ()
    return pod is not None and all(pod.is_meant_by(namespace, r) for r in reserved)


def _notes_on(unit: Unit, freed: Iterable[ResourceClaim]) -> list[str]:
    return [
        f"{claim_name(claim).capitalize()} is allocated where pod {unit.name} does not fit, "
        "and nobody else uses it: the scheduler takes it back and allocates it anew."
        for claim in freed
    ]


def _results(claim: ResourceClaim) -> Sequence[DeviceResult]:
    allocation = claim.status.allocation
    return (allocation.devices.results or ()) if allocation is not None else ()
