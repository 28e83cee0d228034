"""What one request asks of devices, and which devices of the cluster that leaves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from claims.authoring.choices.memory import remembered
from dra.allocation import Features
from dra.allocation.classes import chain_of
from dra.allocation.explaining.funnel import outcomes_of
from dra.cel.selection import TRUE
from dra.cel.table import DeviceTable
from dra.snapshot import Snapshot

type Rows = NDArray[np.intp]

MOST_SELECTORS: Final = 32
"""That the API allows in one request."""


@dataclass(frozen=True, slots=True)
class Ask:
    """One request, or one alternative of one, as far as choices depend on it.

    ``name`` is what people call it: ``gpu`` or ``gpu/big``. ``count`` devices of the
    class ``class_name`` that pass ``selectors`` (CEL expressions) are wanted on one
    node; ``everything``: all there are, then ``count`` means nothing.
    """

    class_name: str
    selectors: tuple[str, ...] = ()
    name: str = ""
    count: int = 1
    everything: bool = False

    @classmethod
    def of(cls, details: Mapping[str, Any], name: str = "") -> Ask:
        """From the JSON of ``exactly`` or of an entry of ``firstAvailable``.

        Anything that is not as the API has it counts as not given.
        """
        class_name, count = details.get("deviceClassName"), details.get("count")
        return cls(
            class_name=class_name if isinstance(class_name, str) else "",
            selectors=tuple(_expressions(details.get("selectors"))),
            name=name,
            count=count if isinstance(count, int) and count > 0 else 1,
            everything=details.get("allocationMode") == "All",
        )


def _expressions(selectors: object) -> list[str]:
    found = []
    for selector in selectors if isinstance(selectors, list) else ():
        said = selector.get("cel") if isinstance(selector, dict) else None
        text = said.get("expression") if isinstance(said, dict) else None
        if isinstance(text, str) and text.strip():
            found.append(text)
    return found[:MOST_SELECTORS]


@dataclass(frozen=True, slots=True)
class Wanted:
    """The devices of an ask, were all of them free: ``rows`` of the device table.

    ``left_out`` are selectors that say nothing because they do not compile (yet).
    ``known`` is False where the class does not exist, or cannot be evaluated.
    """

    rows: Rows
    left_out: tuple[str, ...] = ()
    known: bool = True

    def __len__(self) -> int:
        return len(self.rows)


def table_of(snapshot: Snapshot, features: Features) -> DeviceTable:
    return snapshot.devices(lists=features.list_type_attributes)


def wanted(snapshot: Snapshot, ask: Ask, features: Features) -> Wanted:
    """The devices that pass the selectors of class and request.

    A device on which a selector fails does not pass. A selector of the request that
    does not compile is passed over: somebody is writing it.
    """
    table = table_of(snapshot, features)
    device_class = snapshot.classes.get(ask.class_name)
    if device_class is None:
        return Wanted(np.zeros(0, np.intp), known=False)
    return remembered(
        table,
        ("wanted", ask.class_name, ask.selectors),
        (device_class,),
        lambda: _wanted(table, chain_of(device_class), ask.selectors),
    )


def _wanted(
    table: DeviceTable, chain: Sequence[str], selectors: Sequence[str]
) -> Wanted:
    mask = np.ones(len(table), np.bool_)
    left_out = []
    for place, expression in enumerate((*chain, *selectors)):
        outcomes = outcomes_of(table, expression)
        if outcomes is not None:
            mask &= outcomes == TRUE
        elif place < len(chain):
            return Wanted(np.zeros(0, np.intp), known=False)
        else:
            left_out.append(expression)
    rows = np.flatnonzero(mask)
    rows.setflags(write=False)
    return Wanted(rows, tuple(left_out))
