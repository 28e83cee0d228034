"""Devices, and expressions made of conditions, for laws that hold for all of them."""

from __future__ import annotations

import random
from collections.abc import Iterable

from hypothesis import strategies as st

from dra import cel
from dra.cel.selection import Runnable
from dra.objects import DeviceAttribute, DeviceCapacity

_A = 'device.attributes["d"]'

_LEAVES = st.sampled_from(
    [
        "true",
        "false",
        "1 / 0 == 1",
        'device.driver == "d"',
        f"{_A}.x == 1",
        f"{_A}.x > 0",
        f"{_A}.y.startsWith('a')",
        # A bool, something else, or missing.
        f"{_A}.x",
        f"has({_A}.y)",
        f"({_A}.z)",
        f"{_A}.exists(k, k == 'x' && {_A}.x == 2 || k == 'z')",
        f"cel.bind(a, {_A}, a.x == 1 || a.y == 'b')",
        f"{_A}.?x.optFlatMap(v, v)",
        'device.capacity["d"].m.isGreaterThan(quantity("1Gi"))',
    ]
)


def _inner(parts: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    several = st.lists(parts, min_size=2, max_size=4)
    return st.one_of(
        several.map(lambda terms: f"({' && '.join(terms)})"),
        several.map(lambda terms: f"({' || '.join(terms)})"),
        parts.map(lambda term: f"!({term})"),
        parts.map(lambda term: f"!!{term}"),
        st.tuples(parts, parts, parts).map(lambda p: f"({p[0]} ? {p[1]} : {p[2]})"),
    )


CONDITIONS = st.recursive(_LEAVES, _inner, max_leaves=7)
"""Expressions of all operators over leaves that hold, fail, and are no bool."""


def _device(rng: random.Random) -> cel.DeviceInput:
    attributes = {}
    for name in ("x", "y", "z"):
        match rng.randrange(5):
            case 0:
                attributes[name] = DeviceAttribute(int_=rng.randrange(3))
            case 1:
                attributes[name] = DeviceAttribute(string=rng.choice(["a", "b"]))
            case 2 | 3:
                attributes[name] = DeviceAttribute(bool_=rng.random() < 0.5)
    if rng.random() < 0.1:
        attributes["v"] = DeviceAttribute(version="none")
    capacity = {"m": DeviceCapacity(value=f"{n}Gi")} if (n := rng.randrange(3)) else {}
    return cel.DeviceInput(rng.choice("de"), attributes, capacity)


DEVICES = [_device(random.Random(seed)) for seed in range(60)]
"""Some lack attributes, have them with different types, or have no answer at all."""
TABLE = cel.DeviceTable.of(DEVICES)


def outcomes(program: Runnable, devices: Iterable[cel.DeviceInput]) -> list[bool | str]:
    """The answers of one after the other, or the texts of their errors."""
    return [_outcome(program, device) for device in devices]


def _outcome(program: Runnable, device: cel.DeviceInput) -> bool | str:
    try:
        return program.evaluate_value(cel.device_value(device, lists=False))
    except cel.EvaluationError as error:
        return str(error)
