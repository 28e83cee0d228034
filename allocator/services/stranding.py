"""Claims that a rewriting has left without their allocation, and who still uses it.

Their pods run on what they held before. So until it is put back, or they have ended,
nobody gives such a claim another allocation.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from allocator.choices import RunKind, RunState
from allocator.models import AllocationRun
from claims.models import Pod
from cluster.writeback import Step, reservations_of
from cluster.writeback.changes import is_pod
from cluster.writeback.pins import is_pin
from cluster.writeback.unsafe import is_over
from inventory.models import Cluster

Json = dict[str, Any]


def left_without(cluster: Cluster, uids: Iterable[str]) -> set[str]:
    """Uids of those claims that are still in use though they hold nothing.

    One query where no rewriting has failed.
    """
    rewritings = AllocationRun.objects.filter(
        cluster=cluster, kind=RunKind.REWRITE, claim_uid__in=list(uids)
    )
    cleared = rewritings.filter(state=RunState.FAILED, steps__step=Step.CLEARED)
    return {
        run.claim_uid
        for run in cleared.order_by("created_at").distinct()
        if not rewritings.filter(
            claim_uid=run.claim_uid,
            state=RunState.DONE,
            created_at__gt=run.created_at,
        ).exists()
        and any(not is_pin(entry) for entry in still_there(run)[0])
    }


def still_there(run: AllocationRun) -> tuple[list[Json], dict[str, Pod]]:
    """Reservations of before ``run`` that stand for somebody now, and pods by uid."""
    entries = reservations_of(run.before if isinstance(run.before, dict) else {})
    uids = [str(entry.get("uid")) for entry in entries if is_pod(entry)]
    found = Pod.objects.filter(cluster=run.cluster_id, uid__in=uids)
    pods = {pod.uid: pod for pod in found if not is_over(pod.raw)}
    there = [
        entry for entry in entries if not is_pod(entry) or str(entry.get("uid")) in pods
    ]
    return there, pods
