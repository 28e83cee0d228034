"""The terms of an expression as rows of a table, outermost first."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from dra.cel.display import shortened
from dra.cel.explain import Term
from web.pages import cells

MOST: Final = 100
"""Rows that are shown of a long chain."""

DEEPEST: Final = 6
"""Deeper terms are indented like these."""

_GROUPS: Final = {
    "and": "all of",
    "or": "any of",
    "not": "the opposite of",
    "conditional": "one of two, by a condition",
}
_ROLES: Final = {
    "and": ("", "and"),
    "or": ("", "or"),
    "not": ("not",),
    "conditional": ("if", "then", "else"),
}
_SENTENCES: Final = {
    "and": "All have to be true. One without an answer counts only where none is false.",
    "or": "One has to be true. One without an answer counts only where none is true.",
    "not": "The opposite of it counts.",
    "conditional": "The first says which of the others counts.",
}

type Address = Callable[[Term, str], str]
"""The page with the devices that have this outcome of a term."""


@dataclass(frozen=True, slots=True)
class Number:
    """A count that leads to its devices; ``id`` keeps the focus over a swap."""

    count: int
    href: str
    id: str
    bad: bool = False
    words: str = ""


@dataclass(frozen=True, slots=True)
class TermRow:
    """``role`` joins it to the one before, ``group`` says how it joins its own."""

    depth: int
    role: str
    group: str
    text: str
    shown: str
    bar: str
    numbers: Sequence[Number]
    alone: Sequence[Number]
    chosen: bool


def sentence(root: Term) -> str:
    """How the outermost terms make up the expression."""
    return _SENTENCES.get(root.kind, "")


def rows(
    root: Term,
    address: Address | None = None,
    *,
    chosen: tuple[int, int] | None = None,
    most: int = MOST,
) -> tuple[list[TermRow], int]:
    """The rows below ``root``, at most ``most``, and how many more there would be."""
    found: list[TermRow] = []
    more = 0
    for term, above, role, depth in _walk(root, 0):
        if len(found) == most:
            more += 1
            continue
        found.append(_row(term, above, role, depth, address, chosen))
    return found, more


def _walk(term: Term, depth: int) -> Iterator[tuple[Term, str, str, int]]:
    roles = _ROLES.get(term.kind, ("",))
    for place, part in enumerate(term.terms):
        role = roles[min(place, len(roles) - 1)]
        yield part, term.kind, role, min(depth, DEEPEST)
        yield from _walk(part, depth + 1)


def _row(
    term: Term,
    above: str,
    role: str,
    depth: int,
    address: Address | None,
    chosen: tuple[int, int] | None,
) -> TermRow:
    def number(count: int, of: str, words: str = "") -> Number:
        href = address(term, of) if address is not None and count else ""
        where = f"{term.start}-{term.end}-{of}"
        return Number(count, href, where, bad=of == "error" and count > 0, words=words)

    # Any term of an "and" admits all that match, any of an "or" excludes all others.
    alone = []
    if above != "or" and (count := term.excludes_alone):
        alone.append(number(count, "alone", f"excludes {count:,}"))
    if above != "and" and (count := term.admits_alone):
        alone.append(number(count, "admits", f"admits {count:,}"))
    return TermRow(
        depth=depth,
        role=role,
        group=_GROUPS.get(term.kind, ""),
        text=term.text,
        shown=shortened(term.text),
        bar=outcome_bar(term.true, term.false, term.error),
        numbers=[
            number(term.true, "true"),
            number(term.false, "false"),
            number(term.error, "error"),
        ],
        alone=alone,
        chosen=chosen == (term.start, term.end),
    )


def outcome_bar(true: int, false: int, error: int, *, wide: bool = False) -> str:
    """True, false and no answer as a bar."""
    parts = [
        cells.Part("true", true, "match" if wide else "true"),
        cells.Part("error", error, "without an answer"),
        cells.Part("false", false, "do not match" if wide else "false"),
    ]
    return cells.bar(parts, true + false + error, wide=wide)
