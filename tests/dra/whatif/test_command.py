"""``python -m dra what-if`` on files."""

from __future__ import annotations

import json

import pytest
import yaml

from tests.dra.allocation.world import device_class
from tests.dra.test_command import dra
from tests.dra.whatif.world import asking_for, held, home, pod


@pytest.fixture
def files(tmp_path):
    """A dump of two nodes, and a way to write a scenario beside it."""
    items = [
        *home("n1", 2),
        *home("n2", 1),
        device_class(),
        held("a", "gpu-0", on="n1", pods=["p"]),
        pod("p", "a", on="n1"),
    ]
    dump = tmp_path / "dump.json"
    dump.write_text(json.dumps({"kind": "List", "items": items}))

    def write(scenario, name="scenario.yaml"):
        path = tmp_path / name
        path.write_text(
            scenario if isinstance(scenario, str) else yaml.safe_dump(scenario)
        )
        return path

    return dump, write


def test_a_scenario_is_answered_for_people(files):
    dump, write = files
    scenario = {
        "edits": [{"edit": "drain", "nodes": ["n1"]}],
        "workload": [{"place": "claim", "claim": asking_for(), "copies": 2}],
    }

    run = dra("what-if", "--cluster", dump, "--scenario", write(scenario))

    assert run.returncode == 1
    lines = run.stdout.splitlines()
    assert lines[0].startswith("0 of 2 copies fit; what stops the next: it does not")
    assert "Drain n1." in lines
    assert "Add 2 × claim want. 0 of 2 fit." in lines
    assert "  a → n2: n2/gpu-0" in [line.replace("p →", "a →") for line in lines]
    assert "  n1: free 1 → 2 (+1), in use 1 → 0 (-1)" in lines
    assert "  default: 1 → 1 (+0)" not in lines
    assert "  The next would fit after any one of these changes:" in lines


def test_a_scenario_is_answered_for_tools(files):
    dump, write = files
    fits = write('{"edits": [{"edit": "cordon", "nodes": ["n1"]}]}')

    run = dra("what-if", "--json", "--cluster", dump, "--scenario", fits)

    found = json.loads(run.stdout)
    assert run.returncode == 0
    assert found["fits"] is True
    assert found["sentence"] == "No claim loses its devices and no pool breaks."
    assert len(found["scenario"]) == 64


def test_yaml_may_write_its_outermost_braces(files):
    dump, write = files
    cordon = write("{edits: [{edit: cordon, nodes: [n1]}]}")

    run = dra("what-if", "--cluster", dump, "--scenario", cordon)

    assert (run.returncode, run.stderr) == (0, "")


@pytest.mark.parametrize(
    ("scenario", "options", "words"),
    [
        (
            "edits: [{edit: drain, nodes: [n9]}]",
            [],
            "edits[0].nodes[0]: the cluster has",
        ),
        ("edits: [{edit: drian}]", [], "edits[0].edit"),
        ("{", [], "neither JSON nor YAML"),
        ("", [], "one document"),
        ("edits: []", ["--version", "new"], "--version"),
    ],
)
def test_bad_input_is_one_line_and_status_2(files, scenario, options, words):
    dump, write = files

    run = dra("what-if", "--cluster", dump, "--scenario", write(scenario), *options)

    assert run.returncode == 2
    assert words in run.stderr
    assert len(run.stderr.splitlines()) == 1
    assert run.stdout == ""
