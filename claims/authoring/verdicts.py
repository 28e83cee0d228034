"""The first sentence of a preview."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from claims.authoring.requests import RequestPreview
from claims.authoring.rounding import Rounding
from dra.allocation.explaining import Agreement, Explanation, RequestReason

SUPERSEDED: Final = "The draft has changed since; the answer to the newer one counts."


def sentence(found: Explanation, requests: Sequence[RequestPreview]) -> str:
    """Made from counts where one request alone is to blame, else the engine's own."""
    if found.verdict not in ("full", "hopeless") or not found.nodes:
        return found.sentence
    blamed = _blamed(requests)
    if blamed is None or blamed.reason is None:
        return found.sentence
    now = " now" if found.verdict == "full" else ""
    who = f" request {blamed.request}" if len(requests) > 1 else ""
    return f"Fits nowhere{now}: {_why(blamed, blamed.reason, who)}"


def _blamed(requests: Sequence[RequestPreview]) -> RequestPreview | None:
    """The first request without alternatives that no node can serve, even alone."""
    for request in requests:
        reason = request.reason
        if reason is not None and not reason.nodes and "/" not in request.request:
            return request
    return None


def _why(request: RequestPreview, reason: RequestReason, who: str) -> str:
    matching, free = request.matching or 0, request.free or 0
    if not matching:
        failing = request.failing or 0
        if failing:
            return (
                f"no device matches{who}, and on {failing:,} of class "
                f"{request.class_name} a selector fails."
            )
        return f"no device of class {request.class_name} matches{who}."
    matched = f"{_devices(matching, 'matches', 'match')}{who}"
    if not free and (unserved := _unserved(request)):
        return (
            f"{matched}, but none can give what is asked of {unserved.capacity}: it "
            f"{unserved.words}."
        )
    if not free:
        return f"{matched}, but none can be had{_taken(reason)}."
    unknown = next((a for a in reason.agreements if not a.most and not a.nodes), None)
    if unknown is not None:
        return f"{matched}, but none of the free ones has {unknown.attribute}."
    wanted = "all of them" if request.everything else f"{request.wanted:,}"
    on_one = _constraint(reason)
    nearest = ""
    if reason.best_node:
        nearest = f" Nearest: {reason.best_node} has {reason.best:,}."
    return f"{matched}, no node has {wanted} free{on_one}.{nearest}"


def _unserved(request: RequestPreview) -> Rounding | None:
    """A capacity of which no matching device can ever give what is asked, in use or
    not: the reason before all others."""
    for name in dict.fromkeys(
        each.capacity for each in request.roundings if each.asked
    ):
        mine = [each for each in request.roundings if each.capacity == name]
        if any(each.consumes for each in mine):
            continue
        if sum(each.devices for each in mine) == request.matching:
            # Devices that have some of it say more than those that have none.
            return max(mine, key=lambda each: bool(each.total))
    return None


def _constraint(reason: RequestReason) -> str:
    """The constraint that leaves too few, where the free devices alone would do."""
    tight = next((a for a in reason.agreements if a.nodes_before and not a.nodes), None)
    if tight is None:
        return ""
    return f" {_words(tight)}"


def _words(tight: Agreement) -> str:
    name = tight.attribute.rpartition("/")[2]
    return f"that differ in {name}" if tight.distinct else f"on one {name}"


def _taken(reason: RequestReason) -> str:
    """Where the devices that match are, in the order of the funnel."""
    parts = [
        f"{stage.lost:,} {_LOST[stage.code]}"
        for stage in reason.stages
        if stage.lost and stage.code in _LOST
    ]
    return f": {', '.join(parts)}" if parts else ""


_LOST: Final[Mapping[str, str]] = {
    "not in use": "in use",
    "tolerated": "tainted",
    "capacity": "without the capacity left",
    "counters": "without counters left",
}


def _devices(number: int, one: str, many: str) -> str:
    return f"1 device {one}" if number == 1 else f"{number:,} devices {many}"
