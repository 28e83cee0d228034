"""Drafts: saving without losing what another tab saved, and how many there may be.

Every draft belongs to one user; a draft of somebody else is as good as none. What
can stand in the way of saving comes back as a value:

:class:`DraftSaved`    the draft as it is now
:class:`DraftChanged`  it was saved from elsewhere since; nothing was overwritten
:class:`DraftGone`     there is no such draft (any more)
:class:`DraftRefused`  too long, or too many; a sentence says which
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Final
from uuid import UUID

from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.utils import timezone

from claims.models import Draft
from inventory.models import Cluster
from web.doors import AnyUser

MAX_TEXT_BYTES: Final = 256 * 1024
"""Of UTF-8; what ``claims.authoring.manifests`` reads."""
MAX_DRAFTS: Final = 50
"""Per user and cluster."""
KEPT_FOR: Final = timedelta(hours=24)
"""A draft that was changed within this time never goes to make room for another."""
MAX_SELECTED: Final = 10_000
"""More documents than any text of that size can hold."""
_TITLE: Final = 200
_ORIGIN: Final = 400


@dataclass(frozen=True, slots=True)
class Base:
    """The object that a draft edits, as it was when editing began."""

    kind: str
    namespace: str
    name: str
    uid: str
    resource_version: str


@dataclass(frozen=True, slots=True)
class DraftSaved:
    draft: Draft


@dataclass(frozen=True, slots=True)
class DraftChanged:
    """``draft`` is the stored one: its text, and the revision to save over it."""

    draft: Draft

    @property
    def reason(self) -> str:
        return (
            "This draft was changed elsewhere, for example in another tab, after it was "
            "opened here. Nothing was overwritten: take over the stored text, or save "
            "yours over it."
        )


@dataclass(frozen=True, slots=True)
class DraftGone:
    @property
    def reason(self) -> str:
        return (
            "There is no such draft (any more): it was discarded, or made room for "
            "newer ones. Save the text as a new draft to keep it."
        )


@dataclass(frozen=True, slots=True)
class DraftRefused:
    """``field``: ``text``, ``selected``, or empty for the number of drafts."""

    reason: str
    field: str = ""


type SaveOutcome = DraftSaved | DraftChanged | DraftGone | DraftRefused


def drafts_of(user: AnyUser, cluster: Cluster | None = None) -> QuerySet[Draft]:
    """The user's drafts, last changed first; of every cluster or of one."""
    found = Draft.objects.filter(user_id=_id(user)).select_related("cluster")
    return found if cluster is None else found.filter(cluster=cluster)


def draft_of(user: AnyUser, draft_id: UUID | str) -> Draft | None:
    """One draft of the user. None: there is none, or it is somebody else's."""
    return drafts_of(user).filter(pk=draft_id).first()


def is_gone(draft_id: UUID | str) -> bool:
    """Whether nobody has such a draft (any more)."""
    return not Draft.objects.filter(pk=draft_id).exists()


def new_draft(
    user: AnyUser,
    cluster: Cluster,
    text: str = "",
    *,
    title: str = "",
    origin: str = "",
    selected: int = 0,
    base: Base | None = None,
) -> DraftSaved | DraftRefused:
    """Begin a draft.

    With :data:`MAX_DRAFTS` there already, the one that was left alone longest goes,
    if that is longer than :data:`KEPT_FOR`; if none was, the new one is refused.
    """
    if refused := _unfit(text, selected):
        return refused
    draft = Draft(
        user_id=_id(user),
        cluster=cluster,
        title=_line(title, _TITLE),
        text=text,
        origin=_line(origin, _ORIGIN),
        selected=selected,
        updated_at=timezone.now(),
    )
    if base is not None:
        draft.base_kind, draft.base_namespace = base.kind, base.namespace
        draft.base_name, draft.base_uid = base.name, base.uid
        draft.base_resource_version = base.resource_version
    with transaction.atomic():
        if refused := _make_room(user, cluster):
            return refused
        draft.save(force_insert=True)
    return DraftSaved(draft)


def save_draft(
    user: AnyUser,
    draft_id: UUID | str,
    text: str,
    *,
    revision: int,
    title: str | None = None,
    selected: int | None = None,
    base: Base | None = None,
    page: str = "",
    turn: int = 0,
) -> SaveOutcome:
    """Save over ``revision``, the one that was read. None leaves a column as it is.

    Saving once more what is stored already (as after an answer that was lost)
    counts as saved. So does saving over an earlier ``turn`` of the same open ``page``:
    a request that it gave up for a newer one was saved all the same, and the page never
    learned of its revision.
    """
    if refused := _unfit(text, selected or 0):
        return refused
    changes: dict[str, object] = {"text": text}
    if title is not None:
        changes["title"] = _line(title, _TITLE)
    if selected is not None:
        changes["selected"] = selected
    if base is not None:
        changes |= {
            "base_kind": base.kind,
            "base_namespace": base.namespace,
            "base_name": base.name,
            "base_uid": base.uid,
            "base_resource_version": base.resource_version,
        }
    known = Q(revision=revision)
    if page:
        known |= Q(page=page, turn__lt=turn)
    count = (
        drafts_of(user)
        .filter(known, pk=draft_id)
        .update(
            **changes,
            page=page,
            turn=turn,
            revision=F("revision") + 1,
            updated_at=timezone.now(),
        )
    )
    draft = draft_of(user, draft_id)
    if draft is None:
        return DraftGone()
    same = all(getattr(draft, column) == value for column, value in changes.items())
    return DraftSaved(draft) if count or same else DraftChanged(draft)


def discard(
    user: AnyUser, draft_id: UUID | str, *, revision: int | None = None
) -> bool:
    """Delete a draft; False when it is not there, or not of this ``revision`` any more."""
    found = Draft.objects.filter(user_id=_id(user), pk=draft_id)
    if revision is not None:
        found = found.filter(revision=revision)
    return found.delete()[0] > 0


def base_of(draft: Draft) -> Base | None:
    """The object that the draft edits; None for something new."""
    if not draft.base_kind:
        return None
    return Base(
        draft.base_kind,
        draft.base_namespace,
        draft.base_name,
        draft.base_uid,
        draft.base_resource_version,
    )


def _unfit(text: str, selected: int) -> DraftRefused | None:
    try:
        size = len(text.encode())
    except UnicodeEncodeError:
        return DraftRefused("The text holds half of a character pair.", "text")
    if size > MAX_TEXT_BYTES:
        return DraftRefused(
            f"The text has {size:,} bytes; a draft holds at most {MAX_TEXT_BYTES:,}. "
            "Split it into several drafts.",
            "text",
        )
    if "\0" in text:
        return DraftRefused("The text holds a NUL character; remove it.", "text")
    if not 0 <= selected <= MAX_SELECTED:
        return DraftRefused(
            f"There is no document {selected}: positions count from 0 to "
            f"{MAX_SELECTED}.",
            "selected",
        )
    return None


def _make_room(user: AnyUser, cluster: Cluster) -> DraftRefused | None:
    kept = list(
        Draft.objects.select_for_update()
        .filter(user_id=_id(user), cluster=cluster)
        .order_by("-updated_at", "pk")
        .values_list("pk", "updated_at")
    )
    surplus = kept[MAX_DRAFTS - 1 :]
    if not surplus:
        return None
    if any(at > timezone.now() - KEPT_FOR for _, at in surplus):
        hours = int(KEPT_FOR.total_seconds() // 3600)
        return DraftRefused(
            f"You have {len(kept)} drafts in the cluster {cluster.name}, all changed in "
            f"the last {hours} hours. Discard one that you no longer need first."
        )
    Draft.objects.filter(pk__in=[pk for pk, _ in surplus]).delete()
    return None


def _line(text: str, most: int) -> str:
    """One line that a column can hold."""
    printable = text.encode(errors="replace").decode().replace("\0", " ")
    return " ".join(printable.split())[:most]


def _id(user: AnyUser) -> int:
    """A stranger has no drafts."""
    return int(user.pk or 0)
