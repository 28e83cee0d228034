"""What every part of an expression is on one device."""

from __future__ import annotations

from dataclasses import dataclass

from dra import cel
from dra.cel.cost import LIMIT, Range
from dra.cel.trace import Trace, trace
from dra.errors import DRAError, NotSupportedError
from dra.names import DeviceID
from dra.snapshot import Snapshot
from inventory.selecting.asking import compiled, unsupported


class NoSuchDevice(DRAError):  # noqa: N818 - reads better
    """The newest generation of the pool does not publish the device."""

    def __init__(self, device: DeviceID) -> None:
        self.device = device
        super().__init__(
            f"Driver “{device.driver}” does not publish a device “{device.device}” in "
            f"pool “{device.pool}” (any more)."
        )


@dataclass(frozen=True, slots=True)
class DeviceTrace:
    """``trace`` is None for a text that is no selector; ``issues`` say why."""

    expression: str
    device: DeviceID
    valid: bool
    issues: tuple[cel.Issue, ...] = ()
    cost: Range | None = None
    cost_limit: int = LIMIT
    too_expensive: bool = False
    trace: Trace | None = None
    seq: int = 0


def device_trace(
    snapshot: Snapshot,
    expression: str,
    device: DeviceID,
    *,
    features: cel.CelFeatures,
) -> DeviceTrace:
    """Run ``expression`` once. Raises :class:`NoSuchDevice` only."""
    table = snapshot.devices(lists=features.list_type_attributes)
    row = table.ids.row(device)
    if row is None:
        raise NoSuchDevice(device)
    found = compiled(expression, features)
    traced: Trace | None = None
    if found.program is not None:
        try:
            traced = trace(found.program, table.device(row))
        except NotSupportedError as error:
            found = unsupported(found.expression, error)
    return DeviceTrace(
        expression=found.expression,
        device=device,
        valid=found.valid,
        issues=found.issues,
        cost=found.cost,
        too_expensive=found.too_expensive,
        trace=traced,
        seq=snapshot.seq,
    )
