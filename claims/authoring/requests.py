"""What each request of a draft matches, whether or not the claim as a whole can be asked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from msgspec.structs import replace

from claims.authoring.rounding import Rounding, roundings
from dra.allocation.explaining import Loss, RequestReason
from dra.allocation.features import Features
from dra.allocation.matching import Trouble, chain_verdicts
from dra.allocation.request import Ask, make_plan, with_defaults
from dra.cel.selection import Stop, Stopped
from dra.cel.table import DeviceTable
from dra.errors import DRAError
from dra.objects import Request, ResourceClaim
from dra.snapshot import Snapshot

MOST_TERMS: Final = 5
MOST_PARTS: Final = 256
"""Requests and alternatives that are looked at: as many as one claim may have."""


@dataclass(frozen=True, slots=True)
class RequestPreview:
    """One request, or one alternative of it, seen alone.

    ``claim`` is the index of its claim, ``path`` its field below the claim's spec,
    as in ``devices.requests[0].firstAvailable[1]``. ``wanted`` devices (0 with
    ``everything``: all that match on a node). Of the devices of the cluster
    ``matching`` pass every selector, in use or not, and on ``failing`` a selector has
    no answer; ``free`` can be had now on the nodes that were tried. All None where
    that cannot be told; ``problem`` says why then. ``terms`` and ``errors`` are what
    excludes the most devices, those of the request's own selectors before those of its
    class, ``roundings`` what is consumed of shared capacity, and
    ``reason`` is the whole funnel. ``sentence`` is for people.
    """

    claim: int
    claim_name: str
    request: str
    path: str
    class_name: str
    wanted: int
    everything: bool
    sentence: str
    matching: int | None = None
    free: int | None = None
    failing: int | None = None
    terms: tuple[Loss, ...] = ()
    errors: tuple[Loss, ...] = ()
    roundings: tuple[Rounding, ...] = ()
    reason: RequestReason | None = None
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Part:
    """A request or alternative of a claim: where it stands, and how the engine reads it.

    ``ask`` is None where it cannot; ``problem`` says why then. ``alone`` is the claim
    with this request and nothing else.
    """

    claim: int
    claim_name: str
    path: str
    name: str
    class_name: str
    ask: Ask | None
    problem: str
    alone: ResourceClaim


def size_of(claims: Sequence[ResourceClaim]) -> int:
    """How many requests and alternatives there are."""
    return sum(
        max(1, len(request.first_available or ()))
        for claim in claims
        for request in claim.spec.devices.requests or ()
    )


def parts_of(
    claims: Sequence[ResourceClaim], snapshot: Snapshot, features: Features
) -> tuple[Part, ...]:
    """Every request and alternative, in the order in which an explanation has them."""
    return tuple(
        part
        for index, claim in enumerate(claims)
        for place, request in enumerate(claim.spec.devices.requests or ())
        for part in _parts(index, claim, place, request, snapshot, features)
    )


def _parts(
    index: int,
    claim: ResourceClaim,
    place: int,
    request: Request,
    snapshot: Snapshot,
    features: Features,
) -> Iterator[Part]:
    at = f"devices.requests[{place}]"
    alternatives = request.first_available or ()
    for number, sub in enumerate(alternatives):
        yield _part(
            index,
            claim,
            f"{at}.firstAvailable[{number}]",
            f"{request.name}/{sub.name}",
            sub.device_class_name,
            replace(request, exactly=None, first_available=[sub]),
            snapshot,
            features,
        )
    if not alternatives:
        exactly = request.exactly
        yield _part(
            index,
            claim,
            f"{at}.exactly",
            request.name,
            exactly.device_class_name if exactly else "",
            request,
            snapshot,
            features,
        )


def _part(
    index: int,
    claim: ResourceClaim,
    path: str,
    name: str,
    class_name: str,
    request: Request,
    snapshot: Snapshot,
    features: Features,
) -> Part:
    devices = replace(claim.spec.devices, requests=[request], constraints=None)
    alone = with_defaults(replace(claim, spec=replace(claim.spec, devices=devices)))
    plan = make_plan([alone], snapshot.classes, features)
    ask = None
    problem = "" if plan.problem is None else str(plan.problem)
    if not problem:
        ask = plan.claims[0].requests[0].alternatives[0]
    return Part(index, claim.metadata.name, path, name, class_name, ask, problem, alone)


def previews_of(
    parts: Sequence[Part],
    reasons: Sequence[RequestReason | None],
    table: DeviceTable,
    stop: Stop,
) -> tuple[RequestPreview, ...]:
    """The requests with their counts; ``reasons`` has one entry for each part."""
    return tuple(
        _preview(part, reason, table, stop)
        for part, reason in zip(parts, reasons, strict=True)
    )


def _preview(
    part: Part, reason: RequestReason | None, table: DeviceTable, stop: Stop
) -> RequestPreview:
    ask = part.ask
    if ask is None:
        if not part.class_name:
            return _bare(part, "No class is chosen yet.")
        why = f"{part.problem[:1].upper()}{part.problem[1:]}"
        return _bare(part, f"It cannot be allocated: {why}.")
    try:
        codes, verdicts = chain_verdicts(ask.chain, table, stop=stop)
    except Stopped:
        return _bare(part, "The time was over before it was looked at.")
    except DRAError as error:
        return _bare(part, f"It cannot be allocated: {error}.")
    matching = codes == 0
    failing = int(
        np.isin(
            codes, [c for c, v in enumerate(verdicts) if isinstance(v, Trouble)]
        ).sum()
    )
    number = int(matching.sum())
    free = reason.stages[-1].devices if reason and reason.stages else None
    return RequestPreview(
        claim=part.claim,
        claim_name=part.claim_name,
        request=part.name,
        path=part.path,
        class_name=part.class_name,
        wanted=0 if ask.everything else ask.count,
        everything=ask.everything,
        sentence=_sentence(number, free, failing),
        matching=number,
        free=free,
        failing=failing,
        terms=_losses(reason, "term"),
        errors=_losses(reason, "error"),
        roundings=roundings(ask.capacity, table, matching),
        reason=reason,
    )


def _bare(part: Part, problem: str) -> RequestPreview:
    return RequestPreview(
        claim=part.claim,
        claim_name=part.claim_name,
        request=part.name,
        path=part.path,
        class_name=part.class_name,
        wanted=0,
        everything=False,
        sentence=problem,
        problem=problem,
    )


def _losses(reason: RequestReason | None, what: str) -> tuple[Loss, ...]:
    """What excludes the most devices, of the request's own selectors first."""
    if reason is None:
        return ()
    found: list[Loss] = []
    for code in ("selectors", "class"):
        losses = [x for s in reason.stages if s.code == code for x in s.losses]
        of_kind = (loss for loss in losses if loss.what == what and loss.devices)
        found += sorted(of_kind, key=lambda loss: -loss.devices)
    return tuple(found[:MOST_TERMS])


def _sentence(matching: int, free: int | None, failing: int) -> str:
    verb = "device matches" if matching == 1 else "devices match"
    text = f"{matching:,} {verb}" if matching else "No device matches"
    if free is not None and matching:
        text += f", {free:,} free"
    if failing:
        text += f"; on {failing:,} a selector fails"
    return f"{text}."
