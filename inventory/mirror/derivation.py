"""What follows from the rows of a kind, written in their transaction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Known:
    """What the mirror remembers of a row it may have to change."""

    pk: int
    uid: str
    resource_version: str
    problem: str
    remembered: tuple[Any, ...]
    """Values of the store's ``remember`` columns."""


@dataclass(frozen=True, slots=True)
class Written:
    """A row just inserted or updated; ``before`` is None for a new one."""

    row: Any
    object: Any
    before: Known | None


class Derivation:
    """What follows from the rows of one kind. One object per transaction.

    The store calls ``prepare`` before and ``written`` after each batch of rows,
    ``deleting`` before rows go, and ``finish`` once when all rows are there. This one
    derives nothing.
    """

    def prepare(self, rows: Sequence[tuple[Any, Any]]) -> None:
        """Fill in columns that depend on other tables: pairs of row and object."""

    def written(self, rows: Sequence[Written]) -> None:
        """``rows`` are in their table, with their primary keys."""

    def deleting(self, rows: Sequence[Known]) -> None:
        """``rows`` are about to be deleted; what hangs on them goes with them."""

    def finish(self) -> None:
        """All rows of this transaction are written."""
