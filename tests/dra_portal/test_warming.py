"""Snapshots and device tables are there before somebody asks."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import pytest

from allocator import snapshots
from claims.mirror import store_for
from dra_portal import warming
from tests.dra_portal.watched import eventually
from tests.mirrored import mirror_demo

Queries = Callable[[int], AbstractContextManager[object]]


def test_every_cluster_is_made_once(
    db: None, django_assert_num_queries: Queries
) -> None:
    clusters = [mirror_demo(nodes=2, name=name) for name in ("one", "two")]
    warmer = warming.Warmer(1)
    assert sorted(warmer.step()) == ["one", "two"]
    for cluster in clusters:
        with django_assert_num_queries(1):
            snapshots.current(cluster).devices()
    with django_assert_num_queries(1):
        assert warmer.step() == []


def test_changed_slices_are_read_and_changed_claims_are_not(db: None) -> None:
    cluster = mirror_demo(nodes=2)
    warmer = warming.Warmer(1)
    warmer.step()
    store_for("ResourceClaim", cluster.pk).replace([], "2000")
    # What claims hold shows in devices, and so counts as a change of slices.
    assert warmer.step() == ["demo"]
    store_for("Pod", cluster.pk).replace([], "2001")
    assert warmer.step() == []
    store_for("ResourceSlice", cluster.pk).replace([], "2002")
    assert warmer.step() == ["demo"]
    assert len(snapshots.current(cluster).devices()) == 0


def test_a_cluster_that_goes_is_no_harm(db: None) -> None:
    cluster = mirror_demo(nodes=2)
    warmer = warming.Warmer(1)
    warmer.step()
    cluster.delete()
    assert warmer.step() == []


def test_it_can_be_switched_off(settings: Any) -> None:
    settings.WARM_SECONDS = 0
    assert warming.start() is None


@pytest.mark.django_db(transaction=True)
def test_the_thread_works_until_it_is_stopped(settings: Any) -> None:
    cluster = mirror_demo(nodes=2)
    settings.WARM_SECONDS = 1
    warmer = warming.start()
    assert warmer is not None
    try:
        eventually(lambda: cluster.pk in warmer.warmed)
    finally:
        warmer.stop()
    assert "warming" not in [thread.name for thread in threading.enumerate()]
