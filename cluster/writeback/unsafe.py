"""When a claim must not be without its allocation, not even for a moment."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from cluster.writeback import changes, in_flight
from cluster.writeback.values import Json, meta_of, reservations_of

_OVER: Final = ("Succeeded", "Failed")


def why_unsafe(claim: Json, pods: Iterable[Json]) -> list[str]:
    """Why the claim must not be without its allocation for a moment; empty: it may be.

    ``pods`` are those of its namespace, or those of them that name it.
    """
    return list(_unsafe(claim, list(pods)))


def is_over(pod: Json) -> bool:
    """Whether the pod has ended: its devices are not in use any more."""
    return (pod.get("status") or {}).get("phase") in _OVER


def _unsafe(claim: Json, pods: list[Json]) -> Iterator[str]:
    meta = meta_of(claim)
    if meta.get("deletionTimestamp"):
        yield "The claim is being deleted: it goes with its last pod."
    status = claim.get("status") or {}
    if status.get("devices"):
        yield (
            "A driver keeps the state of the devices in the claim (status.devices), which "
            "only the driver may write: it would be lost. Restart the schedulers instead."
        )
    named = f"{meta.get('namespace')}/{meta.get('name')}"
    known = {str(meta_of(pod).get("uid")): pod for pod in pods}
    users = [r for r in reservations_of(claim) if changes.is_pod(r)]
    for entry in users:
        pod = known.get(str(entry.get("uid")))
        if pod is None:
            yield (
                f"The pod {entry.get('name')}, which has it reserved, is gone: wait "
                "until the controller has taken the reservation back."
            )
        elif why := _unsteady(pod):
            yield why
    uids = {str(entry.get("uid")) for entry in users}
    for uid, pod in known.items():
        if uid in uids or not in_flight.names_claim(pod, named):
            continue
        if not is_over(pod):
            yield (
                f"The pod {meta_of(pod).get('name')} waits for the claim: in that moment "
                "the scheduler could give it other devices. Delete the pod, or wait until "
                "it runs."
            )


def _unsteady(pod: Json) -> str:
    name = meta_of(pod).get("name")
    phase = str((pod.get("status") or {}).get("phase") or "Pending")
    if phase in _OVER or meta_of(pod).get("deletionTimestamp"):
        return (
            f"The pod {name} ends: wait until it is gone, then the claim may be free by "
            "itself."
        )
    if phase != "Running":
        return (
            f"The pod {name} does not run yet ({phase}): its node may be preparing the "
            "devices at this moment. Wait until it runs."
        )
    return ""
