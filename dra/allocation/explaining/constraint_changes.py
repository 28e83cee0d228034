"""Changes of the constraints of claims."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
from msgspec.structs import replace

from dra.allocation.constraints import concerns
from dra.allocation.counts import Standing
from dra.allocation.explaining.change import Change
from dra.allocation.explaining.surveying import Survey
from dra.allocation.request import Ask
from dra.cel.advice.words import joined
from dra.cel.likeness import likeness
from dra.objects import Constraint, ResourceClaim

MOST_ATTRIBUTES: Final = 4


class ConstraintChanges:
    """Each constraint is brought up once, by the first request that it binds."""

    def __init__(self, survey: Survey, claims: Sequence[ResourceClaim]) -> None:
        self.survey = survey
        self.claims = claims
        self._dropped: set[tuple[int, int]] = set()
        self._renamed: set[tuple[int, int]] = set()

    def without(self, ask: Ask) -> Iterator[Change]:
        """Without one of those that bind the request."""
        claim = self.claims[ask.claim_index]
        constraints = claim.spec.devices.constraints or []
        for number, constraint in self._new(ask, self._dropped):
            kind = (
                "matchAttribute" if constraint.match_attribute else "distinctAttribute"
            )
            name = constraint.match_attribute or constraint.distinct_attribute or ""
            kept = [c for n, c in enumerate(constraints) if n != number]
            yield Change(
                "drop constraint",
                "",
                f"{kind}: {name}{_bound(constraint)}",
                "",
                f"Drop the constraint {kind} {name}{_bound(constraint)}.",
                _with_constraints(claim, kept),
            )

    def on_others(self, ask: Ask) -> Iterator[Change]:
        """On another attribute, that more of the wanted devices have."""
        claim = self.claims[ask.claim_index]
        constraints = claim.spec.devices.constraints or []
        for number, constraint in self._new(ask, self._renamed):
            name = constraint.match_attribute
            if name is None:
                continue
            for other in self._shared_attributes(ask, name):
                changed = list(constraints)
                changed[number] = replace(constraint, match_attribute=other)
                yield Change(
                    "other attribute",
                    "",
                    f"matchAttribute: {name}{_bound(constraint)}",
                    other,
                    f"Match {other} instead of {name}{_bound(constraint)}.",
                    _with_constraints(claim, changed),
                )

    def _new(
        self, ask: Ask, known: set[tuple[int, int]]
    ) -> Iterator[tuple[int, Constraint]]:
        """Those that bind the request and that no request before has brought up."""
        constraints = self.claims[ask.claim_index].spec.devices.constraints or []
        for number, constraint in enumerate(constraints):
            place = ask.claim_index, number
            if place not in known and concerns(constraint, ask):
                known.add(place)
                yield number, constraint

    def _shared_attributes(self, ask: Ask, name: str) -> list[str]:
        """Attributes of all wanted free devices that are nearest to ``name``, and
        that say which devices belong together: some values are shared, not all."""
        rows = np.flatnonzero(self.survey.standing[ask] == Standing.FREE)
        known = []
        for read, column in self.survey.table.columns.items():
            if read.kind != "attributes" or f"{read.domain}/{read.identifier}" == name:
                continue
            codes = column.codes[rows]
            distinct = len(np.unique(codes))
            if len(rows) and codes.all() and 1 < distinct < len(rows):
                known.append(f"{read.domain}/{read.identifier}")
        wanted = name.rpartition("/")[2]
        return sorted(
            known,
            key=lambda other: (-likeness(wanted, other.rpartition("/")[2]), other),
        )[:MOST_ATTRIBUTES]


def _with_constraints(
    claim: ResourceClaim, constraints: list[Constraint]
) -> ResourceClaim:
    devices = replace(claim.spec.devices, constraints=constraints or None)
    return replace(claim, spec=replace(claim.spec, devices=devices))


def _bound(constraint: Constraint) -> str:
    """The requests of a constraint that is not on all of them."""
    names = constraint.requests
    return f" of {joined(names)}" if names else ""
