"""Why a claim fits or not, and what would make it fit."""

from __future__ import annotations

from dra.allocation.explaining.explain import explain, prepare
from dra.allocation.explaining.explanation import (
    Agreement,
    Difference,
    Explanation,
    Given,
    Loss,
    Miss,
    NodeGroup,
    NodeRequest,
    Relaxation,
    RequestReason,
    Stage,
)

__all__ = [
    "Agreement",
    "Difference",
    "Explanation",
    "Given",
    "Loss",
    "Miss",
    "NodeGroup",
    "NodeRequest",
    "Relaxation",
    "RequestReason",
    "Stage",
    "explain",
    "prepare",
]
