"""CEL's logic of three values, for many devices at once.

False, error and true in this order make ``&&`` the least and ``||`` the greatest of
its terms: an error counts only where no term decides.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

type Values = NDArray[np.uint8]
"""NO, FAULT or YES for each device."""
type Faults = NDArray[np.int32]
"""The number of a message for each device; it means nothing where there is no error.
"""
type Outlooks = NDArray[np.uint8]
"""For each device the values that one term could have for the whole expression to be
true, all other terms as they are: the sum of ``1 << value``."""

NO: Final = 0
FAULT: Final = 1
YES: Final = 2

NEVER: Final = 0
IF_NO: Final = 1 << NO
IF_FAULT: Final = 1 << FAULT
IF_YES: Final = 1 << YES
_ALWAYS: Final = IF_NO | IF_FAULT | IF_YES
_COUNT: Final = np.uint8(_ALWAYS + 1)
_EVERY: Final = np.arange(_COUNT, dtype=np.uint8)


class Operator(Protocol):
    """What an operator does with its terms."""

    def values(self, terms: Sequence[Values]) -> Values:
        """The value of the whole."""

    def faults(
        self, terms: Sequence[Values], faults: Sequence[Faults | None]
    ) -> Faults:
        """The error of the whole where that is one; None is a term without any."""

    def outlooks(self, terms: Sequence[Values], whole: Outlooks) -> Sequence[Outlooks]:
        """The outlooks of the terms, when ``whole`` is that of all of it."""


def _if(outlooks: Outlooks, value: Values | int) -> Outlooks:
    """1 where ``value`` is in the outlook."""
    return (outlooks >> np.uint8(value)) & np.uint8(1)


class _Chain:
    """``&&`` or ``||``: ``merge`` of two values, and what it gives for none."""

    def __init__(self, merge: np.ufunc, nothing: int) -> None:
        self._merge = merge
        self._nothing = nothing
        # The outlook of a term, by what the others come to and the chain's outlook.
        table = np.zeros((3, _COUNT), np.uint8)
        for rest in (NO, FAULT, YES):
            for value in (NO, FAULT, YES):
                table[rest] |= _if(_EVERY, int(merge(value, rest))) << np.uint8(value)
        self._by_rest = table.ravel()

    def values(self, terms: Sequence[Values]) -> Values:
        merged: Values = self._merge.reduce(np.stack(terms), axis=0)
        return merged

    def faults(
        self, terms: Sequence[Values], faults: Sequence[Faults | None]
    ) -> Faults:
        found = np.zeros(len(terms[0]), np.int32)
        for values, numbers in zip(reversed(terms), reversed(faults), strict=True):
            if numbers is not None:
                found = np.where(values == FAULT, numbers, found)
        return found

    def outlooks(self, terms: Sequence[Values], whole: Outlooks) -> Sequence[Outlooks]:
        rest = self._others(np.stack(terms))
        return list(self._by_rest[rest * _COUNT + whole])

    def _others(self, terms: Values) -> Values:
        """For each term (first axis) what all others come to."""
        found = np.full_like(terms, self._nothing)
        found[1:] = self._merge.accumulate(terms[:-1], axis=0)
        after = self._merge.accumulate(terms[:0:-1], axis=0)[::-1]
        self._merge(found[:-1], after, out=found[:-1])
        return found


class _Negation:
    """``!``"""

    def values(self, terms: Sequence[Values]) -> Values:
        return YES - terms[0]

    def faults(
        self, _terms: Sequence[Values], faults: Sequence[Faults | None]
    ) -> Faults:
        assert faults[0] is not None
        return faults[0]

    def outlooks(self, _terms: Sequence[Values], whole: Outlooks) -> Sequence[Outlooks]:
        swapped = (_if(whole, NO) << np.uint8(YES)) | (_if(whole, YES) << np.uint8(NO))
        return [swapped | (whole & np.uint8(IF_FAULT))]


class _Choice:
    """``?:``"""

    def values(self, terms: Sequence[Values]) -> Values:
        test, yes, no = terms
        return np.where(test == YES, yes, np.where(test == NO, no, test))

    def faults(
        self, terms: Sequence[Values], faults: Sequence[Faults | None]
    ) -> Faults:
        test = terms[0]
        none = np.zeros(len(test), np.int32)
        of_test, yes, no = (none if found is None else found for found in faults)
        return np.where(test == YES, yes, np.where(test == NO, no, of_test))

    def outlooks(self, terms: Sequence[Values], whole: Outlooks) -> Sequence[Outlooks]:
        test, yes, no = terms
        # A term that is not chosen may have any value.
        anyway = _if(whole, self.values(terms)) * np.uint8(_ALWAYS)
        of_test = (
            (_if(whole, yes) << np.uint8(YES))
            | (whole & np.uint8(IF_FAULT))
            | (_if(whole, no) << np.uint8(NO))
        )
        return [
            of_test,
            np.where(test == YES, whole, anyway),
            np.where(test == NO, whole, anyway),
        ]


OPERATORS: Final[dict[str, Operator]] = {
    "and": _Chain(np.minimum, YES),
    "or": _Chain(np.maximum, NO),
    "not": _Negation(),
    "conditional": _Choice(),
}
