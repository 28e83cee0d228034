"""Pools: whether they are whole, and whether what is held of them can be."""

from __future__ import annotations

from collections.abc import Collection, Container, Iterator, Mapping

from dra import quantity
from dra.allocation.features import Features
from dra.audits.codes import Code
from dra.audits.finding import Finding, counted, finding, of_claim, of_pool
from dra.errors import QuantityError
from dra.names import DeviceID, ObjectKey, PoolKey
from dra.objects import Device, Node, ResourceSlice
from dra.pools import Pool
from dra.quantity import Quantity
from dra.taints import TaintRules, untolerated
from dra.usage import Holder, PoolUse, left_of


def pool_findings(
    pool: Pool, nodes: Mapping[str, Node], unreadable: Container[ObjectKey]
) -> Iterator[Finding]:
    """What is wrong with what the driver publishes.

    Without any node nothing is said about them; ``unreadable`` objects exist, whatever
    they are.
    """
    found = _health(pool)
    if found is not None:
        yield found
    if not nodes:
        return
    gone = sorted(
        home
        for home in homes_of(pool)
        if home not in nodes and ObjectKey("Node", "", home) not in unreadable
    )
    if gone:
        number = sum(_on(piece, gone) for piece in pool.current)
        published = counted(number, "device") if number else "slices"
        yield finding(
            Code.POOL_NODE_GONE,
            of_pool(pool.key),
            f"Pool {pool.driver}/{pool.name} publishes {published} of "
            f"node {', '.join(gone[:3])}, which does not exist.",
            node=", ".join(gone),
            devices=number,
        )
    left = [piece for piece in pool.arrival if _is_left_behind(piece, nodes)]
    if left:
        homes = sorted({piece.spec.node_name or "" for piece in left})
        yield finding(
            Code.POOL_NODE_GONE,
            of_pool(pool.key, detail="made anew"),
            f"Pool {pool.driver}/{pool.name} has {counted(len(left), 'slice')} of a former "
            f"node {', '.join(homes[:3])}: the one that exists was made anew.",
            node=", ".join(homes),
            slices=", ".join(piece.metadata.name for piece in left[:5]),
        )


def homes_of(pool: Pool) -> set[str]:
    """Nodes that the slices of a pool name, as a whole or device by device."""
    found = {p.spec.node_name for p in pool.arrival if p.spec.node_name}
    for piece in pool.arrival:
        if piece.spec.per_device_node_selection:
            found |= {d.node_name for d in piece.spec.devices or () if d.node_name}
    return found


def _on(piece: ResourceSlice, nodes: Collection[str]) -> int:
    """How many devices of a slice are those of some nodes."""
    devices = piece.spec.devices or ()
    if piece.spec.per_device_node_selection:
        return sum(device.node_name in nodes for device in devices)
    return len(devices) if piece.spec.node_name in nodes else 0


def _is_left_behind(piece: ResourceSlice, nodes: Mapping[str, Node]) -> bool:
    """Whether a slice belongs to a node of the same name that is no more, told by uid."""
    node = nodes.get(piece.spec.node_name or "")
    if node is None or not node.metadata.uid:
        return False
    return any(
        owner.kind == "Node"
        and owner.name == node.metadata.name
        and owner.uid not in ("", node.metadata.uid)
        for owner in piece.metadata.owner_references or ()
    )


def _health(pool: Pool) -> Finding | None:
    """The one thing that keeps a pool from being whole."""
    subject = of_pool(pool.key)
    name = f"Pool {pool.driver}/{pool.name}"
    code: Code | None = None
    if not pool.valid:
        code = Code.POOL_INVALID
    elif not pool.complete:
        wanted = {s.spec.pool.resource_slice_count for s in pool.current}
        if len(wanted) > 1 or pool.present > pool.wanted:
            code = Code.POOL_SLICE_COUNT
        elif pool.older:
            code = Code.POOL_TWO_GENERATIONS
        else:
            code = Code.POOL_INCOMPLETE
    if code is not None:
        return finding(
            code,
            subject,
            f"{name}: {pool.problem}.",
            generation=pool.generation,
            present=pool.present,
            wanted=pool.wanted,
            older=len(pool.older),
        )
    if not any(True for _ in pool.devices()):
        return finding(
            Code.POOL_EMPTY,
            subject,
            f"{name} is published with {counted(pool.present, 'slice')} and 0 devices.",
        )
    if pool.older:
        left = counted(len(pool.older), "slice")
        return finding(
            Code.POOL_STALE_SLICES,
            subject,
            f"{name} is complete in generation {pool.generation} and still has {left} of "
            "older ones.",
            slices=", ".join(p.metadata.name for p in pool.older[:5]),
        )
    return None


# --- what is held ----------------------------------------------------------------


def use_findings(
    key: PoolKey,
    pool: Pool | None,
    use: PoolUse,
    features: Features,
    *,
    slices_unread: bool = False,
) -> Iterator[Finding]:
    """What is wrong with what claims hold of a pool.

    ``slices_unread``: some slice cannot be read, nobody knows of which pool; one that is
    not complete may be its.
    """
    if not slices_unread or (pool is not None and pool.complete):
        yield from _unpublished(key, pool, use)
    for name, holders in use.holders.items():
        if len(holders) > 1:
            yield from _booked_twice(key, name, holders, features)
    if pool is not None and pool.valid:
        try:
            if features.consumable_capacity:
                yield from _capacity(pool, use)
            if features.partitionable_devices:
                yield from _counters(pool, use)
        except QuantityError:  # an amount of a claim: it is unreadable as a whole
            return


def _unpublished(key: PoolKey, pool: Pool | None, use: PoolUse) -> Iterator[Finding]:
    published: set[str] = set()
    if pool is not None:
        pieces = pool.current if pool.complete else pool.arrival
        published = {d.name for piece in pieces for d in piece.spec.devices or ()}
    told: set[tuple[tuple[str, str], str]] = set()
    for holder in use.results():
        name = holder.result.device
        if name in published or (holder.claim_key, name) in told:
            continue
        told.add((holder.claim_key, name))
        device = str(DeviceID(*key, name))
        yield finding(
            Code.DEVICE_UNPUBLISHED,
            of_claim(holder.claim_key, device=device),
            f"Claim {holder.namespace}/{holder.claim} holds {device}, which no slice "
            "publishes.",
            device=device,
        )


def _booked_twice(
    key: PoolKey, name: str, holders: tuple[Holder, ...], features: Features
) -> Iterator[Finding]:
    alone = [
        h
        for h in holders
        if h.result.share_id is None or not features.consumable_capacity
    ]
    if not alone:
        return
    claims = list(dict.fromkeys(f"{h.namespace}/{h.claim}" for h in holders))
    device = str(DeviceID(*key, name))
    if len(claims) == 1:
        words = f"Claim {claims[0]} names {device} {len(holders)} times."
    else:
        words = f"{device} is booked by {len(claims)} claims: {', '.join(claims[:5])}."
    yield finding(
        Code.DEVICE_BOOKED_TWICE,
        of_pool(key, device=device),
        words,
        device=device,
        claims=", ".join(claims),
    )


def _capacity(pool: Pool, use: PoolUse) -> Iterator[Finding]:
    shared = {
        name: holders
        for name, holders in use.holders.items()
        if any(h.result.consumed_capacity for h in holders)
    }
    if not shared:
        return
    for device in pool.devices():
        holders = shared.get(device.name)
        if holders:
            yield from _capacity_of(pool, device, holders)


def _capacity_of(
    pool: Pool, device: Device, holders: tuple[Holder, ...]
) -> Iterator[Finding]:
    for name, capacity in (device.capacity or {}).items():
        taken = sum(
            quantity.nanos(h.result.consumed_capacity[name])
            for h in holders
            if h.result.consumed_capacity and name in h.result.consumed_capacity
        )
        total = quantity.read(capacity.value)
        if taken > total.nanos:
            device_name = str(DeviceID(pool.driver, pool.name, device.name))
            claims = list(dict.fromkeys(f"{h.namespace}/{h.claim}" for h in holders))
            yield finding(
                Code.CAPACITY_OVERCOMMITTED,
                of_pool(pool.key, device=device_name, detail=name),
                f"Claims consume {Quantity(taken, total.format).canonical()} of the "
                f"{total} {name} of {device_name}.",
                device=device_name,
                capacity=name,
                claims=", ".join(claims),
            )


def _counters(pool: Pool, use: PoolUse) -> Iterator[Finding]:
    if not pool.usable or not pool.counter_slices or not use.holders:
        return
    left = left_of(pool, use.holders)
    if all(nanos >= 0 for nanos in left.values()):
        return
    styles = {
        (counter_set.name, name): quantity.read(counter.value).format
        for piece in pool.counter_slices
        for counter_set in piece.spec.shared_counters or ()
        for name, counter in (counter_set.counters or {}).items()
    }
    over: dict[str, list[str]] = {}
    for (set_name, counter), nanos in left.items():
        if nanos < 0:
            missing = Quantity(-nanos, styles[set_name, counter]).canonical()
            over.setdefault(set_name, []).append(f"{counter} by {missing}")
    for set_name, counters in sorted(over.items()):
        drawing = [
            d.name
            for d in pool.devices()
            if d.name in use.holders
            and any(c.counter_set == set_name for c in d.consumes_counters or ())
        ]
        yield finding(
            Code.COUNTERS_OVERCOMMITTED,
            of_pool(pool.key, detail=set_name),
            f"Devices in use overdraw counter set {set_name} of pool {pool.driver}/"
            f"{pool.name}: {', '.join(sorted(counters)[:4])}.",
            counter_set=set_name,
            devices=", ".join(drawing),
        )


def taint_findings(pool: Pool, use: PoolUse, rules: TaintRules) -> Iterator[Finding]:
    """Devices in use whose taints their claims do not tolerate."""
    if not use.holders:
        return
    by_rule = rules.for_pool(pool)
    for device in pool.devices():
        holders = use.holders.get(device.name)
        taints = (*(device.taints or ()), *by_rule.get(device.name, ()))
        if not holders or not taints:
            continue
        for holder in holders:
            taint = untolerated(taints, holder.result.tolerations)
            if taint is not None:
                name = str(DeviceID(pool.driver, pool.name, device.name))
                words = f"{taint.key}={taint.value}" if taint.value else taint.key
                yield finding(
                    Code.DEVICE_TAINTED_IN_USE,
                    of_claim(holder.claim_key, device=name),
                    f"Claim {holder.namespace}/{holder.claim} holds {name}, which has the "
                    f"taint {words}:{taint.effect}.",
                    device=name,
                    taint=f"{words}:{taint.effect}",
                    since=taint.time_added or "",
                )
