"""A reservation of our own on a claim: keeps its allocation when no pod uses it.

An entry of ``status.reservedFor`` for a kind of consumer that Kubernetes does not know,
which it therefore leaves alone. Nobody but the portal ever removes it. The entry has no
labels; its name carries owner, run and expiry.
"""

from __future__ import annotations

import uuid
from typing import Final

from cluster.resources import ServedResource
from cluster.writeback.tags import DOMAIN, Tags, moment, run_of
from cluster.writeback.values import Json, Order, Request, reservations_of

RESOURCE: Final = "allocationpins"
STRATEGIC: Final = "application/strategic-merge-patch+json"


def pin_of(order: Order, owner: str) -> Json:
    """The pin of this order: the same one whenever it is asked for."""
    run = run_of(order)
    # Entries are told apart by uid, so two claims of one run need two.
    uid = uuid.uuid5(uuid.NAMESPACE_URL, f"{DOMAIN}/{owner}/{run}/{order.uid}")
    name = f"{owner}.{run}.{Tags(owner, run, None).until}"
    return {"apiGroup": DOMAIN, "resource": RESOURCE, "name": name, "uid": str(uid)}


def is_pin(reservation: Json) -> bool:
    """Whether it is the pin of a portal, this one or another."""
    return (
        reservation.get("apiGroup") == DOMAIN
        and reservation.get("resource") == RESOURCE
    )


def tags_of(pin: Json) -> Tags | None:
    owner, _, rest = str(pin.get("name") or "").partition(".")
    run, _, until = rest.rpartition(".")
    return Tags(owner, run, moment(until)) if owner and run else None


def pinned(claim: Json, pin: Json) -> bool:
    return any(r.get("uid") == pin["uid"] for r in reservations_of(claim))


def pin_request(
    order: Order, pin: Json, version: str, served: ServedResource
) -> Request:
    """Adds the pin and keeps the other reservations.

    With the resourceVersion, so that it is laid on the allocation that was looked at.
    """
    request = _reserve(order.namespace, order.name, order.uid, pin, served)
    assert isinstance(request.body, dict)
    request.body["metadata"]["resourceVersion"] = version
    return request


def unpin_request(
    namespace: str, name: str, uid: str, pin: Json, served: ServedResource
) -> Request:
    entry = {"$patch": "delete", "uid": pin["uid"]}
    return _reserve(namespace, name, uid, entry, served)


def _reserve(
    namespace: str, name: str, uid: str, entry: Json, served: ServedResource
) -> Request:
    return Request(
        f"{served.path(namespace, name)}/status",
        {"metadata": {"uid": uid}, "status": {"reservedFor": [entry]}},
        "status",
        STRATEGIC,
    )
