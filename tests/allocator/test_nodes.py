"""Which node a claim gets: what its pod may use, and what the policy likes."""

from __future__ import annotations

from typing import Any

import pytest

from allocator import snapshots
from allocator.services.nodes import likeness_for
from dra.portal import ROLE
from tests.allocator import builders as build
from tests.allocator.lab import Lab

pytestmark = pytest.mark.django_db


def pod(lab: Lab, claims: tuple[str, ...] = ("one",), **spec: Any) -> None:
    found = build.pod("p", claims[0])
    found["spec"] |= spec
    found["spec"]["resourceClaims"] = [
        {"name": f"c{i}", "resourceClaimName": name} for i, name in enumerate(claims)
    ]
    lab.put(found)


def labelled(lab: Lab, node: str, **labels: str) -> None:
    found = build.node(node)
    found["metadata"]["labels"] = labels
    lab.put(found)


def tainted(lab: Lab, node: str) -> None:
    taint = {"key": "team", "value": "a", "effect": "NoSchedule"}
    lab.put(build.node(node, taints=[taint]))


def plan(lab: Lab, name: str = "one", **how: Any) -> str:
    run = lab.execute(lab.start(name, dry_run=True, **how))
    return run.node_name or run.reason


def test_the_node_selector_of_the_waiting_pod_is_honoured(lab: Lab):
    labelled(lab, "n1", disk="fast")
    pod(lab, nodeSelector={"disk": "fast"})
    assert plan(lab) == "n1"


def test_its_required_affinity_too(lab: Lab):
    where = {"key": "metadata.name", "operator": "In", "values": ["n1"]}
    terms = {"nodeSelectorTerms": [{"matchFields": [where]}]}
    required = {"requiredDuringSchedulingIgnoredDuringExecution": terms}
    pod(lab, affinity={"nodeAffinity": required})
    assert plan(lab) == "n1"


def test_a_taint_that_the_pod_does_not_tolerate_keeps_it_away(lab: Lab):
    tainted(lab, "n0")
    pod(lab)
    assert plan(lab) == "n1"


def test_a_pod_that_tolerates_it_may_come(lab: Lab):
    tainted(lab, "n0")
    pod(lab, tolerations=[{"key": "team", "operator": "Exists"}])
    assert plan(lab) == "n0"


def test_without_a_pod_tainted_nodes_are_the_last_choice(lab: Lab):
    tainted(lab, "n0")
    assert plan(lab) == "n1"
    lab.server.store.delete("ResourceSlice", f"n1-{build.GPU}")
    lab.sync()
    assert plan(lab) == "n0"


def test_cordoned_nodes_are_left_out(lab: Lab):
    lab.put(build.node("n0", unschedulable=True))
    assert plan(lab) == "n1"


def test_a_pod_that_may_run_nowhere_is_said(lab: Lab):
    pod(lab, nodeSelector={"disk": "fast"})
    assert "Pod p, which waits for the claim, may run on none of the nodes" in plan(lab)


def test_a_carrier_that_is_still_there_decides_about_no_later_plan(lab: Lab):
    """It was for a plan on n0, where somebody else was quicker."""
    both = (build.result("n0", "gpu-0"), build.result("n0", "gpu-1"))
    lab.put(build.allocated("held", *both))
    carrier = build.pod("dra-portal-carrier-1", "one")
    carrier["metadata"]["labels"] = {ROLE: "carrier"}
    where = {"key": "metadata.name", "operator": "In", "values": ["n0"]}
    required = {"nodeSelectorTerms": [{"matchFields": [where]}]}
    carrier["spec"]["affinity"] = {
        "nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}
    }
    lab.put(carrier)
    assert plan(lab) == "n1"
    lab.put(build.node("n1", unschedulable=True))
    assert "Pod" not in plan(lab)


def test_what_the_pod_waits_for_has_to_fit_on_one_node(lab: Lab):
    """n0 has room for the first claim only, so both go to n1."""
    lab.put(build.allocated("held", build.result("n0", "gpu-0")), build.claim("two"))
    pod(lab, ("one", "two"))
    assert plan(lab) == "n1"


def test_the_second_claim_of_a_pod_goes_where_the_first_one_goes(lab: Lab):
    lab.put(build.claim("two"))
    pod(lab, ("one", "two"))
    lab.execute(lab.start("one", node="n1"))
    lab.sync()
    assert plan(lab, "two") == "n1"


@pytest.mark.parametrize(("policy", "node"), [("spread", "n0"), ("pack", "n1")])
def test_policies_look_at_what_is_in_use(lab: Lab, policy: str, node: str):
    lab.put(build.allocated("held", build.result("n1", "gpu-0")))
    assert plan(lab, policy=policy) == node


def test_a_named_node_is_taken_at_its_word(lab: Lab):
    tainted(lab, "n0")
    assert plan(lab, node="n0") == "n0"


QUARANTINE = "dra-portal.io/quarantine-0123456789ab"


def quarantined(lab: Lab, node: str) -> None:
    taint = {"key": QUARANTINE, "value": "r", "effect": "NoSchedule"}
    lab.put(build.node(node, taints=[taint]))


def test_a_node_in_quarantine_gets_nothing(lab: Lab):
    """The scheduler may have forgotten a device there, and a carrier would ask for one."""
    quarantined(lab, "n0")
    quarantined(lab, "n1")
    assert plan(lab) not in ("n0", "n1")
    pod(lab, tolerations=[{"operator": "Exists"}])
    assert plan(lab) not in ("n0", "n1")


def test_a_carrier_tolerates_what_a_node_asks_of_every_pod_but_no_quarantine(lab: Lab):
    taints = [
        {"key": "team", "value": "a", "effect": "NoSchedule"},
        {"key": QUARANTINE, "value": "r", "effect": "NoSchedule"},
    ]
    lab.put(build.node("n0", taints=taints))
    run = lab.start("one", node="n0")
    found = likeness_for(run, "n0", snapshots.current(lab.cluster))
    assert [toleration["key"] for toleration in found["tolerations"]] == ["team"]
    assert found["scheduler"] == ""


def test_a_carrier_is_like_the_pod_that_waits(lab: Lab):
    tolerations = [{"key": "team", "operator": "Exists"}]
    pod(lab, tolerations=tolerations, schedulerName="batch")
    found = likeness_for(lab.start("one"), "n0", snapshots.current(lab.cluster))
    assert found == {"tolerations": tuple(tolerations), "scheduler": "batch"}


def test_the_guard_of_another_run_is_gone_when_the_pod_comes(lab: Lab):
    for node in ("n0", "n1"):
        key = "dra-portal.io/guard-0123456789ab"
        taint = {"key": key, "value": "r", "effect": "NoSchedule"}
        lab.put(build.node(node, taints=[taint]))
    pod(lab)
    assert plan(lab) == "n0"
