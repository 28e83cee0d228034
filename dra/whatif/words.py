"""Words that sentences of scenarios and of their results have in common."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

NAMES: Final = 3
"""Names that are spelled out."""


def names(names: Sequence[str], noun: str = "") -> str:
    shown = list(names[:NAMES])
    more = len(names) - len(shown)
    if not more:
        return listed(shown)
    return f"{', '.join(shown)} and {count(more, f'more {noun}'.rstrip())}"


def listed(parts: Sequence[str]) -> str:
    if len(parts) < 2:
        return "".join(parts)
    return f"{', '.join(parts[:-1])} and {parts[-1]}"


def count(number: int, noun: str) -> str:
    if number == 1 or noun.endswith("more"):
        return f"{number:,} {noun}"
    return f"{number:,} {noun}{'es' if noun.endswith('ss') else 's'}"


def plural(things: Sequence[object]) -> str:
    return "" if len(things) == 1 else "s"


def its(number: int) -> str:
    return "its" if number == 1 else "their"


def upper(text: str) -> str:
    return text[:1].upper() + text[1:]


def lower(text: str) -> str:
    first = text.split(" ", 1)[0]
    return text if first.isupper() else text[:1].lower() + text[1:]
