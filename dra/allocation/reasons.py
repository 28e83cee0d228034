"""Why it does not fit, in one sentence made from counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from dra.allocation.counts import Counts, Limit
from dra.allocation.request import Ask, ClaimPlan, Plan, RequestPlan

type NodeCounts = Mapping[Ask, Counts]

OUT_OF_TIME: Final = "Undecided: the time was over before all nodes were looked at."


def gave_up(steps: int) -> str:
    return f"Undecided: the search was stopped after {_number(steps)} steps."


def of_nodes(plan: Plan, nodes: Mapping[str, NodeCounts]) -> str:
    """One sentence, or two, on why none of ``nodes`` (at least one) fits.

    Names the first request that no node can serve, even alone; without one it
    is the combination that does not fit.
    """
    for claim in plan.claims:
        for request in claim.requests:
            if not any(_servable(request, counts) for counts in nodes.values()):
                return _hopeless(plan, claim, request, nodes)
    return _together(plan, nodes)


def _servable(request: RequestPlan, counts: NodeCounts) -> bool:
    return any(counts[ask].enough for ask in request.alternatives)


def _hopeless(
    plan: Plan,
    claim: ClaimPlan,
    request: RequestPlan,
    nodes: Mapping[str, NodeCounts],
) -> str:
    if not request.optional:
        return _of_ask(plan, claim, request.alternatives[0], nodes)
    parent = request.alternatives[0].parent
    parts = []
    for ask in request.alternatives:
        best = _closest(ask, nodes)[1]
        wanted = "all" if ask.everything else str(best.needed)
        parts.append(
            f"{ask.result_name} wants {wanted}, at most {best.most} can be had"
        )
    return (
        f"No alternative of request {parent}{_of_claim(plan, claim)} can be served: "
        f"{'; '.join(parts)}{_tried(nodes)}."
    )


def _of_ask(
    plan: Plan, claim: ClaimPlan, ask: Ask, nodes: Mapping[str, NodeCounts]
) -> str:
    every = [counts[ask] for counts in nodes.values()]
    matching = sum(c.matching for c in every)
    request = f"request {ask.parent}{_of_claim(plan, claim)}"
    where = _where(nodes)
    if matching == 0:
        published = sum(c.published for c in every)
        if published == 0:
            return (
                f"No usable device is published {where} for {request}{_tried(nodes)}."
            )
        failing = sum(c.failing for c in every)
        text = (
            f"None of the {_devices(published)} published {where} passes the "
            f"selectors of {request} (class {ask.class_name})"
        )
        if failing:
            text += f"; on {_number(failing)} of them a selector fails with an error"
        return f"{text}."
    if not any(c.free for c in every):
        return (
            f"{_verb(matching, 'device matches', 'devices match')} {request} {where}, "
            f"but none can be had: {_taken(every)}{_tried(nodes)}."
        )
    name, best = _closest(ask, nodes)
    wanted = f"{best.needed} free {'device' if best.needed == 1 else 'devices'}"
    if ask.everything:
        return (
            f"{request[0].upper()}{request[1:]} wants all {best.needed} matching "
            f"devices of node {name}, but only {best.most} can be had: "
            f"{_taken([best])}{_tried(nodes)}."
        )
    tight = next((x for x in best.limits if x.most < best.needed), None)
    suffix = f" with {_agreement(tight)}" if tight else ""
    selected = " that pass its selectors" if len(ask.chain) > _class_terms(ask) else ""
    subject = "No node has" if len(nodes) > 1 else f"Node {name} does not have"
    text = f"{subject} {wanted} of class {ask.class_name}{selected}{suffix}"
    details = f"it has {best.most}"
    if tight and tight.without == best.free:
        details = f"none of its {best.free} free devices has that attribute"
    elif best.matching > best.free:
        details += f" ({best.matching} match: {_taken([best])})"
    if len(nodes) > 1:
        return f"{text}; {len(nodes)} nodes were tried. Closest: {name}, {details}."
    return f"{text}: {details} (request {ask.parent}{_of_claim(plan, claim)})."


def _class_terms(ask: Ask) -> int:
    return len(ask.device_class.spec.selectors or ())


def _together(plan: Plan, nodes: Mapping[str, NodeCounts]) -> str:
    """Every request can be served alone on some node."""
    able = [
        name
        for name, counts in nodes.items()
        if all(_servable(r, counts) for c in plan.claims for r in c.requests)
    ]
    attributes = sorted(
        {
            constraint.match_attribute or constraint.distinct_attribute or ""
            for claim in plan.claims
            for constraint in claim.constraints
        }
    )
    if not able:
        return (
            "Each request can be served on some node, but no node can serve all of "
            f"them{_tried(nodes)}."
        )
    because = "they compete for the same devices, capacity or counters"
    if attributes:
        because = f"the constraints on {', '.join(attributes)} cannot be met together"
    if len(nodes) == 1:
        return (
            f"Node {able[0]} can serve each request alone but not all together: "
            f"{because}."
        )
    return (
        f"{_verb(len(able), 'node can', 'nodes can')} serve each request alone, but "
        f"none can serve all together: {because}{_tried(nodes)}."
    )


def _closest(ask: Ask, nodes: Mapping[str, NodeCounts]) -> tuple[str, Counts]:
    """The node that comes nearest, the first by order among equals."""

    def missing(name: str) -> tuple[int, int, int]:
        counts = nodes[name][ask]
        return (counts.needed - counts.most, -counts.free, -counts.matching)

    name = min(nodes, key=missing)
    return name, nodes[name][ask]


def _taken(every: Sequence[Counts]) -> str:
    """Where the matching devices went."""
    parts = [
        (sum(c.in_use for c in every), "in use"),
        (sum(c.tainted for c in every), "tainted"),
        (sum(c.full for c in every), "without the capacity or counters left"),
    ]
    return ", ".join(f"{_number(n)} {what}" for n, what in parts if n) or "all are free"


def _agreement(limit: Limit) -> str:
    kind = "different" if limit.distinct else "equal"
    return f"{kind} {limit.attribute}"


def _of_claim(plan: Plan, claim: ClaimPlan) -> str:
    return f" of {claim.where}" if len(plan.claims) > 1 else ""


def _where(nodes: Mapping[str, NodeCounts]) -> str:
    if len(nodes) == 1:
        return f"on node {next(iter(nodes))}"
    return f"on the {_number(len(nodes))} nodes"


def _tried(nodes: Mapping[str, NodeCounts]) -> str:
    return f"; {_number(len(nodes))} nodes were tried" if len(nodes) > 1 else ""


def _devices(count: int) -> str:
    return "1 device" if count == 1 else f"{_number(count)} devices"


def _verb(count: int, one: str, many: str) -> str:
    return f"{_number(count)} {one if count == 1 else many}"


def _number(count: int) -> str:
    return f"{count:,}"
