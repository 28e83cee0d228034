"""The smallest single changes with which a claim would fit, each proved.

A change is proved by asking the engine about the changed claim or cluster. What is
tried first is what the survey says is nearest; nothing is offered unproved.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from dra.allocation.explaining.change import Change
from dra.allocation.explaining.changes import Changes
from dra.allocation.explaining.explanation import Relaxation
from dra.allocation.explaining.surveying import Survey
from dra.allocation.outcome import Fits
from dra.allocation.request import Ask
from dra.cel.selection import Stop
from dra.errors import DRAError
from dra.objects import ResourceClaim, write
from dra.snapshot import Snapshot

MOST_TRIED: Final = 40
"""Changes that are proved at most."""
MOST_OF_A_KIND: Final = 8

type Prove = Callable[[Snapshot, Sequence[ResourceClaim]], str]
"""The first node on which changed claims fit a changed cluster; empty: none."""


class Relaxing:
    """Looks for changes of the claims of one survey that did not fit."""

    def __init__(
        self,
        survey: Survey,
        claims: Sequence[ResourceClaim],
        prove: Prove,
        stop: Stop | None,
    ) -> None:
        self.survey = survey
        self.claims = claims
        self.prove = prove
        self.stop = stop
        self.complete = True
        self._tried = 0

    def find(self) -> list[Relaxation]:
        """Proved changes, the least ones first."""
        changes = Changes(self.survey, self.claims, self._is_enough, self.stop)
        found: list[Relaxation] = []
        for ask in self.survey.claims:
            for of_kind in changes.of(ask):
                found += self._proved(ask, of_kind)
        return _once(found)

    def _is_enough(self, place: int, claim: ResourceClaim) -> bool:
        claims = list(self.claims)
        claims[place] = claim
        return bool(self.prove(self.survey.question.snapshot, claims))

    def _proved(self, ask: Ask, changes: Iterator[Change]) -> Iterator[Relaxation]:
        for number, change in enumerate(changes):
            if self._tried >= MOST_TRIED or (self.stop is not None and self.stop()):
                self.complete = False
                return
            if number >= MOST_OF_A_KIND:
                return
            self._tried += 1
            claims = list(self.claims)
            if change.claim is not None:
                claims[ask.claim_index] = change.claim
            node = self.prove(change.snapshot or self.survey.question.snapshot, claims)
            if node:
                yield Relaxation(
                    code=change.code,  # type: ignore[arg-type]  # one of the codes
                    claim=ask.claim_index,
                    request=ask.result_name,
                    before=change.before,
                    after=change.after,
                    node=node,
                    sentence=change.sentence,
                    spec=None if change.claim is None else write(change.claim.spec),
                )


def _once(found: Sequence[Relaxation]) -> list[Relaxation]:
    """Each change once: requests share the constraints of their claim."""
    known: dict[tuple[object, ...], Relaxation] = {}
    for relaxation in found:
        of_claim = relaxation.code in ("drop constraint", "other attribute", "wait")
        key = (
            relaxation.code,
            relaxation.claim,
            relaxation.before,
            relaxation.after,
            "" if of_claim else relaxation.request,
        )
        known.setdefault(key, relaxation)
    return list(known.values())


def prover(
    fits: Callable[[Snapshot, Sequence[ResourceClaim]], object],
) -> Prove:
    """From a question to the engine to the node of its answer."""

    def prove(snapshot: Snapshot, claims: Sequence[ResourceClaim]) -> str:
        try:
            outcome = fits(snapshot, claims)
        except DRAError:
            return ""
        return outcome.node_name if isinstance(outcome, Fits) else ""

    return prove
