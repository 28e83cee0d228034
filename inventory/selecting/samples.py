"""The first devices of each outcome, each with the term that decided."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from dra import cel
from dra.cel.devices import clean
from dra.cel.display import shortened
from dra.cel.explain import Term
from dra.cel.logic import FAULT, NO, OPERATORS, YES, Values
from dra.cel.selection import ERROR, FALSE, TRUE, Stop
from dra.cel.terms import TermProgram, split
from dra.errors import NotSupportedError
from dra.names import DeviceID
from inventory.selecting.scopes import Mask, node_names

type Outcome = Literal["true", "false", "error"]

OUTCOMES: Final[Mapping[Outcome, int]] = {"true": TRUE, "false": FALSE, "error": ERROR}

_OF_OUTCOME: Final[Values] = np.zeros(3, np.uint8)
"""The value in :mod:`dra.cel.logic` of each outcome."""
_OF_OUTCOME[[FALSE, TRUE, ERROR]] = NO, YES, FAULT


@dataclass(frozen=True, slots=True)
class DeviceAnswer:
    """What an expression says about one device.

    ``node`` owns it, or is empty. ``error`` says why there is no answer. ``why`` is
    the text of the first term that is false, or that fails; empty where all of the
    expression decides.
    """

    id: DeviceID
    node: str
    outcome: Outcome
    error: str = ""
    why: str = ""


def samples(
    program: cel.Program,
    table: cel.DeviceTable,
    selection: cel.Selection,
    term: Term,
    *,
    within: Mask | None,
    first: int,
    stop: Stop,
) -> dict[str, tuple[DeviceAnswer, ...]]:
    """The first devices of each outcome in table order.

    After ``stop`` said so, devices come without the term that decided.
    """
    rows = {
        outcome: _first(selection.outcomes == code, within, first)
        for outcome, code in OUTCOMES.items()
    }
    nodes = node_names(table, [row for found in rows.values() for row in found])
    decided = [*rows["false"], *rows["error"]]
    reasons = _Reasons(program, table, term, decided, stop)
    return {
        outcome: tuple(
            DeviceAnswer(
                id=table.ids[row],
                node=nodes[row],
                outcome=outcome,
                error=_error(selection[row]),
                why="" if outcome == "true" else reasons.why(row, OUTCOMES[outcome]),
            )
            for row in found
        )
        for outcome, found in rows.items()
    }


def _first(mask: Mask, within: Mask | None, first: int) -> Sequence[int]:
    rows = np.flatnonzero(mask if within is None else mask & within)
    found: list[int] = rows[:first].tolist()
    return found


def _error(said: bool | cel.EvaluationError) -> str:
    return "" if isinstance(said, bool) else clean(str(said))


class _Reasons:
    """Which term decides, for a few devices.

    The terms were asked when they were explained: the table still knows most.
    """

    def __init__(
        self,
        program: cel.Program,
        table: cel.DeviceTable,
        term: Term,
        rows: Sequence[int],
        stop: Stop,
    ) -> None:
        self._term = term
        self._places = {row: place for place, row in enumerate(rows)}
        self._values: dict[int, Values] = {}
        if not term.terms or not rows:
            return
        picked = np.array(rows, np.intp)
        leaves = (
            _OF_OUTCOME[
                table.select(TermProgram(program, leaf), stop=stop).outcomes[picked]
            ]
            for leaf in split(program)
            if leaf.kind == "leaf"
        )
        try:
            self._note(term, leaves)
        except (cel.Stopped, NotSupportedError):
            self._values.clear()

    def _note(self, term: Term, leaves: Iterator[Values]) -> Values:
        parts = [self._note(part, leaves) for part in term.terms]
        found = OPERATORS[term.kind].values(parts) if parts else next(leaves)
        self._values[id(term)] = found
        return found

    def why(self, row: int, outcome: int) -> str:
        """The text of the term that decides; empty where it is all of the expression.

        Empty as well where the terms say something else than the whole, as for
        devices on which every expression fails.
        """
        wanted, place = int(_OF_OUTCOME[outcome]), self._places[row]
        if not self._values or self._values[id(self._term)][place] != wanted:
            return ""
        term = self._term
        while True:
            values = [int(self._values[id(part)][place]) for part in term.terms]
            found = _decisive(term, values, wanted)
            if found is None:
                break
            term = found
        return "" if term is self._term else shortened(term.text)


def _decisive(term: Term, values: Sequence[int], wanted: int) -> Term | None:
    """The first part that makes ``term`` false, or fail; None where all of it does."""
    if term.kind == "conditional":
        condition, yes, no = term.terms
        if values[0] == FAULT:
            return condition
        return yes if values[0] == YES else no
    if term.kind == "and" or wanted == FAULT:
        for part, value in zip(term.terms, values, strict=True):
            if value == wanted:
                return part
    return None
