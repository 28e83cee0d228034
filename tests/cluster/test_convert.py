from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cluster.convert import from_v1, old_layout_problem, to_v1
from cluster.standin.kinds import KINDS
from cluster.standin.versions import as_version

Json = dict[str, Any]
GROUP = "resource.k8s.io"

# Machines that run tests are busy; time is not what these laws are about.
unhurried = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])


def flat_claim(version: str = "v1beta1") -> Json:
    return {
        "apiVersion": f"{GROUP}/{version}",
        "kind": "ResourceClaim",
        "metadata": {"name": "c", "labels": {"a": "b"}},
        "spec": {
            "devices": {
                "requests": [
                    {
                        "name": "gpu",
                        "deviceClassName": "gpu.example.com",
                        "count": 2,
                        "allocationMode": "ExactCount",
                        "fieldOfTheFuture": {"x": 1},
                    },
                    {
                        "name": "either",
                        "deviceClassName": "",
                        "firstAvailable": [{"name": "a", "deviceClassName": "big"}],
                    },
                ],
                "constraints": [{"matchAttribute": "x/y"}],
            }
        },
        "status": {"allocation": {"devices": {"results": [{"device": "d"}]}}},
    }


def test_flat_requests_go_under_exactly_and_nothing_is_lost():
    claim = flat_claim()
    before = copy.deepcopy(claim)

    converted = to_v1(claim)

    assert claim == before
    assert converted["apiVersion"] == f"{GROUP}/v1"
    assert converted["spec"]["devices"]["requests"] == [
        {
            "name": "gpu",
            "exactly": {
                "deviceClassName": "gpu.example.com",
                "count": 2,
                "allocationMode": "ExactCount",
                "fieldOfTheFuture": {"x": 1},
            },
        },
        {
            "name": "either",
            "firstAvailable": [{"name": "a", "deviceClassName": "big"}],
        },
    ]
    assert converted["spec"]["devices"]["constraints"] == [{"matchAttribute": "x/y"}]
    assert converted["status"] == before["status"]
    assert converted["metadata"] == before["metadata"]


def test_a_template_is_converted_inside():
    template = {
        "apiVersion": f"{GROUP}/v1beta1",
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": "t"},
        "spec": {"metadata": {"labels": {"a": "b"}}, "spec": flat_claim()["spec"]},
    }
    [gpu, _] = to_v1(template)["spec"]["spec"]["devices"]["requests"]
    assert gpu["exactly"]["count"] == 2


def test_the_fields_of_a_device_are_lifted_out_of_basic():
    slice_ = {
        "apiVersion": f"{GROUP}/v1beta1",
        "kind": "ResourceSlice",
        "metadata": {"name": "s"},
        "spec": {
            "driver": "d",
            "devices": [
                {
                    "name": "gpu-0",
                    "basic": {
                        "attributes": {"model": {"string": "A"}},
                        "capacity": {"memory": {"value": "80Gi"}},
                        "fieldOfTheFuture": 1,
                    },
                },
                {"name": "empty", "basic": {}},
            ],
        },
    }
    assert to_v1(slice_)["spec"] == {
        "driver": "d",
        "devices": [
            {
                "name": "gpu-0",
                "attributes": {"model": {"string": "A"}},
                "capacity": {"memory": {"value": "80Gi"}},
                "fieldOfTheFuture": 1,
            },
            {"name": "empty"},
        ],
    }


def test_a_bare_capacity_of_v1alpha3_becomes_a_value():
    slice_ = {
        "apiVersion": f"{GROUP}/v1alpha3",
        "kind": "ResourceSlice",
        "spec": {"devices": [{"name": "d", "basic": {"capacity": {"memory": "1Gi"}}}]},
    }
    [device] = to_v1(slice_)["spec"]["devices"]
    assert device["capacity"] == {"memory": {"value": "1Gi"}}


def test_an_item_of_a_list_learns_its_kind_and_version():
    item = {"metadata": {"name": "n"}}
    assert to_v1(item, kind="Node", api_version="v1") == {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": "n"},
    }


def test_a_group_without_v1_is_called_v1_all_the_same():
    group = {"metadata": {"name": "g"}, "spec": {"x": 1}}
    api_version = "scheduling.k8s.io/v1alpha2"
    converted = to_v1(group, kind="PodGroup", api_version=api_version)
    assert converted["apiVersion"] == "scheduling.k8s.io/v1"
    assert converted["spec"] == {"x": 1}


@pytest.mark.parametrize("version", ["v1", "v1beta2"])
def test_v1_layout_is_left_alone_even_when_it_is_wrong(version):
    claim = flat_claim(version)
    assert to_v1(claim)["spec"] == claim["spec"]


@pytest.mark.parametrize(
    "spec",
    [
        None,
        5,
        [],
        {},
        {"devices": None},
        {"devices": []},
        {"devices": {"requests": None}},
        {"devices": {"requests": {}}},
        {"devices": {"requests": [None, 5, "x", [], {}]}},
        {"devices": {"requests": [{"name": "a", "exactly": 5, "count": 1}]}},
        {"devices": [None, 5, {"name": "x", "basic": 5}, {"basic": None}]},
    ],
)
@pytest.mark.parametrize("kind", ["ResourceClaim", "ResourceSlice"])
def test_odd_values_stay_where_they_are(kind, spec):
    obj = {"apiVersion": f"{GROUP}/v1beta1", "kind": kind, "spec": spec}
    assert to_v1(obj)["spec"] == spec


def test_fields_that_stand_in_both_places_are_kept():
    obj = {
        "apiVersion": f"{GROUP}/v1beta1",
        "kind": "ResourceSlice",
        "spec": {"devices": [{"name": "a", "basic": {"name": "b", "taints": []}}]},
    }
    [device] = to_v1(obj)["spec"]["devices"]
    assert device == {"name": "a", "taints": [], "basic": {"name": "b"}}


# --- laws ---

names = st.sampled_from(["a", "b", "gpu", "x-1"])
scalars = st.one_of(st.text(max_size=5), st.integers(), st.booleans())
details = st.dictionaries(
    st.sampled_from(["deviceClassName", "count", "adminAccess", "newField"]),
    scalars,
    min_size=1,
)
v1_request = st.one_of(
    st.fixed_dictionaries({"name": names, "exactly": details}),
    st.fixed_dictionaries(
        {"name": names, "firstAvailable": st.lists(details, min_size=1, max_size=2)}
    ),
)
v1_device = st.fixed_dictionaries(
    {"name": names},
    optional={
        "attributes": st.dictionaries(names, st.just({"string": "x"})),
        "capacity": st.dictionaries(names, st.just({"value": "1Gi"})),
        "newField": scalars,
    },
)
v1_claim_spec = st.fixed_dictionaries(
    {"devices": st.fixed_dictionaries({"requests": st.lists(v1_request, max_size=3)})}
)
v1_object = st.one_of(
    st.fixed_dictionaries({"kind": st.just("ResourceClaim"), "spec": v1_claim_spec}),
    st.fixed_dictionaries(
        {
            "kind": st.just("ResourceClaimTemplate"),
            "spec": st.fixed_dictionaries({"spec": v1_claim_spec}),
        }
    ),
    st.fixed_dictionaries(
        {
            "kind": st.just("ResourceSlice"),
            "spec": st.fixed_dictionaries({"devices": st.lists(v1_device, max_size=3)}),
        }
    ),
).map(lambda obj: {"apiVersion": f"{GROUP}/v1", "metadata": {"name": "x"}, **obj})


@unhurried
@given(obj=v1_object, version=st.sampled_from(["v1beta1", "v1beta2", "v1"]))
def test_there_and_back_is_the_same(obj, version):
    kind = KINDS[obj["kind"]]
    body = {k: v for k, v in obj.items() if k not in ("apiVersion", "kind")}
    served = as_version(kind, version, copy.deepcopy(body))
    back = to_v1(served, kind=kind.name, api_version=f"{GROUP}/{version}")
    assert back == obj


@unhurried
@given(obj=v1_object, version=st.sampled_from(["v1beta1", "v1beta2", "v1alpha3"]))
def test_converting_twice_changes_nothing_more(obj, version):
    once = to_v1({**obj, "apiVersion": f"{GROUP}/{version}"})
    assert to_v1(once) == once
    again = to_v1({**once, "apiVersion": f"{GROUP}/{version}"})
    assert again == once


# --- a v1 header over a v1beta1 body ---


def test_a_flat_request_under_v1_is_recognised():
    problem = old_layout_problem(flat_claim("v1"))
    assert problem == (
        "spec.devices.requests[0].deviceClassName: this is the v1beta1 layout under a "
        "v1 header; write it under spec.devices.requests[0].exactly, or set apiVersion "
        "to resource.k8s.io/v1beta1"
    )


def test_a_flat_request_in_a_template_is_recognised():
    template = {
        "apiVersion": f"{GROUP}/v1",
        "kind": "ResourceClaimTemplate",
        "spec": {"spec": {"devices": {"requests": [{}, {"allocationMode": "all"}]}}},
    }
    problem = old_layout_problem(template)
    assert problem is not None
    assert problem.startswith("spec.spec.devices.requests[1].allocationMode: ")


def test_a_basic_device_under_v1_is_recognised():
    slice_ = {
        "apiVersion": f"{GROUP}/v1",
        "kind": "ResourceSlice",
        "spec": {"devices": [{"name": "gpu7rdma0", "basic": {"attributes": {}}}]},
    }
    problem = old_layout_problem(slice_)
    assert problem is not None
    assert problem.startswith("spec.devices[0].basic: this is the v1beta1 layout")


def test_the_same_body_under_its_own_header_is_no_problem():
    assert old_layout_problem(flat_claim("v1beta1")) is None
    assert old_layout_problem(to_v1(flat_claim("v1beta1"))) is None


@unhurried
@given(obj=v1_object)
def test_v1_objects_are_no_problem(obj):
    assert old_layout_problem(obj) is None


@pytest.mark.parametrize(
    "spec", [None, 5, [], {"devices": 5}, {"devices": {"requests": [5, None]}}]
)
@pytest.mark.parametrize(
    "kind", ["ResourceClaim", "ResourceClaimTemplate", "ResourceSlice", "Node"]
)
def test_odd_values_are_not_its_business(kind, spec):
    obj = {"apiVersion": f"{GROUP}/v1", "kind": kind, "spec": spec}
    assert old_layout_problem(obj) is None


@pytest.mark.parametrize("version", ["v1", "v1beta2", "v1beta1"])
@pytest.mark.parametrize("kind", ["ResourceClaim", "ResourceClaimTemplate"])
def test_what_goes_out_in_an_older_version_comes_back_the_same(
    kind: str, version: str
) -> None:
    requests = [
        {"name": "a", "exactly": {"deviceClassName": "gpu", "count": 2}},
        {"name": "b", "firstAvailable": [{"name": "x", "deviceClassName": "gpu"}]},
        {"name": "c"},
        "no request",
    ]
    spec: Json = {"devices": {"requests": requests, "constraints": []}}
    body = {"metadata": {"name": "n"}, "spec": spec}
    if kind == "ResourceClaimTemplate":
        body["spec"] = {"metadata": {"labels": {"a": "b"}}, "spec": spec}
    sent = from_v1(kind, body, version)
    header = {"apiVersion": f"resource.k8s.io/{version}", "kind": kind}
    back = to_v1({**header, **sent})
    assert {k: v for k, v in back.items() if k not in header} == body
    inner = sent["spec"].get("spec", sent["spec"])["devices"]["requests"][0]
    assert ("exactly" in inner) == (version != "v1beta1")


@pytest.mark.parametrize("spec", [None, [], {}, {"devices": 1}, {"devices": {}}])
def test_parts_of_an_unexpected_type_go_out_as_they_are(spec: Any) -> None:
    assert from_v1("ResourceClaim", {"spec": spec}, "v1beta1") == {"spec": spec}
