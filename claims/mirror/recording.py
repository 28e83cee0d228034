"""What the mirror of claims writes down about claims and the devices they hold."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from claims.history.lifecycle import CLAIM, Facts, happened
from claims.models import AllocatedDevice, ClaimConsumer, ResourceClaim
from cluster.writeback import pins
from dra import objects
from inventory.choices import Happened
from inventory.history.happenings import DEVICE, Recorder, few
from inventory.mirror import Written


class Held(NamedTuple):
    """One result of one claim; what it holds of which device."""

    claim_id: int
    driver: str
    pool: str
    device: str
    admin_access: bool
    share_id: str

    @property
    def name(self) -> str:
        return f"{self.driver}/{self.pool}/{self.device}"


class Name(NamedTuple):
    namespace: str
    name: str
    uid: str


def held_by(pks: Collection[int]) -> set[Held]:
    """What claims hold, by their primary keys."""
    if not pks:
        return set()
    rows = AllocatedDevice.objects.filter(claim_id__in=pks)
    return {Held(*values) for values in rows.values_list(*Held._fields)}


def users_by(pks: Collection[int]) -> dict[int, set[str]]:
    """Who claims are reserved for, by primary key of the claim: what tells consumers
    apart."""
    found: dict[int, set[str]] = {}
    if pks:
        rows = ClaimConsumer.objects.filter(claim_id__in=pks)
        for pk, *user in rows.values_list("claim_id", "resource", "name", "uid"):
            found.setdefault(pk, set()).add("/".join(user))
    return found


def record_written(
    recorder: Recorder,
    rows: Sequence[Written],
    before: Collection[Held],
    after: Collection[Held],
    users: Mapping[int, set[str]],
) -> None:
    """Claims that were inserted or updated; ``object`` of a row is what is known of it.

    ``users`` are those of :func:`users_by` before.
    """
    names = {w.row.pk: Name(w.row.namespace, w.row.name, w.row.uid) for w in rows}
    was, now = _by_claim(before), _by_claim(after)
    now_users = users_by({pk for pk in names if pk in users})
    for w in rows:
        mine, theirs = now.get(w.row.pk, []), was.get(w.row.pk, [])
        _record_claim(
            recorder,
            w,
            mine,
            moved=set(mine) != set(theirs),
            handed_over=now_users.get(w.row.pk, set()).isdisjoint(
                users.get(w.row.pk, ())
            ),
        )
    # A device that was let go and got back between two looks is held by the same row.
    again = {w.row.pk for w in rows if _is_another(w)}
    kept = {held for held in after if held.claim_id not in again}
    gone = {held for held in before if held not in kept}
    came = set(after) - (set(before) - gone)
    _record_devices(recorder, gone, names, Happened.LET_GO)
    _record_devices(recorder, came, names, Happened.HELD)


def record_deleted(
    recorder: Recorder, pks: Collection[int], held: Iterable[Held]
) -> None:
    """Claims whose rows are about to go."""
    rows = ResourceClaim.objects.filter(pk__in=pks)
    names = {pk: Name(*name) for pk, *name in rows.values_list("pk", *Name._fields)}
    for name in names.values():
        recorder.note(
            CLAIM, name.name, Happened.DELETED, namespace=name.namespace, uid=name.uid
        )
    _record_devices(recorder, held, names, Happened.LET_GO)


def record_state(recorder: Recorder, row: ResourceClaim, state: str) -> None:
    """A claim whose state has become another one because of its pods."""
    before = Facts(row.state, row.allocated, row.consumer_count)
    for what in happened(before, before._replace(state=state)):
        recorder.note(CLAIM, row.name, what, namespace=row.namespace, uid=row.uid)


def _is_another(w: Written) -> bool:
    """Whether it is another claim of that name, or has another allocation."""
    if w.before is None:
        return False
    was = Facts(*w.before.remembered)
    return w.before.uid != w.row.uid or was.reallocated(Facts.of(w.row))


def _record_claim(
    recorder: Recorder,
    w: Written,
    held: Sequence[Held],
    *,
    moved: bool,
    handed_over: bool,
) -> None:
    row = w.row
    place = {"namespace": row.namespace}
    before = Facts(*w.before.remembered) if w.before is not None else None
    if w.before is not None and w.before.uid != row.uid:
        uid = w.before.uid
        recorder.note(CLAIM, row.name, Happened.DELETED, uid=uid, **place)
        before = None
    after = Facts.of(row)
    for what in happened(before, after, moved=moved, handed_over=handed_over):
        detail = _detail(what, w, held)
        recorder.note(CLAIM, row.name, what, uid=row.uid, **place, **detail)


def _detail(what: Happened, w: Written, held: Sequence[Held]) -> dict[str, Any]:
    row, claim = w.row, w.object
    match what:
        case Happened.ALLOCATED:
            said = row.allocated_at.isoformat() if row.allocated_at else ""
            return {
                "devices": few([one.name for one in held]),
                "count": len(held),
                "node": row.node_name,
                "said": said,
            }
        case Happened.RESERVED | Happened.STARTED:
            users = _users(claim)
            return {"consumers": few(users), "count": len(users)}
        case Happened.CREATED:
            return {"asks": row.requests_text[:200]}
        case _:
            return {}


def _users(claim: objects.ResourceClaim) -> list[str]:
    return [
        "the portal's pin"
        if pins.is_pin({"apiGroup": one.api_group, "resource": one.resource})
        else f"{one.resource}/{one.name}"
        for one in claim.status.reserved_for or ()
    ]


def _record_devices(
    recorder: Recorder, held: Iterable[Held], names: dict[int, Name], what: Happened
) -> None:
    for one in sorted(held):
        name = names.get(one.claim_id)
        if name is not None:
            recorder.note(
                DEVICE,
                one.name,
                what,
                claim=[name.namespace, name.name],
                admin=one.admin_access,
                share=one.share_id,
            )


def _by_claim(held: Iterable[Held]) -> dict[int, list[Held]]:
    found: dict[int, list[Held]] = {}
    for one in sorted(held):
        found.setdefault(one.claim_id, []).append(one)
    return found
