"""Which devices the page lists: by outcome, lost at one term, or matched by one of two."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final
from urllib.parse import urlencode

import numpy as np
from django.urls import reverse

from claims.views.cel.question import Question
from claims.views.cel.tables import (
    SHOWN,
    Columns,
    Row,
    Table,
    asked_query,
    row_of,
)
from dra import cel
from dra.allocation.classes import chain_of
from dra.cel.explain import Term
from dra.cel.program import MAX_LENGTH
from dra.cel.selection import ERROR, FALSE, TRUE
from dra.snapshot import Snapshot
from inventory.selecting import Deadline
from inventory.selecting.samples import samples
from inventory.selecting.scopes import Mask
from inventory.views.cel_links import enclosed, joined

_CODES: Final = {"true": TRUE, "false": FALSE, "error": ERROR}
_LABELS: Final = {
    "true": ("Match", "check"),
    "false": ("Do not match", "circle-slash"),
    "error": ("No answer", "alert"),
}
_NOTHING: Final = {
    "true": "No device matches.",
    "false": "Every device that has an answer matches.",
    "error": "Every device has an answer.",
}
_SIDES: Final = {
    "first": "Only the first matches",
    "second": "Only the second matches",
    "both": "Both match",
}


@dataclass(frozen=True, slots=True)
class Tab:
    name: str
    label: str
    icon: str
    count: int
    href: str
    open: bool


@dataclass(frozen=True, slots=True)
class Asked:
    """One expression and what it said."""

    program: cel.Program
    selection: cel.Selection
    term: Term

    def is_(self, code: int) -> Mask:
        found: Mask = self.selection.outcomes == code
        return found


class Devices(ABC):
    """The lists of one page, of which one is open. ``base``: the devices asked about."""

    def __init__(
        self,
        snapshot: Snapshot,
        table: cel.DeviceTable,
        cluster: str,
        question: Question,
        base: Mask,
        deadline: Deadline,
    ) -> None:
        self.snapshot = snapshot
        self.devices = table
        self.cluster = cluster
        self.question = question
        self.base = base
        self.deadline = deadline

    @abstractmethod
    def masks(self) -> Mapping[str, Mask]:
        """The devices of each tab."""

    @abstractmethod
    def labels(self) -> Mapping[str, tuple[str, str]]:
        """Label and icon of each tab."""

    @abstractmethod
    def listed(self, rows: Mask) -> Table:
        """The table of the open tab."""

    @abstractmethod
    def expression(self) -> str:
        """True on exactly the devices of the open tab; empty where there is none."""

    @cached_property
    def _masks(self) -> Mapping[str, Mask]:
        return self.masks()

    @cached_property
    def counts(self) -> Mapping[str, int]:
        return {name: int(np.count_nonzero(m)) for name, m in self._masks.items()}

    @cached_property
    def open(self) -> str:
        """The tab asked for, else the first with a device."""
        if self.question.tab in self._masks:
            return self.question.tab
        names = list(self._masks)
        return next((name for name in names if self.counts[name]), names[0])

    @property
    def tabs(self) -> list[Tab]:
        return [
            Tab(
                name=name,
                label=label,
                icon=icon,
                count=self.counts[name],
                href=self.question.but(tab=name).query,
                open=name == self.open,
            )
            for name, (label, icon) in self.labels().items()
        ]

    @cached_property
    def table(self) -> Table:
        return self.listed(self._masks[self.open])

    @property
    def list_href(self) -> str:
        """The same devices in the list of devices, with its filters."""
        own = self.expression()
        if not own or not self.counts[self.open]:
            return ""
        scope = self.question.scope
        parts = [own]
        if scope.device_class:
            found = self.snapshot.classes.get(scope.device_class)
            parts = [*(chain_of(found) if found else ()), own]
        expression = joined(parts)
        if len(expression.encode(errors="replace")) > MAX_LENGTH:
            return ""
        filters = {
            "cel": expression,
            "driver": scope.driver,
            "node_name": scope.node,
            "pool": scope.pool,
            "state": scope.state,
        }
        query = urlencode(
            [pair for pair in filters.items() if pair[1]], errors="replace"
        )
        return f"{reverse('devices', args=[self.cluster])}?{query}"

    @property
    def list_words(self) -> str:
        return f"All {self.counts[self.open]:,} in the list of devices"

    # --- rows ---

    def rows(self, asked: Asked, chosen: Mask, columns: Columns) -> list[Row]:
        """The first devices of ``chosen`` with what ``asked`` says about them."""
        shown = self.question.rows_shown(SHOWN)
        found = samples(
            asked.program,
            self.devices,
            asked.selection,
            asked.term,
            within=chosen,
            first=shown,
            stop=self.deadline,
        )
        places = [
            (int(row), answer)
            for outcome, code in _CODES.items()
            for row, answer in zip(
                np.flatnonzero(chosen & asked.is_(code)), found[outcome], strict=False
            )
        ]
        query = asked_query(asked.program.expression)
        return [
            row_of(self.cluster, answer, query, columns.cells(row))
            for row, answer in places[:shown]
        ]


class ByOutcome(Devices):
    """Match, do not match, no answer; ``whole``: of all devices of the scope."""

    def __init__(self, *args: Any, asked: Asked, whole: bool) -> None:
        super().__init__(*args)
        self.asked = asked
        self.whole = whole

    def masks(self) -> Mapping[str, Mask]:
        return {name: self.asked.is_(code) & self.base for name, code in _CODES.items()}

    def labels(self) -> Mapping[str, tuple[str, str]]:
        return _LABELS

    def listed(self, rows: Mask) -> Table:
        columns = Columns(self.devices, [self.asked.program])
        return Table(
            rows=self.rows(self.asked, rows, columns),
            parts=columns.parts,
            total=self.counts[self.open],
            with_reason=self.open != "true",
            reason_title="Why" if self.open == "error" else "Because this is false",
            nothing=_NOTHING[self.open],
        )

    def expression(self) -> str:
        if not self.whole:
            return ""
        text = self.asked.program.expression
        return {"true": text, "false": f"!{enclosed(text)}"}.get(self.open, "")


class BySide(Devices):
    """Which of two expressions matches."""

    def __init__(self, *args: Any, first: Asked, second: Asked) -> None:
        super().__init__(*args)
        self.first = first
        self.second = second

    def masks(self) -> Mapping[str, Mask]:
        first, second = self.first.is_(TRUE), self.second.is_(TRUE)
        return {
            "first": first & ~second & self.base,
            "second": second & ~first & self.base,
            "both": first & second & self.base,
        }

    def labels(self) -> Mapping[str, tuple[str, str]]:
        return {name: (label, "") for name, label in _SIDES.items()}

    def listed(self, rows: Mask) -> Table:
        columns = Columns(self.devices, [self.first.program, self.second.program])
        # What is to be explained is why the other one does not match.
        asked = self.first if self.open == "second" else self.second
        other = "first" if self.open == "second" else "second"
        return Table(
            rows=self.rows(asked, rows, columns),
            parts=columns.parts,
            total=self.counts[self.open],
            with_reason=self.open != "both",
            reason_title=f"Why the {other} does not match",
            nothing="There is no such device.",
        )

    def expression(self) -> str:
        first, second = self.first.program.expression, self.second.program.expression
        match self.open:
            case "both":
                return joined([first, second])
            case "first" if not self._any_error(self.second):
                return f"{enclosed(first)} && !{enclosed(second)}"
            case "second" if not self._any_error(self.first):
                return f"{enclosed(second)} && !{enclosed(first)}"
        return ""

    def matrix(self, words: Sequence[str]) -> list[tuple[str, list[tuple[int, bool]]]]:
        """Devices by outcome of the first (rows) and of the second (cells)."""
        codes = list(_CODES.values())
        return [
            (
                word,
                [(self._both(code, other), code != other) for other in codes],
            )
            for word, code in zip(words, codes, strict=True)
        ]

    def _both(self, first: int, second: int) -> int:
        both = self.first.is_(first) & self.second.is_(second) & self.base
        return int(np.count_nonzero(both))

    def _any_error(self, asked: Asked) -> bool:
        return bool(np.any(asked.is_(ERROR) & self._masks[self.open]))
