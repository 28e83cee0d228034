"""The scheduler that keeps a set of taken devices and writes later."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from cluster.standin.caching import Habits
from cluster.standin.control_plane import ControlPlane
from cluster.standin.store import Store
from tests.cluster.standin.scheduled import (
    DRIVER,
    booked_twice,
    claim,
    devices_of,
    eventually,
    gpus,
    node,
    pod,
    scheduled,
    small_cluster,
)

Start = Callable[[Habits], ControlPlane]


@pytest.fixture
def store() -> Store:
    filled = Store()
    filled.load(small_cluster())
    return filled


@pytest.fixture
def start(store: Store) -> Iterator[Start]:
    with ExitStack() as running:
        yield lambda habits: running.enter_context(ControlPlane(store, habits))


def allocated(name: str, device: str = "gpu-0") -> dict:
    body = claim(name)
    result = {"request": "gpu", "driver": DRIVER, "pool": "n1", "device": device}
    body["status"] = {"allocation": {"devices": {"results": [result]}}}
    return body


def test_it_writes_what_kube_scheduler_writes(store: Store, start: Start):
    start(Habits(delay=0))
    store.put(claim("one"))
    store.put(pod("p", "one"))

    eventually(lambda: scheduled(store, "p") == "True")

    found = store.get("ResourceClaim", "one", "lab")
    assert found is not None
    assert found["metadata"]["finalizers"] == [
        "resource.kubernetes.io/delete-protection"
    ]
    assert found["status"]["allocation"]["allocationTimestamp"]
    assert [r["name"] for r in found["status"]["reservedFor"]] == ["p"]
    bound = store.get("Pod", "p", "lab")
    assert bound is not None
    assert bound["spec"]["nodeName"] == "n1"
    assert bound["status"]["nominatedNodeName"] == "n1"


def test_after_the_pod_the_claim_is_free_again(store: Store, start: Start):
    start(Habits(delay=0))
    store.put(claim("one"))
    store.put(pod("p", "one"))
    eventually(lambda: devices_of(store, "one"))
    store.delete("Pod", "p", "lab")
    eventually(lambda: not devices_of(store, "one"))


def test_what_it_decided_is_written_though_somebody_took_the_device(
    store: Store, start: Start
):
    start(Habits(delay=0.2))
    store.put(claim("theirs"))
    store.put(pod("p", "theirs"))
    eventually(
        lambda: (store.get("Pod", "p", "lab") or {})["status"].get("nominatedNodeName")
    )
    store.put(allocated("ours"))

    eventually(lambda: scheduled(store, "p") == "True")

    assert booked_twice(store) == ["n1/gpu-0"]


def test_a_device_that_is_seen_as_taken_is_not_given_away(store: Store, start: Start):
    store.put(allocated("ours"))
    start(Habits(delay=0))
    store.put(claim("theirs"))
    store.put(pod("p", "theirs"))

    eventually(lambda: scheduled(store, "p") == "False")

    assert devices_of(store, "theirs") == []


def test_it_forgets_a_device_when_one_of_two_holders_goes(store: Store, start: Start):
    store.put(allocated("first"))
    store.put(allocated("second"))
    start(Habits(delay=0))
    store.delete("ResourceClaim", "second", "lab")
    store.put(claim("third"))
    store.put(pod("p", "third"))

    eventually(lambda: devices_of(store, "third"))

    assert booked_twice(store) == ["n1/gpu-0"]


def test_after_a_restart_it_counts_rightly_again(store: Store, start: Start):
    store.put(allocated("first"))
    store.put(allocated("second"))
    with ControlPlane(store, Habits(delay=0)):
        store.delete("ResourceClaim", "second", "lab")
        store.put(claim("third"))
        store.put(pod("p", "third"))
        eventually(lambda: scheduled(store, "p") == "True")
    store.delete("Pod", "p", "lab")
    store.delete("ResourceClaim", "third", "lab")
    start(Habits(delay=0))
    store.put(claim("fourth"))
    store.put(pod("q", "fourth"))
    eventually(lambda: scheduled(store, "q") == "False")


@pytest.mark.parametrize("heeds", [True, False])
def test_a_taint_rule_keeps_it_away_unless_it_ignores_rules(
    store: Store, start: Start, heeds: bool
):
    start(Habits(delay=0, heeds_rules=heeds))
    store.put(
        {
            "apiVersion": "resource.k8s.io/v1",
            "kind": "DeviceTaintRule",
            "metadata": {"name": "r"},
            "spec": {
                "deviceSelector": {"driver": DRIVER, "pool": "n1", "device": "gpu-0"},
                "taint": {"key": "k", "effect": "NoSchedule"},
            },
        }
    )
    store.put(claim("one"))
    store.put(pod("p", "one"))
    eventually(lambda: scheduled(store, "p"))
    assert scheduled(store, "p") == ("False" if heeds else "True")


def test_a_node_taint_keeps_pods_away_that_do_not_tolerate_it(
    store: Store, start: Start
):
    start(Habits(delay=0))
    store.put(node("n1", taints=[{"key": "k", "value": "v", "effect": "NoSchedule"}]))
    store.put(claim("one"))
    store.put(pod("p", "one"))
    eventually(lambda: scheduled(store, "p") == "False")
    store.put(pod("q", "one", tolerations=[{"key": "k", "operator": "Exists"}]))
    eventually(lambda: scheduled(store, "q") == "True")


def test_a_pod_goes_only_where_its_affinity_allows(store: Store, start: Start):
    for obj in small_cluster(nodes=3):
        store.put(obj)
    start(Habits(delay=0))
    field = {"key": "metadata.name", "operator": "In", "values": ["n3"]}
    affinity = {
        "nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {
                "nodeSelectorTerms": [{"matchFields": [field]}]
            }
        }
    }
    store.put(claim("one"))
    store.put(pod("p", "one", affinity=affinity))
    eventually(lambda: devices_of(store, "one"))
    assert devices_of(store, "one") == ["n3/gpu-0"]


@pytest.mark.parametrize(("last_first", "expected"), [(False, "n1"), (True, "n9")])
def test_it_tries_nodes_in_order_or_from_the_last(
    store: Store, start: Start, last_first: bool, expected: str
):
    store.put(node("n9"))
    store.put(gpus("n9", 1))
    start(Habits(delay=0, last_first=last_first))
    store.put(claim("one"))
    store.put(pod("p", "one"))
    eventually(lambda: scheduled(store, "p") == "True")
    bound = store.get("Pod", "p", "lab")
    assert bound is not None
    assert bound["spec"]["nodeName"] == expected


def test_a_pod_that_no_node_suits_gets_its_verdict(store: Store, start: Start):
    start(Habits(delay=0))
    store.put(pod("barrier", nodeSelector={"no-such": "node"}))
    eventually(lambda: scheduled(store, "barrier") == "False")


def test_pods_of_another_scheduler_are_left_alone(store: Store, start: Start):
    start(Habits(delay=0))
    store.put(pod("theirs", schedulerName="batch"))
    store.put(pod("ours", nodeSelector={"no-such": "node"}))
    eventually(lambda: scheduled(store, "ours") == "False")
    assert scheduled(store, "theirs") == ""


def test_a_refused_binding_leaves_the_allocation(store: Store, start: Start):
    start(Habits(delay=0, refuse_binding="carrier-", backoff=600.0))
    store.put(claim("one"))
    store.put(pod("carrier-1", "one"))
    eventually(lambda: scheduled(store, "carrier-1") == "False")
    assert devices_of(store, "one") == ["n1/gpu-0"]
    found = store.get("ResourceClaim", "one", "lab")
    assert found is not None
    assert "reservedFor" not in found["status"]


def test_it_learns_of_claims_after_its_watch_was_cut(store: Store, start: Start):
    start(Habits(delay=0))
    store.cut(clean=True)
    store.put(allocated("theirs"))
    store.put(claim("one"))
    store.put(pod("p", "one"))
    eventually(lambda: scheduled(store, "p") == "False")
    store.cut(clean=False)
    store.delete("ResourceClaim", "theirs", "lab")
    eventually(lambda: devices_of(store, "one") == ["n1/gpu-0"])
