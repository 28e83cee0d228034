"""Answers are kept while nothing changes, and have a deadline."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from claims import explaining
from claims.explaining import answering
from dra.snapshot import Snapshot
from inventory.models import Cluster
from tests.allocator import builders as build

LAB = Cluster(pk=1, name="lab", version="v1.36.2")


@pytest.fixture(autouse=True)
def _nothing_kept() -> Iterator[None]:
    explaining.forget()
    yield
    explaining.forget()


@pytest.fixture
def world() -> Snapshot:
    return Snapshot.build(
        [*build.lab(), build.claim("many", build.request(count=3))], seq=7
    )


def test_an_answer_is_found_out_once_while_nothing_changes(world: Snapshot) -> None:
    subject = explaining.subject_of(world, "lab", "many")
    first = explaining.explained(LAB, world, subject)
    assert first.explanation.verdict == "hopeless"
    assert first.current
    assert explaining.explained(LAB, world, subject) is first


def test_a_change_is_a_new_answer(world: Snapshot) -> None:
    subject = explaining.subject_of(world, "lab", "many")
    first = explaining.explained(LAB, world, subject)
    later = world.refresh([build.slice_("n0", 4)], (), seq=8)
    second = explaining.explained(LAB, later, subject)
    assert second is not first
    assert second.explanation.verdict == "fits"
    assert second.explanation.seq == 8


def test_a_patient_asker_may_get_an_older_answer_that_says_so(
    world: Snapshot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answering, "PATIENCE", 1e9)
    subject = explaining.subject_of(world, "lab", "many")
    explaining.explained(LAB, world, subject)
    later = world.refresh([build.slice_("n0", 4)], (), seq=8)
    old = explaining.explained(LAB, later, subject, patient=True)
    assert (old.current, old.explanation.verdict) == (False, "hopeless")


def test_the_two_modes_are_two_questions(world: Snapshot) -> None:
    subject = explaining.subject_of(world, "lab", "many")
    documented = explaining.explained(LAB, world, subject)
    assert explaining.explained(LAB, world, subject, quirks="1.36") is not documented


def test_claims_without_uid_and_version_are_told_apart_by_name() -> None:
    """As in a dump that somebody wrote by hand."""
    claims = [build.claim("one"), build.claim("three", build.request(count=3))]
    for claim in claims:
        del claim["metadata"]["uid"], claim["metadata"]["resourceVersion"]
    world = Snapshot.build([*build.lab(), *claims], seq=7)
    verdicts = [
        explaining.explained(
            LAB, world, explaining.subject_of(world, "lab", name)
        ).explanation.verdict
        for name in ("one", "three")
    ]
    assert verdicts == ["fits", "hopeless"]


def test_a_deadline_that_is_over_leaves_it_open(world: Snapshot) -> None:
    subject = explaining.subject_of(world, "lab", "many")
    found = explaining.explained(LAB, world, subject, seconds=0.0).explanation
    assert not found.complete


def test_a_process_keeps_a_bounded_number_of_answers(
    world: Snapshot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answering, "KEPT", 3)
    subject = explaining.subject_of(world, "lab", "many")
    for number in range(10):
        cluster = Cluster(pk=number, name=f"c{number}", version="v1.36.2")
        explaining.explained(cluster, world, subject)
    assert len(answering._slots) == 3


def test_a_list_gets_the_sentence_without_the_search_for_changes(
    world: Snapshot,
) -> None:
    subject = explaining.subject_of(world, "lab", "many")
    found = explaining.sentence_of(LAB, world, subject, seconds=1.0)
    assert found.verdict == "hopeless"
    assert found.relaxations == ()
    assert (
        found.sentence == explaining.explained(LAB, world, subject).explanation.sentence
    )
