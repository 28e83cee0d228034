"""What is stored already is good enough, as long as nobody touches it."""

from __future__ import annotations

import dataclasses

from dra.validation.gates import ALL_OF_1_36
from tests.dra.validation.objects import Json, device_class, piece
from tests.dra.validation.writes import create, faults, update, with_metadata, with_spec

BROKEN = device_class("gpu", "device.nothing")
NEWER = dataclasses.replace(ALL_OF_1_36, release=(1, 37))
FAULT = ("spec.selectors[0].cel.expression", "FieldValueInvalid")


def test_a_stored_selector_is_compiled_again_up_to_1_36():
    assert faults(create(BROKEN)) == [FAULT]
    assert faults(update(BROKEN, with_metadata(BROKEN, labels={"a": "b"}))) == [FAULT]


def test_a_stored_selector_that_does_not_compile_any_more_may_stay_after_1_36():
    for changed in (
        with_metadata(BROKEN, labels={"a": "b"}),
        with_spec(BROKEN, extendedResourceName="a.com/b"),
    ):
        assert update(BROKEN, changed, features=NEWER).accepted


def test_one_changed_selector_has_all_of_them_looked_at():
    more = device_class("gpu", "device.nothing", "true")
    assert faults(update(BROKEN, more)) == [FAULT]
    assert faults(update(BROKEN, more, features=NEWER)) == [FAULT]


def test_a_stored_configuration_may_be_longer_than_allowed():
    text = "x" * 11_000
    config = [{"opaque": {"driver": "a.com", "parameters": {"text": text}}}]
    stored = device_class("gpu", config=config)
    field = "spec.config[0].opaque.parameters"
    assert faults(create(stored)) == [(field, "FieldValueTooLong")]
    assert update(stored, with_metadata(stored, labels={"a": "b"})).accepted
    other = device_class("gpu", config=[*config, *config])
    assert faults(update(stored, other)) == [
        (field, "FieldValueTooLong"),
        ("spec.config[1].opaque.parameters", "FieldValueTooLong"),
    ]


def test_stored_taints_of_a_device_may_stay_as_they_are():
    stored = piece(
        "gpu.example.com",
        {"name": "gpu-0", "taints": [{"key": "a", "effect": "Weird"}]},
        {"name": "gpu-1"},
    )
    field = "spec.devices[0].taints[0].effect"
    assert faults(create(stored)) == [(field, "FieldValueNotSupported")]
    tainted, other = stored["spec"]["devices"]
    moved = with_spec(stored, devices=[other, tainted])
    assert update(stored, moved).accepted
    worse = {**tainted, "taints": [{"key": "b", "effect": "Weird"}]}
    assert faults(update(stored, with_spec(stored, devices=[worse, other]))) == [
        (field, "FieldValueNotSupported")
    ]


def test_everything_else_of_a_slice_is_looked_at_again():
    stored = piece("gpu.example.com", {"name": "gpu.0"})
    assert faults(update(stored, with_metadata(stored, labels={"a": "b"}))) == [
        ("spec.devices[0].name", "FieldValueInvalid")
    ]


def test_a_stored_capacity_may_stay_as_it_is_after_1_36():
    policy = {"default": "1", "validRange": {"min": "1", "step": "1"}}
    device: Json = {
        "name": "gpu-0",
        "allowMultipleAllocations": True,
        "capacity": {"cores": {"value": "1", "requestPolicy": policy}},
    }
    stored = piece("gpu.example.com", device)
    fault = (
        "spec.devices[0].capacity[cores].requestPolicy.validRange.step",
        "FieldValueInvalid",
    )
    labelled = with_metadata(stored, labels={"a": "b"})
    assert faults(update(stored, labelled)) == [fault]
    assert update(stored, labelled, features=NEWER).accepted
    more = {**device["capacity"], "memory": {"value": "1Gi"}}
    changed = with_spec(stored, devices=[{**device, "capacity": more}])
    assert faults(update(stored, changed, features=NEWER)) == [fault]
