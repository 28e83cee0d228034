"""Making the scheduler count a device again that it takes for free.

After a double booking was released, kube-scheduler's set of taken devices lacks the
device although the surviving claim holds it; the set changes only when a claim goes from
unallocated to allocated or back. So the survivor's allocation is taken away and written
again as it was, at once:

1. GET the claim, its pods, all claims, the quarantine. Refused while any of it makes the
   moment in between dangerous (:mod:`cluster.writeback.unsafe`), or when the claim is not the one
   that somebody decided about.
2. Where the quarantine covers only some of the claim's devices: a rule on each of the
   others, for this moment.
3. PATCH allocation and reservations away, with the resourceVersion read.
4. PATCH the finalizer back if it is gone, then the same allocation and reservations.
5. Read back, and look whether another claim holds a device of it now.

What is put back is kept by the caller before 3, so a call that died is finished by the
next one (:mod:`cluster.writeback.putting_back`). The pods that run are not touched. Measured for kube-scheduler 1.36.2.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from cluster.errors import ApiError, Conflict, Forbidden, Unauthorized
from cluster.writeback import changes, holders, in_flight, taint_rules
from cluster.writeback.answers import (
    EndedError,
    forbidden,
    meaning,
    the_claim,
)
from cluster.writeback.equipment import Equipped
from cluster.writeback.ground import Ground
from cluster.writeback.guards import RuleGuard
from cluster.writeback.patience import PASSING
from cluster.writeback.putting_back import (
    SETTLED,
    PuttingBack,
    Rewrite,
    Rewritten,
    Stranded,
    Unfinished,
)
from cluster.writeback.quarantining import keeping_off, rules_of, unbound
from cluster.writeback.releasing import clear_request
from cluster.writeback.sending import Sender
from cluster.writeback.tags import Role, Tags, run_label
from cluster.writeback.unsafe import why_unsafe
from cluster.writeback.values import (
    Beat,
    Before,
    Changed,
    Json,
    Order,
    Refusal,
    Refused,
    Step,
    Unknown,
    allocation_of,
    holds,
    reservations_of,
    still,
    unheard,
    version_of,
)
from cluster.writer_options import WriterOptions
from dra.errors import ObjectError
from dra.names import DeviceID

_LIFETIME: Final = 24 * 3600.0
"""Seconds after which nobody needs the rules of step 2 for certain: an API server may be
away for long while the allocation is. They go with their run, which is sooner."""
_SHOWN: Final = 3

RewriteOutcome = Rewritten | Unfinished | Stranded | Changed | Refused | Unknown


class Rewriter(Equipped):
    """Writes allocations anew."""

    def rewrite(
        self, wanted: Rewrite, *, before: Before = unheard, beat: Beat = still
    ) -> RewriteOutcome:
        """May be called again with the same order after any interruption."""
        try:
            order = wanted.order
        except ObjectError as error:
            return Refused(Refusal.INVALID, f"The allocation cannot be read: {error}")
        sender = self._sender(order, before, beat)
        work = _Rewriting(sender, wanted, order, self._options)
        outcome = self._outcome(work)
        return work.tidy(outcome)

    def _outcome(self, work: _Rewriting) -> RewriteOutcome:
        try:
            return work.go()
        except EndedError as ended:
            return work.meaning(ended.outcome)
        except PASSING as error:
            why = f"The API server cannot be used at the moment: {error}"
            if work.away:
                return Unfinished(
                    f"{why} The allocation is put back as soon as it can."
                )
            return Refused(Refusal.UNAVAILABLE, f"{why} Nothing was changed.")
        except Conflict as error:
            if work.away:
                return Unfinished(
                    f"The claim kept being changed while it was put back: {error}"
                )
            return Changed("The claim kept being changed. Nothing was written.")


class _Rewriting:
    def __init__(
        self, sender: Sender, wanted: Rewrite, order: Order, options: WriterOptions
    ) -> None:
        self.sender = sender
        self.wanted = wanted
        self.order = order
        self.options = options
        self.away = wanted.resumed
        """The allocation was, or may have been, taken away."""
        self.guard: RuleGuard | None = None
        self.back = PuttingBack(sender, wanted, order)

    def go(self) -> Rewritten:
        sender = self.sender
        found = sender.settle(sender.look)
        if allocation_of(found) is None:
            if not self.wanted.resumed:
                raise self.refused(Refusal.CHANGED, "it holds nothing now.", found)
            self.back.look_around(found)
        elif not self.wanted.returned:
            self.away = False  # whatever an earlier call did, it is there now
            self.check(found)
            self.cover()
            self.clear(found)
        sender.settle(self.back.put, also=(Conflict,))
        done = self.back.read_back()
        # Rules and claims come to a scheduler by different watches.
        sender.patience.sleep(self.options.guard.settle)
        return done

    # --- before it is taken away ------------------------------------------------

    def check(self, claim: Json) -> None:
        """Ends the work unless the claim is the one decided about, and may be touched."""
        wanted, sender = self.wanted, self.sender
        same = self.as_it_was(claim)
        # After an interruption the version may be of our own making.
        if not same or (version_of(claim) != wanted.seen and not wanted.resumed):
            raise self.refused(Refusal.CHANGED, changes.now(claim), claim)
        pods = sender.settle(lambda: sender.api.list("Pod", namespace=wanted.namespace))
        if whys := why_unsafe(claim, pods):
            raise self.ended(Refusal.UNSAFE, " ".join(whys[:_SHOWN]), claim)
        claims = sender.settle(lambda: sender.api.list("ResourceClaim"))
        also = holders.also_held(self.order.allocation, claims, but=wanted.uid)
        if also:
            why = " ".join(holders.in_words(also[:_SHOWN]))
            raise self.ended(
                Refusal.BOOKED_TWICE, f"{why} Release that one first.", claim
            )
        self.claims = claims

    def as_it_was(self, claim: Json) -> bool:
        mine = {str(r.get("uid")) for r in self.wanted.status.get("reservedFor") or ()}
        theirs = {str(r.get("uid")) for r in reservations_of(claim)}
        return holds(claim, self.order.allocation) and mine == theirs

    def cover(self) -> None:
        """No device of the claim may be chosen in the moment without the allocation."""
        sender, wanted = self.sender, self.wanted
        ground = sender.settle(lambda: Ground(sender, self.order))
        tags = Tags(self.options.owner, run_label(wanted.quarantine), None)
        nodes = {
            str((s.get("spec") or {}).get("nodeName") or "") for s in ground.slices
        }
        node = nodes.pop() if len(nodes) == 1 else ""
        if node and (keys := keeping_off(sender, tags, node)):
            pods = unbound(sender)
            heedless = [set(in_flight.unheeding_pods(pods, key)) for key in keys]
            self.heeded(sorted(set.intersection(*heedless)))
            return
        devices, ruled = ground.to_guard(), self.ruled(tags)
        if not ruled & set(devices):
            raise self.ended(
                Refusal.UNGUARDED,
                "No quarantine covers the devices of the claim: in that moment the "
                "scheduler could give them away. Quarantine the device first.",
            )
        taint = taint_rules.taint_of(tags, Role.QUARANTINE)
        self.heeded(in_flight.unheeding_claims(self.claims, taint, self.order))
        own = Tags.of(self.order, self.options.owner, _LIFETIME)
        guard = RuleGuard(sender, self.order, own)
        guard.devices = [device for device in devices if device not in ruled]
        if guard.devices:
            self.heeded(guard.unheeding(self.claims, ()))
            self.guard = guard
            guard.on()
            sender.patience.sleep(self.options.guard.settle)

    def ruled(self, tags: Tags) -> set[DeviceID]:
        rules = self.sender.settle(lambda: rules_of(self.sender, tags))
        found = ((r.get("spec") or {}).get("deviceSelector") or {} for r in rules)
        return {
            DeviceID(*(str(s.get(part) or "") for part in ("driver", "pool", "device")))
            for s in found
        }

    def heeded(self, unheeding: list[str]) -> None:
        if unheeding:
            raise self.ended(
                Refusal.UNGUARDED,
                f"{', '.join(unheeding[:_SHOWN])} waits and tolerates any taint, so it "
                "could get the devices in that moment. Delete it, or wait until it runs.",
            )

    # --- away and back ----------------------------------------------------------

    def clear(self, claim: Json) -> None:
        served = self.sender.api.need("ResourceClaim")
        request = clear_request(self.wanted, claim, served)
        self.sender.beat()
        try:
            self.away = True
            self.back.answer = self.sender.send(Step.CLEARED, request, allocates=True)
        except PASSING:
            raise  # it may have arrived
        except Conflict as error:
            self.away = False
            now = self.sender.settle(self.sender.look)
            raise self.refused(Refusal.CHANGED, changes.now(now), now) from error
        except (Forbidden, Unauthorized) as error:
            self.away = False
            raise EndedError(forbidden(error, "patch resourceclaims/status")) from error
        except ApiError as error:
            self.away = False
            raise EndedError(meaning(error, claim)) from error

    def tidy(self, outcome: RewriteOutcome) -> RewriteOutcome:
        """Take the rules of the moment away, unless the moment is not over."""
        if isinstance(outcome, Unfinished | Stranded):
            return outcome
        if self.guard is None and not self.wanted.resumed:
            return outcome
        own = Tags.of(self.order, self.options.owner, _LIFETIME)
        left = taint_rules.remove_all(self.sender, own, Role.GUARD)
        if isinstance(outcome, Rewritten):
            return replace(outcome, note=f"{outcome.note} {left}".strip())
        return replace(outcome, reason=f"{outcome.reason} {left}".strip())

    # --- endings ------------------------------------------------------------------

    def meaning(self, outcome: Changed | Refused | Unknown) -> RewriteOutcome:
        """What an end means that came while the allocation was away."""
        settled = isinstance(outcome, Refused) and outcome.refusal in SETTLED
        if not self.away or settled:
            return outcome
        missing = outcome.missing if isinstance(outcome, Refused) else ""
        return Stranded(outcome.reason, missing, tuple(self.sender.sent[-1:]))

    def refused(self, refusal: Refusal, now: str, claim: Json) -> EndedError:
        named = the_claim(self.wanted.namespace, self.wanted.name)
        why = f"{named} was changed since it was looked at: {now}"
        return self.ended(refusal, why, claim)

    def ended(
        self, refusal: Refusal, why: str, claim: Json | None = None
    ) -> EndedError:
        said = "" if self.away else " Nothing was written."
        return EndedError(Refused(refusal, f"{why}{said}", claim=claim))
