"""The table of reported situations names tests that exist, and leaves none out."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[2]
TABLE = ROOT / "docs" / "cases.md"
NUMBERS = (
    *("01", "02", "04", "05", "07", "08", "10", "11", "12", "14", "15", "16", "17"),
    *("19", "20", "21", "24", "25", "27", "29", "31", "32", "34", "35", "37", "38"),
    *("41", "42", "44", "46"),
)
"""Of the situations; one that comes gets the next and stays."""
IN_CODE = re.compile(r"`([^`]+)`")
FUNCTION = re.compile(r"^def (test_\w+)\(", re.MULTILINE)


class Case(NamedTuple):
    number: str
    situation: str
    reported: str
    tests: tuple[str, ...]


@cache
def cases() -> tuple[Case, ...]:
    lines = TABLE.read_text(encoding="utf-8").splitlines()
    rows = [line.strip("|").split(" | ") for line in lines if re.match(r"\| \d", line)]
    return tuple(
        Case(number.strip(), situation, reported, tuple(IN_CODE.findall(held)))
        for number, situation, reported, held in rows
    )


@cache
def functions_in(path: str) -> frozenset[str]:
    return frozenset(FUNCTION.findall((ROOT / path).read_text(encoding="utf-8")))


def test_every_situation_has_one_row() -> None:
    assert tuple(case.number for case in cases()) == NUMBERS


@pytest.mark.parametrize("number", NUMBERS)
def test_a_row_says_what_it_is_and_names_tests_that_exist(number: str) -> None:
    (case,) = (case for case in cases() if case.number == number)
    assert re.fullmatch(r"[A-Z].+\.", case.situation)
    assert case.reported
    assert case.tests
    assert len(case.tests) == len(set(case.tests))
    for named in case.tests:
        path, _, name = named.partition("::")
        assert (ROOT / path).is_file(), named
        assert name in functions_in(path), named


def test_every_test_written_for_reported_situations_is_in_a_row() -> None:
    named = {name for case in cases() for name in case.tests}
    for path in (
        "tests/bad_input/test_cases_from_the_field.py",
        "tests/bad_input/test_cases_on_pages.py",
        "tests/dra/allocation/explaining/test_situations.py",
        "tests/dra/allocation/test_situations.py",
    ):
        left_out = {f"{path}::{name}" for name in functions_in(path)} - named
        assert not left_out - NOT_REPORTED, path


NOT_REPORTED = {
    # It says how much room a share has; the situations ask for the device only.
    "tests/dra/allocation/explaining/test_situations.py"
    "::test_a_share_that_does_not_fit_says_what_is_left",
}
