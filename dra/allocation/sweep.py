"""One question on many nodes: one search for all nodes that are the same to it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from dra.allocation.booking import Pick
from dra.allocation.capacity import share_of
from dra.allocation.choices import Solution
from dra.allocation.errors import AllocationError
from dra.allocation.groups import Grouping, Pattern, Place, Signature
from dra.allocation.layout import NodeView
from dra.allocation.outcome import DoesNotFit, GaveUp, Outcome
from dra.allocation.request import Ask, Plan
from dra.allocation.views import view_of
from dra.errors import DRAError, NotSupportedError

if TYPE_CHECKING:
    from dra.allocation.placing import Question

type Finding = Pattern | Solution | GaveUp | DRAError | None
"""What is known of a node; None: it does not fit."""

FEW: Final = 4
"""Fewer nodes than this are searched one by one: comparing all costs more."""


class Sweep:
    """The findings of one question, node by node.

    A finding is shared by nodes with the same signature, except where its words
    name what only one node has.
    """

    def __init__(
        self, question: Question, *, expected: int, closely: bool = False
    ) -> None:
        """``expected`` nodes are asked about; ``closely``: see :class:`Grouping`."""
        self._question = question
        self._closely = closely
        self._worth_grouping = expected >= FEW
        self._grouping: Grouping | None = None
        self._undecided: dict[Signature, GaveUp] = {}

    def find(self, name: str) -> Finding:
        question = self._question
        try:
            view = question.layout.view(name)
            signature = self.signature(view)
            if signature is None or self._grouping is None:
                return question.search(name)
            known = self._grouping.known
            if signature in known.outcomes:
                return known.outcomes[signature]
            if signature in self._undecided:
                return self._undecided[signature]
            self._grouping.tell(view)
            found = question.search(name)
        except AllocationError as error:
            return error
        if isinstance(found, GaveUp):
            self._undecided[signature] = found
            return found
        pattern = None if found is None else pattern_of(found, view, question.plan)
        known.remember(signature, pattern)
        return pattern

    def tell(self, view: NodeView) -> None:
        """As :meth:`Grouping.tell`, once a signature was asked for."""
        if self._grouping is not None:
            self._grouping.tell(view)

    def signature(self, view: NodeView) -> Signature | None:
        """Equal for nodes of which one stands for all; None for one of its own kind."""
        if self._grouping is None and self._worth_grouping:
            question = self._question
            try:
                self._grouping = Grouping(
                    question.snapshot,
                    question.plan,
                    question.features,
                    question.quirks,
                    closely=self._closely,
                )
            except NotSupportedError:
                self._worth_grouping = False
        return None if self._grouping is None else self._grouping.signature(view)


class NodeAnswers(Mapping[str, Outcome | DRAError]):
    """The answer of every node that was asked about, each as if it were alone.

    Allocations are put together when they are looked at. ``fitting`` are the nodes
    that fit, in the order in which they were asked.
    """

    def __init__(self, question: Question, findings: Mapping[str, Finding]) -> None:
        self._question = question
        self._findings = findings

    @property
    def fitting(self) -> tuple[str, ...]:
        return tuple(
            name
            for name, finding in self._findings.items()
            if isinstance(finding, Pattern | Solution)
        )

    def __getitem__(self, name: str) -> Outcome | DRAError:
        finding = self._findings[name]
        question = self._question
        try:
            if isinstance(finding, DRAError):
                return finding
            if isinstance(finding, GaveUp):
                return GaveUp(name, finding.steps, finding.reason)
            if finding is None:
                return DoesNotFit(name, question.why([name]))
            return question.fits(name, finding)
        except DRAError as error:
            return error

    def __len__(self) -> int:
        return len(self._findings)

    def __iter__(self) -> Iterator[str]:
        return iter(self._findings)


def pattern_of(solution: Solution, view: NodeView, plan: Plan) -> Pattern:
    """The solution by places instead of names."""
    pieces = {id(piece): place for place, piece in enumerate(view.pieces)}
    where: dict[Ask, tuple[int, int, int]] = {
        ask: (claim, number, alternative)
        for claim, claim_plan in enumerate(plan.claims)
        for number, request in enumerate(claim_plan.requests)
        for alternative, ask in enumerate(request.alternatives)
    }
    places = [
        Place(
            *where[pick.ask],
            pieces[id(pick.candidate.view.slice)],
            pick.candidate.index,
        )
        for pick in solution.picks
    ]
    chosen = [tuple(where[ask][2] for ask in asks) for asks in solution.chosen]
    return Pattern(tuple(places), tuple(chosen))


def solution_of(
    pattern: Pattern, view: NodeView, plan: Plan, *, sharing: bool
) -> Solution:
    """The solution on one node; ``sharing``: devices may have shares."""
    picks = []
    for place in pattern.places:
        request = plan.claims[place.claim].requests[place.request]
        ask = request.alternatives[place.alternative]
        candidate = view_of(view.pieces[place.piece]).candidates[place.device]
        share = share_of(ask, candidate) if sharing and candidate.shareable else None
        picks.append(Pick(ask, candidate, share, charged=False))
    chosen: list[Sequence[Ask]] = [
        [
            request.alternatives[alternative]
            for request, alternative in zip(claim.requests, alternatives, strict=True)
        ]
        for claim, alternatives in zip(plan.claims, pattern.chosen, strict=True)
    ]
    return Solution(tuple(picks), tuple(map(tuple, chosen)))
