"""Warnings about a selector before it meets the scheduler.

:func:`advise` looks at a compiled selector and the devices of a cluster,
:func:`explain_error` at a selector that does not compile. Both say in sentences for
operators what is probably wrong and how to repair it. What they count is counted, not
guessed: a device "on which the selector fails" was evaluated, or is alike in all that
the selector reads to one that was.
"""

from __future__ import annotations

from contextlib import suppress

import numpy as np
from numpy.typing import NDArray

from dra.cel.advice import amounts, failing, kinds, limits, missing, texts, whole
from dra.cel.advice.asked import Asked
from dra.cel.advice.hints import explain_error
from dra.cel.advice.looks import looks
from dra.cel.advice.warnings import CODES, MOST, Warning, ranked  # noqa: A004 - the word of the field
from dra.cel.program import Program, with_room
from dra.cel.selection import Stop
from dra.cel.table import DeviceTable
from dra.errors import NotSupportedError

__all__ = ["CODES", "MOST", "Warning", "advise", "explain_error"]


def advise(
    program: Program,
    table: DeviceTable,
    *,
    within: NDArray[np.bool_] | None = None,
    stop: Stop | None = None,
) -> tuple[Warning, ...]:
    """What an author of the selector should know, most important first.

    Only devices marked in ``within`` are asked, for instance those of a class, all
    where it is None. At most :data:`MOST` warnings. Raises
    :class:`~dra.cel.selection.Stopped` when ``stop`` said so, and
    :class:`~dra.errors.NotSupportedError` like :meth:`~dra.cel.Program.evaluate`.
    """
    found = list(limits.check(program))
    table.select(program, stop=stop)
    # What is nested too deep to be walked through may have answers all the same.
    with suppress(NotSupportedError):
        found += with_room(
            lambda: _about_devices(Asked(program, table, within, stop)),
            "an expression nested this deep",
        )
    return ranked(found)


def _about_devices(asked: Asked) -> list[Warning]:
    found: list[Warning] = []
    if asked.total:
        found += failing.check(asked)
        found += missing.check(asked)
        compared = list(looks(asked))
        found += amounts.check(asked, compared)
        found += texts.check(compared)
        found += kinds.check(asked, compared)
        found += whole.always_there(asked)
        found += whole.check(asked, found)
    return found
