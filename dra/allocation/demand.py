"""How many devices a plan asks for, counted before anything is chosen."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dra.allocation.booking import Bookings
from dra.allocation.errors import AllocationError
from dra.allocation.matching import Matcher
from dra.allocation.request import MAX_RESULTS, Ask, Plan
from dra.allocation.views import Candidate, view_of
from dra.node_pools import NodePool


class Demand:
    """What the requests of a plan want on one node.

    ``everything`` holds, for requests that ask for all devices, which these are;
    ``count`` fills it.
    """

    def __init__(
        self,
        plan: Plan,
        pools: Sequence[NodePool],
        matcher: Matcher,
        bookings: Bookings,
    ) -> None:
        self.plan = plan
        self.pools = pools
        self.matcher = matcher
        self.bookings = bookings
        self.everything: dict[Ask, tuple[Candidate, ...]] = {}

    def count(self) -> None:
        """Count what is asked for; raises AllocationError for the first problem."""
        claims = self.plan.claims
        for index, claim in enumerate(claims):
            sizes = [
                min([self._size(ask) for ask in request.alternatives])
                for request in claim.requests
            ]
            least = sum(sizes)
            if self.plan.problem is not None and index == len(claims) - 1:
                raise self.plan.problem
            if least > MAX_RESULTS:
                raise AllocationError(
                    f"{claim.where}: number of requested devices {least} exceeds the "
                    f"claim limit of {MAX_RESULTS}"
                )
            if claim.problem is not None:
                raise claim.problem

    def _size(self, ask: Ask) -> int:
        if not ask.everything:
            return ask.count
        self.everything[ask] = found = tuple(self._all_devices(ask))
        return len(found)

    def _all_devices(self, ask: Ask) -> Iterator[Candidate]:
        """Every device that a request for all devices means, in use or not."""
        for pool in self.pools:
            name = f"{pool.driver}/{pool.name}"
            wants = f"{ask.where}: asks for all devices, but resource pool {name}"
            if pool.incomplete:
                raise AllocationError(
                    f"{wants} is currently being updated ({pool.incomplete})"
                )
            if pool.invalid:
                raise AllocationError(f"{wants} is currently invalid ({pool.invalid})")
            for piece in pool.slices:
                view = view_of(piece)
                table = self.matcher.table(ask, view)
                for candidate in view.candidates:
                    if self.matcher.selectable(
                        ask, candidate, table
                    ) and self.bookings.has_room(ask, candidate):
                        yield candidate

    def wanted(self, ask: Ask) -> int:
        """How many devices ``ask`` wants."""
        return len(self.everything[ask]) if ask.everything else ask.count
