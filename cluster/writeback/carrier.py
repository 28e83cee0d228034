"""The carrier protocol: the scheduler allocates, we keep what it made.

1. GET the claim: free, and the planned one.
2. POST a carrier pod in its namespace, with the planned node as its affinity.
3. Watch claim and pod until the claim is allocated and reserved for the carrier; the
   scheduler's "no" ends that, and so does the end of patience.
4. Compare with the plan: the same devices, or others where those will do. If not, delete
   the carrier; the allocation, which nobody else uses, goes with it.
5. PATCH a reservation of our own (the pin) beside the carrier's.
6. DELETE the carrier.
7. Watch until only other reservations are left.
8. List all claims: nobody else may hold a device of it.

Only the scheduler decides which device is free, so it cannot race with itself. A call
that is resumed finds the carrier by its name and goes on from there.
"""

from __future__ import annotations

import time
from typing import Final

from cluster.errors import (
    AlreadyExists,
    ApiError,
    Conflict,
    Forbidden,
    NotFound,
    Unauthorized,
)
from cluster.writeback import admitted, carrier_pod
from cluster.writeback.aftermath import UNSEEN, others
from cluster.writeback.answers import (
    EndedError,
    forbidden,
    gone,
    unfree,
)
from cluster.writeback.awaiting import Awaiting, taken
from cluster.writeback.equipment import Equipped
from cluster.writeback.patience import PASSING
from cluster.writeback.pins import pin_of, pin_request, pinned
from cluster.writeback.releasing import release_steps
from cluster.writeback.requests import AS_V1
from cluster.writeback.sending import Sender
from cluster.writeback.steering import Steering
from cluster.writeback.tags import SPARE, Role, Tags
from cluster.writeback.values import (
    Beat,
    Before,
    Changed,
    Json,
    Order,
    Outcome,
    Refusal,
    Refused,
    Request,
    Step,
    Written,
    allocation_of,
    held_by,
    meta_of,
    reservations_of,
    same_devices,
    still,
    unheard,
    version_of,
    with_note,
)
from cluster.writer_options import WriterOptions
from dra.objects import AllocationResult

_LOOK: Final = 0.1
"""Seconds between two looks at what the controller cleans up."""


class CarrierWriter(Equipped):
    """Lets the scheduler allocate."""

    name: Final = "carrier"

    def preview(self, order: Order, claim: Json) -> list[Request]:
        del claim  # the same whatever it is
        work = self._carriage(order, unheard, still)
        pin = pin_request(order, work.pin, "(as allocated)", AS_V1)
        off = carrier_pod.delete_request(order.namespace, work.name, "(of the pod)")
        return [work.create_request(), pin, off]

    def write(
        self, order: Order, *, before: Before = unheard, beat: Beat = still
    ) -> Outcome:
        work = self._carriage(order, before, beat)
        outcome = work.sender.outcome(work.go)
        return with_note(outcome, work.steering.off())

    def _carriage(self, order: Order, before: Before, beat: Beat) -> _Carriage:
        sender = self._sender(order, before, beat)
        return _Carriage(order, self._options, sender)


class _Carriage:
    """One order on its way."""

    def __init__(self, order: Order, options: WriterOptions, sender: Sender) -> None:
        self.order = order
        self.options = options
        self.sender = sender
        self.name = carrier_pod.carrier_name(order, options.owner, options.carrier)
        self.pin = pin_of(order, options.owner)
        self.awaiting = Awaiting(sender, order, self.name)
        self.steering = Steering(sender, order, options)
        lifetime = options.carrier.wait + options.carrier.clean + SPARE
        self.tags = Tags.of(order, options.owner, lifetime)

    def create_request(self) -> Request:
        options = self.options
        known = options.scheduler.names
        asked = self.order.scheduler
        scheduler = asked if asked in known else known[0]
        return carrier_pod.create_request(
            self.order, self.tags, options.carrier, scheduler
        )

    def go(self) -> Outcome:
        try:
            claim = self.sender.settle(self.sender.look)
        except EndedError as ended:
            if isinstance(ended.outcome, Refused):
                self.remove_own()
            raise
        if pinned(claim, self.pin):
            return self.finish(claim)
        pod = self.sender.settle(self.own_pod)
        if allocation_of(claim) is None:
            return self.carry(claim, pod)
        if pod is not None and carrier_pod.is_for(claim, carrier_pod.uid_of(pod)):
            return self.keep(claim, pod)
        return self.let_go(pod, taken(self.order, claim))

    # --- the carrier ----------------------------------------------------------

    def own_pod(self) -> Json | None:
        found = self.sender.api.read("Pod", self.order.namespace, self.name)
        if found is None or carrier_pod.is_ours(found, self.order, Role.CARRIER):
            return found
        raise EndedError(
            Refused(
                Refusal.INVALID,
                f"A pod {self.order.namespace}/{self.name} exists that is not the "
                "portal's. Delete it, or choose another carrier.namePrefix in the "
                "clusters file.",
            )
        )

    def carry(self, claim: Json, pod: Json | None) -> Outcome:
        if wrong := unfree(self.order, claim):
            return self.let_go(pod, wrong)
        if pod is not None and not self.is_current(pod):
            self.remove(pod)
            self.sender.settle(self.await_gone)
            pod = None
        if pod is None:
            self.steering.on()
            pod = self.sender.settle(self.create)
        node = self.order.node_name
        if node and admitted.may_leave(pod, node):
            return self.let_go(pod, _moved(node))
        found = self.awaiting.allocation(pod, self.options.carrier.wait)
        self.steering.off()
        if isinstance(found, dict):
            return self.keep(found, pod)
        return self.let_go(pod, found)

    def create(self) -> Json:
        if (found := self.own_pod()) is not None:
            return self.current(found)
        try:
            return self.sender.send(Step.CARRIER, self.create_request(), allocates=True)
        except AlreadyExists:
            if (found := self.own_pod()) is not None:
                return self.current(found)
            raise
        except NotFound as error:
            raise EndedError(gone(self.order)) from error
        except (Forbidden, Unauthorized) as error:
            raise EndedError(_unadmitted(error)) from error

    def current(self, pod: Json) -> Json:
        if self.is_current(pod):
            return pod
        raise EndedError(Changed("The carrier pod of an earlier plan is still there."))

    def is_current(self, pod: Json) -> bool:
        return carrier_pod.is_current(pod, self.order, self.tags)

    def await_gone(self) -> None:
        """Until the carrier of an earlier plan is no more."""
        end = time.monotonic() + self.options.carrier.clean
        while self.own_pod() is not None and time.monotonic() < end:
            self.sender.beat()
            self.sender.patience.sleep(_LOOK)

    # --- keeping what it made -------------------------------------------------

    def keep(self, claim: Json, pod: Json) -> Outcome:
        chosen = held_by(claim)
        if not self.will_do(chosen):
            return self.let_go(pod, _other_devices(self.order, claim, chosen))
        try:
            claim = self.sender.settle(
                lambda: self.put_pin(pod, chosen), also=(Conflict,)
            )
        except (EndedError, Conflict) as error:
            return self.let_go(pod, _of(error))
        return self.finish(claim)

    def will_do(self, chosen: AllocationResult | None) -> bool:
        if chosen is None:
            return False
        accept = self.order.accept_other_devices
        if accept is None:
            accept = self.options.carrier.accept_other_devices
        return accept or same_devices(chosen, self.order.allocation)

    def put_pin(self, pod: Json, chosen: AllocationResult | None) -> Json:
        """The claim with the pin, if it still is as it was compared with the plan."""
        claim = self.sender.look()
        if pinned(claim, self.pin):
            return claim
        uid = carrier_pod.uid_of(pod)
        if held_by(claim) != chosen or not carrier_pod.is_for(claim, uid):
            raise EndedError(
                Changed(
                    "The allocation was taken back before it could be kept.",
                    version_of(claim),
                )
            )
        served = self.sender.api.need("ResourceClaim")
        request = pin_request(self.order, self.pin, version_of(claim), served)
        return self.sender.put_status(Step.PIN, request)

    def finish(self, claim: Json) -> Outcome:
        """Pinned: whatever happens from here on, the claim is allocated."""
        notes = [note for note in (self.steering.off(), self.remove_own()) if note]
        also: tuple[str, ...] = ()
        try:
            claim = self.awaiting.cleaned(claim, self.options.carrier.clean)
            if (chosen := held_by(claim)) is not None:
                also = others(self.sender, chosen)
        except (EndedError, ApiError, *PASSING) as error:
            notes.append(UNSEEN.format(error=error))
        return Written(
            claim,
            tuple(self.sender.sent),
            allocation=held_by(claim) or self.order.allocation,
            also_held_by=also,
            note=" ".join(notes),
        )

    def remove_own(self) -> str:
        """The carrier is not needed any more. A sentence when it cannot be removed."""
        try:
            pod = self.sender.settle(self.own_pod)
            return self.remove(pod) if pod is not None else ""
        except (EndedError, *PASSING) as error:
            return _left(self.order, self.name, str(error))

    def remove(self, pod: Json) -> str:
        """A sentence when it cannot be removed."""
        uid = carrier_pod.uid_of(pod)

        def attempt() -> None:
            found = self.own_pod()
            if found is None or carrier_pod.uid_of(found) != uid:
                return
            if meta_of(found).get("deletionTimestamp"):
                return
            request = carrier_pod.delete_request(self.order.namespace, self.name, uid)
            try:
                self.sender.send(Step.CARRIER_OFF, request)
            except (NotFound, Conflict):
                return  # somebody else removed it

        try:
            self.sender.settle(attempt)
        except (EndedError, ApiError, *PASSING) as error:
            return _left(self.order, self.name, str(error))
        return ""

    # --- giving up ------------------------------------------------------------

    def let_go(self, pod: Json | None, outcome: Outcome) -> Outcome:
        """Remove the carrier; an allocation that came for it is to go with it."""
        outcome = with_note(outcome, self.steering.off())
        if pod is None:
            return outcome
        outcome = with_note(outcome, self.remove(pod))
        try:
            self.await_free(carrier_pod.uid_of(pod))
        except EndedError:
            return outcome  # the claim is gone, or cannot be seen any more
        return outcome

    def await_free(self, pod_uid: str) -> None:
        """Until what was allocated for the carrier is taken back, or patience ends."""
        end = time.monotonic() + self.options.carrier.clean
        while time.monotonic() < end:
            claim = self.sender.settle(self.sender.look)
            if allocation_of(claim) is None or not carrier_pod.is_for(claim, pod_uid):
                return
            if not reservations_of(claim):
                # No controller takes back what was reserved for nobody.
                release_steps(self.sender, owner=self.options.owner, override=False)
                return
            self.sender.beat()
            self.sender.patience.sleep(_LOOK)


def _of(error: EndedError | Conflict) -> Outcome:
    if isinstance(error, EndedError):
        return error.outcome
    return Changed("The claim kept being changed while we wrote to it.")


def _other_devices(
    order: Order, claim: Json, chosen: AllocationResult | None
) -> Refused:
    results = (chosen.devices.results if chosen else None) or ()
    found = ", ".join(f"{r.driver}/{r.pool}/{r.device}" for r in results)
    planned = order.allocation.devices.results or ()
    wanted = ", ".join(f"{r.driver}/{r.pool}/{r.device}" for r in planned)
    return Refused(
        Refusal.OTHER_DEVICES,
        f"The scheduler chose {found or 'devices that cannot be read'} instead of "
        f"{wanted}; that allocation was given back. Name the device in the claim's "
        "selectors, or let the portal accept what the scheduler chooses "
        "(carrier.acceptOtherDevices in the clusters file).",
        claim=claim,
    )


def _moved(node_name: str) -> Refused:
    return Refused(
        Refusal.FORBIDDEN,
        "Something in the cluster (a webhook) changed the carrier pod so that it may run "
        f"on other nodes than {node_name}. It was removed, and what came of it was given "
        "back; leave the node affinity of the portal's pods as it is.",
    )


def _unadmitted(error: ApiError) -> Refused:
    """A 403 is a missing right, or a quota or pod security that is in the way."""
    if isinstance(error, Unauthorized) or "cannot create resource" in error.message:
        return forbidden(error, "create pods")
    if not error.message:
        return forbidden(error, "create pods")
    return Refused(
        Refusal.FORBIDDEN, f"The cluster does not admit the carrier pod: {error}"
    )


def _left(order: Order, name: str, why: str) -> str:
    return (
        f"The carrier pod {order.namespace}/{name} could not be removed ({why}); the "
        "periodic clean-up will try again."
    )
