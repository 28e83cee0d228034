"""How the verdict on a waiting claim looks: a word and an icon, never colour alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString

from allocator.queries import Reason
from web.looks import PLAIN, Tone
from web.pages import cells


@dataclass(frozen=True, slots=True)
class VerdictLook:
    tone: Tone
    icon: str
    word: str


LOOKS: Final[dict[str, VerdictLook]] = {
    "fits": VerdictLook("ok", "check", "fits now"),
    "full": VerdictLook("warn", "clock", "full now"),
    "hopeless": VerdictLook("bad", "circle-slash", "cannot fit"),
    "undecided": VerdictLook("warn", "alert", "undecided"),
    "refused": VerdictLook("bad", "alert", "not valid"),
}

_TOLD: Final = frozenset({"full", "hopeless"})

NOBODY: Final = "No pod uses it yet. An operator can allocate it from its page."


def waiting_line(reason: Reason | None, said: str) -> str:
    """Why a claim waits in one line: worked out, or else what the scheduler ``said``."""
    if reason is None:
        return said or NOBODY
    if reason.verdict == "fits":
        return f"{reason.sentence} Nobody has allocated it yet."
    if reason.verdict in _TOLD:
        # Its first sentence says in full what the word says; there is little room.
        cause = reason.sentence.partition(". ")[2] or reason.sentence
        return f"{LOOKS[reason.verdict].word.capitalize()}: {cause}"
    return reason.sentence


def waiting_cell(line: str, reason: Reason | None) -> SafeString:
    """The line cut to the room there is; whole, and of when, in its title."""
    if not line:
        return cells.NOTHING
    if reason is None:
        return format_html('<span title="{}">{}</span>', line, line)
    look = LOOKS.get(reason.verdict)
    return format_html(
        '<span class="tone-{}" title="{} (as of {} ago)">{} {}</span>',
        look.tone if look else PLAIN.tone,
        line,
        cells.span_words((timezone.now() - reason.computed_at).total_seconds()),
        cells.icon(look.icon if look else PLAIN.icon, look.word if look else ""),
        line,
    )
