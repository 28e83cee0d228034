"""What the API server would say to a draft, and what its author should know."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from claims.authoring.checking import checked
from dra.cel.selection import Stop
from dra.snapshot import Snapshot
from inventory.models import Cluster
from tests.allocator import builders as build
from tests.allocator.builders import Json

LAB = Cluster(pk=1, name="lab", version="v1.36.2")
EXPRESSION = "spec.devices.requests[0].exactly.selectors[0].cel.expression"


@pytest.fixture(scope="module")
def world() -> Snapshot:
    world = Snapshot.build([*build.lab()])
    world.devices()
    return world


def draft(*requests: Json, **meta: Any) -> Json:
    spec = {"devices": {"requests": list(requests) or [build.request()]}}
    return {
        "apiVersion": build.DRA,
        "kind": "ResourceClaim",
        "metadata": {"name": "mine", "namespace": "lab"} | meta,
        "spec": spec,
    }


def selecting(expression: str) -> Json:
    return draft(build.request(selectors=[{"cel": {"expression": expression}}]))


def test_a_good_claim_is_accepted(world: Snapshot) -> None:
    found = checked(LAB, world, draft())
    assert found.accepted
    assert found.sentence == "The API server would accept it."
    assert (found.problems, found.advice, found.notes) == ((), (), 0)


def test_what_the_server_adds_is_told(world: Snapshot) -> None:
    found = checked(LAB, world, draft({"name": "gpu", "exactly": _only_class()}))
    at = "spec.devices.requests[0].exactly"
    assert found.defaulted == {f"{at}.allocationMode": "ExactCount", f"{at}.count": 1}


def test_errors_stand_at_their_fields(world: Snapshot) -> None:
    bad = draft(build.request("Not A Label"), build.request(count=-1))
    found = checked(LAB, world, bad)
    assert not found.accepted
    assert [p.field for p in found.problems] == [
        "spec.devices.requests[0].name",
        "spec.devices.requests[1].exactly.count",
    ]
    assert found.sentence.startswith("2 errors: spec.devices.requests[0].name: Invalid")
    assert found.defaulted == {}


def test_many_errors_are_counted_and_not_all_spelled_out(world: Snapshot) -> None:
    found = checked(LAB, world, draft(*[build.request(f"{n} x") for n in range(9)]))
    assert len(found.problems) == 9
    assert found.sentence.startswith("9 errors: ")
    assert found.sentence.endswith("; and 7 more.")


def test_an_error_in_an_expression_has_its_place(world: Snapshot) -> None:
    text = 'device.driver == "ü" && device.drivr == "x"'
    (problem,) = checked(LAB, world, selecting(text)).problems
    assert problem.field == EXPRESSION
    assert (problem.start, problem.end) == (30, 31)
    assert problem.issues[0].message == "undefined field 'drivr'"


def test_the_places_of_an_expression_are_found_in_every_layout(world: Snapshot) -> None:
    flat: Json = {"name": "gpu"} | _only_class()
    flat["selectors"] = [{"cel": {"expression": "device.drivr"}}]
    old = draft(flat) | {"apiVersion": "resource.k8s.io/v1beta1"}
    (problem,) = checked(LAB, world, old).problems
    assert (problem.field, problem.start) == (EXPRESSION, 6)


def test_an_expression_that_costs_too_much_says_what_it_costs(world: Snapshot) -> None:
    many = ", ".join(f'"{n}"' for n in range(200))
    text = f"[{many}].all(a, [{many}].all(b, [{many}].exists(c, a == b && b == c)))"
    (problem,) = checked(LAB, world, selecting(text)).problems
    assert problem.reason == "FieldValueForbidden"
    assert problem.cost is not None
    assert problem.cost.high > 1_000_000
    assert problem.issues == ()


def test_advice_is_kept_apart_from_errors(world: Snapshot) -> None:
    found = checked(LAB, world, selecting(f'device.driver == "{build.GPU}x"'))
    assert found.accepted
    assert "selector-matches-none" in {a.code for a in found.advice}
    assert found.sentence == (
        f"The API server would accept it; {len(found.advice)} things to know."
    )


def test_an_old_layout_offers_the_converted_object(world: Snapshot) -> None:
    old = draft({"name": "gpu"} | _only_class())
    found = checked(LAB, world, old)
    assert not found.accepted
    assert found.converted["spec"]["devices"]["requests"] == [
        {"name": "gpu", "exactly": _only_class()}
    ]
    assert "take the converted object" in found.sentence
    assert checked(LAB, world, found.converted).accepted


def test_a_field_whose_feature_is_off_is_told_to_be_dropped(world: Snapshot) -> None:
    tolerant = draft(build.request(tolerations=[{"operator": "Exists"}]))
    older = Cluster(pk=2, name="older", version="v1.34.1")
    found = checked(older, world, tolerant)
    assert found.accepted
    assert found.dropped == ("spec.devices.requests[0].exactly.tolerations",)
    assert found.sentence.endswith("; 1 thing to know.")
    assert checked(LAB, world, tolerant).dropped == ()


def test_an_unknown_field_is_a_warning_once(world: Snapshot) -> None:
    odd = draft(build.request(colour="red"))
    found = checked(LAB, world, odd)
    assert found.warnings == (
        'unknown field "spec.devices.requests[0].exactly.colour"',
    )
    assert (found.dropped, found.notes) == ((), 1)
    assert found.sentence == (
        "The API server would accept it; 1 thing to know. It has 1 field that nobody "
        "would read: kubectl and the portal ask the API server to refuse it for that."
    )


def test_an_object_without_its_version_is_sent_by_nobody(world: Snapshot) -> None:
    bare = draft(build.request())
    del bare["apiVersion"]
    found = checked(LAB, world, bare)
    assert not found.accepted
    assert [problem.field for problem in found.problems] == ["apiVersion"]


@pytest.mark.parametrize("version", ["", "unknown", "v1.36.2"])
def test_a_cluster_of_unknown_version_is_taken_for_1_36(
    world: Snapshot, version: str
) -> None:
    cluster = Cluster(pk=3, name="new", version=version)
    tolerant = draft(build.request(tolerations=[{"operator": "Exists"}]))
    assert checked(cluster, world, tolerant).dropped == ()


# --- where it goes ---


def test_the_namespace_of_the_object_counts_then_that_of_the_address(
    world: Snapshot,
) -> None:
    own = draft(namespace="gone")
    found = checked(LAB, world, own, namespace="lab")
    assert found.problems[0].field == "metadata.namespace"
    assert "not found" in found.problems[0].message
    nowhere = draft()
    del nowhere["metadata"]["namespace"]
    assert checked(LAB, world, nowhere, namespace="lab").accepted
    assert not checked(LAB, world, nowhere, namespace="gone").accepted
    assert checked(LAB, world, nowhere).accepted  # default


def test_without_any_namespace_known_none_is_missed() -> None:
    world = Snapshot.build([build.device_class(), build.slice_("n0")])
    assert checked(LAB, world, draft(namespace="anything")).accepted


def test_admin_access_needs_the_label_of_the_namespace() -> None:
    label = {"resource.kubernetes.io/admin-access": "true"}
    objects = build.lab()
    objects[0]["metadata"]["labels"] = label
    asks = draft(build.request(adminAccess=True))
    assert checked(LAB, Snapshot.build(objects), asks).accepted
    del objects[0]["metadata"]["labels"]
    found = checked(LAB, Snapshot.build(objects), asks)
    assert found.problems[0].field == "spec.devices.requests[0].adminAccess"
    assert "admin-access" in {a.code for a in found.advice}


# --- changes, other kinds, other values ---


def test_a_spec_cannot_be_changed(world: Snapshot) -> None:
    stored = build.claim("mine")
    changed = copy.deepcopy(stored)
    changed["spec"]["devices"]["requests"][0]["exactly"]["count"] = 2
    found = checked(LAB, world, changed, old=stored)
    assert [p.field for p in found.problems] == ["spec"]
    assert checked(LAB, world, stored, old=stored).accepted


def test_templates_classes_and_slices_are_checked_too(world: Snapshot) -> None:
    for obj in (build.template("t"), build.device_class("c"), build.slice_("n9")):
        del obj["metadata"]["resourceVersion"]
        assert checked(LAB, world, obj).accepted, obj["kind"]


def test_another_kind_is_not_checked_and_says_so(world: Snapshot) -> None:
    found = checked(LAB, world, build.pod("p", "c"))
    assert found.accepted is None
    assert found.sentence == (
        "Objects of kind Pod are not checked here, only DeviceClass, DeviceTaintRule, "
        "ResourceClaim, ResourceClaimTemplate and ResourceSlice."
    )


@pytest.mark.parametrize("value", [None, 7, "text", [], [{}], {}, {"kind": 3}])
def test_what_is_no_object_is_an_error(world: Snapshot, value: Any) -> None:
    found = checked(LAB, world, value)
    assert found.accepted is False
    assert found.sentence.startswith("1 error: ")


def test_when_the_time_is_over_the_servers_answer_is_there(world: Snapshot) -> None:
    over: Stop = lambda: True  # noqa: E731 - a stop is a callable
    fresh = Snapshot.build([*build.lab()])
    found = checked(LAB, fresh, selecting("device.driver.size() > 2"), stop=over)
    assert found.accepted
    assert found.incomplete.startswith("Not all advice is known.")


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(max_size=6), inner, max_size=3)
    ),
    max_leaves=6,
)


@given(value=JSON_VALUES, where=st.integers(0, 5), kind=st.integers(0, 2))
@settings(max_examples=150, deadline=None)
def test_nothing_raises(value: Any, where: int, kind: int) -> None:
    world = _small_world()
    obj = [draft(), build.template("t"), build.device_class()][kind]
    places: list[Callable[[], None]] = [
        lambda: obj.update(metadata=value),
        lambda: obj.update(spec=value),
        lambda: obj["spec"].update(devices=value, selectors=value, spec=value),
        lambda: obj.update(apiVersion=value),
        lambda: obj["metadata"].update(namespace=value),
        lambda: obj.update(spec={"devices": {"requests": [value]}}),
    ]
    places[where]()
    found = checked(LAB, world, obj)
    assert found.sentence
    assert found.accepted is (not found.problems)


_worlds: list[Snapshot] = []


def _small_world() -> Snapshot:
    if not _worlds:
        _worlds.append(Snapshot.build([*build.lab(1)]))
    return _worlds[0]


def _only_class() -> Json:
    return {"deviceClassName": build.GPU}
