"""Whatever somebody types there is an answer, in time."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dra import cel
from dra.names import DeviceID
from inventory.selecting import Answer, NoSuchScope, Scope, answer, compiled
from tests.inventory.selecting.clusters import FEATURES, snapshot

BIG = 'device.attributes["gpu.example"].model == "big"'
IS_GPU = 'device.driver == "gpu.example"'


def ask(expression: str, **more: Any) -> Answer:
    return answer(snapshot(), expression, features=FEATURES, **more)


def test_an_answer_counts_the_devices_and_shows_the_first_of_each_kind() -> None:
    said = ask(f"{IS_GPU} && {BIG}")
    assert said.valid
    assert said.seq == 7
    assert said.cost is not None
    assert 0 < said.cost.high < said.cost_limit == 1_000_000
    assert not said.too_expensive
    assert said.explanation is not None
    found = said.explanation
    assert (found.devices, found.matched, found.false, found.error) == (5, 2, 2, 1)
    assert [term.text for term in found.term.terms] == [IS_GPU, BIG]
    assert [device.id for device in said.samples["true"]] == [
        DeviceID("gpu.example", "a", "gpu-0"),
        DeviceID("gpu.example", "b", "gpu-0"),
    ]
    assert [device.node for device in said.samples["true"]] == ["n1", "n2"]
    (failing,) = said.samples["error"]
    assert failing.id == DeviceID("gpu.example", "b", "gpu-1")
    assert failing.error == "no such key: model"
    assert said.incomplete == ""


def test_each_device_that_does_not_match_names_the_term_that_decided() -> None:
    said = ask(f"{IS_GPU} && {BIG}")
    assert [(d.id.device, d.why) for d in said.samples["false"]] == [
        ("nic-0", IS_GPU),
        ("gpu-1", BIG),
    ]
    assert [d.why for d in said.samples["error"]] == [BIG]
    assert {d.why for d in said.samples["true"]} == {""}


@pytest.mark.parametrize(
    ("expression", "why"),
    [
        (f"{IS_GPU} && (1 > 2 || false)", "1 > 2 || false"),
        (f"{IS_GPU} ? 1 > 2 : true", "1 > 2"),
        (f"!({IS_GPU})", ""),
        (f"true && !({IS_GPU})", f"!({IS_GPU})"),
        ("1 > 2", ""),
    ],
)
def test_the_deciding_term_is_as_small_as_it_can_be(expression: str, why: str) -> None:
    said = ask(expression, scope=Scope(driver="gpu.example"))
    assert {device.why for device in said.samples["false"]} == {why}


CONDITIONS = st.recursive(
    st.sampled_from(
        [
            BIG,
            IS_GPU,
            "true",
            "false",
            'has(device.attributes["gpu.example"].model)',
            'device.capacity["gpu.example"].memory.isGreaterThan(quantity("10Gi"))',
        ]
    ),
    lambda inner: st.one_of(
        st.lists(inner, min_size=2, max_size=3).map(" && ".join).map("({})".format),
        st.lists(inner, min_size=2, max_size=3).map(" || ".join).map("({})".format),
        inner.map("!({})".format),
        st.tuples(inner, inner, inner).map(lambda t: "({} ? {} : {})".format(*t)),
    ),
    max_leaves=8,
)


@given(CONDITIONS)
@settings(max_examples=60, deadline=None)
def test_the_deciding_term_alone_says_what_the_whole_says(expression: str) -> None:
    world = snapshot()
    said = answer(world, expression, features=FEATURES)
    table = world.devices()
    for outcome in ("false", "error"):
        for device in said.samples[outcome]:
            if not device.why or "…" in device.why:
                continue
            program = compiled(device.why, FEATURES).program
            assert program is not None
            row = table.ids.row(device.id)
            assert row is not None
            if outcome == "false":
                assert program.evaluate(table.device(row)) is False
            else:
                with pytest.raises(cel.EvaluationError, match=device.error):
                    program.evaluate(table.device(row))


def test_only_so_many_devices_are_shown_as_asked_for() -> None:
    said = ask("true", first=2)
    assert [d.id.device for d in said.samples["true"]] == ["nic-0", "gpu-0"]
    assert said.explanation is not None
    assert said.explanation.matched == 5
    assert not any(ask("true", first=0).samples.values())


def test_what_the_compiler_refuses_has_a_place_and_a_hint() -> None:
    said = ask("device.drivr == 'x'")
    assert not said.valid
    (issue,) = said.issues
    assert issue.message == "undefined field 'drivr'"
    assert (issue.line, issue.column) == (1, 7)
    assert said.explanation is None
    assert said.cost is None
    assert said.hints
    assert said.hints[0].suggestion == "driver"


def test_what_costs_too_much_is_refused_and_explained_all_the_same() -> None:
    expression = "[1,2,3,4,5,6,7,8,9,10]"
    for name in "abcdef":
        expression = f"[1,2,3,4,5,6,7,8,9,10].map({name}, {expression})"
    said = ask(f"size({expression}) > 0 || true")
    assert said.too_expensive
    assert not said.valid
    assert "exceeds cost limit" in said.issues[0].message
    assert said.explanation is not None


def test_a_text_that_is_too_long_is_not_compiled() -> None:
    said = ask("true || " * 2000 + "true")
    assert not said.valid
    assert "10240 bytes" in said.issues[0].message


@pytest.mark.parametrize(
    "expression",
    [
        "",
        " ",
        "\x00",
        "\ud800",
        '"\ud800" == device.driver',
        "(" * 300,
        "!" * 5000,
        "true" + " && true" * 1000,
        "💥" * 3000,
        "[" * 249 + "]" * 249,
        "a.b" * 900,
    ],
)
def test_hostile_text_is_answered(expression: str) -> None:
    said = ask(expression)
    assert said.valid is not bool(said.issues)
    said.expression.encode()


@given(st.text(max_size=60) | st.text("device.atribus[]()\"'=&|!?:<>0x .", max_size=80))
@settings(max_examples=150, deadline=None)
def test_any_text_is_answered(expression: str) -> None:
    said = ask(expression)
    assert said.valid is not bool(said.issues)


def test_the_answer_says_when_the_time_was_over() -> None:
    said = ask(BIG, deadline_seconds=0)
    assert said.valid
    assert said.explanation is None
    assert said.incomplete == (
        "It took longer than 0 seconds: 0 of 3 different combinations of values were "
        "evaluated."
    )


def test_counts_that_are_known_are_told_even_if_there_is_no_time_for_terms() -> None:
    world = snapshot()
    expression = f"{IS_GPU} && {BIG}"
    program = compiled(expression, FEATURES).program
    assert program is not None
    world.devices().select(program)
    said = answer(world, expression, features=FEATURES, deadline_seconds=0)
    assert said.incomplete.startswith(
        "The counts are right, but not how much each term"
    )
    assert said.explanation is not None
    found = said.explanation
    assert (found.devices, found.matched, found.false, found.error) == (5, 2, 2, 1)
    assert [(e.message, e.count, e.example.device) for e in found.errors] == [
        ("no such key: model", 1, "gpu-1")
    ]
    assert found.term.terms == ()


@pytest.mark.parametrize(
    ("scope", "devices"),
    [
        (Scope(), 5),
        (Scope(device_class="gpu"), 4),
        (Scope(driver="gpu.example"), 4),
        (Scope(driver="nobody"), 0),
        (Scope(node="n1"), 2),
        (Scope(node="nowhere"), 0),
        (Scope(pool="b"), 2),
        (Scope(state="in use"), 1),
        (Scope(state="free"), 4),
        (Scope(device_class="gpu", node="n1", state="free"), 1),
    ],
)
def test_a_scope_narrows_what_is_counted(scope: Scope, devices: int) -> None:
    said = ask("true", scope=scope)
    assert said.explanation is not None
    assert said.explanation.devices == devices
    assert len(said.samples["true"]) == devices


@pytest.mark.parametrize(
    ("scope", "field", "missing", "sentence"),
    [
        (Scope(device_class="gone"), "device_class", True, "no device class “gone”"),
        (Scope(device_class="never"), "device_class", False, "cannot be evaluated"),
        (Scope(state="tired"), "state", True, "no state “tired”"),
    ],
)
def test_a_scope_that_names_nothing_says_so(
    scope: Scope, field: str, missing: bool, sentence: str
) -> None:
    with pytest.raises(NoSuchScope, match=sentence) as refused:
        ask("true", scope=scope)
    assert refused.value.field == field
    assert refused.value.missing is missing
