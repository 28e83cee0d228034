"""Counting steps, and ending a search that takes too many."""

from __future__ import annotations

from dra.allocation.outcome import Budget


class OutOfBudgetError(Exception):
    """The search used up its steps or was told to stop."""

    def __init__(self, steps: int) -> None:
        self.steps = steps
        super().__init__(f"gave up after {steps} steps")


class Meter:
    """Counts steps over all nodes of one question."""

    def __init__(self, budget: Budget) -> None:
        self.limit = budget.steps
        self.stop = budget.stop
        self.steps = 0

    def look(self) -> None:
        """Ask whether to stop, between nodes."""
        if self.stop is not None and self.stop():
            raise OutOfBudgetError(self.steps)

    def tick(self) -> None:
        self.steps += 1
        if self.steps > self.limit:
            raise OutOfBudgetError(self.limit)
        if self.steps % 256 == 0 and self.stop is not None and self.stop():
            raise OutOfBudgetError(self.steps)
