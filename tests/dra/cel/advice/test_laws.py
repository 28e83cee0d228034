"""What warnings say is so: checked device by device."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from dra import cel
from dra.cel.advice import CODES, MOST, advise
from dra.cel.advice.asked import Asked
from dra.cel.devices import split_name
from dra.cel.reads import Read
from dra.cel.table import DeviceTable
from dra.errors import NotSupportedError
from tests.dra.cel.advice.clusters import device, repaired
from tests.dra.cel.conformance import cases

DOMAINS = ["d.example", "e.example", "nobody.example"]
READS = [
    Read(kind, domain, name)
    for kind, names in (("attributes", "xyvn"), ("capacity", "m"))
    for domain in DOMAINS
    for name in names
]

raws = st.sampled_from(["a", "A", "ab", 1, 2, True, False, "v:1.0.0", "v:2.1.0"])
devices = st.lists(
    st.builds(
        lambda driver, attributes, m: device(driver, attributes, **m),
        st.sampled_from(DOMAINS[:2]),
        st.dictionaries(st.sampled_from(["x", "y", "v", "e.example/x"]), raws),
        st.sampled_from([{}, {"m": "1Gi"}, {"m": "1000Mi"}]),
    ),
    min_size=1,
    max_size=12,
)


def path(read: Read) -> str:
    return f'device.{read.kind}["{read.domain}"].{read.identifier}'


def compare(read: Read, how: int) -> str:
    """A comparison of what is read, fitting or not."""
    if read.kind == "capacity":
        return (
            f'{path(read)}.compareTo(quantity("1Gi")) >= 0',
            f'{path(read)}.isLessThan(quantity("1000Mi"))',
            f'{path(read)} == quantity("1Gi")',
        )[how % 3]
    return (
        f'{path(read)} == "a"',
        f"{path(read)} == 1",
        f"{path(read)} > 1",
        f'{path(read)} in ["a", "b"]',
        f"{path(read)}",
        f'{path(read)} != "aB"',
        f'{path(read)}.startsWith("A")',
        f'{path(read)}.isGreaterThan(semver("1.5.0"))',
        f'"1.0.0" == {path(read)}',
    )[how % 9]


def guarded(read: Read, how: int, comparison: str) -> str:
    """The comparison, reached only by devices that have what is read."""
    operand = path(read).rsplit(".", 1)[0]
    key = f'"{read.identifier}"'
    return (
        f"(has({path(read)}) && {comparison})",
        f"({key} in {operand} && {comparison})",
        f"({comparison} && {key} in {operand})",
        f"(has({path(read)}) ? {comparison} : false)",
        f"(!has({path(read)}) || {comparison})",
        f"cel.bind(o, {operand}, {key} in o && {comparison})",
        f"({operand}[?{key}].hasValue() && {comparison})",
        f"({operand}.exists(k, k == {key}) && {comparison})",
    )[how % 8]


reads = st.sampled_from(READS)
numbers = st.integers(0, 71)
comparisons = st.builds(compare, reads, numbers)
terms = st.recursive(
    st.one_of(
        comparisons,
        st.builds(lambda d: f'device.driver == "{d}"', st.sampled_from(DOMAINS)),
        st.builds(lambda r: f"has({path(r)})", reads),
    ),
    lambda inner: st.one_of(
        st.builds(lambda a, b: f"({a} && {b})", inner, inner),
        st.builds(lambda a, b: f"({a} || {b})", inner, inner),
        st.builds(lambda a: f"!({a})", inner),
        st.builds(lambda a, b, c: f"({a} ? {b} : {c})", inner, inner, inner),
    ),
    max_leaves=5,
)
safe = st.builds(
    lambda read, a, b: guarded(read, a, compare(read, b)), reads, numbers, numbers
)
safe_terms = st.recursive(
    safe,
    lambda inner: st.one_of(
        st.builds(lambda a, b: f"({a} && {b})", inner, inner),
        st.builds(lambda a, b: f"({a} || {b})", inner, inner),
        st.builds(lambda a: f"!({a})", inner),
    ),
    max_leaves=4,
)


def outcomes(expression: str, found: list[cel.DeviceInput]) -> list[bool | str]:
    program = cel.compile(expression)
    answers: list[bool | str] = []
    for each in found:
        try:
            answers.append(program.evaluate(each))
        except cel.EvaluationError as error:
            answers.append(str(error))
    return answers


def publishes(each: cel.DeviceInput, read: Read) -> bool:
    named = each.attributes if read.kind == "attributes" else each.capacity
    return read[1:] in {split_name(name, each.driver) for name in named}


@settings(deadline=None, max_examples=200)
@given(safe_terms, devices)
def test_a_guarded_expression_is_never_told_of_a_missing_name(expression, found):
    said = advise(cel.compile(expression), DeviceTable.of(found))
    assert "missing" not in [warning.code for warning in said]
    assert not [w for w in said if "the selector fails" in w.message]


@settings(deadline=None, max_examples=300)
@given(terms, devices, st.data())
def test_every_failing_device_is_told_of_at_the_part_that_fails(
    expression, found, data
):
    table = DeviceTable.of(found)
    within = np.array(
        data.draw(st.lists(st.booleans(), min_size=len(found), max_size=len(found)))
    )
    asked = Asked(cel.compile(expression), table, within, None)
    answers = outcomes(expression, found)
    seen: list[int] = []
    for failure in asked.failures:
        site = asked.site_at.get(failure.node.id)
        for row in failure.rows.tolist():
            seen.append(row)
            assert answers[row] == failure.message
            if failure.message.startswith("no such key: "):
                assert site is not None
                assert site.form == "get"
                assert not publishes(found[row], site.read)
    expected = [
        row
        for row, answer in enumerate(answers)
        if within[row] and not isinstance(answer, bool) and row not in table.problems
    ]
    assert sorted(seen) == expected


@settings(deadline=None, max_examples=300)
@given(terms, devices)
def test_counts_are_true(expression, found):
    table = DeviceTable.of(found)
    program = cel.compile(expression)
    answers = outcomes(expression, found)
    errors = [answer for answer in answers if not isinstance(answer, bool)]
    said = advise(program, table)
    for warning in said:
        part = expression[warning.start : warning.end]
        assert warning.total == len(found)
        match warning.code:
            case "matches-nothing":
                assert True not in answers
            case "matches-everything":
                assert answers == [True] * len(found)
            case "always-true":
                assert outcomes(part, found) == [True] * len(found)
            case "always-false":
                assert outcomes(part, found) == [False] * len(found)
            case "missing":
                read = next(r for r in READS if path(r) == part)
                failing = [a for a in errors if a == f"no such key: {read.identifier}"]
                assert 0 < warning.devices <= len(failing)
                assert warning.example is not None
                row = int(warning.example.device)
                assert not publishes(found[row], read)
                assert answers[row] == f"no such key: {read.identifier}"
            case "unknown-name":
                read = next(r for r in READS if path(r) in part)
                assert not any(publishes(each, read) for each in found)
            case "unknown-domain":
                read = next(r for r in READS if path(r) in part)
                for other in READS:
                    if other[:2] == read[:2]:
                        assert not any(publishes(each, other) for each in found)
            case "mixed-types":
                read = next(r for r in READS if path(r) == part)
                having = sum(publishes(each, read) for each in found)
                assert 0 < warning.devices < having
    failed = [w for w in said if "stops with an error on" in w.message]
    assert sum(warning.devices for warning in failed) <= len(errors)


@settings(deadline=None, max_examples=300)
@given(comparisons, devices)
def test_what_no_device_satisfies_is_satisfied_by_none(expression, found):
    said = advise(cel.compile(expression), DeviceTable.of(found))
    answers = outcomes(expression, found)
    for warning in said:
        if warning.code in ("unknown-value", "near-miss") and "!=" not in expression:
            assert True not in answers
            assert warning.devices > 0
            read = next(r for r in READS if path(r) in expression)
            having = [each for each in found if publishes(each, read)]
            assert warning.devices <= len(having)
            assert warning.example is not None
            assert found[int(warning.example.device)] in having


@settings(deadline=None, max_examples=300)
@given(terms, devices)
def test_a_suggestion_compiles_and_a_default_lets_nobody_in(expression, found):
    answers = outcomes(expression, found)
    for warning in advise(cel.compile(expression), DeviceTable.of(found)):
        if not warning.suggestion:
            continue
        changed = outcomes(repaired(expression, warning), found)
        if warning.code == "missing":
            for before, after in zip(answers, changed, strict=True):
                assert isinstance(before, str) or before == after
                assert after is not True or before is True


def test_any_expression_gets_orderly_advice():
    found = [case.device for case in cases()[::150]]
    tables = {
        lists: DeviceTable.of(
            [*found, device("gpu.nvidia.com", {"type": "gpu"})], lists=lists
        )
        for lists in (False, True)
    }
    for case in cases()[::7]:
        if case.compile_error is not None:
            continue
        table = tables[case.features.list_type_attributes]
        try:
            program = cel.compile(
                case.expression, features=case.features, environment=case.age
            )
            said = advise(program, table)
        except NotSupportedError:
            continue
        assert len(said) <= MOST
        assert [w.code for w in said] == sorted(
            (w.code for w in said), key=list(CODES).index
        )
        for warning in said:
            assert 0 <= warning.start <= warning.end <= len(case.expression)
            assert 0 <= warning.devices <= warning.total <= len(table)
            assert warning.message
