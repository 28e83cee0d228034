"""What can go wrong with an expression: where, and in which words.

Wording and positions follow Kubernetes 1.36 (cel-go), so that a user can search
for what the API server said.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from dra.errors import DRAError


@dataclass(frozen=True, slots=True)
class Issue:
    """One problem of an expression.

    ``offset`` counts code points from the start of the text, ``line`` and
    ``column`` count from 1 (an empty text has column 0). ``start`` and ``end`` are
    the offsets of the part to underline. All are None where the problem has no
    place.
    """

    message: str
    offset: int | None = None
    line: int | None = None
    column: int | None = None
    start: int | None = None
    end: int | None = None


class CompileError(DRAError, ValueError):
    """An expression that the API server would refuse.

    ``issues`` lists every problem found (at least one), in the order of the
    text. ``message``, ``line`` and ``column`` are those of the first.
    ``str(error)`` is the full text with the line and a caret under the place.
    """

    def __init__(self, text: str, issues: tuple[Issue, ...]) -> None:
        self.issues = issues
        first = issues[0]
        self.message = first.message
        self.line = first.line
        self.column = first.column
        super().__init__(text)


TOO_COSTLY: Final = "operation cancelled: actual cost limit exceeded"


class CostExceededError(Exception):
    """A program ran over its cost limit; unlike other errors, no ``||`` saves it.

    Internal: callers of the front door see an :class:`EvaluationError`.
    """

    def __init__(self) -> None:
        super().__init__(TOO_COSTLY)


_MAX_MESSAGE: Final = 10_000


class EvaluationError(DRAError):
    """An expression that has no answer for one device.

    The scheduler aborts the allocation attempt of the claim when this happens. The
    message can be sent and stored whatever values it tells of: it has no bytes that
    are no UTF-8, and an end.
    """

    def __init__(self, message: str) -> None:
        if len(message) > _MAX_MESSAGE:
            message = f"{message[:_MAX_MESSAGE]}…"
        if not message.isascii():
            message = message.encode("utf-8", "replace").decode()
        super().__init__(message)
