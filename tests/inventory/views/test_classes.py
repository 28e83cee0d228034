"""Classes: the selector, what it matches, who asks for it."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import unescape

from django.test import Client

from inventory.models import Cluster
from tests.inventory.views.conftest import claim, named, slice_

Small = Callable[..., Cluster]
RESULTS = {"HX-Request": "true", "HX-Target": "results"}
USE = {"HX-Request": "true", "HX-Target": "class-use"}


def class_(name: str, expression: str, **spec: object) -> dict[str, object]:
    selectors = [{"cel": {"expression": expression}}]
    return named("DeviceClass", name, {"selectors": selectors, **spec})


def test_the_list_is_there_at_once_and_counts_afterwards(
    viewer: Client, small: Small
) -> None:
    small(
        slice_("s", [{"name": "a"}, {"name": "b"}]),
        class_("any", "device.driver == 'd.example'"),
        claim("mine", {"device": "a"}),
    )
    page = viewer.get("/c/lab/classes/")
    assert "counting …" in page.text
    assert "data-refresh-now" in page.text
    rows = viewer.get("/c/lab/classes/", headers=RESULTS)
    assert '<span class="num">1 / 2</span>' in rows.text
    assert "data-refresh-now" not in rows.text
    again = viewer.get("/c/lab/classes/")
    assert '<span class="num">1 / 2</span>' in again.text
    assert '<a href="/c/lab/claims/?device_class=any">1</a>' in again.text


def test_a_class_shows_its_selector_as_cel_and_what_it_matches(
    viewer: Client, small: Small
) -> None:
    small(
        slice_("s", [{"name": "a"}, {"name": "b"}]),
        class_("any", "device.driver == 'd.example'"),
        claim("mine"),
    )
    page = viewer.get("/c/lab/classes/any/").text
    assert '<span class="hl-string">&#x27;d.example&#x27;</span>' in page
    assert "team/mine" in page
    use = viewer.get("/c/lab/classes/any/", headers=USE).text
    assert "<strong>2</strong> of 2 free" in use
    assert "Asked for by 1 claim and 0 templates." in use


def test_a_class_leads_to_the_list_of_what_it_matches(
    viewer: Client, small: Small
) -> None:
    fast = {"name": "a", "attributes": {"fast": {"bool": True}}}
    small(
        class_("fast", "has(device.attributes['d.example'].fast)"),
        slice_("s", [fast, {"name": "b"}]),
    )
    text = viewer.get("/c/lab/classes/fast/").text
    href = re.search(r'href="([^"]+)">List them<', text)
    assert href is not None
    listed = viewer.get(unescape(href[1])).text
    assert "1 device<" in listed
    assert "/devices/d.example/p1/a/" in listed


def test_a_class_that_matches_nothing_says_what_to_compare(
    viewer: Client, small: Small
) -> None:
    small(slice_("s", [{"name": "a"}]), class_("none", "device.driver == 'x.example'"))
    use = viewer.get("/c/lab/classes/none/", headers=USE).text
    assert "No published device matches it" in use
    assert "matches no device" in viewer.get("/c/lab/classes/", headers=RESULTS).text


def test_a_selector_that_fails_is_told_with_its_reason(
    viewer: Client, small: Small
) -> None:
    small(
        slice_("s", [{"name": "a"}]),
        class_("fails", "device.attributes['d.example'].nope == 1"),
    )
    use = viewer.get("/c/lab/classes/fails/", headers=USE).text
    assert "The selector fails on 1 device" in use
    assert "nope" in use
    assert "selector fails" in viewer.get("/c/lab/classes/", headers=RESULTS).text


def test_classes_that_offer_the_same_resource_are_named(
    viewer: Client, small: Small
) -> None:
    small(
        class_("one", "true", extendedResourceName="example.com/gpu"),
        class_("two", "true", extendedResourceName="example.com/gpu"),
    )
    text = viewer.get("/c/lab/classes/one/").text
    assert "example.com/gpu" in text
    assert "/c/lab/classes/two/" in text
    assert "the same extended resource" in text


def test_config_is_shown_as_yaml(viewer: Client, small: Small) -> None:
    config = [{"opaque": {"driver": "d.example", "parameters": {"sharing": "time"}}}]
    small(class_("any", "true", config=config))
    text = viewer.get("/c/lab/classes/any/?tab=config").text
    assert '<span class="hl-key">sharing</span>' in text


def test_a_device_knows_the_classes_that_match_it(viewer: Client, small: Small) -> None:
    small(
        slice_("s", [{"name": "a"}]),
        class_("any", "true"),
        class_("none", "false"),
        class_("fails", "device.attributes['d.example'].nope == 1"),
    )
    text = viewer.get("/c/lab/devices/d.example/p1/a/classes/").text
    order = [text.index(f"/c/lab/classes/{name}/") for name in ("any", "fails", "none")]
    assert order == sorted(order)
    assert "selector fails" in text
    assert "</svg>yes</span>" in text


def test_only_classes_with_an_extended_resource(viewer: Client, small: Small) -> None:
    small(
        class_("one", "true", extendedResourceName="example.com/gpu"),
        class_("two", "true"),
    )
    page = viewer.get("/c/lab/classes/?extended=true").context["list"]
    assert [row.name for row in page.rows] == ["one"]
