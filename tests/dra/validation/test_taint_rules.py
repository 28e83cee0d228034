"""DeviceTaintRule: what it selects, its taint, its status."""

from __future__ import annotations

import pytest

from tests.dra.validation.writes import (
    create,
    faults,
    update,
    update_status,
    with_metadata,
    with_spec,
)

TAINT = {"key": "example.com/broken", "effect": "NoSchedule"}
RULE = {
    "apiVersion": "resource.k8s.io/v1beta2",
    "kind": "DeviceTaintRule",
    "metadata": {"name": "rule"},
    "spec": {"deviceSelector": {"driver": "gpu.example.com"}, "taint": TAINT},
}


def test_a_rule_is_accepted_and_its_taint_gets_a_time():
    found = create(RULE)
    assert found.accepted
    assert set(found.defaulted) == {"spec.taint.timeAdded", "status"}


def test_a_rule_without_selector_is_for_every_device():
    assert create({**RULE, "spec": {"taint": TAINT}}).accepted
    assert create(with_spec(RULE, deviceSelector={})).accepted


@pytest.mark.parametrize(
    ("spec", "wrong"),
    [
        ({"deviceSelector": {"driver": ""}}, [("driver", "FieldValueRequired")]),
        ({"deviceSelector": {"driver": "a_b"}}, [("driver", "FieldValueInvalid")]),
        ({"deviceSelector": {"pool": "a//b"}}, [("pool", "FieldValueInvalid")]),
        ({"deviceSelector": {"device": "a.b"}}, [("device", "FieldValueInvalid")]),
    ],
)
def test_a_bad_selector_is_told(spec, wrong):
    found = faults(create(with_spec(RULE, **spec)))
    assert found == [(f"spec.deviceSelector.{name}", why) for name, why in wrong]


@pytest.mark.parametrize(
    ("taint", "field", "reason"),
    [
        ({"key": ""}, "key", "FieldValueInvalid"),
        ({"key": "a/b/c"}, "key", "FieldValueInvalid"),
        ({"value": "a b"}, "value", "FieldValueInvalid"),
        ({"effect": ""}, "effect", "FieldValueRequired"),
        ({"effect": "PreferNoSchedule"}, "effect", "FieldValueNotSupported"),
    ],
)
def test_a_bad_taint_is_told(taint, field, reason):
    found = faults(create(with_spec(RULE, taint={**TAINT, **taint})))
    assert set(found) == {(f"spec.taint.{field}", reason)}


def test_the_spec_of_a_rule_may_change():
    assert update(
        RULE, with_spec(RULE, taint={**TAINT, "effect": "NoExecute"})
    ).accepted
    found = update(RULE, with_spec(RULE, taint={"key": "a"}))
    assert faults(found) == [("spec.taint.effect", "FieldValueRequired")]


def test_an_effect_that_is_stored_may_stay():
    odd = with_spec(RULE, taint={**TAINT, "effect": "Weird"})
    assert update(odd, with_spec(odd, deviceSelector={})).accepted
    other = with_spec(odd, taint={**TAINT, "effect": "Odd"})
    assert faults(update(odd, other)) == [
        ("spec.taint.effect", "FieldValueNotSupported")
    ]


LONG_AGO = "2020-01-02T03:04:05Z"


@pytest.mark.parametrize(
    ("taint", "renewed"),
    [
        ({"effect": "NoExecute"}, True),
        ({"effect": "NoExecute", "timeAdded": "2021-01-01T00:00:00Z"}, False),
        ({"value": "more"}, False),
    ],
)
def test_another_effect_renews_the_time_of_a_taint(taint, renewed):
    stored = with_spec(RULE, taint={**TAINT, "timeAdded": LONG_AGO})
    changed = {**stored["spec"]["taint"], **taint}
    found = update(stored, with_spec(stored, taint=changed))
    time = found.object["spec"]["taint"]["timeAdded"]
    assert (time not in {LONG_AGO, taint.get("timeAdded")}) == renewed


def test_in_v1_only_who_read_a_rule_changes_it():
    rule = {**RULE, "apiVersion": "resource.k8s.io/v1"}
    stored = with_metadata(rule, resourceVersion="7")
    missing = [("metadata.resourceVersion", "FieldValueInvalid")]
    assert faults(update(stored, rule)) == missing
    assert faults(update_status(stored, {"conditions": []})) == []
    assert update(stored, stored).accepted
    old = with_metadata(RULE, resourceVersion="7")
    assert update(old, RULE).accepted


CONDITION = {
    "type": "EvictionInProgress",
    "status": "True",
    "reason": "PodsPendingEviction",
    "message": "",
    "lastTransitionTime": "2026-01-02T03:04:05Z",
}


def test_the_status_of_a_rule_has_conditions():
    assert update_status(RULE, {"conditions": [CONDITION]}).accepted
    wrong = {**CONDITION, "status": "Maybe", "observedGeneration": -1}
    assert faults(update_status(RULE, {"conditions": [wrong]})) == [
        ("status.conditions[0].status", "FieldValueNotSupported"),
        ("status.conditions[0].observedGeneration", "FieldValueInvalid"),
    ]


def test_too_many_conditions_are_told_after_each_of_them():
    conditions = [{**CONDITION, "type": f"T{index}"} for index in range(9)]
    assert update_status(RULE, {"conditions": conditions[:8]}).accepted
    assert faults(update_status(RULE, {"conditions": conditions})) == [
        ("status.conditions", "FieldValueTooMany")
    ]
