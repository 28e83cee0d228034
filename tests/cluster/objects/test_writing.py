"""What an API server that answers makes of creating, changing and deleting."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable
from typing import Any

import pytest

from cluster.objects import (
    AlreadyExists,
    Changed,
    Created,
    Deleted,
    Expected,
    Gone,
    Invalid,
    NotServed,
    Updated,
)
from tests.cluster.objects.conftest import World, claim, device_class, template

FINALIZER = "resource.kubernetes.io/delete-protection"


# --- create -----------------------------------------------------------------------


@pytest.mark.parametrize("version", ["v1", "v1beta2", "v1beta1"])
@pytest.mark.parametrize("make", [claim, template, device_class])
def test_what_is_created_is_there_whatever_version_the_server_serves(
    world_of: Callable[..., World], make: Callable[[], Any], version: str
) -> None:
    world = world_of(version=version)
    outcome = world.writer.create(make())
    assert isinstance(outcome, Created)
    made = outcome.object
    kind, name = make()["kind"], make()["metadata"]["name"]
    stored = world.the(name, kind)
    assert made["apiVersion"] == "resource.k8s.io/v1"
    assert (made["kind"], made["metadata"]["uid"]) == (kind, stored["metadata"]["uid"])
    assert made["spec"] == stored["spec"]
    assert outcome.reason.startswith("Created the ")


def test_a_dry_run_says_what_would_be_and_stores_nothing(world: World) -> None:
    outcome = world.writer.create(claim(), dry_run=True)
    assert isinstance(outcome, Created)
    assert outcome.dry_run
    request = outcome.object["spec"]["devices"]["requests"][0]["exactly"]
    assert request["allocationMode"] == "ExactCount"
    assert world.stored("new") is None
    assert outcome.reason == (
        "The API server would create the claim lab/new; nothing was written."
    )


def test_an_object_copied_from_a_cluster_is_created_as_a_new_one(world: World) -> None:
    copied = copy.deepcopy(world.the())
    copied["metadata"]["name"] = "copy"
    copied["metadata"]["managedFields"] = [{"manager": "kubectl"}]
    outcome = world.writer.create(copied)
    assert isinstance(outcome, Created)
    assert world.the("copy")["metadata"]["uid"] != copied["metadata"]["uid"]
    assert "managedFields" not in world.the("copy")["metadata"]


def test_a_manifest_of_an_older_version_is_created_too(world: World) -> None:
    old = claim() | {"apiVersion": "resource.k8s.io/v1beta1"}
    request = {"name": "gpu", "deviceClassName": "gpu.acme.test", "count": 2}
    old["spec"] = {"devices": {"requests": [request]}}
    assert isinstance(world.writer.create(old), Created)
    assert world.the("new")["spec"]["devices"]["requests"][0]["exactly"]["count"] == 2


def test_a_generated_name_is_made_before_it_is_sent(world: World) -> None:
    wanted = claim(generateName="train-")
    del wanted["metadata"]["name"]
    outcome = world.writer.create(wanted)
    assert isinstance(outcome, Created)
    assert re.fullmatch("train-[a-z0-9]{5}", outcome.object["metadata"]["name"])


def test_the_namespace_of_the_address_decides_or_else_the_object_s(
    world: World,
) -> None:
    wanted = claim()
    del wanted["metadata"]["namespace"]
    outcome = world.writer.create(wanted)
    assert isinstance(outcome, Invalid)
    assert [c.field for c in outcome.causes] == ["metadata.namespace"]
    assert isinstance(world.writer.create(wanted, "lab"), Created)
    refused = world.writer.create(claim("other"), "default")
    assert isinstance(refused, Invalid)
    assert refused.code == 400


def test_a_namespace_that_is_not_there_is_named_at_its_field(world: World) -> None:
    outcome = world.writer.create(claim(namespace="nowhere"))
    assert isinstance(outcome, Invalid)
    assert [(c.field, c.reason) for c in outcome.causes] == [
        ("metadata.namespace", "FieldValueNotFound")
    ]


def test_a_taken_name_is_said_with_what_to_do(world: World) -> None:
    outcome = world.writer.create(claim("one"))
    assert isinstance(outcome, AlreadyExists)
    assert outcome.reason == (
        "There is a claim lab/one already. Choose another name, or edit the one that "
        "is there."
    )


@pytest.mark.parametrize("version", ["v1", "v1beta1"])
def test_what_the_server_refuses_comes_with_paths_in_v1_form(
    world_of: Callable[..., World], version: str
) -> None:
    world = world_of(version=version)
    wanted = claim()
    request = wanted["spec"]["devices"]["requests"][0]
    request["exactly"]["count"] = -1
    outcome = world.writer.create(wanted)
    assert isinstance(outcome, Invalid)
    assert outcome.code == 422
    assert [c.field for c in outcome.causes] == [
        "spec.devices.requests[0].exactly.count"
    ]
    request["exactly"] = {"deviceClassName": "gpu.acme.test", "color": "red"}
    outcome = world.writer.create(wanted)
    assert isinstance(outcome, Invalid)
    assert outcome.code == 400
    assert [c.field for c in outcome.causes] == [
        "spec.devices.requests[0].exactly.color"
    ]
    assert "Check the spelling" in outcome.reason


def test_a_value_of_the_wrong_type_is_named_at_its_field(world: World) -> None:
    wanted = claim()
    wanted["spec"]["devices"]["requests"] = "many"
    outcome = world.writer.create(wanted)
    assert isinstance(outcome, Invalid)
    assert outcome.code == 400
    assert "spec.devices.requests" in outcome.reason


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"kind": "Pod"}, "kind"),
        ({"kind": ["ResourceClaim"]}, "kind"),
        ({"kind": None}, "kind"),
        ({"apiVersion": "resource.k8s.io/v9"}, "apiVersion"),
        ({"apiVersion": "v1"}, "apiVersion"),
        ({"apiVersion": None}, "apiVersion"),
        ({"metadata": "one"}, "metadata"),
        ({"status": "\ud800"}, ""),
        ({"status": float("inf")}, ""),
    ],
)
def test_what_is_no_object_of_ours_is_not_sent(
    world: World, change: dict[str, Any], field: str
) -> None:
    outcome = world.writer.create(claim() | change)
    assert isinstance(outcome, Invalid)
    assert [c.field for c in outcome.causes] == [field]


@pytest.mark.parametrize("name", ["", ".", "..", "../x", "a/b", "a%2Fb"])
def test_a_name_that_would_lead_elsewhere_is_never_sent(
    world: World, name: str
) -> None:
    seen = world.seen()
    for outcome in (
        world.writer.delete("ResourceClaim", name, seen, "lab"),
        world.writer.update(claim("one"), name, seen, "lab"),
    ):
        assert isinstance(outcome, Gone)
    assert world.stored("one") is not None
    if name:
        refused = world.writer.create(claim(namespace=name))
        assert isinstance(refused, Invalid)
        assert [c.field for c in refused.causes] == ["metadata.namespace"]


def test_only_claims_templates_and_classes_are_written(world: World) -> None:
    outcome = world.writer.delete("Namespace", "lab", Expected("u", "1"))
    assert isinstance(outcome, NotServed)


# --- update -----------------------------------------------------------------------


def labelled(world: World) -> Any:
    wanted = copy.deepcopy(world.the())
    wanted["metadata"]["labels"] = {"team": "vision"}
    return wanted


def test_an_update_replaces_what_was_seen_and_keeps_the_status(world: World) -> None:
    before = world.the() | {"status": {"devices": [{"driver": "d"}]}}
    world.put(before)
    wanted = labelled(world)
    wanted["status"] = {}
    outcome = world.writer.update(wanted, "one", world.seen(), "lab")
    assert isinstance(outcome, Updated)
    assert outcome.changed
    assert world.the()["metadata"]["labels"] == {"team": "vision"}
    assert world.the()["status"] == {"devices": [{"driver": "d"}]}


def test_an_update_that_changes_nothing_says_so(world: World) -> None:
    world.writer.update(labelled(world), "one", world.seen(), "lab")
    outcome = world.writer.update(world.the(), "one", world.seen(), "lab")
    assert isinstance(outcome, Updated)
    assert not outcome.changed
    assert outcome.reason == "Nothing to change in the claim lab/one."


def test_a_dry_run_of_an_update_changes_nothing(world: World) -> None:
    seen = world.seen()
    outcome = world.writer.update(labelled(world), "one", seen, "lab", dry_run=True)
    assert isinstance(outcome, Updated)
    assert outcome.dry_run
    assert world.seen() == seen


def test_who_comes_second_gets_the_object_as_it_is_now(world: World) -> None:
    seen, wanted = world.seen(), labelled(world)
    world.touch()
    outcome = world.writer.update(wanted, "one", seen, "lab")
    assert isinstance(outcome, Changed)
    assert not outcome.replaced
    assert outcome.current == world.the()
    assert "labels" in outcome.current["metadata"]


def test_a_new_object_of_the_same_name_is_left_alone(world: World) -> None:
    seen, wanted = world.seen(), labelled(world)
    world.server.store.put(claim("one", uid="another-one"))
    for outcome in (
        world.writer.update(wanted, "one", seen, "lab"),
        world.writer.delete("ResourceClaim", "one", seen, "lab"),
    ):
        assert isinstance(outcome, Changed)
        assert outcome.replaced
        assert "a new one has taken its name" in outcome.reason
    assert "labels" not in world.the()["metadata"]


def test_the_spec_of_a_claim_cannot_change_and_a_class_s_can(world: World) -> None:
    wanted = copy.deepcopy(world.the())
    wanted["spec"]["devices"]["requests"][0]["exactly"]["count"] = 3
    outcome = world.writer.update(wanted, "one", world.seen(), "lab")
    assert isinstance(outcome, Invalid)
    assert [c.field for c in outcome.causes] == ["spec"]
    changed = device_class("gpu.acme.test")
    expression = "device.driver == 'gpu.acme.test'"
    changed["spec"] = {"selectors": [{"cel": {"expression": expression}}]}
    seen = world.seen("gpu.acme.test", "DeviceClass")
    assert isinstance(world.writer.update(changed, "gpu.acme.test", seen), Updated)
    assert world.the("gpu.acme.test", "DeviceClass")["spec"] == changed["spec"]


def test_what_is_gone_cannot_be_changed_or_deleted(world: World) -> None:
    seen = Expected("u", "1")
    for outcome in (
        world.writer.update(claim("two"), "two", seen, "lab"),
        world.writer.delete("ResourceClaim", "two", seen, "lab"),
    ):
        assert isinstance(outcome, Gone)
        assert "the claim lab/two is not there".lower() in outcome.reason.lower()


@pytest.mark.parametrize(
    ("expected", "field"),
    [
        (Expected("", "7"), "metadata.uid"),
        (Expected("u", ""), "metadata.resourceVersion"),
        (Expected("u", "0"), "metadata.resourceVersion"),
        (Expected("u", "abc"), "metadata.resourceVersion"),
    ],
)
def test_nothing_is_overwritten_or_deleted_unseen(
    world: World, expected: Expected, field: str
) -> None:
    for outcome in (
        world.writer.update(world.the(), "one", expected, "lab"),
        world.writer.delete("ResourceClaim", "one", expected, "lab"),
    ):
        assert isinstance(outcome, Invalid)
        assert [c.field for c in outcome.causes] == [field]


# --- delete -----------------------------------------------------------------------


def test_what_nothing_holds_is_gone_at_once(world: World) -> None:
    outcome = world.writer.delete("ResourceClaim", "one", world.seen(), "lab")
    assert isinstance(outcome, Deleted)
    assert outcome.waits_for == ()
    assert outcome.reason == "Deleted the claim lab/one."
    assert world.stored("one") is None


def test_what_a_finalizer_holds_is_marked_and_said_to_wait(world: World) -> None:
    world.put(claim("held", finalizers=[FINALIZER]))
    seen = world.seen("held")
    for _ in range(2):
        outcome = world.writer.delete("ResourceClaim", "held", seen, "lab")
        assert isinstance(outcome, Deleted)
        assert outcome.waits_for == (FINALIZER,)
        assert outcome.reason.endswith(f"when its finalizers are removed: {FINALIZER}.")
        assert world.the("held")["metadata"]["deletionTimestamp"]
        seen = world.seen("held")


def test_a_dry_run_deletes_nothing(world: World) -> None:
    outcome = world.writer.delete(
        "ResourceClaim", "one", world.seen(), "lab", dry_run=True
    )
    assert isinstance(outcome, Deleted)
    assert outcome.dry_run
    assert world.stored("one") is not None


def test_what_changed_since_it_was_seen_is_not_deleted(world: World) -> None:
    seen = world.seen()
    world.touch()
    outcome = world.writer.delete("ResourceClaim", "one", seen, "lab")
    assert isinstance(outcome, Changed)
    assert outcome.current == world.the()
