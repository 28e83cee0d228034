"""Changes with which what found no place would have found one, each tried then."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Final, NamedTuple

import msgspec
from msgspec.structs import replace

from dra.allocation.explaining import Explanation
from dra.snapshot import Snapshot
from dra.whatif.placing import Placer, Refused, Unit, kind_of
from dra.whatif.result import Stranded
from dra.whatif.telling import asked_claims
from dra.whatif.world import World

MOST_HELPED: Final = 20
"""Items, and kinds of what had to move, for which changes are looked for."""


class Failure(NamedTuple):
    """What did not fit: the place in its list, and the cluster as it was then."""

    place: int
    unit: Unit
    snapshot: Snapshot


def what_helps(placer: Placer, failure: Failure) -> Explanation:
    """Why it did not fit, with changes of what is there: what the run itself has placed
    need not be waited for."""
    found = placer.explain(failure.unit, snapshot=failure.snapshot, relax=True)
    there = placer.world.before.claims
    kept = tuple(
        one
        for one in found.relaxations
        if one.code != "wait" or tuple(one.before.split("/", 1)) in there
    )
    return replace(found, relaxations=kept)


@dataclasses.dataclass(slots=True)
class _Kind:
    """The first of those that ask the same, how many others, and what helps."""

    refused: Refused
    snapshot: Snapshot | None
    others: int = 0
    explanation: Explanation | None = None


class Strandings:
    """What had to move and found no place, those together that ask the same."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.homeless = 0
        """Pods among them that lost none of their claims."""
        self._kinds: dict[bytes, _Kind] = {}

    def add(self, refused: Refused, *, only_its_node: bool) -> None:
        """Right after it was refused: the cluster is remembered as it is.

        ``only_its_node``: it lost none of its claims.
        """
        self.homeless += only_its_node
        key = msgspec.msgpack.encode((refused.verdict, refused.reason))
        if not refused.reason:
            key += kind_of(refused.unit)
        known = self._kinds.get(key)
        if known is not None:
            known.others += 1
            return
        helped = self._failing() < MOST_HELPED
        explained = refused.verdict == "does not fit" and not refused.reason and helped
        snapshot = self.world.snapshot if explained else None
        self._kinds[key] = _Kind(refused, snapshot)

    def failures(self) -> Iterator[Failure]:
        """Those for which changes may be looked for."""
        for place, kind in enumerate(self._kinds.values()):
            if kind.snapshot is not None:
                yield Failure(place, kind.refused.unit, kind.snapshot)

    def explain(self, failure: Failure, found: Explanation) -> None:
        list(self._kinds.values())[failure.place].explanation = found

    def reasons(self) -> dict[bytes, str]:
        """Why those wait that were explained, by :func:`kind_of`."""
        return {
            kind_of(kind.refused.unit): kind.explanation.sentence
            for kind in self._kinds.values()
            if kind.explanation is not None
        }

    def records(self) -> tuple[Stranded, ...]:
        return tuple(map(_record, self._kinds.values()))

    def _failing(self) -> int:
        return sum(kind.snapshot is not None for kind in self._kinds.values())


def _record(kind: _Kind) -> Stranded:
    unit, found = kind.refused.unit, kind.explanation
    names = [c.metadata for c in unit.claims]
    own = names[0].namespace if names else ""
    return Stranded(
        name=unit.name,
        namespace=unit.pod.namespace if unit.pod else own,
        pod=unit.pod.name if unit.pod else "",
        claims=tuple(f"{meta.namespace}/{meta.name}" for meta in names),
        verdict=kind.refused.verdict,
        reason=kind.refused.reason or (found.sentence if found else ""),
        others=kind.others,
        explanation=found,
        asked=asked_claims(unit) if found else (),
    )
