"""A trace as rows of a table: what every part of an expression was on one device."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from dra.cel.trace import Step

MOST: Final = 300
DEEPEST: Final = 6

_LITERAL = re.compile(r"""[bBrR]{0,2}["'].*|[-.]?\d.*|true|false|null""", re.DOTALL)
_MEMBER = re.compile(r"""\.\??\w+|\[\??("[^"]*"|'[^']*')\]""")
_WHOLE: Final = frozenset({"device", "device.attributes", "device.capacity"})


@dataclass(frozen=True, slots=True)
class StepRow:
    """``state`` is "true", "false", "value", "error" or "skipped"."""

    depth: int
    text: str
    state: str
    value: str
    type: str
    error: str
    times: int
    decided: bool = False

    @property
    def skipped(self) -> bool:
        return self.state == "skipped"


def rows(root: Step, *, decisive: str = "") -> tuple[list[StepRow], int]:
    """The parts worth a row, outermost first, and how many more there would be.

    Left out: constants, and what only leads to a value (``device.attributes["d"]`` of
    ``device.attributes["d"].x``) unless the value is missing there. ``decisive`` is
    the text of the term that decided.
    """
    found: list[StepRow] = []
    more = 0
    for step, depth in _shown(root, None, 0):
        if len(found) == MOST:
            more += 1
            continue
        decided = step.text == decisive and not any(row.decided for row in found)
        found.append(_row(step, depth, decided=decided))
    return found, more


def _shown(step: Step, parent: Step | None, depth: int) -> Iterator[tuple[Step, int]]:
    shown = parent is None or not (_is_literal(step) or _only_leads(step, parent))
    if shown:
        yield step, min(depth, DEEPEST)
    for part in step.steps:
        yield from _shown(part, step, depth + shown)


def _is_literal(step: Step) -> bool:
    return not step.steps and _LITERAL.fullmatch(step.text) is not None


def _only_leads(step: Step, parent: Step) -> bool:
    """Whether ``step`` is the beginning of a chain of names that ``parent`` goes on."""
    if step.text in _WHOLE:
        return True
    rest = parent.text.removeprefix(step.text)
    if rest == parent.text or _MEMBER.fullmatch(rest) is None:
        return False
    if parent.state == "error":
        return False
    return step.type == "map" or step.state == "not evaluated"


def _row(step: Step, depth: int, *, decided: bool) -> StepRow:
    state = {"not evaluated": "skipped", "error": "error"}.get(step.state, "value")
    if state == "value" and step.type == "bool" and step.value in ("true", "false"):
        state = step.value
    return StepRow(
        depth=depth,
        text=step.text,
        state=state,
        value=step.value,
        type=step.type,
        error=step.error,
        times=step.times,
        decided=decided,
    )
