"""Pools, devices and their states follow slices, rules and claims."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from claims.mirror import store_for
from cluster.store import Event, EventType
from inventory.choices import Source
from inventory.models import Cluster, Device, Pool, ResourceSlice
from tests.inventory.mirror.worlds import (
    DRIVER,
    changed,
    claim,
    pod,
    rule,
    slice_,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def cluster() -> Cluster:
    return Cluster.objects.create(name="c", source=Source.KUBECONFIG)


def replace(cluster: Cluster, kind: str, *objects: dict[str, Any]) -> None:
    store_for(kind, cluster.pk).replace(objects, "1")


def apply(cluster: Cluster, type_: EventType, *objects: dict[str, Any]) -> None:
    events = [Event(type_, o) for o in objects]
    store_for(objects[0]["kind"], cluster.pk).apply(events, "2")


def states(**where: Any) -> dict[str, str]:
    return dict(Device.objects.filter(**where).values_list("name", "state"))


def test_a_pool_says_how_many_slices_it_lacks(cluster: Cluster) -> None:
    replace(cluster, "ResourceSlice", slice_("a", count=2))
    pool = Pool.objects.get()
    assert (pool.complete, pool.slices_wanted, pool.slices_present) == (False, 2, 1)
    assert pool.problem == "1 of 2 slices of generation 1"
    assert states() == {"gpu-0": "incomplete", "gpu-1": "incomplete"}


def test_devices_of_an_older_generation_have_no_rows(cluster: Cluster) -> None:
    new = slice_("a", generation=2, count=2, devices=["gpu-0"])
    old = slice_("b", generation=1, count=2, devices=["gpu-1"])
    replace(cluster, "ResourceSlice", new, old)
    pool = Pool.objects.get()
    assert (pool.generation, pool.slices_present, pool.slices_older) == (2, 1, 1)
    assert pool.device_count == 1
    assert states() == {"gpu-0": "incomplete"}


def test_devices_appear_when_the_newer_slice_goes(cluster: Cluster) -> None:
    new, old = slice_("a", generation=2), slice_("b", devices=["gpu-9"])
    replace(cluster, "ResourceSlice", new, old)
    apply(cluster, EventType.DELETED, new)
    assert states() == {"gpu-9": "free"}
    assert Pool.objects.get().complete


def test_a_pool_goes_with_its_last_slice(cluster: Cluster) -> None:
    replace(cluster, "ResourceSlice", slice_("a"))
    replace(cluster, "ResourceSlice")
    assert (Pool.objects.count(), Device.objects.count()) == (0, 0)


def test_a_slice_that_moves_leaves_its_old_pool(cluster: Cluster) -> None:
    replace(cluster, "ResourceSlice", slice_("a", pool="node-1"))
    moved = slice_("a", pool="node-2")
    apply(cluster, EventType.MODIFIED, changed(moved, 2))
    assert [p.name for p in Pool.objects.all()] == ["node-2"]
    assert {d.pool for d in Device.objects.all()} == {"node-2"}


def test_an_empty_slice_is_a_pool_with_no_devices(cluster: Cluster) -> None:
    replace(cluster, "ResourceSlice", slice_("a", devices=[]))
    pool = Pool.objects.get()
    assert (pool.complete, pool.device_count) == (True, 0)


def test_devices_of_one_pool_may_share_a_uuid(cluster: Cluster) -> None:
    same = {"uuid": {"string": "tpu-25541d5c"}}
    devices = [{"name": "accel0", "attributes": same}] * 1
    devices.append({"name": "accel1", "attributes": same})
    replace(cluster, "ResourceSlice", slice_("a", devices=devices))
    found = Device.objects.filter(facts__contains=f"\n{DRIVER}/uuid=tpu-25541d5c\n")
    assert found.count() == 2


def test_a_duplicate_device_makes_the_pool_invalid(cluster: Cluster) -> None:
    replace(cluster, "ResourceSlice", slice_("a", devices=["gpu-0", "gpu-0"]))
    pool = Pool.objects.get()
    assert not pool.valid
    assert pool.problem == 'device "gpu-0" is published twice'
    assert list(Device.objects.values_list("state", flat=True)) == ["invalid"] * 2


def test_a_quantity_that_does_not_parse_makes_one_pool_invalid(
    cluster: Cluster,
) -> None:
    bad = {"name": "gpu-0", "capacity": {"memory": {"value": "80 Gigs"}}}
    replace(
        cluster,
        "ResourceSlice",
        slice_("bad", pool="node-1", devices=[bad]),
        slice_("good", pool="node-2"),
    )
    row = ResourceSlice.objects.get(name="bad")
    assert "spec.devices[0].capacity[memory].value" in row.problem
    assert dict(Pool.objects.values_list("name", "valid")) == {
        "node-1": False,
        "node-2": True,
    }
    assert states(pool="node-1") == {"gpu-0": "invalid"}


def test_a_slice_that_cannot_be_read_is_kept_and_takes_no_part(
    cluster: Cluster,
) -> None:
    bad = slice_("bad", count=2)
    bad["spec"]["devices"] = "none"
    replace(cluster, "ResourceSlice", bad, slice_("good", count=2))
    row = ResourceSlice.objects.get(name="bad")
    assert row.raw == bad
    assert row.problem.startswith("ResourceSlice bad: spec.devices:")
    assert (row.driver, row.pool_name) == (DRIVER, "node-1")
    assert Pool.objects.get().problem == "1 of 2 slices of generation 1"


def test_claims_and_slices_may_come_in_any_order(cluster: Cluster) -> None:
    held, free = claim("c", "gpu-0"), slice_("a")
    replace(cluster, "ResourceClaim", held)
    replace(cluster, "ResourceSlice", free)
    assert states() == {"gpu-0": "in use", "gpu-1": "free"}
    Device.objects.all().delete()
    replace(cluster, "ResourceSlice")
    replace(cluster, "ResourceClaim")
    replace(cluster, "ResourceSlice", free)
    assert states() == {"gpu-0": "free", "gpu-1": "free"}
    replace(cluster, "ResourceClaim", held)
    assert states() == {"gpu-0": "in use", "gpu-1": "free"}


def test_a_deleted_claim_frees_its_device(cluster: Cluster) -> None:
    held = claim("c", "gpu-0")
    replace(cluster, "ResourceSlice", slice_("a"))
    replace(cluster, "ResourceClaim", held)
    apply(cluster, EventType.DELETED, held)
    assert states() == {"gpu-0": "free", "gpu-1": "free"}
    assert not Device.objects.exclude(holder_count=0).exists()


def test_a_deallocated_claim_frees_its_device(cluster: Cluster) -> None:
    held = claim("c", "gpu-0")
    replace(cluster, "ResourceSlice", slice_("a"))
    replace(cluster, "ResourceClaim", held)
    apply(cluster, EventType.MODIFIED, changed(held, 2, status={}))
    assert states() == {"gpu-0": "free", "gpu-1": "free"}


def test_a_double_allocation_shows_in_the_number_of_holders(cluster: Cluster) -> None:
    replace(cluster, "ResourceSlice", slice_("a"))
    replace(cluster, "ResourceClaim", claim("c", "gpu-0"), claim("d", "gpu-0"))
    assert Device.objects.get(name="gpu-0").holder_count == 2


def test_admin_access_holds_nothing(cluster: Cluster) -> None:
    looking = claim("c", "gpu-0")
    result = looking["status"]["allocation"]["devices"]["results"][0]
    result["adminAccess"] = True
    replace(cluster, "ResourceSlice", slice_("a"))
    replace(cluster, "ResourceClaim", looking)
    device = Device.objects.get(name="gpu-0")
    assert (device.state, device.holder_count) == ("free", 0)


def test_a_rule_taints_the_devices_it_means(cluster: Cluster) -> None:
    replace(cluster, "ResourceSlice", slice_("a"), slice_("b", pool="node-2"))
    replace(cluster, "DeviceTaintRule", rule("bad", pool="node-1", device="gpu-1"))
    assert states(pool="node-1") == {"gpu-0": "free", "gpu-1": "tainted"}
    assert states(pool="node-2") == {"gpu-0": "free", "gpu-1": "free"}
    device = Device.objects.get(tainted=True)
    assert device.taints == [
        {"key": "example.com/bad", "effect": "NoSchedule", "rule": "bad"}
    ]


def test_a_rule_that_moves_on_untaints_the_devices_it_meant(cluster: Cluster) -> None:
    replace(cluster, "ResourceSlice", slice_("a"))
    replace(cluster, "DeviceTaintRule", rule("bad", device="gpu-1"))
    apply(cluster, EventType.MODIFIED, changed(rule("bad", device="gpu-0"), 2))
    assert states() == {"gpu-0": "tainted", "gpu-1": "free"}
    apply(cluster, EventType.DELETED, rule("bad", device="gpu-0"))
    assert states() == {"gpu-0": "free", "gpu-1": "free"}
    assert not Device.objects.filter(tainted=True).exists()


def test_a_rule_that_hits_many_writes_what_differs_and_ends_in_the_same_rows(
    cluster: Cluster,
) -> None:
    """As if the rule had been there first; its rows are updated, not written anew."""
    other = Cluster.objects.create(name="other", source=Source.KUBECONFIG)
    names = [f"gpu-{number}" for number in range(60)]
    slices = slice_("a", devices=names), slice_("b", pool="node-2", devices=names)
    replace(other, "DeviceTaintRule", rule("bad"))
    for where in (cluster, other):
        replace(where, "ResourceClaim", claim("holder", *names[:25]))
        replace(where, "ResourceSlice", *slices)
    untouched = rows_of(cluster)
    seq = Cluster.objects.get(pk=cluster.pk).seq
    with CaptureQueriesContext(connection) as queries:
        apply(cluster, EventType.ADDED, rule("bad"))
    written = [one["sql"] for one in queries if "INSERT" in one["sql"]]
    assert not [sql for sql in written if '"inventory_device"' in sql]
    assert rows_of(cluster) == rows_of(other) != untouched
    newest = Device.objects.filter(cluster=cluster).values_list("seq", flat=True)
    assert min(newest) > seq
    assert max(newest) <= Cluster.objects.get(pk=cluster.pk).seq
    apply(cluster, EventType.DELETED, rule("bad"))
    assert rows_of(cluster) == untouched


def rows_of(cluster: Cluster) -> list[dict[str, Any]]:
    """Everything that a device's row says, but for what no two rows share."""
    own = {"id", "cluster_id", "slice_id", "seq"}
    rows = Device.objects.filter(cluster=cluster).order_by("pool", "name").values()
    return [{k: v for k, v in row.items() if k not in own} for row in rows]


def test_a_rule_applies_to_devices_that_come_later(cluster: Cluster) -> None:
    replace(cluster, "DeviceTaintRule", rule("bad"))
    replace(cluster, "ResourceSlice", slice_("a"))
    assert states() == {"gpu-0": "tainted", "gpu-1": "tainted"}


def test_the_effect_none_is_shown_and_stops_nobody(cluster: Cluster) -> None:
    replace(cluster, "ResourceSlice", slice_("a"))
    replace(cluster, "DeviceTaintRule", rule("note", "None"))
    assert states() == {"gpu-0": "free", "gpu-1": "free"}
    assert Device.objects.exclude(taints=[]).count() == 2


def test_partitions_block_each_other_through_counters(cluster: Cluster) -> None:
    def partition(name: str, amount: str) -> dict[str, Any]:
        use = [{"counterSet": "gpu", "counters": {"memory": {"value": amount}}}]
        return {"name": name, "consumesCounters": use}

    counters = [{"name": "gpu", "counters": {"memory": {"value": "40Gi"}}}]
    parts = [
        partition("full", "40Gi"),
        partition("h0", "20Gi"),
        partition("h1", "20Gi"),
    ]
    replace(
        cluster,
        "ResourceSlice",
        slice_("counters", count=2, devices=[], sharedCounters=counters),
        slice_("devices", count=2, devices=parts),
    )
    assert Pool.objects.get().counter_set_count == 1
    assert set(states().values()) == {"free"}
    replace(cluster, "ResourceClaim", claim("c", "h0"))
    assert states() == {"full": "blocked", "h0": "in use", "h1": "free"}


def test_only_rows_that_differ_get_a_new_seq(cluster: Cluster) -> None:
    replace(cluster, "ResourceSlice", slice_("a"))
    before = dict(Device.objects.values_list("name", "seq"))
    tainted = {"name": "gpu-1", "taints": [{"key": "x", "effect": "NoExecute"}]}
    again = slice_("a", devices=["gpu-0", tainted])
    apply(cluster, EventType.MODIFIED, changed(again, 2))
    after = dict(Device.objects.values_list("name", "seq"))
    assert after["gpu-0"] == before["gpu-0"]
    assert after["gpu-1"] > before["gpu-1"]


def test_a_reservation_changes_no_device(cluster: Cluster) -> None:
    replace(cluster, "ResourceSlice", slice_("a"))
    replace(cluster, "ResourceClaim", claim("c", "gpu-0"))
    before = dict(Device.objects.values_list("name", "seq"))
    reserved = claim("c", "gpu-0", pods=[pod("p", "c")])
    apply(cluster, EventType.MODIFIED, changed(reserved, 2))
    assert dict(Device.objects.values_list("name", "seq")) == before
