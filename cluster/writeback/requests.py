"""The two requests of an allocation: the finalizer, then the status.

Two, because a write to the status subresource silently ignores finalizers and one
to the main resource ignores the status. Both carry the resourceVersion that was
read, so a claim that anybody touched in between answers 409; without it a claim
that the scheduler allocated first would answer 422.
"""

from __future__ import annotations

from typing import Any, Final

from cluster.resources import BY_KIND, ServedResource
from cluster.writeback.answers import Target
from cluster.writeback.values import (
    Order,
    Request,
    meta_of,
    version_of,
)
from dra.objects import write

Json = dict[str, Any]

FINALIZER: Final = "resource.kubernetes.io/delete-protection"
"""Without it the controller never takes the allocation back after the last pod, and
deleting the claim would not wait for the pods that use it."""

AS_V1: Final = ServedResource(BY_KIND["ResourceClaim"], "v1")


def foresee(order: Order, claim: Json, served: ServedResource = AS_V1) -> list[Request]:
    """The requests for the claim as it was last seen."""
    requests = []
    if not protected(claim):
        requests.append(finalizer_request(order, claim, served))
        meta = meta_of(claim) | {"resourceVersion": "(from the answer before)"}
        claim = claim | {"metadata": meta}
    return [*requests, status_request(order, claim, served)]


def protected(claim: Json) -> bool:
    return FINALIZER in (meta_of(claim).get("finalizers") or ())


def finalizer_request(order: Target, claim: Json, served: ServedResource) -> Request:
    """A merge patch replaces the whole list, so the others' finalizers go with it."""
    others = list(meta_of(claim).get("finalizers") or ())
    meta = _conditions(order, claim) | {"finalizers": [*others, FINALIZER]}
    return Request(_path(order, served), {"metadata": meta})


def status_request(order: Order, claim: Json, served: ServedResource) -> Request:
    """Only ``status.allocation``: reservedFor and devices stay as they are."""
    return put_request(order, claim, {"allocation": write(order.allocation)}, served)


def put_request(
    order: Target, claim: Json, parts: Json, served: ServedResource
) -> Request:
    """``parts`` of the status become what is given here, the others stay."""
    if not _has_null(parts):
        return Request(
            f"{_path(order, served)}/status",
            {"metadata": _conditions(order, claim), "status": parts},
            "status",
        )
    # A driver's opaque parameters may hold null, which a merge patch would read as
    # "remove this"; a JSON patch takes values as they are.
    add: list[Json] = [
        {"op": "add", "path": f"/metadata/{field}", "value": value}
        for field, value in _conditions(order, claim).items()
    ]
    if not isinstance(claim.get("status"), dict):
        add.append({"op": "add", "path": "/status", "value": {}})
    add += [
        {"op": "add", "path": f"/status/{name}", "value": value}
        for name, value in parts.items()
    ]
    return Request(
        f"{_path(order, served)}/status",
        add,
        "status",
        "application/json-patch+json",
    )


def _conditions(order: Target, claim: Json) -> Json:
    return {"resourceVersion": version_of(claim), "uid": order.uid}


def _path(order: Target, served: ServedResource) -> str:
    return served.path(order.namespace, order.name)


def _has_null(value: Any) -> bool:
    if isinstance(value, dict):
        return any(_has_null(v) for v in value.values())
    if isinstance(value, list):
        return any(_has_null(v) for v in value)
    return value is None
