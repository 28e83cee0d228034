"""What a result notes besides: what an edit leaves as it was, and what it makes too little."""

from __future__ import annotations

from tests.dra.builders import (
    Json,
    consumes,
    counter_set,
    device,
    node,
    piece,
    taint_rule,
)
from tests.dra.whatif.test_turns import WAITING, from_template, template
from tests.dra.whatif.world import ask, asking_for, cluster, held, home, pod


def test_capacity_below_what_claims_consume_is_noted():
    policy = {"default": "1"}
    nic = device(
        "nic",
        allowMultipleAllocations=True,
        capacity={"speed": {"value": "10", "requestPolicy": policy}},
    )
    share = {"shareID": "a", "consumedCapacity": {"speed": "8"}}
    snapshot = cluster(
        node("n1"),
        piece("s", nic, pool="n1", nodeName="n1"),
        held("c", "nic", on="n1", pods=["p"], **share),
        pod("p", "c", on="n1"),
    )
    less = {"edit": "changeDevices", "devices": {"node": "n1"}}

    enough = ask(snapshot, less | {"capacity": {"speed": "8"}})
    little = ask(snapshot, less | {"capacity": {"speed": "4"}})

    assert enough.notes == ()
    assert little.notes == (
        "Claims consume 8 of the 4 speed of gpu.example.com/n1/nic.",
    )


def test_counters_that_no_longer_suffice_are_noted():
    half = [consumes("set", memory="40Gi")]
    parts = [device("a", consumesCounters=half), device("b", consumesCounters=half)]
    where: Json = {"pool": "n1", "nodeName": "n1", "of": 2}

    def sets(memory):
        return piece(
            "sets", sharedCounters=[counter_set("set", memory=memory)], **where
        )

    snapshot = cluster(
        node("n1"),
        sets("80Gi"),
        piece("parts", *parts, **where),
        held("c", "a", "b", on="n1", pods=["p"]),
        pod("p", "c", on="n1"),
    )

    found = ask(snapshot, {"edit": "add", "objects": [sets("64Gi")]})

    (note,) = found.notes
    assert note.startswith("Devices in use overdraw counter set set of pool ")


def test_what_was_too_much_before_is_no_news():
    snapshot = cluster(
        home("n1"),
        held("c", "gpu-0", on="n1", pods=["p"]),
        held("d", "gpu-0", on="n1", pods=["q"]),
    )
    edit = {
        "edit": "changeDevices",
        "devices": {"node": "n1"},
        "attributes": {"model": {"string": "A2"}},
    }

    assert ask(snapshot, edit).notes == ()


def test_taints_that_stay_or_never_were_are_noted():
    snapshot = cluster(home("n1"), taint_rule("outage", driver="gpu.example.com"))
    untaint = {"edit": "untaint", "devices": {"node": "n1"}}

    found = ask(snapshot, untaint, untaint | {"key": "other"})

    assert found.notes == (
        "No slice puts a taint on these devices.",
        "Taints that rules put on these devices stay: outage. Remove these rules too.",
        "No slice puts the taint other on these devices.",
    )


def test_what_no_device_has_cannot_be_dropped():
    model = {"model": {"string": "A"}}
    cards = piece(
        "s",
        device("x", attributes=model),
        device("y", capacity={"memory": {"value": "1Gi"}}),
        pool="n1",
        nodeName="n1",
    )
    edit = {
        "edit": "changeDevices",
        "devices": {"node": "n1"},
        "drop": ["gpu.example.com/model", "memory", "modle"],
    }

    found = ask(cluster(node("n1"), cards), edit)

    assert found.notes == ("None of these devices has an attribute or capacity modle.",)


def test_a_claim_in_use_does_not_go_at_once():
    snapshot = cluster(
        home("n1", 1), held("c", "gpu-0", on="n1", pods=["p"]), pod("p", "c", on="n1")
    )
    gone = {"kind": "ResourceClaim", "name": "c"}
    want = {"place": "claim", "claim": asking_for()}

    found = ask(snapshot, {"edit": "remove", "objects": [gone]}, workload=[want])

    assert found.fits
    assert found.notes == (
        "Claim default/c is taken as gone at once: Kubernetes keeps it and its devices "
        "until p has ended.",
    )


def test_a_claim_that_is_made_of_a_template_cannot_be_written_otherwise():
    snapshot = cluster(
        home("n1", 1),
        template("t"),
        from_template("a", "t"),
        held("c", "gpu-0", on="n1", pods=["q"]),
    )

    found = ask(snapshot, workload=WAITING)

    assert [(one.name, one.made) for one in found.items[0].asked] == [("a-gpu", True)]
