"""Values as people read them."""

from __future__ import annotations

import math

import pytest

from dra import cel, quantity, semver
from dra.cel.display import MAX_SHOWN, display
from dra.cel.values import (
    NONE,
    Duration,
    Optional,
    QuantityPointer,
    QuantityValue,
    Timestamp,
    TypeValue,
    UInt,
    map_key,
)
from dra.objects import DeviceAttribute


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("h100", '"h100"'),
        ('a"b\n', '"a\\"b\\n"'),
        ("Größe", '"Größe"'),
        (b"a\x00", "b'a\\x00'"),
        (True, "true"),
        (None, "null"),
        (-7, "-7"),
        (UInt(7), "7u"),
        (1.0, "1.0"),
        (-2.0, "-2.0"),
        (1.5, "1.5"),
        (1e30, "1e+30"),
        (math.nan, "NaN"),
        (Duration(1_500_000_000), "1.5s"),
        (Timestamp(0), "1970-01-01T00:00:00Z"),
        (TypeValue("int"), "int"),
        (QuantityValue(quantity.read("81559Mi")), "81559Mi"),
        (QuantityPointer(quantity.read("1k")), "1k"),
        (semver.parse("1.2.3-rc.1"), "1.2.3-rc.1"),
        ([1, [True, "a"]], '[1, [true, "a"]]'),
        ({map_key(True): 1, "a": {}}, '{true: 1, "a": {}}'),
        (Optional([1]), "optional.of([1])"),
        (NONE, "optional.none()"),
    ],
)
def test_a_value_reads_like_its_literal(value, text):
    assert display(value) == text


@pytest.mark.parametrize("value", ["x" * 10**6, list(range(10**6)), b"x" * 10**6])
def test_a_long_value_is_cut(value):
    text = display(value)
    assert len(text) == MAX_SHOWN
    assert text.endswith("…")


def test_a_value_nested_without_end_is_cut():
    value: list[object] = []
    for _ in range(100_000):
        value = [value]
    assert display(value) == "[" * (MAX_SHOWN - 1) + "…"


def test_halves_of_characters_can_be_written():
    assert display("\udc80").encode() == '"\ufffd"'.encode()


def test_a_device_is_the_map_of_its_fields():
    device = cel.DeviceInput("d", {"x": DeviceAttribute(int_=1)})
    assert display(cel.device_value(device, lists=False)) == (
        '{"driver": "d", "allowMultipleAllocations": false, '
        '"attributes": {"d": {"x": 1}}, "capacity": {}}'
    )
