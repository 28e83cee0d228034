"""What can be done with every device, once per state of the cluster."""

from __future__ import annotations

from typing import Any

from dra.device_states import STATES, table_states
from dra.names import ObjectKey
from dra.snapshot import Snapshot


def slice_(name: str, *devices: str) -> dict[str, Any]:
    return {
        "kind": "ResourceSlice",
        "metadata": {"name": name},
        "spec": {
            "driver": "d.example",
            "pool": {"name": name, "generation": 1, "resourceSliceCount": 1},
            "nodeName": name,
            "devices": [{"name": device} for device in devices],
        },
    }


def claim(name: str, pool: str, device: str) -> dict[str, Any]:
    result = {"request": "r", "driver": "d.example", "pool": pool, "device": device}
    return {
        "kind": "ResourceClaim",
        "metadata": {"name": name, "namespace": "team"},
        "spec": {"devices": {"requests": []}},
        "status": {"allocation": {"devices": {"results": [result]}}},
    }


def rule(name: str, device: str) -> dict[str, Any]:
    return {
        "kind": "DeviceTaintRule",
        "metadata": {"name": name},
        "spec": {
            "deviceSelector": {"device": device},
            "taint": {"key": "ill", "effect": "NoSchedule"},
        },
    }


def states(snapshot: Snapshot) -> list[str]:
    return [STATES[code].value for code in table_states(snapshot).tolist()]


def test_states_stand_in_the_order_of_the_table() -> None:
    world = Snapshot.build(
        [slice_("b", "x"), slice_("a", "x", "y"), claim("c", "a", "y")]
    )
    assert [str(name) for name in world.devices().ids] == [
        "d.example/a/x",
        "d.example/a/y",
        "d.example/b/x",
    ]
    assert states(world) == ["free", "in use", "free"]


def test_they_are_worked_out_once_and_cannot_be_written_to() -> None:
    world = Snapshot.build([slice_("a", "x")])
    codes = table_states(world)
    assert table_states(world) is codes
    assert not codes.flags.writeable
    other = world.edit(add=[{"kind": "Namespace", "metadata": {"name": "team"}}])
    assert table_states(other) is codes


def test_they_follow_claims_slices_and_rules_each_way() -> None:
    world = Snapshot.build([slice_("a", "x", "y")])
    assert states(world) == ["free", "free"]
    held = world.edit(add=[claim("c", "a", "x")])
    assert states(held) == ["in use", "free"]
    assert states(world) == ["free", "free"]
    ill = held.edit(add=[rule("r", "y")])
    assert states(ill) == ["in use", "tainted"]
    well = ill.edit(remove=[ObjectKey("DeviceTaintRule", "", "r")])
    assert states(well) == ["in use", "free"]
    more = well.edit(add=[slice_("b", "z")])
    assert states(more) == ["in use", "free", "free"]
    assert states(held) == ["in use", "free"]
