"""Several objects of one text: all of them tried first, then created in their order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from claims.services import objects
from claims.services.objects import ReadOnly
from cluster.objects import Created, CreateOutcome
from inventory.models import Cluster
from web.doors import AnyUser

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Batch:
    """How it ended for each object, in the order of the text.

    None: not tried, because one before it failed. ``trial``: these are the answers of
    dry runs, and nothing was written, because that was asked for or one failed.
    """

    outcomes: tuple[CreateOutcome | ReadOnly | None, ...]
    trial: bool

    @property
    def failed(self) -> int | None:
        """The position of the first that did not succeed."""
        for position, outcome in enumerate(self.outcomes):
            if not isinstance(outcome, Created):
                return position
        return None

    @property
    def created(self) -> tuple[Created, ...]:
        """What exists in the cluster now."""
        if self.trial:
            return ()
        return tuple(one for one in self.outcomes if isinstance(one, Created))


def create_all(
    cluster: Cluster,
    user: AnyUser,
    values: Sequence[Json],
    *,
    namespace: str = "default",
    dry_run: bool = False,
) -> Batch:
    """Create each of ``values``; one that has no namespace of its own in ``namespace``.

    With several, a dry run of each comes first, and one that fails keeps all of them
    from being written. A failure after that ends it: what was created before stays.
    """

    def create(value: Json, *, dry: bool) -> CreateOutcome | ReadOnly:
        where = namespace_of(value, namespace)
        return objects.create(cluster, user, value, namespace=where, dry_run=dry)

    if dry_run or len(values) > 1:
        trial = Batch(tuple(create(value, dry=True) for value in values), trial=True)
        if dry_run or trial.failed is not None:
            return trial
    outcomes: list[CreateOutcome | ReadOnly | None] = []
    for value in values:
        outcomes.append(create(value, dry=False))
        if not isinstance(outcomes[-1], Created):
            break
    rest = [None] * (len(values) - len(outcomes))
    return Batch((*outcomes, *rest), trial=False)


def repeated(
    values: Sequence[Json], default: str = "default"
) -> tuple[int, int] | None:
    """The positions of an object and of the first one before it that has its name; None
    where each is named once. A dry run of each alone cannot see that."""
    seen: dict[tuple[object, str, object], int] = {}
    for position, value in enumerate(values):
        meta = value.get("metadata")
        name = meta.get("name") if isinstance(meta, dict) else None
        kind = value.get("kind")
        if not isinstance(name, str) or not name or not isinstance(kind, str):
            continue
        where = "" if kind == "DeviceClass" else namespace_of(value, default)
        first = seen.setdefault((kind, where, name), position)
        if first != position:
            return position, first
    return None


def namespace_of(value: Json, default: str) -> str:
    """Where ``value`` would be created: its own namespace before ``default``."""
    meta = value.get("metadata")
    found = meta.get("namespace") if isinstance(meta, dict) else None
    return found if isinstance(found, str) and found else default
