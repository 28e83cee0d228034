"""What a question to the engine can come back with."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from dra.objects import AllocationResult


@dataclasses.dataclass(frozen=True, slots=True)
class Fits:
    """One allocation per claim, in the order of the claims."""

    node_name: str
    allocations: tuple[AllocationResult, ...]


@dataclasses.dataclass(frozen=True, slots=True)
class DoesNotFit:
    """No solution exists; ``node_name`` is empty when several nodes were tried.

    ``reason`` is one plain sentence.
    """

    node_name: str
    reason: str


@dataclasses.dataclass(frozen=True, slots=True)
class GaveUp:
    """The search ended undecided after ``steps`` steps: neither yes nor no."""

    node_name: str
    steps: int
    reason: str


Outcome = Fits | DoesNotFit | GaveUp


@dataclasses.dataclass(frozen=True, slots=True)
class Budget:
    """How much one question may cost.

    ``steps`` is the number of devices tried, over all nodes of the question.
    ``stop`` is asked now and then; True ends the search (a deadline, a
    cancelled run). The core has no clock of its own.
    """

    steps: int = 2_000_000
    stop: Callable[[], bool] | None = None


DEFAULT_BUDGET = Budget()
