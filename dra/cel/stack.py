"""Room for deep recursion: Python gives every thread a stack of its own.

Expressions may nest 250 levels, and macros make several of one. Rather than change
the limit for everybody, a walk that is this deep goes on in another thread.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Final

from dra.cel import budget

LEVELS: Final = 60
"""Nodes below each other that surely fit on one stack, whoever walks."""
_HOP: Final = 5000
"""Units for a thread."""


def on_fresh_stack[T](work: Callable[[], T]) -> T:
    """What ``work`` gives or raises, run with an empty stack."""
    outcome: list[T] = []
    failure: list[BaseException] = []
    left = budget.left()

    def run() -> None:
        nonlocal left
        budget.resume(left)
        try:
            outcome.append(work())
        except BaseException as error:  # raised again in the thread that waits
            failure.append(error)
        left = budget.left()

    thread = threading.Thread(target=run, name="cel-deep", daemon=True)
    thread.start()
    thread.join()
    budget.resume(left)
    if failure:
        raise failure[0]
    return outcome[0]


class Depth:
    """How deep a recursive walk is."""

    __slots__ = ("_level",)

    def __init__(self) -> None:
        self._level = 0

    def walk[Part, Found](self, step: Callable[[Part], Found], part: Part) -> Found:
        """``step(part)``, one level deeper."""
        self._level += 1
        if self._level % LEVELS:
            found = step(part)
        else:
            found = on_fresh_stack(lambda: step(part))
        self._level -= 1
        return found

    def is_full(self) -> bool:
        """Whether this level begins a new stack."""
        return self._level % LEVELS == 0


def hop[Frame, Value](step: Callable[[Frame], Value]) -> Callable[[Frame], Value]:
    """``step``, which always runs on a fresh stack."""

    def run(frame: Frame) -> Value:
        budget.spend(_HOP)
        return on_fresh_stack(lambda: step(frame))

    return run
