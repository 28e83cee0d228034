"""Whose the things are that a writer puts into a cluster for a while.

Pods and taint rules carry labels: the portal that made them (``owner`` of
``clusters.yaml``), the run they belong to, what they are for, and when nobody needs
them any more for certain (Unix seconds: a label takes no time of day). The entry of a
node's taint has no labels, so the node has an annotation of the taint's name.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any, Final

from cluster.writeback.values import Json, Order
from dra.portal import DOMAIN as DOMAIN
from dra.portal import ROLE as ROLE

MANAGED_BY: Final = "app.kubernetes.io/managed-by"
PORTAL: Final = "dra-portal"
OWNER: Final = f"{DOMAIN}/owner"
RUN: Final = f"{DOMAIN}/run"
EXPIRES: Final = f"{DOMAIN}/expires"
CREATED_BY: Final = f"{DOMAIN}/created-by"
CLAIM: Final = f"{DOMAIN}/claim"
FINDING: Final = f"{DOMAIN}/finding"

_LABEL: Final = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?")

SPARE: Final = 600.0
"""Seconds that something put into the cluster may be needed beyond the waiting."""
CLOCKS: Final = timedelta(minutes=5)
"""By how much the clock of the worker that judges an expiry may be ahead of that of the
worker that wrote it: so much later it is taken for over."""


class Role(StrEnum):
    CARRIER = "carrier"
    BARRIER = "barrier"
    GUARD = "guard"
    STEER = "steer"
    PIN = "pin"
    MARK = "mark"
    QUARANTINE = "quarantine"


@dataclass(frozen=True, slots=True)
class Tags:
    """``expires`` None: until somebody who knows the run says so (pins). ``finding``:
    the number of the finding that a quarantine is about."""

    owner: str
    run: str
    expires: datetime | None
    finding: str = ""

    @classmethod
    def of(cls, order: Order, owner: str, lifetime: float) -> Tags:
        """For what is made now and needed for ``lifetime`` seconds at most."""
        end = datetime.now(UTC).replace(microsecond=0) + timedelta(seconds=lifetime)
        return cls(owner, run_of(order), end)

    @property
    def until(self) -> str:
        return str(int(self.expires.timestamp())) if self.expires else "released"

    def labels(self, role: Role) -> dict[str, str]:
        return {
            MANAGED_BY: PORTAL,
            OWNER: self.owner,
            RUN: self.run,
            ROLE: role.value,
            EXPIRES: self.until,
            **({FINDING: self.finding} if self.finding else {}),
        }

    def in_words(self) -> Json:
        """As JSON, for the annotation of a node."""
        found = {"owner": self.owner, "run": self.run, "expires": self.until}
        return found | ({"finding": self.finding} if self.finding else {})


def tags_from(values: Mapping[str, Any]) -> Tags | None:
    """From labels, or from what :meth:`Tags.in_words` gave; None: not complete."""
    owner = values.get(OWNER, values.get("owner"))
    run = values.get(RUN, values.get("run"))
    until = values.get(EXPIRES, values.get("expires"))
    finding = values.get(FINDING, values.get("finding"))
    if not isinstance(owner, str) or not isinstance(run, str):
        return None
    about = finding if isinstance(finding, str) else ""
    return Tags(owner, run, moment(until), about)


def moment(until: Any) -> datetime | None:
    """The time of Unix seconds as text; None for anything else."""
    if not isinstance(until, str) or not until.isdigit() or len(until) > 11:
        return None
    return datetime.fromtimestamp(int(until), UTC)


def lasts(found: Tags | None, needed: Tags) -> bool:
    """Whether something that is there will be for about as long as ``needed`` says.

    What a call made that ended long ago may be swept away at any moment.
    """
    if found is None or found.expires is None or needed.expires is None:
        return False
    return found.expires + timedelta(seconds=SPARE / 2) >= needed.expires


def annotations_of(order: Order) -> dict[str, str]:
    """For people who find the thing: which claim, and who asked."""
    found = {CLAIM: f"{order.namespace}/{order.name}"}
    return found | ({CREATED_BY: order.created_by} if order.created_by else {})


def run_of(order: Order) -> str:
    """The run as a label's value; the claim's uid where an order has no run."""
    return run_label(order.run or order.uid)


def run_label(run: str) -> str:
    """The id of a run as labels carry it: itself, or a digest of what no label holds."""
    return run if _LABEL.fullmatch(run) else digest(run, length=32)


def digest(*parts: str, length: int = 12) -> str:
    """Always the same few characters for the same words."""
    return hashlib.sha256("/".join(parts).encode()).hexdigest()[:length]
