from __future__ import annotations

import pytest

from cluster.yaml_documents import YamlError, documents


def test_values_are_those_that_json_has():
    [found] = documents(
        "time: 2026-01-15T08:00:00Z\nday: 2026-01-15\nminutes: 1:30\noperator: =\n"
        "count: 3\nbig: 0x10\nhalf: 0.5\nyes: true\nnothing: null\npower: 1e3\nclock: 1:30.5\n1: one\n"
    )
    assert found == {
        "time": "2026-01-15T08:00:00Z",
        "day": "2026-01-15",
        "minutes": "1:30",
        "operator": "=",
        "count": 3,
        "big": 16,
        "half": 0.5,
        "true": True,
        "nothing": None,
        "power": 1000.0,
        "clock": "1:30.5",
        "1": "one",
    }


def test_empty_documents_are_left_out():
    assert list(documents("---\n---\na: 1\n---\n# nothing\n---\nb: 2\n")) == [
        {"a": 1},
        {"b": 2},
    ]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a: &x [1]\nb: *x", "aliases"),
        ("&a [*a]", "aliases"),
        ("a: .nan", "finite"),
        ("a: .inf", "finite"),
        ("a: !!binary aGk=", "could not determine a constructor"),
        ("a: !!python/name:os.system x", "could not determine a constructor"),
        ("? {a: 1}\n: 2", "a key must be text"),
        ("a: 1\na: 2", "twice"),
        ("[" * 5000, "maximum nesting depth"),
        (b"\xff\xfe\x00", "UTF-8"),
        ("a: \x01", "UTF-8"),
    ],
)
def test_what_json_has_not_is_refused_with_a_reason(text, reason):
    with pytest.raises(YamlError, match=reason):
        list(documents(text))


def test_a_small_file_cannot_unfold_into_a_big_one():
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    for i in range(1, 12):
        lines.append(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]")
    with pytest.raises(YamlError, match="aliases"):
        list(documents("\n".join(lines)))


def test_an_error_never_quotes_the_file():
    with pytest.raises(YamlError) as caught:
        list(documents("token: hunter2-secret\n  bad: [hunter2-secret"))
    assert "hunter2" not in str(caught.value)
    assert (caught.value.line, caught.value.column) == (2, 6)
