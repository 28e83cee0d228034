"""Slices prepared for searching, kept for as long as they are asked for.

Slices never change and snapshots share them, so what is computed about one (its
candidates, which of them a selector matches) is kept here by identity and serves
every later question in this process. The store is bounded: what two generations
of entries did not ask for is dropped.
"""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Mapping
from typing import Any, Final

from dra.names import DeviceID
from dra.objects import Device, ResourceSlice, ResourceSliceSpec

_GENERATION: Final = 40_000


@dataclasses.dataclass(slots=True, eq=False)
class Candidate:
    """One published device; ``index`` is its place in its slice."""

    id: DeviceID
    index: int
    device: Device
    view: SliceView
    shareable: bool
    memo: dict[object, object]
    """What counters and capacity worked out about the device."""

    @property
    def spec(self) -> ResourceSliceSpec:
        return self.view.slice.spec


@dataclasses.dataclass(slots=True, eq=False)
class SliceView:
    """A slice, its candidates in order, and what selectors said about them."""

    slice: ResourceSlice
    candidates: tuple[Candidate, ...]
    by_name: Mapping[str, Candidate]
    verdicts: dict[object, list[object]]
    """Memo of :mod:`dra.allocation.matching`, one entry per candidate."""
    memo: dict[object, object]
    """What counters worked out about the slice."""


_young: dict[int, SliceView] = {}
_old: dict[int, SliceView] = {}
_making: Final = threading.Lock()


def view_of(piece: ResourceSlice) -> SliceView:
    """The view of a slice, made when it is first asked for.

    Threads that ask at the same time get one: what one of them learns serves all, and
    its candidates are known by identity.
    """
    global _young, _old
    key = id(piece)
    view = _young.get(key)
    if view is not None and view.slice is piece:
        return view
    with _making:
        view = _young.get(key)
        if view is None or view.slice is not piece:
            view = _old.get(key)
        if view is None or view.slice is not piece:
            view = _make_view(piece)
        if len(_young) >= _GENERATION:
            _old, _young = _young, {}
        _young[key] = view
    return view


def _make_view(piece: ResourceSlice) -> SliceView:
    spec = piece.spec
    view = SliceView(piece, (), {}, {}, {})
    view.candidates = tuple(
        Candidate(
            id=DeviceID(spec.driver, spec.pool.name, device.name),
            index=index,
            device=device,
            view=view,
            shareable=bool(device.allow_multiple_allocations),
            memo={},
        )
        for index, device in enumerate(spec.devices or ())
    )
    view.by_name = {c.device.name: c for c in view.candidates}
    return view


def make_room(memo: dict[Any, Any], most: int) -> None:
    """Drop the oldest entries of a memo so that one more keeps it within ``most``.

    Another thread may do the same at the same time.
    """
    while len(memo) >= most:
        for oldest in tuple(memo)[:1]:
            memo.pop(oldest, None)
