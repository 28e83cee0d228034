"""Sentences about how much is wrong."""

from __future__ import annotations

from allocator.models import FindingPass
from web.pages.cells import count

NOT_YET = (
    "Nobody has looked for what is wrong yet. The watch asks a worker to; if this stays, "
    "none is running."
)
ALL_RIGHT = (
    "Everything is in order: nothing is wrong that the portal knows to look for."
)


def sentence_of(passing: FindingPass | None, acknowledged: int) -> str:
    """ "3 things are wrong, 1 of them serious. 2 more are good to know." """
    if passing is None or (passing.ended_at is None and not passing.waits_for):
        return NOT_YET
    if passing.waits_for:
        return f"{passing.waits_for} Until it has, nothing can be said to be wrong."
    parts = [_wrong(passing)]
    if passing.infos:
        more = "" if parts[0] == ALL_RIGHT else "more "
        verb = "is" if passing.infos == 1 else "are"
        parts.append(f"{count(passing.infos, 'thing')} {more}{verb} good to know.")
    if acknowledged:
        parts.append(f"{acknowledged:,} acknowledged.")
    if passing.left_out:
        parts.append(
            f"{passing.left_out:,} more were found and are not kept; the worst are here."
        )
    return " ".join(parts)


def _wrong(passing: FindingPass) -> str:
    wrong = passing.errors + passing.warnings
    if not wrong:
        return ALL_RIGHT
    verb = "is" if wrong == 1 else "are"
    things = f"{count(wrong, 'thing')} {verb} wrong"
    if not passing.errors:
        none = "and it is not serious" if wrong == 1 else "none of them serious"
        return f"{things}, {none}."
    if passing.errors == wrong:
        if wrong == 1:
            return f"{things}, and it is serious."
        return f"{things}, all of them serious."
    return f"{things}, {passing.errors:,} of them serious."


def in_short(passing: FindingPass | None) -> str:
    """One part of the overview's sentence; empty when there is nothing to say."""
    if passing is None or passing.ended_at is None or passing.waits_for:
        return ""
    return _wrong(passing) if passing.errors + passing.warnings else ""
