"""Ranges of sizes and costs within unsigned 64 bits, saturating at the top."""

from __future__ import annotations

import math
from typing import Final, NamedTuple

LIMIT: Final = 1_000_000
"""CEL units that a selector may cost at most, estimated and at run time."""

MAXIMUM: Final = 2**64 - 1
STRING_FACTOR: Final = 0.1
REGEX_FACTOR: Final = 0.25
LIST_COST: Final = 10
MAP_COST: Final = 30


class Range(NamedTuple):
    """From ``low`` to ``high``, of a size or of a cost."""

    low: int
    high: int

    def plus(self, other: Range) -> Range:
        return Range(
            min(self.low + other.low, MAXIMUM), min(self.high + other.high, MAXIMUM)
        )

    def times(self, other: Range) -> Range:
        return Range(
            min(self.low * other.low, MAXIMUM), min(self.high * other.high, MAXIMUM)
        )

    def scaled(self, factor: float) -> Range:
        """Times ``factor`` per unit, rounded up."""
        return Range(scale(self.low, factor), scale(self.high, factor))

    def union(self, other: Range) -> Range:
        return Range(min(self.low, other.low), max(self.high, other.high))


def fixed(value: int) -> Range:
    return Range(value, value)


ZERO: Final = fixed(0)
ONE: Final = fixed(1)
UNKNOWN: Final = Range(0, MAXIMUM)


def scale(value: int, factor: float) -> int:
    """``value`` times ``factor`` in floating point, rounded up, saturated."""
    number = float(value)
    if number > 0 and factor > 0 and number > float(MAXIMUM) / factor:
        return MAXIMUM
    product = math.ceil(number * factor)
    return MAXIMUM if product >= 2**64 else product
