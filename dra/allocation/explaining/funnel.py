"""One request over the whole cluster: from what is published to what can be had."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from dra import cel
from dra.allocation.counts import Counts, Limit, Standing
from dra.allocation.explaining.explanation import (
    Agreement,
    Loss,
    Miss,
    RequestReason,
    Stage,
)
from dra.allocation.explaining.holders import held_by
from dra.allocation.explaining.surveying import Survey
from dra.allocation.request import Ask
from dra.allocation.traits import kinds, rule_taints
from dra.cel.catalog import value_text
from dra.cel.explain import Term
from dra.cel.explain import explain as explain_terms
from dra.cel.selection import TRUE, Part, Stop, combinations
from dra.cel.table import DeviceTable
from dra.cel.terms import TermProgram, split
from dra.errors import NotSupportedError
from dra.objects import DeviceTaint
from dra.taints import TaintRules, untolerated

type Mask = NDArray[np.bool_]

MOST_LOSSES: Final = 8
MOST_MISSES: Final = 5
MOST_VALUES: Final = 3


def request_reason(survey: Survey, ask: Ask, stop: Stop | None = None) -> RequestReason:
    """The funnel of one request, its constraints and its nearest misses."""
    kin = [k for k in survey.kin if ask in k.counts]
    best = min(
        kin,
        key=lambda k: (k.counts[ask].needed - k.counts[ask].most, -k.counts[ask].free),
        default=None,
    )
    return RequestReason(
        request=ask.result_name,
        class_name=ask.class_name,
        wanted=0 if ask.everything else ask.count,
        everything=ask.everything,
        stages=tuple(_Funnel(survey, ask, stop).stages()),
        agreements=tuple(_agreements(survey, ask)),
        misses=tuple(_misses(survey, ask, stop)),
        nodes=sum(len(k.names) for k in kin if k.counts[ask].enough),
        best_node=best.names[0] if best else "",
        best=best.counts[ask].most if best else 0,
    )


class _Funnel:
    def __init__(self, survey: Survey, ask: Ask, stop: Stop | None) -> None:
        self.survey = survey
        self.ask = ask
        self.stop = stop
        self.standing = survey.standing[ask]
        self.table = survey.table

    def stages(self) -> Iterator[Stage]:
        standing = self.standing
        left = np.ones(len(standing), np.bool_)
        yield Stage("published", len(standing), 0)
        reached = standing > Standing.ELSEWHERE
        yield self._stage("reachable", left, reached, self._elsewhere(~reached))
        left = reached
        usable = left & (standing > Standing.UNUSABLE)
        yield self._stage("usable", left, usable, self._pools())
        left = usable
        of_class = len(self.ask.device_class.spec.selectors or ())
        for code, first, last in (
            ("class", 0, of_class),
            ("selectors", of_class, len(self.ask.chain)),
        ):
            passed = left.copy()
            losses: list[Loss] = []
            for position in range(first, last):
                expression = self.ask.chain[position]
                outcomes = outcomes_of(self.table, expression)
                if outcomes is None:
                    losses.append(
                        Loss("error", expression, int(passed.sum()), note="unreadable")
                    )
                    passed[:] = False
                    break
                losses += self._terms(expression, passed)
                passed &= outcomes == TRUE
            if code == "selectors":
                # The device's own choice of nodes counts with the selectors.
                passed &= standing > Standing.UNWANTED
            yield self._stage(code, left, passed, losses)
            left = passed
        for code, lost, found in (
            ("not in use", Standing.IN_USE, self._holders),
            ("tolerated", Standing.TAINTED, self._taints),
            ("capacity", Standing.NO_CAPACITY, self._shortages),
            ("counters", Standing.NO_COUNTERS, self._shortages),
        ):
            kept = left & (standing > lost)
            gone = left & ~kept
            losses, more = found(gone, lost) if gone.any() else ([], 0)
            yield self._stage(code, left, kept, losses, more)
            left = kept

    def _stage(
        self,
        code: str,
        before: Mask,
        after: Mask,
        losses: Sequence[Loss],
        more: int = 0,
    ) -> Stage:
        """``more`` losses are not among ``losses``: they exclude fewer devices."""
        found = sorted(
            (loss for loss in losses if loss.devices), key=lambda loss: -loss.devices
        )
        return Stage(
            code,  # type: ignore[arg-type]  # one of the codes, by construction
            int(after.sum()),
            int(before.sum()) - int(after.sum()),
            tuple(found[:MOST_LOSSES]),
            max(0, len(found) - MOST_LOSSES) + more,
        )

    def _elsewhere(self, rows: Mask) -> list[Loss]:
        """Devices that belong to nodes that were not tried, by node."""
        lost = np.flatnonzero(rows)
        blocks = self.table.listing.blocks
        starts = np.array([block.start for block in blocks] if len(lost) else [0])
        at, numbers = np.unique(
            np.searchsorted(starts, lost, side="right") - 1, return_counts=True
        )
        tally: Counter[str] = Counter()
        for place, number in zip(at.tolist(), numbers.tolist(), strict=True):
            piece = blocks[place].slice
            if piece is not None:
                tally[piece.spec.node_name or ""] += number
        return [
            Loss("node", name, number, note="" if name else "reachable from no node")
            for name, number in tally.items()
        ]

    def _pools(self) -> list[Loss]:
        return [
            Loss("pool", f"{driver}/{name}", number, note=why)
            for (driver, name, why), number in self.survey.unusable.items()
        ]

    def _terms(self, expression: str, within: Mask) -> list[Loss]:
        """What each top-level term of a selector excludes."""
        program = program_of(self.table, expression)
        if program is None or not within.any():
            return []
        try:
            explained = explain_terms(
                program, self.table, within=within, stop=self.stop
            )
        except NotSupportedError:
            return []
        losses = [
            Loss("term", term.text, term.false, alone=term.false_alone)
            for term in conjuncts(explained.term)
        ]
        losses += [
            Loss("error", expression, e.count, example=e.example, note=e.message)
            for e in explained.errors
        ]
        return losses

    def _holders(self, gone: Mask, _: Standing) -> tuple[list[Loss], int]:
        held = held_by(self.survey.question.snapshot, self.table)
        return held.losses(np.flatnonzero(gone), MOST_LOSSES)

    def _taints(self, gone: Mask, _: Standing) -> tuple[list[Loss], int]:
        """Devices with the same taints are looked at once."""
        snapshot = self.survey.question.snapshot
        rows = np.flatnonzero(gone)
        kind = self.table.made_by(kinds)
        parts = [Part(kind.codes[rows], kind.size)]
        ruled = rule_taints(snapshot, self.table)
        if ruled is not None:
            parts.append(Part(ruled.codes[rows], len(ruled.meanings)))
        which = combinations(parts, len(rows)).which
        numbers = np.bincount(which)
        first = np.full(len(numbers), len(rows), np.intp)
        np.minimum.at(first, which, np.arange(len(rows)))
        rules = TaintRules(snapshot.taint_rules.values())
        tally: Counter[str] = Counter()
        for place in np.argsort(first).tolist():
            taints = self._kept_away_by(int(rows[first[place]]), rules)
            for text in {taint_text(taint): None for taint in taints}:
                tally[text] += int(numbers[place])
        return [Loss("taint", name, number) for name, number in tally.items()], 0

    def _kept_away_by(self, row: int, rules: TaintRules) -> list[DeviceTaint]:
        own = self.table.listing.devices[row].taints or ()
        ruled = (r.taint for r in rules.for_device(self.table.ids[row]))
        tolerations = self.ask.tolerations
        return [
            taint
            for taint in (*own, *ruled)
            if untolerated((taint,), tolerations) is not None
        ]

    def _shortages(self, _: Mask, lost: Standing) -> tuple[list[Loss], int]:
        what = "capacity" if lost is Standing.NO_CAPACITY else "counter"
        tally: Counter[tuple[str, str]] = Counter()
        for (standing, name, note), number in self.survey.shortages[self.ask].items():
            if standing is lost:
                tally[name, note] += number
        losses = [
            Loss(what, name, number, note=note)  # type: ignore[arg-type]  # see above
            for (name, note), number in sorted(tally.items())
        ]
        return losses, 0


def taint_text(taint: DeviceTaint) -> str:
    value = f"={taint.value}" if taint.value else ""
    return f"{taint.key}{value}:{taint.effect}"


def program_of(table: DeviceTable, expression: str) -> cel.Program | None:
    """The selector as the scheduler compiles it; None when it cannot."""
    features = cel.CelFeatures(list_type_attributes=table.lists)
    try:
        return cel.compile(expression, features=features)
    except (cel.CompileError, NotSupportedError):
        return None


def outcomes_of(table: DeviceTable, expression: str) -> NDArray[np.uint8] | None:
    program = program_of(table, expression)
    if program is None:
        return None
    try:
        return table.select(program).outcomes
    except NotSupportedError:
        return None


def conjuncts(term: Term) -> tuple[Term, ...]:
    """The terms that all have to be true: those of a top-level ``&&``, else itself."""
    return term.terms if term.kind == "and" else (term,)


# --- constraints ---


def _agreements(survey: Survey, ask: Ask) -> Iterator[Agreement]:
    kin = [k for k in survey.kin if ask in k.counts]
    if not kin:
        return
    for place, sample in enumerate(kin[0].counts[ask].limits):

        def limit(counts: Counts, place: int = place) -> Limit:
            return counts.limits[place]

        before = [k for k in kin if k.counts[ask].free >= k.counts[ask].needed]
        after = [k for k in before if limit(k.counts[ask]).most >= k.counts[ask].needed]
        best = max(before or kin, key=lambda k: limit(k.counts[ask]).most)
        found = survey.limit(best, ask, place)
        yield Agreement(
            attribute=sample.attribute,
            distinct=sample.distinct,
            nodes_before=sum(len(k.names) for k in before),
            nodes=sum(len(k.names) for k in after),
            best_node=best.names[0],
            most=found.most,
            split=found.split,
            without=found.without,
        )


# --- nearest misses ---


def _misses(survey: Survey, ask: Ask, stop: Stop | None) -> list[Miss]:
    """Free devices that one term of one selector alone excludes."""
    table = survey.table
    of_class = len(ask.device_class.spec.selectors or ())
    terms = [
        (position, text, term)
        for position, expression in enumerate(ask.chain)
        for text, term in terms_of(table, expression)
    ]
    said = [_outcomes(table, term, stop) for _, _, term in terms]
    if any(found is None for found in said):
        return []
    passed = [found == TRUE for found in said]
    failures = np.sum([~found for found in passed], axis=0) if passed else np.zeros(0)
    free = survey.available[ask] == Standing.FREE
    misses: list[Miss] = []
    for (position, text, term), found in zip(terms, passed, strict=True):
        rows = np.flatnonzero(free & ~found & (failures == 1))
        if len(rows):
            misses.append(
                Miss(
                    selector=position if position < of_class else position - of_class,
                    of_class=position < of_class,
                    term=text,
                    devices=len(rows),
                    values=_published(table, term, rows),
                    example=table.ids[int(rows[0])],
                )
            )
    misses.sort(key=lambda miss: -miss.devices)
    return misses[:MOST_MISSES]


def terms_of(table: DeviceTable, expression: str) -> list[tuple[str, TermProgram]]:
    """The top-level terms of a selector, all of which have to be true, with their text."""
    program = program_of(table, expression)
    if program is None:
        return []
    conditions = split(program)
    whole = conditions[0]
    parts = whole.parts if whole.kind == "and" else [0]
    return [(conditions[p].text, TermProgram(program, conditions[p])) for p in parts]


def _outcomes(
    table: DeviceTable, term: TermProgram, stop: Stop | None
) -> NDArray[np.uint8] | None:
    try:
        return table.select(term, stop=stop).outcomes
    except NotSupportedError:
        return None


def _published(
    table: DeviceTable, term: TermProgram, rows: NDArray[np.intp]
) -> tuple[tuple[str, int], ...]:
    """What devices publish of the one thing that a term reads."""
    columns = [
        table.columns[read] for read in term.reads or () if read in table.columns
    ]
    if len(columns) != 1:
        return ()
    column = columns[0]
    tally = np.bincount(column.codes[rows], minlength=column.size)
    most = np.argsort(-tally, kind="stable")[:MOST_VALUES].tolist()
    return tuple(
        (value_text(column.raws[code]) if code else "not published", int(tally[code]))
        for code in most
        if tally[code]
    )
