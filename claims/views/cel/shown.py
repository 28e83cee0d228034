"""What the answer shows: the outcome, reasons why there is none, two compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from claims.views.cel import wording
from claims.views.cel.question import Question
from claims.views.cel.remarks import Problem
from inventory.views.cel_terms import outcome_bar

OUTCOME_WORDS: Final = ("match", "do not", "no answer")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What an expression says of how many devices, and where these are listed."""

    true: int
    false: int
    error: int
    question: Question

    @property
    def bar(self) -> str:
        return outcome_bar(self.true, self.false, self.error, wide=True)

    @property
    def numbers(self) -> list[dict[str, object]]:
        all_ = self.true + self.false + self.error
        looks = (
            ("true", self.true, "ok", "check", "match"),
            ("false", self.false, "muted", "circle-slash", "do not"),
            (
                "error",
                self.error,
                "bad" if self.error else "muted",
                "alert",
                "no answer",
            ),
        )
        return [
            {
                "count": count,
                "tone": tone,
                "icon": icon,
                "words": words,
                "share": wording.share(count, all_),
                "href": self.question.but(tab=name, term=None, compare="").query,
            }
            for name, count, tone, icon, words in looks
        ]


@dataclass(frozen=True, slots=True)
class Failure:
    """One distinct reason why there is no answer, with a device that has it."""

    count: int
    message: str
    name: str
    title: str
    href: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """``matrix``: for each outcome of the first, the devices by outcome of the second.

    A cell is how many, and whether the two differ there.
    """

    sentence: str
    swap_href: str
    end_href: str
    refusal: Sequence[Problem] = ()
    outcome: Outcome | None = None
    matrix: Sequence[tuple[str, Sequence[tuple[int, bool]]]] = ()
    words: Sequence[str] = OUTCOME_WORDS
