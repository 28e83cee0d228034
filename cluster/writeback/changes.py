"""What a claim is like now, in words for somebody who decided by an older picture."""

from __future__ import annotations

from typing import Final

from cluster.writeback.pins import is_pin
from cluster.writeback.values import Json, allocation_of, reservations_of

_SHOWN: Final = 3


def now(claim: Json) -> str:
    """One sentence: what it holds and who has it reserved."""
    held = devices_of(claim)
    if not held:
        return "it holds nothing now."
    return f"it holds {_some(held)} now and is {reserved(claim)}."


def reserved(claim: Json) -> str:
    """ "reserved by the pod a and the portal's pin", or "reserved by nobody"."""
    names = [name_of(entry) for entry in reservations_of(claim)]
    return f"reserved by {_some(names)}" if names else "reserved by nobody"


def name_of(reservation: Json) -> str:
    """ "the pod a"; the pin of a portal is no workload."""
    if is_pin(reservation):
        return "the portal's pin"
    kind = str(reservation.get("resource") or "")
    word = {"pods": "the pod", "podgroups": "the pod group"}.get(kind, kind)
    return f"{word} {reservation.get('name')}"


def is_pod(reservation: Json) -> bool:
    return reservation.get("resource") == "pods" and not reservation.get("apiGroup")


def devices_of(claim: Json) -> list[str]:
    """``driver/pool/device`` of each result."""
    devices = (allocation_of(claim) or {}).get("devices")
    results = devices.get("results") if isinstance(devices, dict) else None
    return [
        "/".join(str(r.get(part) or "") for part in ("driver", "pool", "device"))
        for r in results or ()
        if isinstance(r, dict)
    ]


def _some(names: list[str]) -> str:
    more = len(names) - _SHOWN
    if more > 0:
        return f"{', '.join(names[:_SHOWN])} and {more} more"
    if len(names) < 2:  # one needs no "and"
        return "".join(names)
    return f"{', '.join(names[:-1])} and {names[-1]}"
