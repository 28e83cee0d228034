"""``python -m dra audit`` on files."""

from __future__ import annotations

import json

import pytest

from dra.audits import Code
from tests.dra.audits.faults import planted
from tests.dra.audits.world import clean
from tests.dra.test_command import dra

NOON = ("--now", "2026-11-30T12:00:00Z")


@pytest.fixture
def dump(tmp_path):
    def write(objects):
        path = tmp_path / "dump.json"
        path.write_text(json.dumps({"kind": "List", "items": objects}))
        return path

    return write


def test_nothing_wrong_is_status_0(dump):
    run = dra("audit", "--cluster", dump(clean()), *NOON)

    assert (run.returncode, run.stdout) == (0, "Nothing is wrong.\n")


def test_findings_are_told_with_reason_and_repair(dump):
    run = dra("audit", "--cluster", dump(planted(Code.CLAIM_IDLE)), *NOON)

    assert run.returncode == 1
    assert run.stdout.splitlines() == [
        "1 finding: 1 warning.",
        "",
        "warning: Allocated, but used by nobody (claim-idle)",
        "  - Claim default/idle holds gpu.example.com/n3/gpu-0 for 7 hours and is used by "
        "nobody.",
        "  Why: The devices are taken and nobody uses them. Kubernetes never takes them back "
        "by itself.",
        "  Do: Start the pod that was to use the claim, or delete the claim.",
    ]


def test_findings_are_data_for_tools(dump):
    path = dump(planted(Code.DEVICE_BOOKED_TWICE))

    run = dra("audit", "--json", "--cluster", path, *NOON)

    (found,) = json.loads(run.stdout)
    assert run.returncode == 1
    assert (found["code"], found["severity"]) == ("device-booked-twice", "error")
    assert found["subject"]["name"] == "gpu.example.com/n1"
    assert found["evidence"]["claims"] == "default/a, default/again"


def test_what_is_less_severe_can_be_left_out(dump):
    path = dump(planted(Code.CLAIM_UNUSED))

    assert dra("audit", "--cluster", path, *NOON).returncode == 1
    assert (
        dra("audit", "--cluster", path, *NOON, "--severity", "warning").returncode == 0
    )


@pytest.mark.parametrize(
    ("options", "words"),
    [(["--now", "noon"], "--now"), (["--version", "new"], "--version")],
)
def test_bad_input_is_one_line_and_status_2(dump, options, words):
    run = dra("audit", "--cluster", dump(clean()), *options)

    assert run.returncode == 2
    assert words in run.stderr
    assert len(run.stderr.splitlines()) == 1
