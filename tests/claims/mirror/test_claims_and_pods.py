"""Claims and pods in the tables: states, templates, and pods that come and go."""

from __future__ import annotations

from typing import Any

import pytest

from claims import models
from claims.mirror import PodStore, store_for
from cluster.store import Event, EventType
from inventory.choices import Source
from inventory.models import Cluster, Device, Tombstone, WatchState
from tests.inventory.mirror.worlds import changed, claim, make, pod, slice_

pytestmark = pytest.mark.django_db

Json = dict[str, Any]


@pytest.fixture
def cluster() -> Cluster:
    return Cluster.objects.create(name="c", source=Source.KUBECONFIG)


def put(cluster: Cluster, *objects: Json) -> None:
    for obj in objects:
        event = Event(EventType.MODIFIED, obj)
        store_for(obj["kind"], cluster.pk).apply([event], "1")


def delete(cluster: Cluster, obj: Json) -> None:
    event = Event(EventType.DELETED, obj)
    store_for(obj["kind"], cluster.pk).apply([event], "2")


def state(name: str = "c") -> str:
    return models.ResourceClaim.objects.get(name=name).state


def test_a_claim_is_in_use_while_a_pod_that_reserved_it_runs(cluster: Cluster) -> None:
    waiting = pod("p", "c", phase="Pending", node="")
    put(cluster, claim("c", "gpu-0", pods=[waiting]), waiting)
    assert state() == "reserved"
    put(cluster, changed(pod("p", "c"), 2))
    assert state() == "in use"
    put(cluster, changed(pod("p", "c", phase="Succeeded"), 3))
    assert state() == "reserved"
    put(cluster, changed(pod("p", "c"), 4))
    delete(cluster, pod("p", "c"))
    assert state() == "reserved"


def test_it_does_not_matter_whether_the_pod_or_the_claim_comes_first(
    cluster: Cluster,
) -> None:
    running = pod("p", "c")
    put(cluster, running, claim("c", "gpu-0", pods=[running]))
    assert state() == "in use"


def test_a_new_pod_of_an_old_name_holds_nothing(cluster: Cluster) -> None:
    gone = pod("p", "c", uid="old")
    put(cluster, claim("c", "gpu-0", pods=[gone]), pod("p", "c", uid="new"))
    assert state() == "reserved"


def test_a_claim_of_a_pod_group_is_in_use_while_one_of_its_pods_runs(
    cluster: Cluster,
) -> None:
    """The claim is reserved for the group; its pods name it."""
    group = {
        "apiGroup": "scheduling.k8s.io",
        "resource": "podgroups",
        "name": "g",
        "uid": "uid-g",
    }
    held = claim("c", "gpu-0")
    held["status"]["reservedFor"] = [group]
    waiting = pod("p", "c", phase="Pending", node="")
    put(cluster, held, waiting)
    assert state() == "reserved"
    put(cluster, changed(pod("p", "c"), 2))
    assert state() == "in use"
    put(cluster, changed(held, 3))
    assert state() == "in use"
    delete(cluster, pod("p", "c"))
    assert state() == "reserved"


def test_a_pod_without_uid_is_not_every_consumer_without_uid(cluster: Cluster) -> None:
    """As in a dump that somebody wrote by hand."""
    held = claim("c", "gpu-0")
    held["status"]["reservedFor"] = [{"resource": "pods", "name": "p"}]
    put(cluster, held, pod("other", "d", uid=""))
    assert state() == "reserved"


def test_a_claim_that_is_being_deleted_says_so(cluster: Cluster) -> None:
    running = pod("p", "c")
    dying = claim(
        "c", "gpu-0", pods=[running], deletionTimestamp="2026-01-15T08:00:00Z"
    )
    put(cluster, running, dying)
    assert state() == "deleting"


def test_an_allocation_held_by_nobody_is_allocated(cluster: Cluster) -> None:
    put(cluster, claim("c", "gpu-0"))
    assert state() == "allocated"


def test_a_claim_without_requests_or_devices_is_legal(cluster: Cluster) -> None:
    empty = make("ResourceClaim", "a", spec={"devices": {}}, status={"allocation": {}})
    null = make(
        "ResourceClaim",
        "b",
        spec={"devices": {"requests": None}},
        status={
            "allocation": {"devices": {"results": None, "config": None}},
            "reservedFor": None,
        },
    )
    bare = make("ResourceClaim", "c")
    put(cluster, empty, null, bare)
    assert (state("a"), state("b"), state("c")) == ("allocated", "allocated", "pending")
    assert not models.AllocatedDevice.objects.exists()


def test_a_claim_that_cannot_be_read_still_holds_its_devices(cluster: Cluster) -> None:
    running = pod("p", "c")
    put(cluster, slice_("s"), claim("c", "gpu-0", pods=[running]), running)
    put(cluster, changed(claim("c", "gpu-0", pods=[running]), 2, spec={"devices": 7}))
    row = models.ResourceClaim.objects.get()
    assert row.problem.startswith("ResourceClaim default/c: spec.devices:")
    assert (row.state, row.allocated, row.device_count) == ("in use", True, 1)
    assert not row.requests.exists()
    assert Device.objects.get(name="gpu-0").state == "in use"
    delete(cluster, running)
    assert state() == "reserved"
    delete(cluster, changed(claim("c"), 3))
    assert Device.objects.get(name="gpu-0").state == "free"


def test_a_claim_whose_devices_cannot_be_told_says_so(cluster: Cluster) -> None:
    put(cluster, claim("c", "gpu-0"))
    put(cluster, changed(claim("c", "gpu-0"), 2, status={"allocation": "yes"}))
    row = models.ResourceClaim.objects.get()
    assert row.problem.startswith("ResourceClaim default/c: status.allocation:")
    assert "Which devices the claim default/c holds cannot be told" in row.problem
    assert (row.state, row.allocated) == ("allocated", True)
    assert not models.AllocatedDevice.objects.exists()
    put(cluster, changed(claim("c", "gpu-0"), 3))
    assert state() == "allocated"
    assert models.AllocatedDevice.objects.count() == 1


def test_a_claim_knows_the_template_it_was_generated_from(cluster: Cluster) -> None:
    made = pod("p", "c", template="one-gpu")
    put(cluster, claim("c"), made)
    row = models.ResourceClaim.objects.get()
    assert row.template_name == "one-gpu"
    delete(cluster, made)
    row.refresh_from_db()
    assert row.template_name == ""


def test_a_change_of_state_is_news_of_claims(cluster: Cluster) -> None:
    waiting = pod("p", "c", phase="Pending")
    put(cluster, claim("c", "gpu-0", pods=[waiting]), waiting)
    before = WatchState.objects.get(kind="ResourceClaim").seq
    put(cluster, changed(pod("p", "c"), 2))
    after = WatchState.objects.get(kind="ResourceClaim").seq
    assert after == models.ResourceClaim.objects.get().seq > before


def test_pods_without_claims_are_not_stored(cluster: Cluster) -> None:
    store = store_for("Pod", cluster.pk)
    store.replace([pod("a", "c"), pod("b")], "1")
    assert [p.name for p in models.Pod.objects.all()] == ["a"]
    assert WatchState.objects.get().object_count == 1


def test_pods_of_a_group_are_stored_without_claims_too(cluster: Cluster) -> None:
    """Whether a gang is whole depends on its launcher, which needs no device."""
    launcher = pod("launcher")
    launcher["spec"]["schedulingGroup"] = {"podGroupName": "train"}
    store = store_for("Pod", cluster.pk)
    assert store.wants(launcher)
    store.replace([launcher, pod("b")], "1")
    assert [p.name for p in models.Pod.objects.all()] == ["launcher"]


def test_a_stored_pod_that_loses_its_claims_is_removed(cluster: Cluster) -> None:
    put(cluster, pod("a", "c"))
    store = store_for("Pod", cluster.pk)
    assert store.resume_from() == "1"
    lost = changed(pod("a"), 2)
    assert store.wants(lost)
    assert not store.wants(pod("another"))
    store.apply([Event(EventType.MODIFIED, lost)], "2")
    assert not models.Pod.objects.exists()
    assert Tombstone.objects.get().kind == "Pod"


def test_a_pod_that_is_gone_is_not_remembered(cluster: Cluster) -> None:
    """Else a watch that runs for months would remember every pod there ever was."""
    store = store_for("Pod", cluster.pk)
    for name in ("deleted", "lost", "unlisted", "back"):
        assert store.wants(pod(name, "c"))
    store.replace([pod("deleted", "c"), pod("lost", "c"), pod("back", "c")], "1")
    assert not store.wants(pod("unlisted"))
    events = [
        Event(EventType.DELETED, pod("deleted", "c")),
        Event(EventType.MODIFIED, changed(pod("lost"), 2)),
        Event(EventType.DELETED, pod("back", "c")),
        Event(EventType.ADDED, pod("back", "c", uid="new")),
    ]
    store.apply(events, "2")
    wanted = [name for name in ("deleted", "lost", "back") if store.wants(pod(name))]
    assert wanted == ["back"]


def test_a_claim_for_extended_resources_belongs_to_its_pod(cluster: Cluster) -> None:
    extended = make(
        "Pod",
        "x1",
        spec={"nodeName": "n"},
        status={
            "phase": "Running",
            "extendedResourceClaimStatus": {"resourceClaimName": "x1-ext"},
        },
    )
    store = store_for("Pod", cluster.pk)
    assert isinstance(store, PodStore)
    assert store.wants(extended)
    put(cluster, extended, claim("x1-ext", "gpu-0", pods=[extended]))
    assert models.PodClaim.objects.get().claim_name == "x1-ext"
    assert state("x1-ext") == "in use"


def test_a_template_has_its_requests(cluster: Cluster) -> None:
    requests = [{"name": "r", "exactly": {"deviceClassName": "gpu", "count": 2}}]
    template = make(
        "ResourceClaimTemplate", "t", spec={"spec": {"devices": {"requests": requests}}}
    )
    put(cluster, template)
    row = models.ResourceClaimTemplate.objects.get()
    assert row.requests_text == "2 × gpu"
    assert row.requests.get().class_name == "gpu"
    delete(cluster, template)
    assert not models.ClaimRequest.objects.exists()


def test_a_pod_group_is_kept_as_it_is(cluster: Cluster) -> None:
    group = make("PodGroup", "g", spec={"resourceClaims": [{"name": "a"}]})
    put(cluster, group)
    assert models.PodGroup.objects.get().raw == group


# --- pods that wait for extended resources ---------------------------------------

GPU = "example.com/gpu"


def asking(name: str, resource: str = GPU, *, node: str = "", **body: Any) -> Json:
    container = {"name": "c", "resources": {"limits": {resource: "2"}}}
    spec = {"containers": [container]} | ({"nodeName": node} if node else {})
    return make("Pod", name, "default", spec=spec, **body)


def serving(resource: str = GPU, name: str = "gpus") -> Json:
    return make("DeviceClass", name, spec={"extendedResourceName": resource})


def pods() -> list[str]:
    return sorted(p.name for p in models.Pod.objects.all())


def test_pods_wait_in_the_tables_for_extended_resources_that_a_class_serves(
    cluster: Cluster,
) -> None:
    put(cluster, serving())
    every_class_has_it = "deviceclass.resource.kubernetes.io/gpus"
    put(
        cluster,
        asking("gpu"),
        asking("implicit", every_class_has_it),
        asking("plugin", "other.com/gpu"),
        asking("cpu", "cpu"),
        asking("ended", status={"phase": "Failed"}),
    )
    assert pods() == ["gpu", "implicit"]
    row = models.PodResource.objects.get(pod__name="gpu")
    assert (row.name, row.amount, str(row)) == (GPU, 2, f"2 × {GPU}")


def test_without_a_class_that_serves_them_pods_of_device_plugins_are_not_stored(
    cluster: Cluster,
) -> None:
    store = store_for("Pod", cluster.pk)
    assert not store.wants(asking("plugin"))
    store.replace([asking("plugin"), asking("odd", "x/y", status=7)], "1")
    assert pods() == []
    assert store.resume_from() == "1"


def test_a_pod_stays_only_if_it_got_its_node_with_a_claim(cluster: Cluster) -> None:
    """Where it got one without, a device plugin has served it."""
    put(cluster, serving())
    store = store_for("Pod", cluster.pk)
    store.replace([asking("plugin"), asking("dra")], "1")
    assert pods() == ["dra", "plugin"]
    by_plugin = changed(asking("plugin", node="n"), 2)
    made = {"extendedResourceClaimStatus": {"resourceClaimName": "dra-x"}}
    by_claim = changed(asking("dra", node="n"), 2, status=made)
    assert store.wants(by_plugin)
    events = [Event(EventType.MODIFIED, pod) for pod in (by_plugin, by_claim)]
    store.apply(events, "2")
    assert pods() == ["dra"]
    assert models.PodClaim.objects.get().claim_name == "dra-x"
    assert models.PodResource.objects.get().name == GPU


def test_other_extended_resources_of_a_pod_with_claims_are_known_too(
    cluster: Cluster,
) -> None:
    both = asking("p", "other.com/nic")
    both["spec"]["resourceClaims"] = [{"name": "a", "resourceClaimName": "c"}]
    put(cluster, both)
    assert models.PodResource.objects.get().name == "other.com/nic"
    names = {f"d.com/r{i}": 1 for i in range(80)}
    both["spec"]["containers"][0]["resources"]["limits"] = names
    put(cluster, changed(both, 2))
    assert models.PodResource.objects.count() == 64


def test_a_store_is_outdated_when_classes_serve_other_names(cluster: Cluster) -> None:
    store = store_for("Pod", cluster.pk)
    store.replace([asking("p")], "1")
    assert not store.outdated()
    put(cluster, serving())
    assert store.outdated()
    renewed = store_for("Pod", cluster.pk)
    assert renewed.resume_from() is None
    renewed.replace([asking("p")], "2")
    assert (pods(), renewed.outdated()) == (["p"], False)
    delete(cluster, serving())
    assert renewed.outdated()
    again = store_for("Pod", cluster.pk)
    assert again.resume_from() is None, "what is there has to be taken away"
    again.replace([asking("p")], "3")
    assert (pods(), again.resume_from()) == ([], "3")
