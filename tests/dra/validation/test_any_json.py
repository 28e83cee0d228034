"""Laws for whatever JSON holds: there is always an answer."""

from __future__ import annotations

import copy
import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from dra.validation import Gates, Outcome, Request, validate
from dra.validation.command import answer
from dra.validation.gates import ALL_OF_1_36
from dra.validation.schema import KINDS
from tests.dra.validation.conformance import Case, cases

_SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.sampled_from([2**63, -(2**63), 2**70])
    | st.floats()
    | st.text()
    | st.sampled_from(["", "a", "A", "a/b", "1Gi", "-5", "v1", "2026-01-02T03:04:05Z"])
)
_JSON = st.recursive(
    _SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4)
    ),
    max_leaves=20,
)
_KINDS = st.sampled_from([*KINDS, "Pod", ""])
_CASES = st.sampled_from(cases())
_GATES = st.sampled_from(
    [
        Gates(),
        ALL_OF_1_36,
        *(Gates.preset(version) for version in ("1.32", "1.34", "1.36", "1.37")),
        Gates((1, 37), derived_attributes=True, consumable_capacity=True),
    ]
)


def _is_consistent(outcome: Outcome) -> None:
    assert outcome.accepted == (not outcome.causes and outcome.refusal is None)
    assert bool(outcome.problems) != outcome.accepted
    json.dumps(outcome.object)
    json.dumps(dict(outcome.defaulted))


@given(kind=_KINDS, sent=_JSON, gates=_GATES)
def test_any_json_gets_an_answer(kind, sent, gates):
    _is_consistent(validate(Request(kind, sent, "team", features=gates)))


@given(kind=_KINDS, old=_JSON, new=_JSON, status=st.booleans())
def test_any_update_gets_an_answer(kind, old, new, status):
    _is_consistent(
        validate(
            Request(
                kind,
                new,
                update=True,
                old=old,
                subresource="status" if status else "",
            )
        )
    )


def _paths(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The places in a JSON value, the value itself left out."""
    if isinstance(value, dict):
        inner = list(value.items())
    elif isinstance(value, list):
        inner = list(enumerate(value))
    else:
        return []
    return [
        place
        for key, entry in inner
        for place in [(*path, key), *_paths(entry, (*path, key))]
    ]


def _put(value: Any, path: tuple[Any, ...], replacement: Any) -> Any:
    changed = copy.deepcopy(value)
    inner = changed
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = replacement
    return changed


@settings(max_examples=400)
@given(case=_CASES, data=st.data(), replacement=_JSON, gates=_GATES)
def test_a_real_object_with_anything_at_any_place_gets_an_answer(
    case, data, replacement, gates
):
    request = case.request
    if not isinstance(request.object, dict):
        return
    place = data.draw(st.sampled_from(_paths(request.object)))
    changed = _put(request.object, place, replacement)
    outcome = validate(
        Request(
            request.kind,
            changed,
            request.namespace,
            update=request.update,
            old=request.old,
            subresource=request.subresource,
            features=gates,
        )
    )
    _is_consistent(outcome)


@given(case=_CASES)
def test_the_request_stays_as_it_is(case: Case):
    before = copy.deepcopy((case.request.object, case.request.old))
    validate(case.request)
    assert (case.request.object, case.request.old) == before


@given(line=st.text() | _JSON.map(json.dumps))
def test_the_command_answers_any_line(line):
    assert "id" in answer(line)
