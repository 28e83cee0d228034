"""Where a new claim begins."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.test import Client

from claims.authoring.manifests import read
from claims.models import Draft, ResourceClaim
from inventory.models import Cluster
from tests.inventory.views.conftest import claim, named
from tests.mirrored import mirror, mirror_demo

NEW = "/c/demo/claims/new/"


@pytest.fixture
def demo(db: None) -> Cluster:
    return mirror_demo()


@pytest.fixture
def viewer(client_of: Callable[..., Client]) -> Client:
    return client_of("viewer")


def test_it_offers_a_blank_claim_examples_and_drafts(
    demo: Cluster, viewer: Client
) -> None:
    page = viewer.get(NEW).content.decode()
    assert 'name="kind" value="ResourceClaim"' in page
    assert page.count('name="example"') > 5
    assert "Your drafts" not in page
    viewer.post(NEW, {"from": "blank", "kind": "ResourceClaim"})
    assert "Your drafts" in viewer.get(NEW).content.decode()


def test_a_blank_one_opens(demo: Cluster, viewer: Client) -> None:
    for kind in ("ResourceClaim", "ResourceClaimTemplate", "DeviceClass"):
        answer = viewer.post(NEW, {"from": "blank", "kind": kind})
        assert viewer.get(answer["Location"]).status_code == 200
        newest = Draft.objects.order_by("-created_at").first()
        assert newest
        assert read(newest.text).documents[0].kind == kind


def test_a_claim_for_a_class_asks_for_it(demo: Cluster, viewer: Client) -> None:
    viewer.post(
        NEW, {"from": "blank", "kind": "ResourceClaim", "class": "gpu.nvidia.com"}
    )
    assert "deviceClassName: gpu.nvidia.com" in Draft.objects.get().text


def test_every_example_opens_and_is_accepted(demo: Cluster, viewer: Client) -> None:
    page = viewer.get(NEW).content.decode()
    codes = [part.split('"')[0] for part in page.split('name="example" value="')[1:]]
    for code in codes:
        answer = viewer.post(NEW, {"from": "example", "example": code})
        shown = viewer.get(answer["Location"]).content.decode()
        assert "would refuse it" not in shown, code


def test_a_copy_says_what_the_claim_asks_and_nothing_of_what_it_holds(
    demo: Cluster, viewer: Client
) -> None:
    claim = ResourceClaim.objects.filter(allocated=True, owner_kind="Pod").first()
    assert claim
    claim.raw["metadata"]["generateName"] = "made-"
    claim.save()
    viewer.post(
        NEW,
        {
            "from": "copy",
            "kind": "ResourceClaim",
            "namespace": claim.namespace,
            "name": claim.name,
        },
    )
    (document,) = read(Draft.objects.get().text).documents
    assert document.value["spec"] == claim.raw["spec"]
    assert document.name == f"{claim.name}-copy"
    assert set(document.value) == {"apiVersion", "kind", "metadata", "spec"}
    gone = {"uid", "generateName", "ownerReferences", "finalizers", "annotations"}
    assert not gone & set(document.value["metadata"])


def test_a_change_keeps_what_guards_the_object_and_knows_which_one_it_is(
    demo: Cluster, viewer: Client
) -> None:
    claim = ResourceClaim.objects.filter(allocated=True, owner_kind="Pod").first()
    assert claim
    answer = viewer.post(
        NEW,
        {
            "from": "edit",
            "kind": "ResourceClaim",
            "namespace": claim.namespace,
            "name": claim.name,
        },
    )
    draft = Draft.objects.get()
    (document,) = read(draft.text).documents
    for kept in ("finalizers", "ownerReferences"):
        assert document.value["metadata"].get(kept) == claim.raw["metadata"].get(kept)
    assert draft.base_uid == claim.uid
    page = viewer.get(answer["Location"]).content.decode()
    assert "would refuse it" not in page
    assert "Save to the cluster" not in page, "a viewer cannot"


NOT_THERE: tuple[dict[str, str], ...] = (
    {},
    {"from": "elsewhere"},
    {"from": "blank", "kind": "Pod"},
    {"from": "example", "example": "none"},
    {"from": "copy", "kind": "Node", "name": "x"},
    {"from": "copy", "kind": "ResourceClaim", "namespace": "no", "name": "x"},
    {"from": "edit", "kind": "DeviceClass", "name": "no"},
)


def test_what_is_not_there_is_not_begun(demo: Cluster, viewer: Client) -> None:
    for data in NOT_THERE:
        assert viewer.post(NEW, data).status_code == 404, data
    assert not Draft.objects.exists()


def test_claims_templates_and_classes_lead_to_the_editor(
    demo: Cluster, viewer: Client
) -> None:
    assert NEW in viewer.get("/c/demo/claims/").content.decode()
    assert NEW in viewer.get("/c/demo/templates/").content.decode()
    for page in ("claims/team-a/train-4gpu/", "classes/gpu.nvidia.com/"):
        assert (
            'name="from" value="copy"' in viewer.get(f"/c/demo/{page}").content.decode()
        )


def test_a_claim_without_its_namespace_in_the_text_is_still_the_one_that_is_changed(
    db: None, viewer: Client
) -> None:
    """It would be written where kubectl puts it: in the namespace default."""
    there = claim("here")
    there["metadata"]["namespace"] = "default"
    cluster = mirror([named("DeviceClass", "any", {}), there], name="lab")
    new = f"/c/{cluster.name}/claims/new/"
    key = {"kind": "ResourceClaim", "namespace": "default", "name": "here"}
    address = viewer.post(new, {"from": "edit", **key})["Location"]
    draft = Draft.objects.get()
    text = draft.text.replace("  namespace: default\n", "").replace(
        "count: 1", "count: 2"
    )
    assert text != draft.text
    sent = {"text": text, "doc": 0, "revision": draft.revision}
    page = viewer.post(address, sent).content.decode()
    assert "field is immutable" in page
