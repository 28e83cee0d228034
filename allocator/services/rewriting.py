"""The steps of a run that writes an allocation anew, as it was.

After a double booking was released, a scheduler takes the device of the claim that kept
it for free (``cluster.writeback.rewriting``). What the claim holds is in the run's row
before the first request, so whoever takes the run up puts it back. Where the API server
does not take it back, the run fails; a further run, which names it (``retry_of``), has
nothing to do but put back what that one took away (``start_putting_back``).
"""

from __future__ import annotations

from typing import Any

from django.db import transaction
from django.db.models.functions import Coalesce
from django.utils import timezone

from allocator import wiring
from allocator.choices import RunState
from allocator.models import AllocationRun
from allocator.services import reservations, verifying
from allocator.services.allocating import part_of
from allocator.services.execution import Execution
from allocator.services.leases import RunBusyError
from claims.models import ResourceClaim as ClaimRow
from cluster.writeback import Changed, Refused, Step, Unknown, allocation_of, changes
from cluster.writeback.putting_back import (
    Rewrite,
    Rewritten,
    Stranded,
    Unfinished,
)
from cluster.writeback.rewriting import RewriteOutcome
from dra.errors import ObjectError
from dra.objects import AllocationResult, read

_AGAIN = 2.0
"""Seconds until what could not be put back is tried again."""
_BY_HAND = (
    "The claim is without its allocation while its pods run: have it put back on the "
    "page of the finding, which this run is a step of, or end those pods."
)


class Rewriting(Execution):
    """Look at the claim, keep what it holds, write it anew, and wait for the watch."""

    def plan(self) -> None:
        row = _row(self.run)
        self.hook("planned")
        if row is None or row.uid != self.run.claim_uid:
            self.move(RunState.FAILED, "The claim no longer exists; it holds nothing.")
            return
        if self.run.retry_of is not None:
            first = self.run.retry_of
            self.set_out(first.plan, first.before, first.node_name)
            return
        if row.resource_version != self.run.seen_version:
            self.move(
                RunState.FAILED,
                f"The claim was changed since it was looked at: {changes.now(row.raw)} "
                "Nothing was written; look at it again.",
            )
            return
        self.set_out(allocation_of(row.raw), part_of(row.raw), row.node_name)

    def set_out(self, allocation: Any, before: Any, node_name: str) -> None:
        """Keep what is put back before anything is sent."""
        try:
            plan = read(allocation, AllocationResult)
        except ObjectError as error:
            self.move(RunState.FAILED, f"The allocation cannot be read: {error}")
            return
        # For a moment the mirror shows the devices as free; nobody else plans with them.
        reservations.seen(self.run.cluster)
        self.hook("before writing")
        with transaction.atomic():
            self.changed(
                RunState.WRITING,
                "Looked at what it holds."
                if self.run.retry_of is None
                else "Took over what is to be put back.",
                details={"plan": allocation, "node": node_name},
                ticket=reservations.draw(self.run, plan, after=reservations.NEWEST),
                plan=allocation,
                before=before,
                node_name=node_name,
                attempts=self.run.attempts + 1,
                committed=False,
            )
        self.resumed = False

    def write(self) -> None:
        plan = read(self.run.plan, AllocationResult)
        self.with_locks(plan, self.rewrite)

    def rewrite(self) -> None:
        try:
            rewriter = wiring.rewriter_for(self.run.cluster.name)
        except wiring.NoWriterError as error:
            if self.away():
                self.later(str(error))
            self.move(RunState.FAILED, f"{error} Nothing was written.", ticket=None)
            return
        outcome = rewriter.rewrite(self.order(), before=self.before, beat=self.beat)
        self.hook("sent")
        self.react(outcome)

    def order(self) -> Rewrite:
        run = self.run
        before: dict[str, Any] = run.before if isinstance(run.before, dict) else {}
        return Rewrite(
            namespace=run.namespace,
            name=run.claim_name,
            uid=run.claim_uid,
            status=before.get("status") or {},
            seen=run.seen_version,
            quarantine=str(run.repair_id or ""),
            # Rules of the moment bear the name of the run that made them.
            run=str((run.retry_of or run).pk),
            resumed=self.away(),
            returned=run.retry_of is not None or self.sent(Step.STATUS),
        )

    def away(self) -> bool:
        """Whether the request that takes the allocation away was, or may have been, sent."""
        return self.run.retry_of is not None or self.sent(Step.CLEARED)

    def sent(self, step: Step) -> bool:
        return self.run.steps.filter(step=step).exists()

    def react(self, outcome: RewriteOutcome) -> None:
        match outcome:
            case Rewritten():
                note = " ".join((*outcome.also_held_by, outcome.note))
                sent = [request.as_json() for request in outcome.requests]
                self.move(
                    RunState.VERIFYING,
                    f"Written anew; waiting for the watch to show it. {note}".strip(),
                    patch=sent or self.run.patch,
                    written_resource_version=str(
                        outcome.claim.get("metadata", {}).get("resourceVersion", "")
                    ),
                )
            case Unfinished():
                self.later(outcome.reason)
            case Stranded():
                self.move(
                    RunState.FAILED,
                    f"{outcome.reason} {_BY_HAND}",
                    details={"missing": outcome.missing} if outcome.missing else None,
                    patch=[r.as_json() for r in outcome.requests] or self.run.patch,
                )
            case Changed():
                self.move(RunState.FAILED, outcome.reason, ticket=None)
            case Refused():
                details = {"refusal": str(outcome.refusal), "missing": outcome.missing}
                self.move(RunState.FAILED, outcome.reason, details=details, ticket=None)
            case Unknown():
                self.move(RunState.FAILED, outcome.reason)

    def later(self, why: str) -> None:
        """The claim is without its allocation: nothing else may happen to this run."""
        rows = AllocationRun.objects.filter(pk=self.run.pk, worker=self.run.worker)
        rows.update(waits_for=why, waits_since=Coalesce("waits_since", timezone.now()))
        raise RunBusyError(_AGAIN)

    def verify(self) -> None:
        match verifying.verify_rewritten(self.run, beat=self.beat):
            case verifying.Confirmed():
                self.move(
                    RunState.DONE,
                    "Written anew as it was: the schedulers count its devices again.",
                )
            case verifying.Wrong(reason):
                self.move(RunState.FAILED, reason)


def _row(run: AllocationRun) -> ClaimRow | None:
    return ClaimRow.objects.filter(
        cluster_id=run.cluster_id, namespace=run.namespace, name=run.claim_name
    ).first()
