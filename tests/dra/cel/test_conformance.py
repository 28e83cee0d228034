"""Every recorded answer of the reference, and laws over its expressions."""

from __future__ import annotations

from collections import Counter

import pytest

from dra import cel
from dra.cel import budget, evaluator
from dra.cel.errors import CostExceededError
from dra.cel.metering import METER_SLOT, Meter
from dra.cel.program import is_underestimated
from dra.cel.values import Value
from tests.dra.cel.conformance import Case, cases

KNOWN_DIFFERENCES: frozenset[str] = frozenset()
"""Ids of cases that we answer differently; may only shrink."""

_POSITIONS_CHECKED = "compilation failed: ERROR: <input>:"


def _compile(case: Case) -> cel.Program:
    return cel.compile(case.expression, features=case.features, environment=case.age)


def _differs(case: Case) -> str | None:
    """The kind of the difference, None when we agree."""
    try:
        program = _compile(case)
    except cel.CompileError:
        return None if case.compile_error else "compile error"
    if case.compile_error:
        return "no compile error"
    if case.cost is not None and program.cost.high != case.cost:
        return "cost"
    try:
        result = program.evaluate(case.device)
    except cel.EvaluationError:
        return None if case.runtime_error else "run-time error"
    if case.runtime_error:
        return "no run-time error"
    return None if result is case.result else "result"


def test_we_answer_as_kubernetes_does():
    assert len(cases()) == 2738
    differences = {c.id: kind for c in cases() if (kind := _differs(c))}
    assert set(differences) == KNOWN_DIFFERENCES, Counter(differences.values())


def test_type_errors_have_the_words_and_places_of_kubernetes():
    checked = 0
    for case in cases():
        wanted = case.compile_error or ""
        if not wanted.startswith(_POSITIONS_CHECKED) or "Syntax error" in wanted:
            continue
        with pytest.raises(cel.CompileError) as caught:
            _compile(case)
        assert str(caught.value) == wanted, case.id
        checked += 1
    assert checked > 400


def _run(case: Case, program: cel.Program, *, metered: bool) -> tuple[str, int]:
    budget.begin()
    step, slots = evaluator.build(program.checked, metered=metered)
    frame: list[Value] = [None] * slots
    meter = frame[METER_SLOT] = Meter()
    lists = case.features.list_type_attributes
    try:
        frame[0] = cel.device_value(case.device, lists=lists)
        return repr(step(frame)), meter.spent
    except cel.EvaluationError as error:
        return str(error), meter.spent
    except CostExceededError:
        return "too expensive", 0


def test_counting_the_cost_changes_no_answer_and_stays_within_the_estimate():
    for case in cases():
        if case.compile_error or "cost limit" in (case.runtime_error or ""):
            continue
        program = _compile(case)
        plain, _ = _run(case, program, metered=False)
        counted, spent = _run(case, program, metered=True)
        assert counted in (plain, "too expensive"), case.id
        if not is_underestimated(program.checked):
            assert spent <= program.cost.high, case.id


def test_devices_in_a_table_get_the_same_answers():
    for case in cases()[::7]:
        if case.compile_error:
            continue
        program = _compile(case)
        (answer,) = cel.evaluate_many(program, [case.device])
        if case.runtime_error:
            assert isinstance(answer, cel.EvaluationError), case.id
        else:
            assert answer is case.result, case.id
