"""The watch against a server over HTTP, with everything that goes wrong there."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from django.db import connection, transaction

from claims.models import ResourceClaim
from cluster.standin.generator import generate
from cluster.standin.server import StandinServer
from inventory.mirror import store
from inventory.models import Cluster, Device, Node, ResourceSlice, WatchState
from tests.dra_portal.watched import (
    ALL,
    Running,
    clusters_of,
    equal,
    eventually,
    states,
    watch,
    write_clusters,
)
from tests.inventory.mirror.equality import Follower
from tests.inventory.mirror.worlds import ChangingWorld, claim, make, pod, rule, slice_

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def server() -> Iterator[StandinServer]:
    with StandinServer(served=ALL) as standin:
        yield standin


def alive(kind: str = "ResourceSlice") -> bool:
    return states().get(kind) == "live"


def all_alive() -> bool:
    return set(states().values()) == {"live"}


def test_it_mirrors_a_whole_cluster(server: StandinServer, tmp_path: Path) -> None:
    server.store.load(generate(nodes=4))
    with watch(clusters_of(server, tmp_path)):
        eventually(equal(server))
        eventually(alive)
    cluster = Cluster.objects.get()
    assert cluster.version.startswith("v1.")
    assert cluster.error == ""
    assert Device.objects.filter(state="in use").exists()
    assert ResourceClaim.objects.filter(state="pending").exists()


def test_every_kind_has_a_state_from_the_beginning(
    server: StandinServer, tmp_path: Path
) -> None:
    server.faults.latency = 0.2
    with watch(clusters_of(server, tmp_path)):
        eventually(lambda: len(states()) == 9)
        server.faults.latency = 0
        eventually(all_alive)
    assert set(states().values()) == {"stopped"}


def test_a_change_is_in_the_tables_a_moment_later(
    server: StandinServer, tmp_path: Path
) -> None:
    with watch(clusters_of(server, tmp_path)):
        eventually(alive)
        server.store.put(slice_("a"))
        eventually(equal(server))
        server.store.put(claim("c", "gpu-0"))
        eventually(equal(server))
        assert Device.objects.get(name="gpu-0").state == "in use"
        server.store.delete("ResourceClaim", "c", "default")
        eventually(equal(server))


@pytest.mark.parametrize("seed", range(3))
def test_the_tables_equal_the_server_after_faults_and_restarts_of_either_side(
    server: StandinServer, tmp_path: Path, seed: int
) -> None:
    pick = random.Random(seed)

    def delete(kind: str, name: str, namespace: str) -> None:
        server.store.delete(kind, name, namespace)

    world = ChangingWorld(seed, server.store.put, delete)
    path = clusters_of(server, tmp_path)
    running = Running(path)
    follower: Follower | None = None
    try:
        for turn in range(12):
            for _ in range(pick.randrange(1, 25)):
                world.step()
            fault = pick.randrange(7)
            if fault == 0:
                server.faults.cut_streams(clean=pick.random() < 0.5)
            elif fault == 1:
                server.faults.expire_history()
                server.faults.cut_streams()
            elif fault == 2:
                server.faults.answer(pick.choice([500, 503]), times=2)
                server.faults.cut_streams()
            elif fault == 3:
                server.faults.drop_connections()
            elif fault == 4:
                server.restart()
            elif fault == 5:
                running.end()
                running = Running(path)
            time.sleep(pick.random() * 0.2)
            if turn % 4 == 3:
                eventually(equal(server))
                if follower is None:
                    follower = Follower(Cluster.objects.get())
                follower.assert_saw(server.store.objects)
    finally:
        running.end()
    # Stopped at any moment: what is there is a moment of the server, and it goes on.
    with watch(path):
        eventually(equal(server))


def test_a_store_that_fails_loses_no_event(
    server: StandinServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from django.db import OperationalError

    failing = {"left": 3}
    original = store.MirrorStore._save_state

    def save(self: Any, **values: Any) -> None:
        original(self, **values)
        if "event_at" in values and self.kind == "Node" and failing["left"]:
            failing["left"] -= 1
            raise OperationalError("the database restarts")

    monkeypatch.setattr(store.MirrorStore, "_save_state", save)
    with watch(clusters_of(server, tmp_path)):
        # What came before would be in its first list.
        eventually(lambda: alive("Node"))
        for i in range(5):
            server.store.put(make("Node", f"n{i}"))
            time.sleep(0.1)
        eventually(lambda: Node.objects.count() == 5)
        eventually(equal(server))
    assert failing["left"] < 3
    assert WatchState.objects.get(kind="Node").relists > 0


def test_a_second_run_resumes_without_a_list(
    server: StandinServer, tmp_path: Path
) -> None:
    server.store.put(slice_("a"))
    path = clusters_of(server, tmp_path)
    with watch(path):
        eventually(alive)
        eventually(equal(server))
    seq = Cluster.objects.get().seq
    server.store.put(slice_("b", pool="node-2"))
    server.store.delete("ResourceSlice", "a")
    with watch(path):
        eventually(equal(server))
    state = WatchState.objects.get(kind="ResourceSlice")
    assert state.relists == 0
    assert Cluster.objects.get().seq > seq


def test_an_old_server_is_read_in_its_own_version(tmp_path: Path) -> None:
    served = {"resource.k8s.io": ("v1beta1",)}
    objects = [o for o in generate(nodes=2) if o["kind"] != "DeviceTaintRule"]
    with (
        StandinServer(objects, served=served) as old,
        watch(clusters_of(old, tmp_path)),
    ):
        eventually(equal(old))
    state = WatchState.objects.get(kind="ResourceSlice")
    assert state.api_version == "resource.k8s.io/v1beta1"
    assert set(states().values()) == {"stopped", "not served"}


def test_an_unreachable_server_is_one_sentence_and_the_others_go_on(
    server: StandinServer, tmp_path: Path
) -> None:
    server.write_kubeconfig(tmp_path / "good")
    path = write_clusters(
        tmp_path,
        "- {name: good, kubeconfig: good}\n"
        "- {name: away, kubeconfig: away}\n"
        "- {name: wrong, kubeconfig: not-there}\n",
    )
    server.store.put(slice_("a"))
    with StandinServer() as other:
        # Its port stays its own, so nobody else answers there.
        other.faults.refuse_connections()
        other.write_kubeconfig(tmp_path / "away")
        with watch(path):
            eventually(equal(server, "good"))
            eventually(lambda: Cluster.objects.exclude(error="").count() == 2)
    errors = dict(Cluster.objects.values_list("name", "error"))
    assert errors["good"] == ""
    assert "not-there" in errors["wrong"]
    assert "127.0.0.1" in errors["away"]
    for error in errors.values():
        assert "\n" not in error
        assert "Traceback" not in error


def test_a_server_that_comes_back_is_read(
    server: StandinServer, tmp_path: Path
) -> None:
    server.store.put(slice_("a"))
    server.faults.refuse_connections()
    with watch(clusters_of(server, tmp_path)):
        eventually(lambda: Cluster.objects.get().error != "")
        server.faults.accept_connections()
        eventually(equal(server))
        eventually(lambda: Cluster.objects.get().error == "")


def test_a_cluster_that_left_the_file_is_kept_and_followed_when_it_comes_back(
    server: StandinServer, tmp_path: Path
) -> None:
    server.store.load(generate(nodes=2))
    path = clusters_of(server, tmp_path)
    with watch(path):
        eventually(equal(server))
        key, devices = Cluster.objects.get().pk, Device.objects.count()
        path.write_text("clusters: []\n", encoding="utf-8")
        eventually(lambda: Cluster.objects.get().left_at is not None)
        assert set(states().values()) == {"stopped"}
        assert Device.objects.count() == devices > 0
        server.store.put(slice_("meanwhile"))
        clusters_of(server, tmp_path)
        eventually(equal(server))
        eventually(alive)
    back = Cluster.objects.get()
    assert (back.pk, back.left_at, back.read_only) == (key, None, False)


def test_a_cluster_that_left_the_file_is_removed_with_its_mirror_where_none_is_kept(
    server: StandinServer, tmp_path: Path, settings: Any
) -> None:
    settings.LEFT_CLUSTER_DAYS = 0
    server.store.load(generate(nodes=2))
    path = clusters_of(server, tmp_path)
    with watch(path):
        eventually(equal(server))
        path.write_text("clusters: []\n", encoding="utf-8")
        eventually(lambda: not Cluster.objects.exists())
        assert not Device.objects.exists()
        clusters_of(server, tmp_path)
        eventually(equal(server))


def test_a_mistake_in_a_changed_file_keeps_what_is_watched(
    server: StandinServer, tmp_path: Path
) -> None:
    path = clusters_of(server, tmp_path)
    with watch(path):
        eventually(alive)
        path.write_text("clusters: 7\n", encoding="utf-8")
        time.sleep(0.3)
        server.store.put(slice_("a"))
        eventually(equal(server))


def was_told(caplog: pytest.LogCaptureFixture, event: str) -> bool:
    """Whether any thread has logged ``event``. ``capture_logs`` would take the processors
    away from a thread that is just using them."""
    told = [record.msg for record in caplog.records]
    return any(isinstance(one, dict) and one.get("event") == event for one in told)


@contextmanager
def no_new_cluster() -> Iterator[None]:
    """The database refuses a new row of clusters."""
    with connection.cursor() as cursor:
        cursor.execute(
            "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS "
            "$$ BEGIN RAISE EXCEPTION 'disk full'; END $$"
        )
        cursor.execute(
            "CREATE TRIGGER refuse BEFORE INSERT ON inventory_cluster "
            "FOR EACH ROW EXECUTE FUNCTION refuse()"
        )
    try:
        yield
    finally:
        with connection.cursor() as cursor:
            cursor.execute("DROP FUNCTION refuse CASCADE")


@pytest.mark.skipif(connection.vendor != "postgresql", reason="a trigger in plpgsql")
def test_a_changed_file_is_followed_although_the_database_failed_meanwhile(
    server: StandinServer, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    server.store.put(make("Node", "n1"))
    with watch(clusters_of(server, tmp_path)):
        eventually(alive)
        with no_new_cluster():
            server.write_kubeconfig(tmp_path / "other.kubeconfig")
            clusters_of(server, tmp_path, name="other")
            eventually(lambda: was_told(caplog, "watch.database_failed"))
        eventually(equal(server, "other"))


def test_a_cluster_that_moved_is_listed_anew(
    server: StandinServer, tmp_path: Path
) -> None:
    server.store.put(slice_("a"))
    with watch(clusters_of(server, tmp_path)):
        eventually(equal(server))
    with StandinServer([slice_("b")]) as other:
        other.write_kubeconfig(tmp_path / "elsewhere")
        text = "- {name: demo, kubeconfig: elsewhere}\n"
        with watch(write_clusters(tmp_path, text)):
            eventually(equal(other))


def test_pods_without_claims_are_left_out(
    server: StandinServer, tmp_path: Path
) -> None:
    server.store.put(pod("plain"))
    server.store.put(pod("uses", "c"))
    with watch(clusters_of(server, tmp_path)):
        eventually(equal(server))
        eventually(lambda: WatchState.objects.get(kind="Pod").object_count == 1)
        server.store.put(pod("another"))
        server.store.put(claim("c"))
        eventually(equal(server))


def held_up(table: str) -> bool:
    """Whether somebody waits for a lock on ``table``."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT 1 FROM pg_locks WHERE relation = %s::regclass AND NOT granted",
            [table],
        )
        return cursor.fetchone() is not None


@pytest.mark.skipif(connection.vendor != "postgresql", reason="locks of tables")
def test_what_is_being_written_when_it_stops_is_rolled_back(
    server: StandinServer, tmp_path: Path
) -> None:
    server.store.load(generate(nodes=4))
    path = clusters_of(server, tmp_path)
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("LOCK TABLE inventory_resourceslice IN SHARE MODE")
        running = Running(path)
        try:
            eventually(lambda: held_up("inventory_resourceslice"))
        finally:
            running.tell_to_stop()
    running.end()
    assert running.error is None
    # They were in the middle of it: their pools had not been written.
    assert not ResourceSlice.objects.exists()


def test_a_kind_that_vanishes_from_discovery_leaves_nothing(
    server: StandinServer, tmp_path: Path
) -> None:
    server.store.put(slice_("a"))
    server.store.put(rule("bad"))
    path = clusters_of(server, tmp_path)
    with watch(path):
        eventually(equal(server))
        assert Device.objects.filter(tainted=True).count() == 2
        port = server.port
        server.stop()
        without = {"resource.k8s.io": ("v1",)}
        objects = server.store.objects("ResourceSlice")
        with StandinServer(objects, served=without, port=port) as other:
            eventually(equal(other))
            eventually(lambda: states()["DeviceTaintRule"] == "not served")
    assert not Device.objects.filter(tainted=True).exists()
