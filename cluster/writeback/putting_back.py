"""Giving a claim back the allocation that was taken away to be written anew.

While it is away, its pods run on devices that no claim holds. So whoever comes first
writes the same again; where time may have passed, after a look whether the claim is
still to have it: nobody else holds a device of it by now, and somebody who had it
reserved is still there.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from cluster.errors import ApiError, Conflict, Forbidden, Unauthorized
from cluster.writeback import changes, holders
from cluster.writeback.aftermath import UNSEEN, others
from cluster.writeback.answers import (
    EndedError,
    forbidden,
    gone,
    meaning,
    replaced,
    the_claim,
)
from cluster.writeback.patience import PASSING
from cluster.writeback.requests import finalizer_request, protected, put_request
from cluster.writeback.sending import Sender
from cluster.writeback.unsafe import is_over
from cluster.writeback.values import (
    Changed,
    Json,
    Order,
    Refusal,
    Refused,
    Request,
    Step,
    allocation_of,
    holds,
    meta_of,
    reservations_of,
)
from dra.objects import AllocationResult, read

SETTLED: Final = (Refusal.GONE, Refusal.ALLOCATED, Refusal.CHANGED)
"""Refusals after which there is no allocation any more that has to be put back."""
_SHOWN: Final = 3


@dataclass(frozen=True, slots=True)
class Rewrite:
    """``status`` is what the claim holds and what is put back: ``allocation``,
    ``reservedFor``. ``seen`` is the resourceVersion it had then. ``quarantine`` is the id
    of the repair that keeps its device free. ``resumed``: an earlier call may have taken
    the allocation away; ``returned``: one has for certain, so it is only put back."""

    namespace: str
    name: str
    uid: str
    status: Json
    seen: str
    quarantine: str
    run: str = ""
    resumed: bool = False
    returned: bool = False

    @property
    def order(self) -> Order:
        """As the parts of a writer want it. Raises ObjectError."""
        held = read(self.status.get("allocation"), AllocationResult)
        return Order(
            self.namespace,
            self.name,
            self.uid,
            held,
            run=self.run,
            resumed=self.resumed,
        )


@dataclass(frozen=True, slots=True)
class Rewritten:
    """The claim holds what it held. ``also_held_by`` as in ``Written``; ``note`` is what
    else is worth knowing."""

    claim: Json
    requests: tuple[Request, ...] = ()
    also_held_by: tuple[str, ...] = ()
    note: str = ""


@dataclass(frozen=True, slots=True)
class Unfinished:
    """The allocation is away, or may be, and could not be put back yet: call again."""

    reason: str


@dataclass(frozen=True, slots=True)
class Stranded:
    """The allocation is away, and putting it back was refused: calling again would not
    help by itself. ``missing`` names a missing right; ``requests`` are those that were
    refused."""

    reason: str
    missing: str = ""
    requests: tuple[Request, ...] = ()


class PuttingBack:
    """The second half of one rewriting."""

    def __init__(self, sender: Sender, wanted: Rewrite, order: Order) -> None:
        self.sender = sender
        self.wanted = wanted
        self.order = order
        self.reserved: list[Json] = reservations_of({"status": wanted.status})
        self.answer: Json | None = None
        """That of the request that took the allocation away."""

    @property
    def named(self) -> str:
        return f"{self.wanted.namespace}/{self.wanted.name}"

    # --- is it still to have it? ------------------------------------------------

    def look_around(self, claim: Json) -> None:
        """Ends the work where putting it back would do harm, or is for nobody."""
        if meta_of(claim).get("deletionTimestamp"):
            raise self._refused(
                Refusal.DELETING,
                f"The claim {self.named} is being deleted, so it takes no reservation "
                "any more. End the pods that had it reserved.",
            )
        sender = self.sender
        claims = sender.settle(lambda: sender.api.list("ResourceClaim"))
        also = holders.also_held(self.order.allocation, claims, but=self.wanted.uid)
        if also:
            device, other = also[0]
            raise self._refused(
                Refusal.BOOKED_TWICE,
                f"The device {device} was given to the claim {other} meanwhile, so it "
                f"was not put back. The pods of {self.named} run on it all the same: end "
                "them.",
            )
        if self.reserved:
            self.reserved = self._still_there()
            if not self.reserved:
                raise self._refused(
                    Refusal.CHANGED,
                    f"Nobody is there any more who had the claim {self.named} reserved: "
                    "it stays free, and nothing has to be put back.",
                )

    def _still_there(self) -> list[Json]:
        """Without pods that are gone or over: the controller would free it at once."""
        api, namespace = self.sender.api, self.wanted.namespace
        pods = self.sender.settle(lambda: api.list("Pod", namespace=namespace))
        there = {str(meta_of(pod).get("uid")) for pod in pods if not is_over(pod)}
        return [
            entry
            for entry in self.reserved
            if not changes.is_pod(entry) or str(entry.get("uid")) in there
        ]

    def _refused(self, refusal: Refusal, why: str) -> EndedError:
        return EndedError(Refused(refusal, why))

    # --- back -------------------------------------------------------------------

    def put(self) -> Json:
        """Begins with a look, unless the answer of the request before says it all."""
        sender, served = self.sender, self.sender.api.need("ResourceClaim")
        claim = self.answer or self.look()
        self.answer = None
        if allocation_of(claim) is not None:
            if holds(claim, self.order.allocation):
                return claim
            raise self.lost(claim)
        try:
            if not protected(claim):
                request = finalizer_request(self.wanted, claim, served)
                claim = sender.send(Step.FINALIZER, request)
            request = put_request(self.wanted, claim, self._parts(), served)
            return sender.send(Step.STATUS, request, allocates=True)
        except (*PASSING, Conflict):
            raise
        except ApiError as error:
            claim = self.look()
            if allocation_of(claim) is not None and not holds(
                claim, self.order.allocation
            ):
                raise self.lost(claim) from error
            raise EndedError(self._not_taken(error, claim)) from error

    def _not_taken(self, error: ApiError, claim: Json) -> Changed | Refused:
        if isinstance(error, (Forbidden, Unauthorized)):
            status = self.sender.sent[-1].subresource == "status"
            right = "resourceclaims/status" if status else "resourceclaims"
            why: Changed | Refused = forbidden(error, f"patch {right}")
        else:
            why = meaning(error, claim)
        return replace(why, reason=f"The allocation was not put back. {why.reason}")

    def look(self) -> Json:
        wanted = self.wanted
        claim = self.sender.api.read("ResourceClaim", wanted.namespace, wanted.name)
        if claim is None:
            raise EndedError(gone(wanted))
        if other := replaced(wanted, claim):
            raise EndedError(other)
        return claim

    def _parts(self) -> Json:
        found = {"allocation": self.wanted.status["allocation"]}
        return found | ({"reservedFor": self.reserved} if self.reserved else {})

    def lost(self, claim: Json) -> EndedError:
        if allocation_of(claim) is None:
            named = the_claim(self.wanted.namespace, self.wanted.name)
            why = f"{named} was put back as it was, and has been freed since."
            return self._refused(Refusal.CHANGED, why)
        why = (
            f"In the moment without its allocation the claim {self.named} was allocated "
            f"anew by somebody else: {changes.now(claim)} Its pods run on the devices "
            "that it had before: end them."
        )
        return EndedError(Refused(Refusal.ALLOCATED, why, claim=claim))

    # --- and afterwards -----------------------------------------------------------

    def read_back(self) -> Rewritten:
        """What is so now. The controller may have taken the finalizer meanwhile."""
        sender = self.sender
        claim = sender.settle(self.look)
        if not holds(claim, self.order.allocation):
            raise self.lost(claim)
        notes: list[str] = []
        also: tuple[str, ...] = ()
        try:
            claim = sender.settle(self._protect, also=(Conflict,))
        except (EndedError, ApiError, *PASSING) as error:
            notes.append(f"The finalizer of the claim could not be put back: {error}")
        try:
            also = others(sender, self.order.allocation)[:_SHOWN]
        except (EndedError, ApiError, *PASSING) as error:
            notes.append(UNSEEN.format(error=error))
        return Rewritten(claim, tuple(sender.sent), also, " ".join(notes))

    def _protect(self) -> Json:
        claim = self.look()
        if protected(claim) or not holds(claim, self.order.allocation):
            return claim
        served = self.sender.api.need("ResourceClaim")
        request = finalizer_request(self.wanted, claim, served)
        return self.sender.send(Step.FINALIZER, request)
