"""Derived attributes: what a request computes from a device, for constraints alone.

The rules are those of the documentation (1.37, alpha): an expression is asked
about a device that passed the request's selectors, when a constraint compares the
attribute for the first time; its value comes before a driver's attribute of that
name; an error ends the allocation.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Iterator

import msgspec
import numpy as np

from dra import cel
from dra.allocation.errors import AllocationError
from dra.allocation.matching import Subject
from dra.allocation.request import Ask
from dra.allocation.views import Candidate, make_room
from dra.cel.columns import Codes
from dra.cel.reads import NAMES, WHOLE, Read
from dra.cel.selection import Part, combinations
from dra.cel.table import KINDS, DeviceTable
from dra.cel.values import DeviceMap
from dra.objects import DeviceAttribute

MAX_MEMO = 64
"""Answers that a device keeps; the oldest goes first."""


def derived_attribute(
    ask: Ask, candidate: Candidate, name: str, *, lists: bool
) -> DeviceAttribute | None:
    """The attribute as ``ask`` derives it; None for one that it does not derive.

    Raises AllocationError where its expression has no answer for the device.
    """
    expression = ask.derived.get(name)
    if expression is None:
        return None
    key = ("derived", expression, lists)
    found = candidate.memo.get(key)
    if found is None:
        found = _derive(expression, Subject(candidate, lists=lists).value, lists=lists)
        make_room(candidate.memo, MAX_MEMO)
        candidate.memo[key] = found
    if isinstance(found, DeviceAttribute):
        return found
    raise AllocationError(f"{ask.where}: derived attribute {name}: {found}")


def derived_values(expression: str, table: DeviceTable) -> tuple[Codes, list[Hashable]]:
    """What the expression makes of every device of a table.

    A code per device and what each code means, errors included; code 0 is nobody's.
    Devices that are alike in what the expression reads are asked about once.
    """
    meanings: dict[Hashable, int] = {None: 0}
    first, which = combinations(list(_parts(expression, table)), len(table))
    codes = np.zeros(len(first), np.int32)
    for place, row in enumerate(first.tolist()):
        given = functools.partial(
            cel.device_value, table.device(row), lists=table.lists
        )
        found = _derive(expression, given, lists=table.lists)
        meaning = found if isinstance(found, str) else msgspec.msgpack.encode(found)
        codes[place] = meanings.setdefault(meaning, len(meanings))
    return codes[which], list(meanings)


def _parts(expression: str, table: DeviceTable) -> Iterator[Part]:
    """Codes that are equal for devices between which the expression cannot tell."""
    program = _program(expression, lists=table.lists)
    if isinstance(program, str):
        return
    troubles: dict[str, int] = {}
    troubled = np.zeros(len(table), np.int32)
    for row, problem in table.problems.items():
        troubled[row] = troubles.setdefault(str(problem), len(troubles) + 1)
    yield Part(troubled, len(troubles) + 1)
    for read in sorted(program.reads or ()):
        column = table.columns.get(read)
        if column is not None:
            yield Part(column.codes, column.size)
    if program.reads is None or any(map(_is_vague, program.reads)):
        yield Part(np.arange(len(table)), len(table))


def _is_vague(read: Read) -> bool:
    """Whether more is looked at than the value of one name."""
    return read.kind in KINDS and read.identifier in {"", NAMES, WHOLE}


def _derive(
    expression: str, device: Callable[[], DeviceMap], *, lists: bool
) -> DeviceAttribute | str:
    """What the expression makes of a device, or what is wrong."""
    program = _program(expression, lists=lists)
    if isinstance(program, str):
        return program
    try:
        return cel.derive(program, device())
    except cel.EvaluationError as error:
        return f"CEL runtime error: {error}"


@functools.lru_cache(maxsize=1024)
def _program(expression: str, *, lists: bool) -> cel.Program | str:
    """The program, or what is wrong with the expression."""
    features = cel.CelFeatures(list_type_attributes=lists)
    try:
        return cel.compile(
            expression, features=features, environment="stored", derived=True
        )
    except cel.CompileError as error:
        return f"CEL compile error: {error}"
