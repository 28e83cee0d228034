"""Metadata: names, places, what an update may change, what a status update ignores."""

from __future__ import annotations

import pytest

from dra.validation import Request, validate
from tests.dra.validation.objects import claim, device_class, piece, request, template
from tests.dra.validation.writes import (
    create,
    faults,
    refused,
    said,
    update,
    update_status,
    with_metadata,
)

CLAIM = claim(request("gpu", "gpu"))
UID = "0b1ecf9f-0d5c-4b0a-9d4b-3f3a3f0b6d11"
STORED = with_metadata(
    CLAIM, uid=UID, resourceVersion="7", creationTimestamp="2026-01-02T03:04:05Z"
)


# --- names and places -------------------------------------------------------------------


def test_a_name_or_the_start_of_one_is_needed():
    assert faults(create(with_metadata(CLAIM, name=""))) == [
        ("metadata.name", "FieldValueRequired")
    ]
    generated = create(with_metadata(CLAIM, name="", generateName="train-"))
    assert generated.accepted
    assert "name" not in generated.object["metadata"]


def test_the_start_of_a_name_and_the_name_are_told_apart():
    found = create(with_metadata(CLAIM, name="", generateName="Train-"))
    assert faults(found) == [
        ("metadata.generateName", "FieldValueInvalid"),
        ("metadata.name", "FieldValueInvalid"),
    ]


def test_classes_look_at_the_whole_name_only():
    sent = with_metadata(device_class("x"), name="", generateName="GPU-")
    assert faults(create(sent)) == [("metadata.name", "FieldValueInvalid")]


def test_a_long_start_is_cut_before_it_is_completed():
    sent = with_metadata(CLAIM, name="", generateName="a" * 300)
    assert faults(create(sent)) == [("metadata.generateName", "FieldValueInvalid")]


def test_the_address_gives_the_namespace():
    sent = {**CLAIM, "metadata": {"name": "claim"}}
    found = create(sent, namespace="other")
    assert found.accepted
    assert found.object["metadata"]["namespace"] == "other"
    assert faults(create(sent)) == [("metadata.namespace", "FieldValueRequired")]


def test_another_namespace_than_that_of_the_address_is_refused():
    found = create(CLAIM, namespace="other")
    assert found.code == 400
    assert faults(found) == [("metadata.namespace", "BadRequest")]


def test_a_namespace_has_to_exist_where_they_are_known():
    assert create(CLAIM, namespaces={"team": {}}).accepted
    found = create(CLAIM, namespaces={"other": {}})
    assert (found.code, refused(found).reason) == (404, "NotFound")
    assert said(found) == 'namespaces "team" not found'


def test_kinds_of_the_whole_cluster_lose_a_namespace():
    found = create(with_metadata(device_class("gpu"), namespace="team"))
    assert found.accepted
    assert "namespace" not in found.object["metadata"]


# --- the rest of it -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("metadata", "field"),
    [
        ({"labels": {"a b": "x"}}, "metadata.labels"),
        ({"labels": {"a": "x y"}}, "metadata.labels"),
        ({"annotations": {"a b": "x"}}, "metadata.annotations"),
        ({"generation": -1}, "metadata.generation"),
        ({"finalizers": ["a b"]}, "metadata.finalizers"),
        ({"finalizers": ["mine"]}, "metadata.finalizers[0]"),
        ({"finalizers": ["orphan", "foregroundDeletion"]}, "metadata.finalizers"),
    ],
)
def test_what_is_wrong_in_metadata_is_told_at_its_field(metadata, field):
    found = faults(create(with_metadata(CLAIM, **metadata)))
    assert (field, "FieldValueInvalid") in found
    assert {at.split("[")[0] for at, _ in found} == {field.split("[")[0]}


@pytest.mark.parametrize(
    "sent", [device_class("gpu"), piece("gpu.example.com", {"name": "gpu-0"})]
)
def test_where_the_server_counts_generations_it_starts_with_one(sent):
    found = create(with_metadata(sent, generation=-1))
    assert found.accepted
    assert found.object["metadata"]["generation"] == 1


def test_annotations_may_have_upper_case_keys_and_256_kib_in_all():
    assert create(with_metadata(CLAIM, annotations={"A.B/C": "x"})).accepted
    full = {"a": "x" * (256 * 1024 - 1)}
    assert create(with_metadata(CLAIM, annotations=full)).accepted
    over = {**full, "b": ""}
    assert faults(create(with_metadata(CLAIM, annotations=over))) == [
        ("metadata.annotations", "FieldValueTooLong")
    ]


OWNER = {"apiVersion": "v1", "kind": "Pod", "name": "pod", "uid": UID}


@pytest.mark.parametrize("missing", ["apiVersion", "kind", "name", "uid"])
def test_an_owner_is_named_in_full(missing):
    sent = with_metadata(CLAIM, ownerReferences=[{**OWNER, missing: ""}])
    assert faults(create(sent)) == [
        (f"metadata.ownerReferences.{missing}", "FieldValueInvalid")
    ]


def test_an_object_has_one_controller():
    both = [{**OWNER, "controller": True}, {**OWNER, "name": "b", "controller": True}]
    found = create(with_metadata(CLAIM, ownerReferences=both))
    assert faults(found) == [("metadata.ownerReferences", "FieldValueInvalid")]
    assert "for Pod/pod and Pod/b" in said(found)


def test_an_event_owns_nothing():
    sent = with_metadata(CLAIM, ownerReferences=[{**OWNER, "kind": "Event"}])
    assert faults(create(sent)) == [("metadata.ownerReferences", "FieldValueInvalid")]


def test_an_event_without_a_group_is_an_event_too():
    owner = {"apiVersion": "/v1", "kind": "Event", "name": "a", "uid": UID}
    found = create(with_metadata(CLAIM, ownerReferences=[owner]))
    assert faults(found) == [("metadata.ownerReferences", "FieldValueInvalid")]


def test_what_only_the_server_sets_is_dropped_on_create():
    sent = with_metadata(
        CLAIM, uid="mine", creationTimestamp="2026-01-02T03:04:05Z", selfLink="/x"
    )
    found = create(sent)
    assert found.accepted
    assert not {"uid", "selfLink"} & set(found.object["metadata"])


def test_a_new_object_has_no_version():
    found = create(with_metadata(CLAIM, resourceVersion="7"))
    assert (found.code, refused(found).field) == (500, "metadata.resourceVersion")
    assert create(with_metadata(CLAIM, resourceVersion="0")).accepted


@pytest.mark.parametrize("version", ["six", "-1", str(2**64), "9" * 5_000])
def test_a_version_that_cannot_be_read_is_ignored_on_create(version):
    assert create(with_metadata(CLAIM, resourceVersion=version)).accepted


def test_a_new_object_is_judged_before_anybody_looks_at_its_version():
    wrong = claim(request("GPU", "gpu"))
    found = create(with_metadata(wrong, resourceVersion="7"))
    assert set(faults(found)) == {
        ("spec.devices.requests[0].name", "FieldValueInvalid")
    }


def test_a_template_says_only_labels_and_annotations_of_its_claims():
    sent = template(CLAIM)
    sent["spec"] = {**sent["spec"], "metadata": {"labels": {"a": "b"}}}
    assert create(sent).accepted
    sent["spec"] = {**sent["spec"], "metadata": {"name": "x", "uid": "y"}}
    assert faults(create(sent)) == [
        ("spec.metadata.name", "FieldValueForbidden"),
        ("spec.metadata.uID", "FieldValueForbidden"),
    ]


# --- updates -----------------------------------------------------------------------------


def test_an_update_may_leave_out_what_the_server_keeps():
    found = update(STORED, with_metadata(CLAIM, labels={"a": "b"}))
    assert found.accepted
    assert found.object["metadata"]["uid"] == UID
    assert found.object["metadata"]["creationTimestamp"] == "2026-01-02T03:04:05Z"


def test_an_update_of_what_is_not_there_is_refused():
    found = validate(Request("ResourceClaim", CLAIM, update=True))
    assert (found.code, refused(found).reason) == (404, "NotFound")


def test_an_update_has_the_name_of_its_address():
    found = update(STORED, with_metadata(STORED, name="other"))
    assert (found.code, refused(found).field) == (400, "metadata.name")


def test_an_update_of_another_object_of_the_name_is_a_conflict():
    found = update(STORED, with_metadata(STORED, uid="gone"))
    assert (found.code, refused(found).field) == (409, "metadata.uid")


def test_an_update_of_an_older_version_is_a_conflict():
    found = update(STORED, with_metadata(STORED, resourceVersion="6"))
    assert (found.code, refused(found).field) == (409, "metadata.resourceVersion")
    for version in ("six", str(2**64)):
        found = update(STORED, with_metadata(STORED, resourceVersion=version))
        assert (found.code, refused(found).field) == (500, "metadata.resourceVersion")


def test_versions_are_compared_as_numbers():
    assert update(STORED, with_metadata(STORED, resourceVersion="007")).accepted


def test_another_object_is_told_before_an_odd_version():
    found = update(STORED, with_metadata(STORED, uid="other", resourceVersion="six"))
    assert (found.code, refused(found).field) == (409, "metadata.uid")


def test_nobody_adds_finalizers_while_it_is_deleted():
    deleted = with_metadata(
        STORED, deletionTimestamp="2026-01-03T00:00:00Z", finalizers=["a.b/c"]
    )
    assert update(deleted, with_metadata(deleted, finalizers=[])).accepted
    found = update(deleted, with_metadata(deleted, finalizers=["a.b/c", "a.b/d"]))
    assert faults(found) == [("metadata.finalizers", "FieldValueForbidden")]
    assert '[]string{"a.b/d"}' in said(found)


def test_an_update_does_not_delete():
    found = update(
        STORED, with_metadata(STORED, deletionTimestamp="2026-01-03T00:00:00Z")
    )
    assert faults(found) == [("metadata.deletionTimestamp", "FieldValueInvalid")]


def test_an_update_checks_labels_too():
    found = update(STORED, with_metadata(STORED, labels={"a b": "x"}))
    assert faults(found) == [("metadata.labels", "FieldValueInvalid")]
    sent = piece("gpu.example.com", {"name": "gpu-0"})
    found = update(sent, with_metadata(sent, labels={"a b": "x"}))
    assert faults(found) == [("metadata.labels", "FieldValueInvalid")]


def test_a_status_update_ignores_labels_and_finalizers():
    changed = with_metadata(STORED, labels={"a b": "x"}, finalizers=["mine"])
    found = update(STORED, changed, subresource="status")
    assert found.accepted
    assert not {"labels", "finalizers"} & set(found.object["metadata"])


def test_a_status_update_ignores_the_spec():
    other = {**STORED, "spec": claim(request("b", "B"))["spec"]}
    found = update(STORED, other, subresource="status")
    assert found.accepted
    assert found.object["spec"]["devices"]["requests"][0]["name"] == "gpu"


def test_kinds_without_status_have_no_status_to_update():
    sent = device_class("gpu")
    assert update_status(sent, {}).code == 404


def test_the_spec_of_a_claim_never_changes():
    found = update(STORED, {**STORED, "spec": claim(request("b", "gpu"))["spec"]})
    assert faults(found) == [("spec", "FieldValueInvalid")]
    assert "changed: spec.devices.requests[0].name" in said(found)
