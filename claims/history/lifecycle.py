"""What happened to a claim between two states of its row. Pure functions."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any, Final, NamedTuple

from claims.choices import ClaimState
from inventory.choices import Happened

CLAIM: Final = "ResourceClaim"
REMEMBERED: Final = ("state", "allocated", "consumer_count", "allocated_at")
"""Columns of the row that :class:`Facts` are made of."""


class Facts(NamedTuple):
    """What a claim's row says about its life."""

    state: str = ClaimState.PENDING
    allocated: bool = False
    consumer_count: int = 0
    allocated_at: datetime | None = None

    @classmethod
    def of(cls, row: Any) -> Facts:
        return cls(row.state, row.allocated, row.consumer_count, row.allocated_at)

    def reallocated(self, after: Facts) -> bool:
        """Whether ``after`` has another allocation, be it of the same devices: none
        changes its time."""
        times = {self.allocated_at, after.allocated_at}
        return self.allocated and after.allocated and len(times - {None}) > 1


def happened(
    before: Facts | None,
    after: Facts,
    *,
    moved: bool = False,
    handed_over: bool = False,
) -> Iterator[Happened]:
    """What must have happened, in the order in which it can have.

    ``before`` is None for a claim that was not there. ``moved``: the devices of the
    allocation are others than before; ``handed_over``: so are all of its consumers. Of
    several changes between two looks only the outcome is seen.
    """
    was = before or Facts()
    deleting = after.state == ClaimState.DELETING
    again = after.allocated and was.allocated and (moved or was.reallocated(after))
    others = handed_over and bool(was.consumer_count and after.consumer_count)
    if before is None:
        yield Happened.CREATED
    in_use = was.state == ClaimState.IN_USE
    if in_use and (others or after.state != was.state) and not deleting:
        yield Happened.STOPPED
    if was.consumer_count and (others or not after.consumer_count):
        yield Happened.RELEASED
    if was.allocated and (again or not after.allocated):
        yield Happened.DEALLOCATED
    if after.allocated and (again or not was.allocated):
        yield Happened.ALLOCATED
    if after.consumer_count and (others or not was.consumer_count):
        yield Happened.RESERVED
    if after.state == ClaimState.IN_USE and (others or not in_use):
        yield Happened.STARTED
    if deleting and was.state != ClaimState.DELETING:
        yield Happened.DELETING
