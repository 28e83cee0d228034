"""A look at the other claims after a write."""

from __future__ import annotations

from typing import Final

from cluster.writeback import holders
from cluster.writeback.sending import Sender
from dra.objects import AllocationResult

UNSEEN: Final = "It could not be looked at again afterwards: {error}"
"""What to note when the look fails; the write has been done all the same."""


def others(sender: Sender, allocation: AllocationResult) -> tuple[str, ...]:
    """Who else holds a device of the sender's claim: some other writer, no scheduler."""
    claims = sender.settle(lambda: sender.api.list("ResourceClaim"))
    found = holders.also_held(allocation, claims, but=sender.order.uid)
    return holders.in_words(found)
