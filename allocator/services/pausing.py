"""How long to wait between two looks at something that comes soon, or later."""

from __future__ import annotations

from collections.abc import Iterator

_GROWTH = 1.4


def pauses(first: float, most: float) -> Iterator[float]:
    """Seconds, without an end: what takes long is looked at less and less often.

    Eight workers that look twenty times a second slow down what they wait for.
    """
    pause = first
    while True:
        yield pause
        pause = min(pause * _GROWTH, most)
