"""Numbers and lists as people read them."""

from __future__ import annotations

from collections.abc import Sequence


def counted(number: int, singular: str = "device", plural: str = "") -> str:
    """``1 device``, ``2,000 devices``."""
    words = singular if number == 1 else plural or f"{singular}s"
    return f"{number:,} {words}"


def listed(words: Sequence[str], last: str = "and") -> str:
    """``a, b and c``."""
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} {last} {words[-1]}"
