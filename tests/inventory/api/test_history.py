"""What happened, over REST: complete, in order, page by page."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from inventory.history import rules
from inventory.models_history import Happening
from tests.allocator import builders as build

API = "/api/v1"
HOUR = timedelta(hours=1)
type CountQueries = Callable[[int], AbstractContextManager[Any]]


@pytest.fixture
def lab(db: None) -> build.Mirror:
    """A claim has held gpu-0 of n0 and let it go; n1 is cordoned."""
    mirror = build.Mirror()
    objects = build.lab()
    node = next(one for one in objects if one["metadata"]["name"] == "n1")
    mirror.replace(objects)
    held = build.allocated("one", build.result("n0", "gpu-0"))
    mirror.put(held)
    mirror.put(build.touched(held | {"status": {}}))
    mirror.put(build.touched(node | {"spec": {"unschedulable": True}}))
    return mirror


@pytest.fixture
def viewer(client_of: Callable[..., Client]) -> Client:
    return client_of("viewer")


def whats(answer: Any) -> list[tuple[str, str]]:
    return [(row["kind"], row["happened"]) for row in answer["results"]]


def followed(viewer: Client, address: str) -> list[dict[str, Any]]:
    """The rows of all pages."""
    rows: list[dict[str, Any]] = []
    following: str | None = address
    while following:
        answer = viewer.get(following).json()
        rows += answer["results"]
        following = answer["next"]
    return rows


def test_what_changed_comes_newest_first_with_words(
    lab: build.Mirror, viewer: Client
) -> None:
    answer = viewer.get(f"{API}/clusters/lab/changes/").json()
    assert whats(answer) == [
        ("Node", "cordoned"),
        ("Device", "let go"),
        ("ResourceClaim", "deallocated"),
        ("Device", "held"),
        ("ResourceClaim", "allocated"),
        ("ResourceClaim", "created"),
    ]
    held = answer["results"][3]
    assert held["name"] == f"{build.GPU}/n0/gpu-0"
    assert held["words"] == "Held by lab/one."
    assert held["detail"]["claim"] == ["lab", "one"]


@pytest.mark.parametrize(
    ("query", "count"),
    [
        ("kind=Device", 2),
        ("happened=allocated", 1),
        ("namespace=lab", 3),
        ("kind=Node&happened=ready", 0),
        ("from=2020-01-01T00:00:00Z&to=2020-01-02T00:00:00Z", 0),
        ("from=2020-01-01T00:00:00Z", 6),
    ],
)
def test_it_is_narrowed(
    query: str, count: int, lab: build.Mirror, viewer: Client
) -> None:
    answer = viewer.get(f"{API}/clusters/lab/changes/?{query}").json()
    assert len(answer["results"]) == count


def test_counts_are_those_of_the_page(lab: build.Mirror, viewer: Client) -> None:
    answer = viewer.get(f"{API}/clusters/lab/changes/counts/").json()
    assert {one["topic"]: one["objects"] for one in answer["counts"]} == {
        "Claims created": 1,
        "Claims allocated": 1,
        "Claims that gave their devices back": 1,
        "Nodes cordoned or uncordoned": 1,
    }
    assert set(answer) == {"cluster", "from", "to", "begun", "counts"}


def test_pages_go_on_within_one_moment(
    lab: build.Mirror, viewer: Client, django_assert_max_num_queries: CountQueries
) -> None:
    """A list after a lost watch tells thousands of things at once."""
    now = timezone.now()
    Happening.objects.bulk_create(
        Happening(cluster=lab.cluster, at=now, kind="Node", name=f"x{n}", what="ready")
        for n in range(2_500)
    )
    address = f"{API}/clusters/lab/changes/?kind=Node&happened=ready&limit=1000"
    rows = followed(viewer, address)
    assert len({row["name"] for row in rows}) == len(rows) == 2_500
    with django_assert_max_num_queries(6):
        viewer.get(address)


def test_objects_tell_their_life(lab: build.Mirror, viewer: Client) -> None:
    answer = viewer.get(f"{API}/claims/lab/lab/one/history/").json()
    assert [what for _, what in whats(answer)] == [
        "deallocated",
        "allocated",
        "created",
    ]
    assert (answer["cluster"], answer["namespace"], answer["next"]) == (
        "lab",
        "lab",
        None,
    )
    device = viewer.get(f"{API}/devices/lab/{build.GPU}/n0/gpu-0/history/").json()
    assert [what for _, what in whats(device)] == ["let go", "held"]
    assert device["begun"]
    node = viewer.get(f"{API}/nodes/lab/n1/history/").json()
    assert [what for _, what in whats(node)] == ["cordoned"]
    for path in (f"classes/lab/{build.GPU}", "taint-rules/lab/gone"):
        assert viewer.get(f"{API}/{path}/history/").json()["results"] == []


def test_a_long_life_comes_in_parts_with_what_rules_did(
    lab: build.Mirror, viewer: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rules, "MOST_HIT", 1)
    held = build.allocated("one", build.result("n0", "gpu-0"))
    rule = build.taint_rule("all", "gpu-0")
    rule = rule | {"spec": {**rule["spec"], "deviceSelector": {"driver": build.GPU}}}
    lab.put(build.taint_rule("first", "none"))
    for _ in range(3):
        lab.put(build.touched(held))
        lab.put(build.touched(rule))
        lab.put(build.touched(held | {"status": {}}))
        lab.delete(rule)
    address = f"{API}/devices/lab/{build.GPU}/n0/gpu-0/history/"
    whole = viewer.get(address).json()["results"]
    assert [row["happened"] for row in whole] == [
        *["untainted", "let go", "tainted", "held"] * 3,
        "let go",
        "held",
    ]
    for limit in (1, 3, 5):
        assert followed(viewer, f"{address}?limit={limit}") == whole


@pytest.mark.parametrize(
    ("path", "field"),
    [
        ("clusters/lab/changes/?from=yesterday", "from"),
        ("clusters/lab/changes/?from=2036-01-01T00:00:00Z", "from"),
        ("clusters/lab/changes/?kind=Pod", "kind"),
        ("clusters/lab/changes/counts/?to=x", "to"),
        ("nodes/lab/n1/history/?limit=0", "limit"),
        ("nodes/lab/n1/history/?limit=501", "limit"),
        ("nodes/lab/n1/history/?cursor=x", "cursor"),
        ("nodes/lab/n1/history/?cursor=2026-13-01T00:00:00Z_1", "cursor"),
    ],
)
def test_a_bad_parameter_is_named(
    path: str, field: str, lab: build.Mirror, viewer: Client
) -> None:
    answer = viewer.get(f"{API}/{path}")
    assert answer.status_code == 400
    assert field in {one["field"] for one in answer.json()["errors"]}


@pytest.mark.parametrize(
    "path",
    [
        "clusters/lab/changes/?to=0001-01-01T00:00:00Z",
        "clusters/lab/changes/?from=0001-01-01T00:00:00%2B14:00",
        "clusters/lab/changes/counts/?to=0001-01-01T00:00:00Z",
        "clusters/lab/changes/counts/?to=9999-12-31T23:59:59-14:00",
        "usage/?cluster=lab&to=0001-01-01T00:00:00Z",
        "usage/?cluster=lab&to=0001-01-01T12:00:00Z",
        "claims/lab/lab/one/history/?cursor=0001-01-01T00:00:00%2B14:00_1",
    ],
)
def test_the_ends_of_the_calendar_are_no_fault_of_the_portal(
    path: str, lab: build.Mirror, viewer: Client
) -> None:
    assert viewer.get(f"{API}/{path}").status_code in {200, 400}


def test_all_that_is_known_may_be_asked_for(lab: build.Mirror, viewer: Client) -> None:
    answer = viewer.get(f"{API}/clusters/lab/changes/?from=0001-01-01T00:00:00Z").json()
    assert answer["results"]


@pytest.mark.parametrize(
    "path",
    [
        "clusters/lab/changes/",
        "clusters/lab/changes/counts/",
        "claims/lab/lab/one/history/",
        "clusters/lab/namespaces/",
    ],
)
def test_strangers_get_nothing_and_unknown_clusters_are_not_found(
    path: str, lab: build.Mirror, client: Client, viewer: Client
) -> None:
    assert client.get(f"{API}/{path}").status_code == 401
    assert viewer.get(f"{API}/{path.replace('lab', 'no', 1)}").status_code == 404
