"""Some runs of a batch: planned one after the other, stored in one transaction.

What one of them is to get is in use for those after it. Where a change or somebody
else's plan comes first, the ones from there on are planned again; they never get ahead
of each other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

import structlog
from django.db import transaction

from allocator import snapshots
from allocator.choices import FINAL
from allocator.models import AllocationRun
from allocator.services import leases, planning, reservations, running
from allocator.services.allocating import Allocating
from allocator.services.planning import Ground, NoFit, Planned, PlanOutcome
from allocator.services.states import Move, RunMovedError, move_together

log = structlog.get_logger("allocator.batches")


def plan_together(runs: Sequence[AllocationRun], ground: Ground) -> list[AllocationRun]:
    """Plan ``runs``, which are "planning" and with one worker, in their order.

    Returns those from the first one on that has to be planned again, on a new ground.
    The others are "writing" and nobody's, over, somebody else's by now, or have to wait.
    """
    group = _Group(runs, ground)
    again = group.plan()
    if not group.store():
        return [run for run in runs if run.state not in FINAL]
    group.settle()
    return again


class _Group:
    def __init__(self, runs: Sequence[AllocationRun], ground: Ground) -> None:
        self.runs = runs
        self.ground = ground
        self.rows = planning.rows_of(runs)
        self.now = snapshots.current(ground.cluster)
        self.planned: list[tuple[Move, Planned]] = []
        self.others: list[tuple[Allocating, PlanOutcome]] = []

    def plan(self) -> list[AllocationRun]:
        """The runs from the first one on for which the ground is too old."""
        for position, run in enumerate(self.runs):
            with alone(run):
                if not self.plan_one(run):
                    return list(self.runs[position:])
        return []

    def plan_one(self, run: AllocationRun) -> bool:
        execution = Allocating(run)
        found = planning.plan_on(
            run, self.rows.get(run.pk), self.ground, beat=self.beating(execution)
        )
        match found:
            case Planned() if run.dry_run:
                if not execution.take(found, self.ground):
                    return False
                self.ground.promise(run, found)
            case Planned():
                if execution.objections(found, self.ground, self.now):
                    return False
                step = execution.to_writing(found)
                self.ground.promise(run, found)
                self.planned.append((step, found))
            case NoFit() if not self.ground.is_new:
                # What is in the way may have been given up since.
                return False
            case _:
                self.others.append((execution, found))
        return True

    def beating(self, execution: Allocating) -> Callable[[], None]:
        """A sign of life of one run that keeps those that wait for it, too."""
        ids, worker = [run.pk for run in self.runs], execution.run.worker

        def beat() -> None:
            leases.renew_together(ids, worker)
            execution.beat()

        return beat

    def store(self) -> bool:
        """Whether the plans are stored; else somebody else's plan came first."""
        if not self.planned:
            return True
        with transaction.atomic():
            tickets = reservations.draw_together(
                [(step.run, found.allocation) for step, found in self.planned],
                after=self.ground.seen,
                counted=self.ground.counted,
            )
            if not tickets:
                return False
            moved = move_together(
                [
                    replace(
                        step, changes=step.changes | leases.NOBODYS | {"ticket": ticket}
                    )
                    for (step, _), ticket in zip(self.planned, tickets, strict=True)
                ]
            )
        self.ground.counted.update(tickets)
        for step, _ in self.planned:
            if step.run not in moved:
                log.info("run.left", run=str(step.run.pk))
                self.ground.withdraw(step.run)
        return True

    def settle(self) -> None:
        """Take the runs that got no plan to where they belong."""
        for execution, found in self.others:
            with alone(execution.run):
                execution.take(found, self.ground)


@contextmanager
def alone(run: AllocationRun) -> Iterator[None]:
    """What goes wrong with a run ends that one in order, and no other of its batch."""
    with structlog.contextvars.bound_contextvars(run=str(run.pk)):
        try:
            yield
        except RunMovedError as moved:
            log.info("run.left", why=str(moved))
        except leases.DATABASE_AWAY:
            raise  # the run is as it was, and comes again
        # A fault of ours must not cost the others their plan.
        except Exception as error:
            log.exception("run.broke", state=str(run.state))
            running.end_broken(run, error)
