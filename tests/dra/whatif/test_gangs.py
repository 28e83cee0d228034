"""Pods of the cluster that wait as a gang are placed together, at least so many or none."""

from __future__ import annotations

from tests.dra.builders import claim
from tests.dra.whatif.world import ask, asking_for, cluster, held, home, pod

WAITING = {"workload": [{"place": "waiting"}]}


def group(name, least=None):
    policy = {"gang": {"minCount": least}} if least else {"basic": {}}
    return {
        "apiVersion": "scheduling.k8s.io/v1alpha2",
        "kind": "PodGroup",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"schedulingPolicy": policy},
    }


def member(name, of, count=1, on=""):
    one = {**claim(f"c-{name}"), "spec": asking_for(count)["spec"]}
    made = pod(name, f"c-{name}")
    made["spec"]["schedulingGroup"] = {"podGroupName": of}
    return [one, made]


def running(name, of, *devices, on):
    made = pod(name, f"c-{name}", on=on)
    made["spec"]["schedulingGroup"] = {"podGroupName": of}
    return [held(f"c-{name}", *devices, on=on, pods=[name]), made]


def placed(found):
    return [p.pod for p in found.placements]


def test_a_gang_that_does_not_fit_leaves_its_devices_to_others():
    snapshot = cluster(
        home("n1", 2), group("g", 3), *(member(f"a-{n}", "g") for n in range(3)),
        member("b", ""),
    )  # fmt: skip

    found = ask(snapshot, **WAITING)

    assert placed(found) == ["b"]
    (item,) = found.items
    assert (item.placed, item.copies, item.verdict) == (1, 4, "does not fit")
    assert item.reason.startswith("Pod a-2: It does not fit now")


def test_with_enough_of_it_placed_the_others_may_wait():
    snapshot = cluster(
        home("n1", 2), group("g", 2), *(member(f"a-{n}", "g") for n in range(3))
    )

    found = ask(snapshot, **WAITING)

    assert placed(found) == ["a-0", "a-1"]
    assert found.items[0].verdict == "does not fit"


def test_one_that_does_not_fit_may_be_any_of_them():
    snapshot = cluster(
        home("n1", 2),
        group("g", 2),
        member("a-0", "g", 9),
        member("a-1", "g"),
        member("a-2", "g"),
    )

    assert placed(ask(snapshot, **WAITING)) == ["a-1", "a-2"]


def test_members_that_run_already_count():
    snapshot = cluster(
        home("n1", 2), group("g", 2), running("a-0", "g", "gpu-0", on="n1"),
        member("a-1", "g"), member("a-2", "g"),
    )  # fmt: skip

    assert placed(ask(snapshot, **WAITING)) == ["a-1"]


def test_a_gang_with_too_few_pods_waits_for_the_others():
    snapshot = cluster(home("n1", 9), group("g", 3), member("a-0", "g"))

    found = ask(snapshot, **WAITING)

    assert placed(found) == []
    assert found.items[0].reason == (
        "Pod a-0: Its group g is a gang of at least 3 pods, and 1 exists."
    )


def test_groups_of_the_basic_policy_go_pod_by_pod():
    snapshot = cluster(
        home("n1", 1), group("g"), member("a-0", "g"), member("a-1", "g")
    )

    assert placed(ask(snapshot, **WAITING)) == ["a-0"]
