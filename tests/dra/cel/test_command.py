"""The lines of ``python -m dra cel``."""

from __future__ import annotations

import io
import json
from typing import Any

from dra.cel.command import run_lines


def _answers(*lines: Any) -> list[dict[str, Any]]:
    text = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    out = io.StringIO()
    run_lines([line + "\n" for line in text], out)
    return [json.loads(line) for line in out.getvalue().splitlines()]


DEVICE = {"driver": "d", "attributes": {"n": {"int": 1}}, "capacity": {}}


def _case(expression: str, **more: Any) -> dict[str, Any]:
    return {"id": expression, "expression": expression, "device": DEVICE, **more}


def test_every_line_gets_an_answer_in_order():
    answers = _answers(
        _case('device.attributes["d"].n == 1'),
        _case('device.attributes["d"].x == 1'),
        _case("1"),
    )
    assert [a["result"] for a in answers] == [True, None, None]
    assert answers[0]["cost"] == 5
    assert answers[1]["runtimeError"] == "no such key: x"
    assert "must evaluate to bool" in answers[2]["compileError"]
    assert [a["id"] for a in answers][2] == "1"


def test_a_bad_line_does_not_stop_the_others():
    answers = _answers(
        "{",
        [1],
        {"id": 1, "expression": 5},
        {"id": 2, "expression": "true", "device": {"attributes": {"a": 1}}},
        {"id": 3, "expression": "google.protobuf.Any{} == null"},
        _case("'\\ud800' == ''"),
        _case("true"),
    )
    assert ["error" in a for a in answers] == [True] * 5 + [False] * 2
    assert "attributes" in answers[3]["error"]
    assert "not supported: " in answers[4]["error"]
    assert answers[-1]["result"] is True


def test_gates_and_age_are_taken_from_the_line():
    expression = "device.allowMultipleAllocations"
    closed, opened = _answers(
        _case(expression, envType="new"),
        _case(expression, envType="new", features={"consumableCapacity": True}),
    )
    assert "undefined field" in closed["compileError"]
    assert opened["result"] is False
