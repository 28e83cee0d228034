"""Everything there is to say about an expression on the devices of a cluster."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dra import cel
from dra.cel.advice import (
    Warning,  # noqa: A004 - the word for it
    advise,
    explain_error,
)
from dra.cel.cost import LIMIT, Range
from dra.cel.devices import clean
from dra.cel.explain import MAX_MESSAGES, ErrorGroup, Explanation, Term, explain
from dra.cel.selection import ERROR, FALSE, TRUE
from dra.errors import NotSupportedError
from dra.snapshot import Snapshot
from inventory.selecting.asking import Compiled, Deadline, compiled, unsupported
from inventory.selecting.samples import DeviceAnswer, samples
from inventory.selecting.scopes import EVERYTHING, Mask, Scope, scope_mask
from web import metrics


@dataclass(frozen=True, slots=True)
class Answer:
    """What an expression is, and what it does on the devices of a scope.

    ``valid`` is whether the API server would accept it and ``issues`` why not;
    ``hints`` are likely repairs. A text that does not compile has no ``cost`` and no
    ``explanation``; one that is only ``too_expensive`` has both. ``samples`` are the
    first devices by outcome ("true", "false", "error"), in table order. ``seq`` is
    the state of the cluster that was asked. ``incomplete`` is a sentence where the
    time was over before the end: then there is no explanation, or one without terms.
    """

    expression: str
    valid: bool
    issues: tuple[cel.Issue, ...] = ()
    hints: tuple[Warning, ...] = ()
    cost: Range | None = None
    cost_limit: int = LIMIT
    too_expensive: bool = False
    explanation: Explanation | None = None
    warnings: tuple[Warning, ...] = ()
    samples: Mapping[str, tuple[DeviceAnswer, ...]] = field(default_factory=dict)
    seq: int = 0
    incomplete: str = ""


@metrics.CEL_SECONDS.time()
def answer(
    snapshot: Snapshot,
    expression: str,
    *,
    scope: Scope = EVERYTHING,
    features: cel.CelFeatures,
    first: int = 20,
    deadline_seconds: float | None = None,
) -> Answer:
    """The answer to any text.

    ``first`` is how many devices of each outcome are shown, ``deadline_seconds``
    None is ``settings.CEL_SECONDS``. Raises
    :class:`~inventory.selecting.scopes.NoSuchScope` only.
    """
    return _Asking(snapshot, expression, features, deadline_seconds).answer(
        scope, first
    )


class _Asking:
    """One question on its way: each step says what it knows when the time is over."""

    def __init__(
        self,
        snapshot: Snapshot,
        expression: str,
        features: cel.CelFeatures,
        deadline_seconds: float | None,
    ) -> None:
        self.snapshot = snapshot
        self.features = features
        self.table = snapshot.devices(lists=features.list_type_attributes)
        # From here on: the first to ask after a change waits for the table besides.
        self.deadline = Deadline(deadline_seconds)
        self.compiled: Compiled = compiled(expression, features)
        self.incomplete = ""

    def answer(self, scope: Scope, first: int) -> Answer:
        try:
            within = self._within(scope)
        except cel.Stopped as stopped:
            return self._said(incomplete=self.deadline.sentence(stopped))
        program = self.compiled.program
        if program is None:
            return self._said(hints=self._hints())
        try:
            selection = self.table.select(program, stop=self.deadline)
        except cel.Stopped as stopped:
            return self._said(incomplete=self.deadline.sentence(stopped))
        except NotSupportedError as error:
            self.compiled = unsupported(self.compiled.expression, error)
            return self._said()
        explanation = self._explanation(program, selection, within)
        warnings = self._warnings(program, within)
        return self._said(
            explanation=explanation,
            warnings=warnings,
            samples=samples(
                program,
                self.table,
                selection,
                explanation.term,
                within=within,
                first=first,
                stop=self.deadline,
            ),
            incomplete=self.incomplete,
        )

    def _within(self, scope: Scope) -> Mask | None:
        return scope_mask(
            self.snapshot,
            self.table,
            scope,
            features=self.features,
            stop=self.deadline,
        )

    def _said(self, **more: Any) -> Answer:
        found = self.compiled
        return Answer(
            expression=found.expression,
            valid=found.valid,
            issues=found.issues,
            cost=found.cost,
            too_expensive=found.too_expensive,
            seq=self.snapshot.seq,
            **more,
        )

    def _hints(self) -> tuple[Warning, ...]:
        found = self.compiled
        if found.error is None:
            return ()
        try:
            return explain_error(
                found.expression, found.error, table=self.table, features=self.features
            )
        except NotSupportedError:
            return ()

    def _explanation(
        self, program: cel.Program, selection: cel.Selection, within: Mask | None
    ) -> Explanation:
        """With all terms, or of the whole expression alone when the time is over."""
        try:
            return explain(program, self.table, within=within, stop=self.deadline)
        except (cel.Stopped, NotSupportedError) as reason:
            self._cut_short("how much each term excludes", reason)
            return whole(self.table, self.compiled.expression, selection, within)

    def _warnings(
        self, program: cel.Program, within: Mask | None
    ) -> tuple[Warning, ...]:
        try:
            return advise(program, self.table, within=within, stop=self.deadline)
        except (cel.Stopped, NotSupportedError) as reason:
            self._cut_short("every warning", reason)
            return ()

    def _cut_short(self, what: str, reason: cel.Stopped | NotSupportedError) -> None:
        why = (
            self.deadline.sentence(reason)
            if isinstance(reason, cel.Stopped)
            else f"It is {reason}."
        )
        if not self.incomplete:
            self.incomplete = f"The counts are right, but not {what} is known. {why}"


def whole(
    table: cel.DeviceTable,
    expression: str,
    selection: cel.Selection,
    within: Mask | None,
) -> Explanation:
    """An explanation without terms."""
    everything = np.ones(len(table), np.bool_) if within is None else within
    rows = np.flatnonzero(everything)
    true, false, failed = (
        int(np.count_nonzero(selection.outcomes[rows] == code))
        for code in (TRUE, FALSE, ERROR)
    )
    errors = _errors(table, selection, rows)
    shown = errors[:MAX_MESSAGES]
    term = Term(
        kind="leaf",
        text=expression,
        start=0,
        end=len(expression),
        true=true,
        false=false,
        error=failed,
        excludes_alone=len(rows) - true,
        false_alone=false,
        admits_alone=true,
        messages=len(errors),
        errors=shown,
        terms=(),
    )
    return Explanation(len(rows), true, false, failed, term, len(errors), shown)


def _errors(
    table: cel.DeviceTable, selection: cel.Selection, rows: NDArray[np.intp]
) -> tuple[ErrorGroup, ...]:
    failed = rows[selection.outcomes[rows] == ERROR]
    codes, first, counts = np.unique(
        selection.codes[failed], return_index=True, return_counts=True
    )
    groups = [
        ErrorGroup(clean(str(selection.answers[code])), count, table.ids[failed[at]])
        for code, at, count in zip(
            codes.tolist(), first.tolist(), counts.tolist(), strict=True
        )
    ]
    return tuple(sorted(groups, key=lambda group: -group.count))
