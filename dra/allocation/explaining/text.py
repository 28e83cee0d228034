"""An explanation as a page of text, for a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from dra.allocation.explaining.explanation import (
    Agreement,
    Explanation,
    Loss,
    Miss,
    RequestReason,
    Stage,
)

STAGES: Final = {
    "published": "published in the cluster",
    "reachable": "on nodes that were tried",
    "usable": "in complete, valid pools",
    "class": "in the class",
    "selectors": "pass the request's selectors",
    "not in use": "not in use",
    "tolerated": "without a taint that keeps it away",
    "capacity": "with the capacity asked for",
    "counters": "with enough counters left",
}
"""What the devices that are left after a stage have in common."""

_LOSSES_SHOWN: Final = 3
_GROUPS_SHOWN: Final = 8


def as_text(found: Explanation) -> str:
    """Lines without a newline at the end."""
    return "\n".join(_lines(found))


def _lines(found: Explanation) -> Iterator[str]:
    yield found.sentence
    if found.difference is not None:
        yield found.difference.sentence
    if found.verdict != "fits":
        for request in found.requests:
            yield ""
            yield from _request(request)
    if found.groups and found.nodes > 1:
        yield ""
        yield "Nodes:"
        for group in found.groups[:_GROUPS_SHOWN]:
            names = ", ".join(group.names[:3]) + (", …" if group.nodes > 3 else "")
            yield f"  {group.nodes:,} × {group.sentence} ({names})"
        if len(found.groups) > _GROUPS_SHOWN:
            yield f"  … and {len(found.groups) - _GROUPS_SHOWN} more kinds of nodes"
    if found.relaxations:
        yield ""
        yield "It would fit after any one of these changes:"
        for relaxation in found.relaxations:
            of = f" (request {relaxation.request})" if relaxation.request else ""
            yield f"  - {relaxation.sentence}{of} Then on node {relaxation.node}."
    elif found.verdict in ("full", "hopeless") and found.complete:
        yield ""
        yield "No single change of the claim that was tried makes it fit."
    if not found.complete:
        yield ""
        yield "Not everything was looked at: the budget ended first."


def _request(request: RequestReason) -> Iterator[str]:
    wanted = "all devices" if request.everything else f"{request.wanted:,}"
    yield f"Request {request.request}: wants {wanted} of class {request.class_name}"
    width = max(len(f"{stage.devices:,}") for stage in request.stages)
    for stage in request.stages:
        if stage.code != "published" and not stage.lost:
            continue
        yield f"  {stage.devices:>{width},} {STAGES[stage.code]}{_lost(stage)}"
        for loss in stage.losses[:_LOSSES_SHOWN]:
            yield f"  {'':{width}}   {_loss(loss)}"
        more = max(0, len(stage.losses) - _LOSSES_SHOWN) + stage.more
        if more:
            yield f"  {'':{width}}   … and {more:,} more"
    for agreement in request.agreements:
        yield f"  {_agreement(agreement)}"
    for miss in request.misses:
        yield f"  Near: {_miss(miss)}"


def _lost(stage: Stage) -> str:
    return f" (−{stage.lost:,})" if stage.lost else ""


def _loss(loss: Loss) -> str:
    words = {
        "pool": f"pool {loss.name}: {loss.note}",
        "term": f"not {loss.name}",
        "error": f"no answer: {loss.note}",
        "claim": f"held by claim {loss.name}",
        "taint": f"taint {loss.name}",
        "capacity": f"{loss.name}: {loss.note}",
        "counter": f"{loss.name}: {loss.note}",
        "node": f"node {loss.name} was not tried" if loss.name else loss.note,
    }
    alone = f", {loss.alone:,} by this alone" if loss.alone is not None else ""
    return f"{loss.devices:,} {words[loss.what]}{alone}"


def _agreement(agreement: Agreement) -> str:
    kind = "different" if agreement.distinct else "equal"
    values = ", ".join(f"{value}: {number}" for value, number in agreement.split)
    without = f", {agreement.without} without it" if agreement.without else ""
    return (
        f"With {kind} {agreement.attribute}: at most {agreement.most} on one node "
        f"({agreement.best_node}: {values}{without}); {agreement.nodes:,} of "
        f"{agreement.nodes_before:,} nodes with enough devices have enough that agree"
    )


def _miss(miss: Miss) -> str:
    values = " or ".join(value for value, _ in miss.values)
    instead = f"; they publish {values}" if values else ""
    verb = "device fails" if miss.devices == 1 else "devices fail"
    return f"{miss.devices:,} free {verb} only {miss.term}{instead}"
