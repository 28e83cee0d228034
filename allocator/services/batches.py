"""Claims that are asked for together: planned in order in one snapshot.

Each claim has a run of its own, which goes its own way from "writing" on, with whatever
worker takes it. One task plans them all; where it dies, or another plan comes first, the
runs that are left are planned one by one like any other.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from itertools import batched
from typing import Final
from uuid import UUID

import structlog
from django.db import transaction
from django.utils import timezone

from allocator.choices import FINAL, NodePolicy, RunState
from allocator.models import AllocationRule, AllocationRun, RunBatch
from allocator.services import awaiting, freshness, leases, planning
from allocator.services.leases import RunBusyError
from allocator.services.planning_together import alone, plan_together
from allocator.services.queueing import QueueError, enqueue, enqueue_batch
from allocator.services.starting import (
    RunRefused,
    User,
    must_be_writable,
    pending_problem,
    record_runs,
    tell_workers,
)
from allocator.services.states import move
from claims.models import ResourceClaim
from dra.names import NamespacedName
from inventory.models import Cluster

MOST_CLAIMS: Final = 500
_TRIES: Final = 5
"""In vain, after which runs of a batch are planned by themselves."""
_BEGUN_TOGETHER: Final = 8
"""Runs that are kept waiting when whoever plans them dies."""
_TURN_SECONDS: Final = 0.25
"""About as long as a run keeps others from its pool."""

log = structlog.get_logger("allocator.batches")


@dataclass(frozen=True, slots=True)
class Started:
    """``refused`` says of claims that got no run why, in sentences."""

    batch: RunBatch
    runs: tuple[AllocationRun, ...]
    refused: tuple[tuple[NamespacedName, str], ...]


def start_batch(
    *,
    cluster: Cluster,
    claims: Sequence[NamespacedName],
    user: User,
    policy: str = NodePolicy.FIRST,
    dry_run: bool = False,
    rule: AllocationRule | None = None,
) -> Started:
    """A run for each of ``claims`` that is pending, in their order.

    Raises RunRefused when none can be started, or too many are asked for.
    """
    wanted = list(dict.fromkeys(claims))
    if not wanted:
        raise RunRefused("Choose at least one pending claim.")
    if len(wanted) > MOST_CLAIMS:
        raise RunRefused(
            f"{len(wanted):,} claims are too many for one batch; at most {MOST_CLAIMS} "
            "can be allocated together."
        )
    must_be_writable(cluster, dry_run=dry_run)
    rows = _rows(cluster, wanted)
    runs: list[AllocationRun] = []
    refused: list[tuple[NamespacedName, str]] = []
    with transaction.atomic():
        batch = RunBatch.objects.create(
            cluster=cluster,
            created_by_id=user.pk if user and user.is_authenticated else None,
        )
        for position, key in enumerate(wanted):
            row = rows.get(key)
            why = pending_problem(row, cluster, *key)
            if row is None or why:
                refused.append((key, why))
                continue
            run = AllocationRun(
                cluster=cluster,
                namespace=key[0],
                claim_name=key[1],
                claim_uid=row.uid,
                policy=policy,
                dry_run=dry_run,
                batch=batch,
                position=position,
                rule=rule,
            )
            runs.append(run)
        runs, under_way = record_runs(runs, user)
        refused += [((run.namespace, run.claim_name), why) for run, why in under_way]
        if not runs:
            (first, why), *others = refused
            more = f" So it is with {len(others)} more." if others else ""
            raise RunRefused(f"No run was started. {first[0]}/{first[1]}: {why}{more}")
        transaction.on_commit(lambda: _tell_workers(batch.pk))
    return Started(batch, tuple(runs), tuple(refused))


class Ready:
    """Planned runs of which no worker knows yet.

    One run at a time writes to a pool, and neighbours in a batch are planned on the same
    one. So workers are told in turns: of one run of each pool now, and of the next ones
    when those may be over.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.by_pool: dict[Hashable, deque[AllocationRun]] = {}
        self.clock = clock
        self.turn_at = clock() + _TURN_SECONDS

    def add(self, run: AllocationRun) -> None:
        self.by_pool.setdefault(_first_pool(run), deque()).append(run)
        if self.clock() >= self.turn_at:
            self.tell_turn()
            self.turn_at = self.clock() + _TURN_SECONDS

    def tell_all(self) -> None:
        while self.by_pool:
            self.tell_turn()

    def tell_turn(self) -> None:
        for pool, runs in list(self.by_pool.items()):
            run = runs.popleft()
            if not runs:
                del self.by_pool[pool]
            try:
                enqueue(run.pk, dry_run=run.dry_run)
            except QueueError:
                log.warning("run.left_to_sweep", run=str(run.pk))


def _first_pool(run: AllocationRun) -> Hashable:
    devices = (run.plan or {}).get("devices") or {}
    for result in devices.get("results") or ():
        return result.get("driver"), result.get("pool")
    return None


def plan_batch(batch_id: UUID) -> int:
    """Plan the runs of a batch that nobody has planned yet; how many were.

    Harmless when called again: what is planned stays as it is. Raises RunBusyError while
    they wait for the watch, or the database is away.
    """
    with leases.interruptible(batch_id):
        return _plan_batch(batch_id)


def _plan_batch(batch_id: UUID) -> int:
    batch = RunBatch.objects.select_related("cluster").filter(pk=batch_id).first()
    if batch is None:
        return 0
    queued = AllocationRun.objects.filter(batch=batch, state=RunState.QUEUED)
    waiting = list(
        queued.order_by("position").values_list("pk", "dry_run", "waits_since")
    )
    if not waiting:
        return 0
    proof = not all(dry_run for _, dry_run, _ in waiting)
    began = timezone.now()
    stale = freshness.look(batch.cluster, beat=_nothing, proof=proof)
    if stale is not None and awaiting.may_wait(since or began for *_, since in waiting):
        awaiting.note(queued, stale.awaited, began=began)
        raise RunBusyError(awaiting.AGAIN)
    ground = planning.ground_of(batch.cluster)
    worker = leases.new_worker_name()
    planned, ready = 0, Ready()
    try:
        for some in batched((run_id for run_id, _, _ in waiting), _BEGUN_TOGETHER):
            begun = leases.begin_together(some, worker)
            planned += len(begun)
            if stale is None:
                _plan_each(begun, ground, worker, ready)
            else:
                _end_each(begun, str(stale))
    finally:
        ready.tell_all()
    log.info("batch.planned", batch=str(batch_id), runs=planned)
    return planned


def _plan_each(
    begun: list[AllocationRun], ground: planning.Ground, worker: str, ready: Ready
) -> None:
    ids = [run.pk for run in begun]
    try:
        _plan_until_settled(begun, ground)
    except leases.DATABASE_AWAY:
        leases.abandon_together(ids, worker)
        raise
    # A fault of ours: each is planned by itself, and the one that has it ends with it.
    except Exception:
        log.exception("batch.broke", runs=[str(pk) for pk in ids])
        leases.release_together(ids, worker)
    else:
        if any(run.worker for run in begun if run.state not in FINAL):
            leases.release_together(ids, worker)
    finally:
        for run in begun:
            if run.state not in FINAL:
                ready.add(run)


def _plan_until_settled(begun: list[AllocationRun], ground: planning.Ground) -> None:
    left, tries = begun, 0
    while left and tries < _TRIES:
        before, left = len(left), plan_together(left, ground)
        tries = tries + 1 if len(left) == before else 0
        if left:
            # The cluster has changed, or somebody else's plan came first.
            ground.look_again()


def _end_each(begun: list[AllocationRun], why: str) -> None:
    for run in begun:
        with alone(run):
            actor = leases.actor_of(run.worker)
            move(run, RunState.FAILED, actor=actor, reason=why)


def _rows(
    cluster: Cluster, wanted: Sequence[NamespacedName]
) -> dict[NamespacedName, ResourceClaim]:
    found = ResourceClaim.objects.filter(
        cluster=cluster,
        namespace__in={namespace for namespace, _ in wanted},
        name__in={name for _, name in wanted},
    ).defer("raw")
    return {(row.namespace, row.name): row for row in found}


def _tell_workers(batch_id: UUID) -> None:
    try:
        enqueue_batch(batch_id)
    except QueueError:
        runs = AllocationRun.objects.filter(batch_id=batch_id, state=RunState.QUEUED)
        for run_id in runs.values_list("pk", flat=True):
            tell_workers(run_id)


def _nothing() -> None:
    """No run is ours yet, so there is none to keep."""
