"""The scenario that somebody builds: rows, text and sentences of the same thing."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import Any, Final

from allocator.whatif import documents
from allocator.whatif.kinds import TAGS, Section
from allocator.whatif.rows import Row, Typed, entries_of, rows_of
from allocator.whatif.wording import reason_of
from dra.whatif import Scenario, ScenarioError, of_scenario, read_scenario

type Json = dict[str, Any]

SAID: Final = 100
"""Sentences that are shown."""


@dataclass(frozen=True, slots=True)
class Problem:
    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class Built:
    """``scenario`` is None while something is wrong with it; ``problems`` say what.

    ``by_text``: the rows do not show all of it, or not as it was written, so the text
    counts whatever the rows say.
    """

    raw: Json
    scenario: Scenario | None
    rows: dict[Section, list[Row]]
    text: str
    sentences: tuple[str, ...]
    problems: tuple[Problem, ...]
    by_text: bool

    @property
    def mark(self) -> str:
        """Tells whether the text of the page was changed by hand, or counts anyway."""
        return "" if self.by_text else text_mark(self.text)

    @property
    def is_empty(self) -> bool:
        return not any(self.raw.get(section) for section in TAGS)

    @property
    def policy(self) -> str:
        return str(self.raw.get("policy") or "firstFit")

    @property
    def name(self) -> str:
        return str(self.raw.get("name") or "")


def text_mark(text: str) -> str:
    """Browsers send other line ends than they were given."""
    plain = text.replace("\r\n", "\n").strip()
    return hashlib.sha256(plain.encode(errors="replace")).hexdigest()[:16]


def built_of(raw: Any) -> Built:
    """From JSON, as an address or a saved scenario gives it."""
    return from_rows(Typed(raw if isinstance(raw, dict) else {}))


def from_rows(found: Typed) -> Built:
    """From what the fields of the form say."""
    problems, scenario = dict(found.problems), None
    try:
        scenario = read_scenario(found.raw)
    except ScenarioError as error:
        problems.setdefault(error.path, reason_of(error))
    if problems:
        scenario = None
    if scenario is None:
        text = documents.to_yaml(found.raw) if found.raw else ""
    else:
        text = documents.as_yaml(scenario)
    return _built(found, scenario, text, problems)


def from_text(text: str) -> Built:
    """From the text; one that cannot be read stays as it is."""
    try:
        raw = documents.plain(text)
        scenario = read_scenario(raw)
    except ScenarioError as error:
        known = _readable(text)
        problems = {error.path: reason_of(error)}
        built = _built(Typed(known, {}, problems), None, text, problems)
        return replace(built, by_text=True)
    return _built(Typed(raw), scenario, text, {})


def with_problem(built: Built, error: ScenarioError) -> Built:
    """The same with what a cluster had against it."""
    typed = Typed(built.raw, {}, {error.path: reason_of(error)})
    made = _built(typed, built.scenario, built.text, typed.problems)
    return replace(made, by_text=built.by_text)


def _readable(text: str) -> Json:
    try:
        raw = documents.plain(text)
    except ScenarioError:
        return {}
    return raw if isinstance(raw, dict) else {}


def _built(
    found: Typed, scenario: Scenario | None, text: str, problems: dict[str, str]
) -> Built:
    if scenario is not None:
        sentences = tuple(of_scenario(scenario))
    else:
        sentences = tuple(_each(found.raw))
    rows = rows_of(found.raw, Typed(found.raw, found.texts, problems))
    return Built(
        raw=found.raw,
        scenario=scenario,
        rows=rows,
        text=text,
        sentences=sentences[:SAID],
        problems=tuple(Problem(path, why) for path, why in problems.items()),
        by_text=any(
            len(entries_of(found.raw, section)) != len(rows[section])
            for section in TAGS
        ),
    )


def _each(raw: Json) -> list[str]:
    """Sentences of the entries that can be read by themselves."""
    said: list[str] = []
    for section in TAGS:
        entries = raw.get(section)
        for entry in entries[:SAID] if isinstance(entries, list) else ():
            try:
                said += of_scenario(read_scenario({section: [entry]}))
            except ScenarioError:
                continue
    return said
