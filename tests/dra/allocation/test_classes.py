"""What classes select, and how much of it can be had."""

from __future__ import annotations

from dra.allocation.classes import ClassUsage, class_usage, matching_classes
from dra.names import DeviceID
from tests.dra.allocation.world import attribute, cluster, device_class, devices, string
from tests.dra.builders import DRIVER, claim, device, piece, result


def kinds(*named):
    return [device(n, attributes={"kind": string(n[0])}) for n in named]


CLASSES = (
    device_class("a", f"{attribute('kind')} == 'a'"),
    device_class("all"),
    device_class("none", "false"),
    device_class("broken", "nope"),
)


def test_devices_are_counted_by_what_can_be_done_with_them():
    share = result("a2", shareID="00000000-0000-4000-8000-000000000001")
    a = kinds("a0", "a1", "a2", "a3", "b0")
    a[3]["taints"] = [{"key": "k", "effect": "NoSchedule"}]
    world = cluster(
        devices(*a),
        *CLASSES,
        claim("one", result("a1")),
        claim("two", share),
        piece("s", *kinds("a9"), pool="half", of=2),
    )

    usage = class_usage(world)

    assert usage["a"] == ClassUsage(
        matched=5, free=1, in_use=1, shared=1, tainted=1, incomplete=1
    )
    assert usage["all"].matched == 6
    assert usage["none"] == ClassUsage()


def test_errors_are_counted_apart():
    usage = class_usage(cluster(devices(*kinds("a0"), device("x")), *CLASSES))

    assert (usage["a"].matched, usage["a"].errors) == (1, 1)
    assert usage["a"].error == (
        f"{DRIVER}/pool/x: CEL runtime error: no such key: kind"
    )
    assert usage["broken"].errors == 2
    assert "undeclared reference" in usage["broken"].error


def test_a_device_knows_its_classes():
    world = cluster(devices(*kinds("a0", "b0")), *CLASSES)

    said = matching_classes(world, DeviceID(DRIVER, "pool", "b0"))

    assert {name: s for name, s in said.items() if isinstance(s, bool)} == {
        "a": False,
        "all": True,
        "none": False,
    }
    assert "CEL compile error" in str(said["broken"])
    assert matching_classes(world, DeviceID(DRIVER, "pool", "c0")) == {}
    assert matching_classes(world, DeviceID(DRIVER, "nope", "b0")) == {}
