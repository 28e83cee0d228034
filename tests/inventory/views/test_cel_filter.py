"""The list of devices, narrowed by a CEL expression."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any
from urllib.parse import quote

import pytest
from django.test import Client

from inventory.models import Cluster
from tests.inventory.views.conftest import claim, slice_

Small = Callable[..., Cluster]
FAST = 'device.attributes["d.example"].speed > 10'
GUARDED = f'"speed" in device.attributes["d.example"] && {FAST}'
LIST = "/c/lab/devices/"


def nic(name: str, speed: int) -> dict[str, Any]:
    return {"name": name, "attributes": {"speed": {"int": speed}}}


@pytest.fixture
def lab(small: Small) -> Cluster:
    return small(
        slice_("a", [nic("a0", 100), nic("a1", 25)], count=2),
        slice_("b", [nic("b0", 1), nic("b1", 100), {"name": "b2"}], count=2),
        claim("mine", {"device": "b1"}),
    )


def names(client: Client, **query: Any) -> list[str]:
    answer = client.get(LIST, query | {"format": "json", "sort": "name"})
    return [row["name"] for row in json.loads(answer.getvalue())]


def test_only_devices_that_match_are_listed(viewer: Client, lab: Cluster) -> None:
    assert names(viewer, cel=GUARDED) == ["a0", "a1", "b1"]
    assert names(viewer, cel=f"!({GUARDED})") == ["b0", "b2"]
    assert names(viewer, cel="  ") == ["a0", "a1", "b0", "b1", "b2"]


def test_it_goes_with_the_other_filters(viewer: Client, lab: Cluster) -> None:
    assert names(viewer, cel=GUARDED, state="free") == ["a0", "a1"]
    assert names(viewer, cel=GUARDED, slice="b") == ["b1"]
    assert names(viewer, cel=GUARDED, attr="d.example/speed=100") == ["a0", "b1"]
    assert names(viewer, cel=GUARDED, q="a1") == ["a1"]


def test_the_page_counts_and_sorts_and_keeps_the_expression(
    viewer: Client, lab: Cluster
) -> None:
    page = viewer.get(LIST, {"cel": GUARDED, "sort": "-name"})
    assert page.context["list"].count_words == "3 devices"
    text = page.text
    assert text.index(">b1<") < text.index(">a0<")
    assert "3 of 5 devices match." in text
    assert f"cel={quote(GUARDED, safe='').replace('%20', '+')}" in text
    href = page.context["cel"].href
    assert f'<a href="{href.replace("&", "&amp;")}">Explain this expression</a>' in text
    assert href.startswith("/c/lab/cel/?expression=%22speed%22")


def test_the_link_to_the_explanation_takes_the_scope_along(
    viewer: Client, lab: Cluster
) -> None:
    page = viewer.get(LIST, {"cel": "true", "driver": "d.example", "node_name": "n1"})
    assert page.context["cel"].href.endswith(
        "?expression=true&driver=d.example&node=n1"
    )


def test_devices_without_an_answer_are_told(viewer: Client, lab: Cluster) -> None:
    page = viewer.get(LIST, {"cel": FAST})
    assert page.context["list"].count_words == "3 devices"
    assert "on 1 device it has no answer: no such key: speed" in page.text


def test_an_expression_that_is_refused_is_marked_at_its_place(
    viewer: Client, lab: Cluster
) -> None:
    page = viewer.get(LIST, {"cel": "true &&\r\n  device.drivr == 'x' "})
    assert page.context["list"].paginator.count == 0
    text = page.text
    assert "Line 2, column 9: undefined field &#x27;drivr&#x27;" in text
    assert "<pre>  device<mark>.</mark>drivr" in text
    assert "This filter cannot be read" in text
    assert text.count("undefined field") == 1


@pytest.mark.parametrize(
    "text", ["\x00", "💥", "(" * 1000, "x" * 11_000, "[].all(", "'"]
)
def test_any_text_has_a_page(viewer: Client, lab: Cluster, text: str) -> None:
    page = viewer.get(LIST, {"cel": text})
    assert page.status_code == 200
    assert page.context["list"].paginator.count == 0
    assert page.context["cel"].problems


def test_a_fragment_brings_the_words_under_the_field(
    viewer: Client, lab: Cluster
) -> None:
    page = viewer.get(
        LIST,
        {"cel": GUARDED},
        headers={"HX-Request": "true", "HX-Target": "results"},
    )
    text = page.text
    assert text.lstrip().startswith("<section") or 'id="results"' in text
    assert 'id="cel-said"' in text
    assert 'hx-swap-oob="true"' in text
    assert "<html" not in text


def test_what_takes_too_long_says_so(
    viewer: Client, lab: Cluster, settings: Any
) -> None:
    settings.CEL_SECONDS = 0
    page = viewer.get(LIST, {"cel": GUARDED})
    assert page.context["list"].paginator.count == 0
    assert "It took longer than 0 seconds" in page.text


def test_the_filter_costs_a_look_at_the_state_of_the_cluster(
    viewer: Client,
    lab: Cluster,
    django_assert_num_queries: Callable[[int], AbstractContextManager[object]],
) -> None:
    viewer.get(LIST, {"cel": GUARDED})
    with django_assert_num_queries(12) as without:
        viewer.get(LIST)
    # The state of the cluster is looked at, and the rows need not be counted.
    with django_assert_num_queries(len(without)):  # type: ignore[arg-type]
        viewer.get(LIST, {"cel": GUARDED})
    with django_assert_num_queries(len(without) + 1):  # type: ignore[arg-type]
        viewer.get(LIST, {"cel": GUARDED, "q": "a"})


# --- the same over REST ---


def rows(client: Client, **query: Any) -> Any:
    return client.get("/api/v1/devices/", {"cluster": "lab"} | query)


def test_the_endpoint_takes_the_same_filter(viewer: Client, lab: Cluster) -> None:
    body = rows(viewer, cel=FAST, state="free").json()
    assert [row["name"] for row in body["results"]] == ["a0", "a1"]
    assert body["cel"] == {
        "devices": 5,
        "matched": 3,
        "failed": 1,
        "error": "no such key: speed",
    }
    assert rows(viewer).json()["cel"] is None


def test_its_pages_follow_each_other(viewer: Client, lab: Cluster) -> None:
    first = rows(viewer, cel=GUARDED, limit=2).json()
    second = viewer.get(first["next"]).json()
    assert [r["name"] for r in first["results"] + second["results"]] == [
        "a0",
        "a1",
        "b1",
    ]
    assert second["cel"]["matched"] == 3


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ({"cel": "device.drivr == 'x'"}, "Line 1, column 7: undefined field 'drivr'"),
        ({"cel": "device.driver"}, "must evaluate to bool"),
        ({"cel": "true", "cluster": ""}, "name the cluster, too"),
    ],
)
def test_a_refused_expression_is_a_400_that_names_the_field(
    viewer: Client, lab: Cluster, query: dict[str, str], message: str
) -> None:
    answer = rows(viewer, **query)
    assert answer.status_code == 400
    (error,) = answer.json()["errors"]
    assert error["field"] == "cel"
    assert message in error["message"]


def test_a_row_is_found_by_the_state_it_has_now(
    viewer: Client, lab: Cluster, small: Small
) -> None:
    assert names(viewer, cel=GUARDED) == ["a0", "a1", "b1"]
    from claims.mirror import store_for

    changed = slice_("a", [nic("a0", 5), nic("a1", 25)], count=2)
    changed["metadata"]["resourceVersion"] = "2000"
    other = slice_("b", [nic("b0", 50)], count=2)
    other["metadata"]["resourceVersion"] = "2001"
    store_for("ResourceSlice", lab.pk).replace([changed, other], "2002")
    assert names(viewer, cel=GUARDED) == ["a1", "b0"]
