"""What goes into a writer and what comes out; the interface of all writers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, Protocol

from dra.errors import ObjectError
from dra.objects import AllocationResult, read

Json = dict[str, Any]


class Step(StrEnum):
    """A request that changes the cluster."""

    FINALIZER = "finalizer"
    STATUS = "status"
    CARRIER = "carrier pod"
    PIN = "pin"
    CARRIER_OFF = "carrier pod removed"
    GUARD = "guard"
    BARRIER = "barrier pod"
    BARRIER_OFF = "barrier pod removed"
    GUARD_OFF = "guard removed"
    RELEASE = "deallocation"
    FINALIZER_OFF = "finalizer removed"
    CLEARED = "cleared for a moment"


@dataclass(frozen=True, slots=True)
class Order:
    """One allocation for one claim, as it was planned.

    ``allocation`` is complete: results, config, nodeSelector and
    allocationTimestamp (without the last no scheduler binds a pod to it). ``uid``
    is the claim that was planned for: one of the same name with another uid is
    another claim. ``run`` names the owner of whatever a writer puts into the
    cluster for a while. ``resumed``: an earlier call of which nothing is known, such
    as that of a worker that died, may have sent this order already. ``created_by`` is
    the person who asked, for annotations; ``tolerations`` are those of the pod that the
    claim is for, so that a carrier pod can go where that pod may go, and ``scheduler`` is
    the name of that pod's scheduler, which alone may know of the node (empty: no pod).
    ``accept_other_devices``: whether other devices of the same node will do when the
    scheduler chooses them; None: as the cluster's options say.
    """

    namespace: str
    name: str
    uid: str
    allocation: AllocationResult
    node_name: str = ""
    run: str = ""
    resumed: bool = False
    created_by: str = ""
    tolerations: tuple[Json, ...] = ()
    scheduler: str = ""
    accept_other_devices: bool | None = None


@dataclass(frozen=True, slots=True)
class Release:
    """The allocation of one claim is to be taken back.

    ``override``: also when pods have reserved the claim, or when another claim holds
    one of its devices; for administrators who know what that does. ``seen``: the
    resourceVersion of the claim that they decided about; once it has another one, nothing
    is taken back. Empty: whichever it has.
    """

    namespace: str
    name: str
    uid: str
    run: str = ""
    resumed: bool = False
    override: bool = False
    seen: str = ""


@dataclass(frozen=True, slots=True)
class Request:
    """A write as it is sent; ``subresource`` is ``status`` or empty."""

    path: str
    body: Json | list[Json]
    subresource: str = ""
    content_type: str = "application/merge-patch+json"
    method: str = "PATCH"

    def as_json(self) -> Json:
        """For people and the record: method and path, content type, body."""
        return {
            "request": f"{self.method} {self.path}",
            "contentType": self.content_type,
            "body": self.body,
        }


@dataclass(frozen=True, slots=True)
class Written:
    """The claim holds the planned allocation. ``requests`` is empty if it did before.

    ``exact`` is False when the server stored something else than was sent, as one
    that does not know a field does. Where the scheduler allocated, ``allocation`` is
    what it made of the plan: the same devices with its own timestamp and shares, or
    other devices where those will do. ``also_held_by`` says in sentences which other
    claims hold a device of it: seen after the write, and not to be rolled back (the
    scheduler would then forget the other booking). ``note`` is what else is worth
    knowing, such as a pod that could not be removed.
    """

    claim: Json
    requests: tuple[Request, ...] = ()
    exact: bool = True
    allocation: AllocationResult | None = None
    also_held_by: tuple[str, ...] = ()
    note: str = ""

    @property
    def resource_version(self) -> str:
        return version_of(self.claim)


@dataclass(frozen=True, slots=True)
class Changed:
    """Somebody changed the claim between read and write: read anew, plan again.

    ``resource_version`` is the newest one seen.
    """

    reason: str
    resource_version: str = ""


class Refusal(StrEnum):
    """Why nothing was written, and why the same order would not do better."""

    BOOKED_TWICE = "booked twice"
    CHANGED = "changed since"
    GONE = "gone"
    DELETING = "being deleted"
    ALLOCATED = "allocated elsewhere"
    FORBIDDEN = "forbidden"
    INVALID = "invalid"
    IN_FLIGHT = "another allocation is under way"
    IN_USE = "in use"
    NOT_SERVED = "not served"
    OTHER_DEVICES = "other devices"
    UNGUARDED = "no guard"
    UNAVAILABLE = "unavailable"
    UNSAFE = "not safe now"


@dataclass(frozen=True, slots=True)
class Refused:
    """Not allocated by us. ``reason`` is a sentence; ``missing`` names a missing right.

    ``claim`` is the claim as it was found, where that is the reason.
    """

    refusal: Refusal
    reason: str
    missing: str = ""
    claim: Json | None = None


@dataclass(frozen=True, slots=True)
class Unknown:
    """Sent, and neither an answer nor a look afterwards told what became of it."""

    reason: str


@dataclass(frozen=True, slots=True)
class Released:
    """The claim holds nothing. ``claim`` is None when it does not exist any more."""

    claim: Json | None
    requests: tuple[Request, ...] = ()
    note: str = ""


Outcome = Written | Changed | Refused | Unknown
ReleaseOutcome = Released | Changed | Refused | Unknown
Before = Callable[[Step, Request], None]
Beat = Callable[[], None]


def unheard(_step: Step, _request: Request) -> None:
    """Nobody asked to hear of the steps."""


def still() -> None:
    """Nobody asked for signs of life."""


class Writer(Protocol):
    """One way of getting an allocation into a cluster."""

    @property
    def name(self) -> str:
        """What ``clusters.yaml`` calls it: ``carrier``, …"""

    def preview(self, order: Order, claim: Json) -> list[Request]:
        """What ``write`` would send for the claim as last seen. Sends nothing."""

    def write(
        self, order: Order, *, before: Before = unheard, beat: Beat = still
    ) -> Outcome:
        """Bring ``order`` into the cluster.

        May be called again with the same order after any interruption: a claim that
        already holds exactly this allocation counts as written, and what the call
        before left in the cluster (a pod, a guard) is used or removed. ``before`` is
        called ahead of each change, ``beat`` every few seconds of waiting; what they
        raise stops the write there and then, with nothing cleaned up: another worker
        may be on the order by now.
        """


def with_note(outcome: Outcome, said: str) -> Outcome:
    """``outcome``, and what else is worth knowing: nothing where ``said`` is empty."""
    if not said:
        return outcome
    if isinstance(outcome, Written):
        return replace(outcome, note=f"{outcome.note} {said}".strip())
    return replace(outcome, reason=f"{outcome.reason} {said}".strip())


def timestamp(now: datetime | None = None) -> str:
    """An allocationTimestamp: UTC with second precision, as the scheduler writes it."""
    moment = (now or datetime.now(UTC)).astimezone(UTC)
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def meta_of(claim: Json) -> Json:
    meta = claim.get("metadata")
    return meta if isinstance(meta, dict) else {}


def version_of(claim: Json) -> str:
    return str(meta_of(claim).get("resourceVersion") or "")


def allocation_of(claim: Json) -> Json | None:
    """``status.allocation`` as JSON, None while the claim is not allocated."""
    status = claim.get("status")
    found = status.get("allocation") if isinstance(status, dict) else None
    return found if isinstance(found, dict) else None


def held_by(claim: Json) -> AllocationResult | None:
    """The allocation; None where there is none that can be read."""
    found = allocation_of(claim)
    if found is None:
        return None
    try:
        return read(found, AllocationResult)
    except ObjectError:
        return None


def holds(claim: Json, allocation: AllocationResult) -> bool:
    """Whether the claim is allocated, and as ``allocation`` says."""
    held = held_by(claim)
    return held is not None and same_allocation(held, allocation)


def same_devices(one: AllocationResult, other: AllocationResult) -> bool:
    """Whether both give the same devices to the same requests, in whatever order.

    Shares are compared by their device: every writer makes share ids of its own.
    """
    return _held(one) == _held(other)


def same_allocation(one: AllocationResult, other: AllocationResult) -> bool:
    """Whether both came from the same write.

    Compared are the devices in order (request, driver, pool, device, share, admin
    access) and the timestamp where both have one: quantities come back in another
    spelling, and a server that does not know a field drops it.
    """
    stamps = {one.allocation_timestamp, other.allocation_timestamp} - {None}
    return len(stamps) <= 1 and _devices(one) == _devices(other)


def _devices(allocation: AllocationResult) -> list[tuple[object, ...]]:
    return [
        (r.request, r.driver, r.pool, r.device, r.share_id, bool(r.admin_access))
        for r in allocation.devices.results or ()
    ]


def _held(allocation: AllocationResult) -> list[tuple[str, str, str, str, bool]]:
    return sorted(
        (r.request, r.driver, r.pool, r.device, bool(r.admin_access))
        for r in allocation.devices.results or ()
    )


def reservations_of(claim: Json) -> list[Json]:
    """``status.reservedFor`` as JSON."""
    status = claim.get("status")
    found = status.get("reservedFor") if isinstance(status, dict) else None
    return [entry for entry in found or () if isinstance(entry, dict)]


def first(names: Sequence[str], most: int = 3) -> str:
    """As in "a, b, c and 2 more"."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
