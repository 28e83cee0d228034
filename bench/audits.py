"""Audits of a large cluster: a full pass, and kept current after a change.

    python -m bench.audits NODES

Every node has 8 GPUs; half of them are held, each by a claim of a pod of its own.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, Final

from msgspec.structs import replace

from bench.clusters import DRIVER, ONE_GPU, node_name, objects
from bench.table import figure, show, timed
from dra.audits import Auditor
from dra.names import ObjectKey
from dra.objects import Base
from dra.snapshot import Snapshot

NOW: Final = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
_STAMP: Final = "2026-11-30T05:00:00Z"

type Json = dict[str, Any]


def workloads(nodes: int) -> list[Json]:
    """A claim and a pod for each of the first 4 GPUs of every node."""
    found: list[Json] = []
    for number in range(nodes):
        name = node_name(number)
        only = {"key": "metadata.name", "operator": "In", "values": [name]}
        for gpu in range(4):
            at = f"job-{number:05d}-{gpu}"
            result = {
                "request": "gpu",
                "driver": DRIVER,
                "pool": name,
                "device": f"gpu-{gpu}",
            }
            allocation = {
                "devices": {"results": [result]},
                "nodeSelector": {"nodeSelectorTerms": [{"matchFields": [only]}]},
                "allocationTimestamp": _STAMP,
            }
            found.append(
                {
                    "kind": "ResourceClaim",
                    "metadata": {
                        "name": at,
                        "namespace": "ml",
                        "finalizers": ["resource.kubernetes.io/delete-protection"],
                    },
                    "spec": {"devices": {"requests": [ONE_GPU]}},
                    "status": {
                        "allocation": allocation,
                        "reservedFor": [{"resource": "pods", "name": at, "uid": at}],
                    },
                }
            )
            found.append(
                {
                    "kind": "Pod",
                    "metadata": {"name": at, "namespace": "ml", "uid": at},
                    "spec": {
                        "nodeName": name,
                        "resourceClaims": [{"name": "gpu", "resourceClaimName": at}],
                    },
                    "status": {"phase": "Running"},
                }
            )
    return found


def main() -> None:
    nodes = int(sys.argv[1])
    snapshot = Snapshot.build([*objects("gpu", nodes), *workloads(nodes)])
    auditor = Auditor()

    def pass_() -> None:
        found = auditor.next(snapshot, now=NOW)
        # The class of partitions selects nothing here.
        assert [one.code.value for one in found] == ["class-matches-nothing"]

    figures = [figure("full pass, the device table included", timed(pass_))]
    auditor = Auditor()
    figures.append(figure("full pass, the device table at hand", timed(pass_)))
    for what, changed, gone in changes(snapshot):
        figures.append(figure(what, timed(_after(auditor, snapshot, changed, gone))))
        auditor.next(snapshot, now=NOW)
    show(
        f"Audits: {nodes:,} nodes, {len(snapshot.devices()):,} devices, "
        f"{len(snapshot.claims):,} claims",
        figures,
    )


def changes(snapshot: Snapshot) -> list[tuple[str, list[Base], list[ObjectKey]]]:
    """What one object more, less or other may be."""
    piece = next(iter(snapshot.slices.values()))
    claim = next(iter(snapshot.claims.values()))
    node = next(iter(snapshot.nodes.values()))
    fewer = replace(piece.spec, devices=list(piece.spec.devices or [])[:-1])
    idle = replace(claim.status, reserved_for=None)
    cordoned = replace(node.spec, unschedulable=True)
    pod = ObjectKey("Pod", "ml", claim.metadata.name)
    return [
        ("after one claim changed", [replace(claim, status=idle)], []),
        ("after one pod went", [], [pod]),
        ("after one node changed", [replace(node, spec=cordoned)], []),
        ("after one slice changed", [replace(piece, spec=fewer)], []),
    ]


def _after(
    auditor: Auditor, snapshot: Snapshot, changed: list[Base], gone: list[ObjectKey]
) -> Callable[[], None]:
    new = snapshot.refresh(changed, gone, seq=1)

    def work() -> None:
        auditor.next(new, now=NOW)

    return work


if __name__ == "__main__":
    started = time.perf_counter()
    main()
    print(f"({time.perf_counter() - started:.0f} s in all)")
