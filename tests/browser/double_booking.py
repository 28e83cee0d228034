"""A device of the demo's stand-in cluster that somebody books twice."""

from __future__ import annotations

import copy
from typing import Any

from tests.browser.stand_in import connected
from tests.running_demo import Demo

Json = dict[str, Any]
LONG = "a-name-as-long-as-those-that-generators-of-workloads-make-of-several-parts-0001"


COMING_AND_GOING = ("nightly-eval", "ablation", "batch-scoring", "smoke-test", "rerank")
"""How the pods are called that the demo's life makes and ends."""


def book_twice(demo: Demo, name: str = LONG) -> str:
    """``driver/pool/device`` of a claim in use that the new claim holds, too."""
    with connected(demo) as client:
        served = client.discover()["ResourceClaim"]
        claims = [c for page in client.list_pages(served) for c in page.items]
        first = next(c for c in claims if _suits(c))
        namespace = first["metadata"]["namespace"]
        meta = {"namespace": namespace, "name": name}
        body = {
            "apiVersion": served.api_version,
            "kind": "ResourceClaim",
            "metadata": meta,
            "spec": first["spec"],
        }
        client.request("POST", served.path(namespace), body=body)
        held = copy.deepcopy(first["status"]["allocation"])
        held["devices"]["results"] = held["devices"]["results"][:1]
        client.patch(
            served,
            namespace,
            name,
            {"status": {"allocation": held}},
            subresource="status",
        )
        (result,) = held["devices"]["results"]
        return "/".join(result[part] for part in ("driver", "pool", "device"))


def _suits(claim: Json) -> bool:
    """Whether pods use a GPU of it that is no share, and it stays as it is for a while."""
    meta, status = claim["metadata"], claim.get("status") or {}
    devices = (status.get("allocation") or {}).get("devices") or {}
    results = devices.get("results") or []
    return (
        bool(results)
        and results[0]["driver"].startswith("gpu.")
        and not results[0].get("shareID")
        and not results[0].get("adminAccess")
        and bool(status.get("reservedFor"))
        and not status.get("devices")
        and not meta.get("deletionTimestamp")
        and not any(meta["name"].startswith(name) for name in COMING_AND_GOING)
    )
