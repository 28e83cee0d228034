"""Scenarios as text: what is read, and what is refused with its place."""

from __future__ import annotations

import pytest

from allocator.whatif import documents
from dra.whatif import Scenario, ScenarioError
from tests.allocator.whatif.conftest import copies, drain, scenario


@pytest.mark.parametrize("raw", [{}, drain("n1", "n2"), copies(3) | drain("n1")])
def test_what_is_written_reads_back_the_same(raw: dict[str, object]) -> None:
    asked = scenario(raw)
    assert documents.read_text(documents.as_yaml(asked)) == asked
    assert documents.read_text(documents.as_json(asked)) == asked


def test_an_empty_text_is_an_empty_scenario() -> None:
    assert documents.read_text(" \n") == Scenario()
    assert documents.as_yaml(Scenario()) == ""


def test_json_with_many_lines_and_yaml_in_braces_are_both_read() -> None:
    assert documents.read_text('{"policy":\t"spread"}').policy == "spread"
    assert documents.read_text("{policy: spread}").policy == "spread"


@pytest.mark.parametrize(
    ("text", "path", "words"),
    [
        ("edits: [{edit: drain, nodes: [1]}]", "edits[0].nodes[0]", "Expected"),
        ("edits: [{edit: explode}]", "edits[0].edit", "explode"),
        ("edit: []", "", "unknown field"),
        ("a: 1\n---\nb: 2\n", "", "one document"),
        ("a: [", "", "neither JSON nor YAML"),
        ("a: &x [1]\nb: *x", "", "aliases"),
        ("a: !!python/object:os.system x", "", "neither"),
        ("[" * 5000, "", "n"),
        ("a: \0", "", "NUL"),
        ("a: \ud800", "", "half of a character"),
        ("x" * (documents.MAX_TEXT_BYTES + 1), "", "bytes"),
        ("just words", "", "object"),
    ],
)
def test_anything_else_is_refused_with_its_place(
    text: str, path: str, words: str
) -> None:
    with pytest.raises(ScenarioError) as caught:
        documents.read_text(text)
    assert caught.value.path == path
    assert words in caught.value.reason
