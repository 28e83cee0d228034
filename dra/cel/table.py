"""One selector on many devices: once per distinct combination of what it reads.

A selector looks at a few attributes with a few values each, so 100,000 devices are
a handful of evaluations and a lookup each. A table belongs to one state of a
cluster; the next state's table takes over what did not change.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Final, NamedTuple, cast

import numpy as np

from dra.cel.columns import Column, Published, Rows, Shape, publish, scalar
from dra.cel.devices import DeviceInput, problem_of
from dra.cel.errors import EvaluationError
from dra.cel.listing import Listing
from dra.cel.reads import NAMES, WHOLE, Read
from dra.cel.selection import (
    Answer,
    Answers,
    Part,
    Runnable,
    Selection,
    Stop,
    Stopped,
    combinations,
)
from dra.cel.values import DeviceMap, DomainMap, Value

KINDS: Final = ("attributes", "capacity")
_DRIVER: Final = Read("driver")
_SHAREABLE: Final = Read("allowMultipleAllocations")
_KEPT_BYTES: Final = 32 * 1024 * 1024
_KEPT_LEAST: Final = 16


def evaluate_many(program: Runnable, devices: Sequence[DeviceInput]) -> list[Answer]:
    """The answer for every device, in order.

    To ask several selectors about the same devices keep a :class:`DeviceTable`.
    """
    lists = program.features.list_type_attributes
    return DeviceTable.of(devices, lists=lists).evaluate(program)


class Kept(NamedTuple):
    """What an earlier table knew: its selections, and each device's row there."""

    selections: Mapping[Hashable, Selection]
    source: Rows


class DeviceTable:
    """Devices in columns, and what expressions said about them.

    ``columns`` has every attribute and capacity that a device publishes, and the
    driver and allowMultipleAllocations of all. ``problems`` are devices for which
    no expression has an answer. ``lists`` is the gate of list attributes; programs
    must be compiled with the same. A table never changes; threads may share it.
    """

    def __init__(self, listing: Listing, *, lists: bool = False) -> None:
        self.listing = listing
        self.lists = lists
        self._published = {
            kind: publish(kind, listing.drivers, listing.named(kind), lists=lists)
            for kind in KINDS
        }
        self._driver = scalar(_DRIVER, listing.drivers)
        self._shareable = scalar(_SHAREABLE, listing.shareable)
        self._set_up(self._find_problems(), Kept({}, np.zeros(0, np.intp)))

    def _set_up(self, problems: Mapping[int, EvaluationError], kept: Kept) -> None:
        self.columns: Mapping[Read, Column] = {
            _DRIVER: self._driver,
            _SHAREABLE: self._shareable,
            **self._published["attributes"].columns,
            **self._published["capacity"].columns,
        }
        self.problems = problems
        self._problem_rows = _by_text(problems)
        self._kept = kept
        self._extra: dict[Callable[[Listing], Column], Column] = {}
        self._selections: OrderedDict[Hashable, Selection] = OrderedDict()
        self._lock = threading.Lock()

    @classmethod
    def of(cls, devices: Sequence[DeviceInput], *, lists: bool = False) -> DeviceTable:
        """A table of devices that belong to no cluster."""
        return cls(Listing.of(devices), lists=lists)

    @property
    def ids(self) -> Listing:
        """The name of each device."""
        return self.listing

    def __len__(self) -> int:
        return len(self.listing)

    def device(self, row: int) -> DeviceInput:
        return self.listing.device(row)

    def shapes(self, kind: str) -> Sequence[Shape]:
        """Every set of names under which devices publish "attributes" or "capacity"."""
        shapes = self._published[kind].shapes
        return cast("Sequence[Shape]", shapes.raws[1 : shapes.size])

    def made_by(self, make: Callable[[Listing], Column]) -> Column:
        """A column that somebody else knows how to make; made once, then it follows."""
        with self._lock:
            column = self._extra.get(make)
        if column is None:
            column = make(self.listing)
            with self._lock:
                column = self._extra.setdefault(make, column)
        return column

    # --- asking ---

    def evaluate(self, program: Runnable) -> list[Answer]:
        """The answer for every device, in order."""
        return list(self.select(program))

    def select(self, program: Runnable, *, stop: Stop | None = None) -> Selection:
        """The answers of ``program``, kept for the next one who asks.

        Raises :class:`Stopped` when ``stop`` said so, and
        :class:`~dra.errors.NotSupportedError` like :meth:`~dra.cel.Program.evaluate`.
        """
        if program.features.list_type_attributes is not self.lists:
            raise ValueError("the program was compiled with another gate of lists")
        key = program.key
        with self._lock:
            found = self._selections.get(key)
            if found is not None:
                self._selections.move_to_end(key)
                return found
        earlier = self._kept.selections.get(key)
        if earlier is None:
            everything = np.arange(len(self), dtype=np.intp)
            found = self._answered(program, everything, None, stop)
        else:
            new = np.flatnonzero(self._kept.source < 0)
            found = self._answered(program, new, earlier, stop)
        with self._lock:
            self._selections[key] = found
            most = max(_KEPT_LEAST, _KEPT_BYTES // (5 * len(self) + 1))
            while len(self._selections) > most:
                self._selections.popitem(last=False)
        return found

    def _answered(
        self,
        program: Runnable,
        rows: Rows,
        earlier: Selection | None,
        stop: Stop | None,
    ) -> Selection:
        """The answers at ``rows`` found, the others taken over from ``earlier``."""
        if earlier is None:
            answers, codes = Answers(), np.zeros(len(self), np.int32)
        else:
            answers = Answers(earlier.answers)
            codes = earlier.codes[np.maximum(self._kept.source, 0)]
        slots = self._slots(program.reads)
        parts = [Part(c.codes[rows], c.size) for c in slots]
        first, which = combinations(parts, len(rows))
        picked = [part.codes[first].tolist() for part in parts]
        places = np.zeros(len(first), np.int32)
        build = _builder(slots)
        picked_rows = zip(*picked, strict=True) if picked else iter([()] * len(first))
        for number, combination in enumerate(picked_rows):
            # Each time: one evaluation may cost a million units, which take a second.
            if stop is not None and stop():
                raise Stopped(number, len(first))
            places[number] = answers.place(_answer(program, build(combination)))
        codes[rows] = places[which]
        for problem, at in self._problem_rows:
            codes[at] = answers.place(problem)
        return Selection(codes, tuple(answers.found))

    def _slots(self, reads: frozenset[Read] | None) -> list[Column]:
        """The columns that decide what an expression with these reads says."""
        if reads is None:
            reads = frozenset(
                {_DRIVER, _SHAREABLE, *(Read(kind, WHOLE, WHOLE) for kind in KINDS)}
            )
        wanted: dict[Read, Column] = {}
        for read in sorted(reads):
            for column in self._columns_of(read):
                wanted[column.read] = column
        # Shapes first: they say which names there are, the others what they hold.
        return sorted(wanted.values(), key=lambda column: column.read.domain != "")

    def _columns_of(self, read: Read) -> list[Column]:
        kind, domain, identifier = read
        if kind not in KINDS:
            return [self.columns[read]]
        published = self._published[kind]
        if identifier in ("", NAMES):
            return [published.shapes]
        if identifier != WHOLE:
            column = self.columns.get(read)
            return [] if column is None else [column]
        values = sorted(
            found for found in published.columns if domain in (WHOLE, found.domain)
        )
        return [published.shapes, *(published.columns[found] for found in values)]

    def _find_problems(self) -> dict[int, EvaluationError]:
        faulty = sorted({row for p in self._published.values() for row in p.faulty})
        problems = {}
        for row in faulty:
            text = problem_of(self.device(row), lists=self.lists)
            assert text is not None
            problems[row] = EvaluationError(text)
        return problems

    # --- the next state ---

    def followed_by(self, listing: Listing) -> DeviceTable:
        """The table of ``listing``; blocks that it shares with ours are taken over."""
        source = listing.source(self.listing)
        if len(source) == len(self) and np.array_equal(source, np.arange(len(self))):
            return self
        rows = np.flatnonzero(source < 0)
        if 2 * len(rows) > len(source):
            return DeviceTable(listing, lists=self.lists)
        fresh = DeviceTable(listing.only(rows), lists=self.lists)
        table = DeviceTable.__new__(DeviceTable)
        table.listing, table.lists = listing, self.lists

        def follow(old: Column, new: Column | None) -> Column:
            kept = old.codes[np.maximum(source, 0)]
            kept[rows] = 0
            return old.followed(kept, new, rows)

        table._driver = follow(self._driver, fresh._driver)
        table._shareable = follow(self._shareable, fresh._shareable)
        table._published = {
            kind: _followed(
                self._published[kind], fresh._published[kind], len(self), follow
            )
            for kind in KINDS
        }
        with self._lock:
            selections = dict(self._selections)
            extra = dict(self._extra)
        problems = {int(rows[row]): problem for row, problem in fresh.problems.items()}
        if self.problems:
            for row in np.flatnonzero(np.isin(source, list(self.problems))).tolist():
                problems[row] = self.problems[source[row]]
        table._set_up(problems, Kept(selections, source))
        for make, column in extra.items():
            table._extra[make] = follow(column, make(fresh.listing))
        return table


def _followed(
    old: Published,
    new: Published,
    count: int,
    follow: Callable[[Column, Column | None], Column],
) -> Published:
    """The columns of the next state; ``count`` is how many devices the old one has."""
    columns: dict[Read, Column] = {}
    for read in dict.fromkeys((*old.columns, *new.columns)):
        before, after = old.columns.get(read), new.columns.get(read)
        if before is None:
            assert after is not None
            before = Column(read, np.zeros(count, np.int32), after.dictionary)
        column = follow(before, after)
        if column.present:
            columns[read] = column
    return Published(follow(old.shapes, new.shapes), columns, ())


def _by_text(
    problems: Mapping[int, EvaluationError],
) -> list[tuple[EvaluationError, Rows]]:
    """The rows of each problem."""
    rows: dict[str, list[int]] = {}
    for row, problem in problems.items():
        rows.setdefault(str(problem), []).append(row)
    return [(problems[at[0]], np.array(at, np.intp)) for at in rows.values()]


def _answer(program: Runnable, device: DeviceMap) -> Answer:
    try:
        return program.evaluate_value(device)
    except EvaluationError as error:
        return error


type _Build = Callable[[Sequence[int]], DeviceMap]


def _builder(slots: Sequence[Column]) -> _Build:
    """Makes a device with nothing but what is read from a combination of codes."""
    plan = [(*column.read, column.values) for column in slots]

    def build(combination: Sequence[int]) -> DeviceMap:
        attributes, capacity = DomainMap(), DomainMap()
        device = DeviceMap(
            driver="",
            allowMultipleAllocations=False,
            attributes=attributes,
            capacity=capacity,
        )
        for (kind, domain, identifier, values), code in zip(
            plan, combination, strict=True
        ):
            value: Value = values[code]
            if kind not in KINDS:
                device[kind] = value
                continue
            found = attributes if kind == "attributes" else capacity
            if not domain:
                for name, identifiers in value.items():
                    found.setdefault(name, {}).update(identifiers)
            elif value is None:
                continue
            elif domain in found:
                found[domain][identifier] = value
            else:
                found[domain] = {identifier: value}
        return device

    return build
