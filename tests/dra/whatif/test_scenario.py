"""Scenarios are read strictly, written back equal, and say what they mean."""

from __future__ import annotations

import json

import pytest

from dra.whatif import (
    ScenarioError,
    of_scenario,
    read_scenario,
    scenario_hash,
    write_scenario,
)

EVERYTHING = {
    "name": "A bad day",
    "policy": "spread",
    "edits": [
        {"edit": "drain", "nodes": ["h100-00017"]},
        {"edit": "drain", "nodes": ["a", "b", "c", "d", "e"]},
        {"edit": "cordon", "labels": "rack=r1"},
        {"edit": "uncordon", "nodes": ["a"]},
        {"edit": "removeNodes", "nodes": ["a"], "labels": "zone=z"},
        {"edit": "addNodes", "like": "h100-00017", "count": 3},
        {
            "edit": "taint",
            "devices": {"node": "a", "cel": "device.driver == 'x'"},
            "taint": {"key": "bad", "value": "79", "effect": "NoExecute"},
        },
        {"edit": "untaint", "devices": {"pool": "p", "device": "gpu-0"}, "key": "bad"},
        {"edit": "taintByRule", "name": "all", "taint": {"key": "k"}},
        {
            "edit": "changeDevices",
            "devices": {"driver": "d"},
            "attributes": {"model": {"string": "B200"}},
            "capacity": {"memory": "141Gi"},
            "drop": ["index"],
        },
        {"edit": "changeDevices", "devices": {"driver": "d"}, "remove": True},
        {"edit": "release", "claims": ["ml/a", "ml/b"], "namespace": "lab"},
        {
            "edit": "setClass",
            "name": "gpu",
            "spec": {"selectors": [{"cel": {"expression": "true"}}]},
        },
        {"edit": "removeClass", "name": "old"},
        {"edit": "features", "version": "1.37", "gates": {"DRADeviceTaints": False}},
        {"edit": "add", "objects": [{"kind": "Pod", "metadata": {"name": "p"}}]},
        {
            "edit": "remove",
            "objects": [{"kind": "ResourceClaim", "namespace": "ml", "name": "c"}],
        },
    ],
    "workload": [
        {"place": "claim", "existing": "ml/train-8", "copies": 3},
        {"place": "claim", "existing": "ml/one"},
        {"place": "claim", "claim": {"metadata": {"name": "mine"}}},
        {"place": "template", "existing": "ml/t", "copies": 2000},
        {"place": "pod", "name": "trainer", "claims": [{"claimName": "a"}]},
        {
            "place": "group",
            "name": "gang",
            "copies": 2,
            "pods": [{"name": "w", "copies": 8, "claims": [{"templateName": "t"}]}],
        },
        {"place": "waiting", "namespace": "ml"},
    ],
}


def test_a_scenario_reads_as_sentences():
    assert of_scenario(read_scenario(EVERYTHING)) == [
        "Drain h100-00017.",
        "Drain a, b, c and 2 more nodes.",
        "Cordon the nodes with rack=r1.",
        "Uncordon a.",
        "Remove a and the nodes with zone=z.",
        "Add 3 nodes like h100-00017.",
        "Taint devices of node a where device.driver == 'x' with bad=79:NoExecute.",
        "Take taint bad from device gpu-0 of pool p.",
        "Add taint rule all, which taints every device with k:NoSchedule.",
        "On devices of driver d set model to B200, set memory to 141Gi and drop index.",
        "Remove devices of driver d.",
        "Release claims ml/a and ml/b and everything of namespace lab.",
        "Let class gpu select those with true.",
        "Remove class old.",
        "Switch to Kubernetes 1.37 and turn DRADeviceTaints off.",
        "Add pod p.",
        "Remove claim ml/c.",
        "Add 3 × claim ml/train-8.",
        "Place claim ml/one.",
        "Add 1 × claim mine.",
        "Add 2,000 × claim from template ml/t.",
        "Add 1 × pod trainer with 1 claim.",
        "Add 2 × group gang of 8 pods with 8 claims, together or not at all.",
        "Place the pods that wait in namespace ml.",
    ]


def test_a_scenario_is_written_back_equal():
    scenario = read_scenario(EVERYTHING)

    again = read_scenario(json.loads(json.dumps(write_scenario(scenario))))

    assert again == scenario
    assert scenario_hash(again) == scenario_hash(scenario)


def test_the_hash_does_not_depend_on_how_it_was_written():
    short = {"edits": [{"edit": "drain", "nodes": ["a"]}]}
    long = {
        "policy": "firstFit",
        "workload": [],
        "edits": [{"labels": "", "nodes": ["a"], "edit": "drain"}],
    }
    other = {"edits": [{"edit": "cordon", "nodes": ["a"]}]}

    first, same, different = (
        scenario_hash(read_scenario(raw)) for raw in (short, long, other)
    )

    assert first == same != different


@pytest.mark.parametrize(
    ("raw", "path", "words"),
    [
        ([], "", "Expected `object`"),
        ("drain", "", "Expected `object`"),
        ({"edit": []}, "", "unknown field `edit`"),
        ({"edits": [{"edit": "drian"}]}, "edits[0].edit", "drian"),
        ({"edits": [{"nodes": ["a"]}]}, "edits[0]", "edit"),
        ({"edits": [{"edit": "drain", "node": "a"}]}, "edits[0]", "unknown field"),
        (
            {"edits": [{"edit": "addNodes", "like": "a", "count": 0}]},
            "edits[0].count",
            ">= 1",
        ),
        (
            {"edits": [{"edit": "release", "claims": ["x"]}]},
            "edits[0].claims[0]",
            "regex",
        ),
        (
            {"workload": [{"place": "claim", "copies": 10**9}]},
            "workload[0].copies",
            "100000",
        ),
        ({"policy": "best"}, "policy", "best"),
    ],
)
def test_what_is_no_scenario_is_refused_with_its_field(raw, path, words):
    with pytest.raises(ScenarioError) as refused:
        read_scenario(raw)

    assert refused.value.path == path
    assert words in refused.value.reason
