"""Plans to judge: devices, what a claim asks, and the allocation that is judged."""

from __future__ import annotations

from typing import Any

from dra.allocation import DEFAULT, Features, Fits, allocate
from dra.allocation.verify import Code, verify
from dra.objects import AllocationResult, ResourceClaim
from dra.snapshot import Snapshot
from tests.dra.allocation.verify.alterations import (
    with_first,
)
from tests.dra.builders import (
    device,
)


def gpus(count: int = 2, **fields: Any) -> list[Any]:
    return [device(f"gpu-{i}", **fields) for i in range(count)]


def found(
    world: Snapshot, *claims: ResourceClaim, features: Features = DEFAULT
) -> list[AllocationResult]:
    """What the engine gives the claims, which has to be right."""
    outcome = allocate(world, claims, "n1", features=features)
    assert isinstance(outcome, Fits), outcome
    assert verify(world, claims, outcome.allocations, "n1", features=features) == ()
    return list(outcome.allocations)


def broken(
    world: Snapshot,
    claims: list[ResourceClaim],
    allocations: list[AllocationResult],
    node_name: str = "n1",
    **options: Any,
) -> set[Code]:
    return {v.code for v in verify(world, claims, allocations, node_name, **options)}


def moved(
    world: Snapshot, one: ResourceClaim, to: str, features: Features = DEFAULT
) -> set[Code]:
    """What is wrong once the claim's first result names the device ``to``."""
    right = found(world, one, features=features)
    return broken(world, [one], [with_first(right[0], device=to)], features=features)


def labelled(**values: Any) -> list[Any]:
    return [device(name, attributes={"a": value}) for name, value in values.items()]
