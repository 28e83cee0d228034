"""Whether the API server would accept an object, and what else its author should know.

The rules are ``dra.validation``'s under the gates of the cluster's version; advice
looks at the devices of the snapshot besides. Knows no request and no text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from dra import cel
from dra.cel.cost import Range
from dra.cel.selection import Stop, Stopped
from dra.errors import NotSupportedError
from dra.snapshot import Snapshot
from dra.validation import Cause, Gates, Outcome, Request, validate
from dra.validation.advice import Advice, advise
from dra.validation.causes import NOT_SUPPORTED, REQUIRED, quoted
from dra.validation.kinds import RULES
from dra.validation.schema import NAMESPACED
from inventory.models import Cluster
from inventory.selecting import Deadline

type Json = dict[str, Any]

NAMESPACE: Final = "default"
"""Where an object goes that names no namespace, as with kubectl."""
_SHOWN: Final = 2
_UNKNOWN: Final = "unknown field "
"""How a warning of the API server begins that is an error for strict clients."""
_LINE: Final = 160


@dataclass(frozen=True, slots=True)
class Problem:
    """One error.

    ``field`` is a path as the API server writes it, "" for the whole object.
    ``issues`` are the places in the CEL expression at ``field``, in code points, and
    ``cost`` its estimate; empty and None where the field is no expression or is one
    without a place or cost.
    """

    field: str
    reason: str
    message: str
    issues: tuple[cel.Issue, ...] = ()
    cost: Range | None = None

    @property
    def start(self) -> int | None:
        """The first code point of the expression that is wrong."""
        return self.issues[0].start if self.issues else None

    @property
    def end(self) -> int | None:
        """The first one after that."""
        return self.issues[0].end if self.issues else None


_VERSIONLESS: Final = Problem(
    "apiVersion",
    REQUIRED,
    "Required value: kubectl and the portal send nothing without it, as resource.k8s.io/v1",
)
"""The API server itself would take the version of the address."""


@dataclass(frozen=True, slots=True)
class Checked:
    """What is known of one object.

    ``accepted`` is None for a kind that is not checked here; then there is no
    ``outcome``. ``dropped`` are the fields that the server would not keep because a
    feature is off in this version. ``converted`` is the object put right where its
    layout is that of an older version. ``incomplete`` is a sentence where the time
    was over before all advice was found. ``sentence`` is for people.
    """

    kind: str
    accepted: bool | None
    sentence: str
    problems: tuple[Problem, ...] = ()
    advice: tuple[Advice, ...] = ()
    dropped: tuple[str, ...] = ()
    outcome: Outcome | None = None
    converted: Any = None
    incomplete: str = ""

    @property
    def warnings(self) -> tuple[str, ...]:
        """The API server's own."""
        return () if self.outcome is None else self.outcome.warnings

    @property
    def defaulted(self) -> Mapping[str, Any]:
        """What the API server would add, by path; nothing when it refuses."""
        if self.outcome is None or not self.outcome.accepted:
            return {}
        added = self.outcome.defaulted.items()
        return {path: value for path, value in added if value not in _NOTHING}

    @property
    def notes(self) -> int:
        """How many things there are to know beside the errors."""
        return len(self.warnings) + len(self.advice) + len(self.dropped)


def checked(
    cluster: Cluster,
    snapshot: Snapshot,
    value: Any,
    *,
    namespace: str = "",
    old: Any = None,
    served: str = "",
    stop: Stop | None = None,
) -> Checked:
    """The answer to any JSON value.

    ``namespace`` counts where the object names none. ``old`` is the stored object
    that this would replace, None for a new one. ``served`` is the newest version that
    the cluster serves for its kind, empty where that is not known. ``stop`` None is a
    :class:`~inventory.selecting.Deadline`. Raises nothing.
    """
    kind = value.get("kind") if isinstance(value, dict) else None
    if not isinstance(kind, str) or not kind:
        return _without_kind(value)
    if kind not in RULES:
        return Checked(
            kind=kind,
            accepted=None,
            sentence=f"Objects of kind {kind[:_LINE]} are not checked here, only "
            f"{_listed(sorted(RULES))}.",
        )
    stop = stop or Deadline()
    return _checked(cluster, snapshot, value, kind, namespace, old, served, stop)


def gates_of(cluster: Cluster) -> Gates:
    """The gates by the cluster's version, those of 1.36 where that is none."""
    return cluster.gates


def _checked(
    cluster: Cluster,
    snapshot: Snapshot,
    value: Json,
    kind: str,
    namespace: str,
    old: Any,
    served: str,
    stop: Stop,
) -> Checked:
    gates, place = gates_of(cluster), _namespace(value, kind, namespace)
    request = Request(
        kind,
        value,
        namespace=place or None,
        update=old is not None,
        old=old,
        features=gates,
        namespaces=_namespaces(snapshot),
    )
    outcome = validate(request)
    advice, incomplete = _advice(value, snapshot, place, gates, served, stop)
    problems = tuple(_problem(cause, value, gates) for cause in outcome.problems)
    accepted = outcome.accepted
    if accepted and not value.get("apiVersion"):
        accepted, problems = False, (_VERSIONLESS,)
    dropped = tuple(_dropped_of(value, outcome))
    converted = next((a.replacement for a in advice if a.replacement is not None), None)
    found = Checked(
        kind=kind,
        accepted=accepted,
        sentence="",
        problems=problems,
        advice=advice,
        dropped=dropped,
        outcome=outcome,
        converted=converted,
        incomplete=incomplete,
    )
    return _with_sentence(found)


def _advice(
    value: Json,
    snapshot: Snapshot,
    namespace: str,
    gates: Gates,
    served: str,
    stop: Stop,
) -> tuple[tuple[Advice, ...], str]:
    """The advice, and a sentence where the time was over first."""
    try:
        found = advise(
            value,
            snapshot,
            namespace=namespace,
            features=gates,
            served=served,
            stop=stop,
        )
    except Stopped as stopped:
        why = stop.sentence(stopped) if isinstance(stop, Deadline) else ""
        return (), f"Not all advice is known. {why}".rstrip()
    return found, ""


# --- where the object goes ---------------------------------------------------------------


def _namespace(value: Json, kind: str, namespace: str) -> str:
    """The namespace of the address; "" for a kind without, or where the object's own
    is no text, which validation tells."""
    if kind not in NAMESPACED:
        return ""
    meta = value.get("metadata")
    own = meta.get("namespace") if isinstance(meta, dict) else None
    if own and not isinstance(own, str):
        return ""
    return own or namespace or NAMESPACE


def _namespaces(snapshot: Snapshot) -> Mapping[str, Mapping[str, str]] | None:
    """Labels by namespace; None where no namespace can be read at all.

    Every cluster has ``default``; a dump may lack it.
    """
    if not snapshot.namespaces:
        return None
    found = {
        name: namespace.metadata.labels or {}
        for name, namespace in snapshot.namespaces.items()
    }
    return {NAMESPACE: {}} | found


# --- errors at their fields -------------------------------------------------------------


def _without_kind(value: Any) -> Checked:
    if not isinstance(value, dict):
        problem = Problem("", NOT_SUPPORTED, "An object is expected, a map of fields.")
    else:
        problem = Problem(
            "kind",
            REQUIRED,
            f"Required value: say what it is, one of {_listed(sorted(RULES))}.",
        )
    return _with_sentence(Checked("", accepted=False, sentence="", problems=(problem,)))


def _problem(cause: Cause, value: Json, gates: Gates) -> Problem:
    """The cause, with its places in the expression where it is one of an expression."""
    plain = Problem(cause.field, cause.reason, cause.message)
    if not cause.field.endswith(".expression"):
        return plain
    text = _at(value, cause.field)
    if not isinstance(text, str):
        return plain
    issues: tuple[cel.Issue, ...] = ()
    cost: Range | None = None
    try:
        program = cel.compile(
            text,
            features=gates.cel,
            environment="new",
            derived=".derivedAttributes[" in cause.field,
        )
        cost = program.cost
    except cel.CompileError as error:
        issues = error.issues
    except NotSupportedError:
        return plain
    return Problem(cause.field, cause.reason, cause.message, issues, cost)


_STEP: Final = re.compile(r"\[([^\]]*)\]|\.?([^.\[]+)")


def _at(value: Any, path: str) -> Any:
    """The value at a path, None where there is none.

    In v1beta1, details have no ``exactly`` around them, but the API server names it.
    """
    for index, name in _STEP.findall(path):
        if isinstance(value, list):
            place = int(index) if index.isdecimal() else len(value)
            value = value[place] if place < len(value) else None
        elif isinstance(value, dict):
            key = index or name
            if key == "exactly" and key not in value:
                continue
            value = value.get(key)
        else:
            return None
    return value


# --- what the server leaves out ---------------------------------------------------------


def _dropped_of(value: Json, outcome: Outcome) -> Iterator[str]:
    """Fields of the spec that would not be stored, unknown ones aside: these are
    among the server's warnings."""
    if isinstance(outcome.object, dict):
        unknown = set(outcome.warnings)
        for path in _dropped(value.get("spec"), outcome.object.get("spec"), "spec"):
            if f"unknown field {quoted(path)}" not in unknown:
                yield path


def _dropped(sent: Any, stored: Any, path: str) -> Iterator[str]:
    if isinstance(sent, dict) and isinstance(stored, dict):
        for name, value in sent.items():
            if name in stored:
                yield from _dropped(value, stored[name], f"{path}.{name}")
            elif value not in _NOTHING:
                yield f"{path}.{name}"
    elif isinstance(sent, list) and isinstance(stored, list):
        for index, (before, after) in enumerate(zip(sent, stored, strict=False)):
            yield from _dropped(before, after, f"{path}[{index}]")


_NOTHING: Final[tuple[Any, ...]] = (None, "", 0, False, [], {})
"""Values that say no more than leaving the field out."""


# --- words ---------------------------------------------------------------------------------


def _with_sentence(found: Checked) -> Checked:
    return replace(found, sentence=_sentence(found))


def _sentence(found: Checked) -> str:
    if found.accepted:
        known = _count(found.notes, "thing") if found.notes else ""
        text = f"The API server would accept it{f'; {known} to know' if known else ''}."
        unknown = sum(warning.startswith(_UNKNOWN) for warning in found.warnings)
        if unknown:
            text += (
                f" It has {_count(unknown, 'field')} that nobody would read: kubectl "
                "and the portal ask the API server to refuse it for that."
            )
        return text
    shown = "; ".join(_line(problem) for problem in found.problems[:_SHOWN])
    more = len(found.problems) - _SHOWN
    text = f"{_count(len(found.problems), 'error')}: {shown}"
    if more > 0:
        text += f"; and {more:,} more"
    text = f"{text.rstrip('.')}."
    if found.converted is not None:
        text += " The fields are those of an older version: take the converted object."
    return text


def _line(problem: Problem) -> str:
    """The field and the first line of what is wrong; of an expression its first issue."""
    message = problem.issues[0].message if problem.issues else problem.message
    line = message.strip().split("\n", 1)[0]
    if len(line) > _LINE:
        line = f"{line[: _LINE - 1]}…"
    return f"{problem.field}: {line}" if problem.field else line


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _listed(names: Sequence[str]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}"
