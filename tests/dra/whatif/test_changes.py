"""What does not fit comes with changes that would help, each tried in the changed cluster."""

from __future__ import annotations

from dra.whatif import read_scenario, run
from dra.whatif.text import as_text
from tests.dra.allocation.world import selector
from tests.dra.builders import claim, device, node, piece
from tests.dra.whatif.world import ask, asking_for, cluster, held, home, pod

CORDON = {"edit": "cordon", "nodes": ["n2"]}


def work(count, copies=1, **fields):
    return {"place": "claim", "claim": asking_for(count, **fields), "copies": copies}


def codes(item):
    return {r.code: r.node for r in item.explanation.relaxations}


def test_they_are_tried_after_the_edits_and_what_is_placed_before():
    snapshot = cluster(home("n1", 2), home("n2", 4))

    (plain,) = ask(snapshot, workload=[work(5)]).items
    (edited,) = ask(snapshot, CORDON, workload=[work(5)]).items
    _, after = ask(snapshot, CORDON, workload=[work(1), work(5)]).items

    fewer = [
        next(r for r in item.explanation.relaxations if r.code == "fewer")
        for item in (plain, edited, after)
    ]
    assert [(r.after, r.node) for r in fewer] == [("4", "n2"), ("2", "n1"), ("1", "n1")]


def test_each_of_them_makes_the_next_fit():
    model = {"model": {"string": "a"}}
    is_b = 'device.attributes["gpu.example.com"].model == "b"'
    snapshot = cluster(
        node("n1"),
        piece("s", *(device(f"d{n}", attributes=model) for n in range(3)),
              pool="n1", nodeName="n1"),
        held("a", "d0", on="n1", pods=["p"]),
    )  # fmt: skip
    item = work(4, selectors=[selector(is_b)]), work(1, selectors=[selector(is_b)])

    for one in item:
        (found,) = ask(snapshot, workload=[one]).items
        for relaxation in found.explanation.relaxations:
            assert relaxation.spec is not None
            changed = {"metadata": {"name": "want"}, "spec": relaxation.spec}
            again = ask(snapshot, workload=[{"place": "claim", "claim": changed}])
            assert again.fits
            assert again.placements[0].node == relaxation.node
    assert "drop selector" in codes(found)


def test_the_claims_that_they_count_are_told_with_them():
    snapshot = cluster(home("n1", 2))
    pods = {
        "place": "pod",
        "name": "p",
        "copies": 2,
        "claims": [{"claim": asking_for(1, "a")}, {"claim": asking_for(2, "b")}],
    }

    (item,) = ask(snapshot, workload=[pods]).items

    assert (item.pod, [c.name for c in item.asked]) == ("p-1", ["p-1-a", "p-1-b"])
    (fewer,) = [r for r in item.explanation.relaxations if r.code == "fewer"]
    assert item.asked[fewer.claim].name == "p-1-b"
    assert item.asked[1].spec["devices"]["requests"][0]["exactly"]["count"] == 2


def test_a_group_is_helped_where_it_stands():
    """The first pod of the group is placed when the second is asked about."""
    snapshot = cluster(home("n1", 3))
    group = {
        "place": "group",
        "name": "g",
        "pods": [{"name": "w", "copies": 2, "claims": [{"claim": asking_for(2)}]}],
    }

    (item,) = ask(snapshot, workload=[group]).items

    assert (item.placed, item.pod) == (0, "g-w-2")
    assert codes(item)["fewer"] == "n1"


def test_pods_that_wait_are_helped_too():
    big = {**claim("big"), "spec": asking_for(9)["spec"]}
    snapshot = cluster(home("n1", 2), big, pod("p", "big"))

    (item,) = ask(snapshot, workload=[{"place": "waiting"}]).items

    assert codes(item) == {"fewer": "n1"}
    assert item.reason.startswith("Pod p: ")


def test_of_pods_that_wait_the_first_that_lacks_devices_is_told():
    big = {**claim("big"), "spec": asking_for(9)["spec"]}
    snapshot = cluster(
        home("n1", 2), big, claim("a"), pod("a", "a", "gone"), pod("p", "big")
    )

    (item,) = ask(snapshot, workload=[{"place": "waiting"}]).items

    assert (item.placed, item.copies, item.pod) == (0, 2, "p")
    assert codes(item) == {"fewer": "n1"}


def test_a_terminal_shows_them():
    snapshot = cluster(home("n1", 2), held("a", "gpu-0", on="n1", pods=["p"]))

    text = as_text(ask(snapshot, workload=[work(2)]))

    assert "  The next would fit after any one of these changes:\n" in text
    assert "  - Ask for 1 instead of 2. (request r) Then on node n1." in text
    assert "  - Wait until claim default/a is released." in text


def test_looking_for_them_ends_when_the_run_is_stopped():
    snapshot = cluster(home("n1", 2))
    steps = []

    found = run(
        snapshot,
        read_scenario({"workload": [work(3)]}),
        progress=lambda p: steps.append(p.step),
        stop=lambda: "helping" in steps,
    )

    assert not found.complete
    assert found.items[0].verdict == "does not fit"
    explanation = found.items[0].explanation
    assert explanation is not None
    assert explanation.relaxations == ()
