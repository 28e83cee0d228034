"""Clusters that clusters.yaml names no more: kept, deleted in the end, in small steps."""

from __future__ import annotations

from datetime import timedelta
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from structlog.testing import capture_logs

from allocator.models import AllocationRule, AllocationRun, RunTransition
from cluster.config import ClusterConfig
from dra_portal.watching.clusters import sync_clusters
from inventory.models import Cluster, Device, Node, WatchState
from inventory.queries.leaving import followed, kept_until, why_left
from inventory.services import leaving
from tests.mirrored import mirror_demo

pytestmark = pytest.mark.django_db


@pytest.fixture
def demo() -> Cluster:
    """A cluster with some history, as a clusters file of its own names it."""
    cluster = mirror_demo(nodes=2)
    Cluster.objects.update(origin="kubeconfig")
    run = AllocationRun.objects.create(
        cluster=cluster, namespace="a", claim_name="c", state="done"
    )
    RunTransition.objects.create(run=run, to_state="done", actor="w")
    AllocationRule.objects.create(cluster=cluster, namespace="a", enabled=True)
    return cluster


def sync(*names: str, kubeconfig: str = "kubeconfig") -> None:
    """As the watch does when it has read the file."""
    sync_clusters([ClusterConfig(name, kubeconfig=Path(kubeconfig)) for name in names])


def left(cluster: Cluster, *, days: float = 0.0) -> Cluster:
    sync()
    at = timezone.now() - timedelta(days=days)
    Cluster.objects.filter(pk=cluster.pk).update(left_at=at)
    cluster.refresh_from_db()
    return cluster


def each_step_takes_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = SimpleNamespace(monotonic=count().__next__)
    monkeypatch.setattr(leaving, "time", clock)


def test_a_cluster_that_is_missing_in_the_file_keeps_everything(demo: Cluster) -> None:
    devices = Device.objects.count()
    with capture_logs() as logs:
        sync("other")
    demo.refresh_from_db()
    assert demo.left_at is not None
    assert demo.read_only
    assert Device.objects.count() == devices
    assert AllocationRun.objects.filter(cluster=demo).count() == 1
    states = WatchState.objects.filter(cluster=demo).values_list("state", flat=True)
    assert set(states) == {"stopped"}
    assert [one.name for one in followed()] == ["other"]
    told = [log for log in logs if log["event"] == "watch.cluster_left"]
    assert [log["cluster"] for log in told] == ["demo"]


def test_it_is_marked_and_told_once(demo: Cluster) -> None:
    sync()
    since = Cluster.objects.get().left_at
    with capture_logs() as logs:
        sync()
    assert Cluster.objects.get().left_at == since
    assert logs == []


def test_one_that_comes_back_goes_on_as_before(demo: Cluster) -> None:
    versions = dict(
        WatchState.objects.filter(cluster=demo).values_list("kind", "resource_version")
    )
    left(demo, days=3)
    with capture_logs() as logs:
        sync("demo")
    demo.refresh_from_db()
    assert demo.left_at is None
    assert not demo.read_only
    assert why_left(demo) == ""
    watches = WatchState.objects.filter(cluster=demo)
    assert dict(watches.values_list("kind", "resource_version")) == versions
    assert any(versions.values())
    assert AllocationRun.objects.get().cluster == demo
    assert [log["event"] for log in logs] == ["watch.cluster_came_back"]


def test_one_that_comes_back_from_elsewhere_is_listed_anew(demo: Cluster) -> None:
    left(demo)
    sync("demo", kubeconfig="another")
    versions = WatchState.objects.values_list("resource_version", flat=True)
    assert set(versions) == {""}
    assert AllocationRun.objects.get().cluster == demo


def test_with_no_days_to_keep_it_is_deleted_at_once(
    demo: Cluster, settings: Any
) -> None:
    settings.LEFT_CLUSTER_DAYS = 0
    sync("other")
    assert [one.name for one in Cluster.objects.all()] == ["other"]
    assert not Device.objects.exists()
    assert not AllocationRun.objects.exists()


def test_the_sentence_says_since_when_until_when_and_what_to_do(
    demo: Cluster, settings: Any
) -> None:
    assert why_left(demo) == ""
    assert kept_until(demo) is None
    settings.LEFT_CLUSTER_DAYS = 30
    left(demo, days=1)
    assert demo.left_at is not None
    since, until = demo.left_at, demo.left_at + timedelta(days=30)
    assert why_left(demo) == (
        f"The cluster demo has not been in clusters.yaml since {since:%d %b %Y %H:%M} "
        "UTC: nothing of it is watched or written, and it will be deleted on "
        f"{until:%d %b %Y %H:%M} UTC with its runs and history, unless you put it back "
        "into the file; an administrator can delete it now."
    )
    settings.LEFT_CLUSTER_DAYS = 1
    assert "deleted within minutes" in why_left(demo)
    leaving.ask_deletion(demo, "alice")
    demo.refresh_from_db()
    assert "is being deleted with all that is kept of it (by alice)" in why_left(demo)


def test_after_its_days_it_is_deleted_with_everything(demo: Cluster) -> None:
    other = mirror_demo(nodes=2, name="other")
    nodes = Node.objects.filter(cluster=other).count()
    left(demo, days=29.9)
    sync("other")
    assert leaving.delete_left() == 0
    assert Node.objects.filter(cluster=demo).exists()
    left_at = timezone.now() - timedelta(days=30, seconds=1)
    Cluster.objects.filter(pk=demo.pk).update(left_at=left_at)
    assert leaving.delete_left() == 1
    assert [one.name for one in Cluster.objects.all()] == ["other"]
    assert not AllocationRun.objects.exists()
    assert Node.objects.count() == nodes > 0


def test_a_cluster_that_is_in_the_file_cannot_be_deleted(demo: Cluster) -> None:
    with pytest.raises(leaving.StillNamedError, match="take it out of the file first"):
        leaving.ask_deletion(demo, "alice")
    assert leaving.delete_left() == 0
    assert Cluster.objects.get().deleted_by == ""


def test_deleting_goes_in_bounded_steps_and_on_after_an_end(
    demo: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leaving, "_BATCH", 7)
    leaving.ask_deletion(left(demo), "alice")
    devices = Device.objects.count()
    each_step_takes_a_second(monkeypatch)
    with CaptureQueriesContext(connection) as queries:
        assert leaving.delete_left(seconds=12.0) == 0
    deleted = [q["sql"] for q in queries if q["sql"].startswith("DELETE")]
    assert deleted
    assert all(sql.count(",") < 7 for sql in deleted)
    assert Cluster.objects.filter(pk=demo.pk).exists()
    assert devices > 7
    for _ in range(100):
        if leaving.delete_left(seconds=60.0):
            break
    assert not Device.objects.exists()
    assert not Cluster.objects.exists()


def test_before_the_row_of_the_cluster_goes_nothing_hangs_on_it(
    demo: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else one last statement would be as long as there are rows."""
    leaving.ask_deletion(left(demo), "alice")
    kept: list[str] = []

    def note(self: Cluster, *_: Any, **__: Any) -> None:
        for model, way in leaving.tables():
            if model._base_manager.filter(**{way: self.pk}).exists():
                kept.append(model.__name__)

    monkeypatch.setattr(Cluster, "delete", note)
    assert leaving.delete_left() == 1
    assert kept == []


def test_one_that_comes_back_while_it_is_deleted_begins_anew(
    demo: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    leaving.ask_deletion(left(demo), "alice")
    each_step_takes_a_second(monkeypatch)
    assert leaving.delete_left(seconds=5.0) == 0  # some of it is gone by now
    sync("demo")
    new = Cluster.objects.get()
    assert (new.name, new.left_at, new.deleted_by) == ("demo", None, "")
    assert new.pk != demo.pk
    assert not AllocationRun.objects.exists()
    assert leaving.delete_left() == 0
    assert Cluster.objects.get() == new


def test_one_that_comes_back_between_two_steps_of_a_deletion_is_left_alone(
    demo: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The watch has taken the old one away and made a new one in one transaction."""
    leaving.ask_deletion(left(demo), "alice")
    really = leaving._delete_some
    back: list[int] = []

    def some(table: leaving.Table, cluster_id: int) -> int:
        found = really(table, cluster_id)
        if cluster_id == demo.pk and not back:
            back.append(cluster_id)
            sync("demo")
        return found

    monkeypatch.setattr(leaving, "_delete_some", some)
    assert leaving.delete_left() == 0
    assert Cluster.objects.get().pk != demo.pk
