"""What loses its place and finds no other: the changes with which it would have."""

from __future__ import annotations

from dra.whatif.text import as_text
from tests.dra.builders import device, node, piece
from tests.dra.whatif.world import ask, asking_for, cluster, held, home, pod

DRAIN = {"edit": "drain", "nodes": ["n1"]}
TAINT = {
    "edit": "taint",
    "devices": {"node": "n1"},
    "taint": {"key": "bad", "effect": "NoExecute"},
}
GONE = {"edit": "changeDevices", "devices": {"node": "n1"}, "remove": True}
FAIL = {"edit": "removeNodes", "nodes": ["n1"]}


def two(name="a", pods=("p",), **fields):
    """A claim that asks for two devices and has them on n1."""
    made = held(name, "gpu-0", "gpu-1", on="n1", pods=pods)
    return {**made, "spec": asking_for(2, **fields)["spec"]}


def changes(stranded):
    return {r.code: r for r in stranded.explanation.relaxations}


def outcomes(found):
    return {loss.claim: (loss.outcome, loss.new_node) for loss in found.losses}


def asks(name, spec):
    made = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {"name": name, "namespace": "default"},
        "spec": spec,
    }
    return {"edit": "add", "objects": [made]}


def test_however_it_was_lost_changes_are_offered_and_each_of_them_helps():
    snapshot = cluster(
        home("n1", 2), home("n2", 2), two(), pod("p", "a", on="n1"),
        held("b", "gpu-0", on="n2", pods=["q"]), pod("q", "b", on="n2"),
    )  # fmt: skip

    for edit in (DRAIN, TAINT, GONE, FAIL):
        found = ask(snapshot, edit)

        (stranded,) = found.stranded
        assert (stranded.pod, stranded.claims) == ("p", ("default/a",))
        assert (stranded.verdict, stranded.others) == ("does not fit", 0)
        assert stranded.reason == stranded.explanation.sentence
        assert stranded.reason in found.losses[0].sentence
        offered = changes(stranded)
        assert {"fewer", "wait"} <= offered.keys()
        for change in offered.values():
            again = {"edit": "release", "claims": [change.before]}
            if change.spec is not None:
                again = asks(stranded.asked[change.claim].name, change.spec)
            after = ask(snapshot, edit, again)
            assert outcomes(after) == {"a": ("fits", change.node)}, change
            assert after.stranded == ()


def test_those_that_ask_the_same_are_told_together():
    snapshot = cluster(
        home("n1", 6), home("n2", 1),
        *(held(f"c{n}", f"gpu-{n}", on="n1", pods=[f"p{n}"]) for n in range(4)),
        {**held("big", "gpu-4", "gpu-5", on="n1"), "spec": asking_for(2)["spec"]},
    )  # fmt: skip

    found = ask(snapshot, DRAIN)

    assert sum(loss.outcome == "waits" for loss in found.losses) == 4
    big, small = found.stranded
    assert (big.pod, big.claims, big.others) == ("", ("default/big",), 0)
    assert (small.pod, small.others) == ("p1", 2)


def test_they_are_tried_when_its_turn_came_before_work_takes_what_is_left():
    snapshot = cluster(home("n1", 2), home("n2", 1), two())
    work = {"place": "claim", "claim": asking_for(1)}

    found = ask(snapshot, DRAIN, workload=[work])

    assert found.items[0].placed == 1
    (stranded,) = found.stranded
    assert changes(stranded)["fewer"].node == "n2"
    spec = changes(stranded)["fewer"].spec
    assert outcomes(ask(snapshot, DRAIN, asks("a", spec), workload=[work])) == {
        "a": ("fits", "n2")
    }


def test_nobody_waits_for_what_the_scenario_itself_places():
    snapshot = cluster(home("n1", 1))
    work = {"place": "claim", "claim": asking_for(1, "own"), "copies": 2}

    (item,) = ask(snapshot, workload=[work]).items

    assert item.placed == 1
    assert item.explanation.relaxations == ()


def test_a_claim_that_moved_before_can_be_waited_for():
    """One that was released by hand looks for no other place, and so makes room."""
    first = held("a", "gpu-0", on="n1", pods=["p"])
    second = held("b", "gpu-1", on="n1", pods=["q"])
    snapshot = cluster(
        home("n1", 2), home("n2", 1), first, second,
        pod("p", "a", on="n1"), pod("q", "b", on="n1"),
    )  # fmt: skip
    let_go = {"edit": "release", "claims": ["default/a"]}

    (stranded,) = ask(snapshot, DRAIN).stranded

    assert (stranded.pod, changes(stranded)["wait"].before) == ("q", "default/a")
    after = ask(snapshot, DRAIN, let_go, workload=[{"place": "waiting"}])
    assert outcomes(after) == {"a": ("released", ""), "b": ("fits", "n2")}
    assert after.items[0].copies == 0
    before = ask(snapshot, let_go, DRAIN)
    assert outcomes(before) == {"b": ("fits", "n2")}


def test_a_pod_whose_other_claim_was_released_needs_no_place_for_any():
    snapshot = cluster(
        home("n1", 2), home("n2", 1),
        held("a", "gpu-0", on="n1", pods=["p"]), held("b", "gpu-1", on="n1", pods=["p"]),
        pod("p", "a", "b", on="n1"),
    )  # fmt: skip

    found = ask(snapshot, {"edit": "release", "claims": ["default/a"]}, DRAIN)

    assert outcomes(found) == {"b": ("released", "")}
    assert found.fits


def test_a_pod_that_only_lost_its_node_is_named_with_the_reason():
    network = piece("net", device("nic"), pool="net", allNodes=True)
    snapshot = cluster(
        node("n1"), node("n2"), network,
        held("net", "nic", on="net", pods=["p", "q"]),
        pod("p", "net", on="n1"), pod("q", "net", on="n2"),
    )  # fmt: skip
    cordon = {"edit": "cordon", "nodes": ["n2"]}

    found = ask(snapshot, cordon, DRAIN)

    assert found.losses == ()
    (stranded,) = found.stranded
    assert (stranded.pod, stranded.explanation) == ("p", None)
    assert "no node that takes pods" in stranded.reason


def test_a_terminal_shows_them():
    snapshot = cluster(
        home("n1", 4), home("n2", 1), two("a"),
        {**held("b", "gpu-2", "gpu-3", on="n1", pods=["q"]), "spec": asking_for(2)["spec"]},
    )  # fmt: skip

    text = as_text(ask(snapshot, DRAIN))

    assert (
        "Pod default/p, and 1 that ask the same, would find a place after any one of "
        "these changes:\n  - Ask for 1 instead of 2. (request r) Then on node n2."
        in text
    )


def test_a_run_that_is_stopped_says_what_it_knows():
    snapshot = cluster(home("n1", 2), home("n2", 1), two())
    steps = []

    found = ask(
        snapshot,
        DRAIN,
        progress=lambda p: steps.append(p.step),
        stop=lambda: "helping" in steps,
    )

    assert not found.complete
    (stranded,) = found.stranded
    assert stranded.explanation is None
