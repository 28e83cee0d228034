"""Situations that people reported, asked as scenarios."""

from __future__ import annotations

from tests.dra.allocation.world import device_class, selector
from tests.dra.builders import claim, consumes, counter_set, device, node, piece, result
from tests.dra.whatif.world import ask, cluster, held, home, pod


def kind(value):
    return {"kind": {"string": value}}


def a_gpu_and_its_halves():
    def part(name, what, memory):
        return device(
            name,
            attributes=kind(what),
            consumesCounters=[consumes("gpu-0", memory=memory)],
        )

    return [
        node("node-1"),
        piece("node-1-a", pool="node-1", nodeName="node-1", of=2,
              sharedCounters=[counter_set("gpu-0", memory="80Gi")]),
        piece("node-1-b",
              part("full", "full", "80Gi"),
              part("half-a", "half", "40Gi"),
              part("half-b", "half", "40Gi"),
              pool="node-1", nodeName="node-1", of=2),
    ]  # fmt: skip


def full_or_half():
    def alternative(name):
        expression = f'device.attributes["gpu.example.com"].kind == "{name}"'
        return {
            "name": name,
            "deviceClassName": "gpu",
            "selectors": [selector(expression)],
        }

    request = {
        "name": "r",
        "firstAvailable": [alternative("full"), alternative("half")],
    }
    return {
        "metadata": {"name": "either"},
        "spec": {"devices": {"requests": [request]}},
    }


def test_pods_are_placed_one_after_another_and_nobody_looks_ahead():
    snapshot = cluster(a_gpu_and_its_halves())
    two_pods = {
        "place": "pod", "name": "p", "copies": 2, "claims": [{"claim": full_or_half()}],
    }  # fmt: skip

    found = ask(snapshot, workload=[two_pods])

    (item,) = found.items
    (first,) = found.placements
    assert item.placed == 1
    assert first.claims[0].devices[0].request == "r/full"
    assert item.hint == (
        "All 2 would fit on node node-1 if earlier ones took a later alternative; placed "
        "one after another they do not, because nobody looks ahead."
    )


def test_both_claims_of_one_pod_are_looked_at_together():
    snapshot = cluster(a_gpu_and_its_halves())
    one_pod = {
        "place": "pod", "name": "p",
        "claims": [{"claim": full_or_half()}, {"claim": full_or_half()}],
    }  # fmt: skip

    (placed,) = ask(snapshot, workload=[one_pod]).placements

    got = [(d.request, d.device) for c in placed.claims for d in c.devices]
    assert got == [("r/half", "half-a"), ("r/half", "half-b")]


def test_a_group_of_two_fails_although_two_halves_would_do():
    snapshot = cluster(a_gpu_and_its_halves())
    gang = {
        "place": "group", "name": "gang",
        "pods": [{"name": "p", "copies": 2, "claims": [{"claim": full_or_half()}]}],
    }  # fmt: skip

    found = ask(snapshot, workload=[gang])

    assert found.placements == ()
    assert "All 2 would fit" in found.items[0].hint


def test_looking_ahead_only_names_nodes_where_the_work_may_go():
    either = {
        "metadata": {"name": "either"},
        "spec": {
            "devices": {
                "requests": [
                    {
                        "name": "r",
                        "firstAvailable": [
                            {"name": "two", "deviceClassName": "gpu", "count": 2},
                            {"name": "one", "deviceClassName": "gpu"},
                        ],
                    }
                ]
            }
        },
    }
    one = {"name": "p", "claims": [{"claim": either}], "on": {"nodes": ["n2"]}}
    work = {"place": "group", "name": "g", "pods": [one | {"copies": 2}]}

    found = ask(cluster(home("n1", 4), home("n2", 2)), workload=[work])

    assert found.items[0].hint.startswith("All 2 would fit on node n2 ")


def test_what_a_taint_would_evict_is_told_before_it_is_there():
    snapshot = cluster(
        home("n1", 2),
        held("runs", "gpu-0", on="n1", pods=["p"]),
        held("stays", "gpu-1", on="n1", pods=["q"],
             tolerations=[{"operator": "Exists", "effect": "NoExecute"}]),
        pod("p", "runs", on="n1"), pod("q", "stays", on="n1"),
    )  # fmt: skip
    rule = {
        "edit": "taintByRule",
        "name": "maintenance",
        "driver": "gpu.example.com",
        "taint": {"key": "k", "effect": "NoExecute"},
    }

    assert [loss.claim for loss in ask(snapshot, rule).losses] == ["runs"]


def test_an_attribute_that_the_next_release_drops_makes_selectors_fail():
    model = {"model": {"string": "GB200"}, "index": {"int": 1}}
    snapshot = cluster(
        node("n1"),
        piece("s", device("gpu-0", attributes=model), pool="n1"),
        device_class("gpu", 'device.attributes["gpu.example.com"].index == 1'),
    )
    upgrade = {
        "edit": "changeDevices",
        "devices": {"driver": "gpu.example.com"},
        "drop": ["index"],
    }
    one = {"place": "claim", "claim": full_or_half_of_any()}

    found = ask(snapshot, upgrade, workload=[one])

    assert found.items[0].verdict == "refused"
    assert "no such key: index" in found.items[0].reason
    (gpu,) = found.difference.classes
    assert (gpu.before.devices, gpu.after.devices, gpu.after.errors) == (1, 0, 1)


def full_or_half_of_any():
    exactly = {"deviceClassName": "gpu"}
    return {"spec": {"devices": {"requests": [{"name": "r", "exactly": exactly}]}}}


def test_a_claim_with_256_consumers_takes_no_257th_pod():
    full = claim("fabric", result("gpu-0", pool="n1"))
    full["status"]["reservedFor"] = [
        {"resource": "pods", "name": f"late-{n}", "uid": f"u-{n}"} for n in range(256)
    ]
    snapshot = cluster(home("n1", 1), full)
    one = {"place": "pod", "name": "p", "claims": [{"claimName": "fabric"}]}

    (item,) = ask(snapshot, workload=[one]).items

    assert item.verdict == "refused"
    assert "reserved for 256 consumers" in item.reason


def test_a_claim_that_is_being_deleted_is_not_placed():
    going = claim("going")
    going["metadata"]["deletionTimestamp"] = "2026-11-28T01:00:00Z"
    snapshot = cluster(home("n1", 1), going)

    (item,) = ask(
        snapshot, workload=[{"place": "claim", "existing": "default/going"}]
    ).items

    assert item.reason == "Claim default/going is being deleted."


def test_a_monitor_with_admin_access_takes_nothing_away():
    everything = {
        "metadata": {"name": "monitor"},
        "spec": {
            "devices": {
                "requests": [
                    {
                        "name": "r",
                        "exactly": {
                            "deviceClassName": "gpu",
                            "allocationMode": "All",
                            "adminAccess": True,
                        },
                    }
                ]
            }
        },
    }
    snapshot = cluster(home("n1", 2), held("job", "gpu-0", on="n1"))

    found = ask(snapshot, workload=[{"place": "claim", "claim": everything}])

    assert len(found.placements[0].claims[0].devices) == 2
    assert found.difference.devices == ()
    assert found.difference.namespaces == ()


def test_a_claim_with_an_empty_allocation_loses_nothing_with_a_node():
    empty = claim("empty")
    empty["status"] = {"allocation": {}, "reservedFor": None}
    nulls = claim("nulls")
    nulls["spec"] = {"devices": {}}
    nulls["status"] = {"allocation": {"devices": {"results": None, "config": None}}}
    snapshot = cluster(home("n1", 1), home("n2", 1), empty, nulls)

    found = ask(snapshot, {"edit": "removeNodes", "nodes": ["n1"]})

    assert found.losses == ()
