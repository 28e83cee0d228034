"""What the API server does not say: an object against the cluster it is meant for.

Kept apart from validation: an object with advice is still accepted. Advice asks
what could be if every device were free; what is free is the engine's business.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dra.cel.selection import Stop
from dra.old_layout import find_old_layout, in_new_layout
from dra.snapshot import Snapshot
from dra.validation.advice.advice import CODES, Advice
from dra.validation.advice.asks import demands_of
from dra.validation.advice.constraints import on_constraints
from dra.validation.advice.objects import on_class, on_slice
from dra.validation.advice.requests import on_admin_access, on_ask, on_numbers
from dra.validation.advice.scene import Scene
from dra.validation.decoding import Refused, decode
from dra.validation.gates import ALL_OF_1_36, Gates
from dra.validation.schema.scalars import ZERO_TIME
from dra.validation.serving import not_served, same_layout

__all__ = ["CODES", "Advice", "advise"]


def advise(
    sent: Any,
    snapshot: Snapshot,
    *,
    namespace: str = "",
    features: Gates = ALL_OF_1_36,
    served: str = "",
    stop: Stop | None = None,
) -> tuple[Advice, ...]:
    """Advice on ``sent``, an object as JSON in any version, for this cluster.

    ``namespace`` is that of the address where the object names none. ``served`` is the
    newest version that the cluster serves for this kind, empty where that is not known.
    Nothing is said of what cannot be read; validation tells why. Raises
    :class:`~dra.cel.selection.Stopped` when ``stop`` said so.
    """
    if not isinstance(sent, dict):
        return ()
    return (
        *_on_version(sent, features, served),
        *_advice(sent, snapshot, namespace, features, stop),
    )


def _on_version(sent: dict[str, Any], features: Gates, served: str) -> Iterator[Advice]:
    kind, version = sent.get("kind"), sent.get("apiVersion")
    if not (isinstance(kind, str) and isinstance(version, str)):
        return
    if why := not_served(kind, version, features.release, served):
        alike = same_layout(kind, version, served)
        yield Advice(
            "version-not-served",
            "apiVersion",
            why,
            suggestion=served if alike else "",
        )


def _advice(
    sent: dict[str, Any],
    snapshot: Snapshot,
    namespace: str,
    features: Gates,
    stop: Stop | None,
) -> Iterator[Advice]:
    kind = sent.get("kind")
    if not isinstance(kind, str):
        return
    old = find_old_layout(sent)
    if old is not None:
        sent = in_new_layout(kind, sent)
        yield Advice(
            "old-layout",
            old.field,
            f"{old.advice[0].upper()}{old.advice[1:]}.",
            replacement=sent,
        )
    try:
        value = decode(kind, sent, ZERO_TIME).value
    except Refused:
        return
    spec, meta = value.get("spec") or {}, value.get("metadata") or {}
    if kind == "ResourceSlice":
        yield from on_slice(spec)
        return
    scene = Scene(snapshot, features, stop)
    if kind == "DeviceClass":
        yield from on_class(meta.get("name", ""), spec, scene)
    elif kind in ("ResourceClaim", "ResourceClaimTemplate"):
        path = "spec.devices"
        if kind == "ResourceClaimTemplate":
            spec, path = spec.get("spec") or {}, "spec.spec.devices"
        where = meta.get("namespace") or namespace
        yield from _on_claim(spec.get("devices") or {}, path, where, scene)


def _on_claim(
    devices: dict[str, Any], path: str, namespace: str, scene: Scene
) -> Iterator[Advice]:
    demands = demands_of(devices, path, scene)
    for demand in demands:
        for ask in demand.asks:
            yield from on_ask(ask, scene)
    yield from on_numbers(demands, path, scene)
    yield from on_constraints(devices, demands, path, scene)
    yield from on_admin_access(demands, namespace, scene)
