"""What happened in a run as records of its result."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

from msgspec.structs import replace

from dra.allocation.request import with_defaults
from dra.errors import DRAError
from dra.extended_resources import CLAIM_ANNOTATION
from dra.objects import ResourceClaim, write
from dra.whatif import outcomes
from dra.whatif.losses import Lost
from dra.whatif.placing import Placed, Placer, Refused, Unit, kind_of
from dra.whatif.pods import POD_CLAIM_ANNOTATION
from dra.whatif.result import AskedClaim, GivenClaim, GivenDevice, Loss, Placement

_MOST_REASONS: Final = 50
"""Different claims that are explained at most among those that have to wait."""


class Reasons:
    """Why units wait, once per kind of claims; ``known`` is what was found before."""

    def __init__(self, placer: Placer, known: Mapping[bytes, str]) -> None:
        self.placer = placer
        self.known = dict(known)

    def of(self, unit: Unit) -> str:
        text = kind_of(unit)
        if text not in self.known:
            if len(self.known) >= _MOST_REASONS:
                return "Ask about this claim alone to learn why."
            try:
                self.known[text] = self.placer.explain(unit).sentence
            except DRAError as error:
                self.known[text] = f"It cannot be asked: {error}."
        return self.known[text]


def loss_record(
    lost: Lost,
    now: ResourceClaim | None,
    moved: Placed | Refused | None,
    reasons: Reasons | None,
    *,
    complete: bool,
) -> Loss:
    """``now`` is the claim at the end, ``moved`` what became of what it moved with.

    ``complete``: nothing was left out because the run was stopped.
    """
    outcome: Literal["fits", "waits", "stays", "released", "not tried"]
    node = why = ""
    devices: tuple[str, ...] = ()
    if lost.pinned:
        outcome = "stays"
    elif now is not None and now.status.allocation is not None:
        outcome = "fits"
        devices = _device_names(now)
        node = moved.node if isinstance(moved, Placed) else ""
    elif isinstance(moved, Refused):
        outcome = "waits"
        why = moved.reason or (reasons.of(moved.unit) if reasons else "")
    else:
        outcome = "released" if complete else "not tried"
    meta = lost.claim.metadata
    loss = Loss(
        namespace=meta.namespace,
        claim=meta.name,
        reason=lost.reason,
        node=lost.node,
        devices=_device_names(lost.claim),
        pods=tuple(r.name for r in lost.claim.status.reserved_for or ()),
        sentence="",
        outcome=outcome,
        detail=lost.detail,
        after=lost.after,
        new_node=node,
        new_devices=devices,
        why=why,
    )
    return replace(loss, sentence=outcomes.of_loss(loss))


def _device_names(claim: ResourceClaim) -> tuple[str, ...]:
    allocation = claim.status.allocation
    if allocation is None:
        return ()
    results = allocation.devices.results or ()
    return tuple(f"{r.driver}/{r.pool}/{r.device}" for r in results)


def asked_claims(unit: Unit) -> tuple[AskedClaim, ...]:
    """The claims of a unit that wait, as an explanation counts them."""
    return tuple(
        AskedClaim(
            claim.metadata.namespace,
            claim.metadata.name,
            write(with_defaults(claim).spec),
            _is_made(claim),
        )
        for claim in unit.claims
        if claim.status.allocation is None
    )


def _is_made(claim: ResourceClaim) -> bool:
    """Whether the run has made it, of extended resources or of a pod's template."""
    known = claim.metadata.annotations or {}
    of_template = POD_CLAIM_ANNOTATION in known and not claim.metadata.uid
    return CLAIM_ANNOTATION in known or of_template


def placement_record(item: int, placed: Placed) -> Placement:
    unit = placed.unit
    claims = placed.claims or unit.claims
    return Placement(
        item=item,
        name=unit.name,
        namespace=claims[0].metadata.namespace if claims else "",
        pod=unit.pod.name if unit.pod else "",
        node=placed.node,
        claims=tuple(map(_given, placed.claims)),
    )


def _given(claim: ResourceClaim) -> GivenClaim:
    allocation = claim.status.allocation
    results = (allocation.devices.results or ()) if allocation else ()
    return GivenClaim(
        claim.metadata.namespace,
        claim.metadata.name,
        tuple(
            GivenDevice(
                r.request,
                r.driver,
                r.pool,
                r.device,
                {n: str(a) for n, a in (r.consumed_capacity or {}).items()},
            )
            for r in results
        ),
    )
