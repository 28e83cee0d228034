"""A device that is booked twice as it is now, and where its repair stands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property
from typing import Final

from django.utils import timezone
from django.utils.dateparse import parse_datetime

from allocator.choices import (
    BY_WORKERS,
    OPEN,
    RepairAction,
    RunState,
    StepState,
)
from allocator.models import DeviceRepair, Finding, RepairStep
from claims.models import Pod, ResourceClaim
from dra.names import DeviceID
from inventory.models import Cluster

MOST_HOLDERS: Final = 20
_SETTLES: Final = (
    RepairAction.REWRITE,
    RepairAction.PUT_BACK,
    RepairAction.RESTARTED,
)
_ARRIVES: Final = timedelta(seconds=20)
"""Until a quarantine that was put on has come through the watch."""


@dataclass(frozen=True, slots=True)
class User:
    """Who has a claim reserved. ``pod`` is None for what is no pod, or is gone."""

    words: str
    pin: bool
    is_pod: bool
    name: str
    pod: Pod | None = None

    @property
    def runs(self) -> bool:
        return self.pod is not None and self.pod.phase == "Running"

    @property
    def since(self) -> datetime | None:
        status = self.pod.raw.get("status") if self.pod is not None else None
        began = status.get("startTime") if isinstance(status, dict) else None
        return parse_datetime(began) if isinstance(began, str) else None


@dataclass(frozen=True, slots=True)
class Holder:
    """A claim that holds the device, who uses it, and who waits for it."""

    claim: ResourceClaim
    users: Sequence[User]
    waiting: Sequence[Pod]
    unsafe: Sequence[str]
    """Why its allocation must not be written anew now, in sentences."""

    @property
    def name(self) -> str:
        return str(self.claim)

    @property
    def runs(self) -> bool:
        return any(user.runs for user in self.users)

    @property
    def workloads(self) -> list[User]:
        """Those of ``users`` that are no pin of a portal."""
        return [user for user in self.users if not user.pin]

    @property
    def others(self) -> int:
        """How many other devices it holds."""
        return max(self.claim.device_count - 1, 0)


@dataclass(frozen=True, slots=True)
class Stranded:
    """A claim whose allocation was taken away to be written anew, by the run of ``step``,
    and was not put back. ``users`` are those who had it reserved and are still there."""

    step: RepairStep
    claim: ResourceClaim
    users: Sequence[User]

    @property
    def name(self) -> str:
        return str(self.claim)

    @property
    def workloads(self) -> list[User]:
        """Who uses the devices now although no claim says so."""
        return [user for user in self.users if not user.pin]

    @property
    def deleting(self) -> bool:
        return self.claim.deleting


@dataclass(frozen=True, slots=True)
class Standing:
    """What keeps others off the device now. ``until`` is None for a cordon, which somebody
    made by hand."""

    means: str
    names: tuple[str, ...]
    until: datetime | None = None

    @property
    def ours(self) -> bool:
        return self.means != "cordon"

    @property
    def sentence(self) -> str:
        names = ", ".join(self.names)
        match self.means:
            case "rule":
                word = "rule" if len(self.names) == 1 else "rules"
                return f"By the taint {word} {names}."
            case "node-taint":
                return (
                    f"By a taint of the node {names}: pods that do not tolerate it do not "
                    "come to that node at all."
                )
            case _:
                return f"The node {names} is cordoned, by somebody else's hand."


@dataclass
class Picture:
    """``holders`` by name; ``repair`` None: nobody has begun one."""

    cluster: Cluster
    device: DeviceID
    finding: Finding
    holders: Sequence[Holder]
    repair: DeviceRepair | None
    steps: Sequence[RepairStep]
    standing: Standing | None
    nodes: Sequence[str]
    no_rules: str
    """Why no rule may be made, empty when one may."""
    newest: Finding | None = None
    """The double booking of this device that was found last."""
    stranded: Stranded | None = None
    more_holders: int = 0
    now: datetime = field(default_factory=timezone.now)

    # --- what is under way ------------------------------------------------------

    @cached_property
    def asked(self) -> RepairStep | None:
        """The step that a worker has still to do."""
        asked = (s for s in self.steps if s.state == StepState.ASKED)
        waits = (s for s in asked if s.run is None and s.action in BY_WORKERS)
        return next(waits, None)

    @cached_property
    def running(self) -> RepairStep | None:
        """The step whose run is not over."""
        return next((s for s in self.steps if s.run and s.run.state in OPEN), None)

    @property
    def busy(self) -> RepairStep | None:
        return self.asked or self.running

    # --- where it stands --------------------------------------------------------

    @property
    def count(self) -> int:
        return len(self.holders) + self.more_holders

    @property
    def open(self) -> bool:
        return self.repair is not None and self.repair.ended_at is None

    @cached_property
    def survivor(self) -> Holder | None:
        """The claim that keeps the device: chosen, or the only one left."""
        if self.count == 1:
            return self.holders[0]
        uid = self.repair.survivor_uid if self.repair is not None else ""
        return next((h for h in self.holders if uid and h.claim.uid == uid), None)

    @property
    def losers(self) -> list[Holder]:
        keeper = self.survivor
        return [h for h in self.holders if keeper is not None and h is not keeper]

    @cached_property
    def settled(self) -> RepairStep | None:
        """What made the schedulers count the device of the last holder again."""
        if self.count != 1:
            return None
        uid = self.holders[0].claim.uid
        found: RepairStep | None = None
        for step in self.steps:
            if step.action == RepairAction.RELEASE:
                found = None  # whatever was counted before
            elif step.action in _SETTLES and step.claim_uid == uid and worked(step):
                found = step
        if found is not None and self.newest is not None:
            ended = found.finished_at or found.at
            if self.newest.since > ended:
                return None
        return found

    @cached_property
    def forgotten(self) -> bool:
        """Whether a scheduler may take the device for free although it is held."""
        if not self.count or self.settled is not None:
            return False
        if self.count == 1:
            return True
        here = {holder.claim.uid for holder in self.holders}
        before = {uid for s in self.steps for uid in s.details.get("holders") or ()}
        return not self.more_holders and not before <= here

    @property
    def unaccounted(self) -> bool:
        """Whether somebody uses the device of a claim that a rewriting left without it."""
        return self.stranded is not None and bool(self.stranded.workloads)

    @property
    def needed(self) -> bool:
        """Whether the quarantine is what keeps the device from being given away."""
        return self.forgotten or self.unaccounted

    @property
    def waits(self) -> bool:
        """Whether somebody decided to wait for the end of the last holder."""
        last = [s for s in self.steps if s.action in (*_SETTLES, RepairAction.WAIT)]
        return bool(last) and last[-1].action == RepairAction.WAIT and self.count == 1

    @property
    def arriving(self) -> bool:
        """Whether a quarantine was put on that the mirror does not show yet."""
        if self.standing is not None or not self.steps:
            return False
        done = [s for s in self.steps if s.finished_at and s.state == StepState.DONE]
        last = done[-1] if done else None
        return (
            last is not None
            and last.action == RepairAction.QUARANTINE
            and last.finished_at is not None
            and self.now - last.finished_at < _ARRIVES
        )

    @property
    def stage(self) -> int:
        """The step that comes next, 1 to 4; 5: nothing is left to do."""
        if self.unaccounted:
            return 3
        over = not self.open and self.standing is None
        if over and (not self.count or (self.count == 1 and self.finding.ended_at)):
            return 5
        if self.standing is None and (self.count > 1 or self.forgotten):
            return 1
        if self.count > 1:
            return 2
        return 3 if self.forgotten else 4

    @property
    def prefers(self) -> str:
        """How a quarantine is put on when nobody says how; empty: it cannot be."""
        if not self.no_rules:
            return "rule"
        return "node-taint" if len(self.nodes) == 1 else ""

    def lost_sentence(self) -> str:
        """What a scheduler forgets when one of the claims is released."""
        if self.stranded is not None and self.unaccounted:
            users = ", ".join(user.words for user in self.stranded.workloads[:3])
            return (
                f"{self.stranded.name} is without its allocation, although {users} had it "
                "reserved and may use its devices."
            )
        if self.count > 1:
            return (
                f"As soon as one of these {self.count} claims is released, kube-scheduler "
                f"takes {self.device.device} for free, although the others hold it, and "
                "gives it to the next pod that wants one. It does not notice later either."
            )
        if self.forgotten:
            return (
                f"One of the claims was released, so kube-scheduler may take "
                f"{self.device.device} for free although {self.holders[0].name} holds it."
            )
        return ""


def worked(step: RepairStep) -> bool:
    """Whether the step was done and is not only under way."""
    if step.run is not None:
        return step.run.state == RunState.DONE
    return step.state == StepState.DONE
