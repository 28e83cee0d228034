"""The same answers as cel-python where it follows the language, and where it does not."""

from __future__ import annotations

import subprocess
import sys

import pytest

from dra import cel
from tests.dra.cel import peer
from tests.dra.cel.effort import EFFORT
from tests.dra.cel.typed import DEVICE, VARIABLE, Typed

A = 'device.attributes["d"]'


def _ours(expression: str) -> bool | str:
    try:
        return cel.compile(expression).evaluate(DEVICE)
    except cel.CompileError:
        return "compile error"
    except cel.EvaluationError:
        return "error"


@pytest.mark.timeout(120 * EFFORT)
def test_cel_python_gives_the_same_answers():
    typed = Typed(seed=2024)
    expressions = [typed.selector() for _ in range(1_000 * EFFORT)]
    theirs = peer.answers(VARIABLE, expressions)
    assert len(theirs) == len(expressions)
    different = {
        expression: (answer, answered)
        for expression, answered in zip(expressions, theirs, strict=True)
        if (answer := _ours(expression)) != answered
    }
    assert different == {}
    for answer in (True, False, "error"):
        assert theirs.count(answer) > len(theirs) // 20


# What it is, an expression, our answer (Kubernetes' answer), that of cel-python.
DISAGREEMENTS = [
    ("there is no type checker", "1 + 'a' == 2 || true", "compile error", True),
    ("there is no type checker", f"{A}.nope.x || 1 + 1", "compile error", "error"),
    ("there is no type checker", "nope('a') || true", "compile error", True),
    ("any result will do", "1 + 1", "compile error", "other"),
    ("strings have indexes", "'a'[0] == 'a'", "compile error", True),
    ("has() takes an index", f"has({A}['i'])", "compile error", True),
    ("literals may be mixed", "[1, 'a'] == []", "compile error", False),
    ("literals may be mixed", f"[1, {A}.i] == [1, 1]", "compile error", True),
    ("literals may be mixed", "{'a': 1, 'b': ''}.size() == 2", "compile error", True),
    ("constants are converted late", "int('x') == 1 || true", "compile error", True),
    ("constants are converted late", "true || bool('yes')", "compile error", True),
    ("int() reads hexadecimal", "int('0x10') == 16", "compile error", True),
    ("reserved words are names", "[1].all(if, if == 1)", "compile error", True),
    ("a big literal is an error later", "9223372036854775808 > 0", "compile error",
     "error"),
    ("unlike values cannot be compared", "dyn(1) == 'a'", False, "error"),
    ("unlike values cannot be compared", f"{A}.s == 1", False, "error"),
    ("unlike numbers cannot be compared", "1 < 1.5", True, "error"),
    ("unlike numbers cannot be compared", "dyn(1) == 1.0", True, "error"),
    ("missing domains are missing", "size(device.attributes['x']) == 0", True, "error"),
    ("missing domains are missing", "has(device.attributes.x)", True, False),
    ("no optional syntax", f"{A}.?x.orValue(1) == 1", True, "parse error"),
    ("no optional syntax", "[?optional.none()] == []", True, "parse error"),
    ("no optional values", "optional.of(1).hasValue()", True, "error"),
    ("no trailing comma", "[1,].size() == 1", True, "parse error"),
    ("no trailing comma", "{'a': 1,}.size() == 1", True, "parse error"),
    ("no cel.bind", "cel.bind(x, 1, x == 1)", True, "error"),
    ("no macros with two variables", "[1].all(i, v, i == v - 1)", True, "error"),
    ("no map that filters", "[1, 2].map(x, x > 1, x) == [2]", True, "error"),
    ("no sortBy", "[2, 1].sortBy(x, x) == [1, 2]", True, "error"),
    ("no strings library", "'A'.lowerAscii() == 'a'", True, "error"),
    ("no lists library", "[3, 1].sum() == 4", True, "error"),
    ("no sets library", "sets.contains([1], [1])", True, "error"),
    ("no quantities", "quantity('1Gi').isInteger()", True, "error"),
    ("no versions", "isSemver('1.2.3')", True, "error"),
    ("no addresses", "isIP('::1')", True, "error"),
    ("sums of strings have few methods", "('a' + 'b').contains('a')", True, "error"),
    ("bool and double as Python writes them", "string(true) == 'true'", True, False),
    ("bool and double as Python writes them", "string(1.0) == '1'", True, False),
    ("new lines in long strings get lost", "'''a\nb''' == 'a\\nb'", True, False),
    ("a negative index counts from the end", "[1, 2][-1] == 2", "error", True),
    ("the element of an empty list is evaluated", "1 / 0 in []", False, "error"),
    ("maps hold errors", "{'a': 1 / 0}.size() == 1", "error", True),
    ("maps hold errors", "has({'a': 1 / 0}.a)", "error", False),
    ("errors within map() are not absorbed", "[1].map(x, 1 / 0) == [] && false", False,
     "error"),
    ("keys may not come twice", "{'a': 1, 'a': 2}.size() == 1", True, "error"),
    ("NaN is ordered", "0.0 / 0.0 < 1.0", "error", False),
    ("NaN is equal to itself", "0.0 / 0.0 == 0.0 / 0.0", False, True),
    ("zero has no sign", "1.0 / -(0.0) < 0.0", True, False),
    ("long chains recurse", " && ".join(["true"] * 1200), True, "recursion"),
]  # fmt: skip


def test_where_cel_python_differs_is_known():
    """Each is a rule that the random expressions keep to; one that goes may go."""
    found = peer.answers(VARIABLE, [expression for _, expression, *_ in DISAGREEMENTS])
    for (rule, expression, ours, theirs), answered in zip(
        DISAGREEMENTS, found, strict=True
    ):
        assert ours != theirs
        assert (_ours(expression), answered) == (ours, theirs), rule


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
