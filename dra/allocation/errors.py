"""What stops an allocation that is not "does not fit"."""

from __future__ import annotations

from dra.errors import DRAError

INVALID_POOLS = "invalid resource pools were encountered"


class AllocationError(DRAError):
    """Bad input: asking again with the same objects gives the same error.

    The text names the claim, the request and the cause. ``node_only`` is True
    when another node may still give an answer.
    """

    def __init__(self, message: str, *, node_only: bool = False) -> None:
        self.node_only = node_only
        super().__init__(message)
