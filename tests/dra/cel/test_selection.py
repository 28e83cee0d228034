"""Evaluating many devices by distinct values equals evaluating each of them."""

from __future__ import annotations

import random

import pytest

from dra import cel
from dra.cel.reads import NAMES, WHOLE, Read
from dra.objects import DeviceAttribute, DeviceCapacity

A = 'device.attributes["d"]'


@pytest.mark.parametrize(
    ("expression", "reads"),
    [
        ("true", set()),
        ('device.driver == "x"', {Read("driver")}),
        (f"{A}.x == 1", {Read("attributes", "d", "x")}),
        (f'{A}["x"] == 1 && has({A}.y)', {Read("attributes", "d", n) for n in "xy"}),
        (f'"x" in {A}', {Read("attributes", "d", "x")}),
        ('"d" in device.attributes', {Read("attributes", "d")}),
        (f"{A}.?x.orValue(1) == 1", {Read("attributes", "d", "x")}),
        (f"cel.bind(a, {A}, a.x == a.y)", {Read("attributes", "d", n) for n in "xy"}),
        (f"{A}.exists(k, k == 'x')", {Read("attributes", "d", NAMES)}),
        (f"{A}.exists(k, v, v == 1)", {Read("attributes", "d", WHOLE)}),
        (f"{A}.size() > 1", {Read("attributes", "d", NAMES)}),
        (f"{A}[device.driver] == 1", {Read("driver"), Read("attributes", "d", WHOLE)}),
        ("has(device.attributes.d)", set()),
        ("device.attributes.exists(d, true)", {Read("attributes", WHOLE)}),
        (
            "device.attributes.all(d, m, size(m) > 1)",
            {Read("attributes", WHOLE, WHOLE)},
        ),
        (
            "device.attributes[device.driver].x == 1",
            {Read("driver"), Read("attributes", WHOLE, WHOLE)},
        ),
        ("[device].exists(d, d.driver == 'x')", None),
        (
            'device.capacity["d"].m.isGreaterThan(quantity("1"))',
            {Read("capacity", "d", "m")},
        ),
        (f"dyn(device).attributes.d.x == {A}.?y.orValue(2)", None),
    ],
)
def test_reads_are_known_without_running(expression, reads):
    found = cel.compile(expression).reads
    if expression.startswith("dyn"):
        reads = {Read("attributes", "d", n) for n in "xy"}
    assert found == (None if reads is None else frozenset(reads))


def _device(rng: random.Random) -> cel.DeviceInput:
    attributes = {}
    for name in ("x", "y", "d/x", "e/z", "v"):
        kind = rng.randrange(5)
        if kind == 1:
            attributes[name] = DeviceAttribute(int_=rng.randrange(3))
        elif kind == 2:
            attributes[name] = DeviceAttribute(string=rng.choice("ab"))
        elif kind == 3:
            attributes[name] = DeviceAttribute(bool_=rng.random() < 0.5)
        elif kind == 4:
            version = rng.choice(["1.0.0", "2.0.0", "1.0.0+b"])
            attributes[name] = DeviceAttribute(version=version)
    if rng.random() < 0.02:
        attributes["bad"] = DeviceAttribute(version="one")
    if rng.random() < 0.02:
        attributes["list"] = DeviceAttribute(strings=["a"])
    capacity = {"m": DeviceCapacity(value=f"{n}Gi")} if (n := rng.randrange(3)) else {}
    return cel.DeviceInput(rng.choice("de"), attributes, capacity, rng.random() < 0.5)


DEVICES = [_device(random.Random(seed)) for seed in range(400)]


@pytest.mark.parametrize(
    "expression",
    [
        "true",
        "device.allowMultipleAllocations",
        'device.driver == "d"',
        f"{A}.x == 1",
        f"{A}.x == {A}.y || has({A}.v)",
        '"d" in device.attributes && !("e" in device.capacity)',
        f"{A}.exists(k, k == 'v') && {A}.size() > 1",
        f"{A}.all(k, v, v != 1)",
        "device.attributes.exists(d, d == 'e')",
        f'{A}.v.isGreaterThan(semver("1.5.0"))',
        'device.capacity["d"].?m.orValue(quantity("5Gi")).asInteger() > 1073741824',
        'device.attributes["e"].z',
        f"cel.bind(a, {A}, a.x + a.y > 2)",
    ],
)
@pytest.mark.parametrize("lists", [False, True])
def test_many_devices_get_the_answers_of_each(expression, lists):
    program = cel.compile(
        expression, features=cel.CelFeatures(list_type_attributes=lists)
    )
    expected: list[bool | str] = []
    for device in DEVICES:
        try:
            expected.append(program.evaluate(device))
        except cel.EvaluationError as error:
            expected.append(str(error))
    found = cel.evaluate_many(program, DEVICES)
    assert [a if isinstance(a, bool) else str(a) for a in found] == expected
