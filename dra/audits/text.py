"""Findings as a page of text, for a terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final

from dra.audits.codes import MEANINGS, SEVERITIES
from dra.audits.finding import Finding, counted

_SHOWN: Final = 20


def as_text(found: Sequence[Finding]) -> str:
    """Lines without a newline at the end; ``found`` is sorted worst first."""
    return "\n".join(_lines(found))


def _lines(found: Sequence[Finding]) -> Iterator[str]:
    if not found:
        yield "Nothing is wrong."
        return
    numbers = Counter(one.severity for one in found)
    told = [
        counted(numbers[s], s) if s != "info" else f"{numbers[s]:,} to know"
        for s in SEVERITIES
        if numbers[s]
    ]
    yield f"{counted(len(found), 'finding')}: {', '.join(told)}."
    for code, group in groupby(found, key=lambda one: one.code):
        same = list(group)
        meaning = MEANINGS[code]
        yield ""
        yield f"{meaning.severity}: {meaning.title} ({code.value})"
        for one in same[:_SHOWN]:
            yield f"  - {one.sentence}"
        if len(same) > _SHOWN:
            yield f"  … and {len(same) - _SHOWN:,} more"
        yield f"  Why: {meaning.why}"
        yield f"  Do: {meaning.repair}"
