"""The guarded direct write: keep the scheduler away, make sure that it is, write.

1. GET the claim, the slices and the claims: free, and nobody who waits would pass the
   guard.
2. PATCH the finalizer.
3. The guard on: a rule per device, or a taint on the node.
4. Wait, since pods and guards come to the scheduler by different watches.
5. Barrier: a pod that fits nowhere gets the scheduler's "no".
6. List claims and unbound pods until no allocation is under way.
7. List the claims once more and PATCH the allocation at once, with the resourceVersion
   of that list.
8. List again: nobody else may hold a device. If somebody does, nothing is rolled back:
   the scheduler would forget the other booking.
9. Wait (and the barrier again if it was slow): the guard's end and the allocation come to
   the scheduler by different watches, too.
10. The guard off, here and on every other way out.

A fixed wait alone fails beside a busy scheduler; the barrier and the look for what is
under way make it safe.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Final

from cluster.errors import ApiError, Conflict, Forbidden, Unauthorized
from cluster.writeback import in_flight
from cluster.writeback.aftermath import UNSEEN, others
from cluster.writeback.answers import (
    EndedError,
    forbidden,
    gone,
    meaning,
    replaced,
    unfree,
)
from cluster.writeback.barrier import Barrier
from cluster.writeback.equipment import Equipped
from cluster.writeback.ground import Ground
from cluster.writeback.guards import Guard, NodeGuard, RuleGuard, choose
from cluster.writeback.patience import PASSING
from cluster.writeback.requests import (
    AS_V1,
    finalizer_request,
    foresee,
    protected,
    status_request,
)
from cluster.writeback.sending import Sender
from cluster.writeback.tags import EXPIRES, OWNER, RUN, SPARE, Tags
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
    first,
    holds,
    meta_of,
    still,
    unheard,
    version_of,
    with_note,
)
from cluster.writer_options import WriterOptions

_LOOK: Final = 0.05
"""Seconds between two looks for what is under way."""


class GuardedWriter(Equipped):
    """Writes the allocation itself."""

    name: Final = "direct"

    def preview(self, order: Order, claim: Json) -> list[Request]:
        """The two requests to the claim; guard and barrier come and go around them."""
        return foresee(order, claim, AS_V1)

    def write(
        self, order: Order, *, before: Before = unheard, beat: Beat = still
    ) -> Outcome:
        sender = self._sender(order, before, beat)
        work = _Guarded(order, self._options, sender)
        outcome = sender.outcome(work.go)
        return work.tidy(outcome)


class _Guarded:
    """One order on its way."""

    def __init__(self, order: Order, options: WriterOptions, sender: Sender) -> None:
        self.order = order
        self.sender = sender
        self.times = options.guard
        barriers = 2 * len(options.scheduler.names) * self.times.barrier
        lifetime = barriers + 2 * self.times.marks + SPARE
        self.options = options
        self.tags = Tags.of(order, options.owner, lifetime)
        self.barrier = Barrier(sender, order, options, self.tags)
        # A call before this one may have left its guard, whichever that was.
        self.guards: list[Guard] = self._possible() if order.resumed else []

    def _possible(self) -> list[Guard]:
        kinds: dict[str, type[RuleGuard | NodeGuard]]
        kinds = {"rule": RuleGuard, "node-taint": NodeGuard}
        return [
            kind(self.sender, self.order, self.tags)
            for name, kind in kinds.items()
            if self.times.by in ("auto", name)
        ]

    def go(self) -> Outcome:
        claim = self.sender.settle(self.sender.look)
        if holds(claim, self.order.allocation):
            # Nobody knows what the call before this one still had to wait for.
            self.settle_down(busy=self.order.resumed)
            return self.written(claim)
        if wrong := unfree(self.order, claim):
            return wrong
        ground = self.sender.settle(lambda: Ground(self.sender, self.order))
        guard = self.sender.settle(
            lambda: choose(self.sender, self.order, self.options, ground, self.tags)
        )
        self.check(ground, guard)
        self.await_quiet()
        self.sender.settle(self.protect, also=(Conflict,))
        self.guards = [*self.guards, guard]
        guard.on()
        self.sender.patience.sleep(self.times.settle)
        slow = self.barrier.pass_all() > self.times.busy
        self.await_quiet()
        self.check(ground, guard)
        self.check_stands(guard)
        claim = self.sender.settle(lambda: self.allocate(ground))
        outcome = self.written(claim)
        self.settle_down(busy=slow)
        return outcome

    # --- before the write -----------------------------------------------------

    def check(self, ground: Ground, guard: Guard) -> None:
        """Ends the write when it would be in vain, or the guard would not hold."""
        claims = self.sender.settle(self._claims)
        pods = self.sender.settle(self._unbound)
        if taken := ground.taken(claims):
            raise EndedError(Changed(taken, self._version(claims)))
        self.check_schedulers(claims, pods)
        if found := guard.unheeding(claims, pods):
            raise EndedError(
                Refused(
                    Refusal.UNGUARDED,
                    f"{first(found)} would get the device in spite of the portal's "
                    "taint, because of a toleration for any taint. Nothing was "
                    "written; use another device, or wait until it has run.",
                )
            )

    def check_schedulers(self, claims: list[Json], pods: list[Json]) -> None:
        """Ends the write when pods wait for devices of a scheduler without a barrier.

        Where none is named, no barrier is passed at all.
        """
        known = self.options.scheduler.names
        found = in_flight.of_unknown_schedulers(claims, pods, self.order, known)
        if found and known:
            raise EndedError(
                Refused(
                    Refusal.UNGUARDED,
                    "Pods wait for devices of a scheduler that the clusters file does "
                    f"not name: {first(found)}. Name it (scheduler.names), or nobody "
                    "can know what it is about to allocate. Nothing was written.",
                )
            )

    def check_stands(self, guard: Guard) -> None:
        """Ends the write when the guard that the barrier was for is not there any more."""
        if not self.sender.settle(guard.stands):
            raise EndedError(
                Changed(
                    "The portal's taint was taken away by somebody else before the "
                    "allocation was written, so a scheduler may be about to use the "
                    "devices."
                )
            )

    def await_quiet(self) -> None:
        """Until no allocation is under way; ends the write when that takes too long."""
        end = time.monotonic() + self.times.marks
        while True:
            claims = self.sender.settle(self._claims)
            found = in_flight.marks(
                claims, self.sender.settle(self._unbound), self.order
            )
            if not found:
                return
            if time.monotonic() >= end:
                raise EndedError(
                    Refused(
                        Refusal.IN_FLIGHT,
                        f"A scheduler has been about to allocate for {first(found)} for "
                        f"{self.times.marks:.0f} seconds. Nothing was written; start "
                        "again when it is done.",
                    )
                )
            self.sender.beat()
            self.sender.patience.sleep(_LOOK)

    def _claims(self) -> list[Json]:
        return self.sender.api.list("ResourceClaim")

    def _unbound(self) -> list[Json]:
        return self.sender.api.list("Pod", field_selector="spec.nodeName=")

    def _version(self, claims: list[Json]) -> str:
        own = self._own(claims)
        return version_of(own) if own else ""

    def _own(self, claims: list[Json]) -> Json | None:
        here = (self.order.namespace, self.order.name)
        for claim in claims:
            meta = meta_of(claim)
            if (meta.get("namespace"), meta.get("name")) == here:
                return claim
        return None

    def protect(self) -> None:
        claim = self.sender.look()
        if wrong := unfree(self.order, claim):
            raise EndedError(wrong)
        if protected(claim):
            return
        request = finalizer_request(
            self.order, claim, self.sender.api.need("ResourceClaim")
        )
        assert isinstance(request.body, dict)
        request.body["metadata"]["annotations"] = {
            OWNER: self.tags.owner,
            RUN: self.tags.run,
            EXPIRES: self.tags.until,
        }
        self._send(Step.FINALIZER, request, "patch resourceclaims")

    # --- the write ------------------------------------------------------------

    def allocate(self, ground: Ground) -> Json:
        claims = self._claims()
        claim = self._own(claims)
        if claim is None:
            raise EndedError(gone(self.order))
        if wrong := replaced(self.order, claim):
            raise EndedError(wrong)
        if holds(claim, self.order.allocation):
            return claim
        if wrong := unfree(self.order, claim):
            raise EndedError(wrong)
        if taken := ground.taken(claims):
            raise EndedError(Changed(taken, version_of(claim)))
        served = self.sender.api.need("ResourceClaim")
        request = status_request(self.order, claim, served)
        return self._send(
            Step.STATUS, request, "patch resourceclaims/status", allocates=True
        )

    def _send(
        self, step: Step, request: Request, right: str, *, allocates: bool = False
    ) -> Json:
        try:
            return self.sender.send(step, request, allocates=allocates)
        except PASSING:
            raise
        except (Forbidden, Unauthorized) as error:
            raise EndedError(forbidden(error, right)) from error
        except Conflict as error:
            if step is Step.FINALIZER:
                raise  # look again: only the claim's other fields may have changed
            raise EndedError(self._meaning(error)) from error
        except ApiError as error:
            raise EndedError(self._meaning(error)) from error

    def _meaning(self, error: ApiError) -> Changed | Refused:
        claim = self.sender.look()
        return unfree(self.order, claim) or meaning(error, claim)

    # --- after the write ------------------------------------------------------

    def written(self, claim: Json) -> Written:
        also: tuple[str, ...] = ()
        note = ""
        try:
            also = others(self.sender, self.order.allocation)
        except (EndedError, ApiError, *PASSING) as error:
            note = UNSEEN.format(error=error)
        exact = holds(claim, self.order.allocation)
        return Written(
            claim, tuple(self.sender.sent), exact=exact, also_held_by=also, note=note
        )

    def settle_down(self, *, busy: bool) -> None:
        """Let the scheduler see the allocation before it sees the guard go."""
        self.sender.patience.sleep(self.times.settle)
        if busy:
            try:
                self.barrier.pass_all()
            except (EndedError, ApiError, *PASSING):
                # The allocation is written; a longer wait is all that is left to do.
                self.sender.patience.sleep(self.times.settle)

    def tidy(self, outcome: Outcome) -> Outcome:
        """Everything off that this call, or one before it, put into the cluster."""
        if not self.guards:
            return outcome
        notes = [self.barrier.off(), *(guard.off() for guard in self.guards)]
        said = " ".join(note for note in notes if note)
        if isinstance(outcome, Written):
            outcome = replace(outcome, requests=tuple(self.sender.sent))
        return with_note(outcome, said)
