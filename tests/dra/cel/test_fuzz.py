"""Damaged expressions: never a crash, problems with a place, the same answer twice."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dra import cel
from dra.cel import budget, evaluator
from dra.cel.cost.ranges import MAXIMUM
from dra.cel.errors import CostExceededError
from dra.cel.lexer import tokens
from dra.cel.metering import METER_SLOT, Meter
from dra.cel.program import is_underestimated
from dra.cel.source import Problem
from dra.cel.values import Value
from dra.errors import NotSupportedError
from tests.dra.cel.conformance import Case, cases
from tests.dra.cel.effort import EFFORT
from tests.dra.cel.test_properties import DEVICE, PIECES

WITHOUT_A_PLACE = ("Too long: ", "must evaluate to ")
"""Problems of the whole: the reference gives no place either."""
STRANGE = [
    *("\0", "\ud800", "\udc00", "\U0001f600", "\u202e", "\x85", "\r\n", "\t", "\f"),
    *("é", "½", "\ufeff", "`", "#", "\\", "'''", '"""', "//", "/*", "$", "@", ";"),
    *("9223372036854775807", "-9223372036854775808", "9223372036854775808", "1e999"),
    *("18446744073709551615u", "0x", "1.", ".5", "1e", "'\\ud800'", "'\\xff'", "b'\\xff'"),
    *(".?", "[?", "{?", "..", "...", "&&&", "|||", "===", "!!", "--", "? :", ",,"),
    *("__result__", "@result", "#unused", "@in", "_+_", "in", "null", "if", "package"),
]  # fmt: skip
GATES = [
    cel.CelFeatures(consumable_capacity=a, list_type_attributes=b)
    for a in (True, False)
    for b in (True, False)
]


def _words(text: str) -> list[str]:
    try:
        return [token.text for token in tokens(text)[:-1]]
    except Problem:
        return text.split(" ")


def _damaged(rng: random.Random) -> tuple[str, Case]:
    """A recorded expression with a few things done to it."""
    case, other = rng.choice(cases()), rng.choice(cases())
    words = _words(case.expression)
    for _ in range(rng.randrange(1, 4)):
        at = rng.randrange(len(words) + 1)
        end = min(at + rng.randrange(1, 6), len(words))
        kind = rng.randrange(9)
        if kind == 0:
            del words[at:end]
        elif kind == 1:
            words[at:at] = words[at:end] * rng.randrange(1, 4)
        elif kind == 2:
            theirs = _words(other.expression)
            start = rng.randrange(len(theirs) + 1)
            words[at:end] = theirs[start : start + rng.randrange(12)]
        elif kind == 3:
            words.insert(at, rng.choice(PIECES))
        elif kind == 4:
            words.insert(at, rng.choice(STRANGE))
        elif kind == 5 and at < len(words):
            words[at] = rng.choice(words)
        elif kind == 6:
            words[at:end] = reversed(words[at:end])
        elif kind == 7:
            times = rng.randrange(1, 40)
            words = [*["("] * times, *words, *[")"] * times]
        else:
            words = [*words, rng.choice(["&&", "||", "==", "+", "?"]), *words]
    return rng.choice(["", " ", "\n"]).join(words), case


def _examples(count: int, seed: int) -> Iterator[tuple[str, Case, cel.CelFeatures]]:
    rng = random.Random(seed)
    for _ in range(count * EFFORT):
        text, case = _damaged(rng)
        yield text, case, rng.choice(GATES)


def _check_problems(text: str, error: cel.CompileError) -> None:
    assert error.issues
    assert error.message == error.issues[0].message
    places = 0
    for issue in error.issues:
        if issue.offset is None:
            assert issue.message.startswith(WITHOUT_A_PLACE)
            continue
        places += 1
        assert issue.line is not None
        assert issue.column is not None
        assert issue.start is not None
        assert issue.end is not None
        assert 0 <= issue.start < issue.end
        assert issue.start <= len(text)
        lines = text[: issue.offset].split("\n")
        assert issue.line == len(lines)
        assert issue.column == (len(lines[-1]) + 1 if text else 0)
    shown = str(error)
    shown.encode()
    assert len(
        re.findall(r"^(?:compilation failed: )?ERROR: <input>:", shown, re.M)
    ) in (
        places,
        0,
    )


def _compile(text: str, features: cel.CelFeatures) -> cel.Program | None:
    try:
        program = cel.compile(text, features=features)
    except NotSupportedError:
        return None
    except cel.CompileError as error:
        _check_problems(text, error)
        return None
    assert 0 <= program.cost.low <= program.cost.high <= MAXIMUM
    return program


def _run(program: cel.Program, case: Case, *, metered: bool) -> tuple[str, int]:
    budget.begin()
    step, slots = evaluator.build(program.checked, metered=metered)
    frame: list[Value] = [None] * slots
    meter = frame[METER_SLOT] = Meter()
    lists = program.features.list_type_attributes
    try:
        frame[0] = cel.device_value(case.device, lists=lists)
        return repr(step(frame)), meter.spent
    except (cel.EvaluationError, NotSupportedError) as error:
        str(error).encode()
        return str(error), meter.spent
    except CostExceededError:
        return "too expensive", 0


@pytest.mark.timeout(120 * EFFORT)
def test_damaged_expressions_compile_or_have_problems_with_places():
    compiled = 0
    for text, case, features in _examples(1_500, seed=7):
        program = _compile(text, features)
        if program is None:
            continue
        compiled += 1
        for device in (case.device, DEVICE):
            try:
                answer = program.evaluate(device)
            except (cel.EvaluationError, NotSupportedError) as error:
                str(error).encode()
            else:
                assert isinstance(answer, bool)
    assert compiled > 100


@pytest.mark.timeout(120 * EFFORT)
def test_what_compiles_costs_at_most_its_estimate():
    for text, case, features in _examples(1_500, seed=8):
        program = _compile(text, features)
        if program is None:
            continue
        plain, _ = _run(program, case, metered=False)
        counted, spent = _run(program, case, metered=True)
        assert counted in (plain, "too expensive"), text
        if not is_underestimated(program.checked):
            assert spent <= program.cost.high, text


@pytest.mark.timeout(120 * EFFORT)
def test_devices_in_a_table_get_the_same_answers():
    for text, case, features in _examples(300, seed=9):
        program = _compile(text, features)
        if program is None:
            continue
        lists = features.list_type_attributes
        table = cel.DeviceTable.of([case.device, DEVICE, case.device], lists=lists)
        try:
            together = table.evaluate(program)
            alone = [_answer(program, table.device(row)) for row in range(3)]
        except NotSupportedError:
            continue
        assert [a if isinstance(a, bool) else str(a) for a in together] == alone, text


def _answer(program: cel.Program, device: cel.DeviceInput) -> bool | str:
    try:
        return program.evaluate(device)
    except cel.EvaluationError as error:
        return str(error)


@settings(max_examples=300 * EFFORT, deadline=None)
@given(st.text(st.characters(exclude_categories=()), max_size=80))
def test_any_text_at_all_has_problems_with_places(text):
    _compile(text, GATES[0])


@settings(max_examples=300 * EFFORT, deadline=None)
@given(st.lists(st.sampled_from([*PIECES, *STRANGE]), max_size=20).map(" ".join))
def test_pieces_and_strange_things_in_any_order_have_problems_with_places(text):
    _compile(text, GATES[0])


@settings(max_examples=200 * EFFORT, deadline=None)
@given(
    st.sampled_from([case for case in cases() if case.compile_error][::3]),
    st.integers(0, 30),
    st.sampled_from(["\n", "\r\n", "\t", " ", "// é\n"]),
)
def test_blank_space_moves_a_problem_and_changes_nothing_else(case, times, blank):
    before = blank * times
    with pytest.raises(cel.CompileError) as plain:
        cel.compile(case.expression, features=case.features, environment=case.age)
    text = before + case.expression
    with pytest.raises(cel.CompileError) as moved:
        cel.compile(text, features=case.features, environment=case.age)
    for issue, other in zip(plain.value.issues, moved.value.issues, strict=True):
        assert issue.message == other.message
        if issue.offset is not None:
            assert other.offset == issue.offset + len(before)
