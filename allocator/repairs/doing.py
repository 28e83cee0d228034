"""A worker's part in a repair: putting a quarantine on, and taking it off.

Both may be done twice without harm, so a step whose worker died is simply done again.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final

import structlog
from django.db import transaction
from django.db.models import Q
from django.db.models.functions import Now
from django.utils import timezone
from django.utils.dateparse import parse_datetime

from allocator import wiring
from allocator.choices import BY_WORKERS, RepairAction, StepState
from allocator.models import DeviceRepair, Finding, RepairStep
from allocator.repairs.asking import why_not_lifted
from allocator.repairs.looking import picture_of
from allocator.repairs.telling import tell_workers
from allocator.services.leases import DATABASE_AWAY
from cluster.errors import ClusterError
from cluster.writeback import Refused, Request
from cluster.writeback.quarantining import (
    Lifted,
    Quarantine,
    Quarantined,
)
from dra.names import DeviceID
from inventory.queries.leaving import why_left

_LEASE: Final = timedelta(seconds=180)
_OLD: Final = timedelta(seconds=30)
_MOST: Final = 200
_OURS: Final = Q(run=None, state=StepState.ASKED, action__in=BY_WORKERS)
_DIED: Final = Q(busy_until__lt=Now())
"""Steps whose worker has lost them, by the database's clock as everything about leases."""

log = structlog.get_logger("allocator.repairs")


@dataclass(frozen=True, slots=True)
class _Result:
    done: bool
    text: str
    missing: str = ""
    requests: tuple[Request, ...] = ()
    of_repair: dict[str, Any] = field(default_factory=dict)
    """Columns of the repair that change with it."""


def do_step(step_id: int) -> bool:
    """Do what was asked for; False when it is done, or another worker is on it."""
    free = Q(busy_until=None) | _DIED
    mine = RepairStep.objects.filter(free, _OURS, pk=step_id)
    if not mine.update(busy_until=Now() + _LEASE):
        return False
    step = RepairStep.objects.select_related(
        "repair__cluster", "repair__finding__cluster"
    ).get(pk=step_id)
    try:
        result = _done(step)
    except DATABASE_AWAY:
        raise  # the step is as it was; when its lease has ended, it is done again
    except Exception as error:
        # Whatever it is, the person who waits must see an end, and a reason.
        log.exception("repair.broke", step=step_id)
        _end(
            step,
            _Result(
                done=False,
                text=f"An unexpected error ({type(error).__name__}); the worker's log "
                "has the details. Do the step again.",
            ),
        )
        raise
    return _end(step, result)


def sweep_steps() -> int:
    """Tell the workers again of steps that nobody works on; how many."""
    free = Q(busy_until=None, at__lt=Now() - _OLD) | _DIED
    waiting = RepairStep.objects.filter(free, _OURS)
    ids = list(waiting.order_by("pk").values_list("pk", flat=True)[:_MOST])
    return sum(tell_workers(step_id) for step_id in ids)


def _done(step: RepairStep) -> _Result:
    if why := why_left(step.repair.cluster):
        return _Result(done=False, text=f"Nothing was written. {why}")
    try:
        quarantiner = wiring.quarantiner_for(step.repair.cluster.name)
        if step.action == RepairAction.QUARANTINE:
            wanted = _wanted(step)
            return _put(wanted, quarantiner.put(wanted))
        if why := _unsafe_to_lift(step):
            return _Result(done=False, text=why)
        return _lifted(quarantiner.lift(_wanted(step)))
    except wiring.NoWriterError as error:
        return _Result(done=False, text=f"{error} Nothing was written.")
    except ClusterError as error:
        return _Result(done=False, text=f"The cluster could not be asked: {error}")


def _wanted(step: RepairStep) -> Quarantine:
    repair = step.repair
    until = parse_datetime(str(step.details.get("until") or ""))
    return Quarantine(
        device=DeviceID(repair.driver, repair.pool, repair.device),
        repair=str(repair.pk),
        expires=until,
        finding=str(repair.finding_id or ""),
        created_by=step.actor,
        wish=step.details.get("wish", "auto"),
    )


def _put(wanted: Quarantine, outcome: Any) -> _Result:
    if not isinstance(outcome, Quarantined):
        return _failed(outcome)
    names = ", ".join(outcome.names[:5])
    how = f"by a taint of the node {names}"
    if outcome.means == "rule":
        how = f"by the taint rule{'' if len(outcome.names) == 1 else 's'} {names}"
    until = wanted.expires
    ends = f", until {until:%d %b %Y %H:%M} UTC at the latest" if until else ""
    return _Result(
        done=True,
        text=f"In quarantine {how}{ends}. {outcome.note}".strip(),
        requests=outcome.requests,
        of_repair={"means": outcome.means, "quarantined_until": until},
    )


def _lifted(outcome: Any) -> _Result:
    if not isinstance(outcome, Lifted):
        return _failed(outcome)
    return _Result(
        done=True,
        text="Lifted: pods may have the device again once nobody holds it."
        if outcome.requests
        else "The repair has ended; there was no quarantine of this portal any more.",
        requests=outcome.requests,
        of_repair={"ended_at": timezone.now()},
    )


def _failed(outcome: Any) -> _Result:
    missing = outcome.missing if isinstance(outcome, Refused) else ""
    return _Result(done=False, text=outcome.reason, missing=missing)


def _unsafe_to_lift(step: RepairStep) -> str:
    """Why it must not be lifted now although it might when it was asked for."""
    finding: Finding | None = step.repair.finding
    if finding is None or step.details.get("although_forgotten"):
        return ""
    found = picture_of(finding)
    if found is None or not found.needed:
        return ""
    return f"{why_not_lifted(found)} Nothing was written."


def _end(step: RepairStep, result: _Result) -> bool:
    """False when the step is another worker's by now, who ends it."""
    state = StepState.DONE if result.done else StepState.FAILED
    mine = RepairStep.objects.filter(
        pk=step.pk, state=StepState.ASKED, busy_until=step.busy_until
    )
    with transaction.atomic():
        ended = mine.update(
            state=state,
            result=result.text,
            missing=result.missing,
            requests=[request.as_json() for request in result.requests],
            busy_until=None,
            finished_at=timezone.now(),
        )
        if ended and result.of_repair:
            DeviceRepair.objects.filter(pk=step.repair_id).update(**result.of_repair)
    log.info(
        "repair.step",
        step=step.pk,
        action=step.action,
        state=str(state) if ended else "left",
        result=result.text,
    )
    return bool(ended)
