"""The store of one kind: difference, batches, versions, tombstones, problems."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from structlog.testing import capture_logs

from claims.mirror import store_for
from cluster.store import Event, EventType, State
from inventory.choices import Source
from inventory.mirror import ClusterGoneError, Guard, MirrorStore, prune_tombstones
from inventory.models import Cluster, Node, ResourceSlice, Tombstone, WatchState
from tests.inventory.mirror.worlds import changed, claim, make, pod, slice_

pytestmark = pytest.mark.django_db

Json = dict[str, Any]


@pytest.fixture
def cluster() -> Cluster:
    return Cluster.objects.create(name="c", source=Source.KUBECONFIG)


@pytest.fixture
def nodes(cluster: Cluster) -> MirrorStore:
    return store_for("Node", cluster.pk)


def node(name: str, **body: Any) -> Json:
    return make("Node", name, **body)


def added(*objects: Json) -> list[Event]:
    return [Event(EventType.ADDED, o) for o in objects]


def deleted(*objects: Json) -> list[Event]:
    return [Event(EventType.DELETED, o) for o in objects]


def names() -> set[str]:
    return set(Node.objects.values_list("name", flat=True))


def seq_of(name: str) -> int:
    return Node.objects.get(name=name).seq


def test_a_store_without_history_lists_first(nodes: MirrorStore) -> None:
    assert nodes.resume_from() is None


def test_it_resumes_from_the_version_saved_last(nodes: MirrorStore) -> None:
    nodes.replace([node("a")], "7")
    assert nodes.resume_from() == "7"
    nodes.apply(added(node("b")), "8")
    assert nodes.resume_from() == "8"
    nodes.bookmark("9")
    assert nodes.resume_from() == "9"


def test_replace_writes_changed_gone_and_new_and_leaves_the_rest(
    nodes: MirrorStore,
) -> None:
    nodes.replace([node("same"), node("changed"), node("gone")], "1")
    before = seq_of("same")
    nodes.replace([node("same"), changed(node("changed"), 2), node("new")], "2")
    assert names() == {"same", "changed", "new"}
    assert seq_of("same") == before
    assert seq_of("changed") > before
    assert Tombstone.objects.get().name == "gone"


def test_every_change_takes_the_next_seq(cluster: Cluster, nodes: MirrorStore) -> None:
    nodes.replace([node("a"), node("b")], "1")
    nodes.apply([*deleted(node("a")), *added(node("c"))], "2")
    cluster.refresh_from_db()
    assert (seq_of("b"), Tombstone.objects.get().seq, seq_of("c")) == (2, 3, 4)
    assert cluster.seq == 4
    assert WatchState.objects.get(kind="Node").seq == 4


def test_events_take_seqs_in_their_order(nodes: MirrorStore) -> None:
    nodes.apply(added(node("b"), node("a"), changed(node("b"), 3)), "3")
    assert seq_of("a") < seq_of("b")


def test_the_last_of_several_events_on_one_object_counts(nodes: MirrorStore) -> None:
    nodes.replace([node("a")], "1")
    again = changed(node("a"), 3)
    again["metadata"]["uid"] = "another"
    nodes.apply([*deleted(node("a")), *added(again)], "3")
    assert Node.objects.get().uid == "another"
    assert not Tombstone.objects.exists()


def test_what_came_and_went_within_a_batch_was_never_there(
    cluster: Cluster, nodes: MirrorStore
) -> None:
    nodes.apply([*added(node("a")), *deleted(node("a"))], "2")
    cluster.refresh_from_db()
    assert (names(), Tombstone.objects.count(), cluster.seq) == (set(), 0, 0)


def test_the_same_name_with_a_new_uid_is_an_update(nodes: MirrorStore) -> None:
    nodes.replace([node("a")], "1")
    pk = Node.objects.get().pk
    other = node("a")
    other["metadata"]["uid"] = "another"
    nodes.replace([other], "2")
    row = Node.objects.get()
    assert (row.pk, row.uid) == (pk, "another")
    assert not Tombstone.objects.exists()


def test_a_tombstone_goes_when_its_object_returns(nodes: MirrorStore) -> None:
    nodes.replace([node("a")], "1")
    nodes.apply(deleted(node("a")), "2")
    assert Tombstone.objects.get().uid == "Node--a"
    nodes.apply(added(changed(node("a"), 3)), "3")
    assert not Tombstone.objects.exists()


def test_an_event_told_twice_changes_nothing(
    cluster: Cluster, nodes: MirrorStore
) -> None:
    nodes.apply(added(node("a")), "1")
    nodes.apply(added(node("a")), "1")
    nodes.apply(deleted(node("unknown")), "2")
    cluster.refresh_from_db()
    assert cluster.seq == 1
    assert WatchState.objects.get().object_count == 1


def test_unknown_fields_stay_in_the_raw_object(nodes: MirrorStore) -> None:
    odd = node("a", spec={"futureField": {"deep": [1, None, 1.5, True]}}, extra="x")
    nodes.replace([odd], "1")
    assert Node.objects.get().raw == odd


def test_counts_follow_every_change(nodes: MirrorStore) -> None:
    broken = node("b", spec="not a mapping")
    nodes.replace([node("a"), broken], "1")
    state = WatchState.objects.get()
    assert (state.object_count, state.problem_count) == (2, 1)
    nodes.apply([*added(changed(node("b"), 2), node("c")), *deleted(node("a"))], "2")
    state.refresh_from_db()
    assert (state.object_count, state.problem_count) == (2, 0)


def test_a_problem_is_kept_in_words_and_logged_once(nodes: MirrorStore) -> None:
    broken = node("b", spec={"unschedulable": "maybe"})
    with capture_logs() as logs:
        nodes.replace([broken, node("a")], "1")
        nodes.apply(added(changed(broken, 2)), "2")
    row = Node.objects.get(name="b")
    assert row.problem == "Node b: spec.unschedulable: Expected `bool`, got `str`"
    assert row.raw == changed(broken, 2)
    assert [log["event"] for log in logs] == ["mirror.object_problem"]
    assert logs[0]["problem"] == row.problem


@pytest.mark.parametrize(
    "meta", [{}, {"name": ""}, {"name": 7}, {"name": "x" * 254}, None, {"name": "a\0b"}]
)
def test_an_object_without_a_usable_name_is_counted_and_left_out(
    nodes: MirrorStore, meta: Any
) -> None:
    nodes.replace([{"kind": "Node", "metadata": meta}, node("a")], "1")
    assert names() == {"a"}
    assert WatchState.objects.get().problem_count == 1
    nodes.apply([Event(EventType.ADDED, {"kind": "Node", "metadata": meta})], "2")
    assert names() == {"a"}


def test_text_that_no_database_takes_becomes_a_replacement_character(
    nodes: MirrorStore,
) -> None:
    odd = node("a")
    odd["metadata"]["labels"] = {"topology.kubernetes.io/zone": "a\x00b\ud800c😀"}
    nodes.replace([odd], "1")
    row = Node.objects.get()
    assert row.zone == "a\ufffdb\ufffdc😀"
    assert row.raw["metadata"]["labels"] == {"topology.kubernetes.io/zone": row.zone}


def test_text_longer_than_its_column_is_whole_in_the_raw_object(
    nodes: MirrorStore,
) -> None:
    zone = "z" * 100
    odd = node("a")
    odd["metadata"]["labels"] = {"topology.kubernetes.io/zone": zone}
    nodes.replace([odd], "1")
    row = Node.objects.get()
    assert row.zone == "z" * 63
    assert row.raw == odd


def test_a_number_beyond_64_bits_does_not_stop_the_mirror(cluster: Cluster) -> None:
    odd = slice_("a", generation=2**70)
    store_for("ResourceSlice", cluster.pk).replace([odd], "1")
    row = ResourceSlice.objects.get()
    assert row.generation == 2**63 - 1
    assert row.raw["spec"]["pool"]["generation"] == 2**70


def test_without_resource_versions_the_whole_object_is_compared(
    cluster: Cluster,
) -> None:
    store = store_for("Node", cluster.pk, compare_raw=True)
    store.replace([node("a"), node("b")], "1")
    before = seq_of("a")
    store.replace([node("a"), node("b", spec={"unschedulable": True})], "2")
    assert seq_of("a") == before
    assert Node.objects.get(name="b").unschedulable


class Raises(Guard):
    def __init__(self, *, after: int) -> None:
        self.left = after

    def fence(self) -> None:
        self.check()

    def check(self) -> None:
        if self.left == 0:
            raise RuntimeError("stopped here")
        self.left -= 1


@pytest.mark.parametrize("after", range(4))
def test_a_transaction_that_dies_leaves_everything_as_it_was(
    cluster: Cluster, after: int
) -> None:
    store_for("Node", cluster.pk).replace([node("a"), node("b")], "1")
    dying = store_for("Node", cluster.pk, guard=Raises(after=after))
    with pytest.raises(RuntimeError):
        dying.replace([changed(node("a"), 2), node("c")], "2")
    cluster.refresh_from_db()
    assert names() == {"a", "b"}
    assert cluster.seq == 2
    assert not Tombstone.objects.exists()
    assert dying.resume_from() == "1"


def test_a_cluster_that_was_removed_is_not_written(cluster: Cluster) -> None:
    store = store_for("Node", cluster.pk)
    cluster.delete()
    with pytest.raises(ClusterGoneError):
        store.replace([node("a")], "1")


def test_it_reports_what_the_watch_does(nodes: MirrorStore) -> None:
    nodes.report(State.RETRYING, api_version="v1", error="the server is busy")
    state = WatchState.objects.get()
    assert (state.state, state.api_version) == ("retrying", "v1")
    assert state.error == "the server is busy"
    assert state.alive_at is None
    nodes.report(State.LIVE)
    state.refresh_from_db()
    assert (state.state, state.api_version, state.error) == ("live", "v1", "")
    assert state.alive_at is not None


def test_the_first_list_is_no_relist(nodes: MirrorStore) -> None:
    nodes.replace([], "1")
    assert WatchState.objects.get().relists == 0
    nodes.replace([], "2")
    assert WatchState.objects.get().relists == 1


def test_pruned_tombstones_leave_the_seq_up_to_which_they_are_missing(
    cluster: Cluster, nodes: MirrorStore
) -> None:
    some = [node(f"n{i}") for i in range(5)]
    nodes.replace(some, "1")
    nodes.replace([], "2")
    assert prune_tombstones(cluster.pk) == 0
    assert prune_tombstones(cluster.pk, keep_count=2) == 3
    cluster.refresh_from_db()
    left = sorted(Tombstone.objects.values_list("seq", flat=True))
    assert left == [9, 10]
    assert cluster.pruned_seq == 8


def test_clusters_do_not_touch_each_other(cluster: Cluster, nodes: MirrorStore) -> None:
    other = Cluster.objects.create(name="other", source=Source.KUBECONFIG)
    nodes.replace([node("a")], "1")
    store_for("Node", other.pk).replace([node("a"), node("b")], "1")
    store_for("Node", other.pk).replace([], "2")
    assert set(Node.objects.values_list("cluster__name", "name")) == {("c", "a")}


def test_500_events_at_once_need_few_statements(cluster: Cluster) -> None:
    pools = [f"node-{i}" for i in range(100)]
    devices = [f"gpu-{i}" for i in range(5)]
    slices = [slice_(p, pool=p, devices=devices) for p in pools]
    store_for("ResourceSlice", cluster.pk).replace(slices, "1")
    made = [claim(f"{p}-{d}", d, pool=p) for p in pools for d in devices]
    events = added(*made)
    with CaptureQueriesContext(
        connection,
    ) as queries:
        store_for("ResourceClaim", cluster.pk).apply(events, "2")
    assert len(queries) < 45, [q["sql"][:100] for q in queries]
    again = added(*[changed(e.object, 3, status={}) for e in events])
    with CaptureQueriesContext(connection) as queries:
        store_for("ResourceClaim", cluster.pk).apply(again, "3")
    assert len(queries) < 45, [q["sql"][:100] for q in queries]
    pods = added(*[pod(o["metadata"]["name"], o["metadata"]["name"]) for o in made])
    with CaptureQueriesContext(connection) as queries:
        store_for("Pod", cluster.pk).apply(pods, "4")
    assert len(queries) < 30, [q["sql"][:100] for q in queries]
