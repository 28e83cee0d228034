"""Situations that people reported, as an audit finds them."""

from __future__ import annotations

from datetime import timedelta

from dra.audits import Auditor, Code, audit
from dra.snapshot import Snapshot
from tests.dra.allocation.world import device_class
from tests.dra.audits.world import (
    FINALIZER,
    GPU,
    HOURS_AGO,
    JUST_NOW,
    NOW,
    after,
    bound,
    clean,
    found_in,
    is_driver,
    one,
    pod,
    running,
    without,
)
from tests.dra.builders import claim, device, node, piece, result


def codes(found):
    return [finding.code for finding in found]


def sentences(found):
    return [finding.sentence for finding in found]


def test_zombies_and_idle_claims_are_told_apart():
    zombie = claim("zombie", result("gpu-0", pool="n1"), namespace="ml")
    zombie["metadata"] |= {"deletionTimestamp": HOURS_AGO, "finalizers": [FINALIZER]}
    zombie["status"]["reservedFor"] = [
        {"resource": "pods", "name": "gone-0", "uid": "44"}
    ]
    unreserved = claim("unreserved", result("gpu-1", pool="n1"), namespace="ml")
    orphan = {**claim("orphan", namespace="ml"), "status": {}}

    found = found_in(*clean(), zombie, unreserved, orphan)

    mine = [f for f in found if f.subject.namespace == "ml"]
    told = {(f.subject.name, f.code) for f in mine}
    assert ("zombie", Code.CLAIM_RESERVED_BY_GONE_POD) in told
    assert ("unreserved", Code.CLAIM_IDLE) in told
    assert ("orphan", Code.CLAIM_UNUSED) in told
    assert (
        "Claim ml/zombie is reserved by pod gone-0, which does not exist and is being "
        "deleted for 7 hours."
    ) in sentences(mine)


def test_pods_are_told_apart_by_uid():
    same_name = running("a2", "gpu-3", on="n1")
    same_name[0]["status"]["reservedFor"][0]["uid"] = "uid-of-an-older-pod"

    found = found_in(*clean(), *same_name)

    assert codes(found) == [Code.CLAIM_RESERVED_BY_GONE_POD]


def test_idle_is_a_matter_of_time():
    idle = bound("idle", "gpu-0", on="n3")
    idle["status"] |= {"reservedFor": None}
    idle["status"]["allocation"]["allocationTimestamp"] = JUST_NOW
    auditor = Auditor()
    snapshot = Snapshot.build([*clean(), idle])

    assert auditor.next(snapshot, now=NOW) == []
    later = auditor.next(snapshot, now=NOW + timedelta(minutes=30))

    assert sentences(later) == [
        "Claim default/idle holds gpu.example.com/n3/gpu-0 for 32 minutes and is used by "
        "nobody."
    ]


def test_a_pool_that_announces_no_slices_says_so():
    pool = piece("x", device("gpu-0"), pool="x", nodeName="n1", of=0)

    (found,) = found_in(*clean(), pool)

    assert found.sentence == (
        "Pool gpu.example.com/x: 1 slice of generation 1 present, 0 announced."
    )


def test_two_slices_that_announce_different_counts_are_one_fault():
    found = found_in(
        *clean(),
        piece("x", device("gpu-0"), pool="x", nodeName="n1", of=2),
        piece("y", device("gpu-1"), pool="x", nodeName="n1", of=3),
    )

    assert codes(found) == [Code.POOL_SLICE_COUNT]
    assert "different counts: 2 and 3" in found[0].sentence


def test_a_half_done_update_is_one_fault():
    cluster = without(clean(), "ResourceSlice", "n5-gpu")
    found = found_in(
        *cluster,
        piece("n5-a", device("gpu-0"), pool="n5", nodeName="n5", generation=2, of=2),
        piece("n5-b", device("gpu-1"), pool="n5", nodeName="n5", generation=1, of=2),
    )

    assert codes(found) == [Code.POOL_TWO_GENERATIONS]
    assert "generation 1 still has 1 slice" in found[0].sentence


def test_a_version_that_no_server_takes_leaves_a_gap_on_its_node():
    """The slice was refused, the driver's pod runs: the gap is all there is to see."""
    found = after(clean(), without(clean(), "ResourceSlice", "n3-gpu"))

    assert codes(found) == [Code.NODE_DRIVER_MISSING]
    assert found[0].sentence == (
        "Driver gpu.example.com publishes on 4 of 5 nodes of kind big, but not on n3."
    )


def test_a_node_that_is_not_ready_lacks_its_drivers_for_a_reason():
    cluster = without(clean(), "ResourceSlice", "n3-gpu")
    one(cluster, "Node", "n3")["status"] = {
        "conditions": [{"type": "Ready", "status": "Unknown"}]
    }

    assert found_in(*cluster) == []


def test_the_newer_of_two_classes_gets_the_extended_resource():
    old = device_class("a-old", is_driver(GPU), extendedResourceName="example.com/gpu")
    new = device_class("z-new", is_driver(GPU), extendedResourceName="example.com/gpu")
    old["metadata"]["creationTimestamp"] = "2026-03-01T10:00:00Z"
    new["metadata"]["creationTimestamp"] = "2026-05-01T10:00:00Z"

    (found,) = found_in(*clean(), old, new)

    assert found.code == Code.CLASS_RESOURCE_CLASH
    assert (found.subject.name, found.evidence["used"]) == ("a-old", "z-new")


def test_a_claim_that_waits_for_its_pod_is_no_error():
    """A pod of the old form does not name its claim, and the claim waits for one."""
    old = pod("pod-0", on="", source={"resourceClaimName": "single-gpu"})

    found = found_in(*clean(), old, claim("single-gpu"))

    assert codes(found) == [Code.POD_CLAIM_UNNAMED, Code.CLAIM_UNUSED]
    assert found[1].severity == "info"


def test_many_consumers_that_are_no_pods_break_nothing():
    fabric = bound("fabric", "gpu-0", on="n3")
    fabric["status"]["reservedFor"] = [
        {
            "apiGroup": "scheduling.k8s.io",
            "resource": "podgroups",
            "name": "g",
            "uid": "6",
        },
        *({"resource": "pods", "name": f"late-{n}", "uid": str(n)} for n in range(255)),
    ]
    pods = [pod(f"late-{n}", "fabric", on="n3") for n in range(255)]
    for n, made in enumerate(pods):
        made["metadata"]["uid"] = str(n)

    (found,) = found_in(*clean(), fabric, *pods)

    assert found.code == Code.CLAIM_NEARLY_FULL
    assert found.sentence == (
        "Claim default/fabric has 256 of 256 consumers; the next pod will not be scheduled."
    )


def test_an_attribute_that_a_release_dropped_is_told_until_it_is_back():
    def upgraded(*names):
        cluster = clean()
        for made in one(cluster, "ResourceSlice", "n5-gpu")["spec"]["devices"]:
            for name in names:
                del made["attributes"][name]
        return cluster

    gone = after(clean(), upgraded("index"), upgraded("index", "uuid"))
    back = after(clean(), upgraded("index"), clean())

    assert sentences(gone) == [
        "Driver gpu.example.com no longer publishes gpu.example.com/index on 4 devices in 1 "
        "pool.",
        "Driver gpu.example.com no longer publishes gpu.example.com/uuid on 4 devices in 1 "
        "pool.",
    ]
    assert gone[0].evidence["was"] == "int"
    assert back == []


def test_a_dropped_attribute_is_not_confused_with_a_removed_device():
    cluster = clean()
    one(cluster, "ResourceSlice", "n5-gpu")["spec"]["devices"].pop()

    assert after(clean(), cluster) == []


def test_odd_claims_make_no_trouble():
    empty = claim("empty-allocation", namespace="ml")
    empty["status"] = {
        "allocation": {},
        "reservedFor": [{"resource": "pods", "name": "cpu-only-0", "uid": "8"}],
    }
    nulls = claim("null-lists", namespace="ml")
    nulls["spec"] = {"devices": {}}
    nulls["status"] = {
        "allocation": {"devices": {"results": None, "config": None}},
        "reservedFor": None,
    }

    found = found_in(*clean(), empty, nulls)

    assert {f.code for f in found} == {
        Code.CLAIM_WITHOUT_FINALIZER,
        Code.CLAIM_WITHOUT_TIMESTAMP,
        Code.CLAIM_RESERVED_BY_GONE_POD,
        Code.CLAIM_IDLE,
    }


def test_a_dump_without_pods_or_nodes_says_nothing_about_them():
    some = [o for o in clean() if o["kind"] not in ("Pod", "Node")]

    assert found_in(*some, claim("waits")) == []


def test_equal_uuids_and_numa_nodes_below_zero_are_no_slips():
    tpus = [
        device(
            f"accel{n}",
            attributes={"uuid": {"string": "tpu-25541d5c"}, "numa_node": {"int": -1}},
        )
        for n in range(2)
    ]

    found = found_in(*clean(), piece("tpu", *tpus, pool="tpu", nodeName="n1"))

    assert found == []


def test_models_that_differ_by_a_digit_are_no_slips():
    cluster = clean()
    devices = one(cluster, "ResourceSlice", "n5-gpu")["spec"]["devices"]
    devices[3]["attributes"]["model"]["string"] = "H200"

    assert found_in(*cluster) == []


def test_an_unreadable_claim_tells_what_it_may_hold():
    odd = claim("odd", result("gpu-0", pool="n3"))
    odd["status"]["allocation"]["devices"]["results"] = "all of them"

    found = found_in(*clean(), odd)

    (mine,) = [f for f in found if f.code == Code.CLAIM_UNREADABLE]
    assert "nobody knows which devices are free" in mine.sentence


def test_a_node_alone_is_no_kind():
    nodes = [node(f"m{n}") for n in range(9)]

    assert found_in(*clean(), *nodes) == []


def test_the_worst_comes_first():
    found = found_in(*clean(), claim("waits"), *running("again", "gpu-0", on="n1"))

    assert [f.severity for f in found] == ["error", "info"]


def test_time_zones_are_read():
    snapshot = Snapshot.build(clean())

    assert audit(snapshot, now=NOW) == audit(snapshot, now=NOW.astimezone())
