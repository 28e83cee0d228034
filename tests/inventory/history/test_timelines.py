"""Timelines on pages, and what changed between two times."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from inventory.history.differences import counted, differences
from inventory.models_history import Happening
from tests.allocator import builders as build

HTMX = {"HX-Request": "true", "HX-Target": "timeline"}
HOUR = timedelta(hours=1)


@pytest.fixture
def lab(db: None) -> build.Mirror:
    """A claim has held gpu-0 of n0 and let it go; n1 is cordoned; n2 came and went."""
    mirror = build.Mirror()
    objects = build.lab()
    node = next(one for one in objects if one["metadata"]["name"] == "n1")
    mirror.replace([*objects, build.claim("old")])
    held = build.allocated("one", build.result("n0", "gpu-0"))
    mirror.put(held)
    mirror.put(build.touched(held | {"status": {}}))
    mirror.put(build.touched(node | {"spec": {"unschedulable": True}}))
    mirror.put(build.node("n2"))
    mirror.put(build.slice_("n2"))
    mirror.delete(build.slice_("n2"))
    mirror.delete(build.node("n2"))
    mirror.put(build.slice_("n3", 1))
    return mirror


@pytest.fixture
def viewer(client_of: Callable[..., Client]) -> Client:
    return client_of("viewer")


def test_a_device_tells_who_held_it(lab: build.Mirror, viewer: Client) -> None:
    href = f"/c/lab/history/?kind=Device&name={build.GPU}/n0/gpu-0"
    text = viewer.get(href, headers=HTMX).text
    assert text.lstrip().startswith("<section")
    assert text.index("Let go by") < text.index("Held by")
    assert 'href="/c/lab/claims/lab/one/"' in text
    assert re.search(r"It held it for \d+ s\.", text)
    assert "The record begins" in text
    assert "<html" in viewer.get(href).text


def test_a_claim_tells_its_life(lab: build.Mirror, viewer: Client) -> None:
    href = "/c/lab/history/?kind=ResourceClaim&namespace=lab&name=one"
    text = viewer.get(href, headers=HTMX).text
    assert text.index("taken away") < text.index("Allocated 1 device")
    assert f'href="/c/lab/devices/{build.GPU}/n0/gpu-0/"' in text
    old = viewer.get(href.replace("=one", "=old"), headers=HTMX).text
    assert "Nothing has happened to it since the portal keeps a record." in old


@pytest.mark.parametrize(
    ("path", "query"),
    [
        ("claims/lab/one/", "kind=ResourceClaim&amp;namespace=lab&amp;name=one"),
        (
            f"devices/{build.GPU}/n0/gpu-0/",
            f"kind=Device&amp;name={build.GPU}%2Fn0%2Fgpu-0",
        ),
        ("nodes/n0/", "kind=Node&amp;name=n0"),
        (f"classes/{build.GPU}/", f"kind=DeviceClass&amp;name={build.GPU}"),
    ],
)
def test_pages_have_their_timeline_fetched(
    path: str, query: str, lab: build.Mirror, viewer: Client
) -> None:
    page = viewer.get(f"/c/lab/{path}").text
    assert f'hx-get="/c/lab/history/?{query}"' in page
    href = f"/c/lab/history/?{query}".replace("&amp;", "&")
    assert viewer.get(href, headers=HTMX).status_code == 200


def test_a_long_timeline_is_shown_in_part(lab: build.Mirror, viewer: Client) -> None:
    now = timezone.now()
    Happening.objects.bulk_create(
        Happening(cluster=lab.cluster, at=now, kind="Node", name="n0", what="ready")
        for _ in range(40)
    )
    href = "/c/lab/history/?kind=Node&name=n0"
    part = viewer.get(href, headers=HTMX).text
    assert (part.count("<li>"), "Show all" in part) == (30, True)
    whole = viewer.get(f"{href}&all=1", headers=HTMX).text
    assert (whole.count("<li>"), "Show all" in whole) == (40, False)


def test_what_changed_is_counted_and_listed(lab: build.Mirror, viewer: Client) -> None:
    now = timezone.now()
    assert counted(lab.cluster.pk, now - HOUR, now) == {
        "Devices come": 1,
        "Claims created": 1,
        "Claims allocated": 1,
        "Claims that gave their devices back": 1,
        "Nodes cordoned or uncordoned": 1,
    }
    page = viewer.get("/c/lab/changes/").text
    assert "devices come 1" in page
    assert f"{build.GPU}/n3/gpu-0" in page
    assert "/n2/" not in page
    assert "Cordoned: no new pods." in page
    card = viewer.get("/c/lab/changes-card/").text
    assert "Claims allocated <strong>1</strong>" in card


def test_a_time_before_has_no_changes(lab: build.Mirror, viewer: Client) -> None:
    page = viewer.get("/c/lab/changes/?from=2020-01-01T00:00&to=2020-01-02T00:00").text
    assert "nothing changed that the watch saw" in page


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("from=yesterday", "A time is written like"),
        ("from=2026-13-45T00:00", "A time is written like"),
        ("from=2026-01-02T00:00&to=2026-01-01T00:00", "must be before"),
        ("to=0001-01-01T00:00", "must be before"),
        ("from=0001-01-01T00:00%2B14:00", "A time is written like"),
        ("to=9999-12-31T23:59-14:00", "A time is written like"),
    ],
)
def test_a_time_that_cannot_be_read_is_said(
    query: str, words: str, lab: build.Mirror, viewer: Client
) -> None:
    page = viewer.get(f"/c/lab/changes/?{query}")
    assert page.status_code == 200
    assert words in page.text


@pytest.mark.parametrize(
    "query", ["", "kind=Pod&name=x", "kind=Node", "kind=Node&name=%00"]
)
def test_what_has_no_timeline_is_not_found(
    query: str, lab: build.Mirror, viewer: Client
) -> None:
    assert viewer.get(f"/c/lab/history/?{query}").status_code == 404


def test_a_list_is_bounded_and_so_are_its_queries(
    lab: build.Mirror, django_assert_max_num_queries: Any
) -> None:
    now = timezone.now()
    Happening.objects.bulk_create(
        Happening(
            cluster=lab.cluster, at=now, kind="Device", name=f"d/p/{n}", what="tainted"
        )
        for n in range(200)
    )
    with django_assert_max_num_queries(1 + 3 * 14):
        found = differences(lab.cluster.pk, now - HOUR, now + HOUR)
    tainted = next(one for one in found if one.topic.title == "Devices tainted")
    assert (tainted.count, len(tainted.rows)) == (200, 50)


def test_strangers_see_no_history(lab: build.Mirror, client: Client) -> None:
    for path in ("history/?kind=Node&name=n0", "changes/", "changes-card/"):
        assert client.get(f"/c/lab/{path}").status_code == 302
