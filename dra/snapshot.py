"""One state of a cluster, as far as DRA is concerned: immutable and shared.

A snapshot is built once from all objects and then refreshed with what changed:
the new one shares every object, pool and booking that did not change with the
old one. Two laws hold and are tested: refreshing in any order and in any split
gives the snapshot that building from the final objects gives; equal objects
give equal snapshots.

An object that cannot be read is one of ``problems`` and takes no part, with two
exceptions: what an unreadable claim holds is in use all the same, and an unreadable
taint rule is one of ``doubts``. Objects of kinds that DRA does not know are passed
over.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, cast

from dra.cel.table import DeviceTable
from dra.device_tables import DeviceTables
from dra.errors import ObjectError
from dra.names import NamespacedName, ObjectKey, PoolKey
from dra.objects import (
    Base,
    DeviceClass,
    DeviceTaintRule,
    Json,
    Namespace,
    Node,
    Pod,
    PodGroup,
    ResourceClaim,
    ResourceClaimTemplate,
    ResourceSlice,
)
from dra.pool_index import PoolIndex
from dra.pools import Pool, make_pool
from dra.salvage import Salvaged, salvage_claim
from dra.snapshot_reading import TABLES, read_item, table_key
from dra.usage import (
    NO_USE,
    NOTHING_IN_USE,
    Holder,
    InUse,
    change_use,
    holdings,
)


@dataclass(frozen=True, slots=True, eq=False)
class Snapshot:
    """Everything an allocation may look at.

    Cluster-scoped mappings are keyed by name, namespaced ones by
    ``(namespace, name)``. ``seq`` is the mirror's change number that the snapshot
    stands for; it is no part of equality. ``slices`` keeps the order in which
    slices came, which decides where slices of a pool contradict each other.
    """

    seq: int
    nodes: Mapping[str, Node]
    namespaces: Mapping[str, Namespace]
    slices: Mapping[str, ResourceSlice]
    classes: Mapping[str, DeviceClass]
    taint_rules: Mapping[str, DeviceTaintRule]
    claims: Mapping[NamespacedName, ResourceClaim]
    templates: Mapping[NamespacedName, ResourceClaimTemplate]
    pods: Mapping[NamespacedName, Pod]
    pod_groups: Mapping[NamespacedName, PodGroup]
    pools: Mapping[PoolKey, Pool]
    in_use: InUse
    pool_index: PoolIndex
    problems_by_object: Mapping[ObjectKey, ObjectError]
    salvaged: Mapping[NamespacedName, Salvaged]
    """What unreadable claims hold; part of ``in_use``."""
    device_tables: DeviceTables = field(
        default_factory=DeviceTables, repr=False, compare=False
    )

    @classmethod
    def build(cls, objects: Iterable[Json | Base], *, seq: int = 0) -> Snapshot:
        """The snapshot of ``objects``: JSON in v1 form, or objects already read."""
        return EMPTY.refresh(objects, (), seq=seq)

    def refresh(
        self,
        changed: Iterable[Json | Base],
        deleted: Iterable[ObjectKey],
        *,
        seq: int,
    ) -> Snapshot:
        """The next state: first ``deleted`` go, then ``changed`` come.

        Shares everything that is not concerned. Deleting what is not there is no
        error.
        """
        draft = _Draft(self)
        for key in deleted:
            draft.remove(ObjectKey(*key))
        for item in changed:
            draft.put(item)
        return draft.finish(seq)

    def edit(
        self,
        *,
        add: Iterable[Json | Base] = (),
        remove: Iterable[ObjectKey] = (),
    ) -> Snapshot:
        """A what-if world: ``add`` also replaces objects of the same name."""
        return self.refresh(add, remove, seq=self.seq)

    @property
    def problems(self) -> tuple[ObjectError, ...]:
        """Objects that could not be read, by kind, namespace and name."""
        found = self.problems_by_object
        return tuple(found[key] for key in sorted(found))

    @property
    def doubts(self) -> tuple[str, ...]:
        """Why nobody can say which devices may be taken, one sentence each.

        First unreadable claims whose devices cannot be told, then unreadable taint
        rules, each by name.
        """
        found = self.salvaged
        claims = [found[key].doubt for key in sorted(found) if found[key].doubt]
        rules = [
            f"Which devices the taint rule {problem.name} taints cannot be told "
            f"({problem.path} {problem.reason}), so nobody knows which devices may be taken."
            for problem in self.problems
            if problem.kind == "DeviceTaintRule"
        ]
        return (*claims, *rules)

    def devices(self, *, lists: bool = False) -> DeviceTable:
        """The devices of the newest generation of every pool, as selectors see them.

        Made when first asked for, from the earlier snapshot's where there is one.
        ``lists`` is the gate of list attributes.
        """
        return self.device_tables.table(self.pools, lists=lists)

    def pool_keys_for_node(
        self, node_name: str, *, foreign_counters: bool = True
    ) -> Iterable[PoolKey]:
        """Pools that :func:`dra.node_pools.pools_for_node` looks at, each once."""
        index = self.pool_index
        keys = dict.fromkeys(index.by_node.get(node_name, ()))
        keys.update(index.networked)
        if foreign_counters:
            keys.update(index.counters)
        return keys

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Snapshot):
            return NotImplemented
        return (
            all(
                getattr(self, table) == getattr(other, table)
                for table in TABLES.values()
            )
            and self.pools == other.pools
            and self.in_use == other.in_use
            and self.doubts == other.doubts
            and [str(p) for p in self.problems] == [str(p) for p in other.problems]
        )

    __hash__ = None  # type: ignore[assignment]  # equal by value, and big

    def __repr__(self) -> str:
        return (
            f"<Snapshot seq={self.seq} nodes={len(self.nodes)} "
            f"slices={len(self.slices)} claims={len(self.claims)}>"
        )


EMPTY: Final = Snapshot(
    seq=0,
    nodes={},
    namespaces={},
    slices={},
    classes={},
    taint_rules={},
    claims={},
    templates={},
    pods={},
    pod_groups={},
    pools={},
    in_use=NOTHING_IN_USE,
    pool_index=PoolIndex({}, {}, {}),
    problems_by_object={},
    salvaged={},
)


class _Draft:
    """The next snapshot in the making: copies a table when it first changes it."""

    def __init__(self, base: Snapshot) -> None:
        self.base = base
        self.tables: dict[str, dict[Any, Any]] = {}
        self.slices: dict[PoolKey, dict[str, None]] = {}
        """Names of slices that came, changed or went, by pool."""
        self.claims: dict[NamespacedName, None] = {}
        """Claims that came, changed or went."""

    def table(self, name: str) -> dict[Any, Any]:
        copy = self.tables.get(name)
        if copy is None:
            copy = self.tables[name] = dict(getattr(self.base, name))
        return copy

    def peek(self, name: str) -> Mapping[Any, Any]:
        found = self.tables.get(name)
        if found is not None:
            return found
        return cast("Mapping[Any, Any]", getattr(self.base, name))

    def put(self, item: Json | Base) -> None:
        found = read_item(item)
        if found is None:
            return
        key, value = found
        if isinstance(value, ObjectError):
            self.remove(key)
            self.table("problems_by_object")[key] = value
            if key.kind == "ResourceClaim" and isinstance(item, dict):
                self.table("salvaged")[table_key(key)] = salvage_claim(
                    item, namespace=key.namespace, name=key.name
                )
                self.claims[table_key(key)] = None
            return
        self.forget_problem(key)
        name = TABLES[key.kind]
        place = table_key(key)
        old = self.peek(name).get(place)
        if old == value:
            return
        self.touch(key, old)
        self.touch(key, value)
        self.table(name)[place] = value

    def remove(self, key: ObjectKey) -> None:
        self.forget_problem(key)
        name = TABLES.get(key.kind)
        if name is None:
            return
        place = table_key(key)
        old = self.peek(name).get(place)
        if old is not None:
            self.touch(key, old)
            del self.table(name)[place]

    def forget_problem(self, key: ObjectKey) -> None:
        if key not in self.peek("problems_by_object"):
            return
        del self.table("problems_by_object")[key]
        if key.kind == "ResourceClaim" and table_key(key) in self.peek("salvaged"):
            del self.table("salvaged")[table_key(key)]
            self.claims[table_key(key)] = None

    def touch(self, key: ObjectKey, value: Base | None) -> None:
        if isinstance(value, ResourceSlice):
            self.slices.setdefault(_pool_key(value), {})[key.name] = None
        elif isinstance(value, ResourceClaim):
            self.claims[key.namespace, key.name] = None

    def finish(self, seq: int) -> Snapshot:
        changes: dict[str, Any] = dict(self.tables)
        if self.slices:
            changes["pools"], changes["pool_index"] = self.new_pools()
            changes["device_tables"] = self.base.device_tables.next()
        if self.claims:
            changes["in_use"] = self.new_use()
        return replace(self.base, seq=seq, **changes)

    def new_pools(self) -> tuple[dict[PoolKey, Pool], PoolIndex]:
        pools = dict(self.base.pools)
        moves: list[tuple[Pool | None, Pool | None]] = []
        for key, names in self.slices.items():
            old = pools.get(key)
            members = self.members(key, old, names)
            new = make_pool(members) if members else None
            if new is not None:
                pools[key] = new
            elif old is not None:
                del pools[key]
            moves.append((old, new))
        return pools, self.base.pool_index.change(moves)

    def members(
        self, key: PoolKey, old: Pool | None, touched: Mapping[str, None]
    ) -> list[ResourceSlice]:
        """The pool's slices now: those that stayed in their order, then new ones."""
        slices: Mapping[str, ResourceSlice] = self.tables["slices"]
        names = dict.fromkeys(s.metadata.name for s in old.arrival) if old else {}
        names.update(touched)
        found = (slices.get(name) for name in names)
        return [s for s in found if s is not None and _pool_key(s) == key]

    def new_use(self) -> InUse:
        claims: Mapping[NamespacedName, ResourceClaim] = self.peek("claims")
        salvaged: Mapping[NamespacedName, Salvaged] = self.peek("salvaged")
        by_pool = dict(self.base.in_use.by_pool)
        gone = frozenset(self.claims)
        concerned: dict[PoolKey, list[Holder]] = {}
        for claim_key in self.claims:
            old = _holding(claim_key, self.base.claims, self.base.salvaged)
            if old is not None:
                for pool in holdings(old):
                    concerned.setdefault(pool, [])
            new = _holding(claim_key, claims, salvaged)
            if new is not None:
                for pool, holders in holdings(new).items():
                    concerned.setdefault(pool, []).extend(holders)
        for pool, added in concerned.items():
            use = change_use(by_pool.get(pool, NO_USE), gone, added)
            if use.holders or use.admin:
                by_pool[pool] = use
            else:
                by_pool.pop(pool, None)
        return InUse(by_pool)


def _holding(
    key: NamespacedName,
    claims: Mapping[NamespacedName, ResourceClaim],
    salvaged: Mapping[NamespacedName, Salvaged],
) -> ResourceClaim | None:
    """The claim, or what is known of one that cannot be read."""
    found = salvaged.get(key)
    return found.claim if found is not None else claims.get(key)


def _pool_key(piece: ResourceSlice) -> PoolKey:
    return PoolKey(piece.spec.driver, piece.spec.pool.name)


__all__ = ["EMPTY", "ObjectKey", "PoolIndex", "PoolKey", "Snapshot"]
