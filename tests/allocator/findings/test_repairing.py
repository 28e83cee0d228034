"""Every code has steps, and the lines in them can be pasted into a shell."""

from __future__ import annotations

import re
import shlex

import pytest

from allocator.findings.places import where
from allocator.findings.repairing import steps_of
from allocator.models import Finding
from dra.audits import Code
from dra.audits import Finding as Found
from tests.dra.audits.faults import planted
from tests.dra.audits.world import after, clean


def found_for(code: Code) -> Found:
    return next(one for one in after(clean(), planted(code)) if one.code == code)


def row_of(found: Found) -> Finding:
    subject = found.subject
    return Finding(
        code=found.code.value,
        kind=subject.kind,
        namespace=subject.namespace,
        name=subject.name,
        device=subject.device,
        detail=subject.detail,
        sentence=found.sentence,
        evidence=found.evidence,
    )


@pytest.mark.parametrize("code", list(Code))
def test_every_code_has_steps_and_a_place(code: Code) -> None:
    row = row_of(found_for(code))
    steps = steps_of(row, ["n1"])
    assert steps
    for step in steps:
        assert step.text.endswith(".")
        assert step.command == step.command.strip()
        assert "  " not in step.command
        assert not re.search(r" -n ?($|-)|=$", step.command)
        shlex.split(step.command)
    assert row.name in where("lab", row) or row.device in where("lab", row)


def test_names_that_mean_something_to_a_shell_are_quoted() -> None:
    row = row_of(found_for(Code.CLAIM_IDLE))
    row.name = "a;reboot"
    (_, step) = steps_of(row)
    assert shlex.split(step.command)[3] == "a;reboot"


def test_a_node_is_named_where_there_is_only_one() -> None:
    row = row_of(found_for(Code.DEVICE_BOOKED_TWICE))
    assert steps_of(row, ["n1"])[0].command == "kubectl cordon n1"
    assert steps_of(row, ["n1", "n2"])[0].command == "kubectl cordon NODE"


def test_a_code_of_another_release_is_shown_by_its_name() -> None:
    row = row_of(found_for(Code.CLAIM_IDLE))
    row.code = "claim-unheard-of"
    assert row.title == "claim-unheard-of"
    assert [step.command for step in steps_of(row)] == [""]


def test_what_a_former_node_has_left_is_deleted_by_name() -> None:
    row = Finding(
        code=Code.POOL_NODE_GONE.value,
        kind="Pool",
        name="gpu.example.com/n2",
        evidence={"node": "n2", "slices": "n2-gpu, n2-more"},
    )

    lines = [step.command for step in steps_of(row, ["n2"])]

    assert lines[-1] == "kubectl delete resourceslice n2-gpu n2-more"
    assert not any("field-selector spec.nodeName=n2" in line for line in lines[1:])


def test_slices_of_every_node_that_is_gone_are_deleted() -> None:
    row = Finding(
        code=Code.POOL_NODE_GONE.value,
        kind="Pool",
        name="gpu.example.com/rack",
        evidence={"node": "n8, n9"},
    )

    command = steps_of(row)[-1].command

    assert "spec.nodeName=n8" in command
    assert "spec.nodeName=n9" in command


def test_a_pool_of_no_node_names_none_to_look_at() -> None:
    row = Finding(
        code=Code.POOL_INVALID.value, kind="Pool", name="net.example.com/fabric"
    )

    assert not any("NODE" in step.command.split() for step in steps_of(row))
    assert not any("on that node" in step.text for step in steps_of(row)[:2])


def test_a_pod_group_is_looked_at_as_one() -> None:
    row = Finding(
        code=Code.POD_MISSING_CLAIM.value, kind="PodGroup", namespace="ml", name="g"
    )

    assert steps_of(row)[0].command == "kubectl get podgroup g -n ml -o yaml"
