"""Where a draft would fit: asked with every pause of typing, and kept while nothing changes.

For one claim, or for several that one pod needs together. Knows no request and no
text: callers bring the snapshot and claims that could be read.
"""

from __future__ import annotations

import hashlib
import threading
import time
from collections import OrderedDict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Final

import msgspec

from claims.authoring import verdicts
from claims.authoring.requests import (
    MOST_PARTS,
    Part,
    RequestPreview,
    parts_of,
    previews_of,
    size_of,
)
from dra.allocation.explaining import Explanation, RequestReason, explain
from dra.allocation.quirks import Mode
from dra.cel.selection import Stop
from dra.objects import ResourceClaim
from dra.snapshot import Snapshot
from inventory.models import Cluster

SECONDS: Final = 2.0
"""How long one preview may take."""
KEPT: Final = 128
"""Previews that a process keeps."""
KEPT_DRAFTS: Final = 1024
"""Drafts of which a process knows the newest keystroke."""


@dataclass(frozen=True, slots=True)
class Preview:
    """What would become of claims that one pod needs together.

    ``explanation`` has the verdict, groups of nodes, the first node with its devices
    (``given``), the difference to the 1.36 scheduler and, where asked for, the
    relaxations. ``sentence`` is the first thing to read. ``superseded``: a newer
    keystroke ended it; nothing else is worth showing then.
    """

    explanation: Explanation
    sentence: str
    requests: tuple[RequestPreview, ...]
    claim_names: tuple[str, ...]
    relaxed: bool
    seconds: float
    superseded: bool = False

    @property
    def fits(self) -> bool:
        return self.explanation.verdict == "fits"

    @property
    def seq(self) -> int:
        """The state of the cluster that was asked."""
        return self.explanation.seq

    @property
    def complete(self) -> bool:
        """Whether everything was found out before the time was over."""
        return self.explanation.complete


class _Slot:
    """The newest preview of one question; who asks meanwhile waits for it."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.found: Preview | None = None


_slots: OrderedDict[Hashable, _Slot] = OrderedDict()
_keystrokes: OrderedDict[Hashable, int] = OrderedDict()
_lock: Final = threading.Lock()


def previewed(
    cluster: Cluster,
    snapshot: Snapshot,
    claims: Sequence[ResourceClaim],
    *,
    node_names: Sequence[str] | None = None,
    relax: bool = False,
    quirks: Mode = "none",
    seconds: float = SECONDS,
    stop: Stop | None = None,
) -> Preview:
    """The preview of ``claims`` on ``node_names``, None: all nodes that take pods.

    ``snapshot`` has to be one of the mirror's, except for its classes: its seq says
    whether it is the same.
    ``relax`` also looks for single changes that would make it fit. ``stop`` ends it
    before ``seconds`` are over, see :func:`keystroke`. A wrong claim is an answer:
    the verdict "refused", with what its requests match. Raises nothing.
    """
    slot = _slot(_key(cluster, snapshot, claims, node_names, quirks, relax=relax))
    with slot.lock:
        found = slot.found
        if found is not None and found.seq == snapshot.seq:
            return found
        asking = _Asking(cluster, snapshot, claims, node_names, quirks, seconds, stop)
        found = asking.preview(relax=relax)
        # What was cut short is found out anew the next time.
        slot.found = found if found.complete and not asking.ended() else None
        return found


def keystroke(draft: Hashable) -> Stop:
    """A stop that says so as soon as there is a newer keystroke of the same draft."""
    with _lock:
        number = _keystrokes.pop(draft, 0) + 1
        _keystrokes[draft] = number
        while len(_keystrokes) > KEPT_DRAFTS:
            _keystrokes.popitem(last=False)
    return lambda: _keystrokes.get(draft, number) != number


def forget() -> None:
    """Drop every preview that this process keeps."""
    with _lock:
        _slots.clear()
        _keystrokes.clear()


def _slot(key: Hashable) -> _Slot:
    with _lock:
        slot = _slots.setdefault(key, _Slot())
        _slots.move_to_end(key)
        while len(_slots) > KEPT:
            _slots.popitem(last=False)
        return slot


def _key(
    cluster: Cluster,
    snapshot: Snapshot,
    claims: Sequence[ResourceClaim],
    node_names: Sequence[str] | None,
    quirks: Mode,
    *,
    relax: bool,
) -> Hashable:
    """Equal for the same question, whoever asks it; short however long the claims.

    Classes may be those that a draft brings along.
    """
    said = [(c.metadata.namespace, c.metadata.name, c.spec) for c in claims]
    classes = [(name, found.spec) for name, found in snapshot.classes.items()]
    # JSON, as a number in a draft may be larger than what msgpack can hold.
    text = msgspec.json.encode((said, classes, node_names))
    digest = hashlib.blake2b(text, digest_size=16).digest()
    return (cluster.pk, cluster.gates, quirks, relax, digest)


class _Asking:
    """One question on its way."""

    def __init__(
        self,
        cluster: Cluster,
        snapshot: Snapshot,
        claims: Sequence[ResourceClaim],
        node_names: Sequence[str] | None,
        quirks: Mode,
        seconds: float,
        stop: Stop | None,
    ) -> None:
        self.snapshot = snapshot
        self.claims = claims
        self.node_names = node_names
        self.quirks = quirks
        self.features = cluster.features
        self.started = time.monotonic()
        self.end = self.started + seconds
        self.superseded: Stop = stop or (lambda: False)

    def ended(self) -> bool:
        """Whether the time is over, or nobody waits for the answer any more."""
        return time.monotonic() >= self.end or self.superseded()

    def preview(self, *, relax: bool) -> Preview:
        size = size_of(self.claims)
        if size > MOST_PARTS:
            return self._too_large(size)
        parts = parts_of(self.claims, self.snapshot, self.features)
        found = self._explained(self.claims, relax=relax, compare=True)
        reasons = self._reasons(found, parts)
        table = self.snapshot.devices(lists=self.features.list_type_attributes)
        requests = previews_of(parts, reasons, table, self.ended)
        preview = Preview(
            explanation=found,
            sentence="",
            requests=requests,
            claim_names=tuple(claim.metadata.name for claim in self.claims),
            relaxed=relax,
            seconds=time.monotonic() - self.started,
            superseded=self.superseded(),
        )
        sentence = verdicts.sentence(found, requests)
        if preview.superseded:
            sentence = verdicts.SUPERSEDED
        return replace(preview, sentence=sentence)

    def _too_large(self, size: int) -> Preview:
        sentence = (
            f"It cannot be asked: there are {size:,} requests and alternatives, and "
            f"{MOST_PARTS} is the most that is looked at. Ask for less at once."
        )
        refused = Explanation("refused", sentence, self.snapshot.seq, "", 0, 0)
        names = tuple(claim.metadata.name for claim in self.claims)
        return Preview(refused, sentence, (), names, relaxed=False, seconds=0.0)

    def _explained(
        self, claims: Sequence[ResourceClaim], *, relax: bool, compare: bool
    ) -> Explanation:
        return explain(
            self.snapshot,
            claims,
            node_names=self.node_names,
            features=self.features,
            quirks=self.quirks,
            relax=relax,
            compare=compare,
            stop=self.ended,
        )

    def _reasons(
        self, found: Explanation, parts: Sequence[Part]
    ) -> list[RequestReason | None]:
        """The reason of each part; where the claims cannot be asked as a whole, those
        of the parts that can be asked alone."""
        if len(found.requests) == len(parts):
            return list(found.requests)
        reasons: list[RequestReason | None] = []
        for part in parts:
            alone = None
            if part.ask is not None and not self.ended():
                alone = self._explained([part.alone], relax=False, compare=False)
            reasons.append(alone.requests[0] if alone and alone.requests else None)
        return reasons
