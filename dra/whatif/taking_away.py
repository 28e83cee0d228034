"""What the edits take from claims without naming them: devices gone, pods evicted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from dra.names import DeviceID, PoolKey
from dra.objects import DeviceTaint, Toleration
from dra.pools import Pool
from dra.snapshot import Snapshot
from dra.taints import TaintRules, tolerates
from dra.usage import Holder
from dra.whatif.consumers import ClaimKey
from dra.whatif.losses import Losses
from dra.whatif.overdrawn import overdrawn
from dra.whatif.world import World

NO_EXECUTE: Final = "NoExecute"


class Eviction(NamedTuple):
    """The pods of a claim are deleted ``after`` seconds because of ``taint``."""

    after: int
    taint: str


def eviction_of(
    taints: Sequence[DeviceTaint], tolerations: Sequence[Toleration] | None
) -> Eviction | None:
    """When and why the taints of one device evict a claim that holds it.

    As the eviction controller does: only tolerations with effect NoExecute count
    here, one without seconds tolerates for ever, of several the fewest seconds do.
    """
    first: Eviction | None = None
    for taint in taints:
        if taint.effect != NO_EXECUTE:
            continue
        tolerating = [
            t
            for t in tolerations or ()
            if t.effect == NO_EXECUTE and tolerates(t, taint)
        ]
        if any(t.toleration_seconds is None for t in tolerating):
            continue
        seconds = [max(0, t.toleration_seconds or 0) for t in tolerating]
        words = f"{taint.key}={taint.value}" if taint.value else taint.key
        found = Eviction(min(seconds, default=0), f"{words}:{taint.effect}")
        if first is None or found < first:
            first = found
    return first


class Evictions:
    """The claims whose pods the taints of one snapshot evict."""

    def __init__(self, snapshot: Snapshot, *, enabled: bool) -> None:
        self.snapshot = snapshot
        self.enabled = enabled
        self.rules = TaintRules(snapshot.taint_rules.values())
        self.evicting = any(
            rule.spec.taint.effect == NO_EXECUTE
            for rule in snapshot.taint_rules.values()
        )

    def of_pool(self, key: PoolKey) -> Iterator[tuple[ClaimKey, Eviction]]:
        pool = self.snapshot.pools.get(key)
        if pool is None or not self.enabled:
            return
        taints = self._taints(pool)
        if not taints:
            return
        for holder in self.snapshot.in_use.pool(key).results():
            found = eviction_of(
                taints.get(holder.result.device, ()), holder.result.tolerations
            )
            if found is not None:
                yield holder.claim_key, found

    def _taints(self, pool: Pool) -> dict[str, list[DeviceTaint]]:
        found = {
            device.name: list(device.taints)
            for device in pool.devices()
            if device.taints
        }
        if self.evicting:
            for name, taints in self.rules.for_pool(pool).items():
                found[name] = [*found.get(name, ()), *taints]
        return found


def take_away(world: World, losses: Losses) -> None:
    """Find the claims that lost devices through the edits, and move their pods; note
    what those that are left hold too much of."""
    now, before = world.snapshot, world.before
    vanished = _vanished(before, now)
    if vanished:
        losses.vanish(vanished)
    evicted = _evicted(world)
    if evicted:
        losses.evict(evicted)
    world.notes += overdrawn(before, world.snapshot, world.features)


def _vanished(before: Snapshot, now: Snapshot) -> dict[ClaimKey, list[str]]:
    """Claims with devices that were published before and are not now."""
    gone: dict[ClaimKey, list[str]] = {}
    for key, old in before.pools.items():
        new = now.pools.get(key)
        use = now.in_use.by_pool.get(key)
        if new is old or use is None:
            continue
        published = _published(new)
        were = {device.name for device in old.devices()}
        for holder in use.results():
            name = holder.result.device
            if name in were and name not in published and _is_readable(now, holder):
                text = str(DeviceID(key.driver, key.name, name))
                gone.setdefault(holder.claim_key, []).append(text)
    return dict(sorted(gone.items()))


def _published(pool: Pool | None) -> set[str]:
    """Names of devices that are there; while a pool is replaced, those of before too."""
    if pool is None:
        return set()
    pieces = pool.current if pool.complete else pool.arrival
    return {device.name for piece in pieces for device in piece.spec.devices or ()}


def _is_readable(snapshot: Snapshot, holder: Holder) -> bool:
    return holder.claim_key in snapshot.claims


def _evicted(world: World) -> Mapping[ClaimKey, Eviction]:
    """Claims that taints evict now and did not before, soonest first."""
    now, before = world.snapshot, world.before
    after = Evictions(now, enabled=world.features.device_taints)
    earlier = Evictions(before, enabled=world.features_before.device_taints)
    everywhere = (
        now.taint_rules is not before.taint_rules
        or world.features.device_taints != world.features_before.device_taints
    )
    found: dict[ClaimKey, Eviction] = {}
    for key in now.in_use.by_pool:
        if not everywhere and now.pools.get(key) is before.pools.get(key):
            continue
        old = {claim for claim, _ in earlier.of_pool(key)}
        for claim, eviction in after.of_pool(key):
            if claim in old or claim not in now.claims:
                continue
            if claim not in found or eviction < found[claim]:
                found[claim] = eviction
    return dict(sorted(found.items(), key=lambda item: (item[1].after, item[0])))
