"""Waiting for what others do about a carrier: the scheduler, then the controller."""

from __future__ import annotations

import time
from typing import Final

from cluster.errors import ApiError
from cluster.writeback import admitted, carrier_pod
from cluster.writeback.answers import gone, refused, unfree
from cluster.writeback.api import PODS
from cluster.writeback.following import Followed, Following
from cluster.writeback.sending import Sender
from cluster.writeback.values import (
    Changed,
    Json,
    Order,
    Outcome,
    Refusal,
    Refused,
    allocation_of,
    meta_of,
    reservations_of,
    version_of,
)

BEAT: Final = 5.0
"""Seconds of waiting between two signs of life."""
_RIGHT: Final = "get and watch pods and resourceclaims"


class Awaiting:
    """The claim of one order and its carrier, called ``pod_name``."""

    def __init__(self, sender: Sender, order: Order, pod_name: str) -> None:
        self.sender = sender
        self.order = order
        self.pod_name = pod_name

    def allocation(self, pod: Json, seconds: float) -> Json | Outcome:
        """The claim as allocated for the carrier ``pod``, or why that will not be."""
        pod_uid = carrier_pod.uid_of(pod)
        held_back = admitted.held_back(pod)
        followed = {
            "claim": self._claim(),
            "pod": Followed(PODS, self.order.namespace, self.pod_name),
        }
        end = time.monotonic() + seconds
        with Following(self.sender.api.client, followed) as states:
            while (left := end - time.monotonic()) > 0:
                try:
                    state = states.next(min(left, BEAT))
                except ApiError as error:
                    return refused(error, _RIGHT)
                if state is None:
                    self.sender.beat()
                elif state[0] == "claim":
                    if found := self._judge(state[1], pod_uid):
                        return found
                elif (why := _ended(state[1], pod_uid)) is not None:
                    return self._last_look(pod_uid, why)
                else:
                    held_back = admitted.held_back(state[1] or {})
        return self._too_late(pod_uid, held_back, seconds)

    def _too_late(self, pod_uid: str, held_back: str, seconds: float) -> Json | Outcome:
        why = f"The scheduler did not allocate the claim within {seconds:.0f} seconds."
        found = self._last_look(pod_uid, why)
        if held_back and isinstance(found, Changed):
            return Refused(
                Refusal.FORBIDDEN,
                f"The carrier pod {held_back}, and was for {seconds:.0f} seconds: no "
                "scheduler looked at it.",
            )
        return found

    def cleaned(self, claim: Json, seconds: float) -> Json:
        """The claim when the controller has taken back the carrier's reservation.

        It does so in its own time; the claim as it is when patience ends.
        """
        if not self._reserved(claim):
            return claim
        end = time.monotonic() + seconds
        followed = {"claim": self._claim()}
        with Following(self.sender.api.client, followed) as states:
            while (left := end - time.monotonic()) > 0:
                try:
                    state = states.next(min(left, BEAT))
                except ApiError:
                    break
                if state is None:
                    self.sender.beat()
                elif state[1] is None:
                    break
                else:
                    claim = state[1]
                    if not self._reserved(claim):
                        break
        return claim

    def _claim(self) -> Followed:
        served = self.sender.api.need("ResourceClaim")
        return Followed(served, self.order.namespace, self.order.name)

    def _judge(self, claim: Json | None, pod_uid: str) -> Json | Outcome | None:
        """The claim when it is allocated, an outcome when it is over, None: wait."""
        if claim is None or meta_of(claim).get("uid") != self.order.uid:
            return gone(self.order)
        if allocation_of(claim) is not None:
            return claim if carrier_pod.is_for(claim, pod_uid) else None
        return unfree(self.order, claim)

    def _last_look(self, pod_uid: str, why: str) -> Json | Outcome:
        """The allocation may be there although the carrier came to nothing."""
        claim = self.sender.settle(self.sender.look)
        if allocation_of(claim) is None:
            return Changed(why, version_of(claim))
        if carrier_pod.is_for(claim, pod_uid):
            return claim
        return taken(self.order, claim)

    def _reserved(self, claim: Json) -> bool:
        return any(
            r.get("name") == self.pod_name and r.get("resource") == "pods"
            for r in reservations_of(claim)
        )


def taken(order: Order, claim: Json) -> Outcome:
    """What it means that the claim is not to be had."""
    return unfree(order, claim) or Changed("The claim was changed.", version_of(claim))


def _ended(pod: Json | None, uid: str) -> str | None:
    if pod is None or carrier_pod.uid_of(pod) != uid:
        return "The carrier pod was deleted by somebody else."
    if (said := carrier_pod.verdict(pod)) is not None:
        return f"The scheduler did not allocate the claim: {said.rstrip('.')}."
    return None
