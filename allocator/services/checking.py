"""A last look at a plan before it is stored for writing."""

from __future__ import annotations

from collections.abc import Iterable

from allocator import snapshots
from allocator.models import AllocationRun
from allocator.services import reservations
from allocator.services.reservations import Json
from dra.allocation.verify import verify
from dra.objects import AllocationResult
from dra.snapshot import Snapshot

_SHOWN = 5


def objections(
    run: AllocationRun,
    allocation: AllocationResult,
    node_name: str,
    others: Iterable[Json] | None = None,
    snapshot: Snapshot | None = None,
) -> str:
    """Why the plan must not be written, in sentences; empty when it may be.

    Checked by the rules, apart from the search that made it, on what the mirror has
    now. A claim that is gone or allocated meanwhile is left to the writer, which
    asks the server. ``others`` are plans that count as in use; None: those of all runs
    under way. ``snapshot``: what the mirror had a moment ago; None: look now.
    """
    if others is None:
        others = reservations.reserved(run.cluster, but=run.pk)
    taken = reservations.touching(others, allocation)
    snapshot = snapshot or snapshots.current(run.cluster)
    claim = snapshot.claims.get((run.namespace, run.claim_name))
    if (
        claim is None
        or claim.metadata.uid != run.claim_uid
        or claim.status.allocation is not None
    ):
        return ""
    found = verify(
        reservations.with_reservations(snapshot, taken),
        [claim],
        [allocation],
        node_name,
        features=run.cluster.features,
    )
    if not found:
        return ""
    sentences = [violation.sentence for violation in found[:_SHOWN]]
    if len(found) > _SHOWN:
        sentences.append(f"{len(found) - _SHOWN} more rules are broken.")
    return " ".join(
        [
            "Nothing was written, because the plan does not hold on what the cluster "
            "shows now.",
            *sentences,
            "Start again for a new plan.",
        ]
    )
