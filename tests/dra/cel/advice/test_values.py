"""Comparisons with values that no device publishes, though some nearly do."""

from __future__ import annotations

import pytest

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
M = 'device.capacity["d.example"].m'


@pytest.mark.parametrize(
    "comparison",
    [
        f'{MEMORY}.compareTo(quantity("80Gi")) >= 0',
        f'{MEMORY}.compareTo(quantity("80Gi")) != -1 && true',
        f'quantity("80Gi").compareTo({MEMORY}) <= 0',
        f'0 <= {MEMORY}.compareTo(quantity("80Gi"))',
        f'{MEMORY}.isGreaterThan(quantity("80Gi"))',
        f'quantity("80Gi").isLessThan({MEMORY})',
    ],
)
def test_the_published_size_is_a_little_below_the_advertised(comparison):
    expression = f"{IS_NVIDIA} && {comparison}"
    found = only(advice(expression, real_drivers()), "near-miss")
    symbol = ">" if "Than" in comparison else ">="
    assert found.message == (
        f"No device has memory {symbol} 80Gi; 64 devices publish 81559Mi (79.6Gi), the "
        "most there is."
    )
    assert (found.devices, found.total) == (64, 568)
    assert expression[found.start : found.end] == '"80Gi"'
    assert found.suggestion == '"79Gi"'
    assert "near-miss" not in codes(advice(repaired(expression, found), real_drivers()))


@pytest.mark.parametrize(
    ("published", "comparison", "code", "said", "repair"),
    [
        ("81559Mi", f'{M} == quantity("80Gi")', "near-miss", "m == 80Gi", '"81559Mi"'),
        (
            "80G",
            f'{M}.compareTo(quantity("80Gi")) >= 0',
            "near-miss",
            "80G (74.5Gi)",
            '"74Gi"',
        ),
        ("40Gi", f'{M}.compareTo(quantity("80Gi")) >= 0', "unknown-value", "40Gi", ""),
        (
            "81Gi",
            f'{M}.compareTo(quantity("80Gi")) <= 0',
            "near-miss",
            "81Gi",
            '"81Gi"',
        ),
        (
            "80Gi",
            f'{M}.isLessThan(quantity("80Gi"))',
            "near-miss",
            "m < 80Gi",
            '"81Gi"',
        ),
        ("98", f'{M}.isGreaterThan(quantity("100"))', "near-miss", "98", '"97"'),
        ("1", f"{M}.asInteger() >= 2", "unknown-value", "m.asInteger() >= 2", ""),
        ("95", f"{M}.asInteger() >= 100", "near-miss", "95", "95"),
    ],
)
def test_quantities_are_compared_by_value(published, comparison, code, said, repair):
    found = only(advice(comparison, [device(m=published)]), code)
    assert said in found.message
    assert found.suggestion == repair
    if repair:
        assert code not in codes(
            advice(repaired(comparison, found), [device(m=published)])
        )


def test_a_size_that_some_device_has_is_no_miss():
    devices = [device(m="81559Mi"), device(m="85899345920")]
    assert codes(advice(f'{M}.compareTo(quantity("80Gi")) >= 0', devices)) == []


def test_the_devices_that_meet_everything_else_may_nearly_meet_this():
    devices = [device("d.example", {"t": "mig"}, m="19968Mi")] * 5
    devices += [device("d.example", {"t": "gpu"}, m="80Gi")]
    expression = f'{A}.t == "mig" && {M}.compareTo(quantity("20Gi")) >= 0'
    found = only(advice(expression, devices), "near-miss")
    assert found.message == (
        "Of the devices that meet everything else none has m >= 20Gi; 5 devices publish "
        "19968Mi (19.5Gi)."
    )
    assert (found.devices, found.suggestion) == (5, '"19Gi"')
    assert found.example is not None
    assert found.example.device == "0"


@pytest.mark.parametrize(
    ("comparison", "code", "said"),
    [
        ('.isGreaterThan(semver("590.0.0"))', "unknown-value", "v > 590.0.0"),
        ('.compareTo(semver("580.200.0")) >= 0', "unknown-value", "v >= 580.200.0"),
        ('.compareTo(semver("580.105.9")) >= 0', "near-miss", "publishes 580.105.8"),
        (' == semver("580.105.9")', "near-miss", "publishes 580.105.8"),
        ('.isLessThan(semver("v400", true))', "unknown-value", "v < v400"),
    ],
)
def test_versions_name_the_nearest(comparison, code, said):
    devices = [device("d.example", {"v": f"v:{v}"}) for v in ("580.105.8", "570.1.2")]
    found = only(advice(f"{A}.v{comparison}", devices), code)
    assert said in found.message


def test_numbers_name_the_nearest():
    devices = [device("d.example", {"mtu": n}) for n in (1500, 9000, 9000)]
    found = only(advice(f"{A}.mtu >= 9500", devices), "near-miss")
    assert found.message == (
        "No device has mtu >= 9500; 2 devices publish 9000, the most there is."
    )
    assert found.suggestion == "9000"


PRODUCTS = ["NVIDIA H100 80GB HBM3"] * 4 + ["NVIDIA A100-SXM4-40GB"] * 2
CARDS = [device("d.example", {"p": name}) for name in PRODUCTS]


@pytest.mark.parametrize(
    ("comparison", "said", "repair"),
    [
        ('== "nvidia h100 80gb hbm3"', "only in case", '"NVIDIA H100 80GB HBM3"'),
        ('== "NVIDIA H100 80GB HBM3 "', "only in spaces", '"NVIDIA H100 80GB HBM3"'),
        ('== "NVIDA H100 80GB HBM3"', "a letter or two", '"NVIDIA H100 80GB HBM3"'),
        ('== "H100"', "which contains it", '"NVIDIA H100 80GB HBM3"'),
        ('== "NVIDIA"', "which contain it", ""),
        (
            'in ["NVIDIA H200", "nvidia a100-sxm4-40gb"]',
            "case",
            '"NVIDIA A100-SXM4-40GB"',
        ),
        ('!= "nvidia a100-sxm4-40gb"', "case", '"NVIDIA A100-SXM4-40GB"'),
        ('.startsWith("Nvidia")', "only the case differs", '"NVIDIA"'),
        ('.endsWith("hbm3")', "only the case differs", '"HBM3"'),
        ('.contains("sxm")', "only the case differs", '"SXM"'),
        ('.matches("^nvidia.*h100")', "only the case differs", '"(?i)^nvidia.*h100"'),
        ('.lowerAscii() == "NVIDIA H100 80gb hbm3"', "case", '"nvidia h100 80gb hbm3"'),
    ],
)
def test_texts_that_nearly_exist(comparison, said, repair):
    space = "" if comparison.startswith(".") else " "
    expression = f"{A}.p{space}{comparison}"
    found = only(advice(expression, CARDS), "near-miss")
    assert said in found.message
    assert found.suggestion == repair
    if repair:
        assert "near-miss" not in codes(advice(repaired(expression, found), CARDS))


@pytest.mark.parametrize(
    ("comparison", "said"),
    [
        ('== "NVIDIA B200"', 'there are "NVIDIA H100 80GB HBM3" (4 devices) and'),
        ('in ["L4", "L40"]', "No device has p in this list"),
        ('.startsWith("AMD")', 'that starts with "AMD"'),
        ('.matches("MI300")', 'that matches "MI300"'),
    ],
)
def test_texts_that_do_not_exist(comparison, said):
    space = "" if comparison.startswith(".") else " "
    found = only(advice(f"{A}.p{space}{comparison}", CARDS), "unknown-value")
    assert said in found.message
    assert (found.devices, found.total) == (6, 6)


@pytest.mark.parametrize(
    "comparison",
    [
        '== "NVIDIA H100 80GB HBM3"',
        'in ["NVIDIA H100 80GB HBM3", "NVIDIA B200"]',
        '!= "NVIDIA H100 80GB HBM3"',
        '.contains("H100")',
        '> "NVIDIA B"',
    ],
)
def test_texts_that_exist_are_fine(comparison):
    space = "" if comparison.startswith(".") else " "
    assert codes(advice(f"{A}.p{space}{comparison}", CARDS)) == []


def test_a_model_is_no_slip_for_another_model():
    found = advice(f'{A}.p == "NVIDIA H100-SXM4-40GB"', CARDS)
    assert codes(found) == ["unknown-value"]


def test_a_value_that_is_asked_for_next_to_it_was_not_meant():
    devices = [device("d.example", {"k": k}) for k in ("i915", "xe-vfio-pci")]
    expression = f'{A}.k == "vfio-pci" || {A}.k == "xe-vfio-pci"'
    assert codes(advice(expression, devices)) == ["unknown-value"]


@pytest.mark.parametrize(
    ("written", "code", "said"),
    [
        ("nvidia.com/gpu", "near-miss", '432 devices are of "gpu.nvidia.com"'),
        ("gpu.nvidia.co", "near-miss", '432 devices are of "gpu.nvidia.com"'),
        ("habana.ai", "unknown-value", 'No device is of the driver "habana.ai"'),
    ],
)
def test_drivers_that_do_not_exist(written, code, said):
    found = only(advice(f'device.driver == "{written}"', real_drivers()), code)
    assert said in found.message


def test_values_that_differ_only_in_case_are_told_of():
    devices = [device("d.example", {"b": b}) for b in ["NVIDIA"] * 3 + ["Nvidia"] * 2]
    found = only(advice(f'{A}.b == "NVIDIA"', devices), "case-variants")
    assert (found.devices, found.total) == (2, 5)
    assert 'lowerAscii() with "nvidia"' in found.message
    assert codes(advice(f'{A}.b in ["NVIDIA", "Nvidia", "x"]', devices)) == [
        "matches-everything"
    ]
    assert "case-variants" not in codes(
        advice(f'{A}.b.lowerAscii() == "nvidia"', devices)
    )


@pytest.mark.parametrize(
    ("value", "comparison", "said", "repair"),
    [
        ("a", "== 1", "x is a string on 1 device", '"1"'),
        (9000, '== "9000"', "x is an int", "9000"),
        (True, '== "true"', "x is a bool", "true"),
        (True, "== 1", "x is a bool", "true"),
        ("a", "!= 1", "!= is always true", '"1"'),
        ("a", "in [1, 2]", "in is always false", ""),
        (1, 'in ["1"]', "in is always false", "1"),
        ("a", "!= null", "!= is always true there. A device that does not have it", ""),
    ],
)
def test_types_that_are_never_equal(value, comparison, said, repair):
    expression = f"{A}.x {comparison}"
    found = only(
        advice(expression, [device("d.example", {"x": value})]), "type-mismatch"
    )
    assert said in found.message
    assert found.suggestion == repair


def test_numbers_of_any_type_are_equal():
    devices = [device("d.example", {"x": 1}), device("d.example", {"x": 2})]
    for number in ("1", "1u", "1.0"):
        expression = (
            f"{A}.x == dyn({number})" if number == "1.0" else f"{A}.x == {number}"
        )
        assert codes(advice(expression, devices)) == []


def test_an_attribute_of_two_types_is_told_of_with_the_drivers():
    devices = [device("a.example", {"n.example/numa": 0})] * 40
    devices += [device("b.example", {"n.example/numa": "0"})] * 3
    expression = 'device.attributes["n.example"].numa.matches("0") || true'
    found = only(advice(expression, devices), "mixed-types")
    assert found.message == (
        "The attribute numa of n.example is an int on 40 devices (a.example) and a "
        "string on 3 devices (b.example): a comparison fits only some of them."
    )
    assert (found.devices, found.total) == (3, 43)
    assert found.example is not None
    assert found.example.driver == "b.example"


def test_names_of_single_devices_are_not_searched():
    devices = [device("d.example", {"uuid": f"GPU-{n}"}) for n in range(3000)]
    found = advice(f'{A}.uuid == "gpu-1"', devices)
    assert codes(found) == ["matches-nothing"]


def test_an_expression_matches_what_exists_on_real_drivers():
    expression = (
        f'{IS_NVIDIA} && {NVIDIA}.type == "gpu" && {NVIDIA}.architecture == "Hopper" && '
        f'{MEMORY}.compareTo(quantity("79Gi")) >= 0'
    )
    assert codes(advice(expression, real_drivers())) == []
