"""From a run to a plan: which devices, on which node, and what would be written."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from uuid import UUID

import msgspec
from django.conf import settings

from allocator import snapshots
from allocator.models import AllocationRun
from allocator.services import freshness, nodes, reservations
from allocator.services.reservations import Attempt, Json
from claims.models import ResourceClaim as ClaimRow
from cluster.writeback import timestamp
from dra.allocation import (
    AllocationError,
    Budget,
    Fits,
    GaveUp,
    allocate,
    place,
)
from dra.errors import NotSupportedError, ObjectError
from dra.names import NamespacedName
from dra.objects import AllocationResult, write
from dra.snapshot import Snapshot
from inventory.models import Cluster
from web import metrics

_POLL_SECONDS = 0.1
_BEAT_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Planned:
    """A plan that nobody else's plan contradicts, as far as ``seen`` goes."""

    allocation: AllocationResult
    node_name: str
    claim: Json
    """The claim as the mirror had it."""
    snapshot_seq: int
    seen: int
    doubt: str = ""
    """Why the plan may be wrong, in one sentence; only a dry run can have one."""


@dataclass(frozen=True, slots=True)
class Arrived:
    """The claim already holds a plan of this run."""

    attempt: Attempt


@dataclass(frozen=True, slots=True)
class NoFit:
    reason: str


@dataclass(frozen=True, slots=True)
class Contended:
    """It would fit once plans are settled that other runs have given up.

    ``reason``: why it does not fit as long as they count, as in :class:`NoFit`.
    """

    reason: str


@dataclass(frozen=True, slots=True)
class Hopeless:
    """Planning again with the same objects would end the same. One sentence."""

    reason: str


PlanOutcome = Planned | Arrived | NoFit | Contended | Hopeless


@dataclass(slots=True)
class Ground:
    """What plans are made on: the mirror at one moment, and what is promised already.

    ``planned`` are allocations, as JSON, that claims are to get of which ``taken`` does
    not tell, ``shown`` those of them that nobody will write; ``counted`` the tickets that
    were drawn for the others.
    """

    cluster: Cluster
    snapshot: Snapshot
    seen: int
    taken: list[Json]
    planned: dict[NamespacedName, Json] = field(default_factory=dict)
    shown: dict[NamespacedName, Json] = field(default_factory=dict)
    counted: set[int] = field(default_factory=set)

    _world: Snapshot | None = None

    @property
    def world(self) -> Snapshot:
        """The snapshot with everything that is promised in use."""
        if self._world is None:
            taken = reservations.with_reservations(self.snapshot, self.taken)
            self._world = reservations.with_reservations(taken, self.planned.values())
        return self._world

    def promised(self) -> list[Json]:
        """Every plan that counts as in use here."""
        return [*self.taken, *self.planned.values()]

    @property
    def is_new(self) -> bool:
        """Whether no plan was made on it that may have been given up since."""
        return len(self.planned) == len(self.shown)

    def look_again(self) -> None:
        """At the mirror and at other plans as they are now.

        Those that were made here are among them, but for what was only shown.
        """
        new = ground_of(self.cluster)
        self.snapshot, self.seen, self.taken = new.snapshot, new.seen, new.taken
        self.planned, self.counted = dict(self.shown), set()
        self._world = None

    def promise(self, run: AllocationRun, planned: Planned) -> None:
        """From here on ``planned`` is in use for whoever plans on this ground."""
        as_json = write(planned.allocation)
        self._world = reservations.with_reservations(self.world, [as_json])
        self.planned[run.namespace, run.claim_name] = as_json
        if run.dry_run:
            self.shown[run.namespace, run.claim_name] = as_json

    def withdraw(self, run: AllocationRun) -> None:
        """What was promised to ``run`` is not in use after all."""
        if self.planned.pop((run.namespace, run.claim_name), None) is not None:
            self._world = None


def plan(
    run: AllocationRun, *, beat: Callable[[], None], wait_for: str = ""
) -> PlanOutcome:
    """Plan ``run`` on what the mirror has now. Writes nothing.

    Waits a moment for a mirror that is behind: for the claim itself, and for its
    resourceVersion ``wait_for`` where the caller has seen one. ``beat`` is called
    every few seconds of a long search and stops it by raising.
    """
    claim = _await_claim(run, wait_for, beat)
    if isinstance(claim, Hopeless):
        return claim
    stale = freshness.await_fresh(run, beat=beat, proof=not run.dry_run)
    if stale is not None:
        return Hopeless(str(stale))
    return _plan_on(run, claim, ground_of(run.cluster, but=run.pk), beat)


def ground_of(cluster: Cluster, *, but: UUID | None = None) -> Ground:
    """In the order that :mod:`allocator.services.reservations` asks for."""
    seen = reservations.seen(cluster)
    taken = reservations.reserved(cluster, but=but)
    return Ground(cluster, snapshots.current(cluster), seen, taken)


def plan_on(
    run: AllocationRun,
    row: ClaimRow | None,
    ground: Ground,
    *,
    beat: Callable[[], None],
) -> PlanOutcome:
    """Plan ``run`` on a ground that was looked at before; see :func:`plan`.

    ``row`` is its claim, None where the mirror had none yet.
    """
    claim = _usable(run, row) if row is not None else _await_claim(run, "", beat)
    if isinstance(claim, Hopeless):
        return claim
    return _plan_on(run, claim, ground, beat)


def rows_of(runs: Sequence[AllocationRun]) -> dict[UUID, ClaimRow]:
    """The claims of ``runs``, which are of one cluster, by the run's id."""
    found = ClaimRow.objects.filter(
        cluster_id=runs[0].cluster_id,
        namespace__in={run.namespace for run in runs},
        name__in={run.claim_name for run in runs},
    )
    by_name = {(row.namespace, row.name): row for row in found}
    names = {run.pk: (run.namespace, run.claim_name) for run in runs}
    return {pk: by_name[name] for pk, name in names.items() if name in by_name}


def _plan_on(
    run: AllocationRun, claim: ClaimRow, ground: Ground, beat: Callable[[], None]
) -> PlanOutcome:
    snapshot = ground.snapshot
    found = snapshot.claims.get((run.namespace, run.claim_name))
    if found is None or found.metadata.uid != run.claim_uid:
        return Hopeless("The claim was deleted before it could be planned.")
    if found.status.allocation is not None:
        ours = reservations.own_attempt(run, found.status.allocation)
        return Arrived(ours) if ours else Hopeless("The claim is allocated already.")
    doubt = next(iter(snapshot.doubts), "")
    if doubt and not run.dry_run:
        return Hopeless(
            f"{doubt} Nothing is written until that object is mended or gone."
        )
    try:
        choice = nodes.choice_for(run, snapshot, found, ground.planned)
    except ObjectError as error:
        return Hopeless(f"The pod that waits for the claim cannot be read: {error}")
    answer = _ask(run, ground.world, choice, beat)
    if isinstance(answer, NoFit) and _would_fit_later(run, ground, choice, beat):
        return Contended(answer.reason)
    if not isinstance(answer, Fits):
        return answer
    allocation = answer.allocations[choice.claims.index(found)]
    return Planned(
        allocation=msgspec.structs.replace(
            allocation, allocation_timestamp=timestamp()
        ),
        node_name=answer.node_name,
        claim=claim.raw,
        snapshot_seq=snapshot.seq,
        seen=ground.seen,
        doubt=doubt,
    )


def _would_fit_later(
    run: AllocationRun, ground: Ground, choice: nodes.Choice, beat: Callable[[], None]
) -> bool:
    """Whether only plans that hardly anybody will write are in the way."""
    sure = reservations.under_way(ground.cluster, but=run.pk)
    if len(sure) >= len(ground.taken):
        return False
    world = reservations.with_reservations(
        ground.snapshot, [*sure, *ground.planned.values()]
    )
    return isinstance(_ask(run, world, choice, beat), Fits)


def _ask(
    run: AllocationRun,
    world: Snapshot,
    choice: nodes.Choice,
    beat: Callable[[], None],
) -> Fits | NoFit | Hopeless:
    features = run.cluster.features
    budget = Budget(stop=_stopwatch(beat))
    claims = choice.claims
    began = time.perf_counter()
    try:
        if run.wanted_node:
            answer = allocate(
                world, claims, run.wanted_node, features=features, budget=budget
            )
        else:
            answer = place(
                world,
                claims,
                node_names=choice.node_names,
                features=features,
                budget=budget,
            )
    except NotSupportedError as error:
        return Hopeless(_sentence(str(error)))
    except AllocationError as error:
        return Hopeless(_sentence(str(error)))
    took = time.perf_counter() - began
    metrics.ENGINE_SECONDS.labels(type(answer).__name__).observe(took)
    if isinstance(answer, Fits):
        return answer
    if isinstance(answer, GaveUp):
        return Hopeless(
            f"The search gave up undecided after {answer.steps:,} steps: "
            f"{answer.reason.rstrip('.')}. Naming a node makes it shorter."
        )
    return NoFit(choice.nowhere(answer.reason))


def _stopwatch(beat: Callable[[], None]) -> Callable[[], bool]:
    """True when planning has taken too long; beats on the way."""
    started = last = time.monotonic()

    def stop() -> bool:
        nonlocal last
        now = time.monotonic()
        if now - last >= _BEAT_SECONDS:
            last = now
            beat()
        return now - started > settings.RUN_PLAN_SECONDS

    return stop


def _await_claim(
    run: AllocationRun, wait_for: str, beat: Callable[[], None]
) -> ClaimRow | Hopeless:
    """The claim's row once it is there, and as new as ``wait_for`` if that comes soon.

    A version that does not come is no error: the write is conditional on what the
    server has in any case.
    """
    deadline = time.monotonic() + settings.RUN_MIRROR_SECONDS
    while True:
        row = ClaimRow.objects.filter(
            cluster_id=run.cluster_id, namespace=run.namespace, name=run.claim_name
        ).first()
        late = time.monotonic() >= deadline
        if row is not None and (late or _is_there(row.resource_version, wait_for)):
            break
        if late:
            return Hopeless("The claim no longer exists.")
        time.sleep(_POLL_SECONDS)
        beat()
    return _usable(run, row)


def _is_there(seen: str, wanted: str) -> bool:
    """Whether a mirror with the version ``seen`` is as new as ``wanted``; it may have gone
    past it. Versions are numbers in every Kubernetes; of others only the same one counts."""
    if seen.isdecimal() and wanted.isdecimal():
        return int(seen) >= int(wanted)
    return not wanted or seen == wanted


def _usable(run: AllocationRun, row: ClaimRow) -> ClaimRow | Hopeless:
    if row.uid != run.claim_uid:
        return Hopeless("The claim was deleted, and a new one has taken its name.")
    if row.problem:
        return Hopeless(f"The claim cannot be read: {_sentence(row.problem)}")
    if row.deleting:
        return Hopeless("The claim is being deleted.")
    return row


def _sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?")) else f"{text}."
