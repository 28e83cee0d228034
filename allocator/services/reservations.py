"""What other runs have planned but the mirror does not show yet.

Two workers that plan at the same time must not choose the same device, and nothing
in Kubernetes would notice. There is no lock around planning, which may take seconds;
instead every plan that is going to be written gets a *ticket*, a number that is drawn
in one short transaction per cluster (the row of ``PlanCounter`` is its lock, on
PostgreSQL and SQLite alike):

1. Before planning: read the counter (``seen``), then the plans of runs that hold a
   ticket and are not settled (``reserved``), then the snapshot. A run that was
   settled before the second read is in the snapshot, which is read later.
2. Plan with these plans counted as in use.
3. Draw a ticket (``draw``): if a run with a ticket newer than ``seen`` has planned
   devices of the pools that this plan takes devices from, plan again. Devices and
   counters never reach beyond their pool, so other plans do not matter.

A run is settled when it is over and either nothing of it can be in the cluster (its
ticket is taken back) or the watch has brought an event or a list since: then the
mirror has whatever was written. All plans of an open run count, also those it gave
up: a worker that was thought dead may still carry one out.
"""

from __future__ import annotations

import uuid
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db.models import F, Q, QuerySet

from allocator.choices import OPEN, RunState
from allocator.models import AllocationRun, PlanCounter, RunTransition
from cluster.writeback import same_allocation
from dra.objects import AllocationResult, read
from dra.snapshot import Snapshot
from inventory.models import Cluster, WatchState

Json = dict[str, Any]

NEWEST = 2**62
"""As ``after`` of :func:`draw`: whatever others have planned."""
_MARGIN = timedelta(seconds=10)
"""What the watch brings may have waited that long on its way to us."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """A plan that was, or still may be, sent to the cluster."""

    allocation: AllocationResult
    node_name: str


def seen(cluster: Cluster) -> int:
    """The newest ticket of the cluster."""
    counter, _ = PlanCounter.objects.get_or_create(cluster=cluster)
    return counter.value


def reserved(cluster: Cluster, *, but: UUID | None) -> list[Json]:
    """Plans (AllocationResult in JSON) of unsettled runs other than ``but``."""
    return list(_plans(_unsettled(cluster, but=but).values("pk")))


def under_way(cluster: Cluster, *, but: UUID | None) -> list[Json]:
    """Of :func:`reserved` those that nobody has given up: the others hardly arrive."""
    runs = _unsettled(cluster, but=but).exclude(state=RunState.PLANNING)
    plans = runs.values_list("plan", flat=True)
    return [plan for plan in plans if plan is not None]


def _unsettled(cluster: Cluster, *, but: UUID | None) -> QuerySet[AllocationRun]:
    failed = Q(state=RunState.FAILED)
    heard = _heard_of_claims(cluster)
    if heard is not None:
        failed &= Q(finished_at__gte=heard - _MARGIN)
    unsettled = Q(state__in=OPEN) | failed
    runs = AllocationRun.objects.filter(
        unsettled, cluster=cluster, ticket__isnull=False
    )
    return runs if but is None else runs.exclude(pk=but)


def _heard_of_claims(cluster: Cluster) -> datetime | None:
    """When the claims' watch last brought something: an event, a bookmark or a list."""
    watch = WatchState.objects.filter(cluster=cluster, kind="ResourceClaim").first()
    times = (watch.event_at, watch.listed_at) if watch else ()
    return max((t for t in times if t is not None), default=None)


def attempts_of(run: AllocationRun) -> list[Attempt]:
    """Every plan that this run set out to write, oldest first."""
    return [
        Attempt(read(entry["plan"], AllocationResult), entry.get("node", ""))
        for entry in _records([run.pk])
    ]


def own_attempt(run: AllocationRun, found: AllocationResult) -> Attempt | None:
    """The plan of this run that ``found``, a claim's allocation, came from."""
    attempts = attempts_of(run)
    return next((a for a in attempts if same_allocation(a.allocation, found)), None)


def draw(run: AllocationRun, plan: AllocationResult, *, after: int) -> int | None:
    """A ticket for ``plan``, or None when a newer plan than ``after`` touches it.

    Call in a transaction together with the step that makes the run write.
    """
    tickets = draw_together([(run, plan)], after=after)
    return tickets[0] if tickets else None


def draw_together(
    plans: Sequence[tuple[AllocationRun, AllocationResult]],
    *,
    after: int,
    counted: Collection[int] = (),
) -> list[int]:
    """A ticket for each of ``plans``, or none when a newer plan touches one of them.

    ``counted``: tickets newer than ``after`` of plans that these were made with. Call as
    :func:`draw`.
    """
    cluster_id = plans[0][0].cluster_id
    counters = PlanCounter.objects.filter(cluster_id=cluster_id)
    # From here on nobody else draws.
    counters.update(value=F("value") + len(plans))
    newer = (
        AllocationRun.objects.filter(cluster_id=cluster_id, ticket__gt=after)
        .exclude(pk__in=[run.pk for run, _ in plans])
        .exclude(ticket__in=counted)
    )
    pools = set().union(*(_pools(plan) for _, plan in plans))
    for other in _plans(newer.values("pk")):
        if not pools.isdisjoint(_pools(read(other, AllocationResult))):
            return []
    newest = counters.values_list("value", flat=True).get()
    return list(range(newest - len(plans) + 1, newest + 1))


def touching(plans: Iterable[Json], plan: AllocationResult) -> list[Json]:
    """Those of ``plans`` that take from the pools of ``plan``: no others matter to it."""
    pools = _pools(plan)
    return [
        other
        for other in plans
        if not pools.isdisjoint(_pools(read(other, AllocationResult)))
    ]


def with_reservations(snapshot: Snapshot, plans: Iterable[Json]) -> Snapshot:
    """``snapshot`` with ``plans`` held by claims that exist only in here.

    A device that the snapshot shows as held already is left out: its run's claim
    has arrived in the mirror.
    """
    held: list[Json] = []
    for plan in plans:
        allocation = read(plan, AllocationResult)
        if not _arrived(snapshot, allocation):
            name = f"planned-{uuid.uuid4()}"
            # "/" cannot be in a namespace's name, so it is nobody's claim.
            meta = {"namespace": "/planned", "name": name, "uid": name}
            held.append(
                {
                    "kind": "ResourceClaim",
                    "metadata": meta,
                    "status": {"allocation": plan},
                }
            )
    return snapshot.edit(add=held) if held else snapshot


def _arrived(snapshot: Snapshot, allocation: AllocationResult) -> bool:
    """Whether some claim of the snapshot holds exactly these devices and shares."""
    results = allocation.devices.results or ()
    for r in results:
        if r.admin_access:
            continue
        holders = snapshot.in_use.pool((r.driver, r.pool)).holders.get(r.device, ())
        if not any(h.result.share_id == r.share_id for h in holders):
            return False
    return True


def _plans(runs: QuerySet[Any]) -> Iterator[Json]:
    for entry in _records(runs):
        yield entry["plan"]


def _records(run_ids: Collection[UUID] | QuerySet[Any]) -> Iterator[Json]:
    """What the transitions to "writing" keep: the plan, and the node it is for."""
    details = (
        RunTransition.objects.filter(run__in=run_ids, to_state=RunState.WRITING)
        .order_by("pk")
        .values_list("details", flat=True)
    )
    for entry in details:
        if isinstance(entry.get("plan"), dict):
            yield entry


def _pools(plan: AllocationResult) -> set[tuple[str, str]]:
    return {(r.driver, r.pool) for r in plan.devices.results or ()}
