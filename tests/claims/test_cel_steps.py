"""A trace as rows: what is worth one, and what each says."""

from __future__ import annotations

from claims.views.cel.steps import StepRow, rows
from dra import cel
from dra.cel.trace import trace
from dra.objects import DeviceAttribute

DEVICE = cel.DeviceInput(
    driver="d.example",
    attributes={
        "model": DeviceAttribute(string="B"),
        "resource.kubernetes.io/numaNode": DeviceAttribute(int_=1),
    },
)
MODEL = "device.attributes['d.example'].model"


def steps(expression: str, decisive: str = "") -> list[StepRow]:
    return rows(trace(cel.compile(expression), DEVICE).root, decisive=decisive)[0]


def test_constants_and_what_only_leads_to_a_value_have_no_row() -> None:
    found = [
        (row.depth, row.text, row.state, row.value) for row in steps(f"{MODEL} == 'B'")
    ]
    assert found == [
        (0, f"{MODEL} == 'B'", "true", "true"),
        (1, MODEL, "value", '"B"'),
    ]


def test_where_a_value_is_missing_the_row_says_what_is_there() -> None:
    found = steps("device.attributes['d.example'].modle == 'B'")
    assert [row.state for row in found] == ["error", "error", "value"]
    assert found[-1].value == '{"model": "B"}'


def test_what_was_not_needed_is_named() -> None:
    found = steps(f"device.driver == 'x' && {MODEL} == 'B'")
    assert [row.text for row in found if row.skipped] == [f"{MODEL} == 'B'", MODEL]


def test_the_part_that_decides_is_marked_once() -> None:
    found = steps("(1 == 2) && (1 == 2)", decisive="1 == 2")
    assert [row.decided for row in found].count(True) == 1


def test_a_part_that_ran_often_says_so() -> None:
    found = steps("device.attributes.all(d, d.contains('.'))")
    assert max(row.times for row in found) == 2


def test_the_number_of_rows_is_bounded() -> None:
    shown, more = rows(
        trace(cel.compile(" || ".join(["device.driver == 'x'"] * 350)), DEVICE).root
    )
    assert len(shown) == 300
    assert more == 1 + 2 * 350 - 300
