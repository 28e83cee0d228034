"""Each change that an answer offers makes a scenario in which the next one fits."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from django.contrib.auth.models import User
from django.test import Client

from allocator import snapshots
from allocator.models import WhatIfRun
from allocator.whatif.running import start_what_if
from allocator.whatif.trying import changed
from dra.whatif import run
from inventory.models import Cluster
from tests.allocator.whatif.conftest import ONE_GPU, scenario
from tests.dra.builders import claim
from tests.dra.whatif.test_gangs import group as group_of_cluster
from tests.dra.whatif.test_gangs import member
from tests.dra.whatif.world import asking_for, cluster, home

NINE: dict[str, Any] = {
    "metadata": {"name": "nine", "namespace": "team-a"},
    "spec": {
        "devices": {
            "requests": [
                {
                    "name": "gpu",
                    "exactly": {"deviceClassName": "gpu.nvidia.com", "count": 9},
                }
            ]
        }
    },
}
MEGA = "team-b/mega-train-16gpu"
POD = {"place": "pod", "name": "p", "namespace": "team-a"}
TEMPLATE = {"metadata": {"name": "t"}, "spec": {"spec": NINE["spec"]}}


def started(cluster: Cluster, user: User, raw: Any) -> WhatIfRun:
    return start_what_if(cluster=cluster, user=user, scenario=scenario(raw))


@pytest.mark.parametrize(
    "work",
    [
        {"place": "claim", "claim": NINE},
        {"place": "claim", "existing": MEGA},
        {"place": "claim", "existing": MEGA, "copies": 2},
        {"place": "template", "template": TEMPLATE},
        {**POD, "claims": [{"claim": ONE_GPU}, {"claim": NINE}]},
        {**POD, "claims": [{"template": TEMPLATE | {"metadata": {"name": "t"}}}]},
        {**POD, "namespace": "team-b", "claims": [{"claimName": MEGA.split("/")[1]}]},
    ],
)
def test_with_it_one_more_fits(work: Any, demo: Cluster, viewer: User) -> None:
    run = started(demo, viewer, {"workload": [work]})
    assert run.result is not None
    (item,) = run.result["items"]
    relaxations = item["explanation"]["relaxations"]
    assert relaxations
    for number, one in enumerate(relaxations[:4]):
        made = changed(run.document, run.result, f"0.{number}")
        assert made is not None, one
        again = started(demo, viewer, made)
        assert again.result is not None
        assert again.result["items"][0]["placed"] > item["placed"], one["sentence"]


def group(*counts: int, copies: int = 1, **pod: Any) -> dict[str, Any]:
    """Of pods that each ask for so many GPUs of one node."""
    return {
        "place": "group",
        "name": "g",
        "copies": copies,
        "pods": [
            {"name": f"w{n}", "namespace": "team-a", "claims": [of_gpus(count)], **pod}
            for n, count in enumerate(counts)
        ],
    }


def of_gpus(count: int) -> dict[str, Any]:
    exactly = {"deviceClassName": "gpu.nvidia.com", "count": count}
    requests = [{"name": "gpu", "exactly": exactly}]
    metadata = {"name": f"of-{count}", "namespace": "team-a"}
    return {
        "claim": {"metadata": metadata, "spec": {"devices": {"requests": requests}}}
    }


@pytest.mark.parametrize(
    "work",
    [
        group(1, 9),
        group(9),
        # The second batch of two is the one that does not fit: 1, 2 and 8 copies.
        group(1, 9, copies=2),
        group(9, copies=2),
        {**group(1), "pods": [{**POD, "copies": 2, "claims": [of_gpus(9)]}]},
    ],
)
def test_with_it_the_pod_of_a_group_asks_otherwise(
    work: Any, demo: Cluster, viewer: User
) -> None:
    run = started(demo, viewer, {"workload": [work]})
    assert run.result is not None
    (item,) = run.result["items"]
    relaxations = item["explanation"]["relaxations"]
    (fewer,) = (n for n, one in enumerate(relaxations) if one["code"] == "fewer")

    made = changed(run.document, run.result, f"0.{fewer}")

    assert made is not None
    before, after = run.document["workload"][0]["pods"], made["workload"][0]["pods"]
    asked = [
        pod["claims"][0]["claim"]["spec"]["devices"]["requests"][0]["exactly"]["count"]
        for pod in after
    ]
    assert len(asked) == len(before)
    assert asked[-1] == int(relaxations[fewer]["after"])
    again = started(demo, viewer, made)
    assert again.result is not None
    then = again.result["items"][0]
    # Another pod of the group may be the next that does not fit, this one does.
    assert then["placed"] > item["placed"] or then["pod"] != item["pod"]


def test_the_page_says_whom_of_a_group_the_changes_are_for(
    demo: Cluster, viewer: User, browser: Client
) -> None:
    run = started(demo, viewer, {"workload": [group(1, 9)]})
    text = browser.get(f"/c/demo/what-if/runs/{run.pk}/").content.decode()
    assert 'They are for pod <span class="mono">g-w1</span>' in text
    assert f"?run={run.pk}&amp;change=0.0" in text
    builder = browser.get(f"/c/demo/what-if/?run={run.pk}&change=0.0").content.decode()
    assert "count: 9" not in builder


LOST, LEFT = "gpu-h100-02", "gpu-h100-03"
WAYS: dict[str, Any] = {
    "drained": {"edit": "drain", "nodes": [LOST]},
    "failed": {"edit": "removeNodes", "nodes": [LOST]},
    "evicted": {
        "edit": "taint",
        "devices": {"node": LOST},
        "taint": {"key": "broken", "effect": "NoExecute"},
    },
    "vanished": {"edit": "changeDevices", "devices": {"node": LOST}, "remove": True},
}


def losing(cluster: Cluster, user: User, way: str) -> WhatIfRun:
    """What is on one node has to go, and only one other takes pods."""
    others = sorted(snapshots.current(cluster).nodes.keys() - {LOST, LEFT})
    edits = [{"edit": "cordon", "nodes": others}, WAYS[way]]
    return started(cluster, user, {"edits": edits})


@pytest.mark.parametrize("way", WAYS)
def test_with_it_what_lost_its_place_finds_another(
    way: str, demo: Cluster, viewer: User
) -> None:
    run = losing(demo, viewer, way)
    assert run.result is not None
    codes = set()
    for place, one in enumerate(run.result["stranded"]):
        of_kind = {c["code"]: n for n, c in enumerate(_changes(one))}
        for code, number in of_kind.items():
            made = changed(run.document, run.result, f"moved.{place}.{number}")
            assert made is not None
            again = started(demo, viewer, made)
            # What comes after it may find less then.
            assert waiting(run) & {*one["claims"]}
            assert not waiting(again) & {*one["claims"]}, _changes(one)[number]
            codes.add(code)
    assert {"fewer", "tolerate", "wait"} <= codes


def _changes(stranded: Any) -> list[Any]:
    explained = stranded["explanation"]
    return explained["relaxations"] if explained else []


def waiting(run: WhatIfRun) -> set[str]:
    assert run.result is not None
    losses = run.result["losses"]
    return {
        f"{loss['namespace']}/{loss['claim']}"
        for loss in losses
        if loss["outcome"] == "waits"
    }


def test_what_lost_its_place_has_its_changes_on_the_page_and_over_rest(
    demo: Cluster, viewer: User, browser: Client
) -> None:
    drained = losing(demo, viewer, "drained")
    assert drained.result is not None
    text = browser.get(f"/c/demo/what-if/runs/{drained.pk}/").content.decode()
    assert "What finds no other place" in text
    assert "It would find a place after any one of these changes" in text
    address = f"/c/demo/what-if/?run={drained.pk}&amp;change=moved.0.0"
    assert address in text
    builder = browser.get(address.replace("&amp;", "&"))
    assert builder.status_code == 200
    first = drained.result["stranded"][0]["explanation"]["relaxations"][0]
    word = "ResourceClaim" if first["spec"] else "release"
    assert word in builder.content.decode()

    answer = browser.get(f"/api/v1/what-if/{drained.pk}/").json()
    (told, *_) = answer["result"]["stranded"]
    assert told["explanation"]["relaxations"][0]["node"]
    assert told["reason"]


def test_a_claim_that_a_pod_names_twice_does_not_shift_the_others() -> None:
    own = {"claim": asking_for(3, name="own")}
    work = {"place": "pod", "name": "p", "claims": [{"claimName": "c"}] * 2 + [own]}
    document = {"workload": [work]}
    snapshot = cluster(home("n1", 3), claim("c"))
    result = msgspec.to_builtins(run(snapshot, scenario(document)))
    relaxations = result["items"][0]["explanation"]["relaxations"]
    fewer = next(n for n, r in enumerate(relaxations) if r["code"] == "fewer")

    made = changed(document, result, f"0.{fewer}")

    assert made is not None
    assert run(snapshot, scenario(made)).fits
    assert made["workload"][0]["claims"][:2] == [{"claimName": "c"}] * 2


def test_a_change_of_what_the_scenario_places_cannot_be_tried(
    demo: Cluster, viewer: User
) -> None:
    run = started(demo, viewer, {"workload": [{"place": "claim", "claim": NINE}]})
    assert run.result is not None
    (item,) = run.result["items"]
    (wait, *_) = [r for r in item["explanation"]["relaxations"] if r["code"] != "wait"]
    named = {"namespace": "team-a", "name": "own"}
    wait |= {"code": "wait", "before": "team-a/own", "spec": None}
    number = item["explanation"]["relaxations"].index(wait)
    run.result["placements"] = [{"item": 0, "claims": [named]}]
    assert changed(run.document, run.result, f"0.{number}") is None
    run.result["placements"] = [{"item": -1, "claims": [named]}]
    assert changed(run.document, run.result, f"0.{number}") is not None


def test_a_change_of_the_scheduler_s_own_claim_has_no_text(
    demo: Cluster, viewer: User
) -> None:
    work = {**POD, "resources": {"nvidia.com/gpu": 9}}
    run = started(demo, viewer, {"workload": [work]})
    assert run.result is not None
    (item,) = run.result["items"]
    assert item["asked"][0]["made"]
    codes = [one["code"] for one in item["explanation"]["relaxations"]]
    assert "fewer" in codes
    assert changed(run.document, run.result, f"0.{codes.index('fewer')}") is None


@pytest.mark.parametrize(
    "text",
    ["", "0", "0.9999", "7.0", "a.b", "0.-1", "0.0.0", "moved.0.0", "moved.0", "a.0.0"],
)
def test_what_names_none_is_none(text: str, demo: Cluster, viewer: User) -> None:
    run = started(demo, viewer, {"workload": [{"place": "claim", "claim": NINE}]})
    assert run.result is not None
    before = run.document
    assert changed(run.document, run.result, text) is None
    assert run.document == before


def test_the_answer_s_page_leads_to_the_builder_with_it(
    demo: Cluster, viewer: User, browser: Client
) -> None:
    work = {"place": "claim", "claim": NINE}
    run = started(demo, viewer, {"workload": [work]})
    text = browser.get(f"/c/demo/what-if/runs/{run.pk}/").content.decode()
    assert "The next would fit after any one of these changes" in text
    assert "Ask for " in text
    assert "Show the changed claim" in text
    address = f"/c/demo/what-if/?run={run.pk}&amp;change=0.0"
    assert address in text
    builder = browser.get(address.replace("&amp;", "&")).content.decode()
    assert "count: 9" not in builder
    assert "count: 9" in browser.get(f"/c/demo/what-if/?run={run.pk}").content.decode()


def test_over_rest_they_come_with_the_claims_that_they_count(
    demo: Cluster, viewer: User, browser: Client
) -> None:
    answer = browser.post(
        "/api/v1/clusters/demo/what-if/",
        {"scenario": {"workload": [{"place": "claim", "claim": NINE}]}},
        content_type="application/json",
    )
    (item,) = answer.json()["result"]["items"]
    (fewer,) = [r for r in item["explanation"]["relaxations"] if r["code"] == "fewer"]
    assert fewer["spec"]["devices"]["requests"][0]["exactly"]["count"] < 9
    assert item["asked"][fewer["claim"]]["name"] == "nine"


def test_with_it_a_pod_of_a_gang_that_waits_asks_otherwise() -> None:
    """Its group is the cluster's: the claim of the pod that stops it is changed there."""
    snapshot = cluster(
        home("n1", 4),
        group_of_cluster("g", 3),
        member("a-0", "g", 2),
        member("a-1", "g", 1),
        member("a-2", "g", 2),
    )
    document = {"workload": [{"place": "waiting"}]}
    result: Any = msgspec.to_builtins(run(snapshot, scenario(document)))
    (item,) = result["items"]
    assert (item["placed"], item["pod"]) == (0, "a-2")
    relaxations = item["explanation"]["relaxations"]
    number = [one["code"] for one in relaxations].index("fewer")

    made = changed(document, result, f"0.{number}")

    assert made is not None
    assert made["edits"][0]["objects"][0]["metadata"]["name"] == "c-a-2"
    again: Any = msgspec.to_builtins(run(snapshot, scenario(made)))
    assert again["fits"]
    assert again["items"][0]["placed"] == 3
