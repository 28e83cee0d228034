"""Why it does not fit, in one sentence made from counts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dra.allocation.errors import AllocationError

if TYPE_CHECKING:
    from dra.allocation.placing import Question


def gave_up(steps: int) -> str:
    return f"Undecided: the search was stopped after {steps:,} steps."


def of_node(question: Question, node_name: str) -> str:
    return f"The claims do not fit on node {node_name}."


def of_nodes(
    question: Question, node_names: Sequence[str], error: AllocationError | None
) -> str:
    return f"No node fits; {len(node_names)} nodes were tried."
