"""One kind of claims on all nodes: which nodes fit now, kept while devices are taken.

What a placement changes is asked again, nothing else. Where copies of the same claims
follow one another, nodes that were alike to the search stay alike after the same number
of copies, so one search answers for all of them (``dra.allocation.groups``). A board
holds for one state of nodes, pools and classes.
"""

from __future__ import annotations

import bisect
from collections.abc import Collection, Iterable, Sequence
from typing import Final

from dra.allocation.choices import Solution
from dra.allocation.errors import AllocationError
from dra.allocation.groups import Signature
from dra.allocation.outcome import Fits, GaveUp
from dra.allocation.placing import Question
from dra.allocation.quirks import Quirk
from dra.allocation.sweep import Finding, Sweep, pattern_of
from dra.errors import DRAError, NotSupportedError
from dra.objects import ResourceClaim
from dra.whatif.scenario import Policy
from dra.whatif.scoring import rank_of, taken_part
from dra.whatif.world import World

type Place = tuple[float, float, str]
"""Nodes sorted by this are in the order in which they are preferred."""

_FEW: Final = 4
"""Copies of the same claims from which on likening nodes is worth its cost."""


class Board:
    """Where ``claims``, all of one pod and none allocated, fit.

    ``expected`` is how many copies will be placed.
    """

    def __init__(
        self,
        world: World,
        claims: Sequence[ResourceClaim],
        names: Sequence[str],
        policy: Policy,
        *,
        expected: int = 1,
    ) -> None:
        self.world = world
        self.claims = claims
        self.names = names
        self.policy = policy
        self.alike = expected >= _FEW or policy != "firstFit"
        self._after: dict[tuple[Signature, int], Finding] = {}
        self._begin()

    def _begin(self) -> None:
        self.question = self._new_question(whole=True)
        expected = len(self.names) if self.alike else 1
        self._sweep = Sweep(self.question, expected=expected)
        self._after.clear()
        self._asked = 0
        self._findings: dict[str, Finding] = {}
        self._errors: dict[str, AllocationError] = {}
        """Those that concern more than their node."""
        self._places: dict[str, Place] = {}
        self._order: list[Place] = []
        self._taken: dict[str, int] = {}
        self._touched: set[str] = set()
        self._stale: dict[str, None] = {}
        self._unlike: set[str] = set()
        """Nodes that something else changed: they are like no other."""

    def _new_question(self, *, whole: bool = False) -> Question:
        world = self.world
        return Question(
            world.snapshot if whole else world.for_search,
            self.claims,
            features=world.features,
            quirks=world.quirks,
            budget=world.budget(),
            new_share_id=world.new_share_id,
        )

    # --- asking ---

    def first(self, allowed: Collection[str] | None = None) -> Fits | GaveUp | None:
        """The node that is preferred and what the claims get there; None: none fits.

        ``allowed`` are the only nodes that may be used, None: all. Raises DRAError
        where the scheduler's attempt would end with it.
        """
        while True:
            name = self._next(allowed)
            if name is None:
                self._raise_error(allowed)
                return None
            finding = self._findings[name]
            if isinstance(finding, GaveUp):
                return GaveUp(name, finding.steps, finding.reason)
            if isinstance(finding, DRAError):
                raise finding
            assert finding is not None
            try:
                return self.question.fits(name, finding)
            except AllocationError as error:
                self._file(name, error)

    def _next(self, allowed: Collection[str] | None) -> str | None:
        self._refresh()
        if self.policy != "firstFit":
            self._ask_until(len(self.names))
        at = 0
        while True:
            while at < len(self._order):
                name = self._order[at][-1]
                if allowed is None or name in allowed:
                    return name
                at += 1
            if self._asked >= len(self.names):
                return None
            self._ask_until(self._asked + 1)

    def _ask_until(self, end: int) -> None:
        while self._asked < end:
            name = self.names[self._asked]
            self._asked += 1
            if name in self._touched:
                self._file(name, self._search(name))
            else:
                self._file(name, self._find(name))

    def _find(self, name: str) -> Finding:
        self.question.meter.steps = 0
        try:
            return self._sweep.find(name)
        except NotSupportedError as error:
            return error

    def _search(self, name: str) -> Finding:
        """Ask one node anew, as it is now."""
        signature = None if name in self._unlike else self._signature(name)
        key = (signature, self._taken.get(name, 0))
        if signature is not None and key in self._after:
            return self._after[key]
        question = self._new_question()
        try:
            found: Finding = question.search(name)
            if isinstance(found, Solution):
                found = pattern_of(found, question.layout.view(name), question.plan)
        except (AllocationError, NotSupportedError) as error:
            return error
        if signature is not None and not isinstance(found, GaveUp):
            self._after[key] = found
        return found

    def _signature(self, name: str) -> Signature | None:
        if not self.alike:
            return None
        try:
            return self._sweep.signature(self.question.layout.view(name))
        except AllocationError:
            return None

    # --- keeping the order ---

    def _file(self, name: str, finding: Finding) -> None:
        self._findings[name] = finding
        self._errors.pop(name, None)
        if isinstance(finding, AllocationError) and not finding.node_only:
            self._errors[name] = finding
        old = self._places.pop(name, None)
        if old is not None:
            del self._order[bisect.bisect_left(self._order, old)]
        place = self._place(name, finding)
        if place is not None:
            self._places[name] = place
            bisect.insort(self._order, place)

    def _place(self, name: str, finding: Finding) -> Place | None:
        if finding is None:
            return None
        if isinstance(finding, DRAError):
            return (-1.0, 0.0, name) if self._ends_attempt(finding) else None
        if self.policy == "firstFit":
            return (0.0, 0.0, name)
        if isinstance(finding, GaveUp):
            return (2.0, 0.0, name)
        rank = rank_of(finding, self.question.plan)
        part = taken_part(self.world.for_search, name)
        return (-rank, part if self.policy == "spread" else -part, name)

    def _ends_attempt(self, error: DRAError) -> bool:
        if isinstance(error, NotSupportedError):
            return True
        if self.question.plan.problem is not None:
            return True
        assert isinstance(error, AllocationError)
        return Quirk.ERROR_ENDS_ATTEMPT in self.question.quirks and not error.node_only

    def _raise_error(self, allowed: Collection[str] | None) -> None:
        """When nothing fits an error that concerns more than its node is the answer."""
        names = [n for n in self._errors if allowed is None or n in allowed]
        if names:
            raise self._errors[min(names)]

    # --- what changes ---

    def touch(self, names: Iterable[str] | None, *, own: bool) -> None:
        """Devices on nodes were taken or given back; None: on any node.

        ``own``: this board's claims took them, one copy on the one node.
        """
        if names is None:
            self._begin()
            return
        for name in names:
            self._touched.add(name)
            if own:
                self._taken[name] = self._taken.get(name, 0) + 1
            else:
                self._unlike.add(name)
            if name in self._findings:
                self._stale[name] = None

    def _refresh(self) -> None:
        for name in self._stale:
            self._file(name, self._search(name))
        self._stale.clear()
