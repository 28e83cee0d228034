"""What a run waits for that no worker can hasten, and for how long it may.

The run says so in its row and goes back to the queue, so that a mirror that is behind
for a minute holds up no worker. Its patience counts from the first time.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Final

from django.conf import settings
from django.db.models import DateTimeField, QuerySet
from django.db.models.functions import Coalesce
from django.utils import timezone

from allocator.models import AllocationRun
from allocator.services.leases import RunBusyError

AGAIN: Final = 1.0
"""Seconds after which a run that waits is looked at again."""
_TIME: Final = DateTimeField()


def give_back(run: AllocationRun, what: str, *, began: datetime) -> None:
    """Let ``run`` wait for ``what`` (a sentence) in the queue; it has since ``began``.

    Raises RunBusyError; returns once it has waited as long as it may.
    """
    if may_wait([run.waits_since or began]):
        note(_row(run), what, began=began)
        raise RunBusyError(AGAIN)


def over(run: AllocationRun) -> None:
    """It need not wait any more; for something else it may wait as long again."""
    if run.waits_for:
        _row(run).update(waits_for="", waits_since=None)
        run.waits_for, run.waits_since = "", None


def may_wait(since: Iterable[datetime]) -> bool:
    """Whether nobody has waited for ``RUN_WATCH_SECONDS`` yet."""
    earliest = timezone.now() - timedelta(seconds=settings.RUN_WATCH_SECONDS)
    return all(began > earliest for began in since)


def note(rows: QuerySet[AllocationRun], what: str, *, began: datetime) -> None:
    """Say in ``rows`` what they wait for: since ``began``, unless they did before."""
    rows.update(
        waits_for=what, waits_since=Coalesce("waits_since", began, output_field=_TIME)
    )


def _row(run: AllocationRun) -> QuerySet[AllocationRun]:
    return AllocationRun.objects.filter(pk=run.pk, state=run.state, worker=run.worker)
