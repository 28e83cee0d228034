"""The door: does a claim fit, and if not, why and what would make it fit."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Sequence
from typing import Final, get_args

from dra.allocation import reasons
from dra.allocation.errors import AllocationError
from dra.allocation.explaining import sentences
from dra.allocation.explaining.deciding import Decision, decision_on
from dra.allocation.explaining.differing import telling_quirks
from dra.allocation.explaining.explanation import (
    Difference,
    Explanation,
    Given,
    NodeGroup,
    NodeRequest,
    Relaxation,
    RequestReason,
    Verdict,
)
from dra.allocation.explaining.funnel import request_reason
from dra.allocation.explaining.holders import held_by
from dra.allocation.explaining.plain import plain_nodes
from dra.allocation.explaining.relaxing import Relaxing, prover
from dra.allocation.explaining.surveying import Survey
from dra.allocation.features import DEFAULT, Features
from dra.allocation.matching import chain_verdicts
from dra.allocation.outcome import Budget, DoesNotFit, Fits, GaveUp, Outcome
from dra.allocation.placing import Question, schedulable
from dra.allocation.quirks import ALL, Mode, Quirk
from dra.allocation.request import with_defaults
from dra.allocation.traits import uses_of
from dra.cel.selection import Stop, Stopped
from dra.errors import DRAError, NotSupportedError
from dra.names import DeviceID
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


def prepare(snapshot: Snapshot, *, features: Features = DEFAULT) -> None:
    """Work out what every question about ``snapshot`` needs, before there is one."""
    table = snapshot.devices(lists=features.list_type_attributes)
    uses_of(snapshot, table)
    held_by(snapshot, table)
    for mode in get_args(Mode):
        question = Question(snapshot, (), features=features, quirks=mode)
        plain_nodes(question.layout, table)


@dataclasses.dataclass(frozen=True, slots=True)
class Asked:
    """What the engine says, and what counting said before; ``fitting`` in order."""

    outcome: Outcome
    decision: Decision | None = None
    fitting: Sequence[str] = ()


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
        question = self._question(self.snapshot)
        try:
            self._evaluate(question)
            survey = self._surveyed(question)
            asked = self._asked(question, survey)
        except Stopped:
            asked = Asked(GaveUp("", question.meter.steps, reasons.OUT_OF_TIME))
            survey = None
        except DRAError as error:
            return self._refused(error, question)
        return self._found(asked, survey, relax=relax, compare=compare)

    def _found(
        self, asked: Asked, survey: Survey | None, *, relax: bool, compare: bool
    ) -> Explanation:
        outcome, verdict = asked.outcome, self._verdict(asked.outcome)
        requests: tuple[RequestReason, ...] = ()
        groups: tuple[NodeGroup, ...] = ()
        relaxations: list[Relaxation] = []
        complete = survey is not None
        try:
            if survey is not None:
                requests = self._requests(survey)
                groups = tuple(self._groups(survey, asked.fitting))
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
            fitting=len(asked.fitting),
            nodes=len(self.names),
            requests=requests,
            groups=groups,
            relaxations=tuple(relaxations),
            difference=self._difference(asked) if compare else None,
            complete=complete,
            given=_given(outcome) if isinstance(outcome, Fits) else (),
        )
        return sentences.with_sentence(found, outcome)

    def _refused(self, error: DRAError, question: Question) -> Explanation:
        """What its requests find is told all the same, where the claim can be read."""
        requests: tuple[RequestReason, ...] = ()
        complete = True
        try:
            if question.plan.problem is None:
                requests = self._requests(self._surveyed(question))
        except Stopped:
            complete = False
        except DRAError:
            pass  # as the error that is told
        return Explanation(
            verdict="refused",
            sentence=sentences.refused(error),
            seq=self.snapshot.seq,
            node="",
            fitting=0,
            nodes=len(self.names),
            requests=requests,
            complete=complete,
        )

    def _evaluate(self, question: Question) -> None:
        """Ask the selectors about all devices while that can still be stopped."""
        lists = self.features.list_type_attributes
        table = self.snapshot.devices(lists=lists)
        for claim in question.plan.claims:
            for request in claim.requests:
                for ask in request.alternatives:
                    with contextlib.suppress(NotSupportedError):
                        chain_verdicts(ask.chain, table, stop=self.stop)

    def _surveyed(self, question: Question) -> Survey:
        return Survey(question, self.names, self.stop)

    def _requests(self, survey: Survey) -> tuple[RequestReason, ...]:
        found = []
        for number, ask in enumerate(survey.claims):
            if self.stop is not None and self.stop():
                raise Stopped(number, len(survey.claims))
            found.append(request_reason(survey, ask, self.stop))
        return tuple(found)

    # --- asking the engine ---

    def _question(
        self,
        snapshot: Snapshot,
        quirks: Mode | frozenset[Quirk] | None = None,
        claims: Sequence[ResourceClaim] | None = None,
        steps: int = STEPS,
    ) -> Question:
        return Question(
            snapshot,
            self.claims if claims is None else claims,
            features=self.features,
            quirks=self.quirks if quirks is None else quirks,
            budget=Budget(steps=steps, stop=self.stop),
        )

    def _asked(self, question: Question, survey: Survey) -> Asked:
        """The outcome as a run would have it, and all nodes that fit.

        Nodes about which counting says enough are not searched.
        """
        decision = survey.decision
        examples = decision.examples(self.names) if decision else self.names
        found, error = question.first_of(examples)
        if found is None:
            return Asked(DoesNotFit("", self._why(question, survey, error)), decision)
        if isinstance(found, GaveUp):
            return Asked(found, decision)
        return Asked(found, decision, self._fitting(decision, examples))

    def _fitting(self, decision: Decision | None, examples: Sequence[str]) -> list[str]:
        """All nodes that fit: those that do for sure, and those that are like one that
        the engine says fits."""
        sure = decision.fitting if decision else frozenset()
        open_names = [name for name in examples if name not in sure]
        fitting = set(self._question(self.snapshot).on_nodes(open_names).fitting)
        likeness = decision.likeness if decision else {}
        alike = {likeness[name] for name in fitting if name in likeness}
        return [
            name
            for name in self.names
            if name in sure or name in fitting or likeness.get(name) in alike
        ]

    def _why(
        self, question: Question, survey: Survey, error: AllocationError | None
    ) -> str:
        if not self.names:
            return question.why(self.names)
        by_name = survey.by_name()
        kin = [(name, by_name[name]) for name in self.names]
        counts = {name: k.counts for name, k in kin if not k.error}
        return question.reason(counts, len(self.names) - len(counts), error)

    def _verdict(self, outcome: Outcome) -> Verdict:
        if isinstance(outcome, Fits):
            return "fits"
        if isinstance(outcome, GaveUp):
            return "undecided"
        empty = dataclasses.replace(self.snapshot, in_use=NOTHING_IN_USE)
        try:
            found = self._fits(self._question(empty))
        except Stopped:
            return "undecided"
        except AllocationError:
            return "hopeless"
        if isinstance(found, Fits):
            return "full"
        return "undecided" if isinstance(found, GaveUp) else "hopeless"

    def _fits(self, question: Question) -> Fits | GaveUp | None:
        """The first node that fits. Raises Stopped besides what the question raises."""
        decision = decision_on(question, self.names, self.stop)
        examples = decision.examples(self.names) if decision else self.names
        return question.fits_on_first_of(examples)

    def _relaxing(self, survey: Survey) -> Relaxing:
        def fits(
            snapshot: Snapshot, claims: Sequence[ResourceClaim]
        ) -> Fits | GaveUp | None:
            question = self._question(snapshot, claims=claims, steps=STEPS_OF_A_PROOF)
            return self._fits(question)

        return Relaxing(survey, self.claims, prover(fits), self.stop)

    # --- the two modes ---

    def _difference(self, asked: Asked) -> Difference | None:
        """Where the 1.36 scheduler answers otherwise than documented."""
        if isinstance(asked.outcome, GaveUp):
            return None
        other: Mode = "none" if self.quirks == "1.36" else "1.36"
        fits = isinstance(asked.outcome, Fits)
        if self._fits_with(other, asked) == fits:
            return None
        scheduler = fits if self.quirks == "1.36" else not fits
        guilty = [
            quirk
            for quirk in sorted(telling_quirks(self._question(self.snapshot, ALL)))
            if self._fits_with(ALL - {quirk}) != scheduler
        ]
        return Difference(
            scheduler_fits=scheduler,
            documented_fits=not scheduler,
            quirks=tuple(guilty),
            sentence=sentences.difference(guilty, scheduler_fits=scheduler),
        )

    def _fits_with(
        self, quirks: Mode | frozenset[Quirk], asked: Asked | None = None
    ) -> bool:
        """Whether it fits in another mode; ``asked`` is what was found in this one."""
        try:
            question = self._question(self.snapshot, quirks)
            found = question.fits_on_first_of(self._open_to(question, asked))
        except DRAError:
            return False
        return isinstance(found, Fits)

    def _open_to(self, question: Question, asked: Asked | None) -> Sequence[str]:
        """Nodes of which the answer to another mode's question is not known yet."""
        if asked is None or asked.decision is None:
            return self.names
        if not asked.decision.holds_for(question):
            return self.names
        failing = asked.decision.counted.difference(asked.fitting)
        return [name for name in self.names if name not in failing]

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


def _given(outcome: Fits) -> tuple[Given, ...]:
    return tuple(
        Given(
            claim=index,
            request=result.request,
            device=DeviceID(result.driver, result.pool, result.device),
            admin=bool(result.admin_access),
            consumed={n: str(q) for n, q in (result.consumed_capacity or {}).items()},
        )
        for index, allocation in enumerate(outcome.allocations)
        for result in allocation.devices.results or ()
    )


def _nearness(group: NodeGroup) -> tuple[bool, int, int, tuple[str, ...]]:
    missing = sum(max(0, r.wanted - r.most) for r in group.requests)
    return (not group.fits, missing, -group.nodes, group.names)
