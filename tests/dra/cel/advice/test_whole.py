"""Terms that are the same on every device, and what the API server refuses."""

from __future__ import annotations

import pytest

from dra import cel
from dra.cel.advice import CODES, MOST, advise
from dra.cel.advice.warnings import Warning, ranked  # noqa: A004 - the word of the field
from dra.cel.selection import Stopped
from dra.cel.table import DeviceTable
from tests.dra.cel.advice.clusters import (
    IS_NVIDIA,
    NVIDIA,
    advice,
    codes,
    device,
    only,
    real_drivers,
    repaired,
)

A = 'device.attributes["d.example"]'
NESTED = (
    "device.attributes.all(a, device.attributes[a].all(b, "
    "device.attributes[a].all(c, device.attributes[a].all(d, b != c || c != d || "
    "a != b))))"
)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("has(device.attributes.foo)", '"foo" in device.attributes'),
        ("has(device.capacity.foo)", '"foo" in device.capacity'),
        ('device.attributes[?"dra.net"].hasValue()', '"dra.net" in device.attributes'),
        ("device.attributes.?foo.hasValue()", '"foo" in device.attributes'),
    ],
)
def test_a_domain_is_always_there(written, meant):
    expression = f"{written} && {IS_NVIDIA}"
    found = only(advice(expression, real_drivers()), "always-there")
    assert expression[found.start : found.end] == written
    assert found.suggestion == meant
    assert "always-there" not in codes(
        advice(repaired(expression, found), real_drivers())
    )


def test_a_domain_that_is_used_further_is_fine():
    expression = 'device.attributes[?"dra.net"].?rdma.orValue(false)'
    assert codes(advice(expression, real_drivers())) == []


def test_the_number_of_devices_with_the_domain_is_said():
    expression = 'device.attributes[?"dra.net"].hasValue()'
    found = only(advice(expression, real_drivers()), "always-there")
    assert (found.devices, found.total) == (64, 568)


def test_a_selector_that_excludes_nothing():
    found = only(advice("true", real_drivers()), "matches-everything")
    assert (found.devices, found.total) == (568, 568)


def test_a_guard_may_be_true_of_every_device():
    expression = f'{IS_NVIDIA} && "type" in {NVIDIA}'
    assert codes(advice(expression, real_drivers(), asked=IS_NVIDIA)) == []


def test_a_term_that_excludes_nothing():
    devices = [device("d.example", {"mtu": 9000, "k": k}) for k in "ab"]
    expression = f'{A}.mtu == 9000 && {A}.k == "a"'
    found = only(advice(expression, devices), "always-true")
    assert expression[found.start : found.end] == f"{A}.mtu == 9000"
    assert (found.devices, found.total) == (2, 2)


def test_a_term_that_is_never_true():
    devices = [device("d.example", {"k": k}) for k in "ab"]
    expression = f'{A}.k.size() > 1 || {A}.k == "a"'
    found = only(advice(expression, devices), "always-false")
    assert expression[found.start : found.end] == f"{A}.k.size() > 1"


def test_what_is_explained_already_is_not_said_again():
    devices = [device("d.example", {"k": k}) for k in "ab"]
    assert codes(advice(f'{A}.k == "c" || {A}.k == "a"', devices)) == ["unknown-value"]
    assert codes(advice(f'{A}.k == "c"', devices)) == ["unknown-value"]


def test_terms_that_exclude_each_other():
    expression = f'{IS_NVIDIA} && device.driver == "dra.net"'
    found = only(advice(expression, real_drivers()), "matches-nothing")
    assert "no device meets all of them together" in found.message


def test_nothing_is_said_of_no_devices():
    assert codes(advice(f"{A}.x == 1", [])) == []


def test_a_costly_expression_is_refused():
    found = only(advice(NESTED, real_drivers()), "too-costly")
    assert "The API server refuses this" in found.message
    assert f"{cel.compile(NESTED).cost.high:,}" in found.message
    assert (
        NESTED[found.start : found.end]
        == NESTED[NESTED.rindex("device.attributes[a].all(d") : -3]
    )


@pytest.mark.parametrize(
    ("turns", "code"), [(5, None), (6, "costly"), (8, "too-costly")]
)
def test_a_cost_near_the_limit_is_told_of(turns, code):
    # A list of a known length around two loops over maps of at most 32.
    inner = "device.attributes.all(a, device.attributes[a].all(b, a != b))"
    items = ", ".join(map(str, range(turns * 15)))
    expression = f"[{items}].all(i, {inner})"
    cost = cel.compile(expression).cost.high
    expected = (
        "too-costly" if cost > 1_000_000 else "costly" if cost > 800_000 else None
    )
    assert expected == code
    found = codes(advice(expression, [device()]))
    assert [c for c in found if c in ("costly", "too-costly")] == [code] * (
        code is not None
    )


def test_what_only_stored_expressions_may_use():
    expression = f'{A}.x.includes("a")'
    found = only(
        advice(expression, [device("d.example", {"x": "a"})]), "refused-when-new"
    )
    assert expression[found.start : found.end] == expression


def test_an_expression_of_a_gate_that_is_on_is_fine():
    table = DeviceTable.of([device("d.example", {"x": x}) for x in "ab"], lists=True)
    features = cel.CelFeatures(list_type_attributes=True)
    program = cel.compile(f'{A}.x.includes("a")', features=features)
    assert codes(advise(program, table)) == []


def test_the_most_important_warnings_are_given_once():
    made = [Warning(code, "m", 0, 1, devices=n) for code in CODES for n in (1, 2)]
    found = ranked([*made, *made])
    assert codes(found) == list(CODES)[:MOST]
    assert {warning.devices for warning in found} == {2}


def test_at_most_so_many_warnings_are_given():
    terms = [f'has({A}.x{n}) && {A}.x{n} == "a"' for n in range(50)]
    expression = " || ".join(f"({term})" for term in terms)
    assert len(advice(expression, [device("d.example", {"y": 1})])) == MOST


def test_the_caller_may_stop_it():
    table = DeviceTable.of([device("d.example", {"x": n}) for n in range(1000)])
    with pytest.raises(Stopped):
        advise(cel.compile(f"{A}.x == 1"), table, stop=lambda: True)
