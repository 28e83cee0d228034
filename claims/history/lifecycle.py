"""What happened to a claim between two states of its row. Pure functions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from claims.choices import ClaimState
from inventory.choices import Happened

CLAIM: Final = "ResourceClaim"
REMEMBERED: Final = ("state", "allocated", "consumer_count")
"""Columns of the row that :class:`Facts` are made of."""


class Facts(NamedTuple):
    """What a claim's row says about its life."""

    state: str = ClaimState.PENDING
    allocated: bool = False
    consumer_count: int = 0

    @classmethod
    def of(cls, row: Any) -> Facts:
        return cls(row.state, row.allocated, row.consumer_count)


def happened(
    before: Facts | None, after: Facts, *, moved: bool = False
) -> Iterator[Happened]:
    """What must have happened, in the order in which it can have.

    ``before`` is None for a claim that was not there. ``moved``: the devices of the
    allocation are others than before. Of several changes between two looks only the
    outcome is seen.
    """
    was = before or Facts()
    deleting = after.state == ClaimState.DELETING
    again = after.allocated and moved and was.allocated
    if before is None:
        yield Happened.CREATED
    if was.state == ClaimState.IN_USE and after.state != was.state and not deleting:
        yield Happened.STOPPED
    if was.consumer_count and not after.consumer_count:
        yield Happened.RELEASED
    if was.allocated and (again or not after.allocated):
        yield Happened.DEALLOCATED
    if after.allocated and (again or not was.allocated):
        yield Happened.ALLOCATED
    if after.consumer_count and not was.consumer_count:
        yield Happened.RESERVED
    if after.state == ClaimState.IN_USE and was.state != ClaimState.IN_USE:
        yield Happened.STARTED
    if deleting and was.state != ClaimState.DELETING:
        yield Happened.DELETING
