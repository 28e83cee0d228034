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
