"""Use over time on pages and in the API."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.core.cache import cache
from django.test import Client
from django.utils import timezone

from inventory.choices import UsageKind
from inventory.history import storing
from inventory.history.numbers import WHOLE, Key, Numbers
from inventory.models import Cluster
from tests.mirrored import mirror_demo

API = "/api/v1/usage/"
HTMX = {"HX-Request": "true", "HX-Target": "usage-card"}


@pytest.fixture(autouse=True)
def _nothing_remembered() -> Iterator[None]:
    cache.clear()
    yield
    cache.clear()


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> datetime:
    """Time stands still: how many points there are depends on the second."""
    return stand_at(monkeypatch, second=30)


def stand_at(monkeypatch: pytest.MonkeyPatch, *, second: int) -> datetime:
    moment = timezone.now().replace(second=second, microsecond=0)
    monkeypatch.setattr(timezone, "now", lambda: moment)
    return moment


@pytest.fixture
def demo(db: None, now: datetime) -> Cluster:
    """Sampled for ten minutes, a gap of ten minutes, then for ten minutes until now."""
    cluster = mirror_demo(nodes=4)
    now = now.replace(second=0)
    for ago in (*range(30, 19, -1), *range(10, -1, -1)):
        held = 4 if ago >= 20 else 8
        numbers = Numbers(free=10 - held, in_use=held)
        counts = {
            WHOLE: numbers,
            Key(UsageKind.CLASS, "gpu.nvidia.com"): numbers,
            Key(UsageKind.NAMESPACE, "team-a"): Numbers(in_use=held, pending=3),
        }
        storing.keep(cluster, counts, now - timedelta(minutes=ago))
    return cluster


@pytest.fixture
def viewer(client_of: Callable[..., Client]) -> Client:
    return client_of("viewer")


def chart(text: str) -> Any:
    found = re.search(
        r'<script type="application/json">(.*?)</script>', text, re.DOTALL
    )
    assert found
    return json.loads(found[1])


def test_the_page_says_and_draws_what_was(demo: Cluster, viewer: Client) -> None:
    page = viewer.get("/c/demo/usage/?range=1h").text
    assert "between 4 and 8 of 10 devices were held" in page
    data = chart(page)
    assert [one["name"] for one in data["series"]] == ["in_use", "free"]
    held = data["series"][0]["values"]
    assert {4, 8, None} == set(held)
    assert len(data["times"]) == len(held) == 61
    assert "nobody looked" in page
    assert "<script" in page
    assert "style=" not in page[page.index("usage-card") :]


def test_an_hour_that_begins_with_a_minute_has_no_part_of_another(
    demo: Cluster, viewer: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_at(monkeypatch, second=0)
    data = chart(viewer.get("/c/demo/usage/?range=1h").text)
    assert len(data["times"]) == 60


def test_htmx_gets_the_card_alone_and_ranges_are_links(
    demo: Cluster, viewer: Client
) -> None:
    text = viewer.get("/c/demo/usage/", headers=HTMX).text
    assert text.lstrip().startswith("<section")
    for name in ("1h", "24h", "7d", "30d", "1y"):
        assert f'href="/c/demo/usage/?by=cluster&amp;range={name}"' in text
        answer = viewer.get(f"/c/demo/usage/?range={name}", headers=HTMX)
        assert chart(answer.text)["times"]


def test_the_card_says_how_fine_it_is(demo: Cluster, viewer: Client) -> None:
    hour = viewer.get("/c/demo/usage/?range=1h").text
    assert "Each point is the average of a minute.</p>" in hour
    now = timezone.now()
    node = Key(UsageKind.NODE, "n1")
    storing.keep(demo, {node: Numbers(free=3)}, now + timedelta(minutes=1))
    month = viewer.get("/c/demo/usage/?range=30d&by=node&name=n1").text
    assert "Of nodes minutes are kept for 8 days, then days." in month
    whole = viewer.get("/c/demo/usage/?range=30d").text
    assert "Each point is the average of 6 hours.</p>" in whole


def test_what_was_the_same_all_the_time_is_said_so(
    demo: Cluster, viewer: Client
) -> None:
    from inventory.models_history import UsageChange, UsageSeries

    UsageChange.objects.update(free=6, in_use=4)
    UsageSeries.objects.update(free=6, in_use=4)
    text = viewer.get("/c/demo/usage/?range=1h").text
    assert "4 of 10 devices were held as far as it is known." in text


def test_a_namespace_shows_what_it_holds_and_what_waits(
    demo: Cluster, viewer: Client
) -> None:
    text = viewer.get("/c/demo/usage/?by=namespace&name=team-a&range=1h").text
    assert [one["label"] for one in chart(text)["series"]] == [
        "devices held",
        "claims pending",
    ]
    page = viewer.get("/c/demo/namespaces/team-a/").text
    assert "/c/demo/usage/?by=namespace&amp;name=team-a" in page
    assert "claims/?namespace=team-a" in page


def test_where_nothing_was_counted_the_page_says_what_to_do(
    demo: Cluster, viewer: Client
) -> None:
    Cluster.objects.create(name="new", source="kubeconfig")
    assert "worker and beat are running" in viewer.get("/c/new/usage/").text
    text = viewer.get("/c/demo/usage/?by=node&name=gone").text
    assert "No node of this name had a device" in text
    assert "data-usage-chart" not in text


@pytest.mark.parametrize(
    "query", ["by=planet&name=x", "by=class", "by=cluster&name=x", "by=node&name=%00"]
)
def test_a_question_that_makes_no_sense_is_not_found(
    query: str, demo: Cluster, viewer: Client
) -> None:
    assert viewer.get(f"/c/demo/usage/?{query}").status_code == 404


@pytest.mark.parametrize(
    ("path", "query"),
    [
        ("", "by=cluster"),
        ("classes/gpu.nvidia.com/", "by=class&amp;name=gpu.nvidia.com"),
        ("nodes/{node}/", "by=node&amp;name={node}"),
    ],
)
def test_pages_have_the_card_fetched(
    path: str, query: str, demo: Cluster, viewer: Client
) -> None:
    from inventory.models import Node

    node = Node.objects.filter(cluster=demo).first()
    assert node is not None
    page = viewer.get(f"/c/demo/{path.format(node=node.name)}").text
    assert f'hx-get="/c/demo/usage/?{query.format(node=node.name)}"' in page
    assert "js/charts" in page


def test_the_card_takes_a_fixed_number_of_queries(
    demo: Cluster, viewer: Client, django_assert_max_num_queries: Any
) -> None:
    with django_assert_max_num_queries(13):
        viewer.get("/c/demo/usage/?range=1y", headers=HTMX)


def test_the_api_gives_points_and_gaps(demo: Cluster, viewer: Client) -> None:
    now = timezone.now().replace(second=0, microsecond=0)
    asked: dict[str, str | int] = {
        "cluster": "demo",
        "by": "namespace",
        "name": "team-a",
        "from": (now - timedelta(minutes=30)).isoformat(),
        "to": now.isoformat(),
        "step": 300,
    }
    found = viewer.get(API, asked).json()
    assert (found["step"], found["by"], found["name"]) == (300, "namespace", "team-a")
    values = {point["in_use"] for point in found["points"]}
    assert {4, 8, None} <= values
    assert {point["pending"] for point in found["points"]} == {3, None}
    assert viewer.get(API, {"cluster": "demo"}).json()["step"] == 300


@pytest.mark.parametrize(
    ("parameters", "field"),
    [
        ({"cluster": "nowhere"}, "cluster"),
        ({}, "cluster"),
        ({"cluster": "demo", "by": "planet"}, "by"),
        ({"cluster": "demo", "by": "node"}, "name"),
        ({"cluster": "demo", "step": "7"}, "step"),
        ({"cluster": "demo", "from": "yesterday"}, "from"),
        ({"cluster": "demo", "from": "2036-01-01T00:00:00Z"}, "from"),
        (
            {
                "cluster": "demo",
                "from": "2026-01-01T00:00:00Z",
                "to": "2099-01-01T00:00:00Z",
            },
            "step",
        ),
    ],
)
def test_a_bad_parameter_is_named(
    parameters: dict[str, str], field: str, demo: Cluster, viewer: Client
) -> None:
    answer = viewer.get(API, parameters)
    assert answer.status_code == 400
    assert field in answer.text


def test_strangers_get_nothing(demo: Cluster, client: Client) -> None:
    assert client.get("/c/demo/usage/").status_code == 302
    assert client.get(API, {"cluster": "demo"}).status_code in {401, 403}
