"""The steps of a run that takes an allocation back.

Only where nobody but this portal has reserved the claim, unless an administrator says
so by name (``override``): the devices of a pod that runs would be given to others.
"""

from __future__ import annotations

from typing import Any

from django.conf import settings

from allocator import wiring
from allocator.choices import RunState
from allocator.services import verifying
from allocator.services.allocating import part_of
from allocator.services.execution import Execution
from claims.models import ResourceClaim as ClaimRow
from cluster.writeback import (
    Changed,
    Refused,
    Release,
    Released,
    ReleaseOutcome,
    Request,
    Unknown,
    allocation_of,
)
from dra.errors import ObjectError
from dra.objects import AllocationResult, read


class Deallocating(Execution):
    """Look at the claim, take the allocation away, and wait for the watch."""

    def plan(self) -> None:
        row = ClaimRow.objects.filter(
            cluster_id=self.run.cluster_id,
            namespace=self.run.namespace,
            name=self.run.claim_name,
        ).first()
        self.hook("planned")
        if row is None or row.uid != self.run.claim_uid:
            self.move(RunState.FAILED, "The claim no longer exists; it holds nothing.")
            return
        allocation = allocation_of(row.raw)
        if allocation is None:
            self.move(RunState.FAILED, "The claim holds no allocation any more.")
            return
        columns: dict[str, Any] = {
            "plan": allocation,
            "patch": [request.as_json() for request in self.foreseen(row.raw)],
            "before": part_of(row.raw),
            "node_name": row.node_name,
        }
        if self.run.dry_run:
            self.move(
                RunState.DONE,
                "Dry run: this is what would be sent. Nothing was written.",
                **columns,
            )
            return
        self.move(
            RunState.WRITING,
            "Looked at who uses it.",
            attempts=self.run.attempts + 1,
            committed=False,
            **columns,
        )
        self.resumed = False

    def foreseen(self, claim: dict[str, Any]) -> list[Request]:
        try:
            releaser = wiring.releaser_for(self.run.cluster.name)
        except wiring.NoWriterError:
            return []
        return releaser.preview(self.order(), claim)

    def order(self) -> Release:
        run = self.run
        return Release(
            namespace=run.namespace,
            name=run.claim_name,
            uid=run.claim_uid,
            run=str(run.pk),
            resumed=self.resumed,
            override=run.override,
            seen=run.seen_version,
        )

    def write(self) -> None:
        try:
            held = read(self.run.plan, AllocationResult)
        except ObjectError:
            held = AllocationResult()  # it is taken back all the same
        self.with_locks(held, self.release)

    def release(self) -> None:
        try:
            releaser = wiring.releaser_for(self.run.cluster.name)
        except wiring.NoWriterError as error:
            may = " An earlier worker may have taken it back." if self.resumed else ""
            self.move(RunState.FAILED, f"{error}{may}")
            return
        outcome = releaser.release(self.order(), before=self.before, beat=self.beat)
        self.hook("sent")
        self.react(outcome)

    def react(self, outcome: ReleaseOutcome) -> None:
        match outcome:
            case Released():
                changes: dict[str, Any] = {}
                if outcome.requests:
                    changes["patch"] = [r.as_json() for r in outcome.requests]
                self.move(
                    RunState.VERIFYING,
                    f"Taken back; waiting for the watch to show it. {outcome.note}".strip(),
                    **changes,
                )
            case Changed() if self.run.attempts >= settings.RUN_MAX_ATTEMPTS:
                self.move(
                    RunState.CONFLICT,
                    f"{outcome.reason} That happened {self.run.attempts} times; start "
                    "again when nobody else works on the claim.",
                )
            case Changed():
                self.move(RunState.PLANNING, f"{outcome.reason} Looking again.")
            case Refused():
                details = {"refusal": str(outcome.refusal), "missing": outcome.missing}
                self.move(RunState.FAILED, outcome.reason, details=details)
            case Unknown():
                self.move(
                    RunState.FAILED,
                    f"{outcome.reason} Look at the claim before you start again.",
                )

    def verify(self) -> None:
        match verifying.verify_released(self.run, beat=self.beat):
            case verifying.Confirmed():
                self.move(RunState.DONE, "Taken back; its devices are free again.")
            case verifying.Wrong(reason):
                self.move(RunState.FAILED, reason)
