"""No text gets more than a CompileError out of compile; neighbours agree."""

from __future__ import annotations

import json
import subprocess
import sys

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


# --- the same answers as cel-python, where it follows the specification ---

_NUMBERS = st.integers(-5, 5).map(str)
_TEXTS = st.sampled_from(["'a'", "'b'", "''", "'ab'"])


def _binary(operators: list[str], operand: st.SearchStrategy[str]):
    return st.tuples(operand, st.sampled_from(operators), operand).map(
        lambda parts: f"({parts[0]} {parts[1]} {parts[2]})"
    )


_sums = st.recursive(_NUMBERS, lambda s: _binary(["+", "-", "*"], s), max_leaves=6)
_words = st.recursive(_TEXTS, lambda s: _binary(["+"], s), max_leaves=4)
_lists = st.lists(_NUMBERS, max_size=3).map(lambda items: f"[{', '.join(items)}]")
_facts = st.one_of(
    _binary(["==", "!=", "<", "<=", ">", ">="], _sums),
    _binary(["==", "!=", "<", ">"], _words),
    st.tuples(_words, st.sampled_from(["contains", "startsWith", "endsWith"]), _words)
    .map(lambda p: f"{p[0]}.{p[1]}({p[2]})"),
    st.tuples(_sums, _lists).map(lambda p: f"({p[0]} in {p[1]})"),
    st.tuples(_lists, st.sampled_from(["all", "exists", "exists_one"]), _sums).map(
        lambda p: f"{p[0]}.{p[1]}(x, x > {p[2]})"
    ),
    st.tuples(_words, _sums).map(lambda p: f"(size({p[0]}) == {p[1]})"),
)  # fmt: skip
_logic = st.recursive(
    _facts,
    lambda s: st.one_of(
        _binary(["&&", "||"], s),
        s.map(lambda one: f"!{one}"),
        st.tuples(s, s, s).map(lambda p: f"({p[0]} ? {p[1]} : {p[2]})"),
    ),
    max_leaves=5,
)

_PEER = """
import json, sys, celpy
environment = celpy.Environment()
for line in sys.stdin:
    try:
        program = environment.program(environment.compile(json.loads(line)))
        answer = bool(program.evaluate({}))
    except (celpy.CELEvalError, TypeError) as error:
        answer = str(error)
    print(json.dumps(answer), flush=True)
"""


def test_cel_python_gives_the_same_answers():
    # In a process of its own: cel-python sets the recursion limit for everybody.
    expressions: list[str] = []

    @settings(max_examples=250, database=None, derandomize=True)
    @given(_logic)
    def collect(expression):
        expressions.append(expression)

    collect()
    peer = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", _PEER],
        input="".join(json.dumps(e) + "\n" for e in expressions),
        capture_output=True,
        text=True,
        check=True,
        timeout=100,
    )
    theirs = [json.loads(line) for line in peer.stdout.splitlines()]
    assert len(theirs) == len(expressions) >= 200
    compared = 0
    for expression, answer in zip(expressions, theirs, strict=True):
        if isinstance(answer, bool):
            assert cel.compile(expression).evaluate(DEVICE) is answer, expression
            compared += 1
    assert compared > 0.9 * len(expressions)


def test_cel_python_is_not_needed_at_run_time():
    code = (
        "import sys, dra.cel\n"
        "dra.cel.compile('true').evaluate(dra.cel.DeviceInput())\n"
        "print(sorted(m for m in sys.modules if m.split('.')[0] in ('celpy', 'lark')))"
    )
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert found.stdout.strip() == "[]"
