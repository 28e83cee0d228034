"""Laws for whatever JSON holds: there is always an answer."""

from __future__ import annotations

import copy
import json

from hypothesis import given, settings
from hypothesis import strategies as st

from dra.validation import Gates, Outcome, Request, validate
from dra.validation.command import answer
from dra.validation.gates import ALL_OF_1_36
from dra.validation.schema import KINDS
from tests.dra.validation.conformance import Case
from tests.dra.validation.strategies import ANY_JSON, CASES, changed

_KINDS = st.sampled_from([*KINDS, "Pod", ""])
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


@given(kind=_KINDS, sent=ANY_JSON, gates=_GATES)
def test_any_json_gets_an_answer(kind, sent, gates):
    _is_consistent(validate(Request(kind, sent, "team", features=gates)))


@given(kind=_KINDS, old=ANY_JSON, new=ANY_JSON, status=st.booleans())
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


@settings(max_examples=400)
@given(case=CASES, data=st.data(), gates=_GATES)
def test_a_real_object_with_anything_at_any_place_gets_an_answer(case, data, gates):
    request = case.request
    outcome = validate(
        Request(
            request.kind,
            data.draw(changed(request.object)),
            request.namespace,
            update=request.update,
            old=request.old,
            subresource=request.subresource,
            features=gates,
        )
    )
    _is_consistent(outcome)


@given(case=CASES)
def test_the_request_stays_as_it_is(case: Case):
    before = copy.deepcopy((case.request.object, case.request.old))
    validate(case.request)
    assert (case.request.object, case.request.old) == before


@given(line=st.text() | ANY_JSON.map(json.dumps))
def test_the_command_answers_any_line(line):
    assert "id" in answer(line)
