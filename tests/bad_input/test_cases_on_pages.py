"""Situations that people reported, as pages, REST and what-if show them."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import urlencode

import pytest
from django.test import Client

from claims.models import ResourceClaim
from dra import cel
from dra.cel.writing import literal
from dra.objects import DeviceAttribute
from inventory.history.happenings import DEVICE
from inventory.models import Device
from inventory.models_history import Happening
from tests.allocator import builders as build
from tests.bad_input.test_cases_from_the_field import api, page
from tests.inventory.mirror.worlds import Json, claim, make, slice_
from tests.mirrored import mirror

pytestmark = pytest.mark.django_db


@pytest.fixture
def viewer(client_of: Callable[..., Client]) -> Client:
    return client_of("viewer")


def driver_version(expression: str) -> bool:
    attributes = {"driverVersion": DeviceAttribute(version="580.105.8")}
    device = cel.DeviceInput(driver="gpu.example.com", attributes=attributes)
    version = 'device.attributes["gpu.example.com"].driverVersion'
    found = cel.compile(f"{version}.{expression}").evaluate(device)
    assert isinstance(found, bool)
    return found


def test_versions_are_ordered_by_number_and_not_by_text() -> None:
    assert driver_version('compareTo(semver("580.95.5")) > 0')
    assert not driver_version('isGreaterThan(semver("580.105.10"))')


def test_odd_values_are_found_by_what_they_are(viewer: Client) -> None:
    attributes = {
        "numa_node": {"int": -1},
        "alias": {"string": ""},
        "rdma": {"bool": False},
    }
    other = {
        "numa_node": {"int": 0},
        "alias": {"string": "a"},
        "rdma": {"bool": True},
    }
    mirror(
        [
            slice_(
                "s",
                devices=[
                    {"name": "odd", "attributes": attributes},
                    {"name": "even", "attributes": other},
                ],
            )
        ]
    )
    for condition in ("numa_node < 0", 'alias == ""', "rdma == false"):
        expression = f'device.attributes["gpu.example.com"].{condition}'
        query = urlencode({"cluster": "demo", "cel": expression})
        assert [d["name"] for d in api(viewer, f"devices/?{query}")] == ["odd"]


def test_a_number_of_64_bits_is_shown_to_its_last_digit(viewer: Client) -> None:
    most = 2**63 - 1
    attributes = {"serial": {"int": most}, "on": {"bool": True}}
    mirror([slice_("s", devices=[{"name": "big", "attributes": attributes}])])
    text = page(viewer, "/c/demo/devices/gpu.example.com/node-1/big/")
    assert str(most) in text
    assert "true" in text
    raw = viewer.get("/api/v1/devices/?cluster=demo").content.decode()
    assert str(most) in raw
    query = urlencode({"attr": f"gpu.example.com/serial={most}"})
    assert "big" in page(viewer, f"/c/demo/devices/?{query}")
    query = urlencode({"attr": f"gpu.example.com/serial={most - 1}"})
    assert "/gpu.example.com/node-1/big/" not in page(
        viewer, f"/c/demo/devices/?{query}"
    )


@pytest.mark.parametrize(
    "value",
    [
        'NVIDIA "A10" 24GB',
        "back\\\\slash",
        " leading and trailing ",
        "line\nbreak",
        "Grafik-Beschleuniger ü",
        '") || true || device.driver == ("',
    ],
)
def test_what_a_form_puts_into_an_expression_is_that_text_and_no_other(
    value: str,
) -> None:
    name = 'device.attributes["gpu.example.com"].productName'
    program = cel.compile(f"{name} == {literal(value)}")

    def matches(text: str) -> object:
        attributes = {"productName": DeviceAttribute(string=text)}
        return program.evaluate(
            cel.DeviceInput(driver="gpu.example.com", attributes=attributes)
        )

    assert matches(value) is True
    assert matches(f"{value}!") is False


def test_a_pod_that_names_a_claim_of_another_namespace_is_told(viewer: Client) -> None:
    pod = make(
        "Pod",
        "p",
        "web",
        spec={"resourceClaims": [{"name": "gpu", "resourceClaimName": "mine"}]},
        status={"phase": "Pending"},
    )
    mirror([slice_("s"), claim("mine"), pod])
    text = page(viewer, "/c/demo/pods/web/p/")
    assert "this claim does not exist" in text
    assert "A pod uses claims of its own namespace only" in text
    assert ">default/mine</a> is out of its reach" in text
    assert "No pod names it." in page(viewer, "/c/demo/claims/default/mine/")


def test_of_very_many_consumers_the_first_are_shown_and_the_limit_is_said(
    viewer: Client,
) -> None:
    shared = claim("fabric", "gpu-0")
    pods = [
        {"resource": "pods", "name": f"late-{i}", "uid": f"u{i}"} for i in range(256)
    ]
    shared["status"]["reservedFor"] = pods[:255]
    mirror([slice_("s"), shared], name="demo")
    shared["status"]["reservedFor"] = pods
    mirror([slice_("s"), shared], name="full")
    address = "claims/default/fabric/"
    text = page(viewer, f"/c/full/{address}")
    assert "256 of 256 consumers" in text
    assert "the next pod that uses it will not be scheduled" in text
    assert "And 236 more" in text
    nearly = page(viewer, f"/c/demo/{address}")
    assert "255 of 256 consumers" in nearly
    assert "the next pod that uses it" not in nearly


@pytest.mark.parametrize(
    "allocation", [{}, {"devices": {"results": None, "config": None}}]
)
def test_an_allocation_without_devices_is_one_everywhere(
    allocation: Json, viewer: Client
) -> None:
    empty = claim("empty")
    empty["status"] = {"allocation": allocation, "reservedFor": None}
    mirror([slice_("s"), empty, make("ResourceClaim", "bare", spec={"devices": {}})])
    assert ResourceClaim.objects.get(name="empty").state == "allocated"
    assert "It holds 0 devices" in page(viewer, "/c/demo/claims/default/empty/")
    states = {c["name"]: c["state"] for c in api(viewer, "claims/?cluster=demo")}
    assert states == {"empty": "allocated", "bare": "pending"}
    assert set(Device.objects.values_list("state", flat=True)) == {"free"}
    page(viewer, "/c/demo/claims/")
    page(viewer, "/c/demo/claims/default/bare/")


def test_slices_of_a_scenario_have_to_announce_how_many_they_are(
    viewer: Client,
) -> None:
    mirror([slice_("s")])
    drafted = slice_("more", pool="node-2", count=0)
    edit = {"edit": "add", "objects": [drafted]}
    answer = viewer.post(
        "/api/v1/clusters/demo/what-if/",
        {"scenario": {"edits": [edit]}},
        content_type="application/json",
    )
    assert answer.status_code == 400
    assert "resourceSliceCount" in answer.content.decode()


def test_a_slice_that_a_restarted_driver_publishes_again_is_no_change(
    viewer: Client,
) -> None:
    lab = build.Mirror()
    lab.replace(build.lab())
    piece = build.slice_("n0", 2)
    lab.put(piece)
    before = set(Happening.objects.values_list("pk", flat=True))
    lab.delete(piece)
    lab.put(piece)
    both = Happening.objects.exclude(pk__in=before).filter(kind=DEVICE)
    assert both.exists()
    changes = f"/c/{lab.cluster.name}/changes/"
    assert "devices gone" not in page(viewer, changes)
    assert "devices come" not in page(viewer, changes)
    lab.delete(piece)
    assert "devices gone 2" in page(viewer, changes)


def test_what_waits_for_a_pool_in_the_middle_of_an_update_names_it(
    viewer: Client,
) -> None:
    new = slice_("new", generation=2, count=2, devices=["gpu-0"])
    old = slice_("old", generation=1, count=2, devices=["gpu-1"])
    mirror([slice_class(), node_1(), new, old, claim("waits")])
    why = page(viewer, "/c/demo/claims/default/waits/why/")
    assert "1 of 2 slices" in why
    assert "node-1" in why
    pool = page(viewer, "/c/demo/pools/gpu.example.com/node-1/")
    assert "older generation, not used" in pool
    # What is stale is no device that could be free.
    assert set(Device.objects.values_list("name", "state")) == {("gpu-0", "incomplete")}


def slice_class() -> Json:
    selector = {"cel": {"expression": 'device.driver == "gpu.example.com"'}}
    return make("DeviceClass", "gpu", spec={"selectors": [selector]})


def node_1() -> Json:
    return make("Node", "node-1", spec={}, status={})
