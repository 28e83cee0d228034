"""Where a search stands, and the choices that it can make otherwise."""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable

from dra.allocation.booking import Pick
from dra.allocation.request import Ask


@dataclasses.dataclass(frozen=True, slots=True)
class Solution:
    """What the search found: the picks in order and the alternative of each request."""

    picks: tuple[Pick, ...]
    chosen: tuple[tuple[Ask, ...], ...]
    """Per claim, per request."""


@dataclasses.dataclass(slots=True)
class Place:
    """Where the search stands: which device of which request comes next."""

    claim: int = 0
    request: int = 0
    ask: Ask | None = None
    """The alternative being tried; None while none is chosen."""
    device: int = 0
    start: int = 0
    """Devices before this one were tried for earlier devices of the request."""


class Frame:
    """A choice that can be made otherwise.

    ``exceeded`` counts what can be chosen here but would give the claim more devices
    than it can hold: the device that comes next, or how many of the alternatives.
    ``blame``, ``hopeless`` and ``state`` are kept for a search with insight: depths
    of the earlier choices that had a part in this one's failures, signatures of
    devices that led nowhere, and all that matters for what follows.
    """

    __slots__ = (
        "at",
        "blame",
        "depth",
        "exceeded",
        "hopeless",
        "next",
        "options",
        "pick",
        "state",
    )

    def __init__(self, at: Place, options: str, depth: int) -> None:
        self.at = at
        self.options = options
        self.depth = depth
        self.exceeded = 0
        self.next = 0
        self.pick: Pick | None = None
        self.state: Hashable = None
        self.blame: set[int] = set()
        self.hopeless: set[Hashable] = set()

    @property
    def too_many(self) -> bool:
        """Whether whatever is chosen here gives the claim too many devices."""
        if self.options == "alternatives":
            return self.exceeded == self.next
        return self.exceeded > 0
