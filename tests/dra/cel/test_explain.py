"""What each term does to the devices, against really changing the expression."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings

from dra import cel
from dra.cel.explain import MAX_MESSAGES, ErrorGroup, Term, explain
from dra.cel.terms import TermProgram, split
from dra.objects import DeviceAttribute, DeviceCapacity
from tests.dra.cel.conditions import CONDITIONS, DEVICES, TABLE, outcomes
from tests.dra.cel.conformance import cases

A = 'device.attributes["gpu"]'


def _all(term: Term) -> Iterator[Term]:
    """In the order of :func:`dra.cel.terms.split`."""
    yield term
    for part in term.terms:
        yield from _all(part)


# --- laws ---


@settings(max_examples=60, deadline=None)
@given(CONDITIONS)
def test_the_terms_combined_say_of_each_device_what_the_expression_says(expression):
    program = cel.compile(expression)
    for row, answer in enumerate(outcomes(program, DEVICES[:25])):
        found = explain(program, TABLE, within=np.arange(len(DEVICES)) == row)
        assert found.devices == 1
        assert (found.matched, found.false, found.error) == (
            answer is True,
            answer is False,
            isinstance(answer, str),
        )
        assert [e.message for e in found.errors] == (
            [answer] if isinstance(answer, str) else []
        )


def test_the_terms_combined_say_what_kubernetes_says():
    for case in cases()[::3]:
        if case.compile_error:
            continue
        program = cel.compile(
            case.expression, features=case.features, environment=case.age
        )
        lists = case.features.list_type_attributes
        found = explain(program, cel.DeviceTable.of([case.device], lists=lists))
        if case.runtime_error:
            assert (found.error, found.messages) == (1, 1), case.id
        else:
            assert (found.matched, found.false) == (case.result, not case.result)


@settings(max_examples=100, deadline=None)
@given(CONDITIONS)
def test_every_term_is_counted_as_if_it_were_asked_alone(expression):
    program = cel.compile(expression)
    terms = _all(explain(program, TABLE).term)
    for term, condition in zip(terms, split(program), strict=True):
        answers = outcomes(TermProgram(program, condition), DEVICES)
        errors = Counter(answer for answer in answers if isinstance(answer, str))
        assert (term.text, term.kind) == (condition.text, condition.kind)
        assert term.text == expression[term.start : term.end]
        assert (term.true, term.false) == (answers.count(True), answers.count(False))
        assert term.error == errors.total()
        assert {e.message: e.count for e in term.errors} == errors
        for group in term.errors:
            assert group.example == TABLE.ids[answers.index(group.message)]


@settings(max_examples=60, deadline=None)
@given(CONDITIONS)
def test_a_term_counts_where_changing_it_alone_changes_the_answer(expression):
    program = cel.compile(expression)
    before = outcomes(program, DEVICES)
    terms = _all(explain(program, TABLE).term)
    for term, condition in zip(terms, split(program), strict=True):
        said = outcomes(TermProgram(program, condition), DEVICES)
        start, end = expression[: term.start], expression[term.end :]
        yes = outcomes(cel.compile(f"{start}true{end}"), DEVICES)
        no = outcomes(cel.compile(f"{start}false{end}"), DEVICES)
        excludes = false = admits = 0
        for was, here, *after in zip(before, said, yes, no, strict=True):
            may = {answer is True for answer in after}
            excludes += was is not True and True in may
            false += was is not True and True in may and here is False
            admits += was is True and False in may
        assert (term.excludes_alone, term.admits_alone) == (excludes, admits), term.text
        assert term.false_alone == false, term.text


# --- what it says of a cluster ---


def _gpu(number: int, **more: DeviceAttribute) -> cel.DeviceInput:
    model = "h100" if number % 4 else "a100"
    memory = "81559Mi" if number % 4 else "40Gi"
    return cel.DeviceInput(
        "gpu",
        {"model": DeviceAttribute(string=model), **more},
        {"memory": DeviceCapacity(value=memory)},
    )


ECC = DeviceAttribute(bool_=True)
GPUS = [_gpu(n, **({"ecc": ECC} if n % 2 else {})) for n in range(100)]
MEMORY = 'device.capacity["gpu"].memory.compareTo(quantity("80Gi")) >= 0'


def test_the_term_that_alone_excludes_devices_is_named():
    expression = f'device.driver == "gpu" && {A}.model == "h100" && {MEMORY}'
    found = explain(cel.compile(expression), cel.DeviceTable.of(GPUS))
    assert (found.devices, found.matched, found.false, found.error) == (100, 0, 100, 0)
    driver, model, memory = found.term.terms
    assert (driver.true, driver.excludes_alone) == (100, 0)
    assert (model.true, model.excludes_alone) == (75, 0)
    assert (memory.true, memory.excludes_alone) == (0, 75)
    assert (memory.start, memory.end) == (
        len(expression) - len(MEMORY),
        len(expression),
    )


def test_a_term_that_lets_devices_in_is_named():
    found = explain(
        cel.compile(f'{A}.model == "h100" || has({A}.ecc)'), cel.DeviceTable.of(GPUS)
    )
    model, ecc = found.term.terms
    assert found.matched == 75
    assert (model.admits_alone, ecc.admits_alone) == (25, 0)
    assert (model.excludes_alone, ecc.excludes_alone) == (25, 25)


def test_errors_are_told_apart_the_most_frequent_first():
    expression = f"{A}.ecc && {A}.model + 1 == 2 && {A}.serial == 1"
    found = explain(cel.compile(expression), cel.DeviceTable.of(GPUS))
    table = cel.DeviceTable.of(GPUS)
    missing = ErrorGroup("no such key: ecc", 50, table.ids[0])
    mixed = ErrorGroup("no such overload", 50, table.ids[1])
    assert found.errors == (missing, mixed)
    ecc, model, serial = found.term.terms
    assert ecc.errors == (missing,)
    assert model.errors == (ErrorGroup("no such overload", 100, table.ids[0]),)
    assert serial.errors[0].count == 100
    assert found.messages == 2


def test_of_very_many_errors_the_most_frequent_are_listed():
    serials = [f"s{number}" for number in range(MAX_MESSAGES * 2)] + ["x", "y", "y"]
    devices = [_gpu(1, serial=DeviceAttribute(string=serial)) for serial in serials]
    table = cel.DeviceTable.of(devices)
    found = explain(cel.compile(f'{{"a": 1}}[{A}.serial] == 1'), table)
    assert (found.error, found.messages) == (len(serials), len(serials) - 1)
    assert len(found.errors) == MAX_MESSAGES
    assert found.errors[:2] == (
        ErrorGroup("no such key: y", 2, table.ids[len(serials) - 2]),
        ErrorGroup("no such key: s0", 1, table.ids[0]),
    )


def test_only_the_devices_within_are_counted():
    program = cel.compile(f'{A}.model == "h100" && {A}.ecc')
    table = cel.DeviceTable.of(GPUS)
    within = np.zeros(len(GPUS), np.bool_)
    within[10:20] = True
    found = explain(program, table, within=within)
    assert found.devices == 10
    assert found.term.terms[0].true == 8
    assert found.term.terms[1].errors == (
        ErrorGroup("no such key: ecc", 5, table.ids[10]),
    )


def test_no_devices_are_no_problem():
    program = cel.compile(f'{A}.model == "h100" && ({A}.ecc || true)')
    for table, within in (
        (cel.DeviceTable.of([]), None),
        (cel.DeviceTable.of(GPUS), np.zeros(len(GPUS), np.bool_)),
    ):
        found = explain(program, table, within=within)
        assert (found.devices, found.matched, found.errors) == (0, 0, ())
        assert found.term.terms[1].terms[1].true == 0


def test_a_device_without_any_answer_is_in_no_terms_way():
    devices = [*GPUS, cel.DeviceInput("gpu", {"v": DeviceAttribute(version="one")})]
    found = explain(cel.compile("false"), cel.DeviceTable.of(devices))
    assert (found.false, found.error) == (100, 1)
    assert found.term.excludes_alone == 100


def test_a_run_that_costs_too_much_is_an_error_whatever_the_terms_say():
    inner = "true"
    for name in "abcdef":
        inner = f"[1, 2, 3, 4, 5, 6, 7, 8, 9, 10].all({name}, {inner})"
    program = cel.compile(f"{inner} || {A}.model == 'h100'")
    found = explain(program, cel.DeviceTable.of(GPUS[:4]))
    assert found.error == 4
    assert found.errors[0].message == "operation cancelled: actual cost limit exceeded"
    assert [t.excludes_alone for t in found.term.terms] == [0, 0]
    assert found.term.terms[1].true == 3


def test_it_stops_when_told_to():
    program = cel.compile(f'{A}.model == "h100" && {A}.ecc')
    with pytest.raises(cel.Stopped):
        explain(program, cel.DeviceTable.of(GPUS), stop=lambda: True)


def test_a_chain_of_900_terms_on_100_000_devices_takes_no_ages():
    names = [f"d{number}" for number in range(1000)]
    devices = [cel.DeviceInput(names[n % 1000]) for n in range(100_000)]
    table = cel.DeviceTable.of(devices)
    terms = [f"device.driver == 'd{7 + number % 3}'" for number in range(100)]
    program = cel.compile(" || ".join(["false"] * 800 + terms))
    started = time.process_time()
    found = explain(program, table)
    assert time.process_time() - started < 10
    assert len(found.term.terms) == 900
    assert found.matched == 300
    assert {term.excludes_alone for term in found.term.terms} == {99_700}
    assert {term.admits_alone for term in found.term.terms} == {0}


@pytest.mark.parametrize(
    "expression",
    [
        "!(" * 240 + "true" + ")" * 240,
        "(true && (false || " * 120 + "true" + "))" * 120,
        "(true ? " * 240 + "true" + " : false)" * 240,
    ],
    ids=lambda text: text[:8],
)
def test_deep_expressions_are_explained(expression):
    found = explain(cel.compile(expression), cel.DeviceTable.of(GPUS))
    assert found.matched == 100
    assert {term.admits_alone for term in _all(found.term)} <= {0, 100}
