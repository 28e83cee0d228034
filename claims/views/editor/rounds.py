"""One round of the editor: what was posted, applied, saved, checked and previewed."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from django.http import QueryDict

from allocator import snapshots
from claims.authoring import form, manifests
from claims.authoring.checking import Checked, checked
from claims.authoring.class_previews import class_preview
from claims.authoring.editing import Editing, edit
from claims.authoring.previewing import Preview, keystroke, previewed
from claims.authoring.reading import KINDS, claim_of
from claims.authoring.together import with_brought
from claims.models import Draft
from claims.queries.objects import row_of
from claims.services import drafts
from claims.views.editor.admin_access import AdminAccess
from claims.views.editor.answer import Answer, answer_of
from claims.views.editor.form import object_form
from claims.views.editor.helping import Helper, Lists, Offer
from claims.views.editor.pods import Pods, pods_of
from claims.views.editor.remarks import remarks_on
from claims.views.editor.shapes import ObjectForm
from claims.views.editor.writing import is_base
from dra.errors import ObjectError
from dra.objects import ResourceClaim
from dra.snapshot import Snapshot
from inventory.models import Cluster
from inventory.queries.served import newest_served
from inventory.selecting import Deadline
from web.doors import AnyUser

PREVIEW_SECONDS: Final = 1.0
CHANGES_SECONDS: Final = 2.0
_OURS: Final = frozenset(
    {
        "text",
        "doc",
        "revision",
        "page",
        "turn",
        "do",
        "touched",
        "source",
        "csrfmiddlewaretoken",
    }
)
_PAGE: Final = re.compile(r"[0-9a-f]{1,36}")


@dataclass(frozen=True, slots=True)
class Posted:
    """``fields`` are those that were touched, or all where nobody says which.

    ``page`` is the open page that asks and ``turn`` counts its requests; empty and 0
    without a script.
    """

    text: str
    index: int
    revision: int
    fields: Mapping[str, Sequence[str]]
    step: str
    page: str = ""
    turn: int = 0


def posted(data: QueryDict) -> Posted:
    """The form as a browser sends it, with script or without."""
    page = data.get("page", "")
    return Posted(
        text=data.get("text", ""),
        index=_number(data.get("doc", "")),
        revision=_number(data.get("revision", "")),
        fields=_fields(data),
        step=data.get("do", ""),
        page=page if _PAGE.fullmatch(page) else "",
        turn=_number(data.get("turn", "")),
    )


def _fields(data: QueryDict) -> dict[str, list[str]]:
    if data.get("source") == "text":
        return {}
    names = [name for name in data if name not in _OURS]
    if "touched" in data:
        try:
            touched = set(json.loads(data.get("touched", "")))
        except (ValueError, TypeError):
            touched = set()
        names = [name for name in names if name in touched]
    return {name: data.getlist(name) for name in names}


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 19 else 0


def edited(given: Posted) -> Editing:
    """The posted text with fields and step; steps on whole documents too."""
    word, _, rest = given.step.partition(" ")
    if word == "document" and rest in form.KINDS:
        first = edit(given.text, given.index, fields=given.fields)
        text = manifests.appended(first.text, form.blank(rest))
        found = edit(text, len(first.manifest.documents))
        return replace(found, focus="metadata.name")
    if word == "select":
        first = edit(given.text, given.index, fields=given.fields)
        return edit(first.text, _number(rest))
    if word == "remove-document":
        try:
            text = manifests.removed(given.text, _number(rest))
        except IndexError:
            text = given.text
        return edit(text, given.index)
    if word == "in":
        return _elsewhere(given, rest)
    step = given.step if word in form.STEPS else ""
    return edit(given.text, given.index, fields=given.fields, step=step)


def _elsewhere(given: Posted, rest: str) -> Editing:
    """A step on another document than the one that is shown, which stays so."""
    number, _, step = rest.partition(" ")
    first = edit(given.text, given.index, fields=given.fields)
    if step.partition(" ")[0] not in form.STEPS:
        return first
    known = {str(document.index) for document in first.manifest.documents}
    if number not in known:
        problem = "The document that this was about is gone. Look for changes again."
        return replace(first, problem=problem)
    changed = edit(first.text, _number(number), step=step)
    found = edit(changed.text, first.index)
    return replace(
        found, refused=first.refused, typed=first.typed, problem=changed.problem
    )


def saved(
    user: AnyUser,
    draft: Draft,
    editing: Editing,
    given: Posted,
    *,
    base: drafts.Base | None = None,
) -> drafts.SaveOutcome:
    """Keep the text of this round; ``base`` is another object that it replaces."""
    return drafts.save_draft(
        user,
        draft.pk,
        editing.text,
        revision=given.revision,
        title=title_of(editing),
        selected=editing.index,
        base=base,
        page=given.page,
        turn=given.turn,
    )


def title_of(editing: Editing) -> str:
    """What a list calls the draft."""
    objects = editing.manifest.documents
    if not objects:
        return "Empty draft"
    first = objects[0]
    name = "/".join(part for part in (first.namespace, first.name) if part)
    title = f"{first.kind or 'Document'} {name or 'without a name'}"
    more = len(objects) - 1
    return f"{title} and {more} more" if more else title


@dataclass(frozen=True, slots=True)
class Shown:
    """Everything that the page shows of a round."""

    editing: Editing
    form: ObjectForm | None
    lists: Lists
    constraint_offers: Sequence[Offer]
    answer: Answer
    pods: Pods
    derived: bool


def shown(
    cluster: Cluster,
    draft: Draft,
    editing: Editing,
    *,
    refused: Sequence[tuple[str, str]] = (),
    writable: Callable[[str], bool] | None = None,
) -> Shown:
    """Check and preview what the draft says now.

    ``refused`` is what the API server itself has said of fields, by path. ``writable``
    tells in which namespaces the user may write; None: nothing to tell.
    """
    documents = editing.manifest.documents
    current = snapshots.current(cluster)
    snapshot = with_brought(current, documents)
    features = cluster.features
    said = _checked(cluster, snapshot, editing, _old(cluster, draft, editing))
    preview = _preview(cluster, snapshot, draft, editing)
    pods = pods_of(
        cluster, snapshot, editing, preview, stop=keystroke((draft.pk, "pods"))
    )
    preview = preview or pods.preview
    of_class = class_preview(
        current, editing.value, features, stop=keystroke((draft.pk, "class"))
    )
    admin = AdminAccess(snapshot, writable)
    remarks = remarks_on(editing, said, admin, refused, pods.remarks)
    made = object_form(editing.value, remarks.by_path, editing.typed)
    helper = Helper(snapshot, features, editing.value, preview, writable, of_class)
    offers = helper.help(made) if made else ()
    return Shown(
        editing=editing,
        form=made,
        lists=helper.lists(),
        constraint_offers=offers,
        answer=answer_of(editing, said, preview, remarks, of_class, also=pods.also),
        pods=pods,
        derived=features.derived_attributes,
    )


def _old(cluster: Cluster, draft: Draft, editing: Editing) -> Any:
    """The object that the document would replace, as the mirror has it; else None."""
    document = editing.document
    if document is None:
        return None
    base = drafts.base_of(draft)
    if base is None or not is_base(document, base):
        return None
    row = row_of(cluster, base.kind, base.namespace, base.name)
    return None if row is None else row.raw


def _checked(
    cluster: Cluster, snapshot: Snapshot, editing: Editing, old: Any
) -> Checked | None:
    document = editing.document
    if document is None or document.problem is not None:
        return None
    value = document.value
    (served,) = newest_served(cluster, [value])
    return checked(cluster, snapshot, value, old=old, served=served, stop=Deadline())


def claim_shown(editing: Editing) -> ResourceClaim | None:
    """The claim that the shown document is or makes; None where none can be asked."""
    if editing.document is None or editing.document.kind not in KINDS:
        return None
    try:
        claim = claim_of(editing.value)
    except ObjectError:
        return None
    return claim if claim.spec.devices.requests else None


def _preview(
    cluster: Cluster, snapshot: Snapshot, draft: Draft, editing: Editing
) -> Preview | None:
    stop = keystroke(draft.pk)
    claim = claim_shown(editing)
    if claim is None:
        return None
    return previewed(cluster, snapshot, [claim], seconds=PREVIEW_SECONDS, stop=stop)
