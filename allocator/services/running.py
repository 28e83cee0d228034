"""A run's way through its states, from whichever it is in.

    queued → planning → (dry run: done) → writing → verifying → done

and from the states in between to "does not fit", "conflict", "failed" or "cancelled".
``allocating`` and ``deallocating`` say what the steps are.
"""

from __future__ import annotations

from typing import Final
from uuid import UUID

import structlog
from celery.exceptions import SoftTimeLimitExceeded
from django.conf import settings
from django.db.models.functions import Now
from django.utils import timezone

from allocator.choices import FINAL, RunKind, RunState
from allocator.models import AllocationRun
from allocator.services import awaiting, leases
from allocator.services.allocating import Allocating
from allocator.services.asked import for_logs
from allocator.services.deallocating import Deallocating
from allocator.services.execution import Execution, Hook, unobserved
from allocator.services.leases import RunBusyError
from allocator.services.rewriting import Rewriting
from allocator.services.states import RunMovedError, move

log = structlog.get_logger("allocator.runs")

_KINDS: Final[dict[str, type[Execution]]] = {
    RunKind.ALLOCATE: Allocating,
    RunKind.DEALLOCATE: Deallocating,
    RunKind.REWRITE: Rewriting,
}
_NEWER_SECONDS: Final = 5.0
"""While an update is rolled out, workers of two versions take from one queue."""


def execute_run(run_id: UUID, *, hook: Hook = unobserved) -> None:
    """Bring the run to its end. Does nothing when it is over or does not exist.

    ``hook`` hears the name of every point where a worker may die (tests and metrics).
    Raises RunBusyError while the run cannot go on: another worker is on it or on its
    pools, it waits for the watch, or the database is away. An unexpected error ends the
    run as failed and is raised.
    """
    with (
        structlog.contextvars.bound_contextvars(run=str(run_id)),
        leases.interruptible(run_id),
    ):
        run = leases.take(run_id, leases.new_worker_name())
        if run is not None:
            with structlog.contextvars.bound_contextvars(**for_logs(run_id)):
                _bring_on(run, hook)


def _bring_on(run: AllocationRun, hook: Hook) -> None:
    if run.takeovers > settings.RUN_TAKEOVERS:
        _give_up(run)
        return
    try:
        _execution(run, hook).go()
    except RunMovedError as moved:
        log.info("run.left", why=str(moved))
    except RunBusyError:
        _give_back(run)
        raise
    except leases.DATABASE_AWAY:
        leases.abandon(run)
        raise
    except Exception as error:
        # Whatever it is, the person who waits must see an end, and a reason.
        log.exception("run.broke", state=str(run.state))
        end_broken(run, error)
        raise
    if run.state not in FINAL:
        leases.release(run)


def _give_back(run: AllocationRun) -> None:
    """As ``leases.release``, for a run that is in the queue again: no sweep need find it."""
    AllocationRun.objects.filter(pk=run.pk, worker=run.worker).update(
        **leases.NOBODYS, looked_at=Now()
    )


def _execution(run: AllocationRun, hook: Hook) -> Execution:
    """Raises RunBusyError for what only a worker of a newer version can do."""
    if (kind := _KINDS.get(run.kind)) is None:
        what = f"Waits for a worker of a newer version: this one cannot {run.kind}."
        rows = AllocationRun.objects.filter(pk=run.pk, worker=run.worker)
        awaiting.note(rows, what, began=timezone.now())
        raise RunBusyError(_NEWER_SECONDS)
    return kind(run, hook)


def end_broken(run: AllocationRun, error: Exception) -> None:
    """End a run whose worker met what nobody foresaw."""
    _fail(run, _sentence(error))


def _give_up(run: AllocationRun) -> None:
    """End a run that no worker survives."""
    _fail(
        run,
        f"{run.takeovers} workers in a row died while the run was {run.state}, so it was "
        "given up. Their logs say why: killed at the time limit "
        f"({settings.TASK_SECONDS} s, DRA_PORTAL_TASK_SECONDS), out of memory, or without "
        "a database.",
    )


def _fail(run: AllocationRun, why: str) -> None:
    """With what was sent in doubt: the ticket, where there is one, stays."""
    in_doubt = run.ticket is not None or run.committed
    sent = " Look at the claim before you start again." if in_doubt else ""
    if run.kind == RunKind.REWRITE and run.committed:
        sent = (
            " The claim may be without its allocation while its pods run: see the page "
            "of the finding, which this run is a step of."
        )
    actor = run.worker.rsplit(":", 1)[0]
    try:
        move(run, RunState.FAILED, actor=actor, reason=f"{why}{sent}")
    except RunMovedError as moved:
        log.info("run.left", why=str(moved))


def _sentence(error: Exception) -> str:
    if isinstance(error, SoftTimeLimitExceeded):
        return (
            f"It was ended because it took longer than a run may "
            f"({settings.TASK_SECONDS} s, DRA_PORTAL_TASK_SECONDS)."
        )
    return (
        f"An unexpected error ({type(error).__name__}); the worker's log has "
        "the details under this run's id."
    )
