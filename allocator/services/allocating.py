"""The steps of a run that allocates a claim.

The plan with its timestamp is stored before the first request is sent: planning starts
over, writing finds its own allocation or writes the same one, verifying looks again.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any, Final

from django.conf import settings
from django.db import transaction

from allocator import snapshots, wiring
from allocator.choices import RunState
from allocator.models import AllocationRun
from allocator.services import (
    awaiting,
    checking,
    freshness,
    nodes,
    planning,
    reservations,
    verifying,
)
from allocator.services.execution import Execution, Hook, unobserved
from allocator.services.reservations import Attempt
from allocator.services.states import Move
from cluster.writeback import (
    Changed,
    Order,
    Outcome,
    Refusal,
    Refused,
    Request,
    Unknown,
    Writer,
    Written,
    allocation_of,
    foresee,
)
from dra.errors import ObjectError
from dra.objects import AllocationResult, read, write
from dra.snapshot import Snapshot
from web.metrics import count_write

_MAX_REPLANS: Final = 50
_IN_A_MOMENT: Final = (
    "Other runs have still to settle what they had planned; ask again in a moment."
)
_CHECKED_FOR: Final = 1.0
"""Seconds after which a plan that waited is checked again before it is written."""


class Allocating(Execution):
    """Plan, write behind the cluster's writer, and wait for the watch."""

    def __init__(self, run: AllocationRun, hook: Hook = unobserved) -> None:
        super().__init__(run, hook)
        self.newest_version = ""
        self.checked_at: float | None = None

    # --- planning ---------------------------------------------------------------

    def plan(self) -> None:
        for _ in range(_MAX_REPLANS):
            found = planning.plan(
                self.run, beat=self.beat, wait_for=self.newest_version
            )
            self.newest_version = ""
            self.beat()
            self.hook("planned")
            if self.take(found):
                return None
        return self.move(
            RunState.CONFLICT,
            "Other runs kept taking devices of the same pools; start this one again.",
            ticket=None,
        )

    def take(
        self, found: planning.PlanOutcome, ground: planning.Ground | None = None
    ) -> bool:
        """Go on with a plan; False when another plan or a change came first.

        ``ground``: what it was made on with others of a batch. A run that has to wait
        stays in "planning" then.
        """
        match found:
            case planning.NoFit(reason):
                self.move(RunState.NO_FIT, reason, ticket=None)
            case planning.Contended(reason) if self.run.dry_run:
                self.move(RunState.NO_FIT, f"{reason} {_IN_A_MOMENT}")
            case planning.Contended(reason) if ground is None:
                self.await_others(reason)
            case planning.Contended():
                pass  # its turn to wait comes by itself
            case planning.Hopeless(reason):
                self.move(RunState.FAILED, reason)
            case planning.Arrived(attempt):
                self.adopt(attempt)
            case planning.Planned() if self.run.dry_run:
                return self.show(found, ground)
            case planning.Planned():
                return self.commit_to(found)
        return True

    def await_others(self, reason: str) -> None:
        """Wait for plans that others have given up, or "does not fit" would be wrong.

        What this run had planned before is given up with it: two that wait for each
        other's would wait in vain. Raises RunBusyError, or ends the run.
        """
        planning_since = self.run.transitions.filter(to_state=RunState.PLANNING)
        latest = planning_since.order_by("pk").last()
        rows = AllocationRun.objects.filter(pk=self.run.pk, worker=self.run.worker)
        rows.update(ticket=None)
        awaiting.give_back(
            self.run,
            f"Waits until other runs have settled what they had planned. {reason}",
            began=latest.at if latest is not None else self.run.created_at,
        )
        self.move(RunState.NO_FIT, reason, ticket=None)

    def show(self, planned: planning.Planned, ground: planning.Ground | None) -> bool:
        """End a dry run; False when the cluster has changed too much since."""
        wrong = self.objections(planned, ground)
        if wrong and self.has_changed(planned):
            return False
        if wrong:
            self.move(RunState.FAILED, wrong)
            return True
        requests = self.foreseen(planned)
        doubt = f" Do not rely on it: {planned.doubt}" if planned.doubt else ""
        self.move(
            RunState.DONE,
            f"Dry run: it fits on {_place(planned.node_name)}. Nothing was written.{doubt}",
            **_columns(planned, requests),
        )
        return True

    def objections(
        self,
        planned: planning.Planned,
        ground: planning.Ground | None,
        now: Snapshot | None = None,
    ) -> str:
        others = ground.promised() if ground is not None else None
        return checking.objections(
            self.run, planned.allocation, planned.node_name, others, now
        )

    def has_changed(self, planned: planning.Planned) -> bool:
        """Whether a plan that does not hold was made on what is no more so."""
        return snapshots.current(self.run.cluster).seq != planned.snapshot_seq

    def commit_to(self, planned: planning.Planned) -> bool:
        """Store the plan and become "writing", or "failed" when the plan breaks a rule.

        False when another plan or a change of the cluster came first, which is no
        fault of this one.
        """
        step = self.to_writing(planned)
        self.hook(f"before {RunState.WRITING}")
        wrong = self.objections(planned, None)
        if wrong and self.has_changed(planned):
            return False
        with transaction.atomic():
            ticket = reservations.draw(self.run, planned.allocation, after=planned.seen)
            if ticket is None:
                return False
            if wrong:
                self.move(RunState.FAILED, wrong, ticket=None)
                return True
            self.changed(
                step.to,
                step.reason,
                details=step.details,
                ticket=ticket,
                **step.changes,
            )
        self.resumed = False
        self.checked_at = time.monotonic()
        return True

    def to_writing(self, planned: planning.Planned) -> Move:
        """The step with the plan; its ticket is still to be drawn."""
        columns = _columns(planned, self.foreseen(planned))
        return Move(
            run=self.run,
            to=RunState.WRITING,
            actor=self.actor,
            reason=f"Planned on {_place(planned.node_name)}.",
            details={"plan": columns["plan"], "node": planned.node_name},
            changes={"attempts": self.run.attempts + 1, "committed": False, **columns},
        )

    def foreseen(self, planned: planning.Planned) -> list[Request]:
        """What the cluster's writer would send; a read-only one's, as if it had one."""
        allocation, node_name = planned.allocation, planned.node_name
        try:
            writer = wiring.writer_for(self.run.cluster.name)
        except wiring.NoWriterError:
            return foresee(self.order(allocation, node_name), planned.claim)
        order = self.order(allocation, node_name, writer)
        return writer.preview(order, planned.claim)

    def order(
        self,
        allocation: AllocationResult,
        node_name: str,
        writer: Writer | None = None,
    ) -> Order:
        run = self.run
        alike = nodes.Likeness(tolerations=(), scheduler="")
        if writer is not None and writer.name == "carrier":
            now = snapshots.current(run.cluster)
            alike = nodes.likeness_for(run, node_name, now)
        return Order(
            namespace=run.namespace,
            name=run.claim_name,
            uid=run.claim_uid,
            allocation=allocation,
            node_name=node_name,
            run=str(run.pk),
            created_by=str(run.created_by or ""),
            # Of claims that go together it does not matter which of a node's devices
            # each gets, and the scheduler gives them out in its own order.
            accept_other_devices=True if run.batch_id or run.rule_id else None,
            **alike,
        )

    # --- writing ------------------------------------------------------------------

    def write(self) -> None:
        try:
            writer = wiring.writer_for(self.run.cluster.name)
        except wiring.NoWriterError as error:
            if not self.resumed:
                return self.move(
                    RunState.FAILED, f"Nothing was written: {error}", ticket=None
                )
            return self.react(
                Unknown(f"{error} An earlier worker may have written the allocation.")
            )
        plan = read(self.run.plan, AllocationResult)
        return self.with_locks(plan, lambda: self.write_plan(writer, plan))

    def write_plan(self, writer: Writer, plan: AllocationResult) -> None:
        if self.resumed or self.still_holds(plan):
            self.react(self.send(writer, plan))

    def still_holds(self, plan: AllocationResult) -> bool:
        """Whether a plan that has waited may be written; else the run has moved on."""
        checked = self.checked_at
        if checked is not None and time.monotonic() - checked < _CHECKED_FOR:
            return True
        stale = freshness.await_fresh(self.run, beat=self.beat, proof=True)
        if stale is not None:
            self.move(RunState.FAILED, f"Nothing was written: {stale}", ticket=None)
            return False
        wrong = checking.objections(self.run, plan, self.run.node_name)
        if wrong:
            self.again(
                Changed(f"The cluster has changed since it was planned. {wrong}")
            )
            return False
        return True

    def send(self, writer: Writer, plan: AllocationResult) -> Outcome:
        order = self.order(plan, self.run.node_name, writer)
        began = time.monotonic()
        outcome = writer.write(
            replace(order, resumed=self.resumed), before=self.before, beat=self.beat
        )
        count_write(outcome, time.monotonic() - began)
        self.hook("sent")
        return outcome

    def react(self, outcome: Outcome) -> None:
        match outcome:
            case Written(exact=True):
                self.written(outcome)
            case Written():
                self.move(
                    RunState.FAILED,
                    "The API server stored another allocation than was sent: it does not "
                    "know all of its fields. Look at the claim and release it.",
                    written_resource_version=outcome.resource_version,
                )
            case Changed():
                self.again(outcome)
            case Refused(claim=claim) if claim and (ours := self.own(claim)):
                self.adopt(ours)
            case Refused(refusal=Refusal.OTHER_DEVICES | Refusal.IN_FLIGHT):
                # Somebody else was about to take them: the next plan may do better.
                self.again(Changed(outcome.reason))
            case Refused(refusal=Refusal.ALLOCATED):
                self.move(RunState.CONFLICT, outcome.reason, ticket=None)
            case Refused():
                details = {"refusal": str(outcome.refusal), "missing": outcome.missing}
                self.move(RunState.FAILED, outcome.reason, details=details, ticket=None)
            case Unknown():
                self.move(
                    RunState.FAILED,
                    f"{outcome.reason} Look at the claim before you start again.",
                )

    def written(self, outcome: Written) -> None:
        changes: dict[str, Any] = {}
        if outcome.requests:
            changes["patch"] = [r.as_json() for r in outcome.requests]
        if outcome.allocation is not None:  # as the scheduler made it
            changes["plan"] = write(outcome.allocation)
        version = outcome.resource_version
        if outcome.also_held_by:
            self.move(
                RunState.FAILED,
                f"{' '.join(outcome.also_held_by)} {verifying.DO_NOT_RELEASE}",
                details={"booked_twice": list(outcome.also_held_by)},
                written_resource_version=version,
                **changes,
            )
            return
        self.move(
            RunState.VERIFYING,
            f"Written; waiting for the watch to show it. {outcome.note}".strip(),
            written_resource_version=version,
            **changes,
        )

    def again(self, outcome: Changed) -> None:
        if self.run.attempts >= settings.RUN_MAX_ATTEMPTS:
            self.move(
                RunState.CONFLICT,
                f"{outcome.reason} That happened {self.run.attempts} times; start again "
                "when nobody else works on the claim.",
                ticket=None,
            )
            return
        self.newest_version = outcome.resource_version
        self.move(RunState.PLANNING, f"{outcome.reason} Planning again.")

    def own(self, claim: dict[str, Any]) -> Attempt | None:
        """The earlier plan of this run that the claim holds after all."""
        try:
            theirs = read(allocation_of(claim), AllocationResult)
        except ObjectError:
            return None
        return reservations.own_attempt(self.run, theirs)

    def adopt(self, attempt: Attempt) -> None:
        """A plan of ours that was thought lost has arrived: go on with that one."""
        self.move(
            RunState.VERIFYING,
            "An earlier request of this run had been carried out.",
            plan=write(attempt.allocation),
            node_name=attempt.node_name,
        )

    # --- verifying ----------------------------------------------------------------

    def verify(self) -> None:
        match verifying.verify(self.run, beat=self.beat):
            case verifying.Confirmed():
                self.move(RunState.DONE, f"Allocated on {_place(self.run.node_name)}.")
            case verifying.Wrong(reason, booked_twice):
                details = {"booked_twice": list(booked_twice)} if booked_twice else {}
                self.move(RunState.FAILED, reason, details=details)


def _columns(planned: planning.Planned, requests: list[Request]) -> dict[str, Any]:
    return {
        "plan": write(planned.allocation),
        "patch": [request.as_json() for request in requests],
        "before": part_of(planned.claim),
        "node_name": planned.node_name,
        "snapshot_seq": planned.snapshot_seq,
    }


def part_of(claim: dict[str, Any]) -> dict[str, Any]:
    """What a run may change of a claim: its finalizers and its status."""
    meta = claim.get("metadata")
    finalizers = meta.get("finalizers") if isinstance(meta, dict) else None
    return {
        "metadata": {"finalizers": finalizers or []},
        "status": claim.get("status") or {},
    }


def _place(node_name: str) -> str:
    return f"node {node_name}" if node_name else "no particular node"
