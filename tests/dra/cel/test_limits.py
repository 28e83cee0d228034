"""No expression takes long, takes much memory, or gets anything else out of us.

A part of the hostile expressions is looked at; all of them with
``DRA_PORTAL_TEST_EFFORT=100`` and ``--timeout=0``, in about ten minutes.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial

import pytest

from dra import cel
from dra.cel import budget
from dra.cel.cost.ranges import MAXIMUM
from dra.errors import NotSupportedError
from dra.objects import DeviceAttribute, DeviceCapacity
from tests.dra.cel import hostile, hostile_library, hostile_parts
from tests.dra.cel.effort import some

COMPILE_SECONDS = 0.5
EVALUATE_SECONDS = 2.0
COUNTING_SECONDS = 0.02
"""What :func:`_count` takes on a machine where the other two are generous."""
MEGABYTES = 400

GPU = cel.DeviceInput(
    driver="d",
    attributes={
        "s": DeviceAttribute(string="h" * 64),
        "x": DeviceAttribute(int_=1),
        "y": DeviceAttribute(int_=2),
        "z": DeviceAttribute(bool_=True),
        "v": DeviceAttribute(version="1.2.3"),
    },
    capacity={"m": DeviceCapacity(value="1Gi")},
)
# What a cached program is known by, beside its text: three times compiled anew.
GATES = [
    cel.CelFeatures(consumable_capacity=a, list_type_attributes=b)
    for a, b in ((True, False), (False, False), (True, True))
]
# Text doubles with every step of these, in the reference as well.
DOUBLING = ("optMap", "optFlatMap", "{x: x}", "doubled type", "protobuf")


def _seconds(work: Callable[[], object]) -> float:
    """Of the processor; others may be busy too."""
    started = time.process_time()
    work()
    return time.process_time() - started


def _count() -> None:
    for _ in range(1_000_000):
        pass


def _limit(seconds: float) -> float:
    """As much more as this machine is slower now."""
    return seconds * max(1.0, _seconds(_count) / COUNTING_SECONDS)


def _compile(text: str, features: cel.CelFeatures = GATES[0]) -> cel.Program | None:
    try:
        return cel.compile(text, features=features)
    except (cel.CompileError, NotSupportedError):
        return None


def _evaluate(program: cel.Program) -> bool | str:
    try:
        return program.evaluate(GPU)
    except (cel.EvaluationError, NotSupportedError) as error:
        return str(error)


def test_every_hostile_text_has_a_name_of_its_own():
    names = [name for name, _ in hostile.all_texts()]
    assert len(names) == len(set(names)) > 4000


def test_no_text_takes_long_to_compile():
    slow: dict[str, float] = {}
    for name, text in some(hostile.all_texts(), one_in=40):
        seconds = COMPILE_SECONDS
        for features in GATES:
            if seconds >= COMPILE_SECONDS:
                seconds = _seconds(partial(_compile, text, features))
        if seconds >= COMPILE_SECONDS and seconds >= _limit(COMPILE_SECONDS):
            slow[name] = seconds
    assert slow == {}


@pytest.mark.parametrize(
    "name",
    [
        "chains: 2559 && ints",
        "lists_and_maps: list of optional elements",
        "types: type(x) of dyn(1), 100, bad",
        "nests: 249 exists of exists around true",
        "errors: deep types in a call",
        "errors: more doubled type often",
        "macros: 8 optMap",
        "regexes: unicode class repeats, attribute",
        "regexes: many patterns",
        "regexes: deeper groups, matches",
        "literals: wide often",
        "blanks: very long and halved",
    ],
)
def test_what_once_took_long_does_not(name):
    text = dict(hostile.all_texts())[name]
    seconds = min(_seconds(partial(_compile, text, f)) for f in GATES)
    assert seconds < _limit(COMPILE_SECONDS)


def test_only_what_doubles_is_more_than_we_compile():
    refused = []
    for name, text in some(hostile.nests(), one_in=7):
        try:
            cel.compile(text)
        except cel.CompileError:
            pass
        except NotSupportedError:
            refused.append(name)
    assert [n for n in refused if not any(word in n for word in DOUBLING)] == []


@pytest.mark.parametrize(
    "name", [n for n in hostile.PAIRS if "optMap targets" not in n]
)
def test_249_levels_compile_and_run(name):
    opening, closing = hostile.PAIRS[name]
    text = hostile_parts.wrap(opening, "true", closing, 249)
    program = _compile(f"[{text}].size() == 1" if name == "format" else text)
    # The others are no selectors, or their calls take no such argument.
    if program is not None:
        assert "not supported" not in str(_evaluate(program))
    if closing:
        with pytest.raises(cel.CompileError):
            cel.compile(hostile_parts.wrap(opening, "true", closing, 300))


def _deep(levels: int, work: Callable[[], object]) -> object:
    return work() if levels == 0 else _deep(levels - 1, work)


def test_a_caller_deep_in_its_own_stack_gets_the_same_answer():
    text = "(" * 240 + "device.driver" + ")" * 240 + " == 'd'"
    assert _deep(800, lambda: cel.compile(text).evaluate(GPU)) is True


def test_no_evaluation_takes_long():
    slow: dict[str, float] = {}
    for name, text in some(hostile_library.runs(), one_in=20):
        program = _compile(text)
        if program is None:
            continue
        seconds = EVALUATE_SECONDS
        for _ in range(3):
            if seconds >= EVALUATE_SECONDS:
                seconds = _seconds(partial(_evaluate, program))
        if seconds >= EVALUATE_SECONDS and seconds >= _limit(EVALUATE_SECONDS):
            slow[name] = seconds
    assert slow == {}


@pytest.mark.parametrize(
    "name", ["all, free terms", "free conditions", "many patterns too large"]
)
def test_what_goes_on_for_too_long_is_not_supported(name):
    program = cel.compile(dict(hostile_library.runs())[name])
    with pytest.raises(NotSupportedError):
        program.evaluate(GPU)


def test_the_budget_of_an_evaluation_is_its_own():
    program = cel.compile("lists.range(5000).all(x, x >= 0)")
    for _ in range(20):
        assert program.evaluate(GPU) is True
        assert budget.left() > budget.LIMIT // 2
    endless = cel.compile("lists.range(300000).all(x, " + "true && " * 999 + "true)")
    with pytest.raises(NotSupportedError, match="evaluating something this long"):
        endless.evaluate(GPU)
    assert program.evaluate(GPU) is True


_MEASURE = """
import resource, sys
from tests.dra.cel import hostile_library, test_limits
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
for name, text in hostile_library.runs():
    if name in sys.argv[1:]:
        test_limits._evaluate(test_limits.cel.compile(text))
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""


def test_no_evaluation_takes_much_memory():
    kept = [
        "long lists kept, concatenated",
        "long lists kept, unwrapped",
        "text split up",
        "text formatted and kept",
        "astral text replaced by more and kept",
        "astral text split up",
    ]
    found = subprocess.run(
        [sys.executable, "-c", _MEASURE, *kept],
        capture_output=True,
        text=True,
        check=True,
    )
    assert int(found.stdout) < MEGABYTES


def test_costs_beyond_64_bits_stay_at_the_top():
    loops = "".join(f"lists.range(1000000).all(x{n}, " for n in range(12))
    program = cel.compile(f"{loops}true{')' * 12}")
    assert program.cost.high == MAXIMUM
    text = " + ".join(["string(device.driver.size())"] * 20)
    assert cel.compile(f"({text}).matches('a')").cost.high == MAXIMUM
    for _, text in some(hostile.all_texts(), one_in=200):
        other = _compile(text)
        if other is not None:
            assert 0 <= other.cost.low <= other.cost.high <= MAXIMUM


def test_a_hundred_problems_are_written_out():
    with pytest.raises(cel.CompileError) as caught:
        cel.compile(" && ".join(f"x{n}" for n in range(150)))
    error = caught.value
    assert [issue.message for issue in error.issues] == [
        f"undeclared reference to 'x{n}' (in container '')" for n in range(100)
    ]
    assert str(error).endswith("\n50 more errors were truncated")


def test_problems_are_counted_as_they_are_found_and_shown_as_they_stand():
    # The left side of a call is typed after its arguments.
    text = " && ".join(f"x{n}.size(y{n})" for n in range(60))
    with pytest.raises(cel.CompileError) as caught:
        cel.compile(text)
    offsets = [issue.offset for issue in caught.value.issues]
    assert len(offsets) == 100
    assert offsets == sorted(offset for offset in offsets if offset is not None)


def test_an_empty_text_is_an_error_at_column_0():
    with pytest.raises(cel.CompileError) as caught:
        cel.compile("")
    assert (caught.value.line, caught.value.column) == (1, 0)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "expression",
    [
        "0" * 10_000 + " == 0",
        "int('" + "0" * 10_000 + "1') == 1",
        "uint('" + "0" * 10_000 + "') == 0u",
        "double('" + "1" * 9_000 + "e-8999') > 1.0",
        "duration('" + "0" * 9_000 + "1h') == duration('1h')",
        "'a'.matches('" + "(" * 900 + "a" + ")" * 900 + "')",
        r"'é'.matches(r'^\p{L}{1,63}$') && 'e'.matches(r'^\p{L}{1,63}$')",
        r"'K'.matches(r'(?i)k') && 'ä'.matches(r'[[:^ascii:]]')",
        r"'aé'.findAll(r'') == ['', '', ''] && 'aa'.findAll('a*') == ['aa']",
        "'xaax'.lastIndexOf('a', 2) == 2 && 'abab'.lastIndexOf('ab') == 2",
        "('x' + {long}).lastIndexOf({long}) == 1 && ({long} + 'x').lastIndexOf({long}) == 0",
    ],
    ids=lambda text: text[:20],
)
def test_unusual_values_have_usual_answers(expression):
    long = "'" + "ab" * 300 + "'"
    assert cel.compile(expression.replace("{long}", long)).evaluate(GPU) is True


@pytest.mark.parametrize("value", ["0.5", "9.5", "-99.9", "0.07"])
def test_a_digit_that_the_reference_loses_is_not_guessed(value):
    program = cel.compile(f"'%.0f'.format([{value}]) != ''")
    with pytest.raises(NotSupportedError):
        program.evaluate(GPU)


_BYTES = "url('http://a/?q=%ff').getQuery()['q'][0]"


@pytest.mark.parametrize(
    ("expression", "answer"),
    [
        (f"{_BYTES}.lastIndexOf('a') == -1", True),
        (f"{_BYTES}.matches('^.$') && !{_BYTES}.matches('[?]')", True),
        (f"{_BYTES}.lowerAscii() == {_BYTES}", True),
        (f"'a'.matches({_BYTES})", "error parsing regexp: invalid UTF-8"),
        (f"device.attributes['d'][{_BYTES}] == 1", "no such key: ?"),
    ],
)
def test_bytes_that_are_no_text_can_be_told_of(expression, answer):
    assert _evaluate(cel.compile(expression)) == answer


def test_messages_end_and_never_tell_more_than_the_value_has():
    doubled = "cel.bind(x, [1], " + "cel.bind(x, [x, x], " * 40
    for use in (
        "[dyn(x)].join() == ''",
        "dyn([x]).unwrapOpt() == []",
        "[?dyn(x)] == []",
    ):
        program = cel.compile(doubled + use + ")" * 41)
        with pytest.raises(cel.EvaluationError) as caught:
            program.evaluate(GPU)
        assert "list" in str(caught.value)
    with pytest.raises(cel.EvaluationError) as caught:
        cel.compile("ip(lists.range(90000).map(x, 'a').join()).isLoopback()").evaluate(
            GPU
        )
    assert len(str(caught.value)) < 11_000
