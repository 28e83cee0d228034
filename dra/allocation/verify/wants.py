"""What a claim asks for, by the names that results use."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from dra.allocation.features import Features
from dra.allocation.verify.violations import Code, Violation
from dra.objects import (
    DeviceClass,
    ExactRequest,
    RawQuantity,
    Request,
    ResourceClaim,
    SubRequest,
)


@dataclass(frozen=True, slots=True, eq=False)
class Want:
    """One request, or one alternative of a ``firstAvailable`` request.

    ``name`` is what results carry, ``parent`` the request's own name;
    ``device_class`` is None when there is no such class.
    """

    index: int
    claim: str
    parent: str
    name: str
    body: ExactRequest | SubRequest
    device_class: DeviceClass | None

    @property
    def everything(self) -> bool:
        return self.body.allocation_mode == "All"

    @property
    def count(self) -> int:
        """How many devices; the API's default where none is given."""
        return self.body.count or 1

    @property
    def admin(self) -> bool:
        return isinstance(self.body, ExactRequest) and bool(self.body.admin_access)

    @property
    def capacity(self) -> Mapping[str, RawQuantity]:
        return (self.body.capacity and self.body.capacity.requests) or {}

    def violation(self, code: Code, sentence: str) -> Violation:
        return Violation(code, self.claim, self.name, "", sentence)

    def __str__(self) -> str:
        return f"request {self.name} of claim {self.claim}"


@dataclass(frozen=True, slots=True, eq=False)
class Wanted:
    """All that one claim wants: alternatives by request, in the claim's order.

    ``name`` is ``namespace/name``, ``index`` the claim's place in the question.
    """

    claim: ResourceClaim
    name: str
    index: int
    requests: tuple[tuple[str, tuple[Want, ...]], ...]

    @property
    def by_name(self) -> dict[str, Want]:
        return {want.name: want for _, wants in self.requests for want in wants}


def claim_name(claim: ResourceClaim) -> str:
    """How violations name a claim: ``namespace/name``."""
    return f"{claim.metadata.namespace}/{claim.metadata.name}"


def wants_of(
    claim: ResourceClaim, index: int, classes: Mapping[str, DeviceClass]
) -> Wanted:
    """What ``claim``, number ``index`` of the question, wants."""
    name = claim_name(claim)
    requests = []
    for request in claim.spec.devices.requests or ():
        wants = tuple(
            Want(
                index=index,
                claim=name,
                parent=request.name,
                name=called,
                body=body,
                device_class=classes.get(body.device_class_name),
            )
            for called, body in _parts(request)
        )
        requests.append((request.name, wants))
    return Wanted(claim, name, index, tuple(requests))


def _parts(request: Request) -> Iterator[tuple[str, ExactRequest | SubRequest]]:
    if request.first_available:
        for sub in request.first_available:
            yield f"{request.name}/{sub.name}", sub
    elif request.exactly is not None:
        yield request.name, request.exactly


def check_requests(wanted: Wanted, features: Features) -> Iterator[Violation]:
    """What no allocation can satisfy, or only with a feature that is off."""
    for parent, wants in wanted.requests:
        if not wants:
            yield Violation(
                Code.REQUEST_INVALID,
                wanted.name,
                parent,
                "",
                f"The request {parent} of claim {wanted.name} has neither exactly nor "
                "firstAvailable.",
            )
        for want in wants:
            yield from _check_want(want, features)


def _check_want(want: Want, features: Features) -> Iterator[Violation]:
    body = want.body
    uses = {
        "DRAPrioritizedList": (
            isinstance(body, SubRequest) and not features.prioritized_list
        ),
        "DRAConsumableCapacity": (
            body.capacity is not None and not features.consumable_capacity
        ),
        "DRAAdminAccess": (
            isinstance(body, ExactRequest)
            and body.admin_access is not None
            and not features.admin_access
        ),
    }
    for gate, off in uses.items():
        if off:
            yield want.violation(
                Code.FEATURE_OFF, f"The {want} needs {gate}, which is off."
            )
    if body.allocation_mode not in {"", "ExactCount", "All"}:
        yield want.violation(
            Code.REQUEST_INVALID,
            f"The {want} has the unknown allocation mode {body.allocation_mode}.",
        )
    if want.device_class is None:
        yield want.violation(
            Code.REQUEST_INVALID,
            f'The {want} is of class "{body.device_class_name}", which does not exist.',
        )
