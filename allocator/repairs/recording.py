"""Recording the steps of a repair: one at a time, with who asked for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from allocator.choices import BY_WORKERS, OPEN, RepairAction, StepState
from allocator.models import AllocationRun, DeviceRepair, RepairStep
from allocator.repairs.picture import Picture
from allocator.repairs.telling import tell_workers
from allocator.services.starting import RunRefused, User, name_of
from claims.models import ResourceClaim


class RepairRefused(Exception):  # noqa: N818  # an answer to the user, named so in the API
    """Why the step cannot be taken now; the text is a sentence. Nothing was written."""


def begun(found: Picture) -> DeviceRepair:
    """The open repair of the device, made where there is none."""
    if found.repair is not None and found.repair.ended_at is None:
        return found.repair
    device = found.device
    repair, _ = DeviceRepair.objects.get_or_create(
        cluster=found.cluster,
        driver=device.driver,
        pool=device.pool,
        device=device.device,
        ended_at=None,
        defaults={"finding": found.finding},
    )
    return repair


def _hold(repair: DeviceRepair) -> None:
    """Up to the end of the transaction nobody else takes a step of this repair.

    The picture was made before, so what it says of steps under way is looked at again:
    lifting while a claim is being released would give the device away. Raises
    RepairRefused.
    """
    mine = DeviceRepair.objects.filter(pk=repair.pk, ended_at=None)
    if not mine.update(ended_at=None):  # the update is the lock
        raise RepairRefused("The repair has ended meanwhile: look again.")
    asked = Q(state=StepState.ASKED, run=None, action__in=BY_WORKERS)
    under_way = asked | Q(run__state__in=OPEN)
    if repair.steps.filter(under_way).exists():
        raise RepairRefused("A step is under way already: wait for its end.")


def ask(
    found: Picture,
    user: User,
    action: RepairAction,
    *,
    claim: ResourceClaim | None = None,
    details: dict[str, Any] | None = None,
    result: str = "",
) -> RepairStep:
    """A step for a worker, or with ``result`` one that is done by being recorded."""
    repair = begun(found)
    step = _step(found, repair, user, action, claim, details or {})
    if result:
        step.state = StepState.DONE
        step.result = result
        step.finished_at = timezone.now()
    with transaction.atomic():
        _hold(repair)
        step.save(force_insert=True)
    if not result:
        transaction.on_commit(lambda: tell_workers(step.pk))
    return step


def with_run(
    found: Picture,
    repair: DeviceRepair,
    user: User,
    action: RepairAction,
    claim: ResourceClaim,
    start: Callable[[], AllocationRun],
) -> RepairStep:
    try:
        with transaction.atomic():
            _hold(repair)
            step = _step(found, repair, user, action, claim, {})
            step.run = start()
            step.save(force_insert=True)
    except RunRefused as refusal:
        raise RepairRefused(str(refusal)) from refusal
    return step


def _step(
    found: Picture,
    repair: DeviceRepair,
    user: User,
    action: RepairAction,
    claim: ResourceClaim | None,
    details: dict[str, Any],
) -> RepairStep:
    seen = [one.claim.uid for one in found.holders]
    return RepairStep(
        repair=repair,
        action=action,
        actor=name_of(user),
        user_id=user.pk if user is not None and user.is_authenticated else None,
        claim_namespace=claim.namespace if claim else "",
        claim_name=claim.name if claim else "",
        claim_uid=claim.uid if claim else "",
        details={"holders": seen, **details},
    )
