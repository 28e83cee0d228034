"""Law: JSON → rows → Snapshot equals JSON → Snapshot, also after any changes."""

from __future__ import annotations

import random
import threading
from typing import Any

import pytest
from django.db import connection
from django.db.models import F
from django.test.utils import CaptureQueriesContext

from allocator import snapshots
from claims.models import ResourceClaim
from dra.snapshot import Snapshot
from inventory.models import Cluster, Namespace, Tombstone
from tests.allocator import builders as build
from tests.allocator.builders import Json, Mirror

pytestmark = pytest.mark.django_db


def everything() -> list[Json]:
    """One of everything that a snapshot holds, oddities included."""
    broken = build.slice_("n7")
    broken["spec"]["devices"] = "none"
    unknown = build.slice_("n8")
    unknown["spec"]["futureField"] = {"x": [1, None, "é\u2028"]}
    unknown["spec"]["devices"][0]["capacity"]["odd"] = {"value": "12 parsecs"}
    old, new = build.slice_("n9"), build.slice_("n9", 3, generation=2)
    new["metadata"]["name"] = "n9-newer"
    new["spec"]["pool"]["resourceSliceCount"] = 2
    group = build.claim("group")
    group |= {"kind": "PodGroup", "apiVersion": "scheduling.k8s.io/v1"}
    return [
        *build.lab(),
        broken,
        unknown,
        old,
        new,
        build.device_class("other", "true"),
        build.claim("waits"),
        build.claim("two", build.request("a"), build.request("b", 2)),
        build.allocated("held", build.result("n0", "gpu-1")),
        build.allocated("admin", build.result("n0", "gpu-0", adminAccess=True)),
        build.allocated(
            "share",
            build.result(
                "n1", "gpu-0", shareID="s-1", consumedCapacity={"memory": "1Gi"}
            ),
        ),
        build.claim("same-name", namespace="other"),
        build.claim("same-name"),
        build.template("t"),
        build.pod("p", "held"),
        build.taint_rule("rule", "gpu-0"),
        group,
    ]


def built(objects: list[Json]) -> Snapshot:
    return Snapshot.build(objects)


def test_rows_give_the_snapshot_that_the_objects_give():
    mirror = Mirror()
    objects = everything()
    mirror.replace(objects)

    found = snapshots.current(mirror.cluster)

    assert found == built(objects)
    assert len(found.problems) == 1
    assert found.seq == Cluster.objects.get().seq


@pytest.mark.parametrize("seed", range(8))
def test_refreshing_gives_the_same_as_building_anew(seed: int):
    chance = random.Random(seed)
    mirror = Mirror()
    objects = {id_of(o): o for o in everything()}
    mirror.replace(objects.values())
    snapshots.current(mirror.cluster)

    for _ in range(6):
        for _ in range(chance.randint(1, 6)):
            change(mirror, objects, chance)
        found = snapshots.current(mirror.cluster)
        assert found == built(list(objects.values()))
        assert found.seq == Cluster.objects.get().seq


def id_of(obj: Json) -> tuple[str, str, str]:
    meta = obj["metadata"]
    return obj["kind"], meta.get("namespace", ""), meta["name"]


def change(mirror: Mirror, objects: dict[Any, Json], chance: random.Random) -> None:
    """One event, or a new list of everything, as a watch would bring it."""
    what = chance.choice(["delete", "touch", "return", "new", "allocate", "relist"])
    key = chance.choice(sorted(objects))
    if what == "delete":
        mirror.delete(build.touched(objects.pop(key)))
    elif what == "return":
        mirror.delete(build.touched(objects[key]))
        objects[key] = build.touched(objects[key])
        objects[key]["metadata"]["uid"] += "-again"
        mirror.put(objects[key])
    elif what == "allocate":
        device = f"gpu-{chance.randint(0, 1)}"
        new = build.allocated(
            f"made-{chance.randint(0, 3)}", build.result("n1", device)
        )
        objects[id_of(new)] = new
        mirror.put(new)
    elif what == "new":
        new = build.slice_(
            f"n{chance.randint(0, 5)}",
            chance.randint(0, 4),
            generation=chance.randint(1, 3),
        )
        objects[id_of(new)] = new
        mirror.put(new)
    elif what == "relist":
        for gone in chance.sample(sorted(objects), 2):
            del objects[gone]
        mirror.replace(objects.values())
    else:
        objects[key] = build.touched(objects[key])
        objects[key]["metadata"]["labels"] = {"n": str(chance.random())}
        mirror.put(objects[key])


def test_without_a_change_it_is_the_same_snapshot_and_one_query():
    mirror = Mirror()
    mirror.replace(build.lab())
    first = snapshots.current(mirror.cluster)
    with CaptureQueriesContext(
        connection,
    ) as queries:
        assert snapshots.current(mirror.cluster) is first
    assert len(queries) == 1


def test_a_refresh_shares_what_did_not_change():
    mirror = Mirror()
    mirror.replace([*build.lab(), build.claim("one")])
    first = snapshots.current(mirror.cluster)
    mirror.put(build.allocated("one", build.result("n0", "gpu-0")))

    second = snapshots.current(mirror.cluster)

    assert second != first
    assert second.slices is first.slices
    assert second.pools is first.pools


def test_a_refresh_reads_only_what_changed():
    mirror = Mirror()
    mirror.replace([*build.lab(40), build.claim("one")])
    snapshots.current(mirror.cluster)
    mirror.put(build.claim("two"))
    # A row behind the mirror's back, with an old number: a refresh must not see it.
    hidden = build.touched(Namespace.objects.get().raw)
    hidden["metadata"]["name"] = "elsewhere"
    Namespace.objects.update(raw=hidden)

    found = snapshots.current(mirror.cluster)

    assert set(found.claims) == {("lab", "one"), ("lab", "two")}
    assert set(found.namespaces) == {"lab"}


def test_when_tombstones_were_pruned_it_is_built_anew():
    mirror = Mirror()
    gone = build.claim("gone")
    mirror.replace([*build.lab(), gone])
    snapshots.current(mirror.cluster)
    mirror.delete(build.touched(gone))
    Tombstone.objects.all().delete()
    Cluster.objects.update(pruned_seq=F("seq"))
    mirror.put(build.claim("new"))

    assert set(snapshots.current(mirror.cluster).claims) == {("lab", "new")}


def test_tombstones_that_are_pruned_just_before_they_are_read_are_no_loss():
    mirror = Mirror()
    gone = build.claim("gone")
    mirror.replace([*build.lab(), gone])
    snapshots.current(mirror.cluster)
    mirror.delete(build.touched(gone))

    def prune_first(execute: Any, sql: str, *rest: Any) -> Any:
        if sql.startswith("SELECT") and "inventory_tombstone" in sql:
            with connection.cursor() as cursor:
                cursor.execute("DELETE FROM inventory_tombstone")
                cursor.execute("UPDATE inventory_cluster SET pruned_seq = seq")
        return execute(sql, *rest)

    with connection.execute_wrapper(prune_first):
        assert not snapshots.current(mirror.cluster).claims


def test_a_database_that_went_back_in_time_is_read_anew():
    mirror = Mirror()
    mirror.replace([*build.lab(), build.claim("one")])
    snapshots.current(mirror.cluster)
    ResourceClaim.objects.all().delete()
    Cluster.objects.update(seq=3)

    found = snapshots.current(mirror.cluster)

    assert found.seq == 3
    assert not found.claims


def test_clusters_do_not_see_each_other():
    one, two = Mirror("one"), Mirror("two")
    one.replace([*build.lab(), build.claim("here")])
    two.replace([*build.lab(3), build.claim("there")])

    assert set(snapshots.current(one.cluster).claims) == {("lab", "here")}
    assert set(snapshots.current(two.cluster).nodes) == {"n0", "n1", "n2"}


def test_a_cluster_that_is_gone_is_forgotten():
    mirror = Mirror()
    mirror.replace(build.lab())
    snapshots.current(mirror.cluster)
    cluster = Cluster.objects.get()
    Cluster.objects.filter(pk=cluster.pk).delete()
    with pytest.raises(Cluster.DoesNotExist):
        snapshots.current(cluster)
    assert not snapshots._slots


@pytest.mark.django_db(transaction=True)
def test_readers_beside_a_writer_end_with_all_that_was_written():
    mirror = Mirror()
    mirror.replace(build.lab())
    stop = threading.Event()
    looked = threading.Barrier(3, timeout=120)
    seen: list[int] = []
    problems: list[str] = []

    def read() -> None:
        """Before the first change, beside the others and after the last one."""
        try:
            last = look(0)
            looked.wait()
            while not stop.is_set():
                last = look(last)
            look(last)
        finally:
            connection.close()

    def look(last: int) -> int:
        found = snapshots.current(mirror.cluster)
        if found.seq < last:
            problems.append(f"{found.seq} after {last}")
        seen.append(found.seq)
        return found.seq

    readers = [threading.Thread(target=read) for _ in range(2)]
    for reader in readers:
        reader.start()
    looked.wait()
    kept = build.lab()[:0]
    for i in range(30):
        new = build.claim(f"c{i}")
        mirror.put(new)
        if i % 3 == 0:
            mirror.delete(build.touched(new))
        else:
            kept.append(new)
    stop.set()
    for reader in readers:
        reader.join()

    found = snapshots.current(mirror.cluster)
    assert not problems
    assert len(set(seen)) > 1
    assert set(found.claims) == {("lab", c["metadata"]["name"]) for c in kept}
