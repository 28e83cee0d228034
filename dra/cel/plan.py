"""What closures look like: a step takes the frame and returns a value."""

from __future__ import annotations

from collections.abc import Callable

from dra.cel.errors import EvaluationError
from dra.cel.values import Value

type Frame = list[Value]
type Step = Callable[[Frame], Value]
type Pay = Callable[[Frame], None]
"""What counts the cost of something that was done."""


def constant(value: Value) -> Step:
    """A step that always gives ``value``."""

    def run(_frame: Frame) -> Value:
        return value

    return run


class Lazy:
    """A bound value that is computed when it is first asked for, error included."""

    __slots__ = ("_error", "_init", "_value")

    def __init__(self, init: Step) -> None:
        self._init: Step | None = init
        self._value: Value = None
        self._error: EvaluationError | None = None

    def value(self, frame: Frame) -> Value:
        init = self._init
        if init is not None:
            self._init = None
            try:
                self._value = init(frame)
            except EvaluationError as error:
                self._error = error
        if self._error is not None:
            raise self._error
        return self._value
