"""Claims, templates, pods and groups: how many fit, where, and what stops the next."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from dra.objects import write
from dra.whatif import ScenarioError, Shape, headroom, read_scenario, run
from dra.whatif.run import Progress
from tests.dra.allocation.world import exactly, wanted
from tests.dra.builders import claim, device, node, piece, result
from tests.dra.whatif.world import ask, asking_for, cluster, held, home, pod


def template(name="t", count=1):
    return {
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"spec": asking_for(count)["spec"]},
    }


def nodes(found):
    return [p.node for p in found.placements]


def test_copies_are_placed_until_one_does_not_fit():
    snapshot = cluster(home("n1", 2), home("n2", 2))

    found = ask(
        snapshot, workload=[{"place": "claim", "claim": asking_for(), "copies": 9}]
    )

    (item,) = found.items
    assert (item.placed, item.copies, item.verdict) == (4, 9, "does not fit")
    assert nodes(found) == ["n1", "n1", "n2", "n2"]
    assert [p.name for p in found.placements] == [
        "want-1",
        "want-2",
        "want-3",
        "want-4",
    ]
    assert item.explanation.verdict == "full"
    assert found.sentence.startswith(
        "4 of 9 copies fit; what stops the next: it does not fit now, but would"
    )


def test_policies_choose_nodes_by_what_is_taken():
    snapshot = cluster(
        home("n1", 4), home("n2", 4), home("n3", 4), held("a", "gpu-0", on="n2")
    )
    work = [{"place": "claim", "claim": asking_for(), "copies": 3}]

    by_policy = {
        policy: nodes(ask(snapshot, workload=work, policy=policy))
        for policy in ("firstFit", "spread", "pack")
    }

    assert by_policy == {
        "firstFit": ["n1", "n1", "n1"],
        "spread": ["n1", "n3", "n1"],
        "pack": ["n2", "n2", "n2"],
    }


def test_a_better_alternative_outweighs_the_policy():
    def kind(value):
        return {"kind": {"string": value}}

    is_ = 'device.attributes["gpu.example.com"].kind == "{}"'
    sub = [
        {
            "name": name,
            "deviceClassName": "gpu",
            "selectors": [{"cel": {"expression": is_.format(name)}}],
        }
        for name in ("full", "half")
    ]
    snapshot = cluster(
        node("n1"), node("n2"),
        piece("a", device("x", attributes=kind("half")), pool="n1", nodeName="n1"),
        piece("b", device("y", attributes=kind("full")), device("z"), pool="n2",
              nodeName="n2"),
    )  # fmt: skip
    spec = {"spec": {"devices": {"requests": [{"name": "r", "firstAvailable": sub}]}}}

    def where(policy):
        work = [{"place": "claim", "claim": spec}]
        return nodes(ask(snapshot, workload=work, policy=policy))

    assert where("firstFit") == ["n1"]
    assert where("spread") == where("pack") == ["n2"]


def test_existing_claims_are_placed_themselves_or_copied():
    snapshot = cluster(home("n1", 3), claim("waits"), held("taken", "gpu-0", on="n1"))

    def names(**item):
        found = ask(snapshot, workload=[{"place": "claim", **item}])
        return [p.name for p in found.placements]

    assert names(existing="default/waits") == ["waits"]
    assert names(existing="default/waits", copies=2) == ["waits-1", "waits-2"]
    assert names(existing="default/taken") == ["taken-1"]


def test_claims_are_made_from_templates():
    snapshot = cluster(home("n1", 3), template(count=2))

    existing = ask(snapshot, workload=[{"place": "template", "existing": "default/t"}])
    drafted = ask(
        snapshot, workload=[{"place": "template", "template": template("x", 3)}]
    )

    assert len(existing.placements[0].claims[0].devices) == 2
    assert len(drafted.placements[0].claims[0].devices) == 3


def test_the_claims_of_a_pod_go_to_one_node():
    snapshot = cluster(home("n1", 2), home("n2", 4))
    work = {
        "place": "pod",
        "name": "p",
        "claims": [{"claim": asking_for(2, "a")}, {"template": template("b", 2)}],
    }

    found = ask(snapshot, workload=[work])

    (placement,) = found.placements
    assert (placement.node, placement.pod) == ("n2", "p")
    assert [c.name for c in placement.claims] == ["p-a", "p-b"]


def test_pods_that_share_a_claim_follow_it():
    snapshot = cluster(home("n1", 1), home("n2", 3), claim("shared"))
    work = {
        "place": "pod",
        "name": "p",
        "copies": 3,
        "claims": [{"claimName": "shared"}, {"claim": asking_for()}],
    }

    found = ask(snapshot, workload=[work])

    assert nodes(found) == ["n2", "n2"]
    assert [len(p.claims) for p in found.placements] == [2, 1]
    assert found.items[0].verdict == "does not fit"


def test_a_pod_can_only_use_a_claim_where_it_is():
    bound = claim("bound", result("gpu-0", pool="n1"))
    bound["status"]["reservedFor"] = [{"resource": "pods", "name": "q", "uid": "q"}]
    bound["status"]["allocation"]["nodeSelector"] = {
        "nodeSelectorTerms": [
            {
                "matchFields": [
                    {"key": "metadata.name", "operator": "In", "values": ["n1"]}
                ]
            }
        ]
    }
    snapshot = cluster(home("n1", 1), home("n2", 1), bound)
    only = {"place": "pod", "name": "p", "claims": [{"claimName": "bound"}]}
    cordon = {"edit": "cordon", "nodes": ["n1"]}

    fits, not_ = ask(snapshot, workload=[only]), ask(snapshot, cordon, workload=[only])

    assert nodes(fits) == ["n1"]
    assert not_.items[0].reason.startswith("Its claims are allocated already")


def test_a_group_goes_together_or_not_at_all():
    snapshot = cluster(home("n1", 2), home("n2", 1))
    group = {
        "place": "group",
        "name": "gang",
        "copies": 2,
        "pods": [{"name": "w", "copies": 2, "claims": [{"claim": asking_for()}]}],
    }
    single = {"place": "claim", "claim": asking_for()}

    found = ask(snapshot, workload=[group, single])

    gang, one = found.items
    assert (gang.placed, gang.verdict, one.placed) == (1, "does not fit", 1)
    assert [(p.name, p.node) for p in found.placements] == [
        ("gang-1-w-1", "n1"),
        ("gang-1-w-2", "n1"),
        ("want", "n2"),
    ]


def test_pods_that_wait_are_placed_oldest_first_and_each_by_itself():
    stamps = ["2026-01-03T00:00:00Z", "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"]
    big = {**claim("big"), "spec": asking_for(9)["spec"]}
    snapshot = cluster(
        home("n1", 1),
        held("a", "gpu-0", on="n1"),
        big,
        claim("early"),
        claim("late"),
        pod("p-late", "late", creationTimestamp=stamps[0]),
        pod("p-big", "big", creationTimestamp=stamps[1]),
        pod("p-early", "early", creationTimestamp=stamps[2]),
        pod("p-runs", "a", on="n1"),
    )

    found = ask(
        snapshot,
        {"edit": "release", "claims": ["default/a"]},
        workload=[{"place": "waiting"}],
    )

    (item,) = found.items
    assert [p.pod for p in found.placements] == ["p-early"]
    assert (item.placed, item.copies, item.verdict) == (1, 3, "does not fit")
    assert item.reason.startswith("Pod p-big: It cannot fit")


def test_a_pod_that_waits_for_a_claim_that_is_missing_is_told():
    snapshot = cluster(home("n1", 1), claim("there"), pod("p", "there", "missing"))

    (item,) = ask(snapshot, workload=[{"place": "waiting"}]).items

    assert (item.placed, item.copies, item.verdict) == (0, 1, "refused")
    assert item.reason == "Pod p: Its claim missing does not exist."


def test_work_can_be_kept_to_nodes():
    snapshot = cluster(home("n1", 1), [node("n2", zone="b"), *home("n2", 1)[1:]])
    on = {"labels": "zone=b"}

    found = ask(
        snapshot,
        workload=[{"place": "claim", "claim": asking_for(), "copies": 2, "on": on}],
    )

    assert nodes(found) == ["n2"]
    assert found.items[0].placed == 1


@pytest.mark.parametrize(
    ("item", "path", "words"),
    [
        ({"place": "claim"}, "workload[0]", "either claim or existing"),
        ({"place": "claim", "existing": "a/b"}, "workload[0].existing", "no claim a/b"),
        ({"place": "template"}, "workload[0]", "either template"),
        ({"place": "template", "existing": "a/b"}, "workload[0].existing", "a/b"),
        ({"place": "pod", "name": "p"}, "workload[0]", "asks for no device"),
        (
            {"place": "pod", "name": "p", "resources": {"gpu": 1}},
            "workload[0].resources[gpu]",
            "no extended resource",
        ),
        (
            {"place": "pod", "name": "p", "resources": {"a.com/gpu": "1.5"}},
            "workload[0].resources",
            "no whole number",
        ),
        (
            {"place": "pod", "name": "p", "claims": [{}]},
            "workload[0].claims[0]",
            "exactly one",
        ),
        (
            {"place": "pod", "name": "p", "claims": [{"claimName": "x"}]},
            "workload[0].claims[0].claimName",
            "default/x",
        ),
        (
            {
                "place": "claim",
                "claim": {"spec": {"devices": {"requests": [{"name": "R"}]}}},
            },
            "workload[0].claim.spec.devices.requests[0].name",
            "",
        ),
        (
            {
                "place": "claim",
                "claim": {
                    "spec": {
                        "devices": {
                            "requests": [
                                {
                                    "name": "r",
                                    "exactly": {"deviceClassName": "gpu", "cuont": 3},
                                }
                            ]
                        }
                    }
                },
            },
            "workload[0].claim",
            "cuont",
        ),
        (
            {"place": "claim", "claim": asking_for(), "on": {"nodes": ["x"]}},
            "workload[0].on.nodes[0]",
            "no node x",
        ),
    ],
)
def test_work_that_cannot_be_is_refused_with_its_field(item, path, words):
    with pytest.raises(ScenarioError) as refused:
        ask(cluster(home("n1")), workload=[item])

    assert refused.value.path == path
    assert words in refused.value.reason


def test_the_same_question_has_the_same_answer():
    nic = device(
        "nic", allowMultipleAllocations=True, capacity={"speed": {"value": "10G"}}
    )
    snapshot = cluster(
        home("n1", 2), piece("net", nic, pool="net", allNodes=True), seq=7
    )
    scenario = read_scenario(
        {
            "edits": [{"edit": "addNodes", "like": "n1", "count": 2}],
            "workload": [{"place": "claim", "claim": asking_for(), "copies": 9}],
            "policy": "pack",
        }
    )

    first, second = run(snapshot, scenario), run(snapshot, scenario)

    assert first == second
    assert (first.seq, first.policy) == (7, "pack")


def test_a_run_tells_how_far_it_is_and_can_be_stopped():
    snapshot = cluster(home("n1", 3))
    seen: list[Progress] = []

    def report(progress):
        seen.append(progress)

    found = ask(
        snapshot,
        workload=[{"place": "claim", "claim": asking_for(), "copies": 3}],
        stop=lambda: seen[-1:] == [Progress("placing", 2, 3)],
        progress=report,
    )

    assert (found.complete, found.fits) == (False, False)
    assert found.items[0].placed == 2
    assert found.sentence == "The run was stopped; until then 2 of 3 copies fit."
    assert [s.done for s in seen if s.step == "placing"] == [0, 1, 2]


# --- headroom ------------------------------------------------------------------


def test_headroom_counts_each_shape_alone():
    snapshot = cluster(home("n1", 3), home("n2", 2), held("a", "gpu-0", on="n2"), seq=3)
    one, two, nine = (
        Shape(f"{n}-GPU claim", (wanted(exactly("r", n)),)) for n in (1, 2, 9)
    )

    found: Any = headroom(snapshot, [one, two, nine])

    assert [(h.fits, h.nodes, h.seq) for h in found] == [
        (4, 2, 3),
        (1, 1, 3),
        (0, 0, 3),
    ]
    assert found[1].sentence.startswith(
        "1 more 2-GPU claim fits, on 1 node. What stops the next: It does not fit now"
    )
    assert found[2].explanation.verdict == "hopeless"


def test_headroom_of_pods_and_limits():
    snapshot = cluster(home("n1", 4), home("n2", 3))
    pair = Shape(
        "pair", (wanted(exactly("r", 1), name="x"), wanted(exactly("r", 1), name="y"))
    )
    none = Shape("nothing", (wanted(),))
    bad = Shape("bad", (wanted(exactly("r", 1, cls="nope")),))

    two, least, any_, refused = (
        headroom(snapshot, [shape], most=most)[0]
        for shape, most in ((pair, 99), (pair, 2), (none, 99), (bad, 99))
    )

    assert (two.fits, least.fits, least.verdict) == (3, 2, "not tried")
    assert least.sentence.startswith("At least 2 more pair fit")
    assert "any number of it fits" in any_.sentence
    assert (refused.fits, refused.verdict) == (0, "refused")


def test_results_can_be_written_as_json():
    found = ask(
        cluster(home("n1", 1)),
        {"edit": "drain", "nodes": ["n1"]},
        workload=[{"place": "claim", "claim": write(wanted(exactly()))}],
    )

    raw = msgspec.to_builtins(found)
    assert raw["items"][0]["verdict"] == "does not fit"
    assert raw["difference"]["moreDevices"] == 0
