"""Names that nobody has, few have, or some lack."""

from __future__ import annotations

import pytest

from dra import cel
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

NET = 'device.attributes["dra.net"]'


def test_an_unguarded_attribute_names_the_drivers_that_lack_it():
    expression = f'{NVIDIA}.type == "gpu"'
    found = only(advice(expression, real_drivers()), "missing")
    assert (found.devices, found.total) == (136, 568)
    assert "64 of dra.net, 40 of dra.cpu and 32 of gpu.amd.com" in found.message
    assert f"{IS_NVIDIA} && …" in found.message
    assert f"has({NVIDIA}.type) && …" in found.message
    assert expression[found.start : found.end] == f"{NVIDIA}.type"
    assert found.example is not None
    assert found.example.driver == "dra.cpu"


def test_the_suggested_default_excludes_the_devices_without_it():
    expression = f'{NVIDIA}.type == "gpu"'
    found = only(advice(expression, real_drivers()), "missing")
    assert found.suggestion == f'{NVIDIA}.?type.orValue("")'
    assert codes(advice(repaired(expression, found), real_drivers())) == []


def test_no_default_is_suggested_that_would_let_devices_in():
    found = only(advice(f'{NVIDIA}.type != "gpu"', real_drivers()), "missing")
    assert found.suggestion == ""


@pytest.mark.parametrize(
    ("expression", "default"),
    [
        (f"{NET}.rdma", "false"),
        (f"{NET}.mtu >= 9000", "-1"),
        (f'{NVIDIA}.driverVersion.isGreaterThan(semver("1.0.0"))', 'semver("0.0.0")'),
        (f'{MEMORY}.isGreaterThan(quantity("40Gi"))', 'quantity("0")'),
        (f'{NVIDIA}["type"] == "gpu"', '""'),
    ],
)
def test_the_default_has_the_type_of_the_attribute(expression, default):
    found = only(advice(expression, real_drivers()), "missing")
    assert found.suggestion.endswith(f".orValue({default})")
    assert "missing" not in codes(advice(repaired(expression, found), real_drivers()))


@pytest.mark.parametrize(
    "expression",
    [
        f'{IS_NVIDIA} && {NVIDIA}.type == "gpu"',
        f'{NVIDIA}.type == "gpu" && {IS_NVIDIA}',
        f'!({IS_NVIDIA}) || {NVIDIA}.type == "gpu"',
        f'"type" in {NVIDIA} && {NVIDIA}.type == "gpu"',
        f'has({NVIDIA}.type) && {NVIDIA}.type == "gpu"',
        f'has({NVIDIA}.type) ? {NVIDIA}.type == "gpu" : false',
        f'{NVIDIA}.?type.orValue("") == "gpu"',
        f'{NVIDIA}[?"type"].orValue("") == "gpu"',
        f'{NVIDIA}.?type.hasValue() && {NVIDIA}.type == "gpu"',
        f'"gpu.nvidia.com" in device.attributes && {NVIDIA}.type == "gpu"',
        f'cel.bind(a, {NVIDIA}, has(a.type) && a.type == "gpu")',
        f'{NVIDIA}.exists(k, k == "type") && {NVIDIA}.type == "gpu"',
        f'{NVIDIA}.?type.optMap(t, t == "gpu").orValue(false)',
    ],
)
def test_a_guarded_attribute_is_not_missing(expression):
    assert codes(advice(expression, real_drivers())) == []


def test_a_guard_for_another_driver_does_not_help():
    expression = f'device.driver != "dra.net" && {NVIDIA}.type == "gpu"'
    found = only(advice(expression, real_drivers()), "missing")
    assert found.devices == 72


def test_only_the_devices_that_reach_it_count():
    expression = f'{IS_NVIDIA} && {NVIDIA}.profile == "1g.5gb"'
    found = only(advice(expression, real_drivers()), "missing")
    assert found.devices == 84
    assert "have the attribute profile of gpu.nvidia.com. The" in found.message


def test_only_asked_devices_count():
    expression = f'{NVIDIA}.profile == "1g.5gb"'
    mig = f'{IS_NVIDIA} && {NVIDIA}.type == "mig"'
    assert codes(advice(expression, real_drivers(), asked=mig)) == []
    gpus = f'{IS_NVIDIA} && {NVIDIA}.type == "gpu"'
    found = only(advice(expression, real_drivers(), asked=gpus), "unknown-name")
    assert "No device of the 84 asked" in found.message
    assert "348 devices that were not asked have it" in found.message


def test_one_device_of_a_driver_may_lack_what_the_others_have():
    devices = [device("dra.net", {"rdma": True})] * 3 + [device("dra.net", {"mtu": 1})]
    found = only(advice(f"{NET}.rdma", devices), "missing")
    assert found.message.startswith(
        "1 of 4 devices does not have the attribute rdma of dra.net. "
    )
    assert found.example is not None
    assert found.example.device == "3"


def test_a_name_that_nobody_has_comes_with_the_one_that_was_meant():
    expression = f'{IS_NVIDIA} && {NVIDIA}.productNme == "x"'
    found = only(advice(expression, real_drivers()), "unknown-name")
    assert "the selector fails on 432 devices" in found.message
    assert found.suggestion == f"{NVIDIA}.productName"
    assert (found.devices, found.total) == (0, 568)


def test_a_guard_does_not_hide_a_slip():
    expression = f'{IS_NVIDIA} && has({NVIDIA}.typ) && {NVIDIA}.typ == "gpu"'
    found = only(advice(expression, real_drivers()), "unknown-name")
    assert expression[found.start : found.end] == f"has({NVIDIA}.typ)"
    assert "false on every one" in found.message
    assert found.suggestion == f"has({NVIDIA}.type)"


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        (f'"typ" in {NVIDIA}', f'"type" in {NVIDIA}'),
        (f'{NVIDIA}.?typ.orValue("") == "gpu"', f"{NVIDIA}.?type"),
        (f'{NVIDIA}[?"typ"].orValue("") == "gpu"', f'{NVIDIA}[?"type"]'),
        (f'{IS_NVIDIA} && {NVIDIA}["typ"] == "gpu"', f'{NVIDIA}["type"]'),
        (
            '"gpu.nvidia.co" in device.attributes',
            '"gpu.nvidia.com" in device.attributes',
        ),
    ],
)
def test_the_repair_reads_in_the_same_way(written, meant):
    (found, *_) = advice(written, real_drivers())
    assert found.suggestion == meant
    cel.compile(repaired(written, found))


def test_a_capacity_is_no_attribute():
    expression = f'{IS_NVIDIA} && {NVIDIA}.memory.compareTo(quantity("1Gi")) > 0'
    found = only(advice(expression, real_drivers()), "unknown-name")
    assert found.suggestion == MEMORY
    assert codes(advice(repaired(expression, found), real_drivers())) == []


def test_a_suggestion_that_would_not_compile_is_only_said():
    expression = f"{IS_NVIDIA} && {NVIDIA}.memory == 80"
    found = only(advice(expression, real_drivers()), "unknown-name")
    assert MEMORY in found.message
    assert found.suggestion == ""


def test_the_extended_resource_is_no_domain():
    expression = 'device.attributes["nvidia.com/gpu"].type == "gpu"'
    found = only(advice(expression, real_drivers()), "unknown-domain")
    assert found.suggestion == f"{NVIDIA}.type"
    assert "fails on 568 devices" in found.message


def test_an_unknown_domain_is_told_of_once():
    cloud = 'device.attributes["alibaba.dra.net"]'
    found = advice(
        f'"alibaba.dra.net" in device.attributes && {cloud}["erdma"] == true',
        real_drivers(),
    )
    assert codes(found) == ["unknown-domain"]
    assert found[0].suggestion == ""
    assert "Domains in use: dra.cpu, dra.net" in found[0].message


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("device.attributes.gpu.nvidia.com.type", f"{NVIDIA}.type"),
        ("has(device.attributes.gpu.nvidia.com.type)", f"has({NVIDIA}.type)"),
        (
            "device.attributes.foo.example.com.x",
            'device.attributes["foo.example.com"].x',
        ),
    ],
)
def test_dots_of_a_domain_are_no_steps(written, meant):
    expression = f'{written} == "gpu"' if "has" not in written else written
    found = only(advice(expression, real_drivers()), "split-domain")
    assert found.suggestion == meant
    assert expression[found.start : found.end] == written


def test_a_name_in_a_bound_variable_is_looked_up():
    expression = f'cel.bind(a, {NVIDIA}, {IS_NVIDIA} && a.typ == "gpu")'
    found = only(advice(expression, real_drivers()), "unknown-name")
    assert expression[found.start : found.end] == "a.typ"


def test_a_rare_name_is_told_of_with_its_counts():
    devices = [device("d.example", {"typ": "a"})] * 3
    devices += [device("d.example", {"type": "a"})] * 10_242
    expression = 'device.attributes["d.example"].?typ.orValue("") == "a"'
    found = only(advice(expression, devices), "rare-name")
    assert found.message == (
        "Only 3 of the 10,245 devices with names of d.example have the attribute typ."
    )
    assert (found.devices, found.total) == (3, 10_245)


def test_a_driver_with_few_devices_has_no_rare_names():
    devices = [device("a.example", {"x": "a"})] * 1000 + [device("b.example", {"x": 1})]
    expression = 'device.attributes["b.example"].?x.orValue(0) == 1'
    assert "rare-name" not in codes(advice(expression, devices))
