"""What a census counts of one request: devices of every node by where they stand."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dra.allocation.counts import Standing
from dra.cel.selection import Part, combinations

type Numbers = NDArray[np.int64]


@dataclasses.dataclass(frozen=True, slots=True)
class Agreeing:
    """A constraint on the free devices of every node: see ``counts.Limit``."""

    attribute: str
    distinct: bool
    most: Numbers
    without: Numbers


@dataclasses.dataclass(frozen=True, slots=True)
class Tally:
    """One request on every counted node.

    ``by_standing[node, standing]`` counts its devices; ``limits`` has one entry per
    constraint that concerns the request.
    """

    by_standing: Numbers
    limits: tuple[Agreeing, ...]

    @property
    def free(self) -> Numbers:
        return self.by_standing[:, Standing.FREE]

    @property
    def matching(self) -> Numbers:
        unwanted = self.by_standing[:, [Standing.UNWANTED, Standing.FAILING]]
        found: Numbers = self.by_standing.sum(axis=1) - unwanted.sum(axis=1)
        return found


def numbered(columns: Sequence[Numbers], height: int) -> Numbers:
    """The same number for rows that are the same in all ``columns``, none below 0."""
    parts = [Part(column, int(column.max(initial=0)) + 1) for column in columns]
    return combinations(parts, height).which.astype(np.int64)
