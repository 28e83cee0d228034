"""What cannot be read: the place, the type that is expected, nothing else checked."""

from __future__ import annotations

from typing import Any

import pytest

from dra.validation import Request, validate
from tests.dra.validation.objects import claim, piece, request
from tests.dra.validation.writes import (
    create,
    faults,
    refused,
    said,
    with_metadata,
    with_spec,
)

CLAIM = claim(request("gpu", "gpu"))

TAINT = {"key": "example.com/broken", "effect": "NoSchedule"}


def _details(**details: Any) -> dict[str, Any]:
    return claim(request("gpu", "gpu", **details))


@pytest.mark.parametrize(
    ("sent", "field"),
    [
        (_details(count="2"), "spec.devices.requests"),
        (_details(count=2**63), "spec.devices.requests"),
        (_details(adminAccess="yes"), "spec.devices.requests"),
        (_details(allocationMode=1), "spec.devices.requests"),
        (_details(selectors={"cel": {}}), "spec.devices.requests"),
        (_details(capacity={"requests": {"m": "1Gx"}}), "spec.devices.requests"),
        (with_spec(CLAIM, devices=[]), "spec.devices"),
        ({**CLAIM, "spec": "x"}, "spec"),
        (with_metadata(CLAIM, labels=["a"]), "metadata.labels"),
        (with_metadata(CLAIM, name=1), "metadata.name"),
        (with_metadata(CLAIM, creationTimestamp="yesterday"), "metadata"),
    ],
)
def test_a_wrong_type_is_told_where_it_is(sent, field):
    found = create(sent)
    assert (found.code, refused(found).reason) == (400, "BadRequest")
    assert refused(found).field.startswith(field)
    assert said(found)
    assert found.object is None


@pytest.mark.parametrize(
    "sent",
    [
        None,
        [],
        "text",
        1,
        {**CLAIM, "kind": "DeviceClass"},
        {**CLAIM, "apiVersion": "v1"},
    ],
)
def test_what_is_no_object_of_the_kind_is_refused(sent):
    found = validate(Request("ResourceClaim", sent, "team"))
    assert found.code == 400
    assert said(found)


def test_the_address_says_what_an_object_is_that_does_not():
    sent = {name: CLAIM[name] for name in ("metadata", "spec")}
    assert validate(Request("ResourceClaim", sent, "team")).accepted


def test_a_version_that_is_not_served_is_not_found():
    assert create({**CLAIM, "apiVersion": "resource.k8s.io/v9"}).code == 404


def test_a_kind_that_is_not_served_is_not_found():
    assert validate(Request("Pod", CLAIM, "team")).code == 404
    assert validate(Request("ResourceClaim", CLAIM, subresource="scale")).code == 404


def test_null_is_as_good_as_nothing():
    assert create(_details(count=None, selectors=None, adminAccess=None)).accepted
    assert create(with_metadata(CLAIM, labels=None)).accepted


def test_defaults_apply_to_null_inside_a_list():
    place = "spec.devices.requests[0]"
    assert create(_details(tolerations=[None])).accepted
    sent = claim({"name": "gpu", "firstAvailable": [None]})
    assert faults(create(sent)) == [
        (f"{place}.firstAvailable[0].name", "FieldValueInvalid"),
        (f"{place}.firstAvailable[0].deviceClassName", "FieldValueRequired"),
    ]


def test_unknown_fields_are_warned_of_and_dropped():
    found = create(_details(nodes=3))
    assert found.accepted
    assert found.warnings == ('unknown field "spec.devices.requests[0].exactly.nodes"',)
    assert "nodes" not in found.object["spec"]["devices"]["requests"][0]["exactly"]


@pytest.mark.parametrize(
    ("sent", "stored"),
    [
        ("2026-01-02T03:04:05Z", "2026-01-02T03:04:05Z"),
        ("2026-01-02T3:04:05Z", "2026-01-02T03:04:05Z"),
        ("2026-01-02T03:04:05,678+02:30", "2026-01-02T00:34:05Z"),
        ("2026-01-02T03:04:05-24:00", "2026-01-03T03:04:05Z"),
        ("2026-01-02T03:04:05+01:60", "2026-01-02T01:04:05Z"),
    ],
)
def test_times_are_read_as_lenient_as_go_does(sent, stored):
    device = {"name": "gpu-0", "taints": [{**TAINT, "timeAdded": sent}]}
    found = create(piece("gpu.example.com", device))
    assert found.accepted
    (taint,) = found.object["spec"]["devices"][0]["taints"]
    assert taint["timeAdded"] == stored


@pytest.mark.parametrize(
    "sent",
    [
        "",
        "2026-01-02",
        "2026-01-02 03:04:05Z",
        "2026-01-02t03:04:05z",
        "2026-01-02T24:04:05Z",
        "2026-01-02T03:04:60Z",
        "2026-02-29T03:04:05Z",
        "2026-01-02T03:04:05",
        "2026-01-02T03:04:05+25:00",
        "2026-01-02T03:04:05+01:61",
    ],
)
def test_what_is_no_time_is_refused(sent):
    device = {"name": "gpu-0", "taints": [{**TAINT, "timeAdded": sent}]}
    found = create(piece("gpu.example.com", device))
    field = "spec.devices[0].taints[0].timeAdded"
    assert (found.code, refused(found).field) == (400, field)


def test_warnings_have_a_dot_before_keys_of_maps():
    device = {"name": "gpu-0", "attributes": {"a.com/rack": {"int": 1, "unit": "m"}}}
    found = create(piece("gpu.example.com", device))
    assert found.accepted
    assert found.warnings == (
        'unknown field "spec.devices[0].attributes.a.com/rack.unit"',
    )


def test_more_than_three_mebibytes_are_not_read():
    found = create(with_metadata(CLAIM, annotations={"a": "x" * 3 * 1024 * 1024}))
    assert (found.code, refused(found).reason) == (413, "RequestEntityTooLarge")
