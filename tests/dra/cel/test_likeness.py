"""What counts as a slip for what."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dra.cel.likeness import closest, difference, distance, likeness

DOMAINS = ["gpu.nvidia.com", "gpu.amd.com", "dra.net", "dra.cpu", "gpu.intel.com"]
NAMES = ["type", "productName", "pcieRoot", "memory", "numaNode", "driverVersion"]


def _closest(wanted, names):
    return closest(wanted, [(name, name) for name in names])


@pytest.mark.parametrize(
    ("wanted", "meant"),
    [
        ("nvidia.com/gpu", "gpu.nvidia.com"),
        ("gpu.nvidia.co", "gpu.nvidia.com"),
        ("GPU.NVIDIA.com", "gpu.nvidia.com"),
        ("nvidia.com", "gpu.nvidia.com"),
        ("gpu.nvidia", "gpu.nvidia.com"),
    ],
)
def test_a_domain_is_recognised_in_another_shape(wanted, meant):
    assert _closest(wanted, DOMAINS)[0] == meant


@pytest.mark.parametrize("wanted", ["alibaba.dra.net", "resource.kubernetes.io", "x"])
def test_another_domain_is_not_taken_for_a_slip(wanted):
    assert _closest(wanted, DOMAINS) == []


@pytest.mark.parametrize(
    ("wanted", "meant"),
    [
        ("typ", "type"),
        ("Type", "type"),
        ("product_name", "productName"),
        ("productNmae", "productName"),
        ("pciRoot", "pcieRoot"),
        ("numa_node", "numaNode"),
        ("product", "productName"),
        ("driver_version", "driverVersion"),
    ],
)
def test_a_name_is_recognised_with_a_slip(wanted, meant):
    assert _closest(wanted, NAMES)[0] == meant


def test_the_likest_name_comes_first_and_each_once():
    names = ["productNames", "productName", "productName", "product"]
    assert _closest("productName", names) == ["productName", "productNames", "product"]


@pytest.mark.parametrize(
    ("wanted", "text", "how"),
    [
        ("hopper", "Hopper", "case"),
        (" Hopper", "Hopper", "spaces"),
        ("NVIDIA  H100", "NVIDIA H100", "spaces"),
        ("nvidia  h100", "NVIDIA H100", "case"),
        ("Hoper", "Hopper", "typo"),
        ("Ampree", "Ampere", "typo"),
        ("NVIDIA_H100", "NVIDIA H100", "typo"),
        ("NVIDA A100-SXM4-40GB", "NVIDIA A100-SXM4-40GB", "typo"),
        ("Hopper", "Hopper", None),
        ("A100", "H100", None),
        ("NVIDIA A100-SXM4-40GB", "NVIDIA H100-SXM4-40GB", None),
        ("1g.5gb", "2g.5gb", None),
        ("up", "us", None),
        ("gpu", "mig", None),
        ("", "-", None),
    ],
)
def test_a_value_differs_by_a_slip_or_is_another_value(wanted, text, how):
    assert difference(wanted, text) == how


short = st.text(st.sampled_from("abAB1. -"), max_size=6)


@given(short, short)
def test_likeness_is_between_nothing_and_the_same(a, b):
    assert 0.0 <= likeness(a, b) <= 1.0
    assert likeness(a, a) == 1.0


@given(short, short, st.integers(0, 3))
def test_the_distance_is_symmetric_and_cut_off(a, b, most):
    found = distance(a, b, most)
    assert found == distance(b, a, most)
    assert 0 <= found <= most + 1
    assert (found == 0) == (a == b)


@given(short, st.data())
def test_dropping_or_swapping_a_character_is_one_slip(text, data):
    if not text:
        return
    at = data.draw(st.integers(0, len(text) - 1))
    assert distance(text[:at] + text[at + 1 :], text, 2) == 1
    swapped = text[: at - 1] + text[at - 1 : at + 1][::-1] + text[at + 1 :]
    if at:
        assert distance(swapped, text, 2) <= 1
