"""The plain protocol: read, finalizer, allocation, each conditional on what was read.

1. GET the claim. Stop if it is gone, another one of that name, being deleted or
   already allocated; if it already holds exactly our allocation, we are done.
2. PATCH the finalizer, if it is absent, with the resourceVersion read.
3. PATCH status.allocation with the resourceVersion of the answer.

After a lost connection or a 5xx, whose effect is unknown, the round starts again
at 1: a write that did arrive is recognised, one that did not is sent again, and one
that arrives late finds another resourceVersion.

Nothing here keeps a second writer from taking the same *device* for another claim:
right only where no other writer (no kube-scheduler) is at work.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal

from cluster.errors import (
    ApiError,
    Conflict,
    Forbidden,
    Invalid,
    NotFound,
    ServerError,
    TooManyRequests,
    Unauthorized,
    Unreachable,
)
from cluster.resources import ServedResource
from cluster.writeback.requests import (
    AS_V1,
    finalizer_request,
    foresee,
    protected,
    status_request,
)
from cluster.writeback.values import (
    Before,
    Changed,
    Json,
    Order,
    Outcome,
    Refusal,
    Refused,
    Request,
    Step,
    Unknown,
    Written,
    allocation_of,
    holds,
    meta_of,
    unheard,
    version_of,
)

if TYPE_CHECKING:
    from cluster.client import ClusterClient

_RIGHTS: Final = {
    None: "get resourceclaims",
    Step.FINALIZER: "patch resourceclaims",
    Step.STATUS: "patch resourceclaims/status",
}
_BINDING: Final = "patch resourceclaims/binding"
_PERHAPS: Final = "The allocation may or may not have been written."
_NOT_SERVED: Final = Refused(
    Refusal.NOT_SERVED,
    "The API server does not serve resourceclaims in a version that the portal can "
    "write (v1, v1beta2, v1beta1).",
)


@dataclass(frozen=True, slots=True)
class Patience:
    """How often a writer tries; the pauses between (seconds) double up to ``longest``."""

    attempts: int = 5
    delay: float = 0.2
    longest: float = 5.0
    sleep: Callable[[float], None] = time.sleep

    def waits(self) -> Iterator[float]:
        """One pause fewer than there are attempts."""
        for n in range(self.attempts - 1):
            yield min(self.delay * 2**n, self.longest)

    def pause(self, wait: float, error: ApiError | Unreachable) -> None:
        """Wait, or as long as the server asked for, though never without bound."""
        asked = error.retry_after if isinstance(error, ApiError) else None
        self.sleep(min(max(wait, float(asked or 0)), self.longest))


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

    name: Final = "direct"

    def __init__(
        self, client: ClusterClient, *, patience: Patience | None = None
    ) -> None:
        self._client = client
        self._patience = patience or Patience()
        self._served: ServedResource | None = None

    def preview(self, order: Order, claim: Json) -> list[Request]:
        return foresee(order, claim, self._served or AS_V1)

    def write(self, order: Order, *, before: Before = unheard) -> Outcome:
        attempt = _Attempt(order, before, uncertain=order.resumed)
        waits = self._patience.waits()
        while True:
            try:
                return self._round(attempt)
            except (ServerError, TooManyRequests, Unreachable) as error:
                if (wait := next(waits, None)) is None:
                    return _given_up(error, attempt)
                self._patience.pause(wait, error)

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
            return _forbidden(error, attempt.step)
        except ApiError as error:
            # The claim itself often says better than the error what is the matter.
            found = self._look(attempt)
            return _meaning(error, found) if isinstance(found, dict) else found

    def _look(self, attempt: _Attempt) -> Json | Outcome:
        """The claim, if it is the planned one and free; else what that means for us."""
        order = attempt.order
        attempt.step = None
        try:
            if (served := self._resource()) is None:
                return _unseen(_NOT_SERVED, attempt)
            claim = self._client.get(served, order.namespace, order.name)
        except NotFound as error:
            if error.not_served:
                self._served = None
                return _unseen(_NOT_SERVED, attempt)
            return Refused(Refusal.GONE, f"{_the_claim(order)} no longer exists.")
        except (Unauthorized, Forbidden) as error:
            return _unseen(_forbidden(error, None), attempt)
        except (ServerError, TooManyRequests):
            raise
        except ApiError as error:
            return _invalid(error)
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
    if str(meta_of(claim).get("uid") or "") != order.uid:
        return Refused(
            Refusal.GONE,
            f"{_the_claim(order)} was deleted, and a new one has taken its name.",
            claim=claim,
        )
    if holds(claim, order.allocation):
        return Written(claim, tuple(attempt.sent))
    if allocation_of(claim) is not None:
        return Refused(
            Refusal.ALLOCATED,
            f"{_the_claim(order)} has been allocated by somebody else.",
            claim=claim,
        )
    if meta_of(claim).get("deletionTimestamp"):
        return Refused(
            Refusal.DELETING, f"{_the_claim(order)} is being deleted.", claim=claim
        )
    return None


def _meaning(error: ApiError, claim: Json) -> Outcome:
    """What an error means when the claim is still there and still free."""
    if isinstance(error, Conflict):
        return Changed("The claim was changed while we wrote to it.", version_of(claim))
    if isinstance(error, Invalid) and "resourceclaims/binding" in str(error):
        return Refused(
            Refusal.FORBIDDEN,
            "The portal's account may not allocate claims: it needs the verb patch on "
            "resourceclaims/binding, granted by a ClusterRoleBinding.",
            missing=f"{_BINDING} (cluster-wide)",
        )
    return _invalid(error)


def _invalid(error: ApiError) -> Refused:
    return Refused(
        Refusal.INVALID, f"The API server refused the request ({error.code}): {error}"
    )


def _forbidden(error: ApiError, step: Step | None) -> Refused:
    if isinstance(error, Unauthorized):
        return Refused(
            Refusal.FORBIDDEN,
            "The API server did not accept the portal's credentials (401).",
        )
    right = _RIGHTS[step]
    return Refused(
        Refusal.FORBIDDEN,
        f"The portal's account lacks a right: {right}.",
        missing=right,
    )


def _unseen(refused: Refused, attempt: _Attempt) -> Outcome:
    """The claim could not be looked at, so what was sent before may be in it."""
    return Unknown(f"{refused.reason} {_PERHAPS}") if attempt.uncertain else refused


def _given_up(error: ApiError | Unreachable, attempt: _Attempt) -> Outcome:
    if isinstance(error, TooManyRequests):
        why = "The API server is overloaded (429) and kept refusing the request."
    elif isinstance(error, ApiError):
        why = f"The API server kept failing ({error.code}): {error.message}"
    else:
        why = "The API server cannot be reached."
    if attempt.uncertain:
        return Unknown(f"{why} {_PERHAPS}")
    return Refused(Refusal.UNAVAILABLE, f"{why} Nothing was allocated.")


def _the_claim(order: Order) -> str:
    return f"The claim {order.namespace}/{order.name}"
