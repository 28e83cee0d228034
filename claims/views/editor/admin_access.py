"""Admin access where the namespace does not allow it: what helps, as buttons."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from claims.authoring.checking import NAMESPACE
from claims.authoring.choices import namespace_choices
from claims.authoring.form import paths
from claims.authoring.form.subjects import kind_of
from claims.views.editor.shapes import Command, Remark, Repair
from dra.snapshot import Snapshot
from dra.validation.claims import ADMIN_LABEL

CODE: Final = "admin-access"
"""Of the advice."""
MOST_NAMESPACES: Final = 6
_FIELD: Final = re.compile(r"requests\[(\d+)\](?:\.exactly)?\.adminAccess$")


@dataclass(frozen=True, slots=True)
class AdminAccess:
    """What to offer in one cluster. ``writable`` tells in which namespaces the user may
    write; None: in all."""

    snapshot: Snapshot
    writable: Callable[[str], bool] | None = None

    def concerns(self, field: str) -> bool:
        return _FIELD.search(field) is not None

    def path_in(self, value: Any, field: str) -> str:
        """Where the field stands in the object: the API server names it in short."""
        kind, found = kind_of(value), _FIELD.search(field)
        if kind is None or found is None:
            return field
        request = (*kind.devices, "requests", int(found[1]))
        inner = paths.get(value, (*request, "exactly"))
        where = (*request, "exactly") if isinstance(inner, dict) else request
        return paths.text_of((*where, "adminAccess"))

    def remark(self, value: Any, path: str, tone: str, text: str) -> Remark:
        """What is said at ``path``, with all that helps."""
        return Remark(
            tone,
            text,
            step=f"set {path} null",
            fix="Take admin access out",
            repairs=tuple(self._moves(value)),
            command=self._command(value),
        )

    def _moves(self, value: Any) -> Iterator[Repair]:
        """Namespaces that allow it, in which the user may write."""
        here = _namespace_of(value)
        allowed = [
            choice.name
            for choice in namespace_choices(self.snapshot, self.writable)
            if choice.admin
            and choice.name != here
            and (self.writable is None or self.writable(choice.name))
        ]
        for name in allowed[:MOST_NAMESPACES]:
            step = f"set metadata.namespace {json.dumps(name)}"
            yield Repair(step, f"Put it into {name}")

    def _command(self, value: Any) -> Command | None:
        """For an administrator; None for a namespace that is not there."""
        name = _namespace_of(value)
        namespace = self.snapshot.namespaces.get(name)
        if namespace is None:
            return None
        line = f"kubectl label namespace {shlex.quote(name)} {ADMIN_LABEL}=true"
        if ADMIN_LABEL in (namespace.metadata.labels or {}):
            line += " --overwrite"
        return Command(f"An administrator may allow it in {name}:", line)


def _namespace_of(value: Any) -> str:
    meta = value.get("metadata") if isinstance(value, dict) else None
    name = meta.get("namespace") if isinstance(meta, dict) else None
    return name if isinstance(name, str) and name else NAMESPACE
