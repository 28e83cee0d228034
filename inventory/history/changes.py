"""What happened to devices of some pools between two states of their rows."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from dra.names import PoolKey
from inventory.choices import Happened
from inventory.history.happenings import DEVICE, Recorder, few
from inventory.models import Device

MOST_VALUES: Final = 16
"""Attributes and capacities whose old and new values are kept with one change."""
_LONGEST: Final = 100

_COLUMNS: Final = ("driver", "pool", "name", "taints", "attributes", "capacity")

type Json = Mapping[str, Any]


class Published(NamedTuple):
    """What a device's row says about it."""

    taints: Sequence[Json]
    attributes: Mapping[str, Json]
    capacity: Mapping[str, Json]


class DeviceHistory:
    """What happens to devices in one transaction of slices, or of taint rules."""

    def __init__(self, cluster_id: int, watched: str) -> None:
        self.recorder = Recorder(cluster_id, watched)
        self._going: dict[PoolKey, dict[str, Published]] = {}

    def going(self, slices: Collection[int]) -> None:
        """Slices, by primary key, that are about to go, and their devices' rows too.

        What they publish may be in another slice of the pool afterwards.
        """
        if not slices or self.recorder.is_first_list:
            return
        rows = Device.objects.filter(slice_id__in=slices).values(*_COLUMNS)
        for row in rows.iterator(chunk_size=2_000):
            name, published = _published(row)
            key = PoolKey(row["driver"], row["pool"])
            self._going.setdefault(key, {})[name] = published

    def compare(
        self, keys: Iterable[PoolKey], before: Iterable[Json], after: Iterable[Json]
    ) -> None:
        """All devices of some pools, as columns of their rows, before and after."""
        if self.recorder.is_first_list:
            return
        was = dict(map(_published, before))
        for key in keys:
            was |= self._going.pop(key, {})
        self._record(was, dict(map(_published, after)))

    def save(self) -> None:
        self.recorder.save()

    def _record(
        self, before: Mapping[str, Published], after: Mapping[str, Published]
    ) -> None:
        for name in before.keys() - after.keys():
            self.recorder.note(DEVICE, name, Happened.DELETED)
        for name, now in after.items():
            was = before.get(name)
            if was is None:
                taints = _keys(now.taints)
                self.recorder.note(DEVICE, name, Happened.CREATED, taints=taints)
            elif was != now:
                for what, detail in _differences(was, now):
                    self.recorder.note(DEVICE, name, what, **detail)


def _published(row: Json) -> tuple[str, Published]:
    name = f"{row['driver']}/{row['pool']}/{row['name']}"
    return name, Published(row["taints"], row["attributes"], row["capacity"])


def _differences(
    was: Published, now: Published
) -> Iterator[tuple[Happened, dict[str, Any]]]:
    gone, came = taint_differences(was, now)
    if gone:
        yield Happened.UNTAINTED, {"taints": _keys(gone)}
    if came:
        yield Happened.TAINTED, {"taints": _keys(came)}
    changed = {
        **_values(was.attributes, now.attributes, _attribute),
        **_values(was.capacity, now.capacity, _amount),
    }
    if changed:
        shown = dict(sorted(changed.items())[:MOST_VALUES])
        yield Happened.CHANGED, {"values": shown, "count": len(changed)}


def taint_differences(was: Published, now: Published) -> tuple[list[Json], list[Json]]:
    """Taints that went, and that came."""
    had = {_key(taint): taint for taint in was.taints}
    has = {_key(taint): taint for taint in now.taints}
    gone = [had[key] for key in had.keys() - has.keys()]
    return gone, [has[key] for key in has.keys() - had.keys()]


def _values(
    was: Mapping[str, Json], now: Mapping[str, Json], text: Any
) -> dict[str, list[str | None]]:
    """Old and new value of each that differs; None: there is none."""
    if was == now:
        return {}
    return {
        name: [text(was.get(name)), text(now.get(name))]
        for name in was.keys() | now.keys()
        if was.get(name) != now.get(name)
    }


def _attribute(item: Json | None) -> str | None:
    if item is None:
        return None
    value = next(iter(item.values()), "")
    return str(value)[:_LONGEST]


def _amount(item: Json | None) -> str | None:
    return None if item is None else str(item.get("value", ""))[:_LONGEST]


def _key(taint: Json) -> tuple[str, ...]:
    return tuple(
        str(taint.get(name) or "") for name in ("key", "value", "effect", "rule")
    )


def _keys(taints: Sequence[Json]) -> list[str]:
    return few([taint_words(taint) for taint in sorted(taints, key=_key)])


def taint_words(taint: Json) -> str:
    """``key=value:effect``, as kubectl writes it; a rule's name behind it."""
    key, value, effect, rule = _key(taint)
    text = f"{key}{'=' if value else ''}{value}:{effect}"
    return f"{text} (rule {rule})" if rule else text
