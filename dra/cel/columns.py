"""What devices publish, in columns: a small number per device and name.

Devices of a cluster are alike. A column has one code per device; a dictionary says
what a code stands for. Columns of an earlier state of the cluster lend their
dictionary to the next one, so that only what changed is looked at again.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Mapping, Sequence
from itertools import chain
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dra.cel.devices import attribute_value, capacity_value, clean, split_name
from dra.cel.errors import EvaluationError
from dra.cel.reads import Read
from dra.cel.values import Value
from dra.objects import DeviceAttribute, DeviceCapacity

type Codes = NDArray[np.int32]
type Rows = NDArray[np.intp]

ABSENT: Final = 0


class Dictionary:
    """The values of a column; ``raws[code]`` as published, ``values[code]`` for CEL.

    It only grows: columns that share it stay right. A value that cannot be
    converted is None in ``values`` and has its reason in ``faults``.
    """

    __slots__ = ("_codes", "_convert", "_key", "_lock", "faults", "raws", "values")

    def __init__(
        self,
        convert: Callable[[object], Value],
        key: Callable[[object], Hashable] | None = None,
    ) -> None:
        """``key`` says which raw values are the same; by default what CEL can tell."""
        self.raws: list[object] = [None]
        self.values: list[Value] = [None]
        self.faults: dict[int, str] = {}
        self._codes: dict[Hashable, int] = {}
        self._convert = convert
        self._key = key or _key
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self.raws)

    def encode(self, raws: Sequence[object]) -> Codes:
        """The code of each of ``raws``, of which none is None."""
        places = list(map(id, raws))
        by_place = dict(zip(places, raws, strict=True))
        with self._lock:
            codes = {place: self._code(raw) for place, raw in by_place.items()}
        return np.fromiter(map(codes.__getitem__, places), np.int32, len(places))

    def compacted(self, codes: Codes) -> tuple[Dictionary, Codes]:
        """A dictionary of only what ``codes`` use, and the codes in it."""
        used = np.flatnonzero(np.bincount(codes, minlength=len(self)))
        fresh = Dictionary(self._convert, self._key)
        moved = np.zeros(len(self), np.int32)
        for code in used.tolist():
            if code != ABSENT:
                moved[code] = fresh._code(self.raws[code])
        return fresh, moved[codes]

    def _code(self, raw: object) -> int:
        key = self._key(raw)
        code = self._codes.get(key)
        if code is not None:
            return code
        code = len(self.raws)
        value: Value = None
        try:
            value = self._convert(raw)
        except EvaluationError as error:
            self.faults[code] = str(error)
        # Values before the code is known: readers hold no lock.
        self.values.append(value)
        self.raws.append(raw)
        self._codes[key] = code
        return code


def _key(raw: object) -> Hashable:
    """Equal for values that no expression can tell apart, and for no others."""
    if isinstance(raw, DeviceCapacity):
        return str(raw.value)
    if not isinstance(raw, DeviceAttribute):
        assert isinstance(raw, Hashable)
        return raw
    try:
        hash(raw)
    except TypeError:
        lists = (raw.ints, raw.bools, raw.strings, raw.versions)
        return (
            (raw.int_, raw.bool_, raw.string, raw.version),
            tuple(None if items is None else tuple(items) for items in lists),
        )
    return raw


class Column:
    """One thing that devices publish, over all devices of a table.

    ``codes`` has a number per device, 0 where the device does not publish it;
    ``raws[code]`` is what it publishes. ``present`` counts the devices that do.
    """

    __slots__ = ("codes", "dictionary", "present", "read", "size")

    def __init__(self, read: Read, codes: Codes, dictionary: Dictionary) -> None:
        self.read = read
        self.codes = codes
        self.dictionary = dictionary
        self.size = len(dictionary)
        """Codes of this column are smaller; the dictionary may grow later."""
        self.present = int(np.count_nonzero(codes))

    @property
    def raws(self) -> Sequence[object]:
        return self.dictionary.raws

    @property
    def values(self) -> Sequence[Value]:
        return self.dictionary.values

    def followed(self, kept: Codes, fresh: Column | None, rows: Rows) -> Column:
        """The next state: ``kept`` are the old devices' codes in their new places.

        ``fresh`` is the column of the new devices, which are at ``rows``.
        """
        codes, dictionary = kept, self.dictionary
        if fresh is not None:
            moved = np.zeros(fresh.size, np.int32)
            raws = fresh.raws[1 : fresh.size]
            moved[1:] = dictionary.encode(raws) if raws else ()
            codes[rows] = moved[fresh.codes]
        if len(dictionary) > 2 * len(codes) + 1024:
            dictionary, codes = dictionary.compacted(codes)
        return Column(self.read, codes, dictionary)


class Shape(NamedTuple):
    """Which names a device publishes, in order, and whose driver it is."""

    driver: str
    names: tuple[str, ...]

    def domains(self) -> dict[str, dict[str, None]]:
        """The identifiers by domain; the values are nothing."""
        found: dict[str, dict[str, None]] = {}
        for name in self.names:
            domain, identifier = split_name(name, self.driver)
            found.setdefault(domain, {})[identifier] = None
        return found


class Published(NamedTuple):
    """Columns of one kind, "attributes" or "capacity".

    ``shapes`` has a code per device too: its raw values are :class:`Shape`.
    ``faulty`` are devices with a value that cannot be converted.
    """

    shapes: Column
    columns: dict[Read, Column]
    faulty: Sequence[int]


def converter(kind: str, *, lists: bool) -> Callable[[object], Value]:
    """From a published value to CEL's; ``lists`` is the gate of list attributes."""

    def attribute(raw: object) -> Value:
        assert isinstance(raw, DeviceAttribute)
        return attribute_value(raw, lists=lists)

    def capacity(raw: object) -> Value:
        assert isinstance(raw, DeviceCapacity)
        return capacity_value(raw)

    return attribute if kind == "attributes" else capacity


def shape_dictionary() -> Dictionary:
    def domains(raw: object) -> Value:
        assert isinstance(raw, Shape)
        return raw.domains()

    return Dictionary(domains)


def scalar(read: Read, raws: Sequence[object]) -> Column:
    """A column of plain texts or truth values, which every device has."""
    dictionary = Dictionary(lambda raw: clean(raw) if isinstance(raw, str) else raw)
    return Column(read, dictionary.encode(raws), dictionary)


def publish(
    kind: str,
    drivers: Sequence[str],
    named: Sequence[Mapping[str, object]],
    *,
    lists: bool,
) -> Published:
    """The columns of ``named``, what each device publishes by name.

    Devices that publish the same names are encoded together, name by name.
    """
    count = len(drivers)
    by_shape: dict[tuple[str, tuple[str, ...]], list[int]] = {}
    for row, pair in enumerate(zip(drivers, map(tuple, named), strict=True)):
        by_shape.setdefault(pair, []).append(row)
    shapes = shape_dictionary()
    shape_codes = np.zeros(count, np.int32)
    convert = converter(kind, lists=lists)
    faulty: set[int] = set()
    codes: dict[Read, Codes] = {}
    dictionaries: dict[Read, Dictionary] = {}
    for (driver, names), members in by_shape.items():
        driver = clean(driver)
        rows = np.array(members, np.intp)
        (shape_codes[rows],) = shapes.encode([Shape(driver, names)])
        flat = list(chain.from_iterable(named[row].values() for row in members))
        for place, name in enumerate(names):
            read = Read(kind, *split_name(name, driver))
            if read not in codes:
                codes[read] = np.zeros(count, np.int32)
                dictionaries[read] = Dictionary(convert)
            # Where both spellings of a name are published the later one counts.
            encoded = dictionaries[read].encode(flat[place :: len(names)])
            codes[read][rows] = encoded
            if faults := list(dictionaries[read].faults):
                faulty.update(rows[np.isin(encoded, faults)].tolist())
    return Published(
        Column(Read(kind), shape_codes, shapes),
        {read: Column(read, codes[read], dictionaries[read]) for read in codes},
        sorted(faulty),
    )
