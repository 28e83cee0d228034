"""Changes of a normalised object brought to the object as somebody wrote it."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from claims.authoring.form import differences, done, rebased

KEYS = st.sampled_from("abcd")
SET = st.booleans() | st.integers(-3, 3) | st.text("ab", max_size=2)


def nested(leaves: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.recursive(
        leaves,
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner),
        max_leaves=12,
    )


VALUES = nested(st.none() | SET)
WITHOUT_NULL = st.dictionaries(KEYS, nested(SET))


def test_defaults_that_were_not_written_stay_unwritten() -> None:
    mine = {"class": "a", "count": 4}
    before = {"class": "a", "count": 4, "mode": "ExactCount"}
    after = {"class": "a", "count": 3, "mode": "ExactCount"}
    assert rebased(mine, before, after) == {"class": "a", "count": 3}


def test_an_entry_that_went_takes_no_other_with_it() -> None:
    mine: list[Any] = [{"x": 1}, {"x": 2, "note": "mine"}, {"x": 3}]
    before: list[Any] = [{"x": 1, "d": 0}, {"x": 2, "d": 0}, {"x": 3, "d": 0}]
    after: list[Any] = [{"x": 2, "d": 0}, {"x": 3, "d": 1}]
    assert rebased(mine, before, after) == [{"x": 2, "note": "mine"}, {"x": 3, "d": 1}]


def test_a_key_that_went_goes() -> None:
    assert rebased({"a": 1, "b": 2}, {"a": 1, "b": 2}, {"a": 1}) == {"a": 1}


@given(VALUES, VALUES)
def test_a_change_of_what_was_written_as_it_is_gives_the_changed(
    before: Any, after: Any
) -> None:
    assert rebased(before, before, after) == after


@given(VALUES, VALUES)
def test_no_change_changes_nothing(mine: Any, same: Any) -> None:
    assert rebased(mine, same, same) == mine


def test_differences_are_the_smallest_values() -> None:
    before = {"spec": {"a": [{"x": 1}, {"x": 2}], "b": [1], "c": 3}}
    after = {"spec": {"a": [{"x": 1}, {"x": 5}], "b": [], "d": 4}}
    assert differences(before, after) == [
        ("spec.a[1].x", 5),
        ("spec.b", []),
        ("spec.c", None),
        ("spec.d", 4),
    ]


@given(WITHOUT_NULL, WITHOUT_NULL)
def test_differences_put_in_give_the_other(before: Any, after: Any) -> None:
    pairs = differences(before, after)
    new = done(before, f"sets a {json.dumps(pairs)}").value if pairs else before
    assert new == after
