"""More situations that people reported, where an audit has to stay quiet or say which."""

from __future__ import annotations

from dra.audits import Code
from dra.device_states import STATES, table_states
from dra.snapshot import Snapshot
from dra.usage import State
from tests.dra.allocation.world import device_class
from tests.dra.audits.world import (
    FINALIZER,
    GPU,
    HOURS_AGO,
    NIC,
    after,
    bound,
    clean,
    found_in,
    gpu,
    is_driver,
    pod,
    running,
    without,
)
from tests.dra.builders import Json, consumes, counter_set, device, piece


def test_a_generation_that_goes_down_with_all_its_slices_is_no_fault() -> None:
    """A driver that was reset begins anew; no higher generation is left."""

    def of(generation: int) -> list[Json]:
        pool: Json = {"pool": "x", "nodeName": "n1", "generation": generation, "of": 2}
        return [piece("x-a", gpu(0), **pool), piece("x-b", gpu(1), **pool)]

    assert after([*clean(), *of(9)], [*clean(), *of(1)]) == []


def test_of_two_classes_of_the_same_age_the_lower_name_gets_the_resource() -> None:
    classes = [
        device_class(name, is_driver(GPU), extendedResourceName="nvidia.com/gpu")
        for name in ("b.example.com", "a.example.com")
    ]
    for made in classes:
        made["metadata"]["creationTimestamp"] = HOURS_AGO

    (found,) = found_in(*clean(), *classes)

    assert found.code == Code.CLASS_RESOURCE_CLASH
    assert (found.subject.name, found.evidence["used"]) == (
        "b.example.com",
        "a.example.com",
    )


def test_what_zombies_and_idle_claims_hold_stays_in_use() -> None:
    zombie = bound("zombie", "gpu-0", on="n3")
    zombie["metadata"] |= {"deletionTimestamp": HOURS_AGO, "finalizers": [FINALIZER]}
    idle = bound("idle", "gpu-1", on="n3")
    idle["status"]["reservedFor"] = None

    def free(*more: Json) -> int:
        return int(
            (
                table_states(Snapshot.build([*clean(), *more]))
                == STATES.index(State.FREE)
            ).sum()
        )

    assert free() - free(zombie, idle) == 2


def test_a_slice_that_was_away_for_a_moment_leaves_nothing() -> None:
    assert after(clean(), without(clean(), "ResourceSlice", "n3-gpu"), clean()) == []


def test_a_pool_of_several_slices_is_one_pool() -> None:
    spec: Json = {"pool": "cpu", "nodeName": "n1", "driver": "cpu.example.com", "of": 3}
    slices = [
        piece(f"cpu-{n}", *(device(f"cpu{n}-{place}") for place in range(64)), **spec)
        for n in range(3)
    ]

    found = found_in(*clean(), *slices)

    assert [one.code for one in found if one.subject.kind == "ResourcePool"] == []
    assert {one.code for one in found} <= {Code.NODE_DRIVER_MISSING}


def test_shares_of_one_device_draw_on_its_counters_once() -> None:
    half = device(
        "half",
        allowMultipleAllocations=True,
        capacity={"memory": {"value": "40Gi"}},
        consumesCounters=[consumes("set", memory="40Gi")],
    )
    spec: Json = {"pool": "n1-cut", "nodeName": "n1", "driver": "cut.example.com"}
    pieces = [
        piece(
            "cut-sets", sharedCounters=[counter_set("set", memory="40Gi")], of=2, **spec
        ),
        piece("cut", half, of=2, **spec),
    ]
    shares: list[Json] = []
    for name in ("one", "two"):
        made = running(
            name,
            "half",
            on="n1",
            driver="cut.example.com",
            shareID=name,
            consumedCapacity={"memory": "20Gi"},
        )
        made[0]["status"]["allocation"]["devices"]["results"][0]["pool"] = "n1-cut"
        shares += made

    found = found_in(*clean(), *pieces, *shares)

    assert {one.code for one in found} <= {Code.NODE_DRIVER_MISSING}


def test_capacity_that_is_used_up_to_the_last_is_not_too_much() -> None:
    """``10G`` is handed out as 4G and as 6000000000: compared by value."""
    exact = {"shareID": "z", "consumedCapacity": {"speed": "10000000000"}}
    assert (
        found_in(*clean(), *running("all", "nic-0", on="n4", driver=NIC, **exact)) == []
    )
    more = {"shareID": "y", "consumedCapacity": {"speed": "1"}}
    (found,) = found_in(
        *clean(),
        *running("all", "nic-0", on="n4", driver=NIC, **exact),
        *running("bit", "nic-0", on="n4", driver=NIC, **more),
    )
    assert found.code == Code.CAPACITY_OVERCOMMITTED


def test_admin_access_books_nothing_twice() -> None:
    watch = bound("watch", "gpu-0", "gpu-1", on="n1", adminAccess=True)

    found = found_in(*clean(), watch, pod("p-watch", "watch"))

    assert [one.code for one in found] == [Code.CLAIM_ADMIN_ACCESS]
