"""Runs of scenarios: short ones answer at once, long ones go to a worker.

A run is asked right away, for as long as somebody may wait for a page. If that was too
short, what was found is kept and a worker begins anew; while it works, the row says
how far it is and holds what was found by then, and somebody may cancel. A worker that
dies loses its lease, and the next one begins anew: a scenario changes nothing, so that
is harmless.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any, Final
from uuid import UUID

import structlog
from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Q, QuerySet
from django.db.models.functions import Now
from django.utils import timezone

from allocator.choices import OPEN_WHAT_IFS, WhatIfState
from allocator.models import SavedScenario, WhatIfRun
from allocator.services.leases import new_worker_name
from allocator.services.queueing import QueueError
from allocator.whatif.asking import Asked, ask, found_in
from allocator.whatif.queueing import enqueue_what_if
from dra.whatif import Scenario, ScenarioError, read_scenario, write_scenario
from dra.whatif import scenario_hash as digest_of
from dra.whatif.run import Progress
from inventory.models import Cluster
from inventory.selecting import Deadline

log = structlog.get_logger("allocator.whatif")

MOST_ATTEMPTS: Final = 3
MOST_KEPT: Final = 200
"""Runs of one user in one cluster; the oldest go."""
_LEASE: Final = timedelta(seconds=60)
# By the database's clock, as in ``allocator.services.leases``.
_UNTIL: Final = Now() + _LEASE
_OVER: Final = Q(lease_until__lt=Now())
_FREE: Final = Q(lease_until__isnull=True) | _OVER
_BEAT: Final = 1.0
"""Seconds between two looks at the row of a run."""
_STORE: Final = 2.0
"""Seconds between two times when what was found so far is stored, at least."""
_STORE_PART: Final = 8
"""Storing may take one part of so many of a run's time."""


class WhatIfRefused(Exception):  # noqa: N818 (an answer to the user, named so in the API)
    """Not now, or not any more; the text is a sentence for the user."""


class _NotOursError(Exception):
    """Another worker has the run, or it is over."""


# --- starting ---------------------------------------------------------------


def start_what_if(
    *,
    cluster: Cluster,
    user: User,
    scenario: Scenario,
    title: str = "",
    saved: SavedScenario | None = None,
    previous: WhatIfRun | None = None,
) -> WhatIfRun:
    """Ask, and record the answer; ``is_open`` when a worker has to go on.

    Raises :class:`~dra.whatif.ScenarioError` for what this cluster cannot have, then
    nothing is recorded, and :class:`WhatIfRefused` when the user has too many under way.
    """
    run = _recorded(
        WhatIfRun(
            cluster=cluster,
            user=user,
            scenario=saved,
            previous=previous,
            title=(title or scenario.name)[:200],
            document=write_scenario(scenario),
            digest=digest_of(scenario),
            state=WhatIfState.RUNNING,
            worker=new_worker_name(),
            lease_until=_UNTIL,
        )
    )
    try:
        short = Deadline(settings.WHAT_IF_INLINE_SECONDS)
        asked = ask(cluster, scenario, stop=short, goes_on=True)
    except BaseException:
        run.delete()
        raise
    if asked.complete:
        _end(run, WhatIfState.DONE, asked)
    else:
        _hand_over(run, asked)
    return run


def ask_again(*, run: WhatIfRun, user: User) -> WhatIfRun:
    """The same scenario on the cluster as it is now, as a new run. Raises as above."""
    return start_what_if(
        cluster=run.cluster,
        user=user,
        scenario=read_scenario(run.document),
        title=run.title,
        saved=run.scenario,
        previous=run,
    )


def runs_of(user: User, cluster: Cluster | None = None) -> QuerySet[WhatIfRun]:
    """The user's runs, newest first, results left out."""
    found = WhatIfRun.objects.filter(user=user)
    if cluster is not None:
        found = found.filter(cluster=cluster)
    return found.select_related("cluster", "user").defer("result", "document")


def _recorded(run: WhatIfRun) -> WhatIfRun:
    """Save a new run if its user may have one more under way."""
    with transaction.atomic():
        # One at a time per user: two tabs must not both count to one below the limit.
        User.objects.select_for_update().get(pk=run.user_id)
        own = WhatIfRun.objects.filter(user_id=run.user_id)
        under_way = own.filter(state__in=OPEN_WHAT_IFS).count()
        if under_way >= settings.WHAT_IF_AT_ONCE:
            raise WhatIfRefused(
                f"You have {under_way} what-ifs under way, more are not begun at once. "
                "Wait for one of them, or cancel one."
            )
        old = own.filter(cluster=run.cluster).order_by("-created_at", "pk")
        old = old.exclude(state__in=OPEN_WHAT_IFS)
        surplus = list(old.values_list("pk", flat=True)[MOST_KEPT - 1 :])
        if surplus:
            WhatIfRun.objects.filter(pk__in=surplus).delete()
        run.save(force_insert=True)
    return run


def _hand_over(run: WhatIfRun, asked: Asked) -> None:
    """Keep what was found in the first moment and have a worker do it in full."""
    _keep(run, asked)
    run.state = WhatIfState.QUEUED
    run.worker, run.lease_until = "", None
    run.save()
    transaction.on_commit(lambda: _tell_workers(run))


def _tell_workers(run: WhatIfRun) -> None:
    try:
        enqueue_what_if(run.pk)
    except QueueError:
        _end(
            run,
            WhatIfState.FAILED,
            reason="The task queue cannot be reached, so no worker would go on. What is "
            "shown was found in the first moment; run it again when the queue is back.",
        )


# --- in a worker ------------------------------------------------------------


def execute_what_if(run_id: UUID) -> None:
    """Answer an open run. Nothing happens when it is over or somebody else has it."""
    run = _take(run_id)
    if run is None:
        return
    if run.attempts > MOST_ATTEMPTS:
        _end(
            run,
            WhatIfState.FAILED,
            reason=f"{MOST_ATTEMPTS} workers began this and none came to an end. Make the "
            "scenario smaller, or tell an administrator: their logs say more.",
        )
        return
    watch = _Watch(run)
    try:
        asked = ask(
            run.cluster,
            read_scenario(run.document),
            stop=watch,
            progress=watch.note,
            look=watch.look,
            count_always=True,
        )
    except _NotOursError:
        return
    except ScenarioError as error:
        # The cluster has changed since the first moment.
        _end(run, WhatIfState.FAILED, reason=f"{error}. The cluster has changed.")
        return
    # Somebody waits for this run: a fault of ours has to end it, in words.
    except Exception:
        log.exception("whatif.failed", run=str(run.pk))
        _end(
            run,
            WhatIfState.FAILED,
            reason="The portal failed while it worked this out. Nothing was changed; an "
            "administrator finds the reason in the worker's log.",
        )
        return
    if asked.complete:
        _end(run, WhatIfState.DONE, asked)
    elif watch.cancelled:
        reason = "Cancelled. What is shown was found until then."
        _end(run, WhatIfState.CANCELLED, asked, reason=reason)
    else:
        _end(
            run,
            WhatIfState.DONE,
            asked,
            reason=f"It was stopped after {settings.WHAT_IF_SECONDS} s. What is shown is "
            "true, but not all: ask for fewer copies or fewer nodes.",
        )


def _take(run_id: UUID) -> WhatIfRun | None:
    found = WhatIfRun.objects.filter(_FREE, pk=run_id, state__in=OPEN_WHAT_IFS)
    if not found.update(
        state=WhatIfState.RUNNING, worker=new_worker_name(), lease_until=_UNTIL
    ):
        return None
    run = WhatIfRun.objects.select_related("cluster").get(pk=run_id)
    run.attempts += 1
    run.save(update_fields=["attempts"])
    return run


class _Watch:
    """Tells a run when to stop, and the row how far the run is and what it has found;
    cheap to ask often."""

    def __init__(self, run: WhatIfRun) -> None:
        self.run = run
        self.cancelled = False
        self._progress: Progress | None = None
        now = time.monotonic()
        self._end, self._next = now + settings.WHAT_IF_SECONDS, now
        self._next_store = now + _STORE

    def __call__(self) -> bool:
        now = time.monotonic()
        if now >= self._next and not self.cancelled:
            self._next = now + _BEAT
            self._look()
        return self.cancelled or now >= self._end

    def note(self, progress: Progress) -> None:
        self._progress = progress

    def look(self, so_far: Callable[[], Asked]) -> None:
        """Store what was found so far, when it is time again."""
        began = time.monotonic()
        if began < self._next_store:
            return
        _keep_further(self.run, so_far())
        if not _ours(self.run).update(**_answer_of(self.run)):
            raise _NotOursError
        now = time.monotonic()
        self._next_store = now + max(_STORE, _STORE_PART * (now - began))

    def _look(self) -> None:
        changes: dict[str, Any] = {"lease_until": _UNTIL}
        if self._progress is not None:
            changes |= {
                "step": self._progress.step,
                "done": self._progress.done,
                "total": self._progress.total,
            }
        ours = _ours(self.run)
        if not ours.update(**changes):
            raise _NotOursError
        self.cancelled = bool(ours.values_list("cancel_asked", flat=True).first())


def _ours(run: WhatIfRun) -> QuerySet[WhatIfRun]:
    return WhatIfRun.objects.filter(
        pk=run.pk, worker=run.worker, state__in=OPEN_WHAT_IFS
    )


# --- ends -------------------------------------------------------------------


def cancel_what_if(*, run: WhatIfRun) -> WhatIfRun:
    """Stop it as soon as its worker looks. Raises :class:`WhatIfRefused` when it is over."""
    here = WhatIfRun.objects.filter(pk=run.pk, state__in=OPEN_WHAT_IFS)
    stopped = here.filter(_FREE).update(
        state=WhatIfState.CANCELLED,
        finished_at=timezone.now(),
        reason="Cancelled. What is shown was found until then.",
    )
    if not stopped and not here.update(cancel_asked=True):
        run.refresh_from_db()
        raise WhatIfRefused(f"It is over: {run.get_state_display()}.")
    run.refresh_from_db()
    return run


def _keep(run: WhatIfRun, asked: Asked) -> None:
    run.result, run.complete = asked.result, asked.complete
    run.fits = bool(asked.result["fits"]) if asked.complete else None
    run.sentence = asked.result["sentence"]
    run.snapshot_seq, run.snapshot_at = asked.seq, asked.at
    run.seconds = asked.seconds


def _keep_further(run: WhatIfRun, asked: Asked) -> None:
    """As :func:`_keep`, unless less was found than the run has: a worker begins anew, and
    what somebody has seen does not go away again before it is there."""
    if asked.complete or run.result is None or asked.found >= found_in(run.result):
        _keep(run, asked)


def _end(
    run: WhatIfRun, state: WhatIfState, asked: Asked | None = None, *, reason: str = ""
) -> None:
    """Unless somebody else has it by now."""
    if asked is not None:
        _keep_further(run, asked)
    changes = _answer_of(run)
    changes |= {"state": state, "reason": reason, "finished_at": timezone.now()}
    _ours(run).update(**changes, lease_until=None)
    run.refresh_from_db()


def _answer_of(run: WhatIfRun) -> dict[str, Any]:
    return {name: getattr(run, name) for name in _ANSWER}


_ANSWER: Final = (
    "result",
    "complete",
    "fits",
    "sentence",
    "snapshot_seq",
    "snapshot_at",
    "seconds",
)
"""What :func:`_keep` writes."""


# --- periodic ---------------------------------------------------------------


def sweep_what_ifs() -> int:
    """Have workers take up open runs that nobody is on; how many."""
    lost = _OVER | Q(lease_until__isnull=True, created_at__lt=Now() - _LEASE)
    found = WhatIfRun.objects.filter(lost, state__in=OPEN_WHAT_IFS)
    return _each(found.values_list("pk", flat=True)[:500], enqueue_what_if)


def prune_what_ifs() -> int:
    """Delete ended runs older than ``WHAT_IF_KEEP_DAYS``; how many."""
    limit = timezone.now() - timedelta(days=settings.WHAT_IF_KEEP_DAYS)
    old = WhatIfRun.objects.filter(created_at__lt=limit).exclude(
        state__in=OPEN_WHAT_IFS
    )
    return old.delete()[0]


def _each(ids: Any, act: Callable[[UUID], None]) -> int:
    number = 0
    for pk in ids:
        try:
            act(pk)
        except QueueError:
            break
        number += 1
    return number
