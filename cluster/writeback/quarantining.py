"""Keeping a scheduler off a device for longer than a write: before a double booking is
repaired, until somebody lifts it.

By a DeviceTaintRule where rules are safe, on the device and on those that draw on the
same counters; else by a taint of its node. Both carry the portal, the repair, the
finding and the time at which nobody needs them any more for certain. NoSchedule: who
runs there runs on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal

from cluster.errors import ApiError
from cluster.writeback import in_flight, node_taint, taint_rules
from cluster.writeback.answers import EndedError, invalid, refused
from cluster.writeback.equipment import Equipped
from cluster.writeback.ground import Ground
from cluster.writeback.patience import PASSING
from cluster.writeback.rule_safety import why_no_rules
from cluster.writeback.sending import Sender
from cluster.writeback.tags import OWNER, ROLE, RUN, Role, Tags, run_label
from cluster.writeback.values import (
    Before,
    Changed,
    Json,
    Order,
    Refusal,
    Refused,
    Request,
    Unknown,
    first,
    meta_of,
    unheard,
)
from cluster.writer_options import WriterOptions
from dra.names import DeviceID
from dra.objects import AllocationDevices, AllocationResult, DeviceResult

Means = Literal["rule", "node-taint"]
Wish = Literal["auto", "rule", "node-taint"]
Attempt = Callable[[], None]

CORDON: Final = "node.kubernetes.io/unschedulable"
_MOST_RULES: Final = 128
_SHOWN: Final = 5


@dataclass(frozen=True, slots=True)
class Quarantine:
    """A device to be kept free. ``repair`` is the id under which it is put and lifted;
    ``finding`` and ``created_by`` are for whoever comes across it."""

    device: DeviceID
    repair: str
    expires: datetime | None = None
    finding: str = ""
    created_by: str = ""
    wish: Wish = "auto"

    @property
    def order(self) -> Order:
        """As the parts of a writer want it: a claim that holds the device."""
        result = DeviceResult(
            request="",
            driver=self.device.driver,
            pool=self.device.pool,
            device=self.device.device,
        )
        held = AllocationResult(devices=AllocationDevices(results=[result]))
        return Order("", "", "", held, run=self.repair, created_by=self.created_by)

    def tags(self, owner: str) -> Tags:
        return Tags(owner, run_label(self.repair), self.expires, self.finding)


@dataclass(frozen=True, slots=True)
class Quarantined:
    """``names``: the rules, or the node. ``note``: what would get the device all the same."""

    means: Means
    names: tuple[str, ...]
    devices: tuple[DeviceID, ...]
    requests: tuple[Request, ...] = ()
    note: str = ""


@dataclass(frozen=True, slots=True)
class Lifted:
    requests: tuple[Request, ...] = ()


class Quarantiner(Equipped):
    """Puts quarantines on and takes them off; both may be called again at any time."""

    def put(
        self, wanted: Quarantine, *, before: Before = unheard
    ) -> Quarantined | Changed | Refused | Unknown:
        """Put it on. One that is on already gets the new time to end."""
        sender = self._sender(wanted.order, before)
        try:
            return _Work(sender, wanted, self._options).put()
        except EndedError as ended:
            return ended.outcome
        except PASSING as error:
            return _unheard_of(error, sender)
        except ApiError as error:
            return invalid(error)

    def lift(
        self, wanted: Quarantine, *, before: Before = unheard
    ) -> Lifted | Changed | Refused | Unknown:
        """Take everything of this repair off; nothing to do is success."""
        sender = self._sender(wanted.order, before)
        try:
            _Work(sender, wanted, self._options).lift()
        except EndedError as ended:
            return ended.outcome
        except PASSING as error:
            return _unheard_of(error, sender)
        except ApiError as error:
            return invalid(error)
        return Lifted(tuple(sender.sent))


class _Work:
    def __init__(
        self, sender: Sender, wanted: Quarantine, options: WriterOptions
    ) -> None:
        self.sender = sender
        self.wanted = wanted
        self.options = options
        self.tags = wanted.tags(options.owner)

    def put(self) -> Quarantined:
        ground = self.sender.settle(lambda: Ground(self.sender, self.wanted.order))
        devices = ground.to_guard()
        means, node = self.choose(ground, devices)
        if means == "rule":
            names = self.put_rules(devices)
            self.off_nodes()
        else:
            node_taint.put(self.sender, node, self.tags, Role.QUARANTINE)
            names = (node,)
            self.off_rules(but=frozenset())
        # Rules and claims come to a scheduler by different watches.
        self.sender.patience.sleep(self.options.guard.settle)
        return Quarantined(
            means, names, tuple(devices), tuple(self.sender.sent), self.unheeding(means)
        )

    def choose(self, ground: Ground, devices: Sequence[DeviceID]) -> tuple[Means, str]:
        """How, and on which node. Raises EndedError when it cannot be done so."""
        wish = self.wanted.wish
        served = self.sender.api.served("DeviceTaintRule") is not None
        no_rules = why_no_rules(self.options.scheduler, served=served)
        if not no_rules and len(devices) > _MOST_RULES:
            no_rules = f"{len(devices)} devices would need a rule each, {_MOST_RULES} are the most."
        if wish != "node-taint" and not no_rules:
            return "rule", ""
        if wish == "rule":
            raise _ended(no_rules)
        nodes = {
            str((s.get("spec") or {}).get("nodeName") or "") for s in ground.slices
        }
        if len(nodes) == 1 and (node := nodes.pop()):
            return "node-taint", node
        why = (
            "The device can be used from several nodes, so no taint of a node keeps "
            "others away from it."
            if ground.slices
            else "No driver publishes the device any more, so its node is not known."
        )
        raise _ended(why if wish == "node-taint" else f"{no_rules} {why}")

    def put_rules(self, devices: Iterable[DeviceID]) -> tuple[str, ...]:
        names = []
        for device in devices:
            names.append(taint_rules.rule_name(device, self.tags, Role.QUARANTINE))
            taint_rules.put(
                self.sender,
                device,
                self.tags,
                Role.QUARANTINE,
                self.wanted.created_by,
            )
        self.off_rules(but=frozenset(names))
        return tuple(names)

    def unheeding(self, means: Means) -> str:
        """Who waits and would get the device in spite of it, in a sentence."""
        try:
            return self._unheeding(means)
        except (EndedError, ApiError, *PASSING) as error:  # it is on all the same
            return f"Who else waits could not be looked at: {error}"

    def _unheeding(self, means: Means) -> str:
        api, order = self.sender.api, self.wanted.order
        if means == "rule":
            taint = taint_rules.taint_of(self.tags, Role.QUARANTINE)
            claims = self.sender.settle(lambda: api.list("ResourceClaim"))
            found = in_flight.unheeding_claims(claims, taint, order)
            what = "claims"
        else:
            key = node_taint.taint_key(self.tags, Role.QUARANTINE)
            found = in_flight.unheeding_pods(unbound(self.sender), key)
            what = "pods"
        if not found:
            return ""
        return (
            f"These {what} wait and tolerate any taint, so they could get the device all "
            f"the same: {first(found, _SHOWN)}. Delete them, or wait until "
            "they run elsewhere."
        )

    def lift(self) -> None:
        self.off_rules(but=frozenset())
        self.off_nodes()

    def off_rules(self, *, but: frozenset[str]) -> None:
        def attempt() -> None:
            for rule in rules_of(self.sender, self.tags):
                name = str(meta_of(rule).get("name"))
                if name not in but:
                    taint_rules.delete(self.sender, name)

        self.allowed(attempt, "list and delete devicetaintrules")

    def off_nodes(self) -> None:
        key = node_taint.taint_key(self.tags, Role.QUARANTINE)

        def attempt() -> None:
            for node in nodes_of(self.sender, key):
                node_taint.take_off(self.sender, node, key)

        self.allowed(attempt, "patch nodes")

    def allowed(self, attempt: Attempt, right: str) -> None:
        try:
            self.sender.settle(attempt)
        except PASSING:
            raise
        except ApiError as error:
            raise EndedError(refused(error, right)) from error


def rules_of(sender: Sender, tags: Tags) -> list[Json]:
    """The rules of one repair that are there."""
    if sender.api.served("DeviceTaintRule") is None:
        return []
    selector = f"{OWNER}={tags.owner},{RUN}={tags.run},{ROLE}={Role.QUARANTINE.value}"
    return sender.api.list("DeviceTaintRule", label_selector=selector)


def nodes_of(sender: Sender, key: str) -> list[Json]:
    """The nodes that carry the taint, or what is left of it."""
    marked = sender.api.list("Node", label_selector=node_taint.GUARDED)
    return [node for node in marked if node_taint.is_on(node, key)]


def keeping_off(sender: Sender, tags: Tags, node: str) -> list[str]:
    """Keys of the node's taints that keep pods off it for this repair: the quarantine's
    own, and that of a cordon. Whoever tolerates them all is not kept off."""
    found = sender.settle(lambda: _node(sender, node))
    own = node_taint.taint_key(tags, Role.QUARANTINE)
    keys = [own] if node_taint.is_tainted(found, own) else []
    if (found.get("spec") or {}).get("unschedulable"):
        keys.append(CORDON)
    return keys


def _node(sender: Sender, name: str) -> Json:
    """By a list: to see nodes that way is a right that every portal has."""
    named = sender.api.list("Node", field_selector=f"metadata.name={name}")
    return next(iter(named), {})


def unbound(sender: Sender) -> list[Json]:
    """Pods that no scheduler has bound."""
    return sender.settle(
        lambda: sender.api.list("Pod", field_selector="spec.nodeName=")
    )


def _ended(why: str) -> EndedError:
    return EndedError(
        Refused(
            Refusal.UNGUARDED,
            f"{why} Nothing was written. Cordon the nodes by hand, or choose the other "
            "way where there is one.",
        )
    )


def _unheard_of(error: Exception, sender: Sender) -> Refused | Unknown:
    why = f"The API server cannot be used at the moment: {error}"
    if sender.sent:
        return Unknown(f"{why} A part may have been written; do it again.")
    return Refused(Refusal.UNAVAILABLE, f"{why} Nothing was written.")
