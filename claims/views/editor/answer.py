"""The live column: one sentence, then what is wrong, what matches and where it fits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from claims.authoring.checking import Checked
from claims.authoring.class_previews import ClassPreview
from claims.authoring.editing import Editing
from claims.authoring.previewing import Preview
from claims.authoring.reading import KINDS
from claims.views.editor.remarks import Remarks, shortened
from claims.views.verdicts import LOOKS, VerdictLook
from claims.views.why.page import Group, group_of

GROUPS_SHOWN: Final = 4
DEVICES_SHOWN: Final = 16
_WRONG: Final = VerdictLook("bad", "alert", "not valid")
_UNREAD: Final = VerdictLook("bad", "alert", "cannot be read")
_IMPOSSIBLE: Final = VerdictLook("bad", "alert", "cannot be allocated")
_VALID: Final = VerdictLook("ok", "check", "valid")
_PLAIN: Final = VerdictLook("muted", "info", "not checked")
_LINE: Final = 120


@dataclass(frozen=True, slots=True)
class Taken:
    """A device on the first node; ``consumed`` in words where it is a share."""

    request: str
    driver: str
    pool: str
    device: str
    consumed: str


@dataclass(frozen=True, slots=True)
class Answer:
    """``look`` and ``sentence`` first; ``also`` is what stands second."""

    look: VerdictLook
    sentence: str
    also: str
    remarks: Remarks
    checked: Checked | None
    preview: Preview | None
    of_class: ClassPreview | None
    devices: Sequence[Taken]
    more_devices: int
    groups: Sequence[Group]
    more_groups: Sequence[Group]
    asks_for_changes: bool

    @property
    def accepted(self) -> bool:
        return self.checked is not None and self.checked.accepted is True


def answer_of(
    editing: Editing,
    checked: Checked | None,
    preview: Preview | None,
    remarks: Remarks,
    of_class: ClassPreview | None = None,
    *,
    also: str = "",
) -> Answer:
    look, sentence, second = _verdict(editing, checked, preview, remarks)
    if of_class is not None and look is _VALID:
        sentence, second = of_class.sentence, f"{second} {of_class.consequence}"
    given = preview.explanation.given if preview else ()
    groups = [
        group_of(place, group)
        for place, group in enumerate(preview.explanation.groups if preview else ())
    ]
    return Answer(
        look=look,
        sentence=sentence,
        also=" ".join(part for part in (second, also) if part),
        remarks=remarks,
        checked=checked,
        preview=preview,
        of_class=of_class,
        devices=[
            Taken(
                each.request,
                *each.device,
                consumed=", ".join(f"{n}: {v}" for n, v in each.consumed.items()),
            )
            for each in given[:DEVICES_SHOWN]
        ],
        more_devices=max(0, len(given) - DEVICES_SHOWN),
        groups=groups[:GROUPS_SHOWN],
        more_groups=groups[GROUPS_SHOWN:],
        asks_for_changes=preview is not None
        and preview.explanation.verdict in ("full", "hopeless")
        # The pods of a text have changes of their own.
        and editing.document is not None
        and editing.document.kind in KINDS,
    )


def _verdict(
    editing: Editing,
    checked: Checked | None,
    preview: Preview | None,
    remarks: Remarks,
) -> tuple[VerdictLook, str, str]:
    document = editing.document
    if document is None:
        problem = editing.manifest.problem
        if problem is not None:
            return _UNREAD, f"The text cannot be read: {problem.message}", ""
        return _PLAIN, "The draft is empty.", "Write YAML, or begin with the form."
    if document.problem is not None:
        where = f" (line {document.problem.line})" if document.problem.line else ""
        return (
            _UNREAD,
            f"The text cannot be read{where}: {document.problem.message}",
            "",
        )
    if checked is not None and checked.accepted is False:
        return _WRONG, _refusal(checked), _beside_errors(preview)
    if checked is not None and checked.accepted is None and remarks.errors:
        # Nobody checks pods here but for what they say of claims.
        return _WRONG, remarks.errors[0].remark.text, _beside_errors(preview)
    second = checked.sentence if checked else ""
    if preview is not None:
        verdict = preview.explanation.verdict
        # Valid is what the API server takes, whatever becomes of it then.
        refused = verdict == "refused" and second
        look = _IMPOSSIBLE if refused else LOOKS[verdict]
        return look, preview.sentence, second
    if checked is not None and checked.accepted:
        return _VALID, second, ""
    return _PLAIN, second, ""


def _beside_errors(preview: Preview | None) -> str:
    """Where it would fit all the same; that it cannot be asked, the errors say better."""
    if preview is None or preview.explanation.verdict == "refused":
        return ""
    return preview.sentence


def _refusal(checked: Checked) -> str:
    """How many errors, and where the first one is; each stands in full below."""
    number = len(checked.problems)
    first = checked.problems[0] if checked.problems else None
    if first is None:
        return checked.sentence
    if number == 1:
        where = f"{shortened(first.field)}: " if first.field else ""
        text = first.message if len(first.message) <= _LINE else "see below"
        return f"The API server would refuse it: {where}{text}"
    where = f", the first at {shortened(first.field)}" if first.field else ""
    return f"The API server would refuse it: {number} errors{where}."
