"""The engine: which devices a claim gets, exactly as the scheduler would choose.

``allocate`` asks one node, ``place`` asks nodes in order until one fits. Both
take values and return values: nothing is read, written or logged.
"""

from __future__ import annotations

from dra.allocation.errors import AllocationError
from dra.allocation.features import DEFAULT, Features
from dra.allocation.outcome import (
    Budget,
    DoesNotFit,
    Fits,
    GaveUp,
    Outcome,
)
from dra.allocation.placing import allocate, place
from dra.allocation.quirks import SENTENCES, Mode, Quirk

__all__ = [
    "DEFAULT",
    "SENTENCES",
    "AllocationError",
    "Budget",
    "DoesNotFit",
    "Features",
    "Fits",
    "GaveUp",
    "Mode",
    "Outcome",
    "Quirk",
    "allocate",
    "place",
]
