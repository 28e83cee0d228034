"""Rows that were picked out of a device table are those of the same devices."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from allocator import snapshots
from inventory.models import Cluster, Device, ResourceSlice
from inventory.queries.picked import picked
from tests.mirrored import mirror_demo

Queries = Callable[[int], AbstractContextManager[object]]


@pytest.fixture
def demo(db: None) -> Cluster:
    mirror_demo(nodes=2, name="other")
    return mirror_demo(nodes=3)


def keys(cluster: Cluster, mask: Any) -> set[tuple[str, str, str]]:
    table = snapshots.current(cluster).devices()
    rows = Device.objects.filter(cluster=cluster)
    found = rows.filter(picked(cluster, table, mask))
    return set(found.values_list("driver", "pool", "name"))


@given(data=st.data())
@settings(
    max_examples=30,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_exactly_the_picked_devices_are_found(demo: Cluster, data: Any) -> None:
    table = snapshots.current(demo).devices()
    share = data.draw(st.sampled_from([0.0, 0.02, 0.5, 0.98, 1.0]))
    seed = data.draw(st.integers(0, 1000))
    mask = np.random.default_rng(seed).random(len(table)) < share
    assert keys(demo, mask) == {
        tuple(table.ids[row]) for row in np.flatnonzero(mask).tolist()
    }


def test_whole_slices_are_found(demo: Cluster) -> None:
    table = snapshots.current(demo).devices()
    mask = np.zeros(len(table), np.bool_)
    _, pool, start, stop = table.listing.blocks[0]
    mask[start:stop] = True
    mask[-1] = True
    assert len(keys(demo, mask)) == stop - start + 1
    assert (pool.driver, pool.name) in {key[:2] for key in keys(demo, mask)}


def test_the_slices_are_looked_up_once_per_table(
    demo: Cluster, django_assert_num_queries: Queries
) -> None:
    table = snapshots.current(demo).devices()
    mask = np.ones(len(table), np.bool_)
    with django_assert_num_queries(1):
        picked(demo, table, mask)
    with django_assert_num_queries(0):
        picked(demo, table, ~mask)


def test_a_slice_that_is_gone_meanwhile_has_no_rows(demo: Cluster) -> None:
    table = snapshots.current(demo).devices()
    first = table.listing.blocks[0].slice
    assert first is not None
    ResourceSlice.objects.filter(cluster=demo, name=first.metadata.name).delete()
    mask = np.ones(len(table), np.bool_)
    assert len(keys(demo, mask)) == len(table) - len(first.spec.devices or ())
