"""Laws of the patch functions on any JSON."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cluster.standin.patches import PatchError, json_patch, merge, strategic

Json = Any
scalars = st.none() | st.booleans() | st.integers() | st.text(max_size=4)
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=12,
)
objects = st.dictionaries(st.text(max_size=3), values, max_size=4)


@given(objects, objects)
def test_merging_changes_neither_side(target: Json, patch: Json) -> None:
    before = copy.deepcopy((target, patch))
    merge(target, patch)
    strategic(target, patch)
    assert (target, patch) == before


@given(objects, objects)
def test_merging_twice_is_merging_once(target: Json, patch: Json) -> None:
    once = merge(target, patch)
    assert merge(once, patch) == once


@given(objects, objects)
def test_merged_objects_hold_no_null_of_the_patch(target: Json, patch: Json) -> None:
    merged = merge(target, patch)
    for key, value in patch.items():
        assert (key in merged) is (value is not None)


@given(values, values)
def test_replacing_the_whole_document_gives_the_value(old: Json, new: Json) -> None:
    operation = {"op": "replace", "path": "", "value": new}
    assert json_patch(old, [operation]) == new


@pytest.mark.parametrize(
    "operation",
    [
        {"op": "remove", "path": "/b"},
        {"op": "remove", "path": "/list/7"},
        {"op": "add", "path": "/list/x", "value": 1},
        {"op": "add", "path": "/text/deeper", "value": 1},
        {"op": "test", "path": "/a", "value": 2},
        {"op": "replace", "path": "/a"},
        {"op": "nonsense", "path": "/a"},
        {"op": "add", "path": "a", "value": 1},
        {"path": "/a"},
        "text",
    ],
)
def test_an_operation_that_cannot_be_done_is_refused(operation: Json) -> None:
    with pytest.raises(PatchError):
        json_patch({"a": 1, "list": [0], "text": "x"}, [operation])


def test_strategic_directives_replace_and_delete_objects() -> None:
    old = {"spec": {"a": {"x": 1}, "b": {"y": 2}}}
    patch = {
        "spec": {"a": {"$patch": "replace", "z": 3}, "b": {"$patch": "delete"}},
    }
    assert strategic(old, patch) == {"spec": {"a": {"z": 3}, "b": {}}}


def test_strategic_takes_values_out_of_a_set() -> None:
    old = {"metadata": {"finalizers": ["a", "b"]}}
    patch = {"metadata": {"$deleteFromPrimitiveList/finalizers": ["a"]}}
    assert strategic(old, patch) == {"metadata": {"finalizers": ["b"]}}
