"""What is said about a draft, at its fields and at its places in the text."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from claims.authoring import form, manifests
from claims.authoring.checking import Checked, Problem
from claims.authoring.editing import Editing
from claims.authoring.form import paths
from claims.views.editor import derived
from claims.views.editor.admin_access import CODE, AdminAccess
from claims.views.editor.parts import SERVERS_OWN
from claims.views.editor.shapes import Remark, element_id
from dra.validation.advice import Advice

MOST_MARKS: Final = 100
_FIXES: Final = {"old-layout": "Put it right"}


def shortened(path: str) -> str:
    """A path without what all paths of requests begin with."""
    short = path.removeprefix("spec.").removeprefix("spec.").removeprefix("devices.")
    return short or path


@dataclass(frozen=True, slots=True)
class Said:
    """One remark with its path; ``field`` is its element, ``place`` its line."""

    path: str
    remark: Remark
    field: str
    place: str

    @property
    def short(self) -> str:
        return shortened(self.path)


@dataclass(frozen=True, slots=True)
class Remarks:
    """``by_path`` is for the form, ``errors`` and ``notes`` for the answer, ``marks``
    for the text."""

    by_path: dict[str, list[Remark]]
    errors: Sequence[Said]
    notes: Sequence[Said]
    marks: Sequence[dict[str, Any]]


def remarks_on(
    editing: Editing,
    checked: Checked | None,
    admin: AdminAccess,
    refused: Sequence[tuple[str, str]] = (),
    of_pods: Sequence[tuple[str, Remark]] = (),
) -> Remarks:
    """Everything that is said about the document that is shown.

    ``refused`` is what the API server itself said, by path; once is enough.
    ``of_pods`` is what is said of the pods that it starts, ``admin`` what helps where
    admin access is not allowed.
    """
    found = [*_all(editing, checked, admin), *of_pods]
    known = {(path, remark.text) for path, remark in found}
    found += [
        (path, Remark("bad", f"The API server says: {message}"))
        for path, message in refused
        if (path, message) not in known
    ]
    by_path: dict[str, list[Remark]] = {}
    for path, remark in found:
        by_path.setdefault(path, []).append(remark)
    places = {
        path: manifests.place_of(editing.text, editing.index, path) for path in by_path
    }
    said = [_said(path, remark, places[path]) for path, remark in found]
    return Remarks(
        by_path=by_path,
        errors=[each for each in said if each.remark.tone == "bad"],
        notes=[each for each in said if each.remark.tone != "bad"],
        marks=list(_marks(editing, found, places))[:MOST_MARKS],
    )


def _all(
    editing: Editing, checked: Checked | None, admin: AdminAccess
) -> Iterator[tuple[str, Remark]]:
    for path, why in editing.refused.items():
        yield path, Remark("bad", f"{why} The draft keeps what it had.")
    if checked is None:
        return
    yield from _of_a_stored_object(editing.value)
    not_allowed: set[str] = set()
    for problem in checked.problems:
        if admin.concerns(problem.field):
            path, text = admin.path_in(editing.value, problem.field), _message(problem)
            not_allowed.add(path)
            yield path, admin.remark(editing.value, path, "bad", text)
        elif derived.is_unused(problem.field, problem.message):
            text = _message(problem)
            yield problem.field, derived.remark(editing.value, problem.field, text)
        else:
            yield problem.field, Remark("bad", _message(problem))
    for path in checked.dropped:
        yield (
            path,
            Remark(
                "warn",
                "The API server of this version would leave this out: the feature is off.",
            ),
        )
    for warning in checked.warnings:
        # One about a version begins with the version's name.
        named = "/" in warning.partition(" ")[0]
        text = warning if named else f"{warning[:1].upper()}{warning[1:]}"
        yield _path_in(warning), Remark("warn", f"{text}.")
    for advice in checked.advice:
        if advice.code != CODE:
            yield advice.field, _advised(editing.value, advice)
            continue
        path = admin.path_in(editing.value, advice.field)
        if path not in not_allowed:
            yield path, admin.remark(editing.value, path, "warn", advice.message)


def _of_a_stored_object(value: Any) -> Iterator[tuple[str, Remark]]:
    """What ``kubectl get -o yaml`` prints and nobody can send to make a new object."""
    meta = value.get("metadata") if isinstance(value, dict) else None
    if not isinstance(meta, dict):
        return
    found = [f"metadata.{name}" for name in SERVERS_OWN if name in meta]
    if "status" in value:
        found.append("status")
    if found:
        names = ", ".join(path.removeprefix("metadata.") for path in found)
        step = f"sets metadata {json.dumps([(path, None) for path in found])}"
        text = f"This is an object as the API server keeps it: {names} are its own."
        yield "metadata", Remark("warn", text, step, "Take them away")


def _message(problem: Problem) -> str:
    """The server's own words, and where in an expression."""
    text = problem.message
    if problem.start is not None and problem.issues and "\n" not in text:
        text = f"{text} (at character {problem.start + 1})"
    return text


def _path_in(warning: str) -> str:
    """The path that a warning quotes, as in ``unknown field "spec.x"``, or means."""
    if " is deprecated in " in warning:
        return "apiVersion"
    _, _, rest = warning.partition('"')
    return rest.partition('"')[0] if warning.startswith("unknown field") else ""


def _advised(value: Any, advice: Advice) -> Remark:
    """With the step that follows the advice, where there is one."""
    step = fix = ""
    if advice.replacement is not None:
        step = _sets(value, advice.replacement)
        fix = _FIXES.get(advice.code, "Use this")
    elif advice.suggestion:
        text = advice.suggestion
        held = _at(value, advice.field)
        if isinstance(held, str) and advice.end:
            text = held[: advice.start] + text + held[advice.end :]
        if held is not None:
            step = f"set {advice.field} {json.dumps(text)}"
            fix = f"Write {advice.suggestion}"
    return Remark("warn", advice.message, step, fix)


def _sets(value: Any, new: Any) -> str:
    pairs = form.differences(value, new)
    return f"sets spec {json.dumps(pairs)}" if pairs else ""


def _at(value: Any, path: str) -> Any:
    try:
        return paths.get(value, paths.parse(path))
    except paths.PathError:
        return None


def _said(path: str, remark: Remark, place: manifests.Place | None) -> Said:
    return Said(
        path,
        remark,
        element_id(path) if path else "",
        f"{place.line}:{place.column}" if place else "",
    )


def _marks(
    editing: Editing,
    found: Sequence[tuple[str, Remark]],
    places: Mapping[str, manifests.Place | None],
) -> Iterator[dict[str, Any]]:
    problem = editing.manifest.problem
    if problem is not None:
        yield {
            "line": max(problem.line, 1),
            "column": max(problem.column, 1),
            "severity": "error",
            "message": problem.message,
        }
    for path, remark in found:
        place = places[path]
        if place is not None:
            yield {
                "line": place.line,
                "column": place.column,
                "endLine": place.end_line,
                "endColumn": place.end_column,
                "severity": "error" if remark.tone == "bad" else "warning",
                "message": remark.text,
            }
