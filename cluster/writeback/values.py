"""What goes into a writer and what comes out; the interface of all writers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
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


@dataclass(frozen=True, slots=True)
class Order:
    """One allocation for one claim, as it was planned.

    ``allocation`` is complete: results, config, nodeSelector and
    allocationTimestamp (without the last no scheduler binds a pod to it). ``uid``
    is the claim that was planned for: one of the same name with another uid is
    another claim. ``run`` names the owner of whatever a writer puts into the
    cluster for a while. ``resumed``: an earlier call of which nothing is known, such
    as that of a worker that died, may have sent this order already.
    """

    namespace: str
    name: str
    uid: str
    allocation: AllocationResult
    node_name: str = ""
    run: str = ""
    resumed: bool = False


@dataclass(frozen=True, slots=True)
class Request:
    """A write as it is sent; ``subresource`` is ``status`` or empty."""

    path: str
    body: Json | list[Json]
    subresource: str = ""
    content_type: str = "application/merge-patch+json"

    def as_json(self) -> Json:
        """For people and the record: method and path, content type, body."""
        return {
            "request": f"PATCH {self.path}",
            "contentType": self.content_type,
            "body": self.body,
        }


@dataclass(frozen=True, slots=True)
class Written:
    """The claim holds the planned allocation. ``requests`` is empty if it did before.

    ``exact`` is False when the server stored something else than was sent, as one
    that does not know a field does.
    """

    claim: Json
    requests: tuple[Request, ...] = ()
    exact: bool = True

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

    GONE = "gone"
    DELETING = "being deleted"
    ALLOCATED = "allocated elsewhere"
    FORBIDDEN = "forbidden"
    INVALID = "invalid"
    NOT_SERVED = "not served"
    UNAVAILABLE = "unavailable"


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


Outcome = Written | Changed | Refused | Unknown
Before = Callable[[Step, Request], None]


def unheard(_step: Step, _request: Request) -> None:
    """Nobody asked to hear of the steps."""


class Writer(Protocol):
    """One way of getting an allocation into a cluster."""

    @property
    def name(self) -> str:
        """What ``clusters.yaml`` calls it: ``direct``, …"""

    def preview(self, order: Order, claim: Json) -> list[Request]:
        """What ``write`` would send for the claim as last seen. Sends nothing."""

    def write(self, order: Order, *, before: Before = unheard) -> Outcome:
        """Bring ``order`` into the cluster.

        May be called again with the same order after any interruption: a claim that
        already holds exactly this allocation counts as written. ``before`` is called
        ahead of each change; what it raises stops the write there.
        """


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


def holds(claim: Json, allocation: AllocationResult) -> bool:
    """Whether the claim is allocated, and as ``allocation`` says."""
    found = allocation_of(claim)
    if found is None:
        return False
    try:
        return same_allocation(read(found, AllocationResult), allocation)
    except ObjectError:
        return False


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
