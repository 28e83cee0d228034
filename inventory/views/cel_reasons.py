"""Why one device does not match: the term that decides."""

from __future__ import annotations

import numpy as np

from dra import cel
from dra.cel.explain import explain
from dra.errors import NotSupportedError
from inventory.selecting import Deadline, DeviceAnswer
from inventory.selecting.samples import samples


def reason(
    program: cel.Program, table: cel.DeviceTable, row: int, deadline: Deadline
) -> DeviceAnswer | None:
    """What ``program`` says about the device at ``row``; None when the time is over.

    The terms are asked about every device, which the table then remembers.
    """
    only = np.zeros(len(table), np.bool_)
    only[row] = True
    try:
        selection = table.select(program, stop=deadline)
        explained = explain(program, table, within=only, stop=deadline)
    except (cel.Stopped, NotSupportedError):
        return None
    found = samples(
        program,
        table,
        selection,
        explained.term,
        within=only,
        first=1,
        stop=deadline,
    )
    return next(answer for answers in found.values() for answer in answers)
