"""Copies of a cluster's rows: what the mirror would write, under keys of their own."""

from __future__ import annotations

from collections import Counter

import pytest

from allocator import snapshots
from claims.models import ClaimRequest
from inventory.models import Cluster
from tests.mirrored import mirror_demo
from tests.row_copies import RowCopies, parents, tables

pytestmark = pytest.mark.django_db


def content(cluster: Cluster) -> dict[str, Counter[str]]:
    """Every row of every table, without keys and the times of the watch."""
    found = {}
    for model in tables():
        left_out = {"id", "listed_at", "alive_at", *parents(model)}
        names = [
            field.attname
            for field in model._meta.concrete_fields
            if field.column not in left_out
        ]
        rows = model._default_manager.filter(cluster=cluster).values_list(*names)
        found[model.__name__] = Counter(repr(row) for row in rows)
    return found


def test_a_copy_holds_what_the_mirror_has_written() -> None:
    cluster = mirror_demo(nodes=2)
    copied = RowCopies(cluster).write("copied")
    assert content(copied) == content(cluster)
    assert copied.seq == cluster.seq
    assert snapshots.current(copied) == snapshots.current(cluster)


def test_rows_of_a_copy_point_at_its_own_rows() -> None:
    cluster = mirror_demo(nodes=2)
    copied = RowCopies(cluster).write("copied")
    asked = ClaimRequest.objects.filter(cluster=copied, template=None)
    assert {request.claim.cluster_id for request in asked if request.claim} == {
        copied.pk
    }
