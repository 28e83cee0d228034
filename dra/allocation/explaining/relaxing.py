"""The smallest single changes with which a claim would fit, each proved.

A change is proved by asking the engine about the changed claim or cluster. What is
tried first is what the survey says is nearest; nothing is offered unproved.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import numpy as np
from msgspec.structs import replace

from dra.allocation.counts import Standing
from dra.allocation.explaining.explanation import Relaxation
from dra.allocation.explaining.funnel import (
    outcomes_of,
    program_of,
    taint_text,
    terms_of,
)
from dra.allocation.explaining.surveying import Survey
from dra.allocation.outcome import Fits
from dra.allocation.request import Ask
from dra.cel.advice import advise
from dra.cel.selection import TRUE, Stop
from dra.errors import DRAError
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
    write,
)
from dra.snapshot import Snapshot
from dra.taints import TaintRules, untolerated
from dra.usage import Holder

MOST_TRIED: Final = 40
"""Changes that are proved at most."""
MOST_OF_A_KIND: Final = 8
MOST_CLAIMS: Final = 12
"""Claims whose end is tried."""

type Prove = Callable[[Snapshot, Sequence[ResourceClaim]], str]
"""The first node on which changed claims fit a changed cluster; empty: none."""


@dataclasses.dataclass(frozen=True, slots=True)
class Change:
    """One change to try; ``snapshot`` where it is one of the cluster."""

    code: str
    request: str
    before: str
    after: str
    sentence: str
    claim: ResourceClaim | None = None
    snapshot: Snapshot | None = None


class Relaxing:
    """Looks for changes of the claims of one survey that did not fit."""

    def __init__(
        self,
        survey: Survey,
        claims: Sequence[ResourceClaim],
        prove: Prove,
        stop: Stop | None,
    ) -> None:
        self.survey = survey
        self.claims = claims
        self.prove = prove
        self.stop = stop
        self.complete = True
        self._tried = 0

    def find(self) -> list[Relaxation]:
        """Proved changes, the least ones first."""
        found: list[Relaxation] = []
        for ask in self.survey.claims:
            for changes in (
                self._loosened(ask),
                self._without_term(ask),
                self._tolerating(ask),
                self._fewer(ask),
                self._without_constraint(ask),
                self._other_class(ask),
                self._waiting(ask),
            ):
                found += self._proved(ask, changes)
        return _once(found)

    def _proved(self, ask: Ask, changes: Iterator[Change]) -> Iterator[Relaxation]:
        for number, change in enumerate(changes):
            if self._tried >= MOST_TRIED or (self.stop is not None and self.stop()):
                self.complete = False
                return
            if number >= MOST_OF_A_KIND:
                return
            self._tried += 1
            claims = list(self.claims)
            if change.claim is not None:
                claims[ask.claim_index] = change.claim
            node = self.prove(change.snapshot or self.survey.question.snapshot, claims)
            if node:
                yield Relaxation(
                    code=change.code,  # type: ignore[arg-type]  # one of the codes
                    claim=ask.claim_index,
                    request=ask.result_name,
                    before=change.before,
                    after=change.after,
                    node=node,
                    sentence=change.sentence,
                    spec=None if change.claim is None else write(change.claim.spec),
                )

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
        low, high = 1, ask.count - 1
        best = 0
        snapshot = self.survey.question.snapshot
        while low <= high:
            count = (low + high + 1) // 2
            claims = list(self.claims)
            claims[ask.claim_index] = self._changed(ask, count=count)
            if self.prove(snapshot, claims):
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

    def _without_constraint(self, ask: Ask) -> Iterator[Change]:
        claim = self.claims[ask.claim_index]
        constraints = claim.spec.devices.constraints or []
        for number, constraint in enumerate(constraints):
            kind = (
                "matchAttribute" if constraint.match_attribute else "distinctAttribute"
            )
            name = constraint.match_attribute or constraint.distinct_attribute or ""
            kept = [c for n, c in enumerate(constraints) if n != number]
            devices = replace(claim.spec.devices, constraints=kept or None)
            yield Change(
                "drop constraint",
                "",
                f"{kind}: {name}",
                "",
                f"Drop the constraint {kind} {name}.",
                replace(claim, spec=replace(claim.spec, devices=devices)),
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


def _once(found: Sequence[Relaxation]) -> list[Relaxation]:
    """Each change once: requests share the constraints of their claim."""
    known: dict[tuple[object, ...], Relaxation] = {}
    for relaxation in found:
        of_claim = relaxation.code in ("drop constraint", "wait")
        key = (
            relaxation.code,
            relaxation.claim,
            relaxation.before,
            relaxation.after,
            "" if of_claim else relaxation.request,
        )
        known.setdefault(key, relaxation)
    return list(known.values())


def prover(
    fits: Callable[[Snapshot, Sequence[ResourceClaim]], object],
) -> Prove:
    """From a question to the engine to the node of its answer."""

    def prove(snapshot: Snapshot, claims: Sequence[ResourceClaim]) -> str:
        try:
            outcome = fits(snapshot, claims)
        except DRAError:
            return ""
        return outcome.node_name if isinstance(outcome, Fits) else ""

    return prove
