"""What an expression looks at, as the columns of a table."""

from __future__ import annotations

import pytest

from dra import cel
from dra.cel.evidence import MOST, evidence
from dra.cel.trace import Step, trace
from dra.objects import DeviceAttribute

GPU = cel.DeviceInput(
    driver="gpu.example.com",
    attributes={"type": DeviceAttribute(string="gpu")},
)


def names(expression: str) -> list[tuple[str, str]]:
    return [(part.domain, part.name) for part in evidence(cel.compile(expression))]


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("true", []),
        ("device.driver == 'x'", [("", "driver")]),
        ("device.attributes['d'].type == 'gpu'", [("d", "type")]),
        ("device.attributes.d.type == 'gpu'", [("d", "type")]),
        ("device.capacity['d']['memory'].isInteger()", [("d", "memory")]),
        ("device.allowMultipleAllocations", [("", "allowMultipleAllocations")]),
        ("device.attributes['d'].?type.orValue('') == 'gpu'", [("d", "type")]),
        ("'d' in device.attributes", [("", "'d' in device.attributes")]),
        ("has(device.attributes['d'].x)", [("", "has(device.attributes['d'].x)")]),
        (
            "cel.bind(a, device.attributes['d'], a.type == 'gpu' && a.index > 1)",
            [("d", "type"), ("d", "index")],
        ),
        (
            "device.driver == 'x' ? device.attributes['x'].y == 1 : device.driver == 'z'",
            [("", "driver"), ("x", "y")],
        ),
    ],
)
def test_every_value_that_is_read_is_named_once_in_the_order_of_the_text(
    expression: str, expected: list[tuple[str, str]]
) -> None:
    assert names(expression) == expected


def test_a_value_with_its_default_is_one_part() -> None:
    text = "device.attributes['d'].?type.orValue('')"
    (part,) = evidence(cel.compile(f"{text} == 'gpu'"))
    assert part.text == text


def test_the_parts_are_pieces_of_the_text_that_a_trace_has_values_for() -> None:
    expression = (
        "device.driver == 'gpu.example.com'\n  && "
        "device.attributes['gpu.example.com'].type == 'gpu' && has(device.capacity.d.x)"
    )
    program = cel.compile(expression)

    def places(step: Step) -> set[tuple[int, int]]:
        return {(step.start, step.end)}.union(*map(places, step.steps))

    known = places(trace(program, GPU).root)
    for part in evidence(program):
        assert expression[part.start : part.end] == part.text
        assert (part.start, part.end) in known


def test_the_number_of_parts_is_bounded() -> None:
    many = " || ".join(f"device.attributes['d'].a{n} == 1" for n in range(250))
    assert len(evidence(cel.compile(many))) == MOST


def test_an_expression_that_is_nested_as_deep_as_may_be_has_its_parts() -> None:
    deep = "!" * 201 + "(" * 30 + "device.attributes['d'].x" + ")" * 30
    assert names(deep) == [("d", "x")]
