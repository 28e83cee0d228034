"""How many more of each shape fit now, each asked alone."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Final, Literal

from msgspec.structs import replace

from dra.allocation.explaining import Explanation
from dra.allocation.features import DEFAULT, Features
from dra.allocation.quirks import Mode
from dra.cel.selection import Stop
from dra.objects import Meta, ResourceClaim
from dra.snapshot import Snapshot
from dra.whatif.placing import Placer, Refused, Unit
from dra.whatif.result import Record
from dra.whatif.world import World

MOST: Final = 100_000


@dataclasses.dataclass(frozen=True, slots=True)
class Shape:
    """A name for people, and the claims of one pod."""

    name: str
    claims: tuple[ResourceClaim, ...]


class Headroom(Record, frozen=True):
    """``fits`` more copies of the shape ``name`` fit, on ``nodes`` nodes.

    ``verdict`` and ``reason`` say what stops the next one; "not tried" when counting
    ended at the limit or the run was stopped: then at least so many fit.
    """

    name: str
    seq: int
    fits: int
    nodes: int
    verdict: Literal["does not fit", "undecided", "refused", "not tried"]
    sentence: str
    reason: str = ""
    explanation: Explanation | None = None


def headroom(
    snapshot: Snapshot,
    shapes: Sequence[Shape],
    *,
    features: Features = DEFAULT,
    quirks: Mode = "none",
    stop: Stop | None = None,
    most: int = MOST,
    explain: bool = True,
) -> list[Headroom]:
    """One answer per shape, in order, as if the others were not there.

    Copies go to the first node by name where they fit. ``explain``: say why the
    next one does not. Raises nothing for a bad shape: that is the verdict "refused".
    """
    return [
        _of_shape(shape, World(snapshot, features, quirks, stop), most, explain=explain)
        for shape in shapes
    ]


def _of_shape(shape: Shape, world: World, most: int, *, explain: bool) -> Headroom:
    placer = Placer(world, "firstFit")
    nodes: set[str] = set()
    fits = 0
    refused: Refused | None = None
    while fits < most and not world.stopped():
        found = placer.place(_copy(shape, fits, world), expected=most - fits)
        if isinstance(found, Refused):
            refused = found
            break
        if not any(map(_takes_devices, found.claims)):
            text = "It takes no device away, so any number of it fits."
            return _answer(shape, world, fits + 1, {found.node}, "not tried", text)
        nodes.add(found.node)
        fits += 1
    if refused is None or world.stopped():
        return _answer(shape, world, fits, nodes, "not tried")
    explanation = None
    if explain and not refused.reason:
        explanation = placer.explain(refused.unit)
    reason = refused.reason or (explanation.sentence if explanation else "")
    return _answer(shape, world, fits, nodes, refused.verdict, reason, explanation)


def _takes_devices(claim: ResourceClaim) -> bool:
    """Whether less is left for the next. Admin access takes nothing, and a share of a
    device without capacity does not either: that is shared without limit."""
    allocation = claim.status.allocation
    results = (allocation.devices.results or ()) if allocation else ()
    return any(
        not result.admin_access
        and (result.share_id is None or bool(result.consumed_capacity))
        for result in results
    )


def _copy(shape: Shape, number: int, world: World) -> Unit:
    claims = []
    for place, claim in enumerate(shape.claims):
        base = f"{claim.metadata.name or 'claim'}-{place + 1}-{number + 1}"
        namespace = claim.metadata.namespace or "default"
        while world.is_taken((namespace, base)):
            base += "-more"
        fresh = ResourceClaim(metadata=Meta(name=base, namespace=namespace))
        claims.append(replace(fresh, spec=claim.spec))
    return Unit(f"{shape.name}-{number + 1}", None, tuple(claims))


def _answer(
    shape: Shape,
    world: World,
    fits: int,
    nodes: set[str],
    verdict: Literal["does not fit", "undecided", "refused", "not tried"],
    reason: str = "",
    explanation: Explanation | None = None,
) -> Headroom:
    least = "At least " if verdict == "not tried" else ""
    where = "1 node" if len(nodes) == 1 else f"{len(nodes):,} nodes"
    on = f", on {where}" if fits else ""
    text = f"{least}{fits:,} more {shape.name} {'fits' if fits == 1 else 'fit'}{on}."
    if reason:
        text += (
            f" {reason}"
            if verdict == "not tried"
            else f" What stops the next: {reason}"
        )
    return Headroom(
        name=shape.name,
        seq=world.before.seq,
        fits=fits,
        nodes=len(nodes),
        verdict=verdict,
        sentence=text,
        reason=reason,
        explanation=explanation,
    )
