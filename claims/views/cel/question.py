"""What the CEL page is asked, as it stands in its address."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from typing import Final, NamedTuple
from urllib.parse import urlencode

from django.http import QueryDict

from inventory.selecting import Scope
from inventory.selecting.scopes import EVERYTHING

TABS: Final = frozenset({"true", "false", "error", "first", "second", "both"})
"""The outcomes of one expression, and which of two matches."""

SCOPE_PARAMETERS: Final = {
    "device_class": "class",
    "driver": "driver",
    "node": "node",
    "pool": "pool",
    "state": "state",
}
"""Part of the scope → its parameter in the address."""

MAX_SCOPE: Final = 253
"""Characters of a name in Kubernetes."""

_LEAST_ROWS: Final = 10
_MOST_IN_LINKS: Final = 400_000

_TERM = re.compile(r"(\d{1,6})-(\d{1,6})-(true|false|error|alone|admits)", re.ASCII)


class TermChoice(NamedTuple):
    """Devices to show: those with this outcome of the term ``expression[start:end]``.

    ``alone``: those that it alone keeps from matching; ``admits``: those that match
    because of it alone.
    """

    start: int
    end: int
    of: str

    def __str__(self) -> str:
        return f"{self.start}-{self.end}-{self.of}"


@dataclass(frozen=True, slots=True)
class Question:
    """``tab`` is the list of devices that is shown; empty: the page chooses."""

    expression: str = ""
    compare: str = ""
    scope: Scope = EVERYTHING
    tab: str = ""
    term: TermChoice | None = None

    @classmethod
    def of(cls, query: QueryDict) -> Question:
        """From an address; anything that is none of ours counts as not said."""
        scope = {
            part: query.get(name, "").strip()[:MAX_SCOPE]
            for part, name in SCOPE_PARAMETERS.items()
        }
        tab = query.get("tab", "")
        return cls(
            expression=lines(query.get("expression", "")),
            compare=lines(query.get("compare", "")),
            scope=Scope(**scope),
            tab=tab if tab in TABS else "",
            term=_term(query.get("term", "")),
        )

    @property
    def asked(self) -> bool:
        return bool(self.expression.strip())

    @property
    def comparing(self) -> bool:
        return self.asked and bool(self.compare.strip())

    def but(self, **changes: object) -> Question:
        """The same question with something else; a new expression has other terms."""
        if "expression" in changes:
            changes.setdefault("term", None)
        return replace(self, **changes)  # type: ignore[arg-type]  # the fields' own types

    def parameters(self) -> Iterator[tuple[str, str]]:
        """In the order of the form; empty ones have no place in an address."""
        said = [
            ("expression", self.expression),
            ("compare", self.compare),
            *(
                (SCOPE_PARAMETERS[part.name], getattr(self.scope, part.name))
                for part in fields(self.scope)
            ),
            ("tab", self.tab),
            ("term", str(self.term or "")),
        ]
        return ((name, value) for name, value in said if value)

    @property
    def query(self) -> str:
        """``?…``, or nothing."""
        encoded = urlencode(list(self.parameters()), errors="replace")
        return f"?{encoded}" if encoded else ""

    def rows_shown(self, most: int, *, links: int = 1) -> int:
        """How many rows of a table with so many links each: each repeats the question.

        A long expression would make the page too long.
        """
        return max(
            _LEAST_ROWS, min(most, _MOST_IN_LINKS // (links * len(self.query) + 1))
        )


def lines(text: str) -> str:
    """A form sends its line breaks as two characters; an expression has one."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _term(text: str) -> TermChoice | None:
    found = _TERM.fullmatch(text)
    if found is None:
        return None
    start, end, of = found.groups()
    return TermChoice(int(start), int(end), of)
