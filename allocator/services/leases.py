"""Who works on a run: one worker, until its lease ends.

A task is delivered at least once, so two workers may hold the same run's id. The
lease lets one of them work; it is renewed at every step and ends by itself when the
worker dies. Should a worker that was only slow wake up after its lease, its next ``move``
or sign of life finds another name on the run, and it stops.

When a lease begins and whether it is over goes by the database's clock: those of the
workers' machines differ, and one that is fast would take a run from a living worker.
"""

from __future__ import annotations

import os
import socket
import threading
import uuid
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from typing import Any, Final
from uuid import UUID

import structlog
from django.conf import settings
from django.db import Error as DBError
from django.db import InterfaceError, OperationalError, connection, transaction
from django.db.models import Case, F, Q, When
from django.db.models.expressions import CombinedExpression
from django.db.models.functions import Now

from allocator.choices import FINAL, OPEN, RunState
from allocator.models import AllocationRun, RunTransition

log = structlog.get_logger("allocator.runs")

DATABASE_AWAY: Final = (OperationalError, InterfaceError)
"""It does not answer, or had to choose between two of us."""
_DATABASE_SECONDS: Final = 5.0
NOBODYS: Final[dict[str, Any]] = {"worker": "", "lease_until": None}
"""Columns of a run that nobody works on: whoever is told of it next does."""
OVER: Final = Q(lease_until__lt=Now())
"""Runs whose worker has died, or has lost them."""
_FREE: Final = Q(lease_until__isnull=True) | OVER
LEFT: Final = F("lease_until") - Now()
"""What is left of a lease, for those who come back when it is over."""
_TAKEOVERS: Final = Case(
    When(lease_until__isnull=False, then=F("takeovers") + 1), default=F("takeovers")
)


class RunBusyError(Exception):
    """The run cannot go on now; look again ``retry_in`` seconds from now.

    Another worker is on it, whose lease ends then, or it waits for something.
    """

    def __init__(self, retry_in: float) -> None:
        self.retry_in = retry_in
        super().__init__(f"the run cannot go on for {retry_in:.0f} s")


@contextmanager
def interruptible(what: UUID) -> Iterator[None]:
    """Without its database a worker leaves ``what`` as it is, for whoever comes later.

    Raises RunBusyError then. No row tells of it, nor could any.
    """
    try:
        yield
    except DATABASE_AWAY as error:
        connection.close_if_unusable_or_obsolete()
        log.warning("run.database_failed", what=str(what), error=str(error))
        raise RunBusyError(_DATABASE_SECONDS) from error


def new_worker_name() -> str:
    """Host, process and thread for people, and a part that makes it this execution's."""
    thread = threading.get_native_id()
    mark = uuid.uuid4().hex[:8]
    return f"{socket.gethostname()}:{os.getpid()}:{thread}:{mark}"


def take(run_id: UUID, worker: str) -> AllocationRun | None:
    """The run, ours for a while. None when it is over, or is no more.

    Who gave it back has left no lease; a lease that ended is that of a worker that died,
    and counts. Raises RunBusyError while somebody else has it.
    """
    taken = AllocationRun.objects.filter(_FREE, pk=run_id, state__in=OPEN).update(
        worker=worker, lease_until=until(), takeovers=_TAKEOVERS
    )
    run = (
        AllocationRun.objects.select_related("cluster", "created_by")
        .annotate(lease_left=LEFT)
        .filter(pk=run_id)
        .first()
    )
    if run is None or run.state in FINAL:
        return None
    if not taken:
        # Free by now if it has no lease: then the next try may come at once.
        raise RunBusyError(seconds_of(run.lease_left) + 1.0)
    return run


def begin_together(run_ids: Collection[UUID], worker: str) -> list[AllocationRun]:
    """Those of the runs that are queued and that nobody has, ours and "planning" now.

    In their order in the batch; as :func:`take` and the step to "planning" of each, in
    one transaction.
    """
    queued = AllocationRun.objects.filter(_FREE, pk__in=run_ids, state=RunState.QUEUED)
    with transaction.atomic():
        queued.update(
            worker=worker,
            lease_until=until(),
            takeovers=_TAKEOVERS,
            state=RunState.PLANNING,
            waits_for="",
            waits_since=None,
        )
        ours = AllocationRun.objects.filter(
            pk__in=run_ids, worker=worker, state=RunState.PLANNING
        )
        runs = list(
            ours.select_related("cluster", "created_by").order_by("position", "pk")
        )
        RunTransition.objects.bulk_create(
            RunTransition(
                run=run,
                from_state=RunState.QUEUED,
                to_state=RunState.PLANNING,
                actor=actor_of(worker),
            )
            for run in runs
        )
    return runs


def actor_of(worker: str) -> str:
    """Whom a transition names: the worker without what makes it this execution's."""
    return worker.rsplit(":", 1)[0]


def release(run: AllocationRun) -> None:
    """Let others have it; nothing happens when it is not ours any more."""
    release_together([run.pk], run.worker)


def release_together(run_ids: Collection[UUID], worker: str) -> None:
    """:func:`release` those of the runs that ``worker`` has."""
    AllocationRun.objects.filter(pk__in=run_ids, worker=worker).update(**NOBODYS)


def abandon(run: AllocationRun) -> None:
    """As if its worker had died now: others may have it at once, and it counts."""
    abandon_together([run.pk], run.worker)


def abandon_together(run_ids: Collection[UUID], worker: str) -> None:
    """:func:`abandon` those of the runs that ``worker`` has."""
    connection.close_if_unusable_or_obsolete()
    with suppress(DBError):  # then it ends by itself
        AllocationRun.objects.filter(pk__in=run_ids, worker=worker).update(
            lease_until=Now() - timedelta(milliseconds=1)
        )


def renew_together(run_ids: Collection[UUID], worker: str) -> None:
    """Keep those of the runs that ``worker`` has for another while."""
    AllocationRun.objects.filter(pk__in=run_ids, worker=worker).update(
        lease_until=until()
    )


def until() -> CombinedExpression:
    """When a lease that is taken or renewed by this statement ends."""
    return Now() + length()


def seconds_of(left: timedelta | None) -> float:
    """Of what :data:`LEFT` said; 0.0 where there is no lease, or it is over."""
    return max(left.total_seconds(), 0.0) if left is not None else 0.0


def length() -> timedelta:
    return timedelta(seconds=settings.RUN_LEASE_SECONDS)
