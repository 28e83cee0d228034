"""What is said of expressions that do not compile."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dra import cel
from dra.cel.advice import explain_error
from dra.errors import NotSupportedError
from tests.dra.cel.advice.clusters import real_drivers, repaired
from tests.dra.cel.conformance import cases

X = 'device.attributes["d"].x'
M = 'device.capacity["d"].m'


def _hints(expression, **options):
    with pytest.raises(cel.CompileError) as caught:
        cel.compile(expression)
    return explain_error(expression, caught.value, **options)


@pytest.mark.parametrize(
    ("expression", "repair"),
    [
        # what other languages write
        ('device.driver = "x"', 'device.driver == "x"'),
        ('device.driver === "x"', 'device.driver == "x"'),
        ('device.driver !== "x"', 'device.driver != "x"'),
        ('device.driver <> "x"', 'device.driver != "x"'),
        ('device.driver => "x"', 'device.driver >= "x"'),
        ('device.driver =< "x"', 'device.driver <= "x"'),
        ('device.driver =~ "x"', 'device.driver.matches("x")'),
        ('device.driver == "x" and true', 'device.driver == "x" && true'),
        ('device.driver == "x" OR true', 'device.driver == "x" || true'),
        ('device.driver == "x" & true', 'device.driver == "x" && true'),
        ('device.driver == "x" | true', 'device.driver == "x" || true'),
        ("not device.allowMultipleAllocations", "!device.allowMultipleAllocations"),
        (
            "device.allowMultipleAllocations == True",
            "device.allowMultipleAllocations == true",
        ),
        ('device.driver startsWith "x"', 'device.driver.startsWith("x")'),
        ('device.driver like "x"', 'device.driver.matches("x")'),
        ('device.driver is "x"', 'device.driver == "x"'),
        ('device.driver == "x";', ""),
        ('device.driver in ("a", "b")', 'device.driver in ["a", "b"]'),
        # quotes
        ("device.driver == gpu.nvidia.com", 'device.driver == "gpu.nvidia.com"'),
        (f"{X} == gpu", f'{X} == "gpu"'),
        (f"{X} == gpu-0 && true", f'{X} == "gpu-0" && true'),
        (f"{X} == 1g.5gb", f'{X} == "1g.5gb"'),
        (f"{M}.isLessThan(quantity(80Gi))", f'{M}.isLessThan(quantity("80Gi"))'),
        (
            "device.attributes[gpu.nvidia.com].x == 1",
            'device.attributes["gpu.nvidia.com"].x == 1',
        ),
        ("device.driver == “x”", 'device.driver == "x"'),
        ('device.driver == "x', 'device.driver == "x"'),
        ('device.driver.matches("\\d")', 'device.driver.matches(r"\\d")'),
        (f'{X} == "NVIDIA "A10" 24GB"', f'{X} == "NVIDIA \\"A10\\" 24GB"'),
        ('device.attributes["d"].`my-x` == 1', 'device.attributes["d"]["my-x"] == 1'),
        # brackets
        ('(device.driver == "x"', '(device.driver == "x")'),
        ('device.driver in ["x"', 'device.driver in ["x"]'),
        ('has(device.attributes["d"])', '"d" in device.attributes'),
        ('has(device.attributes["d"]["x"])', '"x" in device.attributes["d"]'),
        # names
        ('driver == "x"', 'device.driver == "x"'),
        ('attributes["d"].x == 1', f"{X} == 1"),
        ('device.attribute["d"].x == 1', f"{X} == 1"),
        ('devcie.driver == "x"', 'device.driver == "x"'),
        ('device.driver.startswith("x")', 'device.driver.startsWith("x")'),
        ('device.driver.toLowerCase() == "x"', 'device.driver.lowerAscii() == "x"'),
        ("len(device.driver) > 1", "size(device.driver) > 1"),
        # domains
        (
            'device.attributes["d/x"] == "a"',
            'device.attributes["d"].x == "a"',
        ),
        (
            'device.capacity.gpu.nvidia.com.memory.isLessThan(quantity("1"))',
            'device.capacity["gpu.nvidia.com"].memory.isLessThan(quantity("1"))',
        ),
        (f'{M}.value == quantity("1")', f'{M} == quantity("1")'),
        ('device.attributes["d"]', '"d" in device.attributes'),
        # quantities and versions
        (f'{M} > quantity("1Gi")', f'{M}.compareTo(quantity("1Gi")) > 0'),
        (f'{M} >= "79Gi"', f'{M}.compareTo(quantity("79Gi")) >= 0'),
        (f'{M} == "80Gi"', f'{M}.compareTo(quantity("80Gi")) == 0'),
        (f"{M} <= 80", f'{M}.compareTo(quantity("80")) <= 0'),
        (f'"80Gi" <= {M}', f'{M}.compareTo(quantity("80Gi")) >= 0'),
        (f'{M}.isGreaterThan("40Gi")', f'{M}.isGreaterThan(quantity("40Gi"))'),
        (f'{X} > semver("1.0.0")', f'{X}.compareTo(semver("1.0.0")) > 0'),
        (f'semver("1.0.0") < {X}', f'semver("1.0.0").compareTo({X}) < 0'),
        (f'{X}.isGreaterThan("v1.2")', f'{X}.isGreaterThan(semver("1.2.0"))'),
        (f"{M}.sign() > 0", f"sign({M}) > 0"),
        (f'{M} + 1 == quantity("2")', f'{M}.add(1) == quantity("2")'),
        (f'{M} - "1Gi" == quantity("2")', f'{M}.sub(quantity("1Gi")) == quantity("2")'),
        # the rest
        ('!device.driver == "x"', 'device.driver != "x"'),
        (f'{X} in "a"', f'{X} in ["a"]'),
    ],
)
def test_a_known_mistake_is_repaired(expression, repair):
    (found, *_) = _hints(expression)
    assert found.code == "does-not-compile"
    if repair:
        assert repaired(expression, found) == repair
        cel.compile(repair)


@pytest.mark.parametrize(
    ("expression", "said"),
    [
        ('device.name == "gpu-0"', "does not see the name of a device"),
        ('device.foo == "x"', "A device has driver, attributes, capacity and"),
        ("device.driver", 'compare it: device.driver == "…"'),
        ("device.driver && true", "neither true nor false"),
        ("device.driver != null", "Nothing of a device is null"),
        (f"{X}.exists(e, e == 1)", "DRAListTypeAttributes"),
        ('device.driver.matches("(?!a)")', "no look-ahead"),
        (f'device.driver in ["a", {X}]', "of one type"),
        ("device.driver.foo()", "There is no function foo()"),
        ('device.driver == "x" &&', "Something is missing after &&"),
        ('device.driver == "x" device.driver', "An operator such as && is missing"),
        ('device.driver == "x")', "This ) closes nothing"),
        ('if device.driver == "x" then true', "There is no if"),
        (f'{X} not in ["a"]', "!(… in …)"),
        ("", "Write a condition"),
        (f"{X} > quantity('1Gi')", "Only what is under device.capacity is a quantity"),
        ("x" * 10_300, "may have 10,240 bytes"),
        (f"{M}.isGreaterThan(true)", ""),
    ],
)
def test_what_cannot_be_repaired_is_explained(expression, said):
    messages = [warning.message for warning in _hints(expression)]
    assert any(said in message for message in messages) if said else messages == []


@pytest.mark.parametrize(
    ("expression", "repair"),
    [
        ('device.attributes.type == "gpu"', 'device.attributes["gpu.nvidia.com"].type'),
        ('device.attributes["mtu"] == 9000', 'device.attributes["dra.net"].mtu'),
        ('device.type == "gpu"', 'device.attributes["gpu.nvidia.com"].type'),
        (
            'device.capacity.memory == quantity("1Gi")',
            'device.capacity["gpu.nvidia.com"].memory',
        ),
    ],
)
def test_a_missing_domain_is_taken_from_the_cluster(expression, repair):
    (found,) = _hints(expression, table=real_drivers())
    assert found.suggestion == repair
    (without,) = _hints(expression)
    assert without.suggestion == ""


def test_every_issue_is_explained_in_its_place():
    expression = f"{M} > 1 || device.attributes.t == 1 || device.driver == foo"
    found = _hints(expression, table=real_drivers())
    places = {expression[warning.start : warning.end] for warning in found}
    assert places == {f"{M} > 1", "device.attributes.t", "foo"}


def test_lists_may_be_looped_over_where_the_gate_is_on():
    features = cel.CelFeatures(list_type_attributes=True)
    expression = f'{X}.exists(e, e == 1) && {M} > "1Gi"'
    with pytest.raises(cel.CompileError) as caught:
        cel.compile(expression, features=features)
    (found,) = explain_error(expression, caught.value, features=features)
    assert found.suggestion == f'{M}.compareTo(quantity("1Gi")) > 0'


def _explained(expression):
    try:
        cel.compile(expression)
    except cel.CompileError as error:
        return explain_error(expression, error, table=real_drivers())
    except NotSupportedError:
        pass
    return ()


def _check(expression, found):
    for warning in found:
        assert 0 <= warning.start <= warning.end <= len(expression)
        assert warning.message


BROKEN = [case.expression for case in cases() if case.compile_error is not None]


def test_no_refused_expression_is_too_much():
    for expression in BROKEN[::3]:
        _check(expression, _explained(expression))


pieces = st.sampled_from(
    [
        "device", ".driver", ".attributes", '["d"]', ".x", ".capacity", "(", ")", "[",
        "]", '"', "'", "=", "==", "&", "&&", "|", " and ", " in ", "not ", "1", "Gi",
        "1.5", "gpu", "-", "`a`", "“", "”", "has(", "\\", ",", "quantity(", "!", "<",
        ">", "?", ":", "\n", "ü", ".startsWith ", "true", "if ", "{", "}", ";",
    ]
)  # fmt: skip


@settings(deadline=None, max_examples=300)
@given(st.lists(pieces, max_size=14).map("".join))
def test_any_text_is_explained_or_not(expression):
    _check(expression, _explained(expression))
