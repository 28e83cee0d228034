"""How a write of one object can end. Objects are in v1 form.

=================  ==============================================================
``Created``        it is there
``Updated``        it says what was sent
``Deleted``        it is gone, or marked and waiting for its finalizers
``Invalid``        400, 413, 422: the object is wrong; causes with field paths
``AlreadyExists``  409 on create
``Changed``        409: somebody else was first; with the object as it is now
``Gone``           404: there is no such object (any more)
``Forbidden``      401, 403: who may not do what, and how to grant it
``NotServed``      the server has no such kind in a version that we can write
``Throttled``      429 to the end: nothing was written
``Unavailable``    no answer, or 503 to the end: nothing was written
``Unknown``        sent, and neither an answer nor a look afterwards told the end
=================  ==============================================================

Every one has a ``reason``: a sentence or two that also say what to do next.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

Json = dict[str, Any]

KINDS: Final = ("ResourceClaim", "ResourceClaimTemplate", "DeviceClass")
"""What can be written here."""
NOUNS: Final = {
    "ResourceClaim": "claim",
    "ResourceClaimTemplate": "template",
    "DeviceClass": "class",
}


@dataclass(frozen=True, slots=True)
class Expected:
    """The object as it was last seen; another one, or a newer one, is left alone."""

    uid: str
    resource_version: str


@dataclass(frozen=True, slots=True)
class Cause:
    """One thing that is wrong. ``field`` is a path in v1 form, or empty."""

    field: str
    message: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Created:
    """``confirmed``: the answer was lost, and a look afterwards found it as sent."""

    object: Json
    dry_run: bool = False
    confirmed: bool = False

    @property
    def reason(self) -> str:
        what = _the(self.object)
        if self.dry_run:
            return f"The API server would create {what}; nothing was written."
        if self.confirmed:
            return f"The connection broke, but {what} is there as it was sent."
        return f"Created {what}."


@dataclass(frozen=True, slots=True)
class Updated:
    """``changed`` is False when the object already was as sent."""

    object: Json
    dry_run: bool = False
    confirmed: bool = False
    changed: bool = True

    @property
    def reason(self) -> str:
        what = _the(self.object)
        if self.dry_run:
            return f"The API server would change {what}; nothing was written."
        if self.confirmed:
            return f"The connection broke, but {what} is as it was sent."
        return f"Changed {what}." if self.changed else f"Nothing to change in {what}."


@dataclass(frozen=True, slots=True)
class Deleted:
    """``object`` is its last state; ``waits_for`` the finalizers that hold it still."""

    object: Json
    dry_run: bool = False
    confirmed: bool = False
    waits_for: tuple[str, ...] = ()

    @property
    def reason(self) -> str:
        what = _the(self.object)
        if self.dry_run:
            return f"The API server would delete {what}; nothing was deleted."
        if self.waits_for:
            return (
                f"Marked {what} for deletion. It goes when its finalizers are removed: "
                f"{', '.join(self.waits_for)}."
            )
        if self.confirmed:
            return f"The connection broke, but {what} is gone."
        return f"Deleted {what}."


@dataclass(frozen=True, slots=True)
class Invalid:
    """``message`` is the server's own; ``causes`` may be empty when it named no field."""

    message: str
    causes: tuple[Cause, ...] = ()
    code: int = 422

    @property
    def reason(self) -> str:
        count = len(self.causes)
        if count > 1:
            return f"The API server refuses it: {count} things are wrong."
        if count == 1:
            cause = self.causes[0]
            where = f"{cause.field}: " if cause.field else ""
            return f"The API server refuses it: {where}{cause.message}"
        return f"The API server refuses it ({self.code}): {self.message}"


@dataclass(frozen=True, slots=True)
class AlreadyExists:
    kind: str
    namespace: str
    name: str

    @property
    def reason(self) -> str:
        what = named(self.kind, self.namespace, self.name)
        return (
            f"There is {what.replace('the ', 'a ', 1)} already. Choose another name, "
            "or edit the one that is there."
        )


@dataclass(frozen=True, slots=True)
class Changed:
    """Nothing was written. ``current`` is None when it could not be read.

    ``replaced``: the object that was seen is gone, and another has its name.
    """

    kind: str
    namespace: str
    name: str
    current: Json | None = None
    replaced: bool = False

    @property
    def reason(self) -> str:
        what = named(self.kind, self.namespace, self.name)
        if self.replaced:
            return (
                f"{_upper(what)} was deleted meanwhile, and a new one has taken its "
                "name. Nothing was done to the new one: look at it first."
            )
        return (
            f"{_upper(what)} was changed by somebody else meanwhile. Nothing was "
            "written: look at what it is now and try again."
        )


@dataclass(frozen=True, slots=True)
class Gone:
    kind: str
    namespace: str
    name: str

    @property
    def reason(self) -> str:
        what = named(self.kind, self.namespace, self.name)
        return f"{_upper(what)} is not there (any more). There is nothing to do."


@dataclass(frozen=True, slots=True)
class Forbidden:
    """``missing`` names the right in Kubernetes' words, empty when it is none of RBAC's.

    ``grant`` are shell commands for a cluster administrator, empty likewise.
    """

    reason: str
    missing: str = ""
    grant: str = ""


@dataclass(frozen=True, slots=True)
class NotServed:
    kind: str

    @property
    def reason(self) -> str:
        return (
            f"The API server does not serve {self.kind} in a version that the portal "
            "can write (resource.k8s.io v1, v1beta2, v1beta1). Enable Dynamic Resource "
            "Allocation in the cluster first."
        )


@dataclass(frozen=True, slots=True)
class Throttled:
    """``retry_after``: seconds that the server asked for, None when it did not say."""

    retry_after: float | None = None

    @property
    def reason(self) -> str:
        wait = "shortly"
        if self.retry_after:
            wait = f"in {self.retry_after:g} s"
        return (
            "The API server is overloaded (429) and kept refusing. Nothing was written; "
            f"try again {wait}."
        )


@dataclass(frozen=True, slots=True)
class Unavailable:
    why: str

    @property
    def reason(self) -> str:
        return f"{sentence(self.why)} Nothing was written; try again later."


@dataclass(frozen=True, slots=True)
class Unknown:
    """``current`` is the object as it was seen afterwards, if it was."""

    kind: str
    namespace: str
    name: str
    why: str
    current: Json | None = None

    @property
    def reason(self) -> str:
        what = named(self.kind, self.namespace, self.name)
        return (
            f"{sentence(self.why)} It is not known whether the write happened: look at "
            f"{what} before you try again."
        )


type Failure = Invalid | Forbidden | NotServed | Throttled | Unavailable | Unknown
"""What may end every write; the others depend on the verb."""
type CreateOutcome = Created | AlreadyExists | Failure
type UpdateOutcome = Updated | Changed | Gone | Failure
type DeleteOutcome = Deleted | Changed | Gone | Failure
type Outcome = CreateOutcome | UpdateOutcome | DeleteOutcome


def meta_of(obj: Json) -> Json:
    meta = obj.get("metadata")
    return meta if isinstance(meta, dict) else {}


def text_of(obj: Json, field: str) -> str:
    """A text of the metadata, empty when it is missing or something else."""
    value = meta_of(obj).get(field)
    return value if isinstance(value, str) else ""


def expected_of(obj: Json) -> Expected:
    """What to expect of an object that was just read."""
    return Expected(text_of(obj, "uid"), text_of(obj, "resourceVersion"))


def named(kind: str, namespace: str, name: str) -> str:
    """``the claim ml/train``."""
    where = f"{namespace}/{name}" if namespace else name
    return f"the {NOUNS.get(kind, kind)} {where}".rstrip()


def sentence(text: str) -> str:
    """With a capital first and a full stop last."""
    text = _upper(text.strip())
    return text if text.endswith((".", "!", "?")) else f"{text}."


def _the(obj: Json) -> str:
    kind = str(obj.get("kind") or "")
    return named(kind, text_of(obj, "namespace"), text_of(obj, "name"))


def _upper(text: str) -> str:
    return text[:1].upper() + text[1:]
