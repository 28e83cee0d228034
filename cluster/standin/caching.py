"""A scheduler with the habits of kube-scheduler that matter to whoever writes beside it.

- It keeps a set of taken devices of its own and decides from that. A claim that becomes
  allocated adds its devices, one that becomes free removes them, whoever else holds
  them: after a double booking that was undone in part, a device that is held counts as
  free.
- It decides at once and writes later: each of its calls is sent ``delay`` seconds after
  it was queued, in order (nominated node, finalizer, allocation with reservation,
  binding). Until the allocation is written nobody can see it, and it never looks again
  before it writes.
- Taints, of devices and of nodes, count when a device is chosen, not later.

One thread; :class:`~cluster.standin.control_plane.ControlPlane` runs it.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from queue import Empty
from typing import Any, Final

from cluster.standin.answers import StatusError
from cluster.standin.controllers import ANYONE, FINALIZER, pod_claims, target
from cluster.standin.kinds import KINDS
from cluster.standin.store import Cut, Entry, Feed, Store, now
from cluster.standin.suiting import suits
from cluster.standin.writing import MERGE, STRATEGIC, Writer
from dra.allocation import Fits, place
from dra.errors import DRAError
from dra.labels import matches_node
from dra.names import ObjectKey
from dra.objects import NodeSelector, ResourceClaim, read, write
from dra.snapshot import Snapshot

Json = dict[str, Any]
Calls = Generator[Callable[[], None]]

_CLUSTER: Final = ("Node", "Namespace", "DeviceClass", "ResourceSlice")
_TAKEN: Final = "taken"


@dataclass(frozen=True, slots=True)
class Habits:
    """``delay`` in seconds. ``heeds_rules`` False: DeviceTaintRules are ignored, as by
    1.36.0 to 1.36.2. Bindings of pods named ``refuse_binding`` … are refused, as by an
    admission policy, and tried again after ``backoff`` seconds. ``last_first``: nodes are
    tried from the last to the first."""

    delay: float = 0.05
    name: str = "default-scheduler"
    heeds_rules: bool = True
    refuse_binding: str = ""
    backoff: float = 1.0
    last_first: bool = False


@dataclass(slots=True)
class _Assumed:
    """A pod between the decision and the end of its writes."""

    pod: Entry
    node: str
    claims: list[Entry]
    allocations: dict[str, Json]
    """By uid of the claim, what is going to be written."""


@dataclass(slots=True)
class _Memory:
    """What the scheduler believes; a restart begins with a new one."""

    taken: dict[tuple[str, ...], Json] = field(default_factory=dict)
    allocated: dict[str, Json] = field(default_factory=dict)
    """By uid, the allocations of claims as they were seen last."""


class CachingScheduler:
    """Call :meth:`step` often; it does what is due and says whether it did anything."""

    def __init__(self, store: Store, writer: Writer, habits: Habits) -> None:
        self._store = store
        self._writer = writer
        self._habits = habits
        self._snapshot = Snapshot.build(())
        self._seen: dict[ObjectKey, int] = {}
        self._assumed: dict[str, _Assumed] = {}
        self._queue: deque[tuple[float, Calls, Callable[[], None]]] = deque()
        self._failed: dict[str, int] = {}
        self._not_before: dict[str, float] = {}
        self._memory = _Memory()
        self._feed: Feed | None = None
        self.holds = False  # True: it decides and sends nothing
        self.restart()

    def restart(self) -> None:
        """Forget everything and read the claims anew, as a new process does."""
        with self._store.lock:
            if self._feed is not None:
                self._store.unsubscribe(KINDS["ResourceClaim"], self._feed)
            self._queue.clear()
            self._assumed.clear()
            self._failed.clear()
            self._memory = _Memory()
            self._feed, _, claims, _ = self._store.subscribe(
                KINDS["ResourceClaim"], None
            )
            for claim in claims:
                self._learn(claim.body, gone=False)

    @property
    def due(self) -> float | None:
        """When the next call is to be sent, by ``time.monotonic``."""
        return self._queue[0][0] if self._queue else None

    def step(self) -> bool:
        """Send one call that is due, or schedule one pod."""
        if self._queue and self._queue[0][0] <= time.monotonic() and not self.holds:
            self._send()
            return True
        with self._store.lock:
            self._hear()
            version = self._store.version
            for pod in self._store.current(KINDS["Pod"])[1]:
                uid = pod.body["metadata"]["uid"]
                if self._is_ours(pod) and self._failed.get(uid) != version:
                    self._failed[uid] = version
                    self._schedule(pod)
                    return True
        return False

    def _is_ours(self, pod: Entry) -> bool:
        spec, status = pod.body.get("spec") or {}, pod.body.get("status") or {}
        return (
            (spec.get("schedulerName") or "default-scheduler") == self._habits.name
            and not spec.get("nodeName")
            and not spec.get("schedulingGates")
            and not pod.body["metadata"].get("deletionTimestamp")
            and status.get("phase", "Pending") == "Pending"
            and pod.body["metadata"]["uid"] not in self._assumed
            and self._not_before.get(pod.body["metadata"]["uid"], 0) < time.monotonic()
        )

    # --- the set of taken devices -------------------------------------------

    def _hear(self) -> None:
        """Take in what happened to claims, event by event."""
        assert self._feed is not None
        while True:
            try:
                change = self._feed.get_nowait()
            except Empty:
                return
            if isinstance(change, Cut):
                self._list_anew()
            else:
                self._learn(change.after.body, gone=change.type == "DELETED")

    def _list_anew(self) -> None:
        """After the end of a watch: what a new list tells, as an informer does."""
        kind = KINDS["ResourceClaim"]
        self._feed, _, claims, _ = self._store.subscribe(kind, None)
        there = {claim.body["metadata"]["uid"] for claim in claims}
        for uid in self._memory.allocated.keys() - there:
            self._learn({"metadata": {"uid": uid}}, gone=True)
        for claim in claims:
            self._learn(claim.body, gone=False)

    def _learn(self, claim: Json, *, gone: bool) -> None:
        uid = claim["metadata"]["uid"]
        status = claim.get("status") or {}
        found = None if gone else status.get("allocation")
        known = self._memory.allocated.pop(uid, None)
        if found:
            self._memory.allocated[uid] = found
        if known is None and found:
            self._memory.taken.update(_devices(found))
        elif known is not None and not found:
            for device in _devices(known):
                self._memory.taken.pop(device, None)

    def _view(self) -> Snapshot:
        """The cluster with only the taken and the assumed devices in use."""
        taken = dict(self._memory.taken)
        for assumed in self._assumed.values():
            for allocation in assumed.allocations.values():
                taken.update(_devices(allocation))
        kinds = (*_CLUSTER, "DeviceTaintRule") if self._habits.heeds_rules else _CLUSTER
        current = {
            ObjectKey(kind, entry.namespace, entry.name): entry
            for kind in kinds
            for entry in self._store.current(KINDS[kind])[1]
        }
        changed: list[Json] = [
            entry.json()
            for key, entry in current.items()
            if self._seen.get(key) != entry.version
        ]
        gone = [key for key in self._seen if key not in current]
        self._seen = {key: entry.version for key, entry in current.items()}
        allocation = {"devices": {"results": list(taken.values())}}
        meta = {"namespace": "/", "name": _TAKEN, "uid": _TAKEN}
        changed.append(
            {
                "apiVersion": "resource.k8s.io/v1",
                "kind": "ResourceClaim",
                "metadata": meta,
                "status": {"allocation": allocation},
            }
        )
        self._snapshot = self._snapshot.refresh(
            changed, gone, seq=self._snapshot.seq + 1
        )
        return self._snapshot

    # --- a scheduling cycle ---------------------------------------------------

    def _schedule(self, pod: Entry) -> None:
        claims = self._claims(pod)
        if claims is None:
            return None
        view = self._view()
        allocated = [c for c in claims if c.body["metadata"]["uid"] in self._known()]
        pending = [c for c in claims if c not in allocated]
        try:
            names = self._nodes(pod, view, allocated)
            wanted = [read(c.json(), ResourceClaim) for c in pending]
            found = place(view, wanted, node_names=names) if wanted else None
        except DRAError as error:
            return self._refuse(pod, str(error))
        if found is None:
            if not names:
                return self._refuse(pod, "no node matches")
            return self._assume(_Assumed(pod, names[0], claims, {}))
        if not isinstance(found, Fits):
            return self._refuse(pod, found.reason)
        moment = now()
        allocations = {
            claim.body["metadata"]["uid"]: {
                **write(allocation),
                "allocationTimestamp": moment,
            }
            for claim, allocation in zip(pending, found.allocations, strict=True)
        }
        return self._assume(_Assumed(pod, found.node_name, claims, allocations))

    def _known(self) -> set[str]:
        """Uids of claims that are allocated or about to be."""
        assumed = {uid for a in self._assumed.values() for uid in a.allocations}
        return assumed | set(self._memory.allocated)

    def _claims(self, pod: Entry) -> list[Entry] | None:
        """The claims of a pod, None while one of them cannot be used."""
        found = []
        for _, name, _ in pod_claims(pod.body):
            kind = KINDS["ResourceClaim"]
            claim = self._store.find(kind, pod.namespace, name) if name else None
            if claim is None or claim.body["metadata"].get("deletionTimestamp"):
                return None
            if any(
                claim.body["metadata"]["uid"] in a.allocations
                for a in self._assumed.values()
            ):
                return None  # another pod's decision for it is not written yet
            found.append(claim)
        return found

    def _nodes(self, pod: Entry, view: Snapshot, allocated: list[Entry]) -> list[str]:
        nodes = [node for node in view.nodes.values() if suits(pod.body, node)]
        for claim in allocated:
            allocation = (claim.body.get("status") or {}).get("allocation") or {}
            if allocation.get("nodeSelector"):
                selector = read(allocation["nodeSelector"], NodeSelector)
                nodes = [node for node in nodes if matches_node(selector, node)]
        names = (node.metadata.name for node in nodes)
        return sorted(names, reverse=self._habits.last_first)

    # --- writing, later -------------------------------------------------------

    def _later(self, calls: Calls) -> None:
        call = next(calls, None)
        if call is not None:
            due = time.monotonic() + self._habits.delay
            self._queue.append((due, calls, call))

    def _send(self) -> None:
        """What is sent stays due until it is done and the next is queued."""
        first = _, calls, call = self._queue[0]
        try:
            call()
            self._later(calls)
        except StatusError:
            calls.close()
        finally:
            if self._queue and self._queue[0] is first:  # not after a restart
                self._queue.popleft()

    def _assume(self, assumed: _Assumed) -> None:
        self._assumed[assumed.pod.body["metadata"]["uid"]] = assumed
        self._later(self._calls(assumed))

    def _calls(self, assumed: _Assumed) -> Calls:
        """One after the other; whatever happens, the assumption ends with them."""
        pod = assumed.pod
        try:
            nominate = {"status": {"nominatedNodeName": assumed.node}}
            yield lambda: self._patch(pod, nominate, "status")
            for claim in assumed.claims:
                if claim.body["metadata"]["uid"] in assumed.allocations:
                    yield lambda claim=claim: self._protect(claim)  # type: ignore[misc]  # bound now
                yield lambda claim=claim: self._reserve(claim, assumed)  # type: ignore[misc]  # bound now
            yield lambda: self._bind(assumed)
        finally:
            self._hear()
            self._assumed.pop(pod.body["metadata"]["uid"], None)

    def _protect(self, claim: Entry) -> None:
        newest = self._newest(claim)
        finalizers = newest.body["metadata"].get("finalizers") or []
        if FINALIZER not in finalizers:
            self._patch(claim, {"metadata": {"finalizers": [*finalizers, FINALIZER]}})

    def _reserve(self, claim: Entry, assumed: _Assumed) -> None:
        """Allocation and reservation in one update, unless somebody was first."""
        status = self._newest(claim).body.get("status") or {}
        patch: Json = {"reservedFor": [_consumer(assumed.pod)]}
        wanted = assumed.allocations.get(claim.body["metadata"]["uid"])
        if wanted is not None:
            if status.get("allocation"):
                raise StatusError(409, "Conflict", "got allocated elsewhere meanwhile")
            patch["allocation"] = wanted
        self._patch(claim, {"status": patch}, "status", STRATEGIC)

    def _bind(self, assumed: _Assumed) -> None:
        pod = assumed.pod
        prefix = self._habits.refuse_binding
        if prefix and pod.name.startswith(prefix):
            uid = pod.body["metadata"]["uid"]
            patch = {"status": {"reservedFor": [{"$patch": "delete", "uid": uid}]}}
            for claim in assumed.claims:
                self._patch(claim, patch, "status", STRATEGIC)
            self._not_before[uid] = time.monotonic() + self._habits.backoff
            self._refuse(pod, "the binding was refused", reason="SchedulerError")
            return
        self._patch(pod, {"spec": {"nodeName": assumed.node}})
        moment = now()
        conditions = [
            {"type": kind, "status": "True", "lastTransitionTime": moment}
            for kind in ("PodScheduled", "Ready")
        ]
        status = {"phase": "Running", "startTime": moment, "conditions": conditions}
        self._patch(pod, {"status": status}, "status")

    def _refuse(
        self, pod: Entry, message: str, *, reason: str = "Unschedulable"
    ) -> None:
        known = (pod.body.get("status") or {}).get("conditions") or []
        if any(c.get("type") == "PodScheduled" for c in known):
            return
        condition = {
            "type": "PodScheduled",
            "status": "False",
            "reason": reason,
            "message": f"0/{len(self._snapshot.nodes)} nodes are available: {message}",
            "lastTransitionTime": now(),
        }
        patch = {"status": {"conditions": [*known, condition]}}
        alone: Callable[[], None] = lambda: self._patch(pod, patch, "status")  # noqa: E731
        self._later(call for call in (alone,))

    def _newest(self, entry: Entry) -> Entry:
        """The object as it is now; 404 when it is gone or another one."""
        found = self._writer.read(target(entry.kind.name, entry.name, entry.namespace))
        if found.body["metadata"]["uid"] != entry.body["metadata"]["uid"]:
            raise StatusError(409, "Conflict", "the uid is another one")
        return found

    def _patch(
        self, entry: Entry, patch: Json, part: str = "", kind: str = MERGE
    ) -> None:
        self._newest(entry)
        where = target(entry.kind.name, entry.name, entry.namespace, part)
        self._writer.patch(where, patch, kind, ANYONE, dry_run=False)


def _consumer(pod: Entry) -> Json:
    uid = pod.body["metadata"]["uid"]
    return {"resource": "pods", "name": pod.name, "uid": uid}


def _devices(allocation: Json) -> dict[tuple[str, ...], Json]:
    """The results that hold something, by driver, pool, device and share."""
    results = (allocation.get("devices") or {}).get("results") or []
    return {
        (r["driver"], r["pool"], r["device"], r.get("shareID") or ""): r
        for r in results
        if not r.get("adminAccess")
    }
