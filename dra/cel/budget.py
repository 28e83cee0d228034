"""What one compilation or evaluation may take of us, beside CEL's own cost.

The cost of CEL counts neither ``true && true``, nor the elements of a list that is
put together, nor the states of a regular expression, and a list that holds a long
list is compared for the price of a short one. The reference does all that as long as
it takes; we stop. A unit is about a tenth of a microsecond.
"""

from __future__ import annotations

import threading
from collections.abc import Sized
from typing import Final

from dra.errors import NotSupportedError

LIMIT: Final = 10_000_000
_MAX_TEXT: Final = 16 * 1024 * 1024
_MAX_ITEMS: Final = 100_000
_PER_UNIT: Final = 4
"""Characters or elements that are put together in one unit."""


class _Local(threading.local):
    left = LIMIT


_local = _Local()


def begin() -> None:
    """Start anew in this thread."""
    _local.left = LIMIT


def left() -> int:
    """What remains in this thread."""
    return _local.left


def resume(units: int) -> None:
    """Go on with what remained in another thread."""
    _local.left = units


def spend(units: int) -> None:
    """Raises :class:`~dra.errors.NotSupportedError` where nothing remains."""
    rest = _local.left - units
    _local.left = rest
    if rest < 0:
        raise NotSupportedError("evaluating something this long")


def check_text(length: int) -> None:
    if length > _MAX_TEXT:
        raise NotSupportedError(f"texts of over {_MAX_TEXT:,} characters in CEL")


def spend_on_text(length: int) -> None:
    """Before a text of ``length`` characters or bytes is put together."""
    check_text(length)
    spend(length // _PER_UNIT)


def check_list(length: int) -> None:
    """Refuse a list that the reference would only pretend to build."""
    if length > _MAX_ITEMS:
        raise NotSupportedError(f"lists of over {_MAX_ITEMS:,} elements in CEL")


def spend_on_list(length: int) -> None:
    """Before a list of ``length`` elements is put together."""
    check_list(length)
    spend(length // _PER_UNIT)


def spend_on_elements(elements: Sized) -> None:
    """Before each of them is looked at."""
    spend(5 * len(elements))
