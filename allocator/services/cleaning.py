"""What runs that ended left in a cluster: pods, rules, taints, pins, finalizers."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from itertools import batched
from typing import TYPE_CHECKING, Final

import structlog
from django.db.models import Q

from allocator import wiring
from allocator.choices import FINAL, OPEN, RunKind, RunState
from allocator.models import AllocationRun
from cluster.errors import ClusterError
from inventory.choices import Source
from inventory.models import Cluster

if TYPE_CHECKING:
    from cluster.writeback.leftovers import Leftover

_AT_A_TIME: Final = 500
"""Runs that one query looks up. Every allocation by a carrier has its pin, so there may
be tens of thousands of things to look up in all."""

log = structlog.get_logger("allocator.leftovers")


def clean_run(run: AllocationRun) -> str:
    """Take away everything that ``run`` has in its cluster; a sentence when some stays.

    For a run of which nothing is wanted any more.
    """
    from cluster.writeback.leftovers import leftovers, sweep

    try:
        client = wiring.client_for(run.cluster.name)
        found = leftovers(client, run=str(run.pk))
        wanted = _wanted_in(run.cluster)
        swept = sweep(client, found, ended=lambda _: True, wanted=wanted)
    except (ClusterError, wiring.NoWriterError) as error:
        log.warning("run.not_cleaned", run=str(run.pk), error=str(error))
        return (
            "What it had put into the cluster could not be taken away yet "
            f"({str(error).rstrip('.')}); the periodic clean-up will do it."
        )
    return " ".join(one.problem for one in swept if one.problem)


def sweep_leftovers() -> int:
    """Remove what ended runs left in every cluster that we write to; how many things.

    A cluster that cannot be asked is left for the next time. They take turns at being
    first: API servers that let us wait may use up the time of a sweep, and those behind
    them must not go without for as long as that lasts.
    """
    clusters = Cluster.objects.filter(read_only=False).exclude(source=Source.DUMP)
    return sum(_sweep(cluster) for cluster in clusters.order_by("?"))


def _sweep(cluster: Cluster) -> int:
    from cluster.writeback.leftovers import leftovers, sweep

    try:
        client = wiring.client_for(cluster.name)
        found = leftovers(client)
        ended = _ended_of(cluster, found)
        swept = sweep(client, found, ended=ended, wanted=_wanted_in(cluster))
    except (ClusterError, wiring.NoWriterError) as error:
        log.warning("leftovers.not_swept", cluster=cluster.name, error=str(error))
        return 0
    for one in swept:
        log.info(
            "leftover.swept" if not one.problem else "leftover.stays",
            cluster=cluster.name,
            what=str(one.leftover),
            run=one.leftover.run,
            problem=one.problem,
        )
    return sum(1 for one in swept if not one.problem)


def _ended_of(cluster: Cluster, found: list[Leftover]) -> Callable[[Leftover], bool]:
    """Says of each thing whether nobody needs it any more.

    Runs of which no row is left belong to a database that is gone, or to another portal
    of the same owner: their things end by their own expiry, pins with their claim.
    """
    runs = {
        str(run.pk): run
        for some in batched(sorted(_ids(found)), _AT_A_TIME)
        for run in AllocationRun.objects.filter(cluster=cluster, pk__in=some).only(
            "pk", "state", "kind"
        )
    }

    def ended(one: Leftover) -> bool:
        run = runs.get(one.run)
        if run is None or run.state in OPEN:
            return False
        if one.role == "pin":
            # Of a run that was done, or may be, the pin keeps the allocation.
            return run.state in {RunState.CANCELLED, RunState.NO_FIT}
        # What a rewriting that failed has taken away may still be put back: until then
        # its rules keep the other devices of the claim free. They end by themselves.
        return run.kind != RunKind.REWRITE or run.state != RunState.FAILED

    return ended


def _wanted_in(cluster: Cluster) -> Callable[[Leftover, str], bool]:
    """Says of a carrier's claim whether what it holds may be what a later run wrote.

    A run of which no row is left may be any: then it is not touched.
    """

    def wanted(one: Leftover, claim_name: str) -> bool:
        runs = AllocationRun.objects.filter(
            cluster=cluster, namespace=one.namespace, claim_name=claim_name
        )
        own = runs.filter(pk__in=_ids([one])).first()
        if own is None:
            return True
        nothing_written = Q(state__in=FINAL, ticket=None) & ~Q(state=RunState.DONE)
        later = runs.filter(created_at__gt=own.created_at).exclude(pk=own.pk)
        return later.exclude(dry_run=True).exclude(nothing_written).exists()

    return wanted


def _ids(found: list[Leftover]) -> set[str]:
    ids = set()
    for one in found:
        try:
            ids.add(str(uuid.UUID(one.run)))
        except ValueError:
            continue  # of another owner's making
    return ids
