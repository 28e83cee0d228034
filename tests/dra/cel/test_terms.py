"""An expression is split where its operators are, and each term stands for itself."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings

from dra import cel
from dra.cel.terms import Condition, TermProgram, split
from dra.objects import DeviceAttribute
from tests.dra.cel.conditions import CONDITIONS, DEVICES, outcomes

A = 'device.attributes["d"]'


def _tree(expression: str) -> object:
    """A leaf as its text, anything else as its kind and its terms."""
    conditions = split(cel.compile(expression))

    def tree(condition: Condition) -> object:
        if condition.kind == "leaf":
            return condition.text
        return (condition.kind, *(tree(conditions[part]) for part in condition.parts))

    return tree(conditions[0])


@pytest.mark.parametrize(
    ("expression", "tree"),
    [
        ("true", "true"),
        ("true && false && true", ("and", "true", "false", "true")),
        (
            "true && (1 == 1 && (2 == 2 || false))",
            ("and", "true", "1 == 1", ("or", "2 == 2", "false")),
        ),
        ("!(true || !false)", ("not", ("or", "true", ("not", "false")))),
        ("!!true && !!!false", ("and", "true", ("not", "false"))),
        (
            "true ? 1 == 1 : false ? true : 2 == 2",
            (
                "conditional",
                "true",
                "1 == 1",
                ("conditional", "false", "true", "2 == 2"),
            ),
        ),
        ("(true || false) == true", "(true || false) == true"),
        (
            f"has({A}.x) && [1].all(i, i > 0 && i < 2)",
            ("and", f"has({A}.x)", "[1].all(i, i > 0 && i < 2)"),
        ),
        ("cel.bind(a, 1, a == 1 && true)", "cel.bind(a, 1, a == 1 && true)"),
        (f"{A}.?x.optFlatMap(v, v)", f"{A}.?x.optFlatMap(v, v)"),
    ],
)
def test_an_expression_is_split_at_its_operators(expression, tree):
    assert _tree(expression) == tree


def test_the_text_of_a_condition_is_at_its_place():
    expression = "(true || false) && !(1 == 1)"
    program = cel.compile(expression)
    found = split(program)
    assert [c.text for c in found] == [
        "(true || false) && !(1 == 1)",
        "true || false",
        "true",
        "false",
        "!(1 == 1)",
        "1 == 1",
    ]
    for condition in found:
        node = condition.node
        assert expression[node.start : node.end] == condition.text


@settings(max_examples=150, deadline=None)
@given(CONDITIONS)
def test_the_first_condition_answers_like_the_program(expression):
    program = cel.compile(expression)
    whole = TermProgram(program, split(program)[0])
    assert outcomes(whole, DEVICES) == outcomes(program, DEVICES)


@settings(max_examples=100, deadline=None)
@given(CONDITIONS)
def test_a_term_answers_like_its_text(expression):
    program = cel.compile(expression)
    for condition in split(program):
        term = TermProgram(program, condition)
        text = {"whole": "@", "operand": "(@) && true", "negated": "!!!(@)"}
        alone = cel.compile(text[condition.place].replace("@", condition.text))
        expected = outcomes(alone, DEVICES[:20])
        if condition.place == "negated":
            expected = [e if isinstance(e, str) else not e for e in expected]
        assert outcomes(term, DEVICES[:20]) == expected


@pytest.mark.parametrize(
    ("expression", "place", "error"),
    [
        (f"{A}.s", 0, "CEL result of type string could not be converted to bool"),
        (f"{A}.s && true", 1, "no such overload"),
        (f"true || {A}.s", 2, "no such overload"),
        (f"!{A}.s", 1, "no such overload: !_(string)"),
        (f"{A}.s ? true : false", 1, "no such overload"),
        (f"true ? {A}.s : false", 2, "CEL result of type string could not"),
        (f"!(true ? {A}.s : false)", 3, "no such overload: !_(string)"),
    ],
)
def test_a_term_that_is_no_bool_is_refused_as_its_operator_does(
    expression, place, error
):
    program = cel.compile(expression)
    device = cel.DeviceInput("d", {"s": DeviceAttribute(string="a")})
    term = TermProgram(program, split(program)[place])
    assert split(program)[place].text == f"{A}.s"
    (found,) = outcomes(term, [device])
    assert str(found).startswith(error)
    if "||" not in expression:
        assert outcomes(program, [device]) == [found]


def test_a_term_reads_only_what_it_looks_at():
    program = cel.compile(f"{A}.x == 1 && device.driver == 'd'")
    whole, left, right = (TermProgram(program, c) for c in split(program))
    attribute, driver = cel.Read("attributes", "d", "x"), cel.Read("driver")
    assert left.reads == frozenset({attribute})
    assert right.reads == frozenset({driver})
    assert whole.reads == program.reads == frozenset({attribute, driver})


def test_a_term_is_the_same_one_in_an_edited_expression():
    before = cel.compile(f"{A}.x == 1 && device.driver == 'd'")
    after = cel.compile(f"{A}.x == 1 && device.driver == 'e'")
    _, kept, gone = (TermProgram(before, c).key for c in split(before))
    _, left, right = (TermProgram(after, c).key for c in split(after))
    assert kept == left
    assert gone != right


@pytest.mark.parametrize(
    ("expression", "count"),
    [
        (" && ".join(["1==1"] * 1200), 1201),
        (" || ".join(["1==1"] * 1200), 1201),
        ("!(" * 240 + "true" + ")" * 240, 241),
        ("(true && (false || " * 120 + "true" + "))" * 120, 481),
        ("(true ? " * 240 + "true" + " : false)" * 240, 721),
        ("false ? true : " * 240 + "true", 721),
    ],
    ids=lambda value: str(value)[:16],
)
def test_long_and_deep_expressions_are_split_at_once(expression, count):
    program = cel.compile(expression)
    started = time.process_time()
    conditions = split(program)
    terms = [TermProgram(program, c) for c in conditions if c.kind == "leaf"]
    assert time.process_time() - started < 30
    assert len(conditions) == count
    assert {outcomes(term, [cel.DeviceInput()])[0] for term in terms} <= {True, False}
