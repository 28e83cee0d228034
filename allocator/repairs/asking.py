"""The steps of a repair as a person or a tool asks for them.

Each is judged by the picture as it is now, and refused in words when that does not allow
it. Whether the user may ask is the caller's question, as is an override's.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from django.db import IntegrityError, transaction
from django.utils import timezone

from allocator.choices import RepairAction
from allocator.models import DeviceRepair, Finding, RepairStep
from allocator.repairs.looking import picture_of
from allocator.repairs.picture import Holder, Picture
from allocator.repairs.recording import RepairRefused as RepairRefused
from allocator.repairs.recording import ask, begun, with_run
from allocator.services.putting_back import start_putting_back
from allocator.services.starting import (
    RunRefused,
    User,
    must_be_writable,
    start_release,
    start_rewriting,
)
from cluster.writeback import changes

WISHES: Final = ("auto", "rule", "node-taint")
MOST_HOURS: Final = 24 * 90
HOURS: Final = ((8, "8 hours"), (24, "1 day"), (168, "7 days"), (720, "30 days"))
"""What the page offers; over REST any number up to ``MOST_HOURS``."""
DEFAULT_HOURS: Final = 168
_SPARE: Final = timedelta(minutes=15)
"""For which a quarantine must last yet before anything is taken away behind it."""


def quarantine(
    finding: Finding, user: User, *, wish: str = "auto", hours: int = DEFAULT_HOURS
) -> RepairStep:
    """Have others kept off the device for ``hours``. Again: until then."""
    found = _picture(finding)
    if wish not in WISHES:
        raise RepairRefused("By a rule, or by a taint of the node.")
    if not 1 <= hours <= MOST_HOURS:
        raise RepairRefused(f"A quarantine lasts 1 to {MOST_HOURS:,} hours.")
    if wish == "rule" and found.no_rules:
        raise RepairRefused(f"{found.no_rules} Nothing was written.")
    if not found.count and found.stranded is None:
        raise RepairRefused(
            "No claim holds the device any more: there is nothing to do."
        )
    until = timezone.now().replace(microsecond=0) + timedelta(hours=hours)
    details = {"wish": wish, "until": until.isoformat(), "hours": hours}
    return ask(found, user, RepairAction.QUARANTINE, details=details)


def keep(finding: Finding, user: User, namespace: str, name: str) -> RepairStep:
    """Decide that this claim keeps the device. Changes nothing in the cluster."""
    found = _picture(finding)
    holder = _holder(found, namespace, name)
    if found.count == 1:
        raise RepairRefused(f"Only {holder.name} holds the device: it keeps it.")
    with transaction.atomic():
        step = ask(
            found,
            user,
            RepairAction.KEEP,
            claim=holder.claim,
            result=f"{holder.name} keeps the device.",
        )
        DeviceRepair.objects.filter(pk=step.repair_id).update(
            survivor_namespace=holder.claim.namespace,
            survivor_name=holder.claim.name,
            survivor_uid=holder.claim.uid,
        )
    return step


def release(
    finding: Finding,
    user: User,
    namespace: str,
    name: str,
    *,
    seen_version: str,
    although_used: bool = False,
) -> RepairStep:
    """Start a run that takes the allocation of a claim that gives way.

    ``seen_version`` is the resourceVersion that the user has looked at;
    ``although_used``: although workloads have it reserved.
    """
    found = _picture(finding)
    holder = _holder(found, namespace, name)
    if found.count == 1:
        raise RepairRefused(
            f"Only {holder.name} holds the device now: there is nothing to release."
        )
    if found.survivor is None:
        raise RepairRefused("Decide first which claim keeps the device.")
    if holder is found.survivor:
        raise RepairRefused(f"{holder.name} is the claim that keeps the device.")
    _must_be_in_quarantine(found)
    _must_be_as_seen(holder, seen_version)
    if holder.workloads and not although_used:
        words = ", ".join(user.words for user in holder.workloads[:3])
        raise RepairRefused(
            f"{holder.name} is reserved by {words}. End what uses it: then the cluster "
            "frees it by itself. Nothing was written."
        )
    repair = begun(found)
    return with_run(
        found,
        repair,
        user,
        RepairAction.RELEASE,
        holder.claim,
        lambda: start_release(
            cluster=found.cluster,
            namespace=namespace,
            claim_name=name,
            user=user,
            override=True,
            seen_version=seen_version,
            repair=repair,
        ),
    )


def rewrite(finding: Finding, user: User, *, seen_version: str) -> RepairStep:
    """Start a run that writes the survivor's allocation anew as it is."""
    found = _picture(finding)
    holder = _only_holder(found)
    _must_be_in_quarantine(found)
    _must_be_as_seen(holder, seen_version)
    if holder.unsafe:
        raise RepairRefused(f"{' '.join(holder.unsafe[:3])} Nothing was written.")
    repair = begun(found)
    return with_run(
        found,
        repair,
        user,
        RepairAction.REWRITE,
        holder.claim,
        lambda: start_rewriting(
            repair=repair,
            namespace=holder.claim.namespace,
            claim_name=holder.claim.name,
            seen_version=seen_version,
            user=user,
        ),
    )


def put_back(finding: Finding, user: User) -> RepairStep:
    """Start a run that puts back what a rewriting took away and could not put back."""
    found = _picture(finding)
    stranded = found.stranded
    if stranded is None or stranded.step.run is None:
        raise RepairRefused(
            "No claim is without its allocation because of a rewriting: there is nothing "
            "to put back."
        )
    if stranded.deleting:
        raise RepairRefused(
            f"The claim {stranded.name} is being deleted, so it takes no reservation any "
            "more. End the pods that had it reserved."
        )
    taken_away_by = stranded.step.run
    repair = stranded.step.repair
    try:
        # Somebody may have ended it all the same; then it goes on.
        with transaction.atomic():
            DeviceRepair.objects.filter(pk=repair.pk).update(ended_at=None)
    except IntegrityError:
        raise RepairRefused("Another repair has begun meanwhile: look again.") from None
    return with_run(
        found,
        repair,
        user,
        RepairAction.PUT_BACK,
        stranded.claim,
        lambda: start_putting_back(
            taken_away_by=taken_away_by, repair=repair, user=user
        ),
    )


def restarted(finding: Finding, user: User) -> RepairStep:
    """Record that every replica of every scheduler was restarted by hand."""
    found = _picture(finding)
    holder = _only_holder(found)
    said = f"Every replica was restarted; {holder.name} is counted again."
    return ask(found, user, RepairAction.RESTARTED, claim=holder.claim, result=said)


def wait(finding: Finding, user: User) -> RepairStep:
    """Record that the quarantine stays until the survivor has ended."""
    found = _picture(finding)
    holder = _only_holder(found)
    _must_be_in_quarantine(found)
    said = f"The quarantine stays until {holder.name} has ended."
    return ask(found, user, RepairAction.WAIT, claim=holder.claim, result=said)


def lift(
    finding: Finding, user: User, *, although_forgotten: bool = False
) -> RepairStep:
    """Have the quarantine taken off, which ends the repair."""
    found = _picture(finding)
    if not found.open:
        raise RepairRefused("Nobody has begun a repair of this device.")
    if found.needed and not although_forgotten:
        raise RepairRefused(why_not_lifted(found))
    details = {"although_forgotten": although_forgotten}
    return ask(found, user, RepairAction.LIFT, details=details)


def why_not_lifted(found: Picture) -> str:
    """What would happen if the quarantine were lifted while it is needed."""
    if found.stranded is not None and found.unaccounted:
        users = ", ".join(user.words for user in found.stranded.workloads[:3])
        return (
            f"{found.stranded.name} is without its allocation, and {users} may use its "
            "devices: without the quarantine the next pod would get them too. Put the "
            "allocation back, or end what uses it first."
        )
    held = found.holders[0].name if found.holders else "a claim"
    return (
        f"The schedulers may take {found.device.device} for free although {held} holds "
        "it: without the quarantine the next pod would get it too. Write the allocation "
        "anew, restart the schedulers, or wait for the end of the claim first."
    )


# --- what they share --------------------------------------------------------------


def _picture(finding: Finding) -> Picture:
    found = picture_of(finding)
    if found is None:
        raise RepairRefused("This finding is not about a device that is booked twice.")
    try:
        must_be_writable(found.cluster)
    except RunRefused as refusal:
        raise RepairRefused(str(refusal)) from refusal
    if found.busy is not None:
        raise RepairRefused(
            f"A step is under way ({found.busy.get_action_display()}): wait for its end."
        )
    return found


def _holder(found: Picture, namespace: str, name: str) -> Holder:
    for holder in found.holders:
        if (holder.claim.namespace, holder.claim.name) == (namespace, name):
            return holder
    raise RepairRefused(
        f"The claim {namespace}/{name} does not hold the device any more. Nothing was "
        "written; look again."
    )


def _only_holder(found: Picture) -> Holder:
    if not found.count:
        raise RepairRefused(
            "No claim holds the device any more, so the schedulers count rightly: lift "
            "the quarantine."
        )
    if found.count > 1:
        names = ", ".join(holder.name for holder in found.holders[:5])
        raise RepairRefused(
            f"{names} hold the device: release all but one of them first. Nothing was "
            "written."
        )
    return found.holders[0]


def _must_be_in_quarantine(found: Picture) -> None:
    if found.standing is None:
        late = " The watch has not shown it yet." if found.arriving else ""
        raise RepairRefused(
            f"The device is not in quarantine: put it there first.{late} Nothing was "
            "written."
        )
    until = found.standing.until
    if until is not None and until < timezone.now() + _SPARE:
        raise RepairRefused(
            f"The quarantine ends at {until:%H:%M} UTC, which may be before the step does: "
            "prolong it first. Nothing was written."
        )


def _must_be_as_seen(holder: Holder, seen_version: str) -> None:
    if holder.claim.resource_version != seen_version:
        raise RepairRefused(
            f"The claim {holder.name} was changed since you looked at it: "
            f"{changes.now(holder.claim.raw)} Nothing was written; look again."
        )
