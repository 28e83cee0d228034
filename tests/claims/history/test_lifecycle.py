"""What the watch saw happen to claims and devices, once and in the right order."""

from __future__ import annotations

import random
from typing import Any

import pytest

from claims.choices import ClaimState
from claims.history.lifecycle import Facts, happened
from claims.models import AllocatedDevice
from cluster.store import Event, EventType
from inventory.choices import Happened
from inventory.history.happenings import of_object, prune_happenings
from inventory.mirror import Guard
from inventory.models_history import Happening
from tests.allocator import builders as build

Json = dict[str, Any]
CLAIM, DEVICE = "ResourceClaim", "Device"
GPU = f"{build.GPU}/n0/gpu-0"


@pytest.fixture
def lab(db: None) -> build.Mirror:
    """Listed once: what is there has no history."""
    mirror = build.Mirror()
    mirror.replace(build.lab())
    return mirror


def told(lab: build.Mirror, kind: str, name: str, namespace: str = "") -> list[str]:
    """The oldest first."""
    rows = of_object(lab.cluster.pk, kind, name, namespace)
    return [row.what for row in rows][::-1]


def claim_in(state: Json, name: str = "one") -> Json:
    claim = build.claim(name)
    claim["metadata"]["uid"] = f"uid-{name}"
    return build.touched(claim | {"status": state})


def allocation(*devices: str) -> Json:
    results = [build.result("n0", device) for device in devices]
    return {"allocation": {"devices": {"results": results}}}


def user(name: str = "worker") -> Json:
    return {"reservedFor": [{"resource": "pods", "name": name, "uid": f"uid-{name}"}]}


def running(name: str = "worker") -> Json:
    pod = build.pod(name, "one")
    pod["metadata"]["uid"] = f"uid-{name}"
    return pod | {
        "spec": {**pod["spec"], "nodeName": "n0"},
        "status": {"phase": "Running"},
    }


def test_a_first_list_has_no_history_but_its_time(lab: build.Mirror) -> None:
    kinds = Happening.objects.values_list("kind", "name", "what")
    assert {(name, what) for _, name, what in kinds} == {("", Happened.BEGUN)}
    assert {kind for kind, _, _ in kinds} == {"Node", "DeviceClass", "ResourceSlice"}


def test_a_claim_has_its_life_as_a_timeline(lab: build.Mirror) -> None:
    lab.put(claim_in({}))
    lab.put(claim_in(allocation("gpu-0", "gpu-1")))
    lab.put(claim_in(allocation("gpu-0", "gpu-1") | user()))
    pod = running()
    lab.put(pod)
    lab.put(claim_in(allocation("gpu-0", "gpu-1")))
    gone = claim_in({})
    lab.put(gone)
    lab.delete(gone)
    assert told(lab, CLAIM, "one", "lab") == [
        "created",
        "allocated",
        "reserved",
        "in use",
        "not in use",
        "released",
        "deallocated",
        "deleted",
    ]
    assert told(lab, DEVICE, GPU) == ["held", "let go"]
    allocated = Happening.objects.get(kind=CLAIM, what=Happened.ALLOCATED)
    assert allocated.detail["devices"] == [GPU, GPU.replace("gpu-0", "gpu-1")]
    held = Happening.objects.get(kind=DEVICE, name=GPU, what=Happened.HELD)
    assert held.detail["claim"] == ["lab", "one"]


def test_a_list_after_a_lost_watch_tells_what_it_missed_once(lab: build.Mirror) -> None:
    lab.put(claim_in({}))
    later = claim_in(allocation("gpu-0") | user())
    everything = [*build.lab(), later]
    lab.replace(everything)
    before = Happening.objects.count()
    assert told(lab, CLAIM, "one", "lab") == ["created", "allocated", "reserved"]
    lab.replace(everything)
    lab.put(build.touched(later))
    assert Happening.objects.count() == before
    lab.replace(build.lab())
    assert told(lab, CLAIM, "one", "lab")[-1] == "deleted"
    assert told(lab, DEVICE, GPU) == ["held", "let go"]


def test_another_claim_of_the_same_name_is_told_apart(lab: build.Mirror) -> None:
    lab.put(claim_in({}))
    other = claim_in({})
    other["metadata"]["uid"] = "uid-other"
    lab.put(other)
    assert told(lab, CLAIM, "one", "lab") == ["created", "deleted", "created"]
    uids = Happening.objects.filter(kind=CLAIM).exclude(name="").order_by("pk")
    assert list(uids.values_list("uid", flat=True)) == [
        "uid-one",
        "uid-one",
        "uid-other",
    ]


def test_an_allocation_that_moved_is_two_things(lab: build.Mirror) -> None:
    lab.put(claim_in(allocation("gpu-0")))
    lab.put(claim_in(allocation("gpu-1")))
    assert told(lab, CLAIM, "one", "lab")[-2:] == ["deallocated", "allocated"]
    assert told(lab, DEVICE, GPU) == ["held", "let go"]


def test_the_same_devices_allocated_anew_meanwhile_are_two_things(
    lab: build.Mirror,
) -> None:
    """Between two lists a pod went and another one came: the devices alone do not tell."""

    def held(at: str) -> Json:
        state = allocation("gpu-0")
        state["allocation"]["allocationTimestamp"] = f"2026-01-15T{at}:00Z"
        return claim_in(state)

    lab.put(held("08:00"))
    lab.replace([*build.lab(), held("08:00")])
    assert told(lab, CLAIM, "one", "lab") == ["created", "allocated"]
    assert told(lab, DEVICE, GPU) == ["held"]
    lab.replace([*build.lab(), held("09:00")])
    assert told(lab, CLAIM, "one", "lab")[2:] == ["deallocated", "allocated"]
    assert told(lab, DEVICE, GPU) == ["held", "let go", "held"]


def test_another_claim_of_the_same_name_with_the_same_device_takes_it_anew(
    lab: build.Mirror,
) -> None:
    lab.put(claim_in(allocation("gpu-0")))
    other = claim_in(allocation("gpu-0"))
    other["metadata"]["uid"] = "uid-other"
    lab.put(other)
    assert told(lab, DEVICE, GPU) == ["held", "let go", "held"]


def test_a_claim_that_changed_hands_meanwhile_says_who_has_it(
    lab: build.Mirror,
) -> None:
    lab.put(running("first"))
    lab.put(running("second"))
    lab.put(claim_in(allocation("gpu-0") | user("first")))
    lab.put(claim_in(allocation("gpu-0") | user("second")))
    assert told(lab, CLAIM, "one", "lab")[-4:] == [
        "not in use",
        "released",
        "reserved",
        "in use",
    ]
    last = Happening.objects.filter(what=Happened.RESERVED).order_by("-pk").first()
    assert last is not None
    assert last.detail["consumers"] == ["pods/second"]


def test_a_consumer_more_is_no_change_of_hands(lab: build.Mirror) -> None:
    lab.put(claim_in(allocation("gpu-0") | user("first")))
    both = {
        "reservedFor": [*user("first")["reservedFor"], *user("second")["reservedFor"]]
    }
    lab.put(claim_in(allocation("gpu-0") | both))
    assert told(lab, CLAIM, "one", "lab") == ["created", "allocated", "reserved"]


def test_devices_come_change_are_tainted_and_vanish(lab: build.Mirror) -> None:
    piece = build.slice_("n0", 1)
    lab.put(piece)
    assert told(lab, DEVICE, f"{build.GPU}/n0/gpu-1") == ["deleted"]
    changed = build.device("gpu-0", attributes={"model": {"string": "B2"}})
    lab.put(build.slice_("n0", [changed]))
    rule = build.taint_rule("broken", "gpu-0")
    lab.put(build.taint_rule("first", "none"))
    lab.put(rule)
    lab.delete(rule)
    lab.put(build.slice_("n0", 0, generation=2))
    assert told(lab, DEVICE, GPU) == ["changed", "tainted", "untainted", "deleted"]
    change = Happening.objects.get(name=GPU, what=Happened.CHANGED)
    assert change.detail["values"][f"{build.GPU}/model"] == ["A1", "B2"]
    taint = Happening.objects.get(name=GPU, what=Happened.TAINTED)
    assert taint.detail["taints"] == ["acme.test/broken:NoSchedule (rule broken)"]


def test_a_device_that_moves_to_another_slice_has_not_vanished(
    lab: build.Mirror,
) -> None:
    piece = build.slice_("n0")
    piece["metadata"] |= {"name": "another-slice", "uid": "uid-another"}
    everything = [o for o in build.lab() if o["metadata"]["name"] != f"n0-{build.GPU}"]
    lab.replace([*everything, piece])
    assert told(lab, DEVICE, GPU) == []
    lab.delete(piece)
    assert told(lab, DEVICE, GPU) == ["deleted"]


def test_nodes_and_classes_have_a_history(lab: build.Mirror) -> None:
    node = build.node("n9")
    lab.put(node)
    cordoned = build.touched(node | {"spec": {"unschedulable": True}})
    lab.put(cordoned)
    unready = {"conditions": [{"type": "Ready", "status": "False"}]}
    lab.put(build.touched(node | {"status": unready}))
    lab.delete(node)
    assert told(lab, "Node", "n9") == [
        "created",
        "cordoned",
        "uncordoned",
        "not ready",
        "deleted",
    ]
    class_ = build.device_class("fast")
    lab.put(class_)
    lab.put(build.touched(class_))
    lab.put(build.touched(class_ | {"spec": {"selectors": []}}))
    assert told(lab, "DeviceClass", "fast") == ["created", "changed"]
    change = Happening.objects.get(kind="DeviceClass", what=Happened.CHANGED)
    assert change.detail["parts"] == ["config", "selectors"]


def test_a_storm_of_events_ends_in_what_the_tables_say(lab: build.Mirror) -> None:
    """Batches of random events, with lists in between: each device's record alternates,
    and its last entry is what holds now."""
    chance = random.Random(7)
    states = [
        {},
        allocation("gpu-0"),
        allocation("gpu-1"),
        allocation("gpu-0") | user(),
    ]
    store, names = lab.stores["ResourceClaim"], ["a", "b", "c", "d"]
    there: dict[str, Json] = {}
    for round_ in range(40):
        events = []
        for _ in range(chance.randrange(1, 6)):
            name = chance.choice(names)
            if name in there and chance.random() < 0.25:
                events.append(Event(EventType.DELETED, there.pop(name)))
            else:
                there[name] = claim_in(chance.choice(states), name)
                events.append(Event(EventType.MODIFIED, there[name]))
        if round_ % 9 == 0:
            lab.stores["ResourceClaim"].replace(list(there.values()), f"9{round_}")
        else:
            store.apply(events, f"9{round_}")
    holding = {
        (one.claim.name, one.device)
        for one in AllocatedDevice.objects.select_related("claim")
    }
    for device in ("gpu-0", "gpu-1"):
        rows = list(of_object(lab.cluster.pk, DEVICE, GPU.replace("gpu-0", device)))[
            ::-1
        ]
        for name in names:
            mine = [row.what for row in rows if row.detail["claim"] == ["lab", name]]
            assert mine == ["held", "let go"] * (len(mine) // 2) + ["held"] * (
                len(mine) % 2
            )
            assert ((name, device) in holding) == (len(mine) % 2 == 1)
    for name in names:
        life = told(lab, CLAIM, name, "lab")
        assert life.count("created") - life.count("deleted") == (name in there)


def test_what_fails_leaves_no_history(lab: build.Mirror) -> None:
    before = Happening.objects.count()
    store = lab.stores["ResourceClaim"]

    class Lost(Guard):
        asked = 0

        def fence(self) -> None:
            self.asked += 1
            if self.asked == 2:
                raise RuntimeError("the lock is lost")

        def check(self) -> None:
            pass

    store.guard = Lost()
    with pytest.raises(RuntimeError):
        lab.put(claim_in({}))
    assert Happening.objects.count() == before


def test_old_and_surplus_history_is_forgotten(lab: build.Mirror, settings: Any) -> None:
    for state in ({}, allocation("gpu-0"), {}, allocation("gpu-0"), {}):
        lab.put(claim_in(state))
    settings.HAPPENINGS_PER_OBJECT = 3
    assert prune_happenings() > 0
    assert told(lab, CLAIM, "one", "lab") == ["deallocated", "allocated", "deallocated"]
    settings.HAPPENINGS_DAYS = 0
    prune_happenings()
    assert set(Happening.objects.values_list("what", flat=True)) == {Happened.BEGUN}


def test_deletion_ends_what_is_told_of_use() -> None:
    used = Facts(ClaimState.IN_USE, allocated=True, consumer_count=1)
    deleting = used._replace(state=ClaimState.DELETING)
    assert list(happened(used, deleting)) == [Happened.DELETING]
    assert list(happened(used, used)) == []


def test_a_claim_that_waits_and_one_that_is_being_deleted_say_so(
    lab: build.Mirror,
) -> None:
    """It waits from its creation to its allocation."""
    lab.put(claim_in({}))
    assert told(lab, CLAIM, "one", "lab") == ["created"]
    lab.put(claim_in(allocation("gpu-0") | user()))
    leaving = claim_in(allocation("gpu-0") | user())
    leaving["metadata"] |= {
        "deletionTimestamp": "2026-11-30T12:00:00Z",
        "finalizers": ["resource.kubernetes.io/delete-protection"],
    }
    lab.put(leaving)
    assert told(lab, CLAIM, "one", "lab") == [
        "created",
        "allocated",
        "reserved",
        "deleting",
    ]
    lab.delete(leaving)
    assert told(lab, CLAIM, "one", "lab")[-1] == "deleted"
    assert told(lab, DEVICE, GPU) == ["held", "let go"]


def test_a_device_that_comes_with_a_taint_or_gets_one_from_its_driver_says_so(
    lab: build.Mirror,
) -> None:
    broken = {"key": "acme.test/broken", "effect": "NoExecute"}
    new = f"{build.GPU}/n9/gpu-0"
    lab.put(build.slice_("n9", [build.device("gpu-0", taints=[broken])]))
    lab.put(build.slice_("n9", [build.device("gpu-0")]))
    lab.put(build.slice_("n9", [build.device("gpu-0", taints=[broken])]))
    lab.delete(build.slice_("n9"))
    assert told(lab, DEVICE, new) == ["created", "untainted", "tainted", "deleted"]
    created = Happening.objects.get(name=new, what=Happened.CREATED)
    assert created.detail["taints"] == ["acme.test/broken:NoExecute"]
