"""Devices on which an expression fails for its types or its literals."""

from __future__ import annotations

import pytest

from dra import cel
from dra.cel.advice.origins import MOST_GROUPS, failures
from dra.cel.selection import ERROR
from dra.cel.table import DeviceTable
from tests.dra.cel.advice.clusters import (
    IS_NVIDIA,
    MEMORY,
    NVIDIA,
    advice,
    codes,
    device,
    only,
    real_drivers,
    repaired,
)

A = 'device.attributes["d.example"]'


@pytest.mark.parametrize(
    ("comparison", "repair"),
    [
        (
            'driverVersion == "580.105.8"',
            f'{NVIDIA}.driverVersion == semver("580.105.8")',
        ),
        (
            'driverVersion == "580.105.08"',
            f'{NVIDIA}.driverVersion == semver("580.105.8")',
        ),
        (
            'driverVersion >= "580.1"',
            f'{NVIDIA}.driverVersion.compareTo(semver("580.1.0")) >= 0',
        ),
        (
            'driverVersion in ["580.105.8", "v570.1.2"]',
            f'{NVIDIA}.driverVersion in [semver("580.105.8"), semver("570.1.2")]',
        ),
    ],
)
def test_a_version_compared_with_a_text_fails(comparison, repair):
    expression = f"{IS_NVIDIA} && {NVIDIA}.{comparison}"
    found = only(advice(expression, real_drivers()), "version-as-text")
    assert (found.devices, found.total) == (432, 568)
    assert "is a version" in found.message
    assert found.suggestion == repair
    assert "version-as-text" not in codes(
        advice(repaired(expression, found), real_drivers())
    )


@pytest.mark.parametrize(
    ("comparison", "always"),
    [
        (f'{NVIDIA}.driverVersion != "580.105.8"', "true"),
        (f'"580.105.8" == {NVIDIA}.driverVersion', "false"),
        (f'"580.105.8" != {NVIDIA}.driverVersion', "true"),
    ],
)
def test_a_version_compared_with_a_text_is_always_the_same(comparison, always):
    expression = f"{IS_NVIDIA} && {comparison}"
    found = only(advice(expression, real_drivers()), "version-as-text")
    assert f"is always {always}" in found.message
    assert found.devices == 432
    assert found.suggestion == 'semver("580.105.8")'


def test_a_version_that_is_none_is_repaired():
    expression = (
        f'{IS_NVIDIA} && {NVIDIA}.driverVersion.isGreaterThan(semver("580.105.08"))'
    )
    found = only(advice(expression, real_drivers()), "fails")
    assert "without leading zeros" in found.message
    assert found.suggestion == '"580.105.8"'
    assert found.devices == 432


@pytest.mark.parametrize(
    ("text", "repair"),
    [
        ("80GB", '"80G"'),
        ("80GiB", '"80Gi"'),
        ("80 Gi", '"80Gi"'),
        ("many", ""),
    ],
)
def test_a_quantity_that_is_none_is_repaired(text, repair):
    expression = f'{IS_NVIDIA} && {MEMORY}.isLessThan(quantity("{text}"))'
    found = only(advice(expression, real_drivers()), "fails")
    assert "is no quantity" in found.message
    assert found.suggestion == repair


def test_the_wrapping_of_a_slice_is_left_out():
    expression = f'{IS_NVIDIA} && {NVIDIA}.type.string == "gpu"'
    found = only(advice(expression, real_drivers()), "fails")
    assert "without .string" in found.message
    assert codes(advice(repaired(expression, found), real_drivers())) == []


@pytest.mark.parametrize("term", [f"{NVIDIA}.type", f"!{NVIDIA}.type"])
def test_a_text_is_no_truth_value(term):
    expression = f"{IS_NVIDIA} && {term}"
    found = only(advice(expression, real_drivers()), "type-mismatch")
    assert "is a string, neither true nor false" in found.message
    assert expression[found.start : found.end] == f"{NVIDIA}.type"


def test_the_whole_expression_may_be_no_truth_value():
    found = only(advice(f"{A}.x", [device("d.example", {"x": "a"})]), "type-mismatch")
    assert "is a string, neither true nor false" in found.message


@pytest.mark.parametrize(
    ("value", "comparison", "message", "repair"),
    [
        ("a", "> 1", "x is a string and cannot be compared with a number by >", '"1"'),
        (1, '> "1"', "x is an int and cannot be compared with a string by >", "1"),
        (True, "> 1", "x is a bool and cannot be compared with a number by >", "true"),
        (
            "1.2.3",
            '.isGreaterThan(semver("1.0.0"))',
            "x is a string and cannot be compared with a version by isGreaterThan",
            "",
        ),
        (5, '.startsWith("a")', "cannot be compared with a string by startsWith", ""),
    ],
)
def test_types_that_cannot_be_compared_are_named(value, comparison, message, repair):
    space = "" if comparison.startswith(".") else " "
    expression = f"{A}.x{space}{comparison}"
    found = only(
        advice(expression, [device("d.example", {"x": value})]), "type-mismatch"
    )
    assert message in found.message
    assert found.suggestion == repair
    assert (found.devices, found.total) == (1, 1)


def test_any_other_failure_is_told_of_with_its_place():
    expression = f"{A}.x / 0 == 1"
    found = only(advice(expression, [device("d.example", {"x": 1})]), "fails")
    assert "division by zero" in found.message
    assert expression[found.start : found.end] == f"{A}.x / 0"


def test_a_device_on_which_everything_fails_is_told_of():
    devices = [device("d.example", {"x": 1}), device("d.example", {"v": "v:1.2.3.4"})]
    found = only(advice('device.driver == "e.example"', devices), "broken-device")
    assert (found.devices, found.total) == (1, 2)
    assert "attribute v: parse semantic version" in found.message
    assert found.example is not None
    assert found.example.device == "1"


def _failures(expression, devices):
    table = DeviceTable.of(devices)
    program = cel.compile(expression)
    selection = table.select(program)
    rows = (selection.outcomes == ERROR).nonzero()[0]
    return [
        (expression[f.node.start : f.node.end], f.message, len(f.rows))
        for f in failures(program, table, selection, rows)
    ]


def test_errors_of_the_same_text_are_told_apart_by_their_place():
    other = 'device.attributes["e.example"]'
    devices = [
        device("d.example", {"i": 1, "e.example/x": 1}),
        device("d.example", {"i": 1, "e.example/x": 2}),
        device("d.example", {"i": 2, "x": 1}),
    ]
    expression = f"{A}.i == 1 ? {A}.x == 1 : {other}.x == 1"
    assert _failures(expression, devices) == [
        (f"{A}.x", "no such key: x", 2),
        (f"{other}.x", "no such key: x", 1),
    ]


def test_an_error_in_a_bound_value_is_where_the_value_is_written():
    expression = f"cel.bind(v, {A}.x, true && v == 1)"
    assert _failures(expression, [device()]) == [(f"{A}.x", "no such key: x", 1)]


def test_an_error_in_a_loop_is_where_it_is_written():
    expression = f"[1, 2].exists(i, i == {A}.x)"
    assert _failures(expression, [device()]) == [(f"{A}.x", "no such key: x", 1)]


def test_many_different_failing_devices_are_grouped():
    devices = [device("d.example", {"x": f"u{n}"}) for n in range(3 * MOST_GROUPS)]
    expression = f'{A}.x.startsWith("u") && {A}.y == 1'
    assert _failures(expression, devices) == [
        (f"{A}.y", "no such key: y", 3 * MOST_GROUPS)
    ]
