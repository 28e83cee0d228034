"""Every recorded answer of the API server, and laws over the objects of the record."""

from __future__ import annotations

import json

from dra.validation import Outcome, Request, validate
from dra.validation.command import answer
from tests.dra.validation.conformance import Case, cases

KNOWN_DIFFERENCES: frozenset[str] = frozenset()
"""Ids of cases that we answer differently; may only shrink."""

OTHER_WORDS = frozenset(
    {
        # Of several syntax errors only the first is reported, in our words.
        "rc-cel-deep-nesting",
        "rc-cel-jinja",
        "rc-cel-reserved-word",
        # Our message says how much too complex.
        "rc-cel-type-fn",
        # The object in the message has the API's field names, not Go's,
        # and it says what changed.
        "rs-attr-two",
        "rs-attr-four",
        "rs-attr-scalar-and-list",
        "rs-attr-list-two",
        "up-rc-count",
        "up-rc-class",
        "up-rc-addreq",
        "up-rct-spec",
        "up-rct-tmeta",
        "st-change-alloc",
    }
)
"""Ids of cases with the same causes in other words; may only shrink."""


def _pairs(case: Case, outcome: Outcome) -> bool:
    wanted = [cause[:2] for cause in case.causes]
    return wanted == [(cause.field, cause.reason) for cause in outcome.causes]


def test_we_answer_as_kubernetes_does():
    assert len(cases()) == 511
    differences = set()
    for case in cases():
        outcome = validate(case.request)
        if outcome.accepted != case.accepted or not _pairs(case, outcome):
            differences.add(case.id)
    assert differences == KNOWN_DIFFERENCES


def test_what_is_no_list_of_causes_has_the_code_of_kubernetes():
    others = [case for case in cases() if not case.accepted and case.code != 422]
    assert len(others) == 21
    for case in others:
        assert validate(case.request).code == case.code, case.id


def test_causes_have_the_words_of_kubernetes():
    differences = set()
    for case in cases():
        words = [cause.message for cause in validate(case.request).causes]
        if words != [message for _, _, message in case.causes]:
            differences.add(case.id)
    assert differences == OTHER_WORDS


def test_defaults_are_those_of_kubernetes():
    checked = 0
    for case in cases():
        if not case.accepted:
            continue
        found, wanted = dict(validate(case.request).defaulted), dict(case.defaulted)
        for path in wanted:
            if path.endswith("timeAdded"):
                assert found.pop(path)
        kept = {p: v for p, v in wanted.items() if not p.endswith("timeAdded")}
        assert found == kept, case.id
        checked += 1
    assert checked == 217


def test_the_command_says_the_same():
    for case in cases():
        said = answer(json.dumps(case.line))
        outcome = validate(case.request)
        assert said["accepted"] == outcome.accepted
        assert [(c["field"], c["reason"]) for c in said["causes"]] == [
            (cause.field, cause.reason) for cause in outcome.causes
        ]


def test_what_was_accepted_is_accepted_again_unchanged():
    for case in cases():
        first = validate(case.request)
        if not first.accepted or case.request.subresource:
            continue
        meta = {"name": "generated", **first.object["metadata"]}
        stored = {**first.object, "metadata": meta}
        again = validate(
            Request(
                case.request.kind,
                stored,
                case.request.namespace,
                update=True,
                old=stored,
                namespaces=case.request.namespaces,
            )
        )
        assert again.accepted, (case.id, again.problems)
        assert again.object == stored, case.id
