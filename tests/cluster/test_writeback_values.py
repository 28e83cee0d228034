"""The small judgements of the writers, without a server."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from cluster.writeback import Order, same_devices
from cluster.writeback.holders import also_held
from cluster.writeback.in_flight import marks
from cluster.writeback.pins import is_pin, pin_of, tags_of
from cluster.writeback.rule_safety import overridden, why_no_rules
from cluster.writeback.tags import Role, Tags, run_label, tags_from
from cluster.writer_options import SchedulerOptions
from dra.objects import AllocationDevices, AllocationResult, DeviceResult

Json = dict[str, Any]
DRIVER = "nic.acme.test"


def result(device: str = "nic-0", **more: Any) -> Json:
    return {"request": "nic", "driver": DRIVER, "pool": "n1", "device": device, **more}


def holder(*results: Json, uid: str = "theirs") -> Json:
    return {
        "metadata": {"namespace": "lab", "name": uid, "uid": uid},
        "status": {"allocation": {"devices": {"results": list(results)}}},
    }


def plan(**more: Any) -> AllocationResult:
    found = DeviceResult(
        request="nic", driver=DRIVER, pool="n1", device="nic-0", **more
    )
    return AllocationResult(devices=AllocationDevices(results=[found]))


@pytest.mark.parametrize(
    ("ours", "theirs", "clash"),
    [
        ({}, result(), True),
        ({}, result(shareID="b"), True),
        ({"share_id": "a"}, result(), True),
        ({"share_id": "a"}, result(shareID="b"), False),
        ({}, result("nic-1"), False),
        ({}, result(adminAccess=True), False),
        ({"admin_access": True}, result(), False),
    ],
)
def test_two_claims_hold_a_device_unless_both_hold_shares_or_one_only_looks(
    ours: Json, theirs: Json, clash: bool
):
    found = also_held(plan(**ours), [holder(theirs)], but="mine")
    assert [claim for _, claim in found] == (["lab/theirs"] if clash else [])


def test_ones_own_claim_and_free_claims_hold_nothing():
    free = {"metadata": {"uid": "free"}, "status": {}}
    assert also_held(plan(), [holder(result(), uid="mine"), free], but="mine") == []


def test_the_same_devices_are_the_same_whatever_the_order_and_the_shares():
    def of(*devices: str, share: str) -> AllocationResult:
        return AllocationResult(
            devices=AllocationDevices(
                results=[
                    DeviceResult(request="nic", device=d, share_id=share)
                    for d in devices
                ]
            ),
            allocation_timestamp=share,
        )

    assert same_devices(of("a", "b", share="x"), of("b", "a", share="y"))
    assert not same_devices(of("a", share="x"), of("b", share="x"))


@pytest.mark.parametrize(
    ("version", "safe"),
    [
        ("", False),
        ("1.34.1", False),
        ("v1.36.0", False),
        ("1.36.2+k3s1", False),
        ("1.36.3", False),
        ("1.37.0", True),
        ("v1.37.0-rc.1", True),
        ("1.40.2", True),
        ("2.0.0", True),
    ],
)
def test_rules_are_safe_from_1_37_on(version: str, safe: bool):
    told = SchedulerOptions(version=version)
    assert (why_no_rules(told, served=True) == "") is safe
    assert why_no_rules(told, served=False)


def test_an_administrators_word_decides_about_rules():
    assert why_no_rules(SchedulerOptions(taint_rules="safe"), served=True) == ""
    never = SchedulerOptions(taint_rules="never", version="1.40.0")
    assert why_no_rules(never, served=True)


@pytest.mark.parametrize(
    ("version", "says"),
    [
        ("1.36.0", "kube-scheduler 1.36.0 is killed"),
        ("v1.36.2+k3s1", "kube-scheduler v1.36.2+k3s1 is killed"),
        ("", "does not say which version"),
        ("1.36.3", ""),
        ("1.37.0", ""),
    ],
)
def test_that_a_word_stands_against_what_is_known_is_told(version: str, says: str):
    told = SchedulerOptions(version=version, taint_rules="safe")
    assert why_no_rules(told, served=True) == ""
    assert says in overridden(told)
    assert bool(overridden(told)) is bool(says)
    assert overridden(SchedulerOptions(version=version)) == ""


def order(run: str = "run-1", uid: str = "uid-1") -> Order:
    return Order("lab", "one", uid, plan(), run=run, node_name="n1")


def test_tags_survive_as_labels_and_as_words():
    tags = Tags.of(order(), "north", 60)
    assert tags_from(tags.labels(Role.GUARD)) == tags
    assert tags_from(tags.in_words()) == tags
    assert tags.expires is not None
    assert 50 < (tags.expires - datetime.now(UTC)).total_seconds() <= 60


@pytest.mark.parametrize("labels", [{}, {"dra-portal.io/owner": "x"}, {"owner": 5}])
def test_what_lacks_owner_or_run_is_nobodys(labels: Json):
    assert tags_from(labels) is None


@pytest.mark.parametrize("run", ["", "a b", "-x", "x" * 64, "ä", "x\n"])
def test_a_run_that_no_label_holds_is_a_digest(run: str):
    assert run_label("8f3c-1") == "8f3c-1"
    assert len(run_label(run)) == 32


def test_a_pin_is_the_same_each_time_and_another_for_each_claim_and_run():
    pin = pin_of(order(), "north")
    assert pin == pin_of(order(), "north")
    assert is_pin(pin)
    assert tags_of(pin) == Tags("north", "run-1", None)
    others = [
        pin_of(order(run="run-2"), "north"),
        pin_of(order(uid="uid-2"), "north"),
        pin_of(order(), "south"),
    ]
    assert len({p["uid"] for p in (pin, *others)}) == 4


def test_a_run_with_dots_keeps_its_name_in_the_pin():
    assert tags_of(pin_of(order(run="a.b.c"), "north")) == Tags("north", "a.b.c", None)


def test_a_pod_that_was_given_the_node_is_a_mark_until_it_is_bound():
    pod = {
        "metadata": {"namespace": "lab", "name": "p"},
        "status": {"nominatedNodeName": "n1"},
    }
    assert marks([], [pod], order()) == ["the pod lab/p"]
    assert marks([], [pod | {"status": {"nominatedNodeName": "n2"}}], order()) == []
