"""What a run really costs: the numbers that Kubernetes 1.36 counts for the same."""

from __future__ import annotations

from typing import Final

import pytest

from dra import cel
from dra.cel import evaluator
from dra.cel.devices import device_value
from dra.cel.metering import METER_SLOT, Meter
from dra.cel.values import Value
from dra.objects import DeviceAttribute

FEATURES: Final = cel.CelFeatures(list_type_attributes=True)
DEVICE: Final = cel.DeviceInput(
    driver="d",
    attributes={
        "i": DeviceAttribute(int_=1),
        "s": DeviceAttribute(string="x"),
        "nums": DeviceAttribute(ints=[3, 1, 2]),
    },
)


def spent(expression: str) -> int:
    program = cel.compile(
        expression.replace("A.", 'device.attributes["d"].'), features=FEATURES
    )
    step, slots = evaluator.build(program.checked, metered=True)
    frame: list[Value] = [None] * slots
    frame[0] = device_value(DEVICE, lists=True)
    meter = frame[METER_SLOT] = Meter()
    step(frame)
    return meter.spent


@pytest.mark.parametrize(
    ("expression", "cost"),
    [
        ("[true, true].exists(y, y)", 9),
        ("[1, 2, 3].exists(x, x == 3)", 19),
        ("[false, false].all(x, false)", 6),
        ("[[1, 2].all(x, x > 0), true].all(y, y)", 30),
        ('{"a": 1}.exists(k, k == "a")', 7),
    ],
)
def test_a_loop_that_ends_early_has_looked_once_more(expression: str, cost: int):
    assert spent(expression) == cost


@pytest.mark.parametrize(
    ("expression", "cost"),
    [
        ("[false, true].exists_one(x, x)", 6),
        ("[false, false].filter(x, x).size() == 0", 5),
        ("[1, 2].map(x, x).size() == 2", 29),
        ("[1, 2].map(x, 7).size() == 2", 7),
        ("[1, 2].map(x, x > 1, x).size() == 1", 20),
    ],
)
def test_what_is_left_out_and_constants_cost_nothing_more(expression: str, cost: int):
    assert spent(expression) == cost


@pytest.mark.parametrize(
    ("expression", "cost"),
    [
        ("([1][?3]).hasValue()", 2),
        ("([1][?0]).hasValue()", 3),
        ("A.?nope.hasValue()", 4),
        ('A.?s.orValue("a") == "x"', 5),
    ],
)
def test_what_an_optional_link_does_not_find_is_free(expression: str, cost: int):
    assert spent(expression) == cost


@pytest.mark.parametrize(
    ("expression", "cost"),
    [
        ('(A.i == 1 ? A.s : A.s) == "x"', 9),
        ("(A.i == 1 ? A.i + 1 : A.i) == 2", 11),
        ("true ? A.i == 1 : false", 5),
        ("cel.bind(a, A.i, a + a == 2)", 8),
    ],
)
def test_the_base_of_a_branch_that_is_a_chain_is_free(expression: str, cost: int):
    assert spent(expression) == cost


@pytest.mark.parametrize(
    ("expression", "cost"),
    [
        ("A.nope == 1 || true", 5),
        ("type(A.nope) == string || true", 6),
        ('A.nope.startsWith("a") || true', 5),
        ('A.s.substring(A.nope, 1) == "a" || true', 9),
    ],
)
def test_a_call_of_two_arguments_is_paid_for_though_one_fails(
    expression: str, cost: int
):
    assert spent(expression) == cost


@pytest.mark.parametrize(
    ("expression", "cost"),
    [
        ('["b", "a"].sort().isSorted()', 19),
        ("[3, 1, 2].sort().isSorted()", 32),
        ("A.nums.sort().size() == 3", 7),
        ("A.nums.sortBy(n, -n).size() == 3", 52),
        ("A.nums.distinct().size() == 3", 35),
    ],
)
def test_sorting_costs_by_the_type_of_its_keys(expression: str, cost: int):
    assert spent(expression) == cost
