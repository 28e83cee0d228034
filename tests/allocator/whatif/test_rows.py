"""The form of a scenario: all that a scenario can hold, there and back."""

from __future__ import annotations

import typing
from typing import Any

import msgspec
import pytest

from allocator.whatif import building, documents
from allocator.whatif.kinds import BY_NAME, KINDS, OF_SECTION, TAGS
from allocator.whatif.rows import MOST_ROWS, Row, rows_of, stepped, typed
from dra.whatif import ScenarioError, read_scenario
from dra.whatif.edits import Edit
from dra.whatif.scenario import Work
from tests.allocator.whatif.conftest import ONE_GPU, copies, drain

EVERYTHING: dict[str, Any] = {
    "name": "all of it",
    "policy": "pack",
    "edits": [
        {"edit": "drain", "nodes": ["n1", "n2"], "labels": "zone=a"},
        {"edit": "cordon", "nodes": ["n1"]},
        {"edit": "uncordon", "labels": "zone"},
        {"edit": "removeNodes", "nodes": ["n3"]},
        {"edit": "addNodes", "like": "n1", "count": 3, "prefix": "new"},
        {
            "edit": "taint",
            "devices": {"node": "n1", "cel": 'device.driver == "a"\n  && true'},
            "taint": {"key": "k", "effect": "NoExecute", "value": "v"},
        },
        {"edit": "untaint", "devices": {"driver": "d"}, "key": "k", "effect": "None"},
        {"edit": "taintByRule", "name": "r", "taint": {"key": "k"}, "pool": "p"},
        {
            "edit": "changeDevices",
            "devices": {"driver": "d", "pool": "p", "device": "x"},
            "attributes": {"model": {"string": "A2"}},
            "capacity": {"memory": "96Gi"},
            "drop": ["old"],
            "remove": True,
        },
        {"edit": "release", "claims": ["a/b"], "namespace": "c"},
        {"edit": "setClass", "name": "gpu", "spec": {"selectors": []}},
        {"edit": "removeClass", "name": "gpu"},
        {"edit": "features", "version": "1.37", "gates": {"DRAAdminAccess": False}},
        {"edit": "add", "objects": [{"kind": "Node", "metadata": {"name": "n9"}}]},
        {"edit": "remove", "objects": [{"kind": "Pod", "name": "p", "namespace": "a"}]},
    ],
    "workload": [
        {
            "place": "claim",
            "claim": ONE_GPU,
            "copies": 2,
            "on": {"nodes": ["n1"], "labels": "zone=b"},
        },
        {"place": "template", "existing": "a/t", "copies": 7},
        {"place": "template", "template": {"spec": {"spec": {}}}},
        {
            "place": "pod",
            "name": "p",
            "namespace": "a",
            "claims": [{"templateName": "t"}, {"claimName": "c"}],
        },
        {
            "place": "group",
            "name": "g",
            "pods": [{"name": "p", "claims": [{"claimName": "c"}]}],
        },
        {"place": "waiting", "namespace": "team-b"},
    ],
}


def posted(rows: dict[Any, list[Row]], **more: str) -> dict[str, str]:
    """What a browser sends for these rows."""
    data = dict(more)
    for row in (row for section in rows.values() for row in section):
        data[f"{row.name}.kind"] = row.kind.kind
        for cell in row.cells:
            if cell.value or cell.kind.look != "check":
                data[cell.name] = cell.value.replace("\n", "\r\n")
    return data


def test_a_scenario_of_everything_comes_back_from_the_form() -> None:
    whole = read_scenario(EVERYTHING)
    rows = rows_of(EVERYTHING)
    back = typed(posted(rows, name="all of it", policy="pack"))
    assert back.problems == {}
    assert read_scenario(back.raw) == whole


@pytest.mark.parametrize("kind", KINDS, ids=lambda k: f"{k.section}-{k.kind}")
def test_a_row_has_every_field_that_its_entry_may_have(kind: Any) -> None:
    types = {"edits": Edit, "workload": Work}[kind.section]
    (struct,) = [
        one
        for one in typing.get_args(types.__value__)
        if one.__struct_config__.tag == kind.kind
    ]
    known = {field.encode_name for field in msgspec.structs.fields(struct)}
    assert {field.name.partition(".")[0] for field in kind.fields} == known


def test_every_kind_of_entry_has_a_row() -> None:
    for section, types in (("edits", Edit), ("workload", Work)):
        tags = {o.__struct_config__.tag for o in typing.get_args(types.__value__)}
        assert tags == {kind.kind for kind in OF_SECTION[section]}  # type: ignore[index]
    assert len(BY_NAME) == len(KINDS)


def test_what_cannot_be_read_stays_in_its_field_with_the_reason() -> None:
    data = {
        "edits.0.kind": "addNodes",
        "edits.0.like": "n1",
        "edits.0.count": "many",
        "edits.1.kind": "setClass",
        "edits.1.name": "gpu",
        "edits.1.spec": "selectors: [",
    }
    built = building.from_rows(typed(data))
    assert built.scenario is None
    (first, second) = built.rows["edits"]
    by_name = {cell.kind.name: cell for cell in (*first.cells, *second.cells)}
    assert (by_name["count"].value, by_name["count"].problem) == (
        "many",
        "must be a number",
    )
    assert by_name["spec"].value == "selectors: ["
    assert "neither JSON nor YAML" in by_name["spec"].problem
    assert {problem.path for problem in built.problems} >= {"edits[0].count"}


def test_a_reason_deep_in_a_field_says_where() -> None:
    raw = drain("n1", "n2")
    error = ScenarioError("edits[0].nodes[1]", "the cluster has no node n2")
    built = building.with_problem(building.built_of(raw), error)
    (row,) = built.rows["edits"]
    assert row.cells[0].problem == "[1]: the cluster has no node n2"


def test_sentences_tell_of_what_can_be_read() -> None:
    raw = drain("n1") | {"workload": [{"place": "claim", "copies": 0}]}
    built = building.built_of(raw)
    assert built.sentences == ("Drain n1.",)
    assert built.scenario is None


def test_steps_add_remove_and_move_rows_with_what_was_typed() -> None:
    data = {
        "edits.0.kind": "drain",
        "edits.0.nodes": "n1",
        "edits.3.kind": "addNodes",
        "edits.3.count": "many",
    }
    found = typed(data)
    up = stepped(found, "up edits 1")
    assert [entry["edit"] for entry in up.raw["edits"]] == ["addNodes", "drain"]
    assert up.texts["edits.0.count"] == "many"
    assert up.problems == {"edits[0].count": "must be a number"}
    gone = stepped(up, "remove edits 0")
    assert gone.problems == {}
    assert gone.texts["edits.0.nodes"] == "n1"
    more = stepped(gone, "add workload waiting")
    assert more.raw["workload"] == [{"place": "waiting"}]
    for nonsense in ("", "add edits explode", "remove edits 7", "up edits 0", "x y z"):
        assert stepped(found, nonsense).raw["edits"] == found.raw["edits"]


def test_a_form_of_nonsense_is_an_empty_scenario() -> None:
    assert typed({"edits.0.kind": "explode", "edits.x.kind": "drain"}).raw == {}
    many = {f"edits.{n}.kind": "drain" for n in range(MOST_ROWS + 5)}
    assert len(typed(many).raw["edits"]) == MOST_ROWS
    assert rows_of({"edits": [3, {"edit": "explode"}, None]})["edits"] == []
    assert rows_of("x") == {section: [] for section in TAGS}


def test_a_text_that_cannot_be_read_stays_as_it_is() -> None:
    built = building.from_text("edits: [{edit: drain, nodes: n1}]")
    assert built.text == "edits: [{edit: drain, nodes: n1}]"
    assert [row.kind.kind for row in built.rows["edits"]] == ["drain"]
    assert built.rows["edits"][0].cells[0].problem
    broken = building.from_text("a: [")
    assert broken.problems[0].path == ""
    assert broken.is_empty


def test_what_the_rows_cannot_show_counts_as_text() -> None:
    many = {"edits": [{"edit": "cordon", "nodes": ["n"]}] * (MOST_ROWS + 1)}
    long = building.built_of(many)
    assert long.scenario is not None
    assert (long.by_text, long.mark, long.rows["edits"]) == (True, "", [])
    for text in ("edits: [{edit: drain, nodess: [n1]}]", "edits: [{edit: x}]", "a: ["):
        assert building.from_text(text).mark == ""
    assert not building.built_of(drain("n1")).by_text
    assert not building.built_of({}).by_text


def test_the_mark_of_a_text_does_not_depend_on_line_ends() -> None:
    built = building.built_of(copies(2))
    assert building.text_mark(built.text.replace("\n", "\r\n")) == built.mark
    assert building.text_mark(f"{built.text}# more") != built.mark
    assert documents.read_text(built.text) == built.scenario
