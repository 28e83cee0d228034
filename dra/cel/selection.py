"""One selector on many devices: once per distinct combination of what it reads.

Devices of a cluster are alike: a selector looks at a few attributes with a few
values each, so 100,000 devices are a handful of evaluations and a lookup each.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Final

from dra.cel.devices import (
    DeviceInput,
    attribute_value,
    capacity_value,
    clean,
    problem_of,
    split_name,
)
from dra.cel.errors import EvaluationError
from dra.cel.program import Program
from dra.cel.reads import WHOLE, Read
from dra.cel.values import DeviceMap, DomainMap, Value
from dra.objects import DeviceAttribute, DeviceCapacity

type Answer = bool | EvaluationError
"""Whether a device matches, or why the expression has no answer for it."""

_ABSENT: Final = 0


def evaluate_many(program: Program, devices: Sequence[DeviceInput]) -> list[Answer]:
    """The answer for every device, in order.

    To ask several selectors about the same devices keep a :class:`DeviceTable`.
    """
    lists = program.features.list_type_attributes
    return DeviceTable(devices, lists=lists).evaluate(program)


class _Column:
    """One read of all devices: a small number each, 0 for absent, and its value."""

    __slots__ = ("codes", "values")

    def __init__(self, codes: list[int], values: list[Value]) -> None:
        self.codes = codes
        self.values = values


class DeviceTable:
    """Devices in columns, built as selectors ask for them.

    ``lists`` is the gate of list attributes; programs must be compiled with the
    same. A table never changes; threads may share it.
    """

    def __init__(self, devices: Sequence[DeviceInput], *, lists: bool = False) -> None:
        self._devices = devices
        self._lists = lists
        self._columns: dict[Read, _Column] = {}
        self._problems = [
            (index, EvaluationError(problem))
            for index, device in enumerate(devices)
            if (problem := problem_of(device, lists=lists)) is not None
        ]

    def __len__(self) -> int:
        return len(self._devices)

    def evaluate(self, program: Program) -> list[Answer]:
        """The answer for every device, in order.

        Raises :class:`~dra.errors.NotSupportedError` like
        :meth:`~dra.cel.Program.evaluate`.
        """
        if program.features.list_type_attributes is not self._lists:
            raise ValueError("the program was compiled with another gate of lists")
        reads = program.reads
        if reads is None:
            return [self._one(program, device) for device in self._devices]
        ordered = sorted(reads)
        columns = [self._column(read) for read in ordered]
        answers = self._distinct(program, ordered, columns)
        for index, error in self._problems:
            answers[index] = error
        return answers

    def _one(self, program: Program, device: DeviceInput) -> Answer:
        try:
            return program.evaluate(device)
        except EvaluationError as error:
            return error

    def _distinct(
        self, program: Program, reads: list[Read], columns: list[_Column]
    ) -> list[Answer]:
        if not columns:
            return [_answer(program, _device([], []))] * len(self._devices)
        if len(columns) == 1:
            codes = columns[0].codes
            by_code = {
                code: _answer(program, _device(reads, [columns[0].values[code]]))
                for code in set(codes)
            }
            return [by_code[code] for code in codes]
        keys = list(zip(*(column.codes for column in columns), strict=True))
        by_key = {
            key: _answer(
                program,
                _device(
                    reads,
                    [
                        column.values[code]
                        for column, code in zip(columns, key, strict=True)
                    ],
                ),
            )
            for key in set(keys)
        }
        return [by_key[key] for key in keys]

    def _column(self, read: Read) -> _Column:
        column = self._columns.get(read)
        if column is None:
            column = self._columns[read] = self._build(read)
        return column

    def _build(self, read: Read) -> _Column:
        look, convert = _reader(read, lists=self._lists)
        known: dict[Hashable, int] = {}
        values: list[Value] = [None]
        codes: list[int] = []
        for device in self._devices:
            key, raw = look(device)
            if key is None:
                codes.append(_ABSENT)
                continue
            code = known.get(key)
            if code is None:
                try:
                    value = convert(raw)
                except EvaluationError:
                    # The device has no answer for any expression: see _problems.
                    codes.append(_ABSENT)
                    continue
                code = known[key] = len(values)
                values.append(value)
            codes.append(code)
        return _Column(codes, values)


def _answer(program: Program, device: DeviceMap) -> Answer:
    try:
        return program.evaluate_value(device)
    except EvaluationError as error:
        return error


def _device(reads: list[Read], values: list[Value]) -> DeviceMap:
    """A device with nothing but what is read."""
    device = DeviceMap(
        driver="",
        allowMultipleAllocations=False,
        attributes=DomainMap(),
        capacity=DomainMap(),
    )
    for (kind, domain, identifier), value in zip(reads, values, strict=True):
        if not domain and kind in ("driver", "allowMultipleAllocations"):
            device[kind] = value
        elif value is not None:
            found = device[kind].setdefault(domain, {})
            if identifier == WHOLE:
                found.update(value)
            elif identifier:
                found[identifier] = value
    return device


# --- reading one thing of a device: a hashable key and what to convert ---

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
    full = f"{domain}/{identifier}"
    return lambda d: _single(d, kind, domain, identifier, full), convert


def _named(
    device: DeviceInput, kind: str
) -> Mapping[str, DeviceAttribute | DeviceCapacity]:
    return device.attributes if kind == "attributes" else device.capacity


def _single(
    device: DeviceInput, kind: str, domain: str, identifier: str, full: str
) -> tuple[Hashable, object]:
    named = _named(device, kind)
    raw: DeviceAttribute | DeviceCapacity | None = named.get(full)
    if device.driver == domain and identifier in named:
        if raw is None:
            raw = named[identifier]
        else:
            # Both spellings: the later one counts.
            raw = _domain(device, kind, domain)[identifier]
    return _key(raw), raw


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


_NO_LISTS: Final = (None, None, None, None)


def _key(raw: DeviceAttribute | DeviceCapacity | None) -> Hashable:
    """Equal for values that no expression can tell apart."""
    if raw is None:
        return None
    if isinstance(raw, DeviceCapacity):
        return ("capacity", str(raw.value))
    lists: Hashable = _NO_LISTS
    found = (raw.ints, raw.bools, raw.strings, raw.versions)
    if found != _NO_LISTS:
        lists = tuple(None if items is None else tuple(items) for items in found)
    # The class tells true from 1, the version's place it from a string.
    scalar = raw.string if raw.int_ is None else raw.int_
    return (raw.bool_, type(scalar), scalar, raw.version, lists)
