"""Asking every device, as the list of devices does."""

from __future__ import annotations

import pytest

from dra.cel import CelFeatures
from inventory.models import Cluster
from inventory.selecting import Deadline, features_of, matches, node_names
from tests.inventory.selecting.clusters import FEATURES, Json, gpu, slice_, snapshot

BIG = 'device.attributes["gpu.example"].model == "big"'


def test_matches_say_which_devices_and_on_how_many_there_is_no_answer() -> None:
    found = matches(snapshot(), BIG, features=FEATURES)
    assert found.matched == 2
    assert found.failed == 2
    assert found.error == "no such key: model"
    assert found.mask.tolist() == [False, True, False, True, False]
    assert found.compiled.valid


@pytest.mark.parametrize("expression", ["device.", "device.driver", "1 +"])
def test_a_refused_text_matches_nothing(expression: str) -> None:
    found = matches(snapshot(), expression, features=FEATURES)
    assert found.selection is None
    assert found.matched == 0
    assert found.compiled.issues


def test_matches_say_when_the_time_was_over() -> None:
    found = matches(snapshot(), BIG, features=FEATURES, deadline=Deadline(0))
    assert found.selection is None
    assert found.matched == 0
    assert found.incomplete.startswith("It took longer than 0 seconds: 0 of 3")


class AfterLooks(Deadline):
    """Over when it was looked at so many times."""

    def __init__(self, looks: int) -> None:
        super().__init__()
        self.left = looks

    def __call__(self) -> bool:
        self.left -= 1
        return self.left < 0


def test_the_time_is_looked_at_before_each_evaluation() -> None:
    devices = [gpu(f"g{n}", f"m{n}", "1Gi") for n in range(100)]
    world = snapshot(slice_("many", "gpu.example", devices))
    found = matches(world, BIG, features=FEATURES, deadline=AfterLooks(40))
    assert "40 of 103 different combinations" in found.incomplete


@pytest.mark.parametrize(
    ("version", "features"),
    [
        ("v1.36.2", CelFeatures(consumable_capacity=True)),
        ("v1.34.0", CelFeatures(consumable_capacity=False)),
        ("", CelFeatures(consumable_capacity=True)),
    ],
)
def test_gates_follow_the_version_of_the_cluster(
    version: str, features: CelFeatures
) -> None:
    assert features_of(Cluster(version=version)) == features


def test_each_device_has_the_node_that_owns_it() -> None:
    own: list[Json] = [{"name": "x", "nodeName": "n9"}, {"name": "y", "allNodes": True}]
    world = snapshot(
        slice_("per-device", "z.example", own, perDeviceNodeSelection=True)
    )
    assert node_names(world.devices(), range(7)) == dict(
        enumerate(["", "n1", "n1", "n2", "n2", "n9", ""])
    )
