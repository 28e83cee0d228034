"""Drafts: nobody overwrites another tab, nobody reads somebody else's, and there is an end."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from claims.models import Draft
from claims.services import drafts
from claims.services.drafts import (
    Base,
    DraftChanged,
    DraftGone,
    DraftRefused,
    DraftSaved,
)
from inventory.models import Cluster


@pytest.fixture
def cluster(db: None) -> Cluster:
    return Cluster.objects.create(name="lab", source="kubeconfig")


@pytest.fixture
def user(person: Callable[..., User]) -> User:
    return person("operator")


def begun(user: User, cluster: Cluster, text: str = "a: 1\n", **how: object) -> Draft:
    outcome = drafts.new_draft(user, cluster, text, **how)  # type: ignore[arg-type]
    assert isinstance(outcome, DraftSaved)
    return outcome.draft


def left_alone(draft: Draft, hours: float) -> None:
    at = timezone.now() - timedelta(hours=hours)
    Draft.objects.filter(pk=draft.pk).update(updated_at=at)


def test_a_draft_keeps_its_text_byte_for_byte_and_what_it_edits(
    user: User, cluster: Cluster
) -> None:
    base = Base("ResourceClaim", "ml", "train", "u-1", "17")
    text = "# ünïcode\r\na:   1\r\n\r\n"
    made = begun(user, cluster, text, title="  train\nit ", origin="claim", base=base)
    read = drafts.draft_of(user, made.pk)
    assert read is not None
    assert (read.text, read.title, read.revision) == (text, "train it", 1)
    assert drafts.base_of(read) == base
    assert drafts.base_of(begun(user, cluster)) is None


def test_saving_counts_the_revision_and_leaves_what_is_not_said(
    user: User, cluster: Cluster
) -> None:
    draft = begun(user, cluster, title="mine")
    outcome = drafts.save_draft(user, draft.pk, "a: 2\n", revision=1, selected=3)
    assert isinstance(outcome, DraftSaved)
    saved = outcome.draft
    assert (saved.text, saved.title, saved.selected, saved.revision) == (
        "a: 2\n",
        "mine",
        3,
        2,
    )


def test_the_second_of_two_tabs_learns_of_the_first_and_overwrites_nothing(
    user: User, cluster: Cluster
) -> None:
    draft = begun(user, cluster)
    drafts.save_draft(user, draft.pk, "first tab", revision=1)
    outcome = drafts.save_draft(user, draft.pk, "second tab", revision=1)
    assert isinstance(outcome, DraftChanged)
    assert (outcome.draft.text, outcome.draft.revision) == ("first tab", 2)
    assert "Nothing was overwritten" in outcome.reason
    over = drafts.save_draft(user, draft.pk, "second tab", revision=2)
    assert isinstance(over, DraftSaved)


def test_what_a_page_gave_up_is_not_somebody_elses_change(
    user: User, cluster: Cluster
) -> None:
    draft = begun(user, cluster)

    def save(text: str, page: str, turn: int) -> drafts.SaveOutcome:
        return drafts.save_draft(user, draft.pk, text, revision=1, page=page, turn=turn)

    assert isinstance(save("a", "one", 1), DraftSaved)
    assert isinstance(save("ab", "one", 2), DraftSaved)
    late = save("overtaken", "one", 1)
    assert isinstance(late, DraftChanged), "an older request that comes late"
    assert late.draft.text == "ab"
    assert isinstance(save("x", "two", 3), DraftChanged), "another page"
    drafts.save_draft(user, draft.pk, "by REST", revision=3)
    assert isinstance(save("abc", "one", 4), DraftChanged), "others came between"


def test_saving_the_same_once_more_after_a_lost_answer_is_no_conflict(
    user: User, cluster: Cluster
) -> None:
    draft = begun(user, cluster)
    for _ in range(2):
        outcome = drafts.save_draft(user, draft.pk, "b: 1", revision=1)
        assert isinstance(outcome, DraftSaved)
        assert outcome.draft.revision == 2


def test_the_drafts_of_somebody_else_are_not_there(
    user: User, cluster: Cluster, person: Callable[..., User]
) -> None:
    draft = begun(user, cluster)
    other = person("admin")
    assert drafts.draft_of(other, draft.pk) is None
    assert not drafts.drafts_of(other).exists()
    assert not drafts.discard(other, draft.pk)
    outcome = drafts.save_draft(other, draft.pk, "mine now", revision=1)
    assert isinstance(outcome, DraftGone)
    assert drafts.draft_of(user, draft.pk).text == "a: 1\n"  # type: ignore[union-attr]


def test_drafts_are_listed_last_changed_first_and_by_cluster(
    user: User, cluster: Cluster
) -> None:
    other = Cluster.objects.create(name="other", source="kubeconfig")
    old, new = begun(user, cluster, "1"), begun(user, cluster, "2")
    elsewhere = begun(user, other, "3")
    left_alone(old, 1)
    assert list(drafts.drafts_of(user, cluster)) == [new, old]
    assert list(drafts.drafts_of(user)) == [elsewhere, new, old]


def test_a_discarded_draft_is_gone_and_a_changed_one_is_not_discarded(
    user: User, cluster: Cluster
) -> None:
    draft = begun(user, cluster)
    drafts.save_draft(user, draft.pk, "changed", revision=1)
    assert not drafts.discard(user, draft.pk, revision=1)
    assert drafts.discard(user, draft.pk, revision=2)
    assert not drafts.discard(user, draft.pk)
    outcome = drafts.save_draft(user, draft.pk, "x", revision=2)
    assert isinstance(outcome, DraftGone)
    assert isinstance(drafts.save_draft(user, uuid4(), "x", revision=1), DraftGone)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("ü" * (drafts.MAX_TEXT_BYTES // 2 + 1), "bytes"),
        ("a: \0", "NUL"),
        ("a: \ud800", "character pair"),
    ],
    ids=["too long", "NUL", "surrogate"],
)
def test_a_text_that_cannot_be_kept_is_refused_in_words(
    user: User, cluster: Cluster, text: str, says: str
) -> None:
    refused = drafts.new_draft(user, cluster, text)
    assert isinstance(refused, DraftRefused)
    assert says in refused.reason
    assert refused.field == "text"
    draft = begun(user, cluster)
    assert isinstance(drafts.save_draft(user, draft.pk, text, revision=1), DraftRefused)


def test_a_title_that_a_column_cannot_hold_is_made_to_fit(
    user: User, cluster: Cluster
) -> None:
    draft = begun(user, cluster, title="x" * 300 + "\0\ud800", origin="y" * 500)
    assert (len(draft.title), len(draft.origin)) == (200, 400)


def test_the_draft_left_alone_longest_makes_room_for_the_fifty_first(
    user: User, cluster: Cluster
) -> None:
    made = [begun(user, cluster, str(n)) for n in range(drafts.MAX_DRAFTS)]
    for hours, draft in enumerate(reversed(made), start=25):
        left_alone(draft, hours)
    newest = begun(user, cluster, "one more")
    kept = set(drafts.drafts_of(user, cluster))
    assert kept == {*made[1:], newest}


def test_a_draft_of_the_last_day_never_makes_room(user: User, cluster: Cluster) -> None:
    for n in range(drafts.MAX_DRAFTS):
        begun(user, cluster, str(n))
    refused = drafts.new_draft(user, cluster, "one more")
    assert isinstance(refused, DraftRefused)
    assert refused.reason.startswith("You have 50 drafts in the cluster lab")
    assert drafts.drafts_of(user, cluster).count() == drafts.MAX_DRAFTS
    other = Cluster.objects.create(name="other", source="kubeconfig")
    begun(user, other)
