"""Which devices a question is about."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Final

import numpy as np
from numpy.typing import NDArray

from dra import cel
from dra.allocation.classes import chain_of
from dra.cel.reads import Read
from dra.cel.selection import TRUE, Stop
from dra.device_states import STATES, table_states
from dra.errors import DRAError, NotSupportedError
from dra.snapshot import Snapshot
from dra.usage import State

type Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Scope:
    """Devices for which all of this holds; an empty part asks for nothing.

    ``node`` is the node that owns the device, ``state`` a value of
    :class:`dra.usage.State`.
    """

    device_class: str = ""
    driver: str = ""
    node: str = ""
    pool: str = ""
    state: str = ""

    def __bool__(self) -> bool:
        return any(getattr(self, part.name) for part in fields(self))


EVERYTHING: Final = Scope()


class NoSuchScope(DRAError):  # noqa: N818 - reads better
    """``field`` of the scope names something that has no devices; the text says why.

    ``missing``: because it is not there.
    """

    def __init__(self, field: str, sentence: str, *, missing: bool = True) -> None:
        self.field = field
        self.missing = missing
        super().__init__(sentence)


def scope_mask(
    snapshot: Snapshot,
    table: cel.DeviceTable,
    scope: Scope,
    *,
    features: cel.CelFeatures | None = None,
    stop: Stop | None = None,
) -> Mask | None:
    """The devices of ``scope`` among those of ``table``; None: all of them.

    Devices of a class are those on which all its selectors are true. A driver,
    node or pool without a device gives an empty mask. Raises :class:`NoSuchScope`
    for a class that is not there or that cannot be evaluated and for an unknown
    state, and :class:`~dra.cel.Stopped`.
    """
    mask: Mask | None = None
    for part, narrow in _PARTS.items():
        wanted = getattr(scope, part)
        if wanted:
            found = narrow(snapshot, table, wanted)
            mask = found if mask is None else mask & found
    if scope.device_class:
        features = features or cel.CelFeatures(list_type_attributes=table.lists)
        found = _of_class(snapshot, table, scope.device_class, features, stop)
        mask = found if mask is None else mask & found
    return mask


def node_names(table: cel.DeviceTable, rows: Sequence[int]) -> dict[int, str]:
    """The node that owns each of ``rows``, empty where several nodes reach it."""
    blocks = table.listing.blocks
    names: dict[int, str] = {}
    for row in rows:
        block = blocks[bisect_right(blocks, row, key=lambda b: b.start) - 1]
        assert block.slice is not None
        spec = block.slice.spec
        device = (spec.devices or ())[row - block.start]
        names[row] = spec.node_name or device.node_name or ""
    return names


def _of_driver(_snapshot: Snapshot, table: cel.DeviceTable, wanted: str) -> Mask:
    column = table.columns[Read("driver")]
    codes = [code for code in range(1, column.size) if column.raws[code] == wanted]
    return np.isin(column.codes, codes)


def _on_node(_snapshot: Snapshot, table: cel.DeviceTable, wanted: str) -> Mask:
    mask = np.zeros(len(table), np.bool_)
    for piece, _, start, stop in table.listing.blocks:
        assert piece is not None
        owner = piece.spec.node_name
        if owner:
            mask[start:stop] = owner == wanted
        else:
            devices = piece.spec.devices or ()
            mask[start:stop] = [device.node_name == wanted for device in devices]
    return mask


def _in_pool(_snapshot: Snapshot, table: cel.DeviceTable, wanted: str) -> Mask:
    mask = np.zeros(len(table), np.bool_)
    for _, pool, start, stop in table.listing.blocks:
        mask[start:stop] = pool.name == wanted
    return mask


def _in_state(snapshot: Snapshot, _table: cel.DeviceTable, wanted: str) -> Mask:
    if wanted not in STATES:
        known = ", ".join(STATES)
        raise NoSuchScope("state", f"There is no state “{wanted}”, only: {known}.")
    mask: Mask = table_states(snapshot) == STATES.index(State(wanted))
    return mask


type _Narrow = Callable[[Snapshot, cel.DeviceTable, str], Mask]
_PARTS: Final[dict[str, _Narrow]] = {
    "driver": _of_driver,
    "node": _on_node,
    "pool": _in_pool,
    "state": _in_state,
}


def _of_class(
    snapshot: Snapshot,
    table: cel.DeviceTable,
    name: str,
    features: cel.CelFeatures,
    stop: Stop | None,
) -> Mask:
    found = snapshot.classes.get(name)
    if found is None:
        raise NoSuchScope(
            "device_class", f"The cluster has no device class “{name}” (any more)."
        )
    mask = np.ones(len(table), np.bool_)
    try:
        for program in _programs(chain_of(found), features):
            mask &= table.select(program, stop=stop).outcomes == TRUE
    except (cel.CompileError, NotSupportedError) as error:
        raise NoSuchScope(
            "device_class",
            f"No device is of the class “{name}”, its selector cannot be evaluated: "
            f"{error}",
            missing=False,
        ) from error
    return mask


def _programs(
    expressions: Sequence[str], features: cel.CelFeatures
) -> Iterator[cel.Program]:
    for expression in expressions:
        yield cel.compile(expression, features=features)
