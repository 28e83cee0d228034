"""The plain protocol: read, finalizer, allocation, each conditional on what was read.

1. GET the claim. Stop if it is gone, another one of that name, being deleted or
   already allocated; if it already holds exactly our allocation, we are done.
2. PATCH the finalizer, if it is absent, with the resourceVersion read.
3. PATCH status.allocation with the resourceVersion of the answer.

After a lost connection or a 5xx, whose effect is unknown, the round starts again
at 1: a write that did arrive is recognised, one that did not is sent again, and one
that arrives late finds another resourceVersion.

Nothing here keeps a second writer from taking the same *device* for another claim:
``writer: unguarded``, right only where no other writer (no kube-scheduler) is at work.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal

from cluster.errors import (
    ApiError,
    Forbidden,
    NotFound,
    ServerError,
    TooManyRequests,
    Unauthorized,
    Unreachable,
)
from cluster.resources import ServedResource
from cluster.writeback.answers import (
    NOT_SERVED,
    PERHAPS,
    forbidden,
    given_up,
    gone,
    invalid,
    meaning,
    replaced,
    unfree,
)
from cluster.writeback.patience import Patience
from cluster.writeback.requests import (
    AS_V1,
    finalizer_request,
    foresee,
    protected,
    status_request,
)
from cluster.writeback.values import (
    Beat,
    Before,
    Json,
    Order,
    Outcome,
    Refused,
    Request,
    Step,
    Unknown,
    Written,
    holds,
    still,
    unheard,
)

if TYPE_CHECKING:
    from cluster.client import ClusterClient

_RIGHTS: Final = {
    None: "get resourceclaims",
    Step.FINALIZER: "patch resourceclaims",
    Step.STATUS: "patch resourceclaims/status",
}


@dataclass(slots=True)
class _Attempt:
    """What one call of ``write`` has done so far."""

    order: Order
    before: Before
    step: Step | None = None
    sent: list[Request] = field(default_factory=list)
    uncertain: bool = False
    """The allocation was, or may have been, sent and no answer arrived."""


class DirectWriter:
    """Writes the allocation itself. May be used by many threads, like its client."""

    name: Final = "unguarded"

    def __init__(
        self, client: ClusterClient, *, patience: Patience | None = None
    ) -> None:
        self._client = client
        self._patience = patience or Patience()
        self._served: ServedResource | None = None

    def preview(self, order: Order, claim: Json) -> list[Request]:
        return foresee(order, claim, self._served or AS_V1)

    def write(
        self, order: Order, *, before: Before = unheard, beat: Beat = still
    ) -> Outcome:
        attempt = _Attempt(order, before, uncertain=order.resumed)
        waits = self._patience.waits()
        while True:
            try:
                return self._round(attempt)
            except (ServerError, TooManyRequests, Unreachable) as error:
                if (wait := next(waits, None)) is None:
                    return given_up(error, uncertain=attempt.uncertain)
                self._patience.pause(wait, error)
                beat()

    def _round(self, attempt: _Attempt) -> Outcome:
        """Look, then write. Raises what only another round can settle."""
        found = self._look(attempt)
        if not isinstance(found, dict):
            return found
        try:
            return self._write(attempt, found)
        except (ServerError, TooManyRequests, Unreachable):
            raise
        except (Unauthorized, Forbidden) as error:
            return forbidden(error, _RIGHTS[attempt.step])
        except ApiError as error:
            # The claim itself often says better than the error what is the matter.
            found = self._look(attempt)
            return meaning(error, found) if isinstance(found, dict) else found

    def _look(self, attempt: _Attempt) -> Json | Outcome:
        """The claim, if it is the planned one and free; else what that means for us."""
        order = attempt.order
        attempt.step = None
        try:
            if (served := self._resource()) is None:
                return _unseen(NOT_SERVED, attempt)
            claim = self._client.get(served, order.namespace, order.name)
        except NotFound as error:
            if error.not_served:
                self._served = None
                return _unseen(NOT_SERVED, attempt)
            return gone(order)
        except (Unauthorized, Forbidden) as error:
            return _unseen(forbidden(error, _RIGHTS[None]), attempt)
        except (ServerError, TooManyRequests):
            raise
        except ApiError as error:
            return invalid(error)
        return _verdict(claim, attempt) or claim

    def _write(self, attempt: _Attempt, claim: Json) -> Written:
        served = self._resource() or AS_V1
        order = attempt.order
        if not protected(claim):
            request = finalizer_request(order, claim, served)
            claim = self._send(attempt, Step.FINALIZER, request)
        request = status_request(order, claim, served)
        claim = self._send(attempt, Step.STATUS, request)
        exact = holds(claim, order.allocation)
        return Written(claim, tuple(attempt.sent), exact=exact)

    def _send(self, attempt: _Attempt, step: Step, request: Request) -> Json:
        attempt.step = step
        attempt.before(step, request)
        attempt.sent.append(request)
        kind: Literal["json", "merge"] = (
            "json" if request.content_type.startswith("application/json-") else "merge"
        )
        try:
            return self._client.patch(
                self._resource() or AS_V1,
                attempt.order.namespace,
                attempt.order.name,
                request.body,
                subresource=request.subresource,
                patch_type=kind,
            )
        except (ServerError, Unreachable) as error:
            attempt.uncertain |= step is Step.STATUS and error.outcome_unknown
            raise

    def _resource(self) -> ServedResource | None:
        if self._served is None:
            self._served = self._client.discover().get("ResourceClaim")
        return self._served


def _verdict(claim: Json, attempt: _Attempt) -> Outcome | None:
    """What the claim as read says about the order; None: go on."""
    order = attempt.order
    if other := replaced(order, claim):
        return other
    if holds(claim, order.allocation):
        return Written(claim, tuple(attempt.sent))
    return unfree(order, claim)


def _unseen(refused: Refused, attempt: _Attempt) -> Outcome:
    """The claim could not be looked at, so what was sent before may be in it."""
    return Unknown(f"{refused.reason} {PERHAPS}") if attempt.uncertain else refused
