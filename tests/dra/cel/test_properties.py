"""No text gets more than a CompileError out of compile; neighbours agree."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from dra import cel
from dra.cel.parser import parse
from dra.cel.source import Problem
from dra.errors import NotSupportedError
from dra.objects import DeviceAttribute, DeviceCapacity
from tests.dra.cel.conformance import cases

DEVICE = cel.DeviceInput(
    driver="d",
    attributes={
        "s": DeviceAttribute(string="héllo"),
        "i": DeviceAttribute(int_=1),
        "b": DeviceAttribute(bool_=True),
        "v": DeviceAttribute(version="1.2.3"),
    },
    capacity={"m": DeviceCapacity(value="1Gi")},
)

PIECES = [
    *("(", ")", "[", "]", "{", "}", ".", ",", "?", ":", "!", "-", "+", "*", "/", "%"),
    *("==", "!=", "<", ">=", "&&", "||", " in ", ".?", "[?", "//", "\n", "'", '"', "\\"),
    *("1", "2u", "1.5", "'a'", 'b"x"', "true", "null", "x", "device", "device.driver"),
    *('device.attributes["d"]', ".s", ".i", ".v", 'device.capacity["d"].m', "dyn("),
    *(".all(x,", ".map(x,", ".exists(k,v,", "cel.bind(x,", "has(", "size(", "int("),
    *("semver(", "quantity(", ".matches(", ".format([", ".size()", "[1,2]", "{1:2}"),
    *("optional.of(", ".orValue(", ".optMap(x,", ".replace(", "duration(", "ip(", "é"),
]  # fmt: skip


def _survives(text: str) -> None:
    try:
        program = cel.compile(text)
    except (cel.CompileError, NotSupportedError):
        return
    try:
        result = program.evaluate(DEVICE)
    except (cel.EvaluationError, NotSupportedError):
        return
    assert isinstance(result, bool)


@given(st.text(max_size=60))
def test_any_text_is_a_program_or_a_compile_error(text):
    _survives(text)


@settings(max_examples=400, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=14).map("".join))
def test_pieces_of_the_language_in_any_order_are_no_crash(text):
    _survives(text)


@settings(max_examples=300, deadline=None)
@given(
    st.sampled_from([case.expression for case in cases()[::5]]),
    st.integers(0, 200),
    st.integers(0, 3),
    st.sampled_from(PIECES),
)
def test_a_damaged_expression_is_no_crash(expression, at, cut, piece):
    at = min(at, len(expression))
    _survives(expression[:at] + piece + expression[at + cut :])


@settings(max_examples=200, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=12).map("".join))
def test_problems_lie_within_the_text(text):
    places: list[tuple[int, int]] = []
    try:
        parse(text)
    except Problem as problem:
        places.append((problem.start, problem.end))
    except NotSupportedError:
        return
    assert all(0 <= start <= len(text) and start < end for start, end in places)
