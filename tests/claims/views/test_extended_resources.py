"""Pods that ask for extended resources, on every page that tells of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import pytest
from django.test import Client

from claims import explaining
from inventory.models import Cluster
from tests.allocator import builders as build
from tests.allocator.builders import Json
from tests.mirrored import mirror

GPU = "acme.test/gpu"
HTMX = {"HX-Request": "true", "HX-Target": "pod-why"}


@pytest.fixture(autouse=True)
def _nothing_kept() -> Iterator[None]:
    explaining.forget()
    yield
    explaining.forget()


@pytest.fixture
def viewer(client_of: Callable[..., Client]) -> Client:
    return client_of("viewer")


def asking(name: str, amount: int, resource: str = GPU) -> Json:
    made = build.pod(name, "")
    limits = {resource: str(amount)}
    made["spec"] = {"containers": [{"name": "c", "resources": {"limits": limits}}]}
    return made


def serving(name: str, created: str) -> Json:
    made = build.device_class(name)
    made["spec"]["extendedResourceName"] = GPU
    made["metadata"]["creationTimestamp"] = created
    return made


@pytest.fixture
def lab(db: None) -> Cluster:
    """Two nodes with two GPUs each, a third whose device plugin serves the resource, two
    classes that name it, and pods that ask for 1, for 3 and by the name of one class."""
    plugin = build.node("n2")
    plugin["status"]["allocatable"] = {GPU: "8"}
    made = build.allocated("done-x", build.result("n1", "gpu-0"))
    made["metadata"]["annotations"] = {
        "resource.kubernetes.io/extended-resource-claim": "true"
    }
    owner = {"apiVersion": "v1", "kind": "Pod", "name": "done", "uid": "u"}
    made["metadata"]["ownerReferences"] = [owner | {"controller": True}]
    done = asking("done", 1)
    done["spec"]["nodeName"] = "n1"
    done["status"] = {
        "phase": "Running",
        "extendedResourceClaimStatus": {"resourceClaimName": "done-x"},
    }
    return mirror(
        [
            *build.lab(2),
            plugin,
            serving("old.vendor.test", "2026-03-01T10:00:00Z"),
            serving("new.vendor.test", "2026-05-01T10:00:00Z"),
            asking("one", 1),
            asking("three", 3),
            asking("by-class", 1, "deviceclass.resource.kubernetes.io/old.vendor.test"),
            done,
            made,
        ]
    )


def text_of(client: Client, path: str, **how: object) -> str:
    answer = client.get(path, **how)  # type: ignore[arg-type]  # headers
    assert answer.status_code == 200
    html = re.sub(r"<(style|script).*?</\1>", "", answer.content.decode(), flags=re.S)
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", html)).replace("&#x27;", "'")


def test_the_list_tells_what_a_pod_waits_for(lab: Cluster, viewer: Client) -> None:
    text = text_of(viewer, "/c/demo/pods/")
    assert "1 × acme.test/gpu (no claim made yet)" in text
    narrowed = text_of(viewer, f"/c/demo/pods/?resource={GPU}")
    assert "lab/one" in narrowed
    assert "lab/by-class" not in narrowed
    found = text_of(viewer, "/c/demo/pods/?q=old.vendor")
    assert "lab/by-class" in found
    assert "lab/one" not in found


def test_a_pods_page_says_who_serves_its_resource(lab: Cluster, viewer: Client) -> None:
    text = text_of(viewer, "/c/demo/pods/lab/one/")
    assert "class new.vendor.test (the newest that names it; also named by" in text
    assert "old.vendor.test" in text
    assert "a device plugin on 1 node" in text
    assert "the scheduler has made none yet" in text
    assert "class old.vendor.test" in text_of(viewer, "/c/demo/pods/lab/by-class/")
    assert "done-x" in text_of(viewer, "/c/demo/pods/lab/done/")


def test_a_pod_that_fits_says_where_and_what_would_be_made(
    lab: Cluster, viewer: Client
) -> None:
    page = viewer.get("/c/demo/pods/lab/one/").content.decode()
    assert 'hx-get="/c/demo/pods/lab/one/why/"' in page
    text = text_of(viewer, "/c/demo/pods/lab/one/why/", headers=HTMX)
    assert "Fits now on" in text
    assert "for class new.vendor.test" in text
    assert "Left out: node n2, which serves such a resource by a device plugin" in text


def test_a_pod_that_does_not_fit_says_why_and_offers_no_text_of_the_claim(
    lab: Cluster, viewer: Client
) -> None:
    text = text_of(viewer, "/c/demo/pods/lab/three/why/")
    assert "No node has 3 free devices" in text
    assert "It would fit after any one of these changes" in text
    assert "Try it in the editor" not in text


def test_a_pod_that_runs_has_nothing_to_explain(lab: Cluster, viewer: Client) -> None:
    text = text_of(viewer, "/c/demo/pods/lab/done/why/")
    assert "is on node n1: it does not wait." in text
    assert viewer.get("/c/demo/pods/lab/none/why/").status_code == 404


def test_the_claim_that_the_scheduler_made_says_so(
    lab: Cluster, viewer: Client
) -> None:
    text = text_of(viewer, "/c/demo/claims/lab/done-x/")
    assert "the scheduler, of the extended resources of its pod" in text
    assert "Pod done" in text


def test_classes_tell_who_asks_for_them_this_way_and_who_else_serves_it(
    lab: Cluster, viewer: Client
) -> None:
    text = text_of(viewer, "/c/demo/classes/new.vendor.test/")
    assert "Pods that ask for it as an extended resource" in text
    assert "lab/three" in text
    assert "lab/by-class" not in text
    assert "serves it too, on 1 node" in text
    assert "the newest class wins" in text
    other = text_of(viewer, "/c/demo/classes/old.vendor.test/")
    assert "lab/by-class" in other
    assert "lab/three" not in other


def test_the_search_finds_pods_by_what_they_ask_for(
    lab: Cluster, viewer: Client
) -> None:
    text = text_of(viewer, "/c/demo/search/?q=acme.test/gpu")
    assert "lab/one" in text
    assert "lab/by-class" not in text


def test_a_node_tells_what_its_device_plugin_serves_too(
    lab: Cluster, viewer: Client
) -> None:
    assert "8 × acme.test/gpu" in text_of(viewer, "/c/demo/nodes/n2/")
    assert "Device plugin" not in text_of(viewer, "/c/demo/nodes/n1/")
