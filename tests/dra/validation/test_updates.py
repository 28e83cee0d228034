"""What an update may change, and what counts as a change."""

from __future__ import annotations

from typing import Any

import pytest

from tests.dra.validation.objects import Json, claim, request, template
from tests.dra.validation.writes import faults, update, with_metadata

CLAIM = claim(request("gpu", "gpu"))
CHANGED = [("spec", "FieldValueInvalid")]


def _configured(parameters: Any) -> Json:
    opaque = {"driver": "gpu.example.com", "parameters": parameters}
    return claim(request("gpu", "gpu"), config=[{"opaque": opaque}])


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"shared": 1}, {"shared": True}),
        ({"shared": 0}, {"shared": False}),
        ({"share": 1}, {"share": 1.0}),
        ({"of": [1]}, {"of": [1, 2]}),
        ({"of": [1, 2]}, {"of": [2, 1]}),
        ({"of": {}}, {"of": []}),
        ({"of": {}}, {"of": None}),
    ],
)
def test_parameters_are_compared_as_they_are_written(before, after):
    assert faults(update(_configured(before), _configured(after))) == CHANGED
    assert update(_configured(before), _configured(before)).accepted


def test_the_order_of_members_may_have_been_lost():
    before, after = {"a": 1, "of": {"b": 2, "c": 3}}, {"of": {"c": 3, "b": 2}, "a": 1}
    assert update(_configured(before), _configured(after)).accepted


def test_an_empty_list_is_as_good_as_none_for_a_comparison():
    other = claim(request("gpu", "gpu", selectors=[]), config=[], constraints=[])
    assert update(CLAIM, other).accepted


def test_the_same_amount_in_other_words_is_no_change():
    before, after = (
        claim(request("gpu", "gpu", capacity={"requests": {"memory": amount}}))
        for amount in ("1Ki", "1024")
    )
    assert update(before, after).accepted


def test_a_changed_claim_is_only_told_that_it_cannot_change():
    assert faults(update(CLAIM, claim(request("GPU", "")))) == CHANGED


def test_a_changed_template_is_told_what_else_is_wrong_with_it():
    stored = template(CLAIM)
    assert update(stored, with_metadata(stored, labels={"a": "b"})).accepted
    assert faults(update(stored, template(claim(request("mig", "mig"))))) == CHANGED
    assert faults(update(stored, template(claim(request("gpu", ""))))) == [
        ("spec.spec.devices.requests[0].exactly.deviceClassName", "FieldValueRequired"),
        *CHANGED,
    ]
