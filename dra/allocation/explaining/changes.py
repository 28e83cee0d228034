"""The single changes with which a claim might fit, nearest first.

Changes of the claim's own words and of the cluster; whether one helps is for
``dra.allocation.explaining.relaxing`` to prove.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import numpy as np
from msgspec.structs import replace

from dra.allocation.counts import Standing
from dra.allocation.explaining.change import Change
from dra.allocation.explaining.constraint_changes import ConstraintChanges
from dra.allocation.explaining.funnel import (
    outcomes_of,
    program_of,
    taint_text,
    terms_of,
)
from dra.allocation.explaining.surveying import Survey
from dra.allocation.request import Ask
from dra.cel.advice import advise
from dra.cel.selection import TRUE, Stop
from dra.objects import (
    CELExpression,
    DeviceSelector,
    DeviceTaint,
    ExactRequest,
    Request,
    ResourceClaim,
    ResourceClaimSpec,
    SubRequest,
    Toleration,
)
from dra.taints import TaintRules, untolerated
from dra.usage import Holder

MOST_CLAIMS: Final = 12
"""Claims whose end is tried."""


class Changes:
    """Changes of one survey's claims.

    ``is_enough`` says whether everything fits with another claim in a place.
    """

    def __init__(
        self,
        survey: Survey,
        claims: Sequence[ResourceClaim],
        is_enough: Callable[[int, ResourceClaim], bool],
        stop: Stop | None,
    ) -> None:
        self.survey = survey
        self.claims = claims
        self.is_enough = is_enough
        self.stop = stop
        self.constraints = ConstraintChanges(survey, claims)

    def of(self, ask: Ask) -> Iterator[Iterator[Change]]:
        """The changes for one request, kind by kind, the least ones first."""
        yield self._loosened(ask)
        yield self._without_term(ask)
        yield self._tolerating(ask)
        yield self._fewer(ask)
        yield self.constraints.on_others(ask)
        yield self.constraints.without(ask)
        yield self._other_class(ask)
        yield self._waiting(ask)

    # --- the claim's own words ---

    def _selectors(self, ask: Ask) -> list[str]:
        """Expressions of the request itself, without those of its class."""
        of_class = len(ask.device_class.spec.selectors or ())
        return list(ask.chain[of_class:])

    def _loosened(self, ask: Ask) -> Iterator[Change]:
        """Values that are nearly published, as the advice on expressions finds them."""
        expressions = self._selectors(ask)
        for place, expression in enumerate(expressions):
            program = program_of(self.survey.table, expression)
            if program is None:
                continue
            for warning in advise(program, self.survey.table, stop=self.stop):
                if not warning.suggestion:
                    continue
                after = (
                    expression[: warning.start]
                    + warning.suggestion
                    + expression[warning.end :]
                )
                yield Change(
                    "loosen term",
                    ask.result_name,
                    expression[warning.start : warning.end],
                    warning.suggestion,
                    f"Write {warning.suggestion} instead of "
                    f"{expression[warning.start : warning.end]}.",
                    self._with_selector(ask, place, after),
                )

    def _without_term(self, ask: Ask) -> Iterator[Change]:
        """Without one term of a selector, or without the selector."""
        expressions = self._selectors(ask)
        for place, expression in enumerate(expressions):
            terms = [text for text, _ in terms_of(self.survey.table, expression)]
            for number, term in enumerate(terms if len(terms) > 1 else ()):
                kept = " && ".join(t for n, t in enumerate(terms) if n != number)
                yield Change(
                    "drop term",
                    ask.result_name,
                    term,
                    "",
                    f"Drop the term {term}.",
                    self._with_selector(ask, place, kept),
                )
            yield Change(
                "drop selector",
                ask.result_name,
                expression,
                "",
                f"Drop the selector {expression}.",
                self._with_selector(ask, place, None),
            )

    def _tolerating(self, ask: Ask) -> Iterator[Change]:
        for taint in self._taints(ask):
            toleration = Toleration(
                key=taint.key,
                operator="Equal" if taint.value else "Exists",
                value=taint.value,
                effect=taint.effect,
            )
            yield Change(
                "tolerate",
                ask.result_name,
                "",
                taint_text(taint),
                f"Tolerate the taint {taint_text(taint)}.",
                self._changed(ask, tolerations=[*ask.tolerations, toleration]),
            )

    def _taints(self, ask: Ask) -> list[DeviceTaint]:
        survey = self.survey
        rules = TaintRules(survey.question.snapshot.taint_rules.values())
        found: dict[tuple[str, str, str], DeviceTaint] = {}
        rows = np.flatnonzero(survey.standing[ask] == Standing.TAINTED)
        for row in rows[:1000].tolist():
            own = survey.table.listing.devices[row].taints or ()
            ruled = [r.taint for r in rules.for_device(survey.table.ids[row])]
            for taint in (*own, *ruled):
                if untolerated((taint,), ask.tolerations) is not None:
                    found.setdefault((taint.key, taint.value, taint.effect), taint)
        return list(found.values())

    def _fewer(self, ask: Ask) -> Iterator[Change]:
        """The largest smaller count that fits, found by halving."""
        if ask.everything or ask.count < 2:
            return
        low, high, best = 1, ask.count - 1, 0
        while low <= high:
            count = (low + high + 1) // 2
            if self.is_enough(ask.claim_index, self._changed(ask, count=count)):
                best, low = count, count + 1
            else:
                high = count - 1
        if best:
            yield Change(
                "fewer",
                ask.result_name,
                str(ask.count),
                str(best),
                f"Ask for {best} instead of {ask.count}.",
                self._changed(ask, count=best),
            )

    def _other_class(self, ask: Ask) -> Iterator[Change]:
        """Classes that select a free device, those with most of them first."""
        survey = self.survey
        free = survey.available[ask] == Standing.FREE
        offers: list[tuple[int, str]] = []
        for name, device_class in survey.question.snapshot.classes.items():
            if name == ask.class_name:
                continue
            within = free.copy()
            for selector in device_class.spec.selectors or ():
                outcomes = outcomes_of(
                    survey.table, selector.cel.expression if selector.cel else "false"
                )
                within &= False if outcomes is None else outcomes == TRUE
            offers.append((-int(within.sum()), name))
        for number, name in sorted(offers):
            if number:
                yield Change(
                    "other class",
                    ask.result_name,
                    ask.class_name,
                    name,
                    f"Use the class {name} instead of {ask.class_name}.",
                    self._changed(ask, device_class_name=name),
                )

    def _waiting(self, ask: Ask) -> Iterator[Change]:
        """Claims that hold what the request wants, on the nearest nodes first."""
        snapshot = self.survey.question.snapshot
        for key in self._in_the_way(ask):
            claim = snapshot.claims.get(key)
            if claim is None or claim.status.allocation is None:
                continue
            freed = replace(claim, status=replace(claim.status, allocation=None))
            name = "/".join(key)
            yield Change(
                "wait",
                ask.result_name,
                name,
                "",
                f"Wait until claim {name} is released.",
                snapshot=snapshot.edit(add=[freed]),
            )

    def _in_the_way(self, ask: Ask) -> list[tuple[str, str]]:
        """Claims that hold wanted devices, or what these draw on."""
        survey = self.survey
        standing = survey.standing[ask]
        held = np.flatnonzero(
            (standing == Standing.IN_USE)
            | (standing == Standing.NO_CAPACITY)
            | (standing == Standing.NO_COUNTERS)
        )
        near = self._nearest_nodes(ask)
        found: dict[tuple[str, str], None] = {}
        for row in sorted(held.tolist(), key=lambda r: (near.get(r, len(near)), r)):
            for holder in self._holders(row, standing[row]):
                found.setdefault(holder.claim_key)
            if len(found) >= MOST_CLAIMS:
                break
        return list(found)[:MOST_CLAIMS]

    def _holders(self, row: int, standing: int) -> Iterator[Holder]:
        in_use, device = (
            self.survey.question.snapshot.in_use,
            self.survey.table.ids[row],
        )
        yield from in_use.holders(device)
        if standing == Standing.NO_COUNTERS:
            use = in_use.pool((device.driver, device.pool))
            for holders in use.holders.values():
                yield from holders

    def _nearest_nodes(self, ask: Ask) -> dict[int, int]:
        """The rank of each row's node: fewest missing devices first."""
        survey = self.survey
        kin = sorted(
            (k for k in survey.kin if ask in k.counts and k.counts[ask].matching),
            key=lambda k: k.counts[ask].needed - k.counts[ask].most,
        )
        places = survey.table.listing.places
        ranks: dict[int, int] = {}
        for rank, group in enumerate(kin):
            for piece in survey.question.layout.view(group.names[0]).pieces:
                start = places.get(id(piece))
                if start is not None:
                    for row in range(start, start + len(piece.spec.devices or ())):
                        ranks.setdefault(row, rank)
        return ranks

    # --- changing a claim ---

    def _with_selector(
        self, ask: Ask, place: int, expression: str | None
    ) -> ResourceClaim:
        selectors = [DeviceSelector(cel=CELExpression(e)) for e in self._selectors(ask)]
        if expression is None:
            del selectors[place]
        else:
            selectors[place] = DeviceSelector(cel=CELExpression(expression))
        return self._changed(ask, selectors=selectors or None)

    def _changed(self, ask: Ask, **fields: Any) -> ResourceClaim:
        """The claim with other fields in one request or alternative."""
        claim = self.claims[ask.claim_index]
        requests = [
            _changed_request(request, ask, fields)
            for request in claim.spec.devices.requests or ()
        ]
        devices = replace(claim.spec.devices, requests=requests)
        spec: ResourceClaimSpec = replace(claim.spec, devices=devices)
        return replace(claim, spec=spec)


def _changed_request(request: Request, ask: Ask, fields: dict[str, Any]) -> Request:
    if request.name != ask.parent:
        return request
    if request.exactly is not None:
        exactly: ExactRequest = replace(request.exactly, **fields)
        return replace(request, exactly=exactly)
    alternatives: list[SubRequest] = [
        replace(sub, **fields)
        if ask.result_name == f"{request.name}/{sub.name}"
        else sub
        for sub in request.first_available or ()
    ]
    return replace(request, first_available=alternatives)
