"""Namespaces in which a claim could be made."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from dra.snapshot import Snapshot
from dra.validation.claims import ADMIN_LABEL

MOST: Final = 5000
"""Namespaces in one answer."""
_OF_THE_SYSTEM: Final = "kube-"


@dataclass(frozen=True, slots=True)
class NamespaceChoice:
    """``admin``: claims in it may ask for admin access."""

    name: str
    admin: bool
    sentence: str


def namespace_choices(
    snapshot: Snapshot, writable: Callable[[str], bool] | None = None
) -> list[NamespaceChoice]:
    """The namespaces by name: ``writable`` ones first, those of Kubernetes itself last."""
    names = sorted(
        snapshot.namespaces,
        key=lambda name: (
            writable is not None and not writable(name),
            name.startswith(_OF_THE_SYSTEM),
            name,
        ),
    )
    return [_choice(snapshot, name) for name in names[:MOST]]


def _choice(snapshot: Snapshot, name: str) -> NamespaceChoice:
    labels = snapshot.namespaces[name].metadata.labels or {}
    admin = labels.get(ADMIN_LABEL) == "true"
    return NamespaceChoice(
        name=name,
        admin=admin,
        sentence="Claims here may ask for admin access."
        if admin
        else f'No admin access: the namespace lacks the label {ADMIN_LABEL}: "true".',
    )
