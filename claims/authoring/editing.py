"""One round of editing: the text as it came, fields and a step applied, the text after."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from claims.authoring import form, manifests
from claims.authoring.manifests import Document, Manifest
from claims.authoring.manifests.aligning import same

_UNSAYABLE: Final = (
    "This cannot be written as YAML: it holds characters that no text may have, or is "
    "nested too deeply. Nothing was changed."
)


@dataclass(frozen=True, slots=True)
class Editing:
    """``text`` after the round, and what it says.

    ``document`` is the one that the form shows, None where nothing can be read there.
    ``refused`` are fields of which no value could be made, by path, with a sentence;
    ``typed`` what stands in them. ``focus`` is the path of the field to fill in next,
    ``problem`` why a step could not be done.
    """

    text: str
    manifest: Manifest
    document: Document | None
    refused: Mapping[str, str] = field(default_factory=dict)
    typed: Mapping[str, str] = field(default_factory=dict)
    focus: str = ""
    problem: str = ""

    @property
    def index(self) -> int:
        return self.document.index if self.document else 0

    @property
    def value(self) -> Any:
        return self.document.value if self.document else None


def edit(
    text: str,
    index: int = 0,
    *,
    fields: Mapping[str, Sequence[str]] | None = None,
    step: str = "",
) -> Editing:
    """Read ``text`` and change its document ``index`` by fields, then by a step.

    Line ends become those of YAML. Never raises. A position behind the last document
    means the last one.
    """
    found = _read(text.replace("\r\n", "\n").replace("\r", "\n"), index)
    if found.document is None or found.document.problem is not None:
        return _unchanged(found) if fields or step else found
    value, refused = found.value, {}
    if fields:
        applied = form.with_fields(value, fields)
        value, refused = applied.value, dict(applied.refused)
    focus = problem = ""
    if step:
        try:
            result = form.done(value, step)
            value, focus = result.value, result.focus
        except form.StepError as error:
            problem = str(error)
    if not same(value, found.value):
        try:
            text = manifests.edited(found.text, found.index, value)
        except (ValueError, RecursionError):
            focus, problem = "", _UNSAYABLE
        else:
            found = _read(text, found.index)
    typed = {name: (fields or {})[name][-1] for name in refused}
    return Editing(
        found.text, found.manifest, found.document, refused, typed, focus, problem
    )


def _read(text: str, index: int) -> Editing:
    manifest = manifests.read(text)
    documents = manifest.documents
    document = documents[min(max(index, 0), len(documents) - 1)] if documents else None
    return Editing(text, manifest, document)


def _unchanged(found: Editing) -> Editing:
    return Editing(
        found.text,
        found.manifest,
        found.document,
        problem="The form cannot change a text that cannot be read. Repair the text "
        "first.",
    )
