"""One worker's work on one run: its way from state to state, whatever the run is for.

What a step needs is in the row before the step begins, and every request is recorded
before it is sent. So a task that is delivered twice, or again after its worker died at
any line, goes on from there.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Final

from django.utils import timezone

from allocator.choices import FINAL, RunState
from allocator.models import AllocationRun
from allocator.services import cleaning, freshness, leases, locks, steps
from allocator.services.leases import RunBusyError
from allocator.services.pausing import pauses
from allocator.services.states import move
from cluster.writeback import Request, Step
from dra.objects import AllocationResult

Hook = Callable[[str], None]

_PATIENCE: Final = 2.0
"""Seconds that a worker waits for the lock of a pool before it takes another run."""
_LOOKS: Final = (0.02, 0.2)
"""Seconds between two looks at a lock, from the first pair to the last."""
_AGAIN: Final = 1.0
"""Seconds after which the run is looked at again."""
_BEAT: Final = 0.25
"""Seconds between two signs of life of a worker that waits."""


def unobserved(_point: str) -> None:
    """Nobody watches the points of a run."""


class Execution(ABC):
    """``hook`` hears the name of every point where a worker may die."""

    def __init__(self, run: AllocationRun, hook: Hook = unobserved) -> None:
        self.run = run
        self.hook = hook
        self.actor = leases.actor_of(run.worker)
        self.locks = locks.PoolLocks(run)
        # A worker that is gone may have sent something.
        self.resumed = run.state == RunState.WRITING and steps.any_sent(run)
        # Whoever took the run has just shown that it is alive.
        self._beaten = time.monotonic() if not run.stop_asked else float("-inf")

    def go(self) -> None:
        work = {
            RunState.QUEUED: self.begin,
            RunState.PLANNING: self.plan,
            RunState.WRITING: self.write,
            RunState.VERIFYING: self.verify,
        }
        while self.run.state not in FINAL:
            try:
                self.beat()
                work[RunState(self.run.state)]()
            except steps.StopAskedError:
                self.stop()
            self.hook(f"now {self.run.state}")

    def begin(self) -> None:
        gone, began = freshness.left(self.run.cluster), timezone.now()
        freshness.hold_up(self.run, gone, began=began)
        if gone is not None:
            self.move(RunState.FAILED, f"Nothing was written. {gone}")
        else:
            self.move(RunState.PLANNING)

    @abstractmethod
    def plan(self) -> None: ...

    @abstractmethod
    def write(self) -> None: ...

    @abstractmethod
    def verify(self) -> None: ...

    def move(self, to: RunState, reason: str = "", **changes: Any) -> None:
        self.hook(f"before {to}")
        self.changed(to, reason, **changes)

    def changed(self, to: RunState, reason: str, **changes: Any) -> None:
        """As :meth:`move`, for callers that have something to do in between."""
        if to not in FINAL:
            changes.setdefault("lease_until", leases.until())
        move(self.run, to, actor=self.actor, reason=reason, **changes)
        self._beaten = time.monotonic()

    def beat(self) -> None:
        """A sign of life; raises when the run is not ours or is to be stopped.

        One that comes right after another is left out. Nothing is lost by that: every
        change of the run and every request asks again.
        """
        now = time.monotonic()
        if now - self._beaten < _BEAT:
            return
        steps.alive(self.run)
        self.locks.renew()
        self._beaten = now

    def before(self, step: Step, request: Request) -> None:
        """Ahead of every request that changes the cluster."""
        steps.record(self.run, step, request)
        self.locks.renew()
        self.hook(f"before sending {step}")

    def with_locks(self, plan: AllocationResult, work: Callable[[], None]) -> None:
        """Do ``work`` while no other run writes to the pools of ``plan``.

        Raises RunBusyError when another one takes long; ends the run when it takes
        too long.
        """
        end, pause = time.monotonic() + _PATIENCE, pauses(*_LOOKS)
        while not self.locks.take(plan):
            if time.monotonic() < end:
                time.sleep(next(pause))
                continue
            self.beat()
            if steps.waited_too_long(self.run) and not self.resumed:
                self.move(
                    RunState.FAILED,
                    f"Nothing was written: {self.locks.holder()} is writing to the same pool, and has "
                    "been for too long. Look at that run, then start again.",
                    ticket=None,
                )
                return
            raise RunBusyError(_AGAIN)
        try:
            work()
        finally:
            self.locks.release()

    def stop(self) -> None:
        """Somebody asked for it, and nothing that cannot be undone has been sent."""
        self.hook("stopping")
        left = cleaning.clean_run(self.run) if steps.any_sent(self.run) else ""
        asked_by = self.run.stop_asked
        move(
            self.run,
            RunState.CANCELLED,
            actor=asked_by,
            reason=f"Cancelled by {asked_by} before anything was final. {left}".strip(),
            ticket=None,
        )
