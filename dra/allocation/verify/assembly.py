"""What a result says beside its devices: copied fields, configuration, nodes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dra.allocation.features import Features
from dra.allocation.verify.taken import Taken
from dra.allocation.verify.violations import Code, Violation
from dra.allocation.verify.wants import Want, Wanted
from dra.objects import (
    AllocationConfig,
    AllocationResult,
    ClaimConfig,
    NodeSelector,
    NodeSelectorTerm,
    SelectorRequirement,
)
from dra.snapshot import Snapshot

ADMIN_LABEL = "resource.kubernetes.io/admin-access"


def check_copies(one: Taken, features: Features) -> Iterator[Violation]:
    """Fields of the result that repeat the request or the device."""
    result, device = one.result, one.found.device
    if bool(result.admin_access) != one.want.admin:
        had = "has" if result.admin_access else "does not have"
        words = f"{had} admin access, unlike the request"
        yield one.violation(Code.ADMIN_ACCESS, words)
    if list(result.tolerations or ()) != list(one.want.body.tolerations or ()):
        words = "does not carry the tolerations of the request"
        yield one.violation(Code.TOLERATIONS, words)
    binding = features.device_binding_and_status
    for name, given, published in (
        ("bindingConditions", result.binding_conditions, device.binding_conditions),
        (
            "bindingFailureConditions",
            result.binding_failure_conditions,
            device.binding_failure_conditions,
        ),
    ):
        if (given or []) != ((binding and published) or []):
            words = f"does not carry the device's {name}"
            yield one.violation(Code.BINDING_CONDITIONS, words)


def check_admin_namespace(
    one: Want, namespace: str, snapshot: Snapshot
) -> Iterator[Violation]:
    """Admin access is for namespaces that are labelled for it, as far as they are known."""
    known = snapshot.namespaces.get(namespace)
    if one.admin and known is not None:
        labels = known.metadata.labels or {}
        if labels.get(ADMIN_LABEL) != "true":
            yield one.violation(
                Code.ADMIN_ACCESS,
                f"The {one} asks for admin access, but namespace {namespace} does not "
                f'have the label {ADMIN_LABEL}: "true".',
            )


# --- configuration -----------------------------------------------------------


def check_config(
    wanted: Wanted, allocation: AllocationResult, chosen: Sequence[Want]
) -> Iterator[Violation]:
    """Configuration of the classes, then of the claim, without alternatives not chosen."""
    if list(allocation.devices.config or ()) != config_of(wanted, chosen):
        yield Violation(
            Code.CONFIG_WRONG,
            wanted.name,
            "",
            "",
            f"The configuration of claim {wanted.name} is not that of its classes and "
            "its own.",
        )


def config_of(wanted: Wanted, chosen: Sequence[Want]) -> list[AllocationConfig]:
    """What the result has to say, ``chosen`` being the alternative of each request."""
    return [*_of_classes(chosen), *_of_claim(wanted, chosen)]


def _of_classes(chosen: Sequence[Want]) -> Iterator[AllocationConfig]:
    """In order of first use, each for all requests of the class."""
    by_class: dict[str, list[Want]] = {}
    for want in chosen:
        by_class.setdefault(want.body.device_class_name, []).append(want)
    for wants in by_class.values():
        device_class = wants[0].device_class
        for config in (device_class and device_class.spec.config) or ():
            yield AllocationConfig(
                source="FromClass",
                requests=[want.name for want in wants],
                opaque=config.opaque,
            )


def _of_claim(wanted: Wanted, chosen: Sequence[Want]) -> Iterator[AllocationConfig]:
    for config in wanted.claim.spec.devices.config or ():
        if _is_meant(config, chosen):
            yield AllocationConfig(
                source="FromClaim",
                requests=config.requests or None,
                opaque=config.opaque,
            )


def _is_meant(config: ClaimConfig, chosen: Sequence[Want]) -> bool:
    names = config.requests
    return not names or any(w.parent in names or w.name in names for w in chosen)


# --- nodes -------------------------------------------------------------------


def check_nodes(
    wanted: Wanted,
    allocation: AllocationResult,
    taken: Sequence[Taken],
    node_name: str,
) -> Iterator[Violation]:
    """The result is for the nodes on which all of its devices can be used."""
    try:
        expected = selector_of(taken, node_name)
    except ValueError as error:
        words = f"The devices of claim {wanted.name} have {error}."
    else:
        if allocation.node_selector == expected:
            return
        words = (
            f"The nodeSelector of claim {wanted.name} is not what its devices call for."
        )
    yield Violation(Code.NODE_SELECTOR, wanted.name, "", "", words)


def selector_of(taken: Sequence[Taken], node_name: str) -> NodeSelector | None:
    """What the devices call for, None for every node.

    Raises ValueError for node selectors that cannot be put into one.
    """
    expressions: list[SelectorRequirement] = []
    fields: list[SelectorRequirement] = []
    for one in taken:
        spec, device = one.found.slice.spec, one.found.device
        selection = device if spec.per_device_node_selection else spec
        if selection.node_name or device.binds_to_node:
            name = SelectorRequirement("metadata.name", "In", [node_name])
            return NodeSelector([NodeSelectorTerm(match_fields=[name])])
        if selection.node_selector is None:
            continue
        terms = selection.node_selector.node_selector_terms or []
        if len(terms) != 1:
            raise ValueError(f"a node selector with {len(terms)} terms")
        expressions += terms[0].match_expressions or ()
        fields += terms[0].match_fields or ()
    if not expressions and not fields:
        return None
    term = NodeSelectorTerm(
        match_expressions=_without_repetition(expressions) or None,
        match_fields=_without_repetition(fields) or None,
    )
    return NodeSelector([term])


def _without_repetition(
    requirements: Sequence[SelectorRequirement],
) -> list[SelectorRequirement]:
    """Each once, as first spelled; the order of values makes no difference."""
    first: dict[tuple[str, str, frozenset[str]], SelectorRequirement] = {}
    for one in requirements:
        first.setdefault((one.key, one.operator, frozenset(one.values or ())), one)
    return list(first.values())
