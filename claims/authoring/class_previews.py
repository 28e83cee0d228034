"""What a class that is being written would match, selector by selector and in all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from claims.authoring.choices.words import counted
from claims.authoring.class_users import ClassChange, change_of, of_new_class, users_of
from cluster.convert import to_v1
from dra.allocation import Features
from dra.allocation.classes import chain_of
from dra.allocation.explaining import Loss
from dra.allocation.explaining.funnel import conjuncts, program_of
from dra.allocation.matching import Trouble, chain_verdicts
from dra.cel.explain import Explanation, explain
from dra.cel.selection import ERROR, TRUE, Stop, Stopped
from dra.cel.table import DeviceTable
from dra.device_states import STATES, table_states
from dra.errors import NotSupportedError, ObjectError
from dra.objects import DeviceClass, read
from dra.snapshot import Snapshot
from dra.usage import State

type Mask = NDArray[np.bool_]

KIND: Final = "DeviceClass"
MOST_TERMS: Final = 5
MOST_SELECTORS: Final = 32
"""That the API allows in one class."""


@dataclass(frozen=True, slots=True)
class Counts:
    """Devices of the cluster. ``other`` match and are neither free nor in use: tainted,
    or in a pool that cannot be used."""

    matching: int
    free: int
    in_use: int
    other: int
    failing: int


@dataclass(frozen=True, slots=True)
class SelectorPreview:
    """One selector on all devices, by itself.

    ``counts`` is None where it cannot be asked, ``problem`` says why then. ``terms``
    are what excludes most devices (``alone``: by itself), ``errors`` why a device has no
    answer.
    """

    index: int
    expression: str
    counts: Counts | None = None
    terms: tuple[Loss, ...] = ()
    errors: tuple[Loss, ...] = ()
    problem: str = ""

    @property
    def path(self) -> str:
        return f"spec.selectors[{self.index}].cel.expression"


@dataclass(frozen=True, slots=True)
class ClassPreview:
    """``counts`` are those of all selectors together, of ``devices`` in the cluster; None
    where one of them cannot be asked.

    ``change`` is None for a class that is not there yet, and where there are no counts.
    ``sentence`` says what matches, ``consequence`` what changes for those that use it.
    """

    name: str
    seq: int
    devices: int
    counts: Counts | None
    selectors: tuple[SelectorPreview, ...]
    change: ClassChange | None
    sentence: str
    consequence: str


def class_preview(
    snapshot: Snapshot, value: Any, features: Features, *, stop: Stop
) -> ClassPreview | None:
    """The preview of the class that ``value`` is; None for another kind, and for one that
    cannot be read.

    ``snapshot`` is the cluster without it: its class of the same name is what it would
    replace. Raises nothing.
    """
    if not isinstance(value, dict) or value.get("kind") != KIND:
        return None
    try:
        written = read(to_v1(value), DeviceClass)
    except ObjectError:
        return None
    return _Previewing(snapshot, written, features, stop).preview()


class _Previewing:
    def __init__(
        self, snapshot: Snapshot, written: DeviceClass, features: Features, stop: Stop
    ) -> None:
        self.snapshot = snapshot
        self.written = written
        self.stop = stop
        self.table: DeviceTable = snapshot.devices(lists=features.list_type_attributes)
        self.states = table_states(snapshot)
        self.selectors = tuple(
            self._selector(index, selector.cel.expression if selector.cel else "")
            for index, selector in enumerate(
                (written.spec.selectors or ())[:MOST_SELECTORS]
            )
        )

    def preview(self) -> ClassPreview:
        name = self.written.metadata.name
        after = self._matching(self.written)
        if any(each.counts is None for each in self.selectors):
            after = None
        counts = None if after is None else self._counts(*after)
        there = self.snapshot.classes.get(name)
        users = users_of(self.snapshot, self.table, name)
        change, consequence = None, ""
        if there is None:
            consequence = of_new_class(users) if name else ""
        elif after is not None:
            before = self._matching(there)
            if before is not None:
                change = change_of(users, before[0], after[0])
                consequence = change.sentence
        return ClassPreview(
            name=name,
            seq=self.snapshot.seq,
            devices=len(self.table),
            counts=counts,
            selectors=self.selectors,
            change=change,
            sentence=_sentence(counts, len(self.table), self.selectors),
            consequence=consequence,
        )

    def _matching(self, device_class: DeviceClass) -> tuple[Mask, Mask] | None:
        """The devices that match, and those on which a selector has no answer."""
        try:
            codes, verdicts = chain_verdicts(
                chain_of(device_class), self.table, stop=self.stop
            )
        except (NotSupportedError, Stopped):
            return None
        failing = [code for code, v in enumerate(verdicts) if isinstance(v, Trouble)]
        return codes == 0, np.isin(codes, failing)

    def _counts(self, matching: Mask, failing: Mask) -> Counts:
        tally = np.bincount(self.states[matching], minlength=len(STATES)).tolist()
        by_state = dict(zip(STATES, tally, strict=True))
        free = by_state[State.FREE]
        in_use = by_state[State.IN_USE] + by_state[State.SHARED]
        number = int(matching.sum())
        return Counts(number, free, in_use, number - free - in_use, int(failing.sum()))

    def _selector(self, index: int, expression: str) -> SelectorPreview:
        if not expression.strip():
            return SelectorPreview(index, expression, problem="It says nothing yet.")
        program = program_of(self.table, expression)
        if program is None:
            problem = "It cannot be asked before it is put right."
            return SelectorPreview(index, expression, problem=problem)
        try:
            outcomes = self.table.select(program, stop=self.stop)
            explained = explain(program, self.table, stop=self.stop)
        except NotSupportedError as refusal:
            return SelectorPreview(index, expression, problem=str(refusal))
        except Stopped:
            problem = "The time was over before all devices were asked."
            return SelectorPreview(index, expression, problem=problem)
        counts = self._counts(outcomes.outcomes == TRUE, outcomes.outcomes == ERROR)
        terms, errors = _losses(expression, explained)
        return SelectorPreview(index, expression, counts, terms, errors)


def _losses(
    expression: str, explained: Explanation
) -> tuple[tuple[Loss, ...], tuple[Loss, ...]]:
    terms = [
        Loss("term", term.text, term.false, alone=term.false_alone)
        for term in conjuncts(explained.term)
        if term.false
    ]
    terms.sort(key=lambda loss: -loss.devices)
    errors = [
        Loss("error", expression, e.count, example=e.example, note=e.message)
        for e in explained.errors
    ]
    return tuple(terms[:MOST_TERMS]), tuple(errors[:MOST_TERMS])


def _sentence(
    counts: Counts | None, devices: int, selectors: Sequence[SelectorPreview]
) -> str:
    if counts is None:
        wrong = sum(each.counts is None for each in selectors)
        number = counted(wrong, "selector")
        return f"What it matches is not known: {number} cannot be asked."
    if not devices:
        return "There is no device in this cluster that it could match."
    said = f"It would match {counts.matching:,} of {counted(devices)}"
    if not selectors:
        said = f"Without selectors it matches every device: {counts.matching:,}"
    if counts.matching:
        parts = (
            (counts.free, "free"),
            (counts.in_use, "in use"),
            (counts.other, "not usable"),
        )
        said += (
            f" ({', '.join(f'{number:,} {word}' for number, word in parts if number)})"
        )
    said += "."
    if counts.failing:
        said += (
            f" On {counts.failing:,} a selector has no answer: a claim that comes to one of "
            "them is not scheduled."
        )
    return said
