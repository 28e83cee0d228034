"""One thing that selectors read, of many devices: a small number for each."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Final

from dra.cel.devices import (
    DeviceInput,
    attribute_value,
    capacity_value,
    clean,
    split_name,
)
from dra.cel.errors import EvaluationError
from dra.cel.reads import WHOLE, Read
from dra.cel.values import Value
from dra.objects import DeviceAttribute, DeviceCapacity

_ABSENT: Final = 0


class Column:
    """``codes`` has a number per device, 0 for absent; ``values`` what it means.

    A value that cannot be converted counts as absent: its device has no answer
    for any expression, and the table knows which devices those are.
    """

    __slots__ = ("codes", "values")

    def __init__(self) -> None:
        self.codes: list[int] = []
        self.values: list[Value] = [None]


def build(devices: Sequence[DeviceInput], read: Read, *, lists: bool) -> Column:
    """The column of ``read``; ``lists`` is the gate of list attributes."""
    column = Column()
    look, convert = _reader(read, lists=lists)
    known: dict[Hashable, int] = {None: _ABSENT}
    codes, values = column.codes, column.values
    for device in devices:
        key, raw = look(device)
        code = known.get(key)
        if code is None:
            try:
                value = convert(raw)
            except EvaluationError:
                code = _ABSENT
            else:
                code = len(values)
                values.append(value)
            known[key] = code
        codes.append(code)
    return column


# --- looking at one device: a hashable key, and what to convert ---

type _Look = Callable[[DeviceInput], tuple[Hashable, object]]
type _Convert = Callable[[object], Value]


def _reader(read: Read, *, lists: bool) -> tuple[_Look, _Convert]:
    kind, domain, identifier = read
    if kind == "driver":
        return lambda d: (d.driver, d.driver), lambda raw: clean(str(raw))
    if kind == "allowMultipleAllocations":
        return (
            lambda d: (d.allow_multiple_allocations,) * 2,
            lambda raw: bool(raw),
        )

    def convert(raw: object) -> Value:
        if isinstance(raw, DeviceAttribute):
            return attribute_value(raw, lists=lists)
        assert isinstance(raw, DeviceCapacity)
        return capacity_value(raw)

    if not identifier:
        return lambda d: _presence(d, kind, domain), lambda raw: raw
    if identifier == WHOLE:

        def convert_all(raw: object) -> Value:
            assert isinstance(raw, dict)
            return {name: convert(item) for name, item in raw.items()}

        return lambda d: _whole(d, kind, domain), convert_all
    return _single(kind, domain, identifier), convert


def _named(
    device: DeviceInput, kind: str
) -> Mapping[str, DeviceAttribute | DeviceCapacity]:
    return device.attributes if kind == "attributes" else device.capacity


def _single(kind: str, domain: str, identifier: str) -> _Look:
    full = f"{domain}/{identifier}"
    attributes = kind == "attributes"

    def look(device: DeviceInput) -> tuple[Hashable, object]:
        named: Mapping[str, DeviceAttribute | DeviceCapacity]
        named = device.attributes if attributes else device.capacity
        raw = named.get(full)
        if device.driver == domain and identifier in named:
            # With both spellings the later one counts.
            raw = (
                named[identifier]
                if raw is None
                else _domain(device, kind, domain)[identifier]
            )
        return _key(raw), raw

    return look


def _domain(
    device: DeviceInput, kind: str, domain: str
) -> dict[str, DeviceAttribute | DeviceCapacity]:
    found: dict[str, DeviceAttribute | DeviceCapacity] = {}
    for name, raw in _named(device, kind).items():
        part, identifier = split_name(name, device.driver)
        if part == domain:
            found[identifier] = raw
    return found


def _whole(device: DeviceInput, kind: str, domain: str) -> tuple[Hashable, object]:
    found = _domain(device, kind, domain)
    if not found:
        return None, None
    return tuple((name, _key(raw)) for name, raw in found.items()), found


def _presence(device: DeviceInput, kind: str, domain: str) -> tuple[Hashable, object]:
    present = bool(_domain(device, kind, domain)) or None
    return present, present


def _key(raw: DeviceAttribute | DeviceCapacity | None) -> Hashable:
    """Equal for values that no expression can tell apart."""
    if isinstance(raw, DeviceCapacity):
        return (DeviceCapacity, str(raw.value))
    try:
        hash(raw)
    except TypeError:
        assert raw is not None
        lists = (raw.ints, raw.bools, raw.strings, raw.versions)
        return (
            (raw.int_, raw.bool_, raw.string, raw.version),
            tuple(None if items is None else tuple(items) for items in lists),
        )
    return raw
