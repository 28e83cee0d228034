"""Feature gates: presets, overrides, names."""

from __future__ import annotations

import dataclasses

import pytest

from dra.allocation import DEFAULT, SENTENCES, Features, Quirk
from dra.allocation.quirks import of_mode


def on(features):
    return {name for name, value in dataclasses.asdict(features).items() if value}


@pytest.mark.parametrize(
    ("version", "gates"),
    [
        ("1.32", set()),
        ("v1.34.1", {"admin_access", "prioritized_list"}),
        (
            "1.36+",
            {
                "admin_access",
                "prioritized_list",
                "partitionable_devices",
                "device_taints",
                "device_binding_and_status",
                "consumable_capacity",
            },
        ),
    ],
)
def test_a_version_has_the_gates_that_are_on_by_default(version, gates):
    assert on(Features.preset(version)) == gates


def test_the_default_is_1_36():
    assert Features.preset("v1.36.2") == DEFAULT
    assert Features.preset("1.40") == Features.preset("1.37")


def test_gates_can_be_named_in_short_and_as_kubernetes_does():
    short = Features.from_gates({"deviceTaints": True, "adminAccess": False})
    long = Features.from_gates({"DRADeviceTaints": True})

    assert short == long
    assert on(short) == {"device_taints"}


def test_an_override_changes_only_what_it_names():
    changed = DEFAULT.override({"DRADeviceTaints": False, "listTypeAttributes": True})

    assert on(DEFAULT) - on(changed) == {"device_taints"}
    assert on(changed) - on(DEFAULT) == {"list_type_attributes"}


def test_unknown_gates_and_versions_are_errors():
    with pytest.raises(ValueError, match=r"features\.nope"):
        Features.from_gates({"nope": True})
    with pytest.raises(ValueError, match="is no Kubernetes version"):
        Features.preset("latest")


def test_every_quirk_has_a_sentence():
    assert set(SENTENCES) == set(Quirk)
    assert all(s.endswith(".") and len(s) > 40 for s in SENTENCES.values())
    assert of_mode("1.36") == set(Quirk)
    assert of_mode("none") == set()
    with pytest.raises(ValueError, match="neither"):
        of_mode("1.35")  # type: ignore[arg-type]  # what a bad setting would pass


def test_a_server_that_tells_no_version_counts_as_the_default():
    assert Features.of_server("v1.34.1") == Features.preset("1.34")
    assert Features.of_server("") == Features.preset("1.36")
