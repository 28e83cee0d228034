"""Devices over REST by the node that owns or reaches them."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import pytest
from django.test import Client

from inventory.models import Cluster
from tests.inventory.views.conftest import named, slice_
from tests.mirrored import mirror

CountQueries = Callable[[int], AbstractContextManager[Any]]


def world(*, far: int) -> Cluster:
    devices = [{"name": f"far-{n}"} for n in range(far)]
    pool = {"name": "far", "generation": 1, "resourceSliceCount": 1}
    shared = slice_("far", devices, nodeName=None, allNodes=True, pool=pool)
    own = slice_("own", [{"name": "own"}])
    return mirror(
        [named("Node", "n1", {}), named("Node", "n2", {}), own, shared],
        name=f"lab-{far}",
    )


@pytest.fixture
def client(client_of: Callable[..., Client]) -> Client:
    return client_of("viewer")


def names(client: Client, **query: str) -> set[str]:
    answer = client.get("/api/v1/devices/", query)
    assert answer.status_code == 200, answer.text
    return {row["name"] for row in answer.json()["results"]}


def test_a_node_owns_or_reaches_devices(client: Client) -> None:
    lab = world(far=2).name
    assert names(client, cluster=lab, node_name="n1") == {"own"}
    assert names(client, cluster=lab, reaches="n1") == {"own", "far-0", "far-1"}
    assert names(client, cluster=lab, reaches="n2") == {"far-0", "far-1"}
    assert names(client, cluster=lab, reaches="n1", one_node="true") == {"own"}
    assert names(client, one_node="false") == {"far-0", "far-1"}


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ({"cluster": "lab-1", "reaches": "nope"}, "no node named “nope”"),
        ({"reaches": "n1"}, "name the cluster, too"),
        ({"cluster": "lab-1", "reaches": "n" * 254}, "at most 253 characters"),
    ],
)
def test_a_node_that_cannot_be_asked_about_is_refused_at_its_field(
    query: dict[str, str], reason: str, client: Client
) -> None:
    world(far=1)
    answer = client.get("/api/v1/devices/", query)
    assert answer.status_code == 400
    (error,) = answer.json()["errors"]
    assert error["field"] == "reaches"
    assert reason in error["message"]


def test_it_costs_the_same_queries_for_any_number_of_devices(
    client: Client, django_assert_num_queries: CountQueries
) -> None:
    for far in (3, 60):
        query = {"cluster": world(far=far).name, "reaches": "n1"}
        client.get("/api/v1/devices/", query)
        with django_assert_num_queries(QUERIES):
            client.get("/api/v1/devices/", query)


QUERIES = 6
