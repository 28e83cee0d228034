"""From picked devices to what goes into a claim's status (allocator.md section 10)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from dra.allocation.booking import Pick
from dra.allocation.errors import AllocationError
from dra.allocation.features import Features
from dra.allocation.quirks import Quirk
from dra.allocation.request import Ask, ClaimPlan
from dra.objects import (
    AllocationConfig,
    AllocationDevices,
    AllocationResult,
    ClaimConfig,
    DeviceResult,
    NodeSelector,
    NodeSelectorTerm,
    RawQuantity,
    SelectorRequirement,
)

FROM_CLASS = "FromClass"
FROM_CLAIM = "FromClaim"


def assemble(
    plan: ClaimPlan,
    chosen: Sequence[Ask],
    picks: Sequence[Pick],
    *,
    node_name: str,
    features: Features,
    quirks: Collection[Quirk],
    classic: bool,
    new_share_id: Callable[[], str],
) -> AllocationResult:
    """The allocation of one claim; allocationTimestamp is the writer's business.

    ``chosen`` has the alternative of each request, ``picks`` are those of this
    claim in order. ``classic``: the older allocator, which knows no bindsToNode. Raises AllocationError when the devices' node selectors
    cannot be put into one.
    """
    config = [
        *_class_config(chosen),
        *_claim_config(
            plan.claim.spec.devices.config or (),
            chosen,
            repeat=Quirk.CONFIG_REPEATED in quirks,
        ),
    ]
    return AllocationResult(
        devices=AllocationDevices(
            results=[_device_result(p, features, new_share_id) for p in picks] or None,
            config=config or None,
        ),
        node_selector=_node_selector(plan, picks, node_name, classic=classic),
    )


def _device_result(
    pick: Pick, features: Features, new_share_id: Callable[[], str]
) -> DeviceResult:
    ask, device = pick.ask, pick.candidate.device
    binding = features.device_binding_and_status
    share = pick.share
    consumed: dict[str, RawQuantity] | None = None
    if share is not None and share.amounts:
        consumed = {name: str(amount) for name, amount in share.amounts.items()}
    return DeviceResult(
        request=ask.result_name,
        driver=pick.candidate.id.driver,
        pool=pick.candidate.id.pool,
        device=pick.candidate.id.device,
        admin_access=True if ask.admin else None,
        tolerations=list(ask.tolerations) or None,
        binding_conditions=(binding and device.binding_conditions) or None,
        binding_failure_conditions=(binding and device.binding_failure_conditions)
        or None,
        share_id=None if share is None else new_share_id(),
        consumed_capacity=consumed,
    )


def _class_config(chosen: Sequence[Ask]) -> list[AllocationConfig]:
    """Configs of the classes in order of first use, for all requests of the class."""
    users: dict[str, list[str]] = {}
    classes = {}
    for ask in chosen:
        users.setdefault(ask.class_name, []).append(ask.result_name)
        classes[ask.class_name] = ask.device_class
    return [
        AllocationConfig(source=FROM_CLASS, requests=names, opaque=config.opaque)
        for name, names in users.items()
        for config in classes[name].spec.config or ()
    ]


def _claim_config(
    configs: Sequence[ClaimConfig], chosen: Sequence[Ask], *, repeat: bool
) -> list[AllocationConfig]:
    """The claim's own configs, without those for alternatives not chosen."""
    found = []
    for config in configs:
        names = config.requests or ()
        times = 1
        if names:
            times = sum(a.parent in names or a.result_name in names for a in chosen)
            if not repeat:
                times = min(times, 1)
        entry = AllocationConfig(
            source=FROM_CLAIM, requests=config.requests or None, opaque=config.opaque
        )
        found.extend([entry] * times)
    return found


def _node_selector(
    plan: ClaimPlan, picks: Sequence[Pick], node_name: str, *, classic: bool
) -> NodeSelector | None:
    """Where the devices can be used; None: everywhere."""
    expressions: list[SelectorRequirement] = []
    fields: list[SelectorRequirement] = []
    for pick in picks:
        spec, device = pick.candidate.spec, pick.candidate.device
        selection = device if spec.per_device_node_selection else spec
        if selection.node_name or (device.binds_to_node and not classic):
            return _this_node(node_name)
        if selection.node_selector is None:
            continue
        terms = selection.node_selector.node_selector_terms or ()
        if len(terms) > 1:
            raise AllocationError(
                f"create NodeSelector for claim {plan.claim.metadata.name}: unsupported "
                f"ResourceSlice.NodeSelector with {len(terms)} terms"
            )
        for term in terms:
            _add_new(expressions, term.match_expressions or ())
            _add_new(fields, term.match_fields or ())
    if not expressions and not fields:
        return None
    merged = NodeSelectorTerm(
        match_expressions=expressions or None, match_fields=fields or None
    )
    return NodeSelector(node_selector_terms=[merged])


def _this_node(node_name: str) -> NodeSelector:
    only = SelectorRequirement(key="metadata.name", operator="In", values=[node_name])
    return NodeSelector(node_selector_terms=[NodeSelectorTerm(match_fields=[only])])


def _add_new(
    known: list[SelectorRequirement], more: Sequence[SelectorRequirement]
) -> None:
    """Add requirements that are not there yet, the order of values left aside."""
    seen = {_meaning(r) for r in known}
    for requirement in more:
        meaning = _meaning(requirement)
        if meaning not in seen:
            seen.add(meaning)
            known.append(requirement)


def _meaning(requirement: SelectorRequirement) -> tuple[str, str, frozenset[str]]:
    values = frozenset(requirement.values or ())
    return requirement.key, requirement.operator, values
