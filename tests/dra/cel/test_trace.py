"""One device, step by step: the same answer as evaluating, and every part of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache, partial
from typing import NamedTuple

import pytest

from dra import cel
from dra.cel import evaluator
from dra.cel.ast import Comprehension, Node, children
from dra.cel.display import MAX_SHOWN, display, shortened
from dra.cel.program import run
from dra.cel.trace import Step, Trace, trace
from dra.objects import DeviceAttribute, DeviceCapacity
from tests.dra.cel.conformance import Case, cases

A = 'device.attributes["gpu.example.com"]'
DEVICE = cel.DeviceInput(
    driver="gpu.example.com",
    attributes={
        "model": DeviceAttribute(string="h100"),
        "index": DeviceAttribute(int_=3),
        "ecc": DeviceAttribute(bool_=True),
    },
    capacity={"memory": DeviceCapacity(value="81559Mi")},
)


def _trace(expression: str) -> Step:
    return trace(cel.compile(expression), DEVICE).root


def _all(step: Step) -> Iterator[Step]:
    yield step
    for part in step.steps:
        yield from _all(part)


def _by_text(expression: str) -> dict[str, Step]:
    return {step.text: step for step in _all(_trace(expression))}


def _brief(expression: str) -> dict[str, str]:
    """Text to value, to "!" and the error, or to "-" where it did not run."""
    brief = {"value": lambda s: s.value, "error": lambda s: f"!{s.error}"}
    return {
        text: brief[step.state](step) if step.state in brief else "-"
        for text, step in _by_text(expression).items()
    }


# --- laws over everything that was recorded of the reference ---


class _Traced(NamedTuple):
    id: str
    expression: str
    program: cel.Program
    device: cel.DeviceInput
    trace: Trace


@cache
def _traced() -> tuple[_Traced, ...]:
    return tuple(_trace_case(case) for case in cases() if not case.compile_error)


def _trace_case(case: Case) -> _Traced:
    program = cel.compile(case.expression, features=case.features, environment=case.age)
    found = trace(program, case.device)
    return _Traced(case.id, case.expression, program, case.device, found)


def _outcome(work: Callable[[], object]) -> tuple[object, str]:
    try:
        return work(), ""
    except cel.EvaluationError as error:
        return None, str(error)


def test_a_trace_ends_as_evaluating_does():
    for one in _traced():
        outcome = _outcome(partial(one.program.evaluate, one.device))
        assert (one.trace.result, one.trace.error) == outcome, one.id


def test_steps_are_the_text_at_their_place_within_the_step_above():
    for one in _traced():
        assert one.trace.root.depth == 0
        for step in _all(one.trace.root):
            assert step.text == one.expression[step.start : step.end], one.id
            place = step.start
            for part in step.steps:
                assert place <= part.start < part.end <= step.end, one.id
                assert (part.start, part.end) != (step.start, step.end), one.id
                assert part.depth == step.depth + 1
                place = part.end


def test_what_did_not_run_says_nothing_and_has_no_parts_that_ran():
    for one in _traced():
        for step in _all(one.trace.root):
            assert (step.state == "not evaluated") is (step.times == 0), one.id
            if step.times == 0:
                assert [step.value, step.type, step.error] == ["", "", ""], one.id
                assert {part.times for part in step.steps} <= {0}, one.id


def _outside_of_macros(root: Node) -> Iterator[Node]:
    pending = [root]
    while pending:
        node = pending.pop()
        yield node
        if not isinstance(node, Comprehension):
            pending.extend(children(node))


def test_every_step_outside_of_macros_has_the_value_its_part_has_alone():
    compared = 0
    for one in _traced():
        program, root = one.program, one.trace.root
        if program.metered or root.times == 0:
            continue
        steps = {(step.start, step.end): step for step in _all(root) if step.times}
        lists = program.features.list_type_attributes
        device = cel.device_value(one.device, lists=lists)
        for node in _outside_of_macros(program.root):
            step = steps.get((node.start, node.end))
            if step is None or node.id not in program.checked.types:
                continue
            part = replace(program.checked, root=node)
            closure, slots = evaluator.build(part, metered=False)
            value, error = _outcome(partial(run, closure, slots, device, metered=False))
            shown = ("", shortened(error)) if error else (display(value), "")
            assert (step.value, step.error) == shown, one.id
            compared += 1
    assert compared > 10_000


# --- what is shown ---


def test_terms_after_the_deciding_one_are_not_evaluated():
    expression = "false && device.driver == 'x' && 1 / 0 == 1"
    assert _brief(expression) == {
        expression: "false",
        "false": "false",
        **dict.fromkeys(["device.driver == 'x'", "device.driver", "device"], "-"),
        **dict.fromkeys(["'x'", "1 / 0 == 1", "1 / 0", "1", "0"], "-"),
    }


def test_an_error_that_is_absorbed_is_shown_where_it_happened():
    found = _brief(f"{A}.nope == 1 || {A}.index == 3")
    assert found[f"{A}.nope == 1 || {A}.index == 3"] == "true"
    assert found[f"{A}.nope == 1"] == "!no such key: nope"
    assert found[f"{A}.nope"] == "!no such key: nope"
    assert found[A].startswith('{"model": "h100"')


def test_every_link_of_a_chain_has_its_value():
    found = _by_text(f'{A}["index"] == 3')
    assert {text: step.type for text, step in found.items()} == {
        f'{A}["index"] == 3': "bool",
        f'{A}["index"]': "int",
        A: "map",
        "device.attributes": "map",
        "device": "map",
        '"gpu.example.com"': "string",
        '"index"': "string",
        "3": "int",
    }
    assert found[f'{A}["index"]'].value == "3"


@pytest.mark.parametrize(
    ("expression", "values"),
    [
        (
            f"{A}.?nope.x.orValue(1) == 1",
            {f"{A}.?nope.x": "optional.none()", f"{A}.?nope": "optional.none()"},
        ),
        (
            f"{A}[?device.driver].x == optional.none()",
            {f"{A}[?device.driver]": "optional.none()", "device.driver": '"gpu.ex'},
        ),
        (
            f'{A}[?"a"][device.driver].hasValue()',
            {f'{A}[?"a"]': "optional.none()", "device.driver": "-"},
        ),
        (f"has({A}.ecc)", {f"has({A}.ecc)": "true", A: '{"model"'}),
        (
            'device.capacity["gpu.example.com"].memory.isInteger()',
            {'device.capacity["gpu.example.com"].memory': "81559Mi"},
        ),
        ("1 in [1, 2]", {"[1, 2]": "[1, 2]", "2": "2"}),
        ("device.driver in []", {"device.driver": "-", "[]": "[]"}),
        ("int('7') == 7", {"int('7')": "7", "'7'": '"7"'}),
        ("type(1) == int", {"int": "int", "type(1)": "int"}),
        ("optional.of(1).hasValue()", {"optional.of(1)": "optional.of(1)"}),
        ("true ? true : false", {"false": "-", "true": "true"}),
        ("[[1]][0][0] == 1", {"[[1]][0]": "[1]", "[1]": "[1]"}),
    ],
)
def test_parts_show_what_they_gave(expression, values):
    found = _brief(expression)
    assert set(values) <= set(found)
    for text, value in values.items():
        assert found[text].startswith(value), text


def test_the_body_of_a_macro_is_summed_up():
    found = _by_text("[1, 2, 3].map(i, i > 1, i * 2) == [4, 6]")
    macro = found["[1, 2, 3].map(i, i > 1, i * 2)"]
    assert [part.text for part in macro.steps] == ["[1, 2, 3]", "i > 1", "i * 2"]
    assert (macro.times, macro.value) == (1, "[4, 6]")
    assert (found["i > 1"].times, found["i > 1"].value) == (3, "false, true")
    assert (found["i * 2"].times, found["i * 2"].value) == (2, "4, 6")
    assert found["1"].times == 3


def test_only_the_first_values_of_a_body_are_listed():
    numbers = ", ".join(map(str, range(20)))
    found = _by_text(f"[{numbers}].all(i, i % 2 < 2)")
    assert (found["i"].times, found["i"].value) == (20, "0, 1, 2, 3, 4, …")
    assert (found["i % 2"].times, found["i % 2"].value) == (20, "0, 1")
    assert (found["2"].times, found["2"].value) == (20, "2")


def test_a_body_that_fails_at_times_shows_values_and_errors():
    found = _by_text("[0, 2, 1].exists(i, 2 / i == 2)")
    assert found["[0, 2, 1].exists(i, 2 / i == 2)"].value == "true"
    quotient = found["2 / i"]
    assert (quotient.state, quotient.times) == ("error", 3)
    assert (quotient.value, quotient.type) == ("1, 2", "int")
    assert quotient.error == "division by zero"


def test_values_of_different_types_have_the_type_dyn():
    assert _by_text("[dyn(1), dyn('a')].all(i, i == i)")["i"].type == "dyn"


def test_a_body_that_never_ran_is_not_evaluated():
    found = _by_text("{}.all(k, v, k == v)")
    assert [part.text for part in found["{}.all(k, v, k == v)"].steps] == [
        "{}",
        "k == v",
    ]
    assert found["k == v"].state == "not evaluated"


@pytest.mark.parametrize(
    ("expression", "parts"),
    [
        ("[2, 1].filter(i, i > 1) == [2]", ["[2, 1]", "i > 1"]),
        ("[2, 1].sortBy(i, -i) == [2, 1]", ["[2, 1]", "-i"]),
        ("[2].exists_one(i, i > 1)", ["[2]", "i > 1"]),
        ("{1: 2}.transformMap(k, v, k + v) == {1: 3}", ["{1: 2}", "k + v"]),
        (
            "{1: 2}.transformMapEntry(k, v, v > 1, {v: k}) == {2: 1}",
            ["{1: 2}", "v > 1", "{v: k}"],
        ),
        ("[?optional.of(1).optMap(i, i + 1)] == [2]", ["optional.of(1)", "i + 1"]),
        (
            "optional.of(1).optFlatMap(i, optional.of(i)).hasValue()",
            ["optional.of(1)", "optional.of(i)"],
        ),
        ("cel.bind(a, 1 + 1, a + a) == 4", ["1 + 1", "a + a"]),
    ],
)
def test_of_a_macro_only_what_the_user_wrote_is_shown(expression, parts):
    shown = [[part.text for part in step.steps] for step in _all(_trace(expression))]
    assert shown.count(parts) == 1


def test_a_bound_value_that_nothing_asks_for_is_not_evaluated():
    found = _brief("cel.bind(a, 1 / 0, cel.bind(b, 2, b == 2))")
    assert found["1 / 0"] == "-"
    assert found["2"] == "2"
    assert found["b"] == "2"


def test_a_device_without_any_answer_has_a_trace_that_says_why():
    device = cel.DeviceInput("d", {"v": DeviceAttribute(version="one")})
    found = trace(cel.compile("device.driver == 'd'"), device)
    assert found.result is None
    assert found.error.startswith("attribute v: parse semantic version")
    assert {step.state for step in _all(found.root)} == {"not evaluated"}


def test_a_result_that_is_no_bool_is_an_error_with_a_value():
    found = trace(cel.compile(f"{A}.model"), DEVICE)
    assert found.result is None
    assert "could not be converted to bool" in found.error
    assert (found.root.state, found.root.value) == ("value", '"h100"')


def test_a_run_that_costs_too_much_ends_in_its_error():
    lists = "[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]"
    expression = "true"
    for name in "abcdef":
        expression = f"{lists}.all({name}, {expression})"
    found = trace(cel.compile(expression), DEVICE)
    assert found.error == "operation cancelled: actual cost limit exceeded"
    assert found.root.state == "error"


def test_texts_are_at_most_as_long_as_people_read():
    text = "x" * 1000
    for step in _all(_trace(f"'{text}' in {{'{text}': 1}} && '{text}' == 'x'")):
        assert len(step.value) <= MAX_SHOWN
        assert len(step.error) <= MAX_SHOWN


def _nested(times: int, text: str, inner: str) -> str:
    for number in range(times):
        inner = text.replace("@", str(number)).replace("$", inner)
    return inner


@pytest.mark.parametrize(
    "expression",
    [
        " && ".join(["1==1"] * 1200),
        _nested(240, "!($)", "true"),
        _nested(120, "false || (true && ($))", "true"),
        _nested(120, "([$] == [true])", "true"),
        _nested(120, "[1].exists_one(x, $)", "true"),
        _nested(240, "bool($)", "device.driver != ''"),
        _nested(120, "cel.bind(a@, true, $)", "a0"),
        _nested(240, "(true ? $ : false)", "true"),
        _nested(120, "[0][$]", "0") + " == 0",
        "[1]" + ".map(x, x)" * 240 + " == [1]",
        _nested(4, "device.attributes.all(d@, $)", "d0 == d1")
        + f" && [1]{'.map(x, x)' * 249} == [1]",
    ],
    ids=lambda text: text[:20],
)
def test_deep_and_long_expressions_are_traced_in_full(expression):
    program = cel.compile(expression)
    found = trace(program, DEVICE)
    assert found.result is program.evaluate(DEVICE)
    assert len(list(_all(found.root))) > 100
