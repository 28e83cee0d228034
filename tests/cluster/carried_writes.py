"""Writing by a carrier."""

from __future__ import annotations

from cluster.writeback import (
    Order,
    Outcome,
)
from cluster.writeback.carrier import CarrierWriter
from tests.cluster.guarded_world import QUICK, GuardedWorld, options


def writer(world: GuardedWorld, **changes) -> CarrierWriter:
    return CarrierWriter(world.client, options(**changes), patience=QUICK)


def write(world: GuardedWorld, order: Order, **changes) -> Outcome:
    return writer(world, **changes).write(order)
