"""``python -m dra allocate|explain --pod``: a pod's claims and extended resources together."""

from __future__ import annotations

import json

import pytest

from tests.dra.allocation.world import CLASS, device_class
from tests.dra.builders import node
from tests.dra.test_command import claim_for, dra, files

__all__ = ["files"]

GPU = "example.com/gpu"


def pod(*entries, amount=0, resource=GPU, **spec):
    limits = {"limits": {resource: amount}} if amount else {}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p", "namespace": "lab"},
        "spec": {
            "containers": [{"name": "c", "resources": limits}],
            "resourceClaims": list(entries),
            **spec,
        },
    }


def serving():
    made = device_class()
    made["spec"]["extendedResourceName"] = GPU
    return made


BY_CLAIM = {"name": "a", "resourceClaimName": "mine"}
BY_TEMPLATE = {"name": "b", "resourceClaimTemplateName": "mine"}


def test_extended_resources_become_a_claim_of_the_class_that_names_them(files):
    dump, write = files
    path = write(pod(amount=2), serving())

    run = dra("allocate", "--cluster", dump, "--pod", path)

    assert run.returncode == 0
    assert run.stdout == (
        "Fits on node n2.\n"
        "  p-extended-resources container-0-request-0: gpu.example.com/n2/gpu-0\n"
        "  p-extended-resources container-0-request-0: gpu.example.com/n2/gpu-1\n"
    )


def test_claims_templates_and_extended_resources_have_to_fit_together(files):
    dump, write = files
    own = [claim_for(1), claim_for(1, "ResourceClaimTemplate")]
    two = write(pod(BY_CLAIM, BY_TEMPLATE), *own, name="two")
    three = write(pod(BY_CLAIM, BY_TEMPLATE, amount=1), *own, serving(), name="three")

    fits = dra("allocate", "--cluster", dump, "--pod", two)
    not_ = dra("explain", "--json", "--cluster", dump, "--pod", three)

    assert [line.split()[0] for line in fits.stdout.splitlines()[1:]] == [
        "mine",
        "p-b",
    ]
    assert not_.returncode == 1
    assert json.loads(not_.stdout)["verdict"] != "fits"


def test_the_name_that_every_class_has_needs_nothing_but_the_class(files):
    dump, write = files
    name = f"deviceclass.resource.kubernetes.io/{CLASS}"

    run = dra(
        "allocate", "--cluster", dump, "--pod", write(pod(amount=1, resource=name))
    )

    assert run.stdout.startswith("Fits on node n1.")


def test_only_nodes_count_where_the_pod_may_run(files):
    dump, write = files
    path = write(pod(BY_CLAIM, nodeName="n1"), claim_for(2))
    lost = write(pod(BY_CLAIM, nodeSelector={"a": "b"}), claim_for(1), name="lost")

    every = dra("allocate", "--all-nodes", "--cluster", dump, "--pod", path)
    nowhere = dra("allocate", "--cluster", dump, "--pod", lost)
    why = dra("explain", "--cluster", dump, "--pod", lost)
    there = dra("allocate", "--cluster", dump, "--pod", lost, "--node", "n1")

    assert (every.returncode, every.stdout.splitlines()[0]) == (
        1,
        "Fits on 0 of 1 nodes.",
    )
    for run in (nowhere, there):
        assert run.returncode == 1
        assert "The pod may not run there: its node selector" in run.stdout
    assert why.returncode == 1
    assert "The pod may not run there" in why.stderr


def test_a_node_with_a_device_plugin_is_left_out_unless_it_is_asked_about(files):
    dump, write = files
    plugin = node("n2")
    plugin["status"] = {**plugin.get("status", {}), "allocatable": {GPU: "8"}}
    more = write(plugin, name="more.yaml")
    path = write(pod(amount=1), serving())

    first = dra("allocate", "--cluster", dump, "--cluster", more, "--pod", path)
    asked = ("--cluster", dump, "--cluster", more, "--pod", path, "--node", "n2")
    there = dra("allocate", *asked)
    tool = dra("explain", "--json", *asked)

    assert first.stdout.startswith("Fits on node n1.")
    assert "left out: node n2, whose device plugin" in first.stderr
    assert (there.returncode, there.stdout) == (
        0,
        "A device plugin of node n2 serves example.com/gpu: pod p needs nothing of DRA "
        "there.\n",
    )
    assert json.loads(tool.stdout)["fits"] is True


def test_before_1_36_extended_resources_are_not_drawn_from_dra(files):
    dump, write = files
    path = write(pod(amount=9), serving())

    run = dra("allocate", "--cluster", dump, "--pod", path, "--version", "1.35")

    assert (run.returncode, run.stdout) == (0, "Pod p asks for no device of DRA.\n")


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda w: [w(claim_for(1))], "one Pod is expected"),
        (lambda w: [w(pod(), pod())], "2 are there"),
        (lambda w: [w(pod(BY_CLAIM))], "no claim and no template for a;"),
        (lambda w: [w(pod(amount=33), serving())], "33 devices in one claim"),
        (lambda w: [w(pod(amount="1.5"), serving())], "spec.containers[0].resources"),
        (lambda w: [w(pod(nodeName=7))], "spec.nodeName"),
        (lambda w: [w(pod(BY_CLAIM), claim_for(1)), "--claim", w(claim_for(1))], "not"),
        (lambda w: ["missing.yaml"], "missing.yaml"),
    ],
)
def test_bad_input_is_told_in_one_line(files, make, words):
    dump, write = files

    run = dra("allocate", "--cluster", dump, "--pod", *make(write))

    assert run.returncode == 2
    assert words in run.stderr
    assert "Traceback" not in run.stderr


def test_a_pod_needs_a_cluster(files):
    _, write = files
    run = dra("explain", "--pod", write(pod()))
    assert run.returncode == 2
    assert "--claim (or --pod) belong together" in run.stderr
