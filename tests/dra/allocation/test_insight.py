"""A search that thinks first finds what one finds that only tries."""

from __future__ import annotations

import pytest
from hypothesis import given as examples
from hypothesis import settings
from hypothesis import strategies as st

from dra.allocation import AllocationError, Budget, Fits, GaveUp, search
from dra.allocation.placing import Question
from tests.dra.allocation.questions import Questions

NEVER, AT_ONCE = 10**9, 0


def answer(asked: Questions, quirks, patience):
    """What a search says that thinks as late as ``patience`` tells it."""
    numbers = iter(range(1_000))
    question = Question(
        asked.snapshot,
        asked.claims,
        features=asked.features,
        quirks=quirks,
        budget=Budget(steps=20_000),
        new_share_id=lambda: f"share {next(numbers)}",
    )
    usual, search.PATIENCE = search.PATIENCE, patience
    try:
        found = question.on_node("n1")
    except AllocationError as error:
        return str(error), error.node_only
    finally:
        search.PATIENCE = usual
    if isinstance(found, Fits):
        return found.allocations
    return found if isinstance(found, GaveUp) else None


@pytest.mark.parametrize("quirks", ["none", "1.36"])
@settings(max_examples=300)
@examples(st.randoms(use_true_random=True))
def test_thinking_changes_no_answer(quirks, random):
    asked = Questions(random)
    tried = answer(asked, quirks, NEVER)
    if not isinstance(tried, GaveUp):
        assert answer(asked, quirks, AT_ONCE) == tried
