"""A small kube-scheduler for a stand-in: waiting pods with claims, first fit.

It uses the project's own engine and writes as kube-scheduler does: finalizer,
then allocation and reservation, then the binding. A claim that no pod refers to is
none of its business, so people can allocate it by hand. Nodes are tried from the
last to the first, away from where somebody who allocates by hand begins.
"""

from __future__ import annotations

from typing import Any, Final

from cluster.standin.controllers import ANYONE, FINALIZER, pod_claims, target
from cluster.standin.kinds import KINDS
from cluster.standin.store import Entry, Store, now
from cluster.standin.suiting import suits
from cluster.standin.writing import MERGE, Writer
from dra.allocation import AllocationError, Fits, place
from dra.errors import DRAError
from dra.labels import matches_node
from dra.names import ObjectKey
from dra.objects import NodeSelector, ResourceClaim, read, write
from dra.snapshot import Snapshot

Json = dict[str, Any]

_KINDS: Final = (
    "Node",
    "Namespace",
    "DeviceClass",
    "ResourceSlice",
    "DeviceTaintRule",
    "ResourceClaim",
)


class Scheduler:
    """Call :meth:`run` now and then; it returns what it did, in words."""

    def __init__(self, store: Store, writer: Writer) -> None:
        self._store = store
        self._writer = writer
        self._snapshot = Snapshot.build(())
        self._seen: dict[ObjectKey, int] = {}

    def run(self) -> list[str]:
        """Try each waiting pod once. Nobody else writes meanwhile."""
        with self._store.lock:
            waiting = [
                entry
                for entry in self._store.current(KINDS["Pod"])[1]
                if waits(entry.body)
            ]
            return [done for pod in waiting if (done := self._schedule(pod))]

    def _schedule(self, pod: Entry) -> str:
        claims = self._claims(pod)
        if claims is None:
            return ""
        self._refresh()
        pending = [
            c for c in claims if not (c.body.get("status") or {}).get("allocation")
        ]
        try:
            names = self._nodes_for(pod, [c for c in claims if c not in pending])
            wanted = [read(c.json(), ResourceClaim) for c in pending]
            outcome = (
                place(self._snapshot, wanted, node_names=names) if wanted else None
            )
        except (AllocationError, DRAError) as error:
            return self._unschedulable(pod, str(error))
        if outcome is None:
            if not names:
                return self._unschedulable(pod, "the claims are allocated elsewhere")
            return self._bind(pod, names[0], claims)
        if not isinstance(outcome, Fits):
            return self._unschedulable(pod, outcome.reason)
        for claim, allocation in zip(pending, outcome.allocations, strict=True):
            self._allocate(claim, {**write(allocation), "allocationTimestamp": now()})
        return self._bind(pod, outcome.node_name, claims)

    def _claims(self, pod: Entry) -> list[Entry] | None:
        """The claims of a pod, or None while one of them does not exist."""
        found = []
        for _entry, name, _template in pod_claims(pod.body):
            claim = name and self._store.find(
                KINDS["ResourceClaim"], pod.namespace, name
            )
            if not claim or claim.body["metadata"].get("deletionTimestamp"):
                return None
            found.append(claim)
        return found or None

    def _nodes_for(self, pod: Entry, allocated: list[Entry]) -> list[str]:
        nodes = [n for n in self._snapshot.nodes.values() if suits(pod.body, n)]
        for claim in allocated:
            raw = claim.body["status"]["allocation"].get("nodeSelector")
            if raw:
                selector = read(raw, NodeSelector)
                nodes = [node for node in nodes if matches_node(selector, node)]
        return sorted((node.metadata.name for node in nodes), reverse=True)

    def _refresh(self) -> None:
        current = {
            ObjectKey(name, entry.namespace, entry.name): entry
            for name in _KINDS
            for entry in self._store.current(KINDS[name])[1]
        }
        changed = [
            entry.json()
            for key, entry in current.items()
            if self._seen.get(key) != entry.version
        ]
        gone = [key for key in self._seen if key not in current]
        self._snapshot = self._snapshot.refresh(changed, gone, seq=self._store.version)
        self._seen = {key: entry.version for key, entry in current.items()}

    # --- writes -----------------------------------------------------------

    def _allocate(self, claim: Entry, allocation: Json) -> None:
        finalizers = claim.body["metadata"].get("finalizers") or []
        if FINALIZER not in finalizers:
            patch: Json = {"metadata": {"finalizers": [*finalizers, FINALIZER]}}
            self._patch(claim, patch)
        self._patch(claim, {"status": {"allocation": allocation}}, "status")

    def _bind(self, pod: Entry, node: str, claims: list[Entry]) -> str:
        consumer = {
            "resource": "pods",
            "name": pod.name,
            "uid": pod.body["metadata"]["uid"],
        }
        for claim in claims:
            newest = self._store.find(claim.kind, claim.namespace, claim.name)
            assert newest is not None
            reserved = newest.body["status"].get("reservedFor") or []
            if consumer not in reserved:
                patch = {"status": {"reservedFor": [*reserved, consumer]}}
                self._patch(claim, patch, "status")
        self._patch(pod, {"spec": {"nodeName": node}})
        moment = now()
        conditions = [
            {"type": kind, "status": "True", "lastTransitionTime": moment}
            for kind in ("PodScheduled", "Ready")
        ]
        status = {"phase": "Running", "startTime": moment, "conditions": conditions}
        self._patch(pod, {"status": status}, "status")
        return f"bound {pod.key} to {node}"

    def _unschedulable(self, pod: Entry, reason: str) -> str:
        conditions = (pod.body.get("status") or {}).get("conditions") or []
        if any(c.get("type") == "PodScheduled" for c in conditions):
            return ""
        total = len(self._snapshot.nodes)
        message = f"0/{total} nodes are available: {reason}"
        condition = {
            "type": "PodScheduled",
            "status": "False",
            "reason": "Unschedulable",
            "message": message,
            "lastTransitionTime": now(),
        }
        patch = {"status": {"conditions": [*conditions, condition]}}
        self._patch(pod, patch, "status")
        return f"{pod.key} does not fit"

    def _patch(self, entry: Entry, patch: Json, part: str = "") -> None:
        where = target(entry.kind.name, entry.name, entry.namespace, part)
        self._writer.patch(where, patch, MERGE, ANYONE, dry_run=False)


def waits(pod: Json) -> bool:
    """Whether a pod with claims is to be scheduled."""
    spec, status = pod.get("spec") or {}, pod.get("status") or {}
    return (
        bool(spec.get("resourceClaims"))
        and not spec.get("nodeName")
        and not spec.get("schedulingGates")
        and not pod["metadata"].get("deletionTimestamp")
        and status.get("phase", "Pending") == "Pending"
    )
