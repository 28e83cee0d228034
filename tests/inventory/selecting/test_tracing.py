"""One expression on one device."""

from __future__ import annotations

import pytest

from dra.names import DeviceID
from inventory.selecting import NoSuchDevice, device_trace
from tests.inventory.selecting.clusters import FEATURES, snapshot

GPU = DeviceID("gpu.example", "a", "gpu-0")


def test_every_part_has_its_value() -> None:
    expression = 'device.attributes["gpu.example"].model == "big"'
    said = device_trace(snapshot(), expression, GPU, features=FEATURES)
    assert said.valid
    assert said.seq == 7
    assert said.cost is not None
    assert said.trace is not None
    assert said.trace.result is True
    assert [step.value for step in said.trace.root.steps] == ['"big"', '"big"']


def test_a_refused_text_has_no_trace() -> None:
    said = device_trace(snapshot(), "device.", GPU, features=FEATURES)
    assert not said.valid
    assert said.issues
    assert said.trace is None
    assert said.cost is None


def test_a_device_that_is_not_there_is_named() -> None:
    gone = GPU._replace(device="gpu-9")
    with pytest.raises(NoSuchDevice, match="“gpu-9” in pool “a”"):
        device_trace(snapshot(), "true", gone, features=FEATURES)
