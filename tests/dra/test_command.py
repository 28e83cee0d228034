"""``python -m dra`` as people and scripts use it."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import NamedTuple

import pytest
import yaml

from dra.__main__ import main
from tests.dra.allocation.world import (
    CLASS,
    device_class,
    devices,
    exactly,
)
from tests.dra.builders import claim, device, node, piece, result

ROOT = Path(__file__).parents[2]


class Run(NamedTuple):
    returncode: int
    stdout: str
    stderr: str


def dra(*arguments, stdin=""):
    """What the command does with these arguments, in this process."""
    out, err = io.StringIO(), io.StringIO()
    usual, sys.stdin = sys.stdin, io.StringIO(stdin)
    try:
        with redirect_stdout(out), redirect_stderr(err):
            code = main([str(a) for a in arguments])
    except SystemExit as stopped:
        code = int(stopped.code or 0)
    finally:
        sys.stdin = usual
    return Run(code, out.getvalue(), err.getvalue())


def test_it_runs_as_a_module():
    run = subprocess.run(
        [sys.executable, "-m", "dra", "allocate"],
        input=json.dumps(question()),
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=200,
        check=True,
    )

    assert json.loads(run.stdout)["ok"] is True


def lines(run):
    assert run.returncode == 0, run.stderr
    return [json.loads(line) for line in run.stdout.splitlines()]


def question(case_id="q", **fields):
    requests = [exactly()]
    return {
        "id": case_id,
        "features": {"adminAccess": True},
        "node": node("n1"),
        "classes": [device_class()],
        "slices": [devices(device("gpu-0"))],
        "claims": [{**claim("c"), "spec": {"devices": {"requests": requests}}}],
        "allocatedClaims": [],
        **fields,
    }


# --- allocate ---------------------------------------------------------------------


def test_allocate_answers_each_line_in_order_and_goes_on_after_bad_ones():
    taken = claim("other", result("gpu-0"))
    asked = [
        json.dumps(question("fits")),
        "{not json",
        "[]",
        json.dumps(question("taken", allocatedClaims=[taken])),
        json.dumps(question("gate", features={"nope": True})),
        json.dumps(question("list", slices={"kind": "List"})),
        json.dumps(question("shape", slices=[{"spec": {"devices": 5}}])),
        json.dumps(question("mode", quirks="1.0")),
        json.dumps(question("no class", classes=[])),
        json.dumps({"id": "empty"}),
    ]

    answers = lines(dra("allocate", stdin="\n".join(asked)))

    assert [a["id"] for a in answers] == [
        "fits",
        None,
        None,
        "taken",
        "gate",
        "list",
        "shape",
        "mode",
        "no class",
        "empty",
    ]
    assert all(isinstance(a["elapsedUs"], int) for a in answers)
    fits, taken_, no_class = answers[0], answers[3], answers[8]
    (allocation,) = fits["allocations"]
    assert allocation["devices"]["results"] == [
        {"request": "r", "driver": "gpu.example.com", "pool": "pool", "device": "gpu-0"}
    ]
    assert (taken_["ok"], taken_["allocations"]) == (True, None)
    assert "1 in use" in taken_["reason"]
    assert no_class["nodeOnly"] is False
    for bad, words in (
        (1, "Expecting"),
        (2, "JSON object"),
        (4, "features.nope"),
        (5, "slices: must be a list"),
        (6, "ResourceSlice"),
        (7, "quirks"),
        (8, "device class gpu"),
        (9, "node"),
    ):
        assert answers[bad]["ok"] is False
        assert words in answers[bad]["error"]


def test_allocate_answers_every_node_as_if_it_were_the_only_one():
    case = question(
        nodes=[node("n1"), node("n2"), node("n3")],
        nodeMode="all",
        slices=[
            piece("a", device("gpu-0"), pool="n1"),
            piece("b", device(), device(), pool="n2", nodeName="n2"),
        ],
    )
    del case["node"]

    (answer,) = lines(dra("allocate", stdin=json.dumps(case)))

    nodes = answer["nodes"]
    assert nodes["n1"]["allocations"]
    assert (nodes["n2"]["ok"], nodes["n2"]["nodeOnly"]) == (False, True)
    assert (nodes["n3"]["ok"], nodes["n3"]["allocations"]) == (True, None)


def test_allocate_says_what_is_not_supported():
    odd = exactly("r", 1, "google.protobuf.Int32Value{value: 1} == 1")
    case = question(claims=[{**claim("c"), "spec": {"devices": {"requests": [odd]}}}])

    (answer,) = lines(dra("allocate", stdin=json.dumps(case)))

    assert "protobuf" in answer["notSupported"]
    assert "not supported: " in answer["error"]


def test_input_without_any_json_is_bad_input_and_no_input_is_none():
    assert dra("allocate", stdin="nothing\nof the kind\n").returncode == 2
    assert dra("allocate").returncode == 0


def test_cel_answers_lines():
    case = {"id": 1, "expression": 'device.driver == "x"', "device": {"driver": "x"}}

    (answer,) = lines(dra("cel", stdin=json.dumps(case)))

    assert (answer["id"], answer["result"]) == (1, True)


# --- fit ----------------------------------------------------------------------------


@pytest.fixture
def files(tmp_path):
    """A cluster dump of two nodes and a way to write claims beside it."""
    items = [
        node("n1"),
        node("n2"),
        device_class(),
        piece("a", device("gpu-0"), pool="n1"),
        piece("b", device("gpu-0"), device("gpu-1"), pool="n2", nodeName="n2"),
    ]
    dump = tmp_path / "dump.json"
    dump.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))

    def write(*objects, name="claim.yaml"):
        path = tmp_path / name
        path.write_text(yaml.safe_dump_all(objects))
        return path

    return dump, write


def claim_for(count, kind="ResourceClaim", **fields):
    body = {"deviceClassName": CLASS, "count": count, **fields}
    spec = {"devices": {"requests": [{"name": "gpus", "exactly": body}]}}
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": kind,
        "metadata": {"name": "mine", "namespace": "lab"},
        "spec": spec if kind == "ResourceClaim" else {"spec": spec},
    }


@pytest.mark.parametrize("kind", ["ResourceClaim", "ResourceClaimTemplate"])
def test_allocate_says_where_and_which_devices(files, kind):
    dump, write = files

    run = dra("allocate", "--cluster", dump, "--claim", write(claim_for(2, kind)))

    assert run.returncode == 0
    assert run.stdout == (
        "Fits on node n2.\n"
        "  mine gpus: gpu.example.com/n2/gpu-0\n"
        "  mine gpus: gpu.example.com/n2/gpu-1\n"
    )


def test_allocate_says_why_not_and_fails(files):
    dump, write = files
    path = write(claim_for(2))

    run = dra("allocate", "--cluster", dump, "--claim", path, "--node", "n1")

    assert run.returncode == 1
    assert run.stdout == (
        "Does not fit. Node n1 does not have 2 free devices of class gpu: it has 1 "
        "(request gpus).\n"
    )


def test_allocate_speaks_json_to_tools(files):
    dump, write = files
    few, many = write(claim_for(1), name="few"), write(claim_for(9), name="many")

    fits = dra("allocate", "--json", "--cluster", dump, "--claim", few)
    not_ = dra("allocate", "--json", "--cluster", dump, "--claim", many)

    assert (fits.returncode, json.loads(fits.stdout)["node"]) == (0, "n1")
    assert (not_.returncode, json.loads(not_.stdout)["fits"]) == (1, False)


def test_allocate_shows_what_a_share_consumes(files, tmp_path):
    _, write = files
    nic = device(
        "nic", allowMultipleAllocations=True, capacity={"speed": {"value": "10G"}}
    )
    dump = write(node("n1"), device_class(), devices(nic), name="dump.yaml")
    path = write(claim_for(1, capacity={"requests": {"speed": "2G"}}))

    run = dra("allocate", "--cluster", dump, "--claim", path)

    assert "pool/nic (speed 2G)" in run.stdout


def test_allocate_reads_several_files_and_leaves_broken_objects_out(files):
    dump, write = files
    more = write(
        piece("c", *(device(f"d{i}") for i in range(5)), pool="n3", nodeName="n3"),
        node("n3"),
        {"kind": "ResourceSlice", "metadata": {"name": "bad"}, "spec": {"devices": 1}},
        name="more.yaml",
    )

    run = dra(
        "allocate", "--cluster", dump, "--cluster", more, "--claim", write(claim_for(5))
    )

    assert run.returncode == 0
    assert "ResourceSlice bad" in run.stderr


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda w: ["--claim", w("no object")], "a Kubernetes object is expected"),
        (lambda w: ["--claim", w({"kind": "Pod"})], "no ResourceClaim"),
        (lambda w: ["--claim", w(claim_for(1, deviceClassName="x"))], "class x"),
        (lambda w: ["--claim", w(claim_for("many"))], "exactly.count"),
        (lambda w: ["--claim", "missing.yaml"], "missing.yaml"),
        (lambda w: ["--claim", w(claim_for(1)), "--node", "n9"], "node n9"),
        (lambda w: ["--claim", w(claim_for(1)), "--version", "new"], "--version"),
        (
            lambda w: [
                "--claim",
                w({**claim_for(1), "apiVersion": "resource.k8s.io/v1beta1"}),
            ],
            "export it as resource.k8s.io/v1",
        ),
    ],
)
def test_allocate_says_in_one_line_what_is_wrong_with_the_input(files, change, words):
    dump, write = files

    run = dra("allocate", "--cluster", dump, *change(write))

    assert run.returncode == 2
    assert words in run.stderr
    assert len(run.stderr.splitlines()) == 1
    assert run.stdout == ""


def test_a_dump_that_is_neither_json_nor_yaml_is_refused(files, tmp_path):
    _, write = files
    bad = tmp_path / "bad.json"
    bad.write_text("{broken")

    run = dra("allocate", "--cluster", bad, "--claim", write(claim_for(1)))

    assert run.returncode == 2
    assert "neither JSON nor YAML" in run.stderr


def test_without_a_verb_the_usage_is_shown():
    run = dra()

    assert run.returncode == 2
    assert "allocate" in run.stderr


def test_allocate_tells_of_every_node(files):
    dump, write = files
    path = write(claim_for(2))

    run = dra("allocate", "--all-nodes", "--cluster", dump, "--claim", path)
    as_json = dra(
        "allocate", "--all-nodes", "--json", "--cluster", dump, "--claim", path
    )

    lines = run.stdout.splitlines()
    assert run.returncode == as_json.returncode == 0
    assert lines[0].startswith("Fits on 1 of ")
    answers = json.loads(as_json.stdout)
    assert len(answers) == len(lines) - 1
    assert [name for name, found in answers.items() if found["fits"]] == ["n2"]


def test_explain_says_why_and_what_would_help(files):
    dump, write = files
    path = write(claim_for(9))

    run = dra("explain", "--cluster", dump, "--claim", path)
    as_json = dra("explain", "--json", "--cluster", dump, "--claim", path)

    assert run.returncode == as_json.returncode == 1
    assert run.stdout.startswith("It cannot fit, not even with every device free.")
    assert "Request gpus: wants 9 of class gpu" in run.stdout
    assert "It would fit after any one of these changes:" in run.stdout
    assert "Ask for 2 instead of 9. (request gpus) Then on node n2." in run.stdout
    found = json.loads(as_json.stdout)
    assert found["verdict"] == "hopeless"
    assert (
        found["relaxations"][0]["spec"]["devices"]["requests"][0]["exactly"]["count"]
        == 2
    )


def test_explain_ends_with_0_where_it_fits_and_2_where_the_claim_is_wrong(files):
    dump, write = files
    wrong = claim_for(1)
    wrong["spec"]["devices"]["requests"][0]["exactly"]["deviceClassName"] = "nope"

    fits = dra("explain", "--cluster", dump, "--claim", write(claim_for(1), name="a"))
    refused = dra("explain", "--cluster", dump, "--claim", write(wrong, name="b"))

    assert (fits.returncode, refused.returncode) == (0, 2)
    assert fits.stdout.startswith("Fits now on 2 nodes; first: n1 with")
    assert "does not exist" in refused.stdout


def test_explain_answers_lines_of_json(files):
    run = dra("explain", stdin=json.dumps(question()) + "\n[]\n")

    first, second = map(json.loads, run.stdout.splitlines())
    assert first["explanation"]["verdict"] == "fits"
    assert second["ok"] is False


def test_cluster_and_claim_belong_together(files):
    dump, _ = files

    run = dra("explain", "--cluster", dump)

    assert run.returncode == 2
    assert "give both" in run.stderr
