"""Compile and evaluate: what callers rely on."""

from __future__ import annotations

import threading

import pytest

from dra import cel
from dra.cel.program import _Cache
from dra.errors import NotSupportedError
from dra.objects import DeviceAttribute, DeviceCapacity

GPU = cel.DeviceInput(
    driver="gpu.example.com",
    attributes={
        "model": DeviceAttribute(string="A100"),
        "index": DeviceAttribute(int_=3),
        "ecc": DeviceAttribute(bool_=True),
        "driverVersion": DeviceAttribute(version="550.54.15"),
        "vendor.example.com/numa": DeviceAttribute(int_=1),
    },
    capacity={"memory": DeviceCapacity(value="80Gi")},
)


@pytest.mark.parametrize(
    "expression",
    [
        'device.driver == "gpu.example.com"',
        'device.attributes["gpu.example.com"].model == "A100"',
        'device.attributes["gpu.example.com"].index in [1, 2, 3]',
        'device.attributes["gpu.example.com"].ecc',
        'device.attributes["vendor.example.com"].numa < 2u',
        'device.capacity["gpu.example.com"].memory.compareTo(quantity("40Gi")) > 0',
        'device.attributes["gpu.example.com"].driverVersion'
        '.isGreaterThan(semver("v535", true))',
        'has(device.attributes["gpu.example.com"].model)',
        '!has(device.attributes["gpu.example.com"].none)',
        "has(device.attributes.nobody)",
        '!("nobody" in device.attributes)',
        'device.attributes["gpu.example.com"].?none.orValue(7) == 7',
        'device.attributes["gpu.example.com"].none == 1 || true',
        "device.attributes.exists(d, d.startsWith('vendor'))",
        'cel.bind(a, device.attributes["gpu.example.com"], a.index > 2 && a.ecc)',
        "!device.allowMultipleAllocations",
    ],
)
def test_a_device_matches(expression):
    assert cel.compile(expression).evaluate(GPU) is True


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ('device.attributes["gpu.example.com"].none == 1', "no such key: none"),
        ('device.attributes["nobody"].none == 1', "no such key: none"),
        ('device.attributes["gpu.example.com"].model > 1', "no such overload"),
        ('device.attributes["gpu.example.com"].driverVersion == "x"', "no such over"),
        ("1 / 0 == 1", "division by zero"),
        ('device.attributes["gpu.example.com"].index', "could not be converted"),
    ],
)
def test_an_expression_without_an_answer_is_an_evaluation_error(expression, message):
    program = cel.compile(expression)
    with pytest.raises(cel.EvaluationError, match=message):
        program.evaluate(GPU)


def test_a_compile_error_points_at_the_place():
    with pytest.raises(cel.CompileError) as caught:
        cel.compile('device.driver == "x" &&\n  device.drivr == "y"')
    error = caught.value
    assert (error.line, error.column) == (2, 9)
    assert error.message == "undefined field 'drivr'"
    assert str(error) == (
        "compilation failed: ERROR: <input>:2:9: undefined field 'drivr'\n"
        ' |   device.drivr == "y"\n'
        " | ........^"
    )


def test_all_type_errors_are_reported_in_the_order_of_the_text():
    with pytest.raises(cel.CompileError) as caught:
        cel.compile("nobody || 1 == 'x'")
    assert [issue.column for issue in caught.value.issues] == [1, 13]


def test_a_selector_of_more_than_10240_bytes_is_refused():
    with pytest.raises(cel.CompileError, match="Too long"):
        cel.compile("'" + "é" * 5200 + "' == ''")


def test_list_attributes_fail_every_expression_without_the_gate():
    device = cel.DeviceInput(attributes={"tags": DeviceAttribute(strings=["a"])})
    with pytest.raises(cel.EvaluationError, match="tags: unsupported attribute value"):
        cel.compile("true").evaluate(device)
    gate = cel.CelFeatures(list_type_attributes=True)
    program = cel.compile('device.attributes[""].tags.includes("a")', features=gate)
    assert program.evaluate(device) is True


def test_new_expressions_may_not_use_what_is_behind_a_closed_gate():
    expression = "device.attributes['a'].x.includes(1)"
    cel.compile(expression)
    with pytest.raises(cel.CompileError, match="undeclared reference to 'includes'"):
        cel.compile(expression, environment="new")


def test_programs_are_compiled_once():
    assert cel.compile("1 < 2") is cel.compile("1 < 2")


def test_the_cache_forgets_what_was_used_longest_ago():
    cache = _Cache(entries=2, characters=100)
    features = cel.CelFeatures()
    program = cel.compile("true")
    for text in ("a", "b"):
        cache.put((text, features, "stored", False), program)
    cache.get(("a", features, "stored", False))
    cache.put(("c", features, "stored", False), program)
    found = [cache.get((text, features, "stored", False)) is not None for text in "abc"]
    assert found == [True, False, True]


def test_the_cache_holds_a_bounded_amount_of_source():
    cache = _Cache(entries=100, characters=10)
    features = cel.CelFeatures()
    program = cel.compile("true")
    for text in ("aaaa", "bbbb", "cccc"):
        cache.put((text, features, "stored", False), program)
    assert cache.get(("aaaa", features, "stored", False)) is None
    assert cache.get(("cccc", features, "stored", False)) is program


def test_a_program_that_grows_out_of_bounds_is_stopped():
    def doubling(levels: int, start: str, step: str, end: str) -> str:
        text = f"cel.bind(v0, {start}, "
        for level in range(1, levels):
            text += f"cel.bind(v{level}, {step.replace('P', f'v{level - 1}')}, "
        return text + end.replace("P", f"v{levels - 1}") + ")" * levels

    with pytest.raises(cel.EvaluationError, match="cost limit exceeded"):
        cel.compile(doubling(60, "'xx'", "P + P", "P != ''")).evaluate(GPU)
    with pytest.raises(cel.EvaluationError, match="cost limit exceeded"):
        cel.compile("lists.range(100000000).size() > 0 || true").evaluate(GPU)
    for expression in (
        doubling(60, "[1]", "P + P", "P != []"),
        doubling(60, "[1]", "[P, P].flatten()", "P != []"),
        doubling(40, "'xx'", "P.replace('', P)", "P != ''"),
        doubling(60, "[1]", "[P, P]", "'%s'.format([P]) != ''"),
        doubling(60, "{1: 1}", "{P: P}", "P == P"),
        "optional.of(1)" + ".optMap(x, x)" * 60 + ".hasValue()",
    ):
        with pytest.raises(NotSupportedError):
            cel.compile(expression).evaluate(GPU)
    assert cel.compile(doubling(60, "[1]", "[P, P]", "P == P")).evaluate(GPU) is True


def test_threads_share_a_program():
    program = cel.compile(
        "[1, 2, 3].map(x, cel.bind(y, x * device.attributes['d'].n, y)).sum() == 6 * "
        "device.attributes['d'].n"
    )
    wrong: list[int] = []

    def work(n: int) -> None:
        device = cel.DeviceInput("d", {"n": DeviceAttribute(int_=n)})
        wrong.extend(n for _ in range(300) if not program.evaluate(device))

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


@pytest.mark.parametrize(
    "text",
    [
        "(" * 240 + "true" + ")" * 240,
        " && ".join(["true"] * 1200),
        "!" * 5000 + "true",
        "[" * 200 + "]" * 200 + " == " + "[" * 200 + "]" * 200,
        "dyn(" * 200 + "1" + ")" * 200 + " == 1",
    ],
)
def test_deep_and_long_expressions_are_no_problem(text):
    assert cel.compile(text).evaluate(GPU) is True


@pytest.mark.parametrize(
    "text", ["(" * 260 + "1" + ")" * 260, "a" + ".a" * 300, "+".join(["1"] * 1500)]
)
def test_nesting_beyond_the_limit_is_refused(text):
    with pytest.raises(cel.CompileError, match="recursion"):
        cel.compile(text)


def test_a_leading_dot_changes_no_estimate():
    text = 'device.attributes["d"].s.split("i").size() == 2'

    assert cel.compile(f".{text}").cost == cel.compile(text).cost
