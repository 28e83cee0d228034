"""From a run to a plan: which devices, on which node, and what would be written."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

import msgspec
from django.conf import settings
from django.utils import timezone

from allocator import snapshots
from allocator.models import AllocationRun
from allocator.services import reservations
from allocator.services.reservations import Attempt, Json
from claims.models import ResourceClaim as ClaimRow
from cluster.store import State
from cluster.writeback import timestamp
from dra.allocation import (
    AllocationError,
    Budget,
    Features,
    Fits,
    GaveUp,
    allocate,
    place,
)
from dra.errors import NotSupportedError
from dra.objects import AllocationResult, ResourceClaim
from dra.snapshot import Snapshot
from inventory.models import Cluster, WatchState

_POLL_SECONDS = 0.1
_BEAT_SECONDS = 5.0
_NEEDED = ("ResourceClaim", "ResourceSlice", "DeviceClass", "Node", "DeviceTaintRule")
_OPTIONAL = "DeviceTaintRule"
"""Not every cluster serves it; one that does may taint any device with it."""


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
class Hopeless:
    """Planning again with the same objects would end the same. One sentence."""

    reason: str


PlanOutcome = Planned | Arrived | NoFit | Hopeless


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
    if (stale := _await_fresh(run.cluster, beat)) is not None:
        return Hopeless(stale)
    seen = reservations.seen(run.cluster)
    taken = reservations.reserved(run.cluster, but=run.pk)
    snapshot = snapshots.current(run.cluster)
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
    world = reservations.with_reservations(snapshot, taken)
    answer = _ask(run, world, found, beat)
    if not isinstance(answer, Fits):
        return answer
    (allocation,) = answer.allocations
    return Planned(
        allocation=msgspec.structs.replace(
            allocation, allocation_timestamp=timestamp()
        ),
        node_name=answer.node_name,
        claim=claim.raw,
        snapshot_seq=snapshot.seq,
        seen=seen,
        doubt=doubt,
    )


def _ask(
    run: AllocationRun, world: Snapshot, claim: ResourceClaim, beat: Callable[[], None]
) -> Fits | NoFit | Hopeless:
    features = Features.of_server(run.cluster.version)
    budget = Budget(stop=_stopwatch(beat))
    try:
        if run.wanted_node:
            answer = allocate(
                world, [claim], run.wanted_node, features=features, budget=budget
            )
        else:
            answer = place(world, [claim], features=features, budget=budget)
    except NotSupportedError as error:
        return Hopeless(_sentence(str(error)))
    except AllocationError as error:
        return Hopeless(_sentence(str(error)))
    if isinstance(answer, Fits):
        return answer
    if isinstance(answer, GaveUp):
        return Hopeless(
            f"The search gave up undecided after {answer.steps:,} steps: "
            f"{answer.reason.rstrip('.')}. Naming a node makes it shorter."
        )
    return NoFit(_sentence(answer.reason))


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

    A version that does not come is no error: the mirror may have gone past it, and
    the write is conditional on what the server has in any case.
    """
    deadline = time.monotonic() + settings.RUN_MIRROR_SECONDS
    while True:
        row = ClaimRow.objects.filter(
            cluster_id=run.cluster_id, namespace=run.namespace, name=run.claim_name
        ).first()
        late = time.monotonic() >= deadline
        if row is not None and (
            not wait_for or row.resource_version == wait_for or late
        ):
            break
        if late:
            return Hopeless("The claim no longer exists.")
        time.sleep(_POLL_SECONDS)
        beat()
    if row.uid != run.claim_uid:
        return Hopeless("The claim was deleted, and a new one has taken its name.")
    if row.problem:
        return Hopeless(f"The claim cannot be read: {_sentence(row.problem)}")
    if row.deleting:
        return Hopeless("The claim is being deleted.")
    return row


def _await_fresh(cluster: Cluster, beat: Callable[[], None]) -> str | None:
    """Why the mirror is still stale after a moment of waiting, None when it is not."""
    deadline = time.monotonic() + settings.RUN_MIRROR_SECONDS
    while (why := _why_stale(cluster)) is not None:
        if time.monotonic() >= deadline:
            return why
        time.sleep(_POLL_SECONDS)
        beat()
    return None


def _why_stale(cluster: Cluster) -> str | None:
    """Why the mirror must not be planned with, None when it may be.

    Old data would not only give a bad answer: a device that was taken since would be
    booked twice, and nothing in the cluster would notice.
    """
    watches = {w.kind: w for w in WatchState.objects.filter(cluster=cluster)}
    oldest = timezone.now() - timedelta(seconds=settings.RUN_MIRROR_MAX_AGE)
    for kind in _NEEDED:
        watch = watches.get(kind)
        if watch and kind == _OPTIONAL and watch.state == State.NOT_SERVED:
            continue
        if watch is None or watch.listed_at is None:
            return f"The mirror has not listed {kind} objects of this cluster yet."
        if watch.state == State.STATIC:
            continue
        if watch.state not in {State.LIVE, State.LISTING}:
            why = f" ({watch.error.rstrip('.')})" if watch.error else ""
            return (
                f"The watch of {kind} is {watch.state}{why}, so the portal does not "
                "know what may be taken. See the cluster's page, and start again when "
                "the watch is live."
            )
        if watch.alive_at is None or watch.alive_at < oldest:
            minutes = settings.RUN_MIRROR_MAX_AGE // 60
            return (
                f"The watch of {kind} has shown no sign of life for {minutes} minutes, "
                "so the portal does not know what may be taken. Is the watch running?"
            )
    return None


def _sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?")) else f"{text}."
