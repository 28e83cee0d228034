"""A run's way through its states, from whichever it is in.

    queued → planning → (dry run: done) → writing → verifying → done

and from the states in between to "does not fit", "conflict" or "failed". What a
step needs is in the row before the step begins: the plan with its timestamp is
stored before the first request is sent. So a task that is delivered twice, or again
after its worker died at any line, goes on from there: planning starts over, writing
finds its own allocation or writes the same one, verifying looks again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any
from uuid import UUID

import structlog
from django.conf import settings
from django.db import transaction

from allocator import wiring
from allocator.choices import FINAL, RunState
from allocator.models import AllocationRun
from allocator.services import checking, leases, planning, reservations, verifying
from allocator.services.reservations import Attempt
from allocator.services.states import RunMovedError, move
from cluster.writeback import (
    Changed,
    Order,
    Outcome,
    Refusal,
    Refused,
    Request,
    Step,
    Unknown,
    Writer,
    Written,
    allocation_of,
    foresee,
)
from dra.errors import ObjectError
from dra.objects import AllocationResult, read, write

log = structlog.get_logger("allocator.runs")

Hook = Callable[[str], None]
_MAX_REPLANS = 50


def unobserved(_point: str) -> None:
    """Nobody watches the points of a run."""


def execute_run(run_id: UUID, *, hook: Hook = unobserved) -> None:
    """Bring the run to its end. Does nothing when it is over or does not exist.

    ``hook`` hears the name of every point where a worker may die (tests and metrics).
    Raises RunBusyError while another worker is on the run; an unexpected error ends
    the run as failed and is raised.
    """
    run = leases.take(run_id, leases.new_worker_name())
    if run is None:
        return
    with structlog.contextvars.bound_contextvars(run=str(run_id)):
        try:
            _Execution(run, hook).go()
        except RunMovedError as moved:
            log.info("run.left", why=str(moved))
        except Exception as error:
            # Whatever it is, the person who waits must see an end, and a reason.
            log.exception("run.broke", state=str(run.state))
            _end_broken(run, error)
            raise
        leases.release(run)


def _end_broken(run: AllocationRun, error: Exception) -> None:
    sent = " Look at the claim before you start again." if run.ticket else ""
    try:
        move(
            run,
            RunState.FAILED,
            actor=run.worker,
            reason=f"An unexpected error ({type(error).__name__}); the worker's log has "
            f"the details under this run's id.{sent}",
        )
    except RunMovedError as moved:
        log.info("run.left", why=str(moved))


class _Execution:
    """One worker's work on one run."""

    def __init__(self, run: AllocationRun, hook: Hook) -> None:
        self.run = run
        self.hook = hook
        self.actor = run.worker.rsplit(":", 1)[0]
        self.newest_version = ""
        # A worker that is gone may have sent the plan.
        self.resumed = run.state == RunState.WRITING

    def go(self) -> None:
        steps = {
            RunState.QUEUED: self.begin,
            RunState.PLANNING: self.plan,
            RunState.WRITING: self.write,
            RunState.VERIFYING: self.verify,
        }
        while self.run.state not in FINAL:
            leases.renew(self.run)
            steps[RunState(self.run.state)]()
            self.hook(f"now {self.run.state}")

    def move(self, to: RunState, reason: str = "", **changes: Any) -> None:
        self.hook(f"before {to}")
        move(self.run, to, actor=self.actor, reason=reason, **changes)

    def beat(self) -> None:
        leases.renew(self.run)

    def begin(self) -> None:
        self.move(RunState.PLANNING)

    def plan(self) -> None:
        for _ in range(_MAX_REPLANS):
            found = planning.plan(
                self.run, beat=self.beat, wait_for=self.newest_version
            )
            self.newest_version = ""
            self.beat()
            self.hook("planned")
            match found:
                case planning.NoFit(reason):
                    return self.move(RunState.NO_FIT, reason, ticket=None)
                case planning.Hopeless(reason):
                    return self.move(RunState.FAILED, reason)
                case planning.Arrived(attempt):
                    return self.adopt(attempt)
                case planning.Planned() if self.run.dry_run:
                    return self.show(found)
                case planning.Planned():
                    if self.commit_to(found):
                        return None
        return self.move(
            RunState.CONFLICT,
            "Other runs kept taking devices of the same pools; start this one again.",
            ticket=None,
        )

    def show(self, planned: planning.Planned) -> None:
        wrong = checking.objections(self.run, planned)
        if wrong:
            self.move(RunState.FAILED, wrong)
            return
        requests = foresee(self.order(planned), planned.claim)
        doubt = f" Do not rely on it: {planned.doubt}" if planned.doubt else ""
        self.move(
            RunState.DONE,
            f"Dry run: it fits on {_place(planned.node_name)}. Nothing was written.{doubt}",
            **_columns(planned, requests),
        )

    def commit_to(self, planned: planning.Planned) -> bool:
        """Store the plan and become "writing", or "failed" when the plan breaks a rule.

        False when another plan came first, which is no fault of this one.
        """
        requests = foresee(self.order(planned), planned.claim)
        self.hook(f"before {RunState.WRITING}")
        wrong = checking.objections(self.run, planned)
        with transaction.atomic():
            ticket = reservations.draw(self.run, planned.allocation, after=planned.seen)
            if ticket is None:
                return False
            if wrong:
                self.move(RunState.FAILED, wrong, ticket=None)
                return True
            columns = _columns(planned, requests)
            move(
                self.run,
                RunState.WRITING,
                actor=self.actor,
                reason=f"Planned on {_place(planned.node_name)}.",
                details={"plan": columns["plan"], "node": planned.node_name},
                ticket=ticket,
                attempts=self.run.attempts + 1,
                **columns,
            )
        self.resumed = False
        return True

    def order(self, planned: planning.Planned) -> Order:
        return _order(self.run, planned.allocation, planned.node_name)

    def write(self) -> None:
        try:
            writer = wiring.writer_for(self.run.cluster.name)
        except wiring.NoWriterError as error:
            if not self.resumed:
                return self.move(RunState.FAILED, f"Nothing was written: {error}")
            return self.react(
                Unknown(f"{error} An earlier worker may have written the allocation.")
            )
        return self.react(self.send(writer))

    def send(self, writer: Writer) -> Outcome:
        def before(step: Step, _request: Request) -> None:
            leases.renew(self.run)
            self.hook(f"before sending {step}")

        plan = read(self.run.plan, AllocationResult)
        order = _order(self.run, plan, self.run.node_name)
        outcome = writer.write(replace(order, resumed=self.resumed), before=before)
        self.hook("sent")
        return outcome

    def react(self, outcome: Outcome) -> None:
        match outcome:
            case Written(exact=True):
                changes: dict[str, Any] = {}
                if outcome.requests:
                    changes["patch"] = [r.as_json() for r in outcome.requests]
                self.move(
                    RunState.VERIFYING,
                    "Written; waiting for the watch to show it.",
                    written_resource_version=outcome.resource_version,
                    **changes,
                )
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

    def verify(self) -> None:
        match verifying.verify(self.run, beat=self.beat):
            case verifying.Confirmed():
                self.move(RunState.DONE, f"Allocated on {_place(self.run.node_name)}.")
            case verifying.Wrong(reason):
                self.move(RunState.FAILED, reason)


def _order(run: AllocationRun, allocation: AllocationResult, node: str) -> Order:
    return Order(
        namespace=run.namespace,
        name=run.claim_name,
        uid=run.claim_uid,
        allocation=allocation,
        node_name=node,
        run=str(run.pk),
    )


def _columns(planned: planning.Planned, requests: list[Request]) -> dict[str, Any]:
    return {
        "plan": write(planned.allocation),
        "patch": [request.as_json() for request in requests],
        "node_name": planned.node_name,
        "snapshot_seq": planned.snapshot_seq,
    }


def _place(node_name: str) -> str:
    return f"node {node_name}" if node_name else "no particular node"
