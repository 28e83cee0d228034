"""The devices behind a number in the table of terms."""

from __future__ import annotations

from claims.views.cel.question import TermChoice
from dra import cel
from dra.cel.selection import ERROR, FALSE, TRUE, Runnable, Stop
from dra.cel.terms import Condition, TermProgram, split
from inventory.selecting import compiled
from inventory.selecting.scopes import Mask

_CODES = {"true": TRUE, "false": FALSE, "error": ERROR}
_WORDS = {
    "true": "is true",
    "false": "is false",
    "error": "has no answer",
    "alone": "alone excludes them",
    "admits": "alone admits them",
}


def devices_of_term(
    program: cel.Program, table: cel.DeviceTable, choice: TermChoice, stop: Stop
) -> Mask | None:
    """The devices that ``choice`` counts; None where the expression has no such term.

    Raises :class:`~dra.cel.Stopped`, and :class:`~dra.errors.NotSupportedError` where
    without the term the expression comes to something that cannot be evaluated here.
    """
    condition = _condition(program, choice)
    if condition is None:
        return None
    if choice.of in _CODES:
        term: Runnable = TermProgram(program, condition)
        found: Mask = table.select(term, stop=stop).outcomes == _CODES[choice.of]
        return found
    whole = table.select(program, stop=stop).outcomes == TRUE
    # What the whole expression would say if only this term were otherwise.
    fixed = [_with(program, choice, word) for word in ("true", "false")]
    yes, no = (
        whole if each is None else table.select(each, stop=stop).outcomes == TRUE
        for each in fixed
    )
    if choice.of == "alone":
        excluded: Mask = ~whole & (yes | no)
        return excluded
    admitted: Mask = whole & ~(yes & no)
    return admitted


def words_of(program: cel.Program, choice: TermChoice) -> str:
    """``device.driver == "x" is false``; empty where the expression has no such term."""
    condition = _condition(program, choice)
    return "" if condition is None else f"{condition.text} {_WORDS[choice.of]}"


def _condition(program: cel.Program, choice: TermChoice) -> Condition | None:
    for condition in split(program):
        if (condition.node.start, condition.node.end) == (choice.start, choice.end):
            return condition
    return None


def _with(program: cel.Program, choice: TermChoice, word: str) -> cel.Program | None:
    text = program.expression
    replaced = f"{text[: choice.start]}{word}{text[choice.end :]}"
    return compiled(replaced, program.features).program
