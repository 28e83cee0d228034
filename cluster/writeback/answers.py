"""What an answer of the API server, or the claim as it was found, means for an order."""

from __future__ import annotations

from typing import Final, Protocol

from cluster.errors import (
    ApiError,
    Conflict,
    Forbidden,
    Invalid,
    NotFound,
    TooManyRequests,
    Unauthorized,
    Unreachable,
)
from cluster.writeback.values import (
    Changed,
    Json,
    Refusal,
    Refused,
    Unknown,
    allocation_of,
    meta_of,
    version_of,
)

BINDING: Final = "patch resourceclaims/binding"
PERHAPS: Final = "The allocation may or may not have been written."
NOT_SERVED: Final = Refused(
    Refusal.NOT_SERVED,
    "The API server does not serve resourceclaims in a version that the portal can "
    "write (v1, v1beta2, v1beta1).",
)


class Target(Protocol):
    """The claim that an order is for."""

    @property
    def namespace(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def uid(self) -> str: ...


class EndedError(Exception):
    """The write ends here with ``outcome``; nothing but a writer sees it."""

    def __init__(self, outcome: Changed | Refused | Unknown) -> None:
        self.outcome = outcome
        super().__init__(outcome.reason)


def the_claim(namespace: str, name: str) -> str:
    return f"The claim {namespace}/{name}"


def gone(order: Target) -> Refused:
    return Refused(
        Refusal.GONE, f"{the_claim(order.namespace, order.name)} no longer exists."
    )


def replaced(order: Target, claim: Json) -> Refused | None:
    """Not None when the claim is another one of the same name."""
    if str(meta_of(claim).get("uid") or "") == order.uid:
        return None
    return Refused(
        Refusal.GONE,
        f"{the_claim(order.namespace, order.name)} was deleted, and a new one has "
        "taken its name.",
        claim=claim,
    )


def unfree(order: Target, claim: Json) -> Refused | None:
    """Why the claim, the planned one, cannot be allocated; None when it can."""
    named = the_claim(order.namespace, order.name)
    if allocation_of(claim) is not None:
        return Refused(
            Refusal.ALLOCATED,
            f"{named} has been allocated by somebody else.",
            claim=claim,
        )
    if meta_of(claim).get("deletionTimestamp"):
        return Refused(Refusal.DELETING, f"{named} is being deleted.", claim=claim)
    return None


def meaning(error: ApiError, claim: Json) -> Changed | Refused:
    """What an error of a write to a claim means when that is still there and free."""
    if isinstance(error, Conflict):
        return Changed("The claim was changed while we wrote to it.", version_of(claim))
    if isinstance(error, Invalid) and "resourceclaims/binding" in str(error):
        return Refused(
            Refusal.FORBIDDEN,
            "The portal's account may not allocate claims: it needs the verb patch on "
            "resourceclaims/binding, granted by a ClusterRoleBinding.",
            missing=f"{BINDING} (cluster-wide)",
        )
    return invalid(error)


def invalid(error: ApiError) -> Refused:
    return Refused(
        Refusal.INVALID, f"The API server refused the request ({error.code}): {error}"
    )


def forbidden(error: ApiError, right: str) -> Refused:
    """A 401 or 403 of a request that needs ``right``, such as ``patch pods``."""
    if isinstance(error, Unauthorized):
        return Refused(
            Refusal.FORBIDDEN,
            "The API server did not accept the portal's credentials (401).",
        )
    return Refused(
        Refusal.FORBIDDEN,
        f"The portal's account lacks a right: {right}.",
        missing=right,
    )


def refused(error: ApiError, right: str) -> Refused:
    """What any other request means that was answered with a refusal."""
    if isinstance(error, (Unauthorized, Forbidden)):
        return forbidden(error, right)
    if isinstance(error, NotFound) and error.not_served:
        return Refused(
            Refusal.NOT_SERVED,
            f"The API server does not serve what is needed to {right}.",
        )
    return invalid(error)


def given_up(error: ApiError | Unreachable, *, uncertain: bool) -> Refused | Unknown:
    """The end of patience; ``uncertain``: something that allocates has been sent."""
    if isinstance(error, TooManyRequests):
        why = "The API server is overloaded (429) and kept refusing the request."
    elif isinstance(error, ApiError):
        why = f"The API server kept failing ({error.code}): {error.message}"
    else:
        why = "The API server cannot be reached."
    if uncertain:
        return Unknown(f"{why} {PERHAPS}")
    return Refused(Refusal.UNAVAILABLE, f"{why} Nothing was allocated.")
