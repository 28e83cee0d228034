"""The door: does a claim fit, and if not, why and what would make it fit."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Final

from dra.allocation.errors import AllocationError
from dra.allocation.explaining import sentences
from dra.allocation.explaining.explanation import (
    Difference,
    Explanation,
    NodeGroup,
    NodeRequest,
    Relaxation,
    RequestReason,
    Verdict,
)
from dra.allocation.explaining.funnel import request_reason
from dra.allocation.explaining.relaxing import Relaxing, prover
from dra.allocation.explaining.surveying import Survey
from dra.allocation.features import DEFAULT, Features
from dra.allocation.outcome import Budget, Fits, GaveUp, Outcome
from dra.allocation.placing import Question, schedulable
from dra.allocation.quirks import ALL, Mode, Quirk
from dra.allocation.request import with_defaults
from dra.cel.selection import Stop, Stopped
from dra.errors import DRAError
from dra.objects import ResourceClaim
from dra.snapshot import Snapshot
from dra.usage import NOTHING_IN_USE

NAMES_SHOWN: Final = 20
STEPS: Final = 200_000
"""Devices that one question of an explanation tries at most."""
STEPS_OF_A_PROOF: Final = 10_000
"""The same when a relaxation is proved: one that needs more is not offered."""


def explain(
    snapshot: Snapshot,
    claims: Sequence[ResourceClaim],
    *,
    node_names: Sequence[str] | None = None,
    features: Features = DEFAULT,
    quirks: Mode = "none",
    relax: bool = True,
    compare: bool = True,
    stop: Stop | None = None,
) -> Explanation:
    """Why ``claims``, all of one pod, fit or do not fit.

    Without ``node_names`` every node that takes pods counts. ``relax`` looks for
    single changes that would make it fit, ``compare`` asks in the other mode too.
    When ``stop`` says so the explanation is what was found until then. Raises
    nothing for a bad claim: that is the verdict "refused".
    """
    return _Explaining(
        snapshot, claims, node_names, features, quirks, stop
    ).explanation(relax=relax, compare=compare)


class _Explaining:
    def __init__(
        self,
        snapshot: Snapshot,
        claims: Sequence[ResourceClaim],
        node_names: Sequence[str] | None,
        features: Features,
        quirks: Mode,
        stop: Stop | None,
    ) -> None:
        self.snapshot = snapshot
        self.claims = [with_defaults(claim) for claim in claims]
        self.names = schedulable(snapshot) if node_names is None else node_names
        self.features = features
        self.quirks = quirks
        self.stop = stop

    def explanation(self, *, relax: bool, compare: bool) -> Explanation:
        try:
            outcome, fitting = self._asked(self.snapshot)
        except DRAError as error:
            return self._refused(error)
        verdict = self._verdict(outcome)
        survey: Survey | None = None
        requests: tuple[RequestReason, ...] = ()
        groups: tuple[NodeGroup, ...] = ()
        relaxations: list[Relaxation] = []
        complete = True
        try:
            survey = Survey(self._question(self.snapshot), self.names)
            requests = tuple(
                request_reason(survey, ask, self.stop) for ask in survey.claims
            )
            groups = tuple(self._groups(survey, fitting))
            if relax and not isinstance(outcome, Fits):
                relaxing = self._relaxing(survey)
                relaxations = relaxing.find()
                complete = relaxing.complete
        except Stopped:
            complete = False
        found = Explanation(
            verdict=verdict,
            sentence="",
            seq=self.snapshot.seq,
            node=outcome.node_name if isinstance(outcome, Fits) else "",
            fitting=len(fitting),
            nodes=len(self.names),
            requests=requests,
            groups=groups,
            relaxations=tuple(relaxations),
            difference=self._difference(outcome) if compare else None,
            complete=complete,
        )
        return sentences.with_sentence(found, outcome)

    def _refused(self, error: DRAError) -> Explanation:
        return Explanation(
            verdict="refused",
            sentence=sentences.refused(error),
            seq=self.snapshot.seq,
            node="",
            fitting=0,
            nodes=len(self.names),
        )

    # --- asking the engine ---

    def _question(
        self, snapshot: Snapshot, quirks: Mode | frozenset[Quirk] | None = None
    ) -> Question:
        return Question(
            snapshot,
            self.claims,
            features=self.features,
            quirks=self.quirks if quirks is None else quirks,
            budget=Budget(steps=STEPS, stop=self.stop),
        )

    def _asked(self, snapshot: Snapshot) -> tuple[Outcome, list[str]]:
        """The outcome as a run would have it, and all nodes that fit."""
        outcome = self._question(snapshot).on_first_of(self.names)
        if not isinstance(outcome, Fits):
            return outcome, []
        answers = self._question(snapshot).on_nodes(self.names)
        return outcome, list(answers.fitting)

    def _verdict(self, outcome: Outcome) -> Verdict:
        if isinstance(outcome, Fits):
            return "fits"
        if isinstance(outcome, GaveUp):
            return "undecided"
        empty = dataclasses.replace(self.snapshot, in_use=NOTHING_IN_USE)
        try:
            found = self._question(empty).fits_on_first_of(self.names)
        except AllocationError:
            return "hopeless"
        if isinstance(found, Fits):
            return "full"
        return "undecided" if isinstance(found, GaveUp) else "hopeless"

    def _relaxing(self, survey: Survey) -> Relaxing:
        def fits(
            snapshot: Snapshot, claims: Sequence[ResourceClaim]
        ) -> Fits | GaveUp | None:
            question = Question(
                snapshot,
                claims,
                features=self.features,
                quirks=self.quirks,
                budget=Budget(steps=STEPS_OF_A_PROOF, stop=self.stop),
            )
            return question.fits_on_first_of(self.names)

        return Relaxing(survey, self.claims, prover(fits), self.stop)

    # --- the two modes ---

    def _difference(self, outcome: Outcome) -> Difference | None:
        """Where the 1.36 scheduler answers otherwise than documented."""
        if isinstance(outcome, GaveUp):
            return None
        other: Mode = "none" if self.quirks == "1.36" else "1.36"
        fits = isinstance(outcome, Fits)
        if self._fits_with(other) == fits:
            return None
        scheduler = fits if self.quirks == "1.36" else not fits
        guilty = [
            quirk
            for quirk in sorted(ALL)
            if self._fits_with(ALL - {quirk}) != scheduler
        ]
        return Difference(
            scheduler_fits=scheduler,
            documented_fits=not scheduler,
            quirks=tuple(guilty),
            sentence=sentences.difference(guilty, scheduler_fits=scheduler),
        )

    def _fits_with(self, quirks: Mode | frozenset[Quirk]) -> bool:
        try:
            question = self._question(self.snapshot, quirks)
            found = question.fits_on_first_of(self.names)
        except DRAError:
            return False
        return isinstance(found, Fits)

    # --- nodes ---

    def _groups(self, survey: Survey, fitting: Sequence[str]) -> list[NodeGroup]:
        """Nodes by what is said about them, those that fit first, then the nearest."""
        fits = set(fitting)
        by_words: dict[tuple[bool, str, tuple[NodeRequest, ...]], list[str]] = {}
        for kin in survey.kin:
            requests = tuple(
                NodeRequest(
                    request=ask.result_name,
                    wanted=counts.needed,
                    matching=counts.matching,
                    failing=counts.failing,
                    in_use=counts.in_use,
                    tainted=counts.tainted,
                    full=counts.full,
                    free=counts.free,
                    most=counts.most,
                )
                for ask, counts in kin.counts.items()
            )
            for yes in (True, False):
                names = [name for name in kin.names if (name in fits) is yes]
                if names:
                    words = sentences.of_node(survey.question.plan, kin, fits=yes)
                    by_words.setdefault((yes, words, requests), []).extend(names)
        groups = [
            NodeGroup(
                nodes=len(names),
                names=tuple(sorted(names)[:NAMES_SHOWN]),
                fits=yes,
                sentence=sentences.about(words, names),
                requests=requests,
            )
            for (yes, words, requests), names in by_words.items()
        ]
        return sorted(groups, key=_nearness)


def _nearness(group: NodeGroup) -> tuple[bool, int, int, tuple[str, ...]]:
    missing = sum(max(0, r.wanted - r.most) for r in group.requests)
    return (not group.fits, missing, -group.nodes, group.names)
