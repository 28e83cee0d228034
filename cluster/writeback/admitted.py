"""What admission has made of a pod of ours.

A webhook may hold a pod back with scheduling gates (as queues of jobs do), give it to
another scheduler or change where it may run. A pod that is held back says
PodScheduled=False by itself: no scheduler has looked at it, so that is no verdict, and a
scheduler that did not get the pod has passed no barrier.
"""

from __future__ import annotations

from typing import Final

from cluster.writeback.values import Json, first

GATED: Final = "SchedulingGated"
"""Reason of the condition PodScheduled while a pod has scheduling gates; the API server
writes it with the pod."""
_DEFAULT: Final = "default-scheduler"


def scheduler_of(pod: Json) -> str:
    return str((pod.get("spec") or {}).get("schedulerName") or _DEFAULT)


def held_back(pod: Json) -> str:
    """Why no scheduler looks at ``pod``, as the end of a sentence; empty: one may."""
    gates = (pod.get("spec") or {}).get("schedulingGates") or ()
    names = [str(gate.get("name")) for gate in gates]
    if not names:
        return ""
    return (
        f"is held back by the scheduling gate {first(names)}, which something in the "
        "cluster puts on the pods of this namespace (a webhook, such as that of a queue "
        "of jobs)"
    )


def given_away(pod: Json, scheduler: str) -> str:
    """As :func:`held_back`: that ``pod`` went to another scheduler than it was made for."""
    found = scheduler_of(pod)
    if found == scheduler:
        return ""
    return f"was given to the scheduler {found} instead of {scheduler} by a webhook"


def may_leave(pod: Json, node_name: str) -> bool:
    """Whether ``pod``, which was made for this node alone, may run on another one."""
    affinity = ((pod.get("spec") or {}).get("affinity") or {}).get("nodeAffinity") or {}
    required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution") or {}
    terms = required.get("nodeSelectorTerms") or ()
    here = {"key": "metadata.name", "operator": "In", "values": [node_name]}
    return not terms or not all(
        here in (term.get("matchFields") or ()) for term in terms
    )
