"""Bringing a planned allocation into a cluster: conditional, bounded, idempotent.

The API server checks only the form of an allocation, so what protects a device is
what a writer does around the write. Writers differ in that and share the rest: an
:class:`Order` goes in, an :data:`Outcome` comes out, and ``before`` is told of
every request that changes the cluster. A writer that needs a guard, a barrier or a
carrier pod makes and removes them inside ``write``; ``Order.node_name`` and
``Order.run`` are there for it. ``cluster.writeback.direct`` is the plain one,
``carrier`` lets the scheduler allocate, ``guarded`` keeps it away meanwhile;
``releasing`` takes an allocation back and ``leftovers`` what a crash left.
"""

from __future__ import annotations

from cluster.writeback.requests import FINALIZER, foresee
from cluster.writeback.values import (
    Beat,
    Before,
    Changed,
    Order,
    Outcome,
    Refusal,
    Refused,
    Release,
    Released,
    ReleaseOutcome,
    Request,
    Step,
    Unknown,
    Writer,
    Written,
    allocation_of,
    holds,
    reservations_of,
    same_allocation,
    same_devices,
    timestamp,
    version_of,
)

__all__ = [
    "FINALIZER",
    "Beat",
    "Before",
    "Changed",
    "Order",
    "Outcome",
    "Refusal",
    "Refused",
    "Release",
    "ReleaseOutcome",
    "Released",
    "Request",
    "Step",
    "Unknown",
    "Writer",
    "Written",
    "allocation_of",
    "foresee",
    "holds",
    "reservations_of",
    "same_allocation",
    "same_devices",
    "timestamp",
    "version_of",
]
