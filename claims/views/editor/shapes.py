"""What the form of an object is made of: fields, rows and cards, each named by its path."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from claims.authoring.form.subjects import Kind


@dataclass(frozen=True, slots=True)
class Repair:
    """A button: ``step`` is what it does, ``fix`` its word."""

    step: str
    fix: str


@dataclass(frozen=True, slots=True)
class Command:
    """A line for a shell, and who would type it."""

    text: str
    line: str


@dataclass(frozen=True, slots=True)
class Remark:
    """Something said about a field. ``step`` repairs it, ``fix`` is the button's word;
    ``repairs`` are other ways, ``command`` one outside of the portal."""

    tone: str
    text: str
    step: str = ""
    fix: str = ""
    repairs: Sequence[Repair] = ()
    command: Command | None = None

    @property
    def icon(self) -> str:
        return "info" if self.tone == "info" else "alert"


type Remarks = Mapping[str, Sequence[Remark]]


@dataclass(frozen=True, slots=True)
class Field:
    """``name`` is the path it is posted under, ``id`` the element's."""

    name: str
    value: str
    remarks: Sequence[Remark] = ()

    @property
    def id(self) -> str:
        return element_id(self.name)

    @property
    def wrong(self) -> bool:
        return any(remark.tone == "bad" for remark in self.remarks)


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of a list: where it is, and whether it can move."""

    path: str
    index: int
    first: bool
    last: bool

    @property
    def id(self) -> str:
        return element_id(self.path)


@dataclass(frozen=True, slots=True)
class Toleration:
    entry: Entry
    key: Field
    operator: Field
    value: Field
    effect: Field
    seconds: Field


@dataclass(slots=True)
class Selector:
    """``help`` is what a selector of a class matches, see ``helping``."""

    entry: Entry
    expression: Field
    help: Any = None


@dataclass(frozen=True, slots=True)
class Derived:
    entry: Entry
    name: Field
    expression: Field


@dataclass(frozen=True, slots=True)
class Amount:
    """``name`` of the capacity, and how much of it is asked."""

    name: str
    path: str
    amount: Field


@dataclass(slots=True)
class AskForm:
    """What one request, or one alternative of it, asks for.

    ``key`` is the name in results (``gpu``, ``gpu/best``). ``help`` is put in by
    ``claims.views.editor.helping``, as in a constraint.
    """

    key: str
    path: str
    name: Field | None
    device_class: Field
    mode: Field
    count: Field
    admin: Field | None
    selectors: Sequence[Selector]
    tolerations: Sequence[Toleration]
    amounts: Sequence[Amount]
    derived: Sequence[Derived]
    entry: Entry | None = None
    remarks: Sequence[Remark] = ()
    help: Any = None

    @property
    def id(self) -> str:
        return element_id(self.path)

    @property
    def all(self) -> bool:
        return self.mode.value == "All"

    @property
    def extras(self) -> bool:
        """Whether something stands behind "More"."""
        admin = self.admin is not None and bool(self.admin.value)
        return bool(self.tolerations or self.amounts or self.derived or admin)


@dataclass(frozen=True, slots=True)
class RequestForm:
    entry: Entry
    name: Field
    prioritized: bool
    asks: Sequence[AskForm]
    remarks: Sequence[Remark] = ()


@dataclass(frozen=True, slots=True)
class Named:
    """One request that a constraint or a config may be for."""

    name: str
    chosen: bool


@dataclass(slots=True)
class ConstraintForm:
    entry: Entry
    kind: str
    attribute: Field
    requests: str
    named: Sequence[Named]
    remarks: Sequence[Remark] = ()
    help: Any = None


@dataclass(frozen=True, slots=True)
class ConfigForm:
    entry: Entry
    driver: Field
    parameters: Field
    requests: str
    named: Sequence[Named]
    remarks: Sequence[Remark] = ()


@dataclass(frozen=True, slots=True)
class ObjectForm:
    """``devices`` is the path of requests and constraints; empty for a class.

    ``elsewhere`` are remarks on fields that the form does not show.
    """

    kind: Kind
    name: Field
    namespace: Field | None
    devices: str
    requests: Sequence[RequestForm] = ()
    constraints: Sequence[ConstraintForm] = ()
    configs: Sequence[ConfigForm] = ()
    selectors: Sequence[Selector] = ()
    extended: Field | None = None
    elsewhere: Sequence[tuple[str, Remark]] = ()
    hidden: int = 0

    @property
    def template(self) -> bool:
        return self.kind.name == "ResourceClaimTemplate"


def element_id(path: str) -> str:
    """An element's id for a path: letters, digits and hyphens."""
    return "f-" + re.sub(r"[^A-Za-z0-9]+", "-", path).strip("-")
