"""docs/command-line.md and docs/parity.md against the core: options, edits, work, quirks, and
a printed answer."""

from __future__ import annotations

import argparse
import copy
import json
import lzma
import re
import textwrap
from pathlib import Path
from typing import get_args

import pytest
from msgspec.structs import fields

from cluster.standin.generator import generate
from dra.__main__ import _parser, main
from dra.allocation import quirks
from dra.whatif import edits, scenario
from tests.dra.cel.conformance import cases as expressions
from tests.dra.validation.conformance import cases as writes
from tests.dra.validation.test_conformance import OTHER_WORDS

DOCS = Path(__file__).resolve().parents[2] / "docs"
COMMAND_LINE = (DOCS / "command-line.md").read_text("utf-8")
PARITY = (DOCS / "parity.md").read_text("utf-8")
API = (DOCS / "api.md").read_text("utf-8")

NUMBERS = {13: "Thirteen", 14: "Fourteen"}
DATA = Path(__file__).parent
CLAIM = """
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: big, namespace: team-a}
spec:
  devices:
    requests:
    - name: gpus
      exactly:
        deviceClassName: gpu.nvidia.com
        count: 4
        selectors:
        - cel: {expression: 'device.capacity["gpu.nvidia.com"].memory.compareTo(quantity("80Gi")) >= 0'}
"""


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    """Of the demo's cluster."""
    path = tmp_path / "cluster.json"
    path.write_text(json.dumps({"kind": "List", "items": [*generate(nodes=20)]}))
    return path


def cells(text: str, heading: str) -> list[list[str]]:
    """The rows of the table whose first line begins with ``heading``, without it."""
    table = text.partition(f"\n{heading}")[2].partition("\n\n")[0]
    return [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in table.splitlines()[2:]
    ]


def in_code(text: str) -> list[str]:
    return re.findall(r"`([^`]+)`", text)


def tags(union: object, tag_field: str) -> dict[str, set[str]]:
    """Tag → names of the fields, as they are written."""
    found = {}
    for struct in get_args(union):
        assert struct.__struct_config__.tag_field == tag_field
        found[struct.__struct_config__.tag] = {
            field.encode_name for field in fields(struct)
        }
    return found


EDITS = tags(edits.Edit.__value__, "edit")
WORK = tags(scenario.Work.__value__, "place")


@pytest.mark.parametrize(
    ("heading", "known"), [("| `edit` |", EDITS), ("| `place` |", WORK)]
)
def test_the_tables_of_scenarios_have_every_tag_and_field(
    heading: str, known: dict[str, set[str]]
) -> None:
    told: list[str] = []
    for named, of_them, *_ in cells(COMMAND_LINE, heading):
        names = in_code(named)
        told += names
        written = {one for one in in_code(of_them) if one.isidentifier()}
        assert written == set().union(*(known[name] for name in names)), names
    assert sorted(told) == sorted(known)


def test_rest_names_every_edit_and_all_work_too() -> None:
    line = API.partition("\n- All edits:")[2].partition("\n\n")[0]
    told, _, work = line.partition("Workload:")
    assert EDITS.keys() <= {*in_code(told)}
    assert WORK.keys() <= {*in_code(work)}


def test_every_policy_is_there() -> None:
    for policy in scenario.POLICIES:
        assert f"`{policy}`" in COMMAND_LINE.partition("`policy` says")[2]
        assert f"`{policy}`" in API


def verbs() -> dict[str, argparse.ArgumentParser]:
    (found,) = (
        action
        for action in _parser()._actions
        if isinstance(action, argparse._SubParsersAction)
    )
    return dict(found.choices)


def test_every_verb_has_a_row_and_every_option_is_told() -> None:
    assert [in_code(row[0])[0] for row in cells(COMMAND_LINE, "| verb |")] == [*verbs()]
    options = {
        option
        for verb in verbs().values()
        for action in verb._actions
        for option in action.option_strings
        if option.startswith("--") and option != "--help"
    }
    assert {*re.findall(r"--[a-z][a-z-]+", COMMAND_LINE)} == options


def test_the_known_faults_are_told_with_the_sentences_of_pages() -> None:
    told = {in_code(row[0])[0]: row[1] for row in cells(PARITY, "| flag |")}
    assert told == {str(quirk): text for quirk, text in quirks.SENTENCES.items()}


def test_what_agreement_is_measured_by_is_counted_right() -> None:
    def lines(data: str) -> int:
        with lzma.open(DATA / f"{data}.jsonl.xz", "rt") as file:
            return sum(1 for _ in file)

    counts = {
        "expressions with that version": len(expressions()),
        "cases of one rule": lines("allocation/data/probes"),
        "random clusters": lines("allocation/data/random"),
        "clusters of several nodes": lines("allocation/data/cluster"),
        "writes with that server": len(writes()),
    }
    flowing = re.sub(r"\s+", " ", PARITY)
    for of_what, count in counts.items():
        assert f"{count:,} {of_what}" in flowing, count
    assert f"- {NUMBERS[len(OTHER_WORDS)]} of the answers" in PARITY


def test_the_answer_that_is_printed_there_is_the_one_that_comes(
    dump: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    claim = tmp_path / "claim.yaml"
    claim.write_text(CLAIM)
    asked = ["--cluster", str(dump), "--claim", str(claim)]
    _, _, shown = COMMAND_LINE.partition("    $ python -m dra explain ")
    lines = [line[4:] for line in shown.partition("\n\nThe funnel")[0].splitlines()[1:]]
    assert main(["explain", *asked]) == 1
    assert capsys.readouterr().out.splitlines() == lines

    claim.write_text(CLAIM.replace("80Gi", "79Gi"))
    _, _, shown = COMMAND_LINE.partition("    $ python -m dra allocate --all-nodes ")
    lines = [line[4:] for line in shown.splitlines()[1:3]]
    assert main(["allocate", "--all-nodes", *asked]) == 0
    assert capsys.readouterr().out.splitlines()[:2] == lines


def shown_for(command: str) -> list[str]:
    """The lines that the document shows below ``$ python -m dra …``."""
    _, _, rest = COMMAND_LINE.partition(f"    $ python -m dra {command}")
    lines = []
    for line in rest.splitlines()[1:]:
        if line and not line.startswith("    "):
            break
        lines.append(line.strip())
    return [line for line in lines if line]


def assert_in_order(pieces: list[str], printed: str) -> None:
    """``…`` stands for anything."""
    at = 0
    for piece in (one.strip() for line in pieces for one in line.split("…")):
        at = printed.index(piece, at) + len(piece)


def test_the_scenario_that_is_shown_has_the_answer_that_is_shown(
    dump: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, _, rest = COMMAND_LINE.partition("as JSON or YAML:\n\n")
    written = rest.partition("\n\n    $")[0]
    asked = tmp_path / "scenario.yaml"
    asked.write_text(textwrap.dedent(written))
    status = main(["what-if", "--cluster", str(dump), "--scenario", str(asked)])
    assert status == 1
    assert_in_order(shown_for("what-if"), capsys.readouterr().out)


def test_the_finding_that_is_shown_is_told_so(
    dump: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    items = json.loads(dump.read_text())["items"]
    held = next(
        one
        for one in items
        if one["kind"] == "ResourceClaim" and one.get("status", {}).get("allocation")
    )
    again = copy.deepcopy(held)
    again["metadata"] |= {"name": "another", "uid": "another"}
    dump.write_text(json.dumps({"kind": "List", "items": [*items, again]}))
    status = main(["audit", "--cluster", str(dump), "--severity", "warning"])
    assert status == 1
    lines = [
        line
        for line in shown_for("audit")
        if line.startswith(("error:", "Why:", "Do:"))
    ]
    assert_in_order(lines, capsys.readouterr().out)
