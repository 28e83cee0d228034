"""Quantities of objects, with an error that says where an unreadable one is."""

from __future__ import annotations

from dra import quantity
from dra.allocation.errors import AllocationError
from dra.errors import QuantityError
from dra.objects import RawQuantity
from dra.quantity import Quantity


def read_quantity(raw: RawQuantity | None, where: str) -> Quantity:
    """The quantity; ``where`` names object and field in the AllocationError."""
    try:
        return quantity.read(raw)
    except QuantityError as error:
        raise AllocationError(f"{where}: {error}", node_only=True) from error
