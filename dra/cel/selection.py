"""One selector on many devices: once per distinct combination of what it reads.

Devices of a cluster are alike: a selector looks at a few attributes with a few
values each, so 100,000 devices are a handful of evaluations and a lookup each.
"""

from __future__ import annotations

from collections.abc import Sequence

from dra.cel.columns import Column, build
from dra.cel.devices import Checked, DeviceInput, problem_of
from dra.cel.errors import EvaluationError
from dra.cel.program import Program
from dra.cel.reads import WHOLE, Read
from dra.cel.values import DeviceMap, DomainMap, Value

type Answer = bool | EvaluationError
"""Whether a device matches, or why the expression has no answer for it."""


def evaluate_many(program: Program, devices: Sequence[DeviceInput]) -> list[Answer]:
    """The answer for every device, in order.

    To ask several selectors about the same devices keep a :class:`DeviceTable`.
    """
    lists = program.features.list_type_attributes
    return DeviceTable(devices, lists=lists).evaluate(program)


class DeviceTable:
    """Devices in columns, built as selectors ask for them.

    ``lists`` is the gate of list attributes; programs must be compiled with the
    same. A table never changes; threads may share it.
    """

    def __init__(self, devices: Sequence[DeviceInput], *, lists: bool = False) -> None:
        self._devices = devices
        self._lists = lists
        self._columns: dict[Read, Column] = {}
        checked = Checked()
        self._problems = [
            (index, EvaluationError(problem))
            for index, device in enumerate(devices)
            if (problem := problem_of(device, lists=lists, checked=checked)) is not None
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
        self, program: Program, reads: list[Read], columns: list[Column]
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

    def _column(self, read: Read) -> Column:
        column = self._columns.get(read)
        if column is None:
            column = self._columns[read] = build(self._devices, read, lists=self._lists)
        return column


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
