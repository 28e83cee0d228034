"""Answers about the devices of one state of a cluster, kept as long as that state.

They hang on the device table, which snapshots with equal slices share, so nothing
outlives what it was worked out from.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, Final
from weakref import WeakKeyDictionary

from dra.cel.table import DeviceTable

MOST: Final = 48
"""Answers kept with one table, some of which have a number per device; the one that
was not asked for longest goes first."""

type Parts = tuple[object, ...]


class _Memory:
    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.known: OrderedDict[Hashable, tuple[Parts, Any]] = OrderedDict()


_memories: WeakKeyDictionary[DeviceTable, _Memory] = WeakKeyDictionary()
_lock: Final = threading.Lock()


def remembered[T](
    table: DeviceTable, key: Hashable, parts: Parts, make: Callable[[], T]
) -> T:
    """What ``make`` gives, once per ``key`` as long as ``parts`` are the same objects.

    ``parts`` is what the answer depends on beside the table. Two threads that ask at
    the same time may both make it.
    """
    with _lock:
        memory = _memories.setdefault(table, _Memory())
    with memory.lock:
        found = memory.known.get(key)
        if found is not None and _same(found[0], parts):
            memory.known.move_to_end(key)
            return found[1]  # type: ignore[no-any-return]  # made by the same function
    value = make()
    with memory.lock:
        memory.known[key] = (parts, value)
        memory.known.move_to_end(key)
        while len(memory.known) > MOST:
            memory.known.popitem(last=False)
    return value


def _same(before: Parts, now: Parts) -> bool:
    return len(before) == len(now) and all(
        a is b for a, b in zip(before, now, strict=True)
    )
