"""Pools and slices: whole or not, and why."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from inventory.models import Cluster, Pool
from inventory.views import pools
from tests.inventory.views.conftest import slice_

Small = Callable[..., Cluster]
PROBLEM = '<th scope="col" class="text">Problem'
POOL = "/c/lab/pools/d.example/p1/"
NO_QUANTITY = {"name": "a", "capacity": {"memory": {"value": "much"}}}


def test_an_incomplete_pool_says_why_and_what_to_do(
    viewer: Client, small: Small
) -> None:
    small(
        slice_("old", [{"name": "a"}], generation=6, count=1),
        slice_("new", [{"name": "a"}], generation=7, count=3),
    )
    text = viewer.get("/c/lab/pools/").text
    assert "1 of 3 slices of generation 7" in text
    assert "1 incomplete of 1 pool: nothing is allocated from these." in text
    page = viewer.get(POOL).text
    assert (
        "Nothing is allocated from it until the driver has published the rest" in page
    )
    assert "older generation, not used" in page
    old = viewer.get("/c/lab/slices/old/").text
    assert "The pool has a newer generation" in old


def test_an_invalid_pool_says_why(viewer: Client, small: Small) -> None:
    small(slice_("s", [{"name": "a"}, {"name": "a"}]))
    text = viewer.get(POOL).text
    assert "Invalid:" in text
    assert "until the driver corrects its slices" in text


def test_a_pool_that_is_incomplete_and_invalid_is_counted_once(
    viewer: Client, small: Small
) -> None:
    small(slice_("one", [NO_QUANTITY], count=2))
    assert Pool.objects.filter(complete=False, valid=False).count() == 1
    text = viewer.get("/c/lab/pools/").text
    assert "1 invalid of 1 pool: nothing is allocated from these." in text
    shown = viewer.get("/c/lab/").text
    shown = shown[shown.index("Pools that cannot be used") :]
    assert "invalid" in shown[: shown.index("</tr>", shown.index("<tbody>"))]


def test_a_slice_with_an_unreadable_quantity_says_what_follows_for_its_pool(
    viewer: Client, small: Small
) -> None:
    small(slice_("one", [NO_QUANTITY]))
    text = viewer.get("/c/lab/slices/one/").text
    assert "That makes its pool invalid" in text
    assert "takes no part" not in text


def test_counter_sets_are_those_of_the_newest_generation(
    viewer: Client, small: Small
) -> None:
    def sets(memory: str) -> list[dict[str, Any]]:
        return [{"name": "card", "counters": {"memory": {"value": memory}}}]

    older = slice_("older", [], sharedCounters=sets("40Gi"))
    newer = slice_("newer", [], generation=2, count=2, sharedCounters=sets("many"))
    draws = {"counterSet": "card", "counters": {"memory": {"value": "1Gi"}}}
    part = {"name": "part", "consumesCounters": [draws]}
    small(older, newer, slice_("parts", [part], generation=2, count=2))
    assert "40Gi" not in viewer.get(f"{POOL}?tab=counters").text


@pytest.mark.parametrize(
    ("where", "words"),
    [
        ({"nodeName": "n1"}, "n1"),
        ({"nodeName": None, "allNodes": True}, "all nodes"),
        ({"nodeName": None, "perDeviceNodeSelection": True}, "by selector or device"),
    ],
)
def test_a_slice_says_where_its_devices_are_on_page_and_in_export(
    where: dict[str, Any], words: str, viewer: Client, small: Small
) -> None:
    small(slice_("one", [{"name": "a"}], **where))
    assert words in viewer.get("/c/lab/slices/").text
    assert words in viewer.get("/c/lab/slices/one/").text
    (row,) = json.loads(viewer.get("/c/lab/slices/?format=json").getvalue())
    assert row["node"] == words


@pytest.mark.parametrize(("usable", "found"), [("true", 0), ("false", 1)])
def test_pools_are_filtered_by_use(
    viewer: Client, small: Small, usable: str, found: int
) -> None:
    small(slice_("s", [{"name": "a"}], count=2))
    page = viewer.get(f"/c/lab/pools/?usable={usable}").context["list"]
    assert page.paginator.count == found


def test_whole_pools_are_praised_in_one_sentence(viewer: Client, small: Small) -> None:
    small(slice_("s", [{"name": "a"}]))
    assert "All 1 pool can be used." in viewer.get("/c/lab/pools/").text


def test_a_pool_shows_its_devices_and_counters(viewer: Client, small: Small) -> None:
    use = {"counterSet": "card", "counters": {"memory": {"value": "30Gi"}}}
    small(
        slice_(
            "c",
            [],
            count=2,
            sharedCounters=[
                {"name": "card", "counters": {"memory": {"value": "80Gi"}}}
            ],
        ),
        slice_("s", [{"name": "part", "consumesCounters": [use]}], count=2),
    )
    assert "/devices/d.example/p1/part/" in viewer.get(f"{POOL}?tab=devices").text
    counters = viewer.get(f"{POOL}?tab=counters").text
    assert "0 of 1 devices cut from it are held" in counters
    assert "80Gi" in counters
    assert "80Gi" in viewer.get("/c/lab/slices/c/").text


def test_the_yaml_of_a_pool_is_the_list_of_its_slices(
    viewer: Client, small: Small
) -> None:
    small(slice_("one", [{"name": "a"}], count=2), slice_("two", [], count=2))
    text = viewer.get(f"{POOL}yaml/?format=yaml").text
    assert text.startswith("apiVersion: v1\nitems:\n")
    assert "name: one" in text
    assert "name: two" in text


def test_a_long_yaml_says_what_is_not_in_it(
    viewer: Client, small: Small, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pools, "SLICES_IN_YAML", 1)
    small(slice_("one", [{"name": "a"}], count=2), slice_("two", [], count=2))
    text = viewer.get(f"{POOL}yaml/?format=yaml").text
    assert text.startswith("# The first 1 of 2 slices, by name.\napiVersion: v1\n")
    assert "name: two" not in text


def test_a_slice_that_cannot_be_read_is_shown_with_its_problem(
    viewer: Client, small: Small
) -> None:
    broken = slice_("broken", [])
    broken["spec"]["devices"] = "many"
    small(broken)
    text = viewer.get("/c/lab/slices/?unreadable=true").text
    assert "broken" in text
    assert PROBLEM in text
    assert "spec.devices" in viewer.get("/c/lab/slices/broken/").text


def test_a_column_that_says_nothing_takes_no_room(viewer: Client, small: Small) -> None:
    small(slice_("whole", [{"name": "a"}]))
    assert PROBLEM not in viewer.get("/c/lab/slices/").text
    assert PROBLEM in viewer.get("/c/lab/slices/?cols=name,problem").text
    assert "Columns" in viewer.get("/c/lab/slices/").text
    exported = viewer.get("/c/lab/slices/?format=csv").getvalue().decode()
    assert "problem" in exported.splitlines()[0]


@pytest.mark.parametrize("path", ["pools/d/x/", "pools/d/x/yaml/", "slices/x/"])
def test_what_is_gone_is_a_404(viewer: Client, small: Small, path: str) -> None:
    small()
    assert viewer.get(f"/c/lab/{path}").status_code == 404


def test_a_pool_name_may_hold_slashes(viewer: Client, small: Small) -> None:
    piece = slice_("s", [{"name": "a"}])
    piece["spec"]["pool"]["name"] = "rack-1/shelf-2"
    small(piece)
    assert viewer.get("/c/lab/pools/d.example/rack-1/shelf-2/").status_code == 200
    device = viewer.get("/c/lab/devices/d.example/rack-1/shelf-2/a/")
    assert device.status_code == 200
    assert viewer.get("/c/lab/pools/d.example/rack-1/shelf-2/yaml/").status_code == 200
