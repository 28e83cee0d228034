"""The question and the answer of validation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import msgspec

from dra.validation.causes import Cause
from dra.validation.gates import ALL_OF_1_36, Gates

type Labels = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Request:
    """A write that is only thought of.

    ``object`` is what would be sent: JSON of any kind, in any served version.
    ``update`` with the stored object in ``old`` (None: there is none), else a
    create. ``namespace`` is that of the address; None for a namespaced kind leaves
    it to the object. ``subresource`` is ``"status"`` or empty. ``namespaces`` holds
    the labels of those that exist; None means that nothing is known: then the
    namespace is taken to exist and to have no label, so admin access is refused.
    ``now`` is for defaults, None takes the clock's.
    """

    kind: str
    object: Any
    namespace: str | None = None
    update: bool = False
    old: Any = None
    subresource: str = ""
    features: Gates = ALL_OF_1_36
    namespaces: Mapping[str, Labels] | None = None
    now: datetime | None = None


class Refusal(msgspec.Struct, frozen=True):
    """An answer that is no list of causes, as for what cannot be decoded.

    ``code`` is the HTTP status (0: the connection is closed), ``field`` the path
    of the value where there is one.
    """

    code: int
    reason: str
    message: str
    field: str = ""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the API server would answer.

    ``object`` is what it would store and send back, in the version sent, as far as
    that can be known (no uid, no resourceVersion); None when it cannot be decoded.
    ``defaulted`` are the values in it that were not sent, by path. ``warnings`` are
    the server's own; advice beyond them is in :mod:`dra.validation.advice`.
    """

    accepted: bool
    causes: tuple[Cause, ...] = ()
    refusal: Refusal | None = None
    object: Any = None
    defaulted: Mapping[str, Any] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()

    @property
    def code(self) -> int:
        """The HTTP status: of a refusal, else 422 or 200."""
        if self.refusal is not None:
            return self.refusal.code
        return 200 if self.accepted else 422

    @property
    def problems(self) -> tuple[Cause, ...]:
        """Everything that is wrong as causes, so that all of it can be shown at fields."""
        if self.refusal is None:
            return self.causes
        return (Cause(self.refusal.field, self.refusal.reason, self.refusal.message),)
