"""The line in the top bar: how far the mirror can be trusted."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from inventory.models import Cluster, WatchLock, WatchState
from inventory.queries.freshness import HEARTBEAT_WITHIN, freshness, plural


@pytest.fixture(autouse=True)
def _time_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    """The lines say seconds, which may go by while rows are written."""
    now = timezone.now()
    monkeypatch.setattr(timezone, "now", lambda: now)


@pytest.fixture
def cluster(db: None) -> Cluster:
    """One whose watch process has just shown that it lives."""
    beat(0)
    return Cluster.objects.create(name="lab", source="kubeconfig")


def beat(ago: float) -> None:
    at = timezone.now() - timedelta(seconds=ago)
    WatchLock.objects.update_or_create(
        name="watch", defaults={"owner": "here:1", "heartbeat": at}
    )


def watch(cluster: Cluster, kind: str, state: str, ago: float = 0, **more: Any) -> None:
    alive = timezone.now() - timedelta(seconds=ago)
    WatchState.objects.create(
        cluster=cluster, kind=kind, state=state, alive_at=alive, **more
    )


def test_a_cluster_without_a_watch_says_what_to_start(cluster: Cluster) -> None:
    found = freshness(cluster)
    assert found.words == "nothing mirrored yet"
    assert "manage.py watch" in found.title


def test_live_says_when_something_was_heard(cluster: Cluster) -> None:
    watch(cluster, "Node", "live", ago=2)
    watch(cluster, "Pod", "live", ago=300)
    watch(cluster, "PodGroup", "not served", ago=99999)
    found = freshness(cluster)
    assert found.tone == "ok"
    assert found.words.startswith("live, heard 2.")


def test_one_lost_watch_makes_it_stale_and_is_named(cluster: Cluster) -> None:
    watch(cluster, "Node", "live")
    watch(cluster, "ResourceSlice", "retrying", ago=200, error="connection refused")
    found = freshness(cluster)
    assert found.words == "stale 3 min: watch of resourceslices lost"
    assert "connection refused" in found.title


def test_a_quiet_cluster_whose_watch_lives_is_not_old(cluster: Cluster) -> None:
    watch(cluster, "Node", "live", ago=3 * 3600)
    watch(cluster, "Pod", "live", ago=40 * 60)
    found = freshness(cluster)
    assert (found.tone, found.words) == ("ok", "live, heard 40 min ago")


def test_a_watch_that_has_died_is_said_so_at_once(cluster: Cluster) -> None:
    """Its kinds still say "live": nobody was left to say otherwise."""
    watch(cluster, "Node", "live", ago=50)
    watch(cluster, "Pod", "live", ago=40)
    beat(HEARTBEAT_WITHIN.total_seconds() - 2)
    assert freshness(cluster).tone == "ok"
    beat(HEARTBEAT_WITHIN.total_seconds() + 2)
    found = freshness(cluster)
    assert (found.tone, found.words) == ("warn", "stale 32 s: the watch does not run")
    assert "manage.py watch" in found.title


def test_a_watch_that_was_stopped_is_said_so_too(cluster: Cluster) -> None:
    watch(cluster, "Node", "live", ago=120)
    watch(cluster, "Pod", "starting", ago=120)
    WatchLock.objects.all().delete()
    assert freshness(cluster).words == "stale 2 min: the watch does not run"


def test_the_line_costs_one_query(
    cluster: Cluster, django_assert_num_queries: Any
) -> None:
    watch(cluster, "Node", "live")
    with django_assert_num_queries(1):
        freshness(cluster)


def test_starting_is_not_stale(cluster: Cluster) -> None:
    watch(cluster, "Node", "live")
    watch(cluster, "DeviceClass", "listing")
    found = freshness(cluster)
    assert found.words == "reading the cluster"
    assert "deviceclasses" in found.title


def test_a_dump_is_as_old_as_it_is(cluster: Cluster) -> None:
    read = timezone.now() - timedelta(hours=2)
    watch(cluster, "Node", "static", listed_at=read)
    WatchLock.objects.all().delete()
    assert freshness(cluster).words == "dump, read 2 h ago"


def test_a_cluster_that_cannot_be_reached_says_why(cluster: Cluster) -> None:
    cluster.error = "The kubeconfig has no context “x”."
    found = freshness(cluster)
    assert (found.tone, found.title) == ("bad", cluster.error)


def test_kinds_are_named_as_kubectl_does() -> None:
    assert plural("DeviceClass") == "deviceclasses"
    assert plural("ResourceSlice") == "resourceslices"
