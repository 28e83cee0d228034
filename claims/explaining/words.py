"""What is said about a question: which claims, which nodes, and what was left out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from dra.extended_resources import ExtendedClaim
from dra.objects import Pod
from dra.pod_needs import Needs

_NAMED: Final = 3


def together(pod: str, claims: Sequence[str]) -> str:
    """Of claims that are asked about in one question."""
    if len(claims) <= 1:
        return ""
    return (
        f"Pod {pod} needs {len(claims)} claims on one node; they are asked about "
        f"together, in the pod's order: {', '.join(claims)}."
    )


def extended(
    pod: str,
    claims: Sequence[str],
    found: ExtendedClaim | None,
    plugin_nodes: Sequence[str],
) -> str:
    """Of the claim that is still to be made of extended resources, behind ``claims``."""
    if found is None or found.claim is None:
        return " ".join(p.message for p in found.problems) if found else ""
    resources = ", ".join(dict.fromkeys(a.resource for a in found.answers))
    classes = ", ".join(
        dict.fromkeys(found.served_by[a.resource].class_name for a in found.answers)
    )
    parts = [
        f"Pod {pod} asks for extended resources ({resources}): the scheduler makes one "
        f"claim of them, for {_noun('class', 'classes', classes)} {classes}."
    ]
    if claims:
        parts.append(
            f"It is asked about together with the pod's own claims, behind them: "
            f"{', '.join(claims)}."
        )
    if plugin_nodes:
        verb = "serves" if len(plugin_nodes) == 1 else "serve"
        parts.append(
            f"Left out: {nodes(plugin_nodes)}, which {verb} such a resource by a device "
            "plugin; there the pod needs less of DRA."
        )
    parts += [problem.message for problem in found.problems]
    return " ".join(parts)


def places(
    pod: str,
    allocated: Sequence[str],
    node_names: Sequence[str] | None,
    *,
    own_rules: bool,
) -> str:
    """Of what narrows the nodes."""
    if allocated:
        verb = "is" if len(allocated) == 1 else "are"
        also = ", and the pod's own rules for nodes count" if own_rules else ""
        return (
            f"{', '.join(allocated)} of the same pod {verb} allocated already{also}, so "
            f"only {nodes(node_names)} can be chosen."
        )
    if own_rules and node_names is not None and not node_names:
        return (
            f"No node that takes pods is left for pod {pod}: its node selector, node "
            "affinity and tolerations of node taints rule out the others."
        )
    if own_rules:
        return (
            f"Pod {pod} may run on {nodes(node_names)} only: its node selector, node "
            "affinity and tolerations of node taints decide that."
        )
    return ""


def left_out(absent: Sequence[str]) -> str:
    """Of entries that nothing can be asked about."""
    if not absent:
        return ""
    return (
        f"Left out: {', '.join(absent)} of the same pod, for which no claim can be read "
        "yet."
    )


def nothing_to_ask(name: str, pod: Pod, needs: Needs) -> str:
    """Why there is nothing to ask about a pod."""
    if pod.spec.node_name:
        return f"The pod {name} is on node {pod.spec.node_name}: it does not wait."
    if needs.absent:
        return (
            f"There is no claim yet to ask about for {', '.join(needs.absent)} of the "
            f"pod {name}."
        )
    if needs.allocated:
        return (
            f"The claims of the pod {name} hold their devices: it does not wait for "
            "devices."
        )
    if needs.extended and needs.extended.problems:
        return " ".join(problem.message for problem in needs.extended.problems)
    return f"The pod {name} asks for no device of DRA."


def nodes(names: Sequence[str] | None) -> str:
    """The first few by name, else their number."""
    if names is None:
        return "the nodes that take pods"
    if not names:
        return "nodes that take no pods now"
    if len(names) > _NAMED:
        return f"{len(names):,} nodes"
    return ("node " if len(names) == 1 else "nodes ") + ", ".join(names)


def _noun(one: str, several: str, listed: str) -> str:
    return several if ", " in listed else one
