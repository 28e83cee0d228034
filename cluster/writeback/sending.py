"""Sending the requests of one order, and remembering what was sent."""

from __future__ import annotations

from collections.abc import Callable

from cluster.errors import (
    ApiError,
    Conflict,
    Forbidden,
    ServerError,
    Unauthorized,
    Unreachable,
)
from cluster.writeback.answers import (
    PERHAPS,
    EndedError,
    forbidden,
    given_up,
    gone,
    invalid,
    meaning,
    replaced,
)
from cluster.writeback.api import Api
from cluster.writeback.patience import PASSING, Patience
from cluster.writeback.values import (
    Beat,
    Before,
    Changed,
    Json,
    Order,
    Outcome,
    Refused,
    Release,
    Request,
    Step,
    Unknown,
    still,
)


class Sender:
    """One order on its way into a cluster."""

    def __init__(
        self,
        api: Api,
        order: Order | Release,
        before: Before,
        *,
        patience: Patience,
        beat: Beat = still,
    ) -> None:
        self.api = api
        self.order = order
        self.beat = beat
        self.patience = patience
        self.sent: list[Request] = []
        self.uncertain = order.resumed
        """Something that allocates was, or may have been, sent."""
        self._before = before

    def send(self, step: Step, request: Request, *, allocates: bool = False) -> Json:
        """One request. Raises what the client raises; see :meth:`settle`."""
        self._before(step, request)
        self.sent.append(request)
        try:
            answer = self.api.client.request(
                request.method,
                request.path,
                body=request.body,
                content_type=request.content_type,
            )
        except (ServerError, Unreachable) as error:
            self.uncertain |= allocates and error.outcome_unknown
            raise
        self.uncertain |= allocates
        return answer

    def put_status(self, step: Step, request: Request) -> Json:
        """A request to the claim's status, which allocates it or frees it.

        Raises Conflict and PASSING, which another look may settle; whatever else it is
        answered with ends the write.
        """
        try:
            return self.send(step, request, allocates=True)
        except (Conflict, *PASSING):
            raise
        except (Forbidden, Unauthorized) as error:
            right = "patch resourceclaims/status"
            raise EndedError(forbidden(error, right)) from error
        except ApiError as error:
            # The claim itself often says better than the error what is the matter.
            raise EndedError(meaning(error, self.look())) from error

    def settle[T](
        self, attempt: Callable[[], T], *, also: tuple[type[ApiError], ...] = ()
    ) -> T:
        """What ``attempt``, which begins with a look, returns at last.

        A server that was waited for in vain is not waited for again: what is left to be
        taken away then is found later.
        """
        try:
            return self.patience.settle(attempt, also=also, beat=self.beat)
        except PASSING:
            self.patience = self.patience.worn
            raise

    def look(self) -> Json:
        """The claim as it is, if it is still the planned one; else the write ends."""
        order = self.order
        try:
            claim = self.api.read("ResourceClaim", order.namespace, order.name)
        except EndedError as ended:
            if self.uncertain and isinstance(ended.outcome, Refused):
                # What was sent before may be in the claim that cannot be seen.
                reason = f"{ended.outcome.reason} {PERHAPS}"
                raise EndedError(Unknown(reason)) from ended
            raise
        if claim is None:
            raise EndedError(gone(order))
        if other := replaced(order, claim):
            raise EndedError(other)
        return claim

    def outcome(self, work: Callable[[], Outcome]) -> Outcome:
        """What ``work`` returns, or what the error means that ended it."""
        try:
            return work()
        except EndedError as ended:
            return ended.outcome
        except PASSING as error:
            return given_up(error, uncertain=self.uncertain)
        except Conflict:
            return Changed("The claim kept being changed while we wrote to it.")
        except ApiError as error:
            return invalid(error)
