"""Claims as the search sees them, and what is wrong with them before it starts.

Everything here depends on the claims, the classes and the gates only, never on
a node, so one :class:`Plan` serves a question about many nodes. The first
problem wins and later ones are not looked for (allocator.md section 3); because
an earlier request for all devices may still fail on the node in its own way, the
problem is kept in the plan together with what came before it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable, Mapping, Sequence
from typing import Final

from msgspec.structs import replace

from dra.allocation.errors import AllocationError
from dra.allocation.features import Features
from dra.objects import (
    Constraint,
    DeviceClass,
    DeviceSelector,
    ExactRequest,
    RawQuantity,
    Request,
    ResourceClaim,
    SubRequest,
    Toleration,
)

MAX_RESULTS: Final = 32
"""How many devices one claim can hold (``AllocationResultsMaxSize``)."""


@dataclasses.dataclass(frozen=True, slots=True)
class Selector:
    """One CEL expression and the words that name it in an error."""

    expression: str
    where: str


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Ask:
    """One request, or one alternative of a ``firstAvailable`` request.

    ``result_name`` is what results carry (``request`` or ``request/subrequest``),
    ``parent`` is the request's own name. ``count`` means nothing when ``everything``
    is set: then all matching devices are wanted. ``selectors`` are those of the
    class, then those of the request; ``chain`` is their expressions. ``derived`` has
    the expressions of derived attributes that a constraint compares, by name.
    """

    claim_index: int
    parent: str
    result_name: str
    where: str
    class_name: str
    device_class: DeviceClass
    selectors: tuple[Selector, ...]
    chain: tuple[str, ...]
    everything: bool
    count: int
    admin: bool
    tolerations: tuple[Toleration, ...]
    capacity: Mapping[str, RawQuantity]
    capacity_key: tuple[tuple[str, RawQuantity], ...]
    derived: Mapping[str, str]

    @property
    def terms(self) -> Hashable:
        """Equal for requests of a claim that ask for the same, constraints left aside."""
        return (
            self.chain,
            self.everything,
            self.count,
            self.admin,
            self.tolerations,
            self.capacity_key,
            tuple(sorted(self.derived.items())),
        )


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class RequestPlan:
    """The alternatives of one request; exactly one when ``optional`` is False."""

    alternatives: tuple[Ask, ...]
    optional: bool


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class ClaimPlan:
    """One claim; ``problem`` is found after its requests have been counted."""

    claim: ResourceClaim
    where: str
    requests: tuple[RequestPlan, ...]
    constraints: tuple[Constraint, ...]
    problem: AllocationError | None = None


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """All claims of one question.

    With ``problem``, the last claim is cut off where the problem was found and
    nothing can be allocated; what precedes it may fail first on a given node.
    ``classic``: for the older allocator, which tries the devices of a request in every
    order.
    """

    claims: tuple[ClaimPlan, ...]
    problem: AllocationError | None = None
    classic: bool = False

    @property
    def asks(self) -> list[Ask]:
        """Every alternative of every request, in order."""
        return [a for c in self.claims for r in c.requests for a in r.alternatives]


def make_plan(
    claims: Sequence[ResourceClaim],
    classes: Mapping[str, DeviceClass],
    features: Features,
    *,
    classic: bool = False,
) -> Plan:
    """Check and normalise ``claims``.

    ``classic``: as the older allocator does it, which knows neither capacity
    requests, so it does not mind them, nor distinctAttribute, which it refuses.
    Never raises for a bad claim: that is ``Plan.problem`` or ``ClaimPlan.problem``.
    """
    plans: list[ClaimPlan] = []
    for index, claim in enumerate(claims):
        reader = _ClaimReader(index, claim, classes, features, classic=classic)
        requests, problem = reader.read()
        constraints = tuple(claim.spec.devices.constraints or ())
        plans.append(
            ClaimPlan(
                claim=claim,
                where=reader.where,
                requests=requests,
                constraints=constraints,
                problem=_bad_constraint(
                    reader.where, constraints, distinct_allowed=not classic
                ),
            )
        )
        if problem is not None:
            return Plan(tuple(plans), problem, classic)
    return Plan(tuple(plans), classic=classic)


def with_defaults(claim: ResourceClaim) -> ResourceClaim:
    """The claim as the API server stores it: mode ExactCount, count 1.

    A claim that comes from the API has them already. The server refuses a count
    of 0, so 0 means that none was given.
    """
    devices = claim.spec.devices
    requests = [
        replace(
            request,
            exactly=request.exactly and _with_defaults(request.exactly),
            first_available=request.first_available
            and [_with_defaults(sub) for sub in request.first_available],
        )
        for request in devices.requests or ()
    ]
    if requests == (devices.requests or []):
        return claim
    return replace(
        claim, spec=replace(claim.spec, devices=replace(devices, requests=requests))
    )


def _with_defaults[T: ExactRequest | SubRequest](request: T) -> T:
    mode = request.allocation_mode or "ExactCount"
    count = request.count or (1 if mode == "ExactCount" else 0)
    return replace(request, allocation_mode=mode, count=count)


def claim_name(claim: ResourceClaim) -> str:
    """How errors name a claim."""
    return f"claim {claim.metadata.namespace}/{claim.metadata.name}"


class _ClaimReader:
    def __init__(
        self,
        index: int,
        claim: ResourceClaim,
        classes: Mapping[str, DeviceClass],
        features: Features,
        *,
        classic: bool,
    ) -> None:
        self.index = index
        self.claim = claim
        self.classes = classes
        self.features = features
        self.classic = classic
        self.where = claim_name(claim)

    def read(self) -> tuple[tuple[RequestPlan, ...], AllocationError | None]:
        done: list[RequestPlan] = []
        for request in self.claim.spec.devices.requests or ():
            alternatives: list[Ask] = []
            problem = None
            try:
                self._check_gates(request)
                for part in request.first_available or (request.exactly,):
                    ask = self._ask(request, part)
                    alternatives.append(ask)
            except AllocationError as error:
                problem = error
            if alternatives:
                optional = bool(request.first_available)
                done.append(RequestPlan(tuple(alternatives), optional))
            if problem is not None:
                return tuple(done), problem
        return tuple(done), None

    def _check_gates(self, request: Request) -> None:
        where = f"{self.where}, request {request.name}"
        if request.first_available and not self.features.prioritized_list:
            raise AllocationError(
                f"{where}: has subrequests, but the DRAPrioritizedList feature is disabled"
            )
        if self.features.consumable_capacity or self.classic:
            return
        if request.exactly is not None and request.exactly.capacity is not None:
            raise AllocationError(
                f"{where}: has capacity requests, but the DRAConsumableCapacity "
                "feature is disabled"
            )
        for sub in request.first_available or ():
            if sub.capacity is not None:
                raise AllocationError(
                    f"{self.where}, subrequest {sub.name}: has capacity requests, but "
                    "the DRAConsumableCapacity feature is disabled"
                )

    def _ask(self, request: Request, part: ExactRequest | SubRequest | None) -> Ask:
        if part is None:
            raise AllocationError(
                f"{self.where}, request {request.name}: has neither exactly nor "
                "firstAvailable (unsupported request type?)"
            )
        name, result_name, admin = request.name, request.name, None
        if isinstance(part, SubRequest):
            name, result_name = part.name, f"{request.name}/{part.name}"
        else:
            admin = part.admin_access
        where = f"{self.where}, request {name}"
        selectors = _selectors(part.selectors, where, where)
        if admin is not None and not self.features.admin_access:
            raise AllocationError(
                f"{where}: admin access is requested, but the feature is disabled"
            )
        device_class = self._class(part.device_class_name, where)
        if part.allocation_mode not in {"ExactCount", "All"}:
            raise AllocationError(
                f"{where}: unsupported count mode {part.allocation_mode}"
            )
        class_where = f"class {part.device_class_name}"
        selectors = (
            *_selectors(device_class.spec.selectors, class_where, class_where),
            *selectors,
        )
        capacity = (part.capacity.requests or {}) if part.capacity else {}
        return Ask(
            claim_index=self.index,
            parent=request.name,
            result_name=result_name,
            where=where,
            class_name=part.device_class_name,
            device_class=device_class,
            selectors=selectors,
            chain=tuple(s.expression for s in selectors),
            everything=part.allocation_mode == "All",
            count=part.count,
            admin=bool(admin),
            tolerations=tuple(part.tolerations or ()),
            capacity=capacity,
            capacity_key=tuple(sorted(capacity.items())),
            derived=self._derived(part),
        )

    def _derived(self, part: ExactRequest | SubRequest) -> dict[str, str]:
        """What some constraint compares.

        With the gate off the scheduler does as if there were none.
        """
        if not self.features.derived_attributes:
            return {}
        compared = {
            c.match_attribute or c.distinct_attribute
            for c in self.claim.spec.devices.constraints or ()
        }
        return {
            d.name: d.expression
            for d in part.derived_attributes or ()
            if d.name in compared
        }

    def _class(self, name: str, where: str) -> DeviceClass:
        if not name:
            raise AllocationError(
                f"{where}: missing device class name (unsupported request type?)"
            )
        found = self.classes.get(name)
        if found is None:
            raise AllocationError(
                f'{where}: could not retrieve device class {name}: DeviceClass "{name}" '
                "does not exist"
            )
        return found


def _selectors(
    selectors: Sequence[DeviceSelector] | None, owner: str, where: str
) -> tuple[Selector, ...]:
    found = []
    for i, selector in enumerate(selectors or ()):
        if selector.cel is None:
            raise AllocationError(
                f"{where}, selector #{i}: CEL expression empty (unsupported selector type?)"
            )
        found.append(Selector(selector.cel.expression, f"{owner}: selector #{i}"))
    return tuple(found)


def _bad_constraint(
    where: str, constraints: Sequence[Constraint], *, distinct_allowed: bool
) -> AllocationError | None:
    for i, constraint in enumerate(constraints):
        if constraint.match_attribute is not None:
            continue
        if constraint.distinct_attribute is not None and distinct_allowed:
            continue
        return AllocationError(
            f"{where}, constraint #{i}: empty constraint (unsupported constraint type?)"
        )
    return None
