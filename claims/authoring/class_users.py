"""Who uses a device class, and what another set of selectors would change for them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from claims.authoring.choices.memory import remembered
from claims.authoring.choices.words import counted, listed
from dra.cel.table import DeviceTable
from dra.names import DeviceID, NamespacedName
from dra.objects import Request, ResourceClaim
from dra.snapshot import Snapshot

type Mask = NDArray[np.bool_]
type Rows = NDArray[np.intp]

MOST_EXAMPLES: Final = 5


@dataclass(frozen=True, slots=True)
class Held:
    """A device that a claim got through the class."""

    claim: NamespacedName
    device: DeviceID


@dataclass(frozen=True, slots=True)
class Users:
    """``claims`` ask for the class; of these ``waiting`` have no devices yet.

    ``rows`` says where in the device table each of ``held`` stands, below 0 for one that
    is not there, and ``owners`` has a number per claim.
    """

    claims: int
    waiting: int
    templates: int
    held: tuple[Held, ...]
    rows: Rows = field(repr=False, compare=False)
    owners: Rows = field(repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class ClassChange:
    """What becomes of a class that is there already, and of those that use it.

    ``gained`` and ``lost`` are devices that match only then, and only now. ``held_lost``
    of these are held by ``claims_lost`` claims through this class, with the first few as
    ``examples``. ``sentence`` is for people.
    """

    users: Users
    gained: int
    lost: int
    held_lost: int
    claims_lost: int
    examples: tuple[Held, ...]
    sentence: str

    @property
    def more_examples(self) -> int:
        return self.held_lost - len({each.device for each in self.examples})


def users_of(snapshot: Snapshot, table: DeviceTable, name: str) -> Users:
    """Worked out once per state of the cluster's claims."""
    return remembered(
        table,
        ("users of class", name),
        (snapshot.claims, snapshot.templates),
        lambda: _users(snapshot, table, name),
    )


def change_of(users: Users, before: Mask, after: Mask) -> ClassChange:
    """``before`` and ``after`` say of each device of the table whether it matches."""
    leaving = before & ~after
    there = np.flatnonzero(users.rows >= 0)
    lost = there[leaving[users.rows[there]]]
    gained, gone = int((after & ~before).sum()), int(leaving.sum())
    devices = len(np.unique(users.rows[lost]))
    claims = len(np.unique(users.owners[lost]))
    return ClassChange(
        users=users,
        gained=gained,
        lost=gone,
        held_lost=devices,
        claims_lost=claims,
        examples=tuple(users.held[at] for at in lost[:MOST_EXAMPLES].tolist()),
        sentence=_sentence(users, gained, gone, devices, claims),
    )


def of_new_class(users: Users) -> str:
    """What a class that is not there yet means for those that name it already."""
    if not users.claims and not users.templates:
        return "There is no class of this name yet, and nothing asks for it."
    asking = listed([*_asking(users)])
    one = users.claims + users.templates == 1
    return (
        f"There is no class of this name yet; {asking} {'asks' if one else 'ask'} for "
        "it and can be served once it is there."
    )


# --- looking ---


def _users(snapshot: Snapshot, table: DeviceTable, name: str) -> Users:
    claims = waiting = 0
    held: list[Held] = []
    for key, claim in snapshot.claims.items():
        asked = _requests_of(claim.spec.devices.requests or (), name)
        if not asked:
            continue
        claims += 1
        if claim.status.allocation is None:
            waiting += 1
        held += _held(key, claim, asked)
    templates = sum(
        bool(_requests_of(template.spec.spec.devices.requests or (), name))
        for template in snapshot.templates.values()
    )
    rows = [table.listing.row(each.device) for each in held]
    owners: dict[NamespacedName, int] = {}
    return Users(
        claims,
        waiting,
        templates,
        tuple(held),
        np.array([-1 if row is None else row for row in rows], np.intp),
        np.array([owners.setdefault(h.claim, len(owners)) for h in held], np.intp),
    )


def _requests_of(requests: Iterable[Request], name: str) -> set[str]:
    """Requests of the class, as results name them: ``gpu``, ``gpu/best``."""
    found = set()
    for request in requests:
        if request.exactly and request.exactly.device_class_name == name:
            found.add(request.name)
        for sub in request.first_available or ():
            if sub.device_class_name == name:
                found.add(f"{request.name}/{sub.name}")
    return found


def _held(key: NamespacedName, claim: ResourceClaim, asked: set[str]) -> Iterator[Held]:
    allocation = claim.status.allocation
    results = allocation.devices.results if allocation else None
    for result in results or ():
        if result.request in asked:
            yield Held(key, DeviceID(result.driver, result.pool, result.device))


# --- words ---


def _asking(users: Users) -> Iterator[str]:
    if users.claims:
        yield counted(users.claims, "claim")
    if users.templates:
        yield counted(users.templates, "template")


def _sentence(users: Users, gained: int, lost: int, held: int, claims: int) -> str:
    """Who uses it, what becomes of their devices, and what else differs."""
    asking = [*_asking(users)]
    one = users.claims + users.templates == 1
    using = f"{listed(asking)} {'uses' if one else 'use'} this class"
    if not asking:
        using = "No claim and no template uses this class"
    if not gained and not lost:
        return f"{using}. It would match the same devices as now."
    kept = "."
    if held:
        theirs = "one of their devices" if held == 1 else f"{held:,} of their devices"
        by = f", held by {counted(claims, 'claim')}," if held > 1 else ""
        kept = (
            f"; {theirs}{by} would no longer match. What is held stays so until it is "
            "released."
        )
    elif users.held:
        kept = "; all of their devices would still match."
    if gained and lost:
        differs = f"{counted(gained)} more, and {lost:,} of those of today no longer"
    else:
        differs = f"{counted(gained or lost)} {'more' if gained else 'fewer'} than now"
    return f"{using}{kept} It would match {differs}."
