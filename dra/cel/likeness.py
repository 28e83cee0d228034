"""What somebody may have meant: names and texts that are nearly another one."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import SequenceMatcher
from typing import Final, Literal

type Difference = Literal["spaces", "case", "typo"]
"""How a text differs from the one that was meant."""

_SEPARATORS: Final = re.compile(r"[^0-9a-z]+")
_ENOUGH: Final = 0.6
_RATIO: Final = 0.75


def closest[T](
    wanted: str, candidates: Iterable[tuple[str, T]], *, most: int = 3
) -> list[T]:
    """Of ``candidates``, pairs of a name and a thing, the things with the likest names.

    Best first, equally good ones in the given order, at most ``most``; a thing that
    comes twice counts once.
    """
    scored = [
        (-score, place, thing)
        for place, (name, thing) in enumerate(candidates)
        if (score := likeness(wanted, name)) >= _ENOUGH
    ]
    scored.sort(key=lambda entry: entry[:2])
    return list(dict.fromkeys(thing for _, _, thing in scored))[:most]


def likeness(wanted: str, name: str) -> float:
    """0 to 1: how likely ``wanted`` is a slip for ``name``, a name of some kind.

    Case and separators hardly count (``product_name``), parts in another order
    little (``nvidia.com/gpu``), then a letter or two, then a beginning or an end that
    is missing.
    """
    if wanted == name:
        return 1.0
    parts, others = _parts(wanted), _parts(name)
    a, b = "".join(parts), "".join(others)
    if not a or not b:
        return 0.0
    if a == b:
        return 0.99
    if sorted(parts) == sorted(others):
        return 0.95
    longest = max(len(a), len(b))
    if distance(a, b, 2) <= _slips(longest):
        return 0.9 - 0.05 * distance(a, b, 2)
    if len(parts) > 1 and set(parts) < set(others):
        return 0.75
    if min(len(a), len(b)) >= 4 and (a.startswith(b) or b.startswith(a)):
        return 0.7 + 0.05 * min(len(a), len(b)) / longest
    if len(a) >= 4 and b.endswith(a):
        return 0.65
    ratio = SequenceMatcher(None, a, b).ratio()
    return 0.8 * ratio if ratio >= _RATIO else 0.0


def _parts(name: str) -> list[str]:
    return [part for part in _SEPARATORS.split(name.casefold()) if part]


def _slips(length: int) -> int:
    if length < 4:
        return 0
    return 1 if length < 8 else 2


def difference(wanted: str, text: str) -> Difference | None:
    """How ``wanted`` differs from ``text``, a value, if it is nearly the same.

    A word with a digit in it is the name of a model or a size: ``A100`` is no slip
    for ``H100``.
    """
    if wanted == text:
        return None
    if wanted.split() == text.split():
        return "spaces"
    if wanted.casefold().split() == text.casefold().split():
        return "case"
    parts, others = _parts(wanted), _parts(text)
    if parts == others or "".join(parts) == "".join(others):
        return "typo" if parts else None
    if len(parts) != len(others):
        return None
    slips = 0
    for part, other in zip(parts, others, strict=True):
        if part == other:
            continue
        if any(map(str.isdigit, part + other)):
            return None
        allowed = _slips(max(len(part), len(other)))
        slips += distance(part, other, allowed)
        if slips > allowed:
            return None
    return "typo"


def distance(a: str, b: str, most: int) -> int:
    """Letters to add, drop, change or swap with the next one; at most ``most`` + 1."""
    if abs(len(a) - len(b)) > most:
        return most + 1
    before: list[int] = []
    row = list(range(len(b) + 1))
    for i, char in enumerate(a, 1):
        earlier, before, row = before, row, [i]
        for j, other in enumerate(b, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (char != other))
            swapped = i > 1 and j > 1 and char == b[j - 2] and a[i - 2] == other
            if swapped:
                cost = min(cost, earlier[j - 2] + 1)
            row.append(cost)
        if min(row) > most:
            return most + 1
    return min(row[-1], most + 1)
