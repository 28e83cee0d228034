"""Expressions whose value becomes an attribute (Kubernetes 1.37, alpha)."""

from __future__ import annotations

from typing import Any, Literal

import pytest

from dra import cel
from dra.objects import DeviceAttribute

LISTS = cel.CelFeatures(list_type_attributes=True)
SCALARS = cel.CelFeatures()


def derive(
    expression: str,
    features: cel.CelFeatures = SCALARS,
    age: Literal["stored", "new"] = "stored",
) -> DeviceAttribute:
    program = cel.compile(expression, features=features, environment=age, derived=True)
    attributes = {
        "numa": DeviceAttribute(int_=1),
        "topology": DeviceAttribute(string="numa0-pcieDomain1-nic0"),
        "version": DeviceAttribute(version="1.2.3-rc.1+build"),
        "healthy": DeviceAttribute(bool_=True),
    }
    if features.list_type_attributes:
        attributes["roots"] = DeviceAttribute(strings=["r0", "r1"])
    device = cel.DeviceInput(driver="gpu.example.com", attributes=attributes)
    value = cel.device_value(device, lists=features.list_type_attributes)
    return cel.derive(program, value)


def of(name: str) -> str:
    return f'device.attributes["gpu.example.com"].{name}'


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        (of("numa"), {"int_": 1}),
        (of("topology"), {"string": "numa0-pcieDomain1-nic0"}),
        (f'{of("topology")}.split("-")[0]', {"string": "numa0"}),
        (of("version"), {"version": "1.2.3-rc.1+build"}),
        ('semver("v1.0", true)', {"version": "1.0.0"}),
        (f"!{of('healthy')}", {"bool_": False}),
        (f'{of("numa")} >= 1 ? "tier-1" : "tier-2"', {"string": "tier-1"}),
        ("device.driver", {"string": "gpu.example.com"}),
    ],
)
def test_a_scalar_becomes_an_attribute(expression: str, expected: dict[str, Any]):
    assert derive(expression) == DeviceAttribute(**expected)
    assert derive(expression, LISTS) == DeviceAttribute(**expected)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        (of("roots"), {"strings": ["r0", "r1"]}),
        (f"[{of('numa')}, {of('numa')}]", {"ints": [1, 1]}),
        ("[true, false]", {"bools": [True, False]}),
        ('[semver("1.0.0")]', {"versions": ["1.0.0"]}),
        ("[]", {}),
    ],
)
def test_a_list_needs_the_gate(expression: str, expected: dict[str, Any]):
    assert derive(expression, LISTS) == DeviceAttribute(**expected)
    with pytest.raises(cel.EvaluationError, match=r"DRAListTypeAttributes|no such key"):
        derive(expression)


@pytest.mark.parametrize(
    ("expression", "type_"),
    [
        ("1.5", "double"),
        ("1u", "uint"),
        ("null", "null_type"),
        ("device", "kubernetes.DRADevice"),
        ('quantity("1Gi")', "kubernetes.Quantity"),
        ('{"a": 1}', r"map\(string, int\)"),
        ("[[1]]", r"list\(list\(int\)\)"),
    ],
)
def test_other_types_are_refused_when_the_expression_is_compiled(
    expression: str, type_: str
):
    with pytest.raises(cel.CompileError, match=f"must evaluate to .*, not {type_}"):
        derive(expression, LISTS)


def test_a_new_expression_is_no_list_without_the_gate():
    with pytest.raises(cel.CompileError, match=r"primitive scalar .*, not list"):
        derive("[1]", age="new")
    assert derive("[1]", LISTS, "new") == DeviceAttribute(ints=[1])


@pytest.mark.parametrize(
    ("expression", "words"),
    [
        (of("nope"), "no such key: nope"),
        ("dyn(1.5)", "unsupported CEL return type: double"),
        ("dyn(device.capacity)", "unsupported CEL return type: map"),
        (f"[{of('numa')}, {of('topology')}]", "index 1 to be int, got string"),
        ("[dyn(1u)]", "unsupported list element type: uint"),
    ],
)
def test_what_only_shows_on_a_device_is_an_error_there(expression: str, words: str):
    with pytest.raises(cel.EvaluationError, match=words):
        derive(expression, LISTS)


def test_a_selector_and_a_derived_attribute_of_one_text_are_two_programs():
    expression = of("numa")
    selector = cel.compile(expression)
    assert derive(expression) == DeviceAttribute(int_=1)
    with pytest.raises(cel.CompileError, match="must evaluate to bool"):
        cel.compile('"x"')
    assert derive('"x"') == DeviceAttribute(string="x")
    assert cel.compile(expression) is selector
