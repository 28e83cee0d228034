"""Why a claim fits or not, and what would make it fit."""

from __future__ import annotations

from dra.allocation.explaining.explain import explain
from dra.allocation.explaining.explanation import (
    Agreement,
    Difference,
    Explanation,
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
    "Loss",
    "Miss",
    "NodeGroup",
    "NodeRequest",
    "Relaxation",
    "RequestReason",
    "Stage",
    "explain",
]
