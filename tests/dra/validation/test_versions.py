"""Every served version is read into one form and answered in the version sent."""

from __future__ import annotations

import copy

import pytest

from dra.validation.gates import Gates
from tests.dra.validation.conformance import cases
from tests.dra.validation.objects import Json, claim, piece, request, template
from tests.dra.validation.writes import create, faults, update

FLAT: Json = {
    "apiVersion": "resource.k8s.io/v1beta1",
    "kind": "ResourceClaim",
    "metadata": {"name": "claim", "namespace": "team"},
    "spec": {"devices": {"requests": [{"name": "gpu", "deviceClassName": "gpu"}]}},
}


def test_a_flat_request_of_v1beta1_is_defaulted_flat():
    found = create(FLAT)
    assert found.accepted
    (kept,) = found.object["spec"]["devices"]["requests"]
    assert kept == {
        "name": "gpu",
        "deviceClassName": "gpu",
        "allocationMode": "ExactCount",
        "count": 1,
    }


def test_faults_of_v1beta1_stand_at_the_fields_of_v1():
    sent = copy.deepcopy(FLAT)
    sent["spec"]["devices"]["requests"][0]["count"] = -1
    assert faults(create(sent)) == [
        ("spec.devices.requests[0].exactly.count", "FieldValueInvalid")
    ]


def test_what_is_stored_in_one_version_may_be_sent_in_another():
    stored = create(claim(request("gpu", "gpu"))).object
    assert update(stored, FLAT).accepted
    assert update(FLAT, claim(request("gpu", "gpu"))).accepted


@pytest.mark.parametrize(
    ("version", "kubernetes", "ends"),
    [
        ("v1beta1", "1.34", None),
        ("v1beta1", "1.36", ("1.35", "1.38")),
        ("v1beta2", "1.35", None),
        ("v1beta2", "1.36", ("1.36", "1.39")),
        ("v1", "1.37", None),
    ],
)
def test_the_server_warns_of_versions_that_come_to_an_end(version, kubernetes, ends):
    body = FLAT if version == "v1beta1" else claim(request("gpu", "gpu"))
    found = create(
        {**body, "apiVersion": f"resource.k8s.io/{version}"},
        features=Gates.preset(kubernetes),
    )
    said = (
        f"resource.k8s.io/{version} ResourceClaim is deprecated in v{ends[0]}+, "
        f"unavailable in v{ends[1]}+"
        if ends
        else None
    )
    assert found.warnings == ((said,) if said else ())


def test_a_flat_request_under_v1_is_unknown_fields_and_empty():
    found = create({**FLAT, "apiVersion": "resource.k8s.io/v1"})
    assert ("spec.devices.requests[0]", "FieldValueRequired") in faults(found)
    assert any("deviceClassName" in warning for warning in found.warnings)


def test_a_mode_of_another_case_is_no_mode():
    sent = copy.deepcopy(FLAT)
    sent["spec"]["devices"]["requests"][0]["allocationMode"] = "all"
    found = create(sent)
    assert faults(found) == [
        ("spec.devices.requests[0].exactly.allocationMode", "FieldValueNotSupported")
    ]
    assert '"All", "ExactCount"' in found.causes[0].message


def test_devices_of_v1beta1_are_basic():
    sent = piece(
        "net.example.com",
        {
            "name": "enp0s8",
            "basic": {
                "attributes": {
                    "alias": {"string": ""},
                    "numa_node": {"int": -1},
                    "pci_address_bus": {"string": "00"},
                }
            },
        },
    )
    sent["apiVersion"] = "resource.k8s.io/v1beta1"
    found = create(sent)
    assert found.accepted
    assert found.object["spec"]["devices"] == sent["spec"]["devices"]


@pytest.mark.parametrize(
    "where",
    [{"nodeName": "", "allNodes": True}, {"nodeName": "n1", "allNodes": False}],
)
def test_empty_nodes_of_a_slice_are_not_set_in_v1beta1_only(where):
    sent = piece("net.example.com", **where)
    assert not create(sent).accepted
    found = create({**sent, "apiVersion": "resource.k8s.io/v1beta1"})
    assert found.accepted
    (kept,) = (name for name in where if where[name])
    assert [name for name in where if name in found.object["spec"]] == [kept]


@pytest.mark.parametrize("version", ["v1beta1", "v1beta2", "v1"])
def test_a_template_is_served_in_every_version(version):
    request_ = FLAT if version == "v1beta1" else claim(request("gpu", "gpu"))
    sent = template({**request_, "apiVersion": f"resource.k8s.io/{version}"})
    found = create(sent)
    assert found.accepted
    assert found.object["apiVersion"] == sent["apiVersion"]


def test_what_was_answered_is_accepted_as_it_is():
    for case in cases():
        if case.request.update or not case.accepted:
            continue
        first = create(case.request.object, namespaces=case.request.namespaces)
        again = create(first.object, namespaces=case.request.namespaces)
        assert again.accepted, case.id
        assert again.object == first.object, case.id
        assert not again.defaulted, case.id
