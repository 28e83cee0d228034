"""Devices: found by any attribute; a page that says who holds it and what is left."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from inventory.filtersets import DeviceFilter
from inventory.models import Cluster, Device
from tests.inventory.views.conftest import claim, named, slice_

Small = Callable[..., Cluster]
GPU = {
    "attributes": {
        "type": {"string": "gpu"},
        "productName": {"string": "Big 80GB"},
        "other.example/rank": {"int": 3},
        "fast": {"bool": True},
    },
    "capacity": {"memory": {"value": "80Gi"}},
}
DEVICE = "/c/lab/devices/d.example/p1"


@pytest.fixture
def devices(small: Small) -> Cluster:
    return small(
        slice_(
            "s",
            [
                {"name": "big", **GPU},
                {"name": "small", "attributes": {"type": {"string": "GPU"}}},
                {"name": "nic", "attributes": {"type": {"string": "gpu-nic"}}},
            ],
        )
    )


def found(**query: Any) -> set[str]:
    filters = DeviceFilter(_query(query), queryset=Device.objects.all())
    return set(filters.qs.values_list("name", flat=True))


def _query(values: dict[str, Any]) -> Any:
    from django.http import QueryDict

    query = QueryDict(mutable=True)
    for name, value in values.items():
        query.setlist(name, value if isinstance(value, list) else [value])
    return query


def test_an_attribute_is_compared_exactly(devices: Cluster) -> None:
    assert found(attr="d.example/type=gpu") == {"big"}
    assert found(attr="d.example/type=GPU") == {"small"}
    assert found(attr="type=gpu") == set()
    assert found(attr="d.example/type=gp%") == set()


def test_conditions_add_up(devices: Cluster) -> None:
    assert found(attr=["d.example/type=gpu", "other.example/rank=3"]) == {"big"}
    assert found(attr=["d.example/type=gpu", "other.example/rank=4"]) == set()
    assert found(attr="d.example/memory=80Gi") == {"big"}
    assert found(attr="d.example/fast=true") == {"big"}


def test_an_attribute_without_value_asks_whether_it_is_there(devices: Cluster) -> None:
    assert found(attr="d.example/memory") == {"big"}
    assert found(attr="d.example/type") == {"big", "small", "nic"}


def test_free_text_reads_every_value(devices: Cluster) -> None:
    assert found(q="80gb") == {"big"}
    assert found(q="p1 gpu-nic") == {"nic"}
    assert found(q="n1") == {"big", "small", "nic"}


@pytest.mark.parametrize(
    ("attr", "sentence"),
    [(["x"] * 11, "at most 10 conditions"), (["x" * 601], "at most 600 characters")],
)
def test_conditions_are_bounded(
    viewer: Client, devices: Cluster, attr: list[str], sentence: str
) -> None:
    page = viewer.get("/c/lab/devices/", {"attr": attr})
    assert sentence in page.text
    assert page.context["list"].paginator.count == 0


def test_states_and_taints_are_filters(viewer: Client, small: Small) -> None:
    taint = {"key": "ill", "value": "yes", "effect": "NoSchedule"}
    small(
        slice_("s", [{"name": "a"}, {"name": "b", "taints": [taint]}, {"name": "c"}]),
        claim("mine", {"device": "c"}),
    )
    assert found(state=["tainted", "in use"]) == {"b", "c"}
    assert found(taint="ill") == {"b"}
    assert found(taint="il") == set()
    assert found(tainted="true") == {"b"}
    text = viewer.get("/c/lab/devices/").text
    assert "ill=yes:NoSchedule" in text
    assert "team/mine" in text


def test_columns_of_attributes_are_chosen_in_the_address(
    viewer: Client, devices: Cluster
) -> None:
    address = "/c/lab/devices/?cols=name,attr:d.example/type,attr:d.example/memory"
    response = viewer.get(f"{address}&format=json&sort=name")
    rows = json.loads(response.getvalue())
    assert rows[0] == {
        "name": "big",
        "attr:d.example/type": "gpu",
        "attr:d.example/memory": "80Gi",
    }
    page = viewer.get(address).text
    assert ">d.example/type</th>" in page
    assert 'value="attr:other.example/rank"' in page


def test_an_export_has_the_columns_that_were_asked_for(
    viewer: Client, devices: Cluster
) -> None:
    def header(columns: str) -> str:
        answer = viewer.get(f"/c/lab/devices/?cols={columns}&format=csv")
        return str(answer.getvalue().decode().splitlines()[0])

    assert header("name,summary") == "name,summary"
    assert header("summary") == "summary"
    assert "summary" not in header("")


def test_facets_count_values_and_link_to_the_narrowed_list(
    viewer: Client, devices: Cluster
) -> None:
    text = viewer.get("/c/lab/facets/?q=n1").text
    assert "Counted over all 3 devices" in text
    assert 'href="/c/lab/devices/?q=n1&amp;attr=d.example%2Ftype%3Dgpu"' in text
    on = viewer.get("/c/lab/facets/?attr=d.example/type=gpu").text
    assert 'href="/c/lab/devices/?" aria-current="true"' in on


def test_values_that_tell_devices_apart_are_no_facet(
    viewer: Client, small: Small
) -> None:
    small(
        slice_(
            "s",
            [
                {"name": f"g{n}", "attributes": {"uuid": {"string": f"GPU-{n}"}}}
                for n in range(50)
            ],
        )
    )
    text = viewer.get("/c/lab/facets/").text
    assert "Different for nearly every device" in text
    assert "GPU-7" not in text


def test_a_device_says_what_it_is(viewer: Client, devices: Cluster) -> None:
    text = viewer.get(f"{DEVICE}/big/").text
    assert '<span class="dim">other.example/</span>rank' in text
    assert "attr=other.example%2Frank%3D3" in text
    assert "A claim that matches it can have it." in text
    assert "No claim holds it." in text


def test_a_device_says_who_holds_it(viewer: Client, small: Small) -> None:
    holder = claim("mine", {"device": "a"})
    holder["status"]["reservedFor"] = [{"resource": "pods", "name": "job", "uid": "u"}]
    small(slice_("s", [{"name": "a"}]), holder)
    text = viewer.get(f"{DEVICE}/a/").text
    assert "/c/lab/claims/team/mine/" in text
    assert "/c/lab/pods/team/job/" in text
    assert "A claim holds it alone." in text


def test_a_shared_device_says_how_much_is_taken(viewer: Client, small: Small) -> None:
    device = {
        "name": "a",
        "allowMultipleAllocations": True,
        "capacity": {
            "memory": {
                "value": "80Gi",
                "requestPolicy": {
                    "default": "1Gi",
                    "validRange": {"min": "1Gi", "step": "1Gi"},
                },
            }
        },
    }
    share = {"device": "a", "shareID": "s1", "consumedCapacity": {"memory": "30Gi"}}
    more = {"device": "a", "shareID": "s2", "consumedCapacity": {"memory": "10Gi"}}
    small(slice_("s", [device]), claim("one", share), claim("two", more))
    text = viewer.get(f"{DEVICE}/a/").text
    assert "shared by 2" in text
    assert '<span class="num">40Gi</span>' in text
    assert "1Gi unless asked otherwise; from 1Gi in steps of 1Gi" in text


def test_a_blocked_device_names_the_counter_and_who_took_it(
    viewer: Client, small: Small
) -> None:
    def part(name: str, memory: str) -> dict[str, Any]:
        use = {"counterSet": "card", "counters": {"memory": {"value": memory}}}
        return {"name": name, "consumesCounters": [use]}

    card = [{"name": "card", "counters": {"memory": {"value": "80Gi"}}}]
    small(
        slice_("c", [], count=2, sharedCounters=card),
        slice_("s", [part("whole", "80Gi"), part("half", "40Gi")], count=2),
        claim("mine", {"device": "half"}),
    )
    text = viewer.get(f"{DEVICE}/whole/").text
    assert "blocked by counters" in text
    assert "Not enough is left of memory: half took it." in text
    assert "1 other device cut from it" in text
    assert "Not enough" not in viewer.get(f"{DEVICE}/half/").text


def test_a_taint_of_a_rule_names_the_rule(viewer: Client, small: Small) -> None:
    rule = named(
        "DeviceTaintRule",
        "hot",
        {
            "deviceSelector": {"driver": "d.example", "device": "a"},
            "taint": {"key": "hot", "effect": "NoSchedule"},
        },
    )
    small(slice_("s", [{"name": "a"}, {"name": "b"}]), rule)
    text = viewer.get(f"{DEVICE}/a/").text
    assert "put there by rule" in text
    assert "/c/lab/taint-rules/hot/" in text
    page = viewer.get("/c/lab/taint-rules/hot/").text
    assert "1 device named by it" in page
    assert "To free them: kubectl delete devicetaintrule hot." in page
    assert "driver d.example, device a" in viewer.get("/c/lab/taint-rules/").text


@pytest.mark.parametrize(
    ("added", "said"),
    [
        ("2020-01-02T03:04:05Z", 'title="02 Jan 2020 03:04:05 UTC"'),
        ("2020-01-02", "2020-01-02"),
        ("2020-13-45T00:00:00Z", "2020-13-45T00:00:00Z"),
        ("<b>soon", "&lt;b&gt;soon"),
    ],
)
def test_a_taint_says_since_when_or_what_is_written_there(
    added: str, said: str, viewer: Client, small: Small
) -> None:
    taint = {"key": "hot", "effect": "NoSchedule", "timeAdded": added}
    spec = {"deviceSelector": {"driver": "d.example"}, "taint": taint}
    small(slice_("s", [{"name": "a"}]), named("DeviceTaintRule", "hot", spec))
    assert said in viewer.get(f"{DEVICE}/a/").text
    assert said in viewer.get("/c/lab/taint-rules/hot/").text


def test_the_yaml_of_a_device_is_its_part_of_the_slice(
    viewer: Client, devices: Cluster
) -> None:
    text = viewer.get(f"{DEVICE}/nic/yaml/?format=yaml").text
    assert text == "attributes:\n  type:\n    string: gpu-nic\nname: nic\n"


def test_a_device_that_is_gone_says_so(viewer: Client, devices: Cluster) -> None:
    page = viewer.get(f"{DEVICE}/gone/")
    assert page.status_code == 404
    assert "does not publish a device “gone” in pool “p1”" in page.text
    assert viewer.get(f"{DEVICE}/gone/classes/").status_code == 404


def test_hostile_names_are_text(viewer: Client, small: Small) -> None:
    evil = "<script>alert(1)</script>"
    attributes = {"type": {"string": evil}}
    small(slice_("s", [{"name": "a", "attributes": attributes}]))
    for path in ("devices/", "devices/d.example/p1/a/", "facets/", "slices/s/yaml/"):
        assert evil not in viewer.get(f"/c/lab/{path}").text


def test_what_nobody_expected_as_a_value_is_shown(viewer: Client, small: Small) -> None:
    attributes = {"new": {"future": [1, True]}, "list": {"strings": ["a", "b"]}}
    cluster = small(slice_("s", [{"name": "a", "attributes": attributes}]))
    Device.objects.filter(cluster=cluster).update(
        attributes={"x/odd": "text", "x/list": {"bools": [True]}, "x/none": {}}
    )
    text = viewer.get(f"{DEVICE}/a/").text
    assert "list of bool" in text
    assert "odd" in text
