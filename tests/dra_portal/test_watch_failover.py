"""A database that fails over and has lost what was committed last."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.db import connection

from allocator import snapshots
from claims.models import ResourceClaim
from cluster.standin.server import StandinServer
from dra_portal.watching.clusters import renumber
from inventory.models import Cluster
from tests.allocator import builders as build
from tests.dra_portal.watched import ALL, clusters_of, equal, eventually, watch

pytestmark = pytest.mark.django_db(transaction=True)


def names(cluster: Cluster) -> set[str]:
    return {name for _, name in snapshots.current(cluster).claims}


def test_a_snapshot_with_changes_that_the_database_lost_is_made_anew() -> None:
    mirror = build.Mirror()
    cluster = mirror.cluster
    old = [*build.lab(), build.claim("one")]
    mirror.replace(old)
    before = Cluster.objects.get()
    mirror.put(build.claim("two"))
    assert names(cluster) == {"one", "two"}

    # The standby had not heard of the last change; meanwhile the cluster goes on.
    ResourceClaim.objects.filter(name="two").delete()
    Cluster.objects.update(seq=before.seq)
    renumber(cluster.pk)
    mirror.replace([*old, build.claim("three")])
    assert names(cluster) == {"one", "three"}


@pytest.mark.skipif(
    "connection.vendor != 'postgresql'", reason="SQLite has no session to lose"
)
def test_a_watch_that_lost_its_session_has_every_process_look_anew(
    tmp_path: Path,
) -> None:
    with (
        StandinServer(build.lab(), served=ALL) as server,
        watch(clusters_of(server, tmp_path)),
    ):
        eventually(equal(server))
        cluster = Cluster.objects.get()
        assert cluster.pruned_seq == 0
        seen = snapshots.current(cluster).seq
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
        eventually(lambda: Cluster.objects.get().pruned_seq > seen)
        eventually(equal(server))
        assert snapshots.current(cluster).seq > seen


def test_a_watch_that_begins_in_peace_makes_nobody_look_anew(tmp_path: Path) -> None:
    with StandinServer(build.lab(), served=ALL) as server:
        for _ in range(2):
            with watch(clusters_of(server, tmp_path)):
                eventually(equal(server))
        assert Cluster.objects.get().pruned_seq == 0
