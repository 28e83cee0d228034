"""What writes have put into a cluster and not taken away: found, and removed when due.

Pods, taint rules, taints of nodes, pins, and claims that got the finalizer but no
allocation. Only this portal's own (``owner`` of ``clusters.yaml``) are looked at, and
of those only what has expired, or of which the caller says that nobody needs it any
more, is removed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from cluster.errors import ClusterError, Conflict, NotFound
from cluster.writeback import carrier_pod, node_taint
from cluster.writeback.answers import EndedError
from cluster.writeback.api import PODS, Api
from cluster.writeback.patience import Patience
from cluster.writeback.pins import is_pin, tags_of, unpin_request
from cluster.writeback.releasing import release_steps, unprotect_request
from cluster.writeback.requests import protected
from cluster.writeback.sending import Sender
from cluster.writeback.tags import (
    CLOCKS,
    MANAGED_BY,
    OWNER,
    PORTAL,
    ROLE,
    RUN,
    Role,
    Tags,
    run_label,
    tags_from,
)
from cluster.writeback.values import (
    Changed,
    Json,
    Refusal,
    Refused,
    Release,
    Request,
    Unknown,
    allocation_of,
    meta_of,
    reservations_of,
    unheard,
)

if TYPE_CHECKING:
    from cluster.client import ClusterClient

Ended = Callable[["Leftover"], bool]
Wanted = Callable[["Leftover", str], bool]
"""Of a carrier and the name of a claim that it is for."""


@dataclass(frozen=True, slots=True)
class Leftover:
    """One thing of ours. ``key`` is the taint's key, or the pin's uid.

    ``namespace``, ``name`` and ``uid`` are those of the object that has it: the pod, the
    rule, the node, the claim. ``deleting``: somebody has deleted that object, and it waits.
    """

    role: Role
    kind: str
    namespace: str
    name: str
    uid: str
    tags: Tags
    key: str = ""
    deleting: bool = False

    @property
    def run(self) -> str:
        """The run as its label says it, see :func:`~cluster.writeback.tags.run_label`."""
        return self.tags.run

    def expired(self, now: datetime) -> bool:
        """Also by the clock of the machine on which it was made. The end of a quarantine is
        what a person chose, and what relies on one keeps a distance of its own."""
        spare = timedelta(0) if self.role is Role.QUARANTINE else CLOCKS
        return self.tags.expires is not None and self.tags.expires + spare <= now

    def __str__(self) -> str:
        where = f"{self.namespace}/{self.name}" if self.namespace else self.name
        words = {
            Role.PIN: "the pin on claim",
            Role.MARK: "the finalizer of claim",
            Role.CARRIER: "the carrier pod",
            Role.BARRIER: "the barrier pod",
        }
        of_node = "the taint on node" if self.kind == "Node" else "the taint rule"
        if self.role is Role.QUARANTINE:
            of_node = f"the quarantine by {of_node}"
        return f"{words.get(self.role, of_node)} {where}"


@dataclass(frozen=True, slots=True)
class Swept:
    """``problem`` is why it is still there, in a sentence; empty: it is gone."""

    leftover: Leftover
    problem: str = ""


def leftovers(client: ClusterClient, *, run: str = "") -> list[Leftover]:
    """Everything of this portal's in the cluster, or everything of one run.

    What a write that goes on needs right now is among it. A kind that is not served, or
    that we may not list, is left out: then we cannot have made one. Raises ClusterError.
    """
    api = Api(client)
    owner = client.config.options.owner
    label = run_label(run) if run else ""
    found: list[Leftover] = []
    for part in (_labelled, _on_nodes, _on_claims):
        try:
            found += part(api, owner, label)
        except EndedError as ended:
            if not _may_not_list(ended.outcome):
                raise ClusterError(ended.outcome.reason) from ended
    return [one for one in found if not label or one.run == label]


def _may_not_list(outcome: Changed | Refused | Unknown) -> bool:
    """Credentials that are not accepted say nothing about what there is."""
    if not isinstance(outcome, Refused):
        return False
    forbidden = outcome.refusal is Refusal.FORBIDDEN
    lists = forbidden and outcome.missing.startswith("list ")
    return lists or outcome.refusal is Refusal.NOT_SERVED


def _labelled(api: Api, owner: str, run: str) -> Iterator[Leftover]:
    selector = f"{MANAGED_BY}={PORTAL},{OWNER}={owner}"
    selector += f",{RUN}={run}" if run else ""
    for kind in ("Pod", "DeviceTaintRule"):
        if api.served(kind) is None:
            continue
        for obj in api.list(kind, label_selector=selector):
            labels = meta_of(obj).get("labels") or {}
            tags, role = tags_from(labels), str(labels.get(ROLE))
            if tags is not None and role in Role:
                yield _leftover(Role(role), kind, obj, tags)


def _on_nodes(api: Api, owner: str, _run: str) -> Iterator[Leftover]:
    for node in api.list("Node", label_selector=node_taint.GUARDED):
        for key, text in node_taint.guards_of(node).items():
            tags = node_taint.noted(text)
            if tags is not None and tags.owner == owner:
                yield _leftover(node_taint.role_of(key), "Node", node, tags, key)


def _on_claims(api: Api, owner: str, _run: str) -> Iterator[Leftover]:
    for claim in api.list("ResourceClaim"):
        for entry in reservations_of(claim):
            tags = tags_of(entry) if is_pin(entry) else None
            if tags is not None and tags.owner == owner:
                uid = str(entry.get("uid"))
                yield _leftover(Role.PIN, "ResourceClaim", claim, tags, uid)
        tags = tags_from(meta_of(claim).get("annotations") or {})
        if (
            tags is not None
            and tags.owner == owner
            and protected(claim)
            and allocation_of(claim) is None
        ):
            yield _leftover(Role.MARK, "ResourceClaim", claim, tags)


def _leftover(role: Role, kind: str, obj: Json, tags: Tags, key: str = "") -> Leftover:
    meta = meta_of(obj)
    namespace, name, uid = (
        str(meta.get(k) or "") for k in ("namespace", "name", "uid")
    )
    deleting = bool(meta.get("deletionTimestamp"))
    return Leftover(role, kind, namespace, name, uid, tags, key, deleting)


# --- removing -------------------------------------------------------------------


def sweep(
    client: ClusterClient,
    found: Iterable[Leftover],
    *,
    ended: Ended,
    wanted: Wanted = lambda _one, _claim: True,
    now: datetime | None = None,
    patience: Patience | None = None,
) -> list[Swept]:
    """Remove what has expired, or what ``ended`` says that nobody needs; never raises
    for what a cluster answers.

    ``ended`` is asked about each: for a pin it must say no as long as the allocation is
    wanted, though its run is over. ``wanted`` is asked about the claims of a carrier that
    goes: whether what they hold now may be another run's. The pin of a claim that is being deleted goes in any
    case: nothing but the pin would hold it. A claim that loses its pin is released, unless pods
    use it: then it is released with the last of them.
    """
    moment = now or datetime.now(UTC)
    api = Api(client)
    swept = []
    for one in found:
        pointless = one.role is Role.PIN and one.deleting
        if not pointless and not one.expired(moment) and not ended(one):
            continue
        sweeper = _Sweeper(api, one, wanted, patience or Patience())
        swept.append(Swept(one, sweeper.remove()))
    return swept


class _Sweeper:
    def __init__(
        self, api: Api, one: Leftover, wanted: Wanted, patience: Patience
    ) -> None:
        self.api = api
        self.one = one
        self.wanted = wanted
        order = Release(one.namespace, one.name, one.uid, one.run)
        self.sender = Sender(api, order, unheard, patience=patience)
        self.carried: list[str] = []
        """The claims of a carrier, by name."""

    def remove(self) -> str:
        act = {
            Role.PIN: self.unpin,
            Role.MARK: self.unmark,
        }.get(self.one.role, self.untaint if self.one.kind == "Node" else self.delete)
        try:
            self.sender.settle(act, also=(Conflict,))
        except NotFound:
            return ""
        except EndedError as problem:
            outcome = problem.outcome
            gone = isinstance(outcome, Refused) and outcome.refusal is Refusal.GONE
            return "" if gone else outcome.reason
        except ClusterError as error:
            return f"{self.one} could not be removed: {error}"
        return ""

    def delete(self) -> None:
        one = self.one
        served = PODS if one.kind == "Pod" else self.api.need(one.kind)
        found = self.api.read(one.kind, one.namespace or None, one.name)
        if found is not None and meta_of(found).get("uid") == one.uid:
            if one.role is Role.CARRIER:
                self.carried = carrier_pod.claims_of(found)
            if not meta_of(found).get("deletionTimestamp"):
                self.api.client.delete(
                    served, one.namespace or None, one.name, uid=one.uid
                )
        for name in self.carried:
            if not self.wanted(one, name):
                self._free(name)

    def _free(self, name: str) -> None:
        """Take back what was allocated for a carrier and is reserved for nobody, as after
        a binding that a policy refused: no controller does that."""
        one = self.one
        claim = self.api.read("ResourceClaim", one.namespace, name)
        if claim is None or allocation_of(claim) is None or reservations_of(claim):
            return
        order = Release(one.namespace, name, str(meta_of(claim).get("uid")), one.run)
        sender = Sender(self.api, order, unheard, patience=self.sender.patience)
        release_steps(sender, owner=one.tags.owner, override=False)

    def untaint(self) -> None:
        node = self.api.read("Node", None, self.one.name)
        if node is not None and node_taint.is_on(node, self.one.key):
            self._send(node_taint.off_request(node, self.one.key))

    def unpin(self) -> None:
        owner = self.one.tags.owner
        try:
            release_steps(self.sender, owner=owner, override=False)
        except EndedError as ended:
            outcome = ended.outcome
            if (
                not isinstance(outcome, Refused)
                or outcome.refusal is not Refusal.IN_USE
            ):
                raise
            served = self.api.need("ResourceClaim")
            one = self.one
            pin = {"uid": one.key}
            self._send(unpin_request(one.namespace, one.name, one.uid, pin, served))

    def unmark(self) -> None:
        claim = self.sender.look()
        if protected(claim) and allocation_of(claim) is None:
            served = self.api.need("ResourceClaim")
            self._send(unprotect_request(self.sender.order, claim, served))

    def _send(self, request: Request) -> None:
        self.api.client.request(
            request.method,
            request.path,
            body=request.body,
            content_type=request.content_type,
        )
