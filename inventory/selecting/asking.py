"""Compiling what somebody typed, and asking it about every device within a time."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
from django.conf import settings
from numpy.typing import NDArray

from dra import cel
from dra.cel.cost import LIMIT, Range
from dra.cel.devices import clean
from dra.cel.selection import ERROR, TRUE
from dra.errors import NotSupportedError
from dra.snapshot import Snapshot
from inventory.models import Cluster
from web import metrics


def features_of(cluster: Cluster) -> cel.CelFeatures:
    """The gates of CEL by the cluster's version, as the engine takes them."""
    features = cluster.features
    return cel.CelFeatures(
        consumable_capacity=features.consumable_capacity,
        list_type_attributes=features.list_type_attributes,
    )


class Deadline:
    """A stop that says so after ``seconds``; None: ``settings.CEL_SECONDS``."""

    def __init__(self, seconds: float | None = None) -> None:
        self.seconds = settings.CEL_SECONDS if seconds is None else seconds
        self._end = time.monotonic() + self.seconds

    def __call__(self) -> bool:
        return time.monotonic() >= self._end

    def sentence(self, stopped: cel.Stopped) -> str:
        """How far it got."""
        unit = "second" if self.seconds == 1 else "seconds"
        return (
            f"It took longer than {self.seconds:g} {unit}: {stopped.done:,} of "
            f"{stopped.total:,} different combinations of values were evaluated."
        )


@dataclass(frozen=True, slots=True)
class Compiled:
    """What compiling came to.

    ``program`` is None for a text that is no selector; ``issues`` say why, and
    ``error`` holds them where the compiler found them. A program over the cost limit
    has one issue too: the API server refuses it all the same.
    """

    expression: str
    program: cel.Program | None = None
    issues: tuple[cel.Issue, ...] = ()
    error: cel.CompileError | None = None

    @property
    def valid(self) -> bool:
        """Whether the API server would accept it."""
        return not self.issues

    @property
    def cost(self) -> Range | None:
        return None if self.program is None else self.program.cost

    @property
    def too_expensive(self) -> bool:
        return self.cost is not None and self.cost.high > LIMIT


def compiled(expression: str, features: cel.CelFeatures) -> Compiled:
    """Compile any text."""
    text = clean(expression)
    try:
        program = cel.compile(text, features=features)
    except cel.CompileError as error:
        return Compiled(text, issues=error.issues, error=error)
    except NotSupportedError as error:
        return unsupported(text, error)
    issues: tuple[cel.Issue, ...] = ()
    if program.cost.high > LIMIT:
        message = (
            "too complex, exceeds cost limit "
            f"(estimated cost {program.cost.high}, limit {LIMIT})"
        )
        issues = (cel.Issue(message),)
    return Compiled(text, program, issues)


def unsupported(expression: str, error: NotSupportedError) -> Compiled:
    """What nobody can evaluate here, though the API server might accept it."""
    return Compiled(expression, issues=(cel.Issue(str(error)),))


@dataclass(frozen=True, slots=True)
class Matches:
    """On which devices of ``table`` an expression is true.

    ``selection`` is None where there is no answer: ``issues`` say why not, or
    ``incomplete`` says that the time was over. ``failed`` devices have no answer;
    ``error`` is the most frequent reason.
    """

    table: cel.DeviceTable
    compiled: Compiled
    selection: cel.Selection | None = None
    incomplete: str = ""
    failed: int = 0
    error: str = ""

    @property
    def matched(self) -> int:
        return int(np.count_nonzero(self.mask))

    @property
    def mask(self) -> NDArray[np.bool_]:
        if self.selection is None:
            return np.zeros(len(self.table), np.bool_)
        mask: NDArray[np.bool_] = self.selection.outcomes == TRUE
        return mask


@metrics.CEL_SECONDS.time()
def matches(
    snapshot: Snapshot,
    expression: str,
    *,
    features: cel.CelFeatures,
    deadline: Deadline | None = None,
) -> Matches:
    """Ask every device of the snapshot. What the API server refuses is not asked."""
    table = snapshot.devices(lists=features.list_type_attributes)
    # From here on: the first to ask after a change waits for the table besides.
    deadline = deadline or Deadline()
    found = compiled(expression, features)
    if found.program is None or not found.valid:
        return Matches(table, found)
    try:
        selection = table.select(found.program, stop=deadline)
    except cel.Stopped as stopped:
        return Matches(table, found, incomplete=deadline.sentence(stopped))
    except NotSupportedError as error:
        return Matches(table, unsupported(found.expression, error))
    failed, error_text = _failures(selection)
    return Matches(table, found, selection, failed=failed, error=error_text)


def _failures(selection: cel.Selection) -> tuple[int, str]:
    codes = selection.codes[selection.outcomes == ERROR]
    if not len(codes):
        return 0, ""
    most = int(np.bincount(codes).argmax())
    return len(codes), clean(str(selection.answers[most]))
