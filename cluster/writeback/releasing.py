"""Taking an allocation back: status first, finalizer last, each on what was read.

1. GET the claim; nothing to do when it is free or gone. Refused while a pod has it
   reserved, or while another claim holds one of its devices: the scheduler counts a
   device as free as soon as one of two holders goes.
2. PATCH allocation, reservations (our pin) and device states away, with the
   resourceVersion read: a pod that reserves the claim meanwhile makes that fail, and
   the next look sees it.
3. PATCH the finalizer away, unless somebody allocated the claim anew.

The controller of Kubernetes takes back only what pods had reserved, so removing the pin
alone would leave the devices taken.
"""

from __future__ import annotations

from typing import Final

from cluster.errors import ApiError, Conflict, Forbidden, NotFound, Unauthorized
from cluster.resources import ServedResource
from cluster.writeback import changes, holders
from cluster.writeback.answers import (
    EndedError,
    Target,
    forbidden,
    the_claim,
)
from cluster.writeback.equipment import Equipped
from cluster.writeback.patience import PASSING
from cluster.writeback.pins import is_pin, tags_of
from cluster.writeback.requests import AS_V1, FINALIZER, protected
from cluster.writeback.sending import Sender
from cluster.writeback.tags import EXPIRES, OWNER, RUN
from cluster.writeback.values import (
    Beat,
    Before,
    Changed,
    Json,
    Refusal,
    Refused,
    Release,
    Released,
    ReleaseOutcome,
    Request,
    Step,
    Unknown,
    allocation_of,
    first,
    held_by,
    meta_of,
    reservations_of,
    still,
    unheard,
    version_of,
)

_SHOWN: Final = 3


class Releaser(Equipped):
    """Takes allocations back, whichever writer made them."""

    def preview(self, order: Release, claim: Json) -> list[Request]:
        """What ``release`` would send for the claim as last seen. Asks nobody."""
        if allocation_of(claim) is None:
            return []
        requests = [clear_request(order, claim, AS_V1)]
        if protected(claim):
            meta = meta_of(claim) | {"resourceVersion": "(from the answer before)"}
            requests.append(unprotect_request(order, claim | {"metadata": meta}, AS_V1))
        return requests

    def release(
        self, order: Release, *, before: Before = unheard, beat: Beat = still
    ) -> ReleaseOutcome:
        """May be called again after any interruption: what is done is not done twice."""
        sender = self._sender(order, before, beat)
        try:
            return release_steps(
                sender, owner=self._options.owner, override=order.override
            )
        except EndedError as ended:
            outcome = ended.outcome
            if isinstance(outcome, Refused) and outcome.refusal is Refusal.GONE:
                return Released(None, tuple(sender.sent), outcome.reason)
            return outcome
        except PASSING as error:
            why = f"The API server cannot be used at the moment: {error}"
            if sender.uncertain:
                return Unknown(
                    f"{why} The allocation may or may not have been taken back."
                )
            return Refused(Refusal.UNAVAILABLE, f"{why} Nothing was changed.")
        except Conflict:
            return Changed("The claim kept being changed while we wrote to it.")


def release_steps(sender: Sender, *, owner: str, override: bool) -> Released:
    """The steps for the claim of the sender's order. Raises EndedError and PASSING."""
    release = _Release(sender, owner, override=override)
    claim = sender.settle(release.clear, also=(Conflict,))
    note = ""
    # Without a device to protect it only delays the deletion of the claim a little.
    try:
        sender.settle(release.unprotect, also=(Conflict,))
    except (Forbidden, Unauthorized) as error:
        note = f"The finalizer stays: {forbidden(error, 'patch resourceclaims').reason}"
    except (EndedError, ApiError, *PASSING) as error:
        note = f"The finalizer stays: {error}"
    return Released(claim, tuple(sender.sent), note)


class _Release:
    def __init__(self, sender: Sender, owner: str, *, override: bool) -> None:
        self.sender = sender
        self.owner = owner
        self.override = override

    def clear(self) -> Json:
        sender = self.sender
        claim = sender.look()
        if allocation_of(claim) is None:
            return claim
        self.check_seen(claim)
        if not self.override:
            self.check(claim)
        served = sender.api.need("ResourceClaim")
        request = clear_request(sender.order, claim, served)
        return sender.put_status(Step.RELEASE, request)

    def check_seen(self, claim: Json) -> None:
        """Ends the release when the claim is not what somebody decided about."""
        order = self.sender.order
        if isinstance(order, Release) and order.seen not in ("", version_of(claim)):
            named = the_claim(order.namespace, order.name)
            reason = (
                f"{named} was changed since it was looked at: {changes.now(claim)} "
                "Nothing was taken back; look at it again."
            )
            raise EndedError(Refused(Refusal.CHANGED, reason, claim=claim))

    def check(self, claim: Json) -> None:
        """Ends the release while somebody else would be hurt by it."""
        order = self.sender.order
        named = the_claim(order.namespace, order.name)
        users = [r for r in reservations_of(claim) if not self._is_our_pin(r)]
        if users:
            raise EndedError(
                Refused(
                    Refusal.IN_USE,
                    f"{named} is reserved by {first([_user(r) for r in users])}. End what uses it first; "
                    "the devices of a pod that runs would be given to others.",
                    claim=claim,
                )
            )
        if found := self._also_held(claim):
            raise EndedError(
                Refused(
                    Refusal.BOOKED_TWICE,
                    " ".join(holders.in_words(found[:_SHOWN]))
                    + " Keep other pods away from the device first (cordon or taint "
                    "it): the scheduler takes it for free as soon as one of the claims "
                    "is released.",
                    claim=claim,
                )
            )

    def _is_our_pin(self, reservation: Json) -> bool:
        tags = tags_of(reservation) if is_pin(reservation) else None
        return tags is not None and tags.owner == self.owner

    def _also_held(self, claim: Json) -> list[holders.HeldToo]:
        if (allocation := held_by(claim)) is None:
            return []
        claims = self.sender.api.list("ResourceClaim")
        return holders.also_held(allocation, claims, but=self.sender.order.uid)

    def unprotect(self) -> None:
        sender = self.sender
        try:
            claim = sender.look()
        except EndedError as ended:
            outcome = ended.outcome
            if isinstance(outcome, Refused) and outcome.refusal is Refusal.GONE:
                return
            raise
        if not protected(claim) or allocation_of(claim) is not None:
            return
        served = sender.api.need("ResourceClaim")
        request = unprotect_request(sender.order, claim, served)
        try:
            sender.send(Step.FINALIZER_OFF, request)
        except NotFound:
            return


def clear_request(order: Target, claim: Json, served: ServedResource) -> Request:
    nothing = dict.fromkeys(("allocation", "reservedFor", "devices"))
    return Request(
        f"{served.path(order.namespace, order.name)}/status",
        {"metadata": _conditions(order, claim), "status": nothing},
        "status",
    )


def unprotect_request(order: Target, claim: Json, served: ServedResource) -> Request:
    """A merge patch replaces the whole list, so the others' finalizers go with it."""
    left = [f for f in meta_of(claim).get("finalizers") or () if f != FINALIZER]
    meta = _conditions(order, claim) | {"finalizers": left}
    known = meta_of(claim).get("annotations") or {}
    if ours := {key: None for key in (OWNER, RUN, EXPIRES) if key in known}:
        meta["annotations"] = ours
    return Request(served.path(order.namespace, order.name), {"metadata": meta})


def _conditions(order: Target, claim: Json) -> Json:
    return {"resourceVersion": version_of(claim), "uid": order.uid}


def _user(reservation: Json) -> str:
    """Not our own pin, which is no use."""
    if is_pin(reservation):
        return "the pin of another portal"
    return changes.name_of(reservation)
