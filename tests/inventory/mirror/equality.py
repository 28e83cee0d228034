"""Whether the mirror equals the server."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

from claims import models as claims
from claims.mirror import KINDS
from dra.names import PoolKey
from dra.snapshot import Snapshot
from dra.taints import TaintRules
from dra.usage import device_states
from inventory import models as inventory

Json = dict[str, Any]

MODELS = {
    "Namespace": inventory.Namespace,
    "Node": inventory.Node,
    "DeviceClass": inventory.DeviceClass,
    "DeviceTaintRule": inventory.DeviceTaintRule,
    "ResourceSlice": inventory.ResourceSlice,
    "ResourceClaimTemplate": claims.ResourceClaimTemplate,
    "ResourceClaim": claims.ResourceClaim,
    "PodGroup": claims.PodGroup,
    "Pod": claims.Pod,
}


def key(obj: Json) -> tuple[str, str]:
    meta = obj["metadata"]
    return meta.get("namespace", ""), meta["name"]


def assert_mirror_equals_server(
    cluster: inventory.Cluster, objects: Callable[[str], Iterable[Json]]
) -> None:
    """Raw rows are the server's objects, derived rows what follows from them.

    The expectation is computed anew from the objects, by other means than the
    mirror's wherever there are any.
    """
    cluster.refresh_from_db()
    server = {kind: {key(o): o for o in objects(kind)} for kind in KINDS}
    server["Pod"] = {
        k: o for k, o in server["Pod"].items() if o["spec"].get("resourceClaims")
    }
    seqs: list[int] = []
    for kind, model in MODELS.items():
        rows = list(model._default_manager.filter(cluster=cluster))
        assert {key(row.raw): row.raw for row in rows} == server[kind], kind
        for row in rows:
            meta = row.raw["metadata"]
            assert (row.name, row.uid) == (meta["name"], meta["uid"])
            assert row.resource_version == meta["resourceVersion"]
            assert row.deleting == ("deletionTimestamp" in meta)
        seqs += [row.seq for row in rows]
        state = inventory.WatchState.objects.filter(cluster=cluster, kind=kind).first()
        if state is not None:
            assert state.object_count == len(rows), kind
            assert state.problem_count == sum(bool(r.problem) for r in rows), kind
            assert state.seq <= cluster.seq
            assert all(row.seq <= state.seq for row in rows)
    graves = list(inventory.Tombstone.objects.filter(cluster=cluster))
    seqs += [grave.seq for grave in graves]
    assert len(seqs) == len(set(seqs)), "two changes have one seq"
    assert max(seqs, default=0) <= cluster.seq
    for grave in graves:
        assert (grave.namespace, grave.name) not in server[grave.kind]
    _check_pools(cluster, server)
    _check_claims(cluster, server)


def _check_pools(
    cluster: inventory.Cluster, server: dict[str, dict[tuple[str, str], Json]]
) -> None:
    snapshot = Snapshot.build(o for those in server.values() for o in those.values())
    rules = TaintRules(snapshot.taint_rules.values())
    pools = {
        PoolKey(p.driver, p.name): p
        for p in inventory.Pool.objects.filter(cluster=cluster)
    }
    assert pools.keys() == snapshot.pools.keys()
    expected: dict[tuple[str, str, str, str], tuple[str, int]] = {}
    for pool_key, pool in snapshot.pools.items():
        row = pools[pool_key]
        assert (row.generation, row.slices_wanted, row.slices_present) == (
            pool.generation,
            pool.wanted,
            len(pool.current),
        )
        assert row.slices_older == len(pool.older)
        assert (row.complete, row.valid) == (pool.complete, pool.valid)
        assert row.problem == pool.problem
        use = snapshot.in_use.pool(pool_key)
        holders = [h for those in use.holders.values() for h in those]
        states = device_states(pool, holders, rules.for_pool(pool))
        count = 0
        for piece in pool.device_slices:
            for device in piece.spec.devices or ():
                state = states[device.name]
                expected[*pool_key, piece.metadata.name, device.name] = (
                    state.state.value,
                    state.claim_count,
                )
                count += 1
        assert row.device_count == count
    rows = inventory.Device.objects.filter(cluster=cluster).select_related("slice")
    found = {
        (d.driver, d.pool, d.slice.name, d.name): (d.state, d.holder_count)
        for d in rows
    }
    assert found == expected
    published = {
        (s.name, index): device
        for s in inventory.ResourceSlice.objects.filter(cluster=cluster)
        for index, device in enumerate(s.raw["spec"].get("devices") or ())
    }
    for d in rows:
        assert d.name == published[d.slice.name, d.position]["name"]
        own = [taint for taint in d.taints if "rule" not in taint]
        assert own == published[d.slice.name, d.position].get("taints", [])
        by_rule = {taint["rule"] for taint in d.taints if "rule" in taint}
        assert by_rule == {
            name
            for (_, name), r in server["DeviceTaintRule"].items()
            if all(
                {"driver": d.driver, "pool": d.pool, "device": d.name}[k] == v
                for k, v in r["spec"]["deviceSelector"].items()
            )
        }


def _check_claims(
    cluster: inventory.Cluster, server: dict[str, dict[tuple[str, str], Json]]
) -> None:
    running = {
        o["metadata"]["uid"]
        for o in server["Pod"].values()
        if o["spec"].get("nodeName") and o["status"].get("phase") == "Running"
    }
    links: dict[tuple[str, str], str] = {}
    entries: Counter[tuple[str, ...]] = Counter()
    for (namespace, name), o in server["Pod"].items():
        made = {
            s["name"]: s["resourceClaimName"]
            for s in o["status"].get("resourceClaimStatuses", [])
        }
        for e in o["spec"]["resourceClaims"]:
            target = e.get("resourceClaimName") or made.get(e["name"], "")
            template = e.get("resourceClaimTemplateName", "")
            entries[namespace, name, e["name"], target, template] += 1
            if template:
                known = links.get((namespace, target))
                links[namespace, target] = min(known or template, template)
    pod_claims = claims.PodClaim.objects.filter(cluster=cluster)
    fields = ("namespace", "pod__name", "entry", "claim_name", "template_name")
    assert Counter(pod_claims.values_list(*fields)) == entries
    devices: Counter[tuple[str, ...]] = Counter()
    consumers: Counter[tuple[str, ...]] = Counter()
    for (namespace, name), o in server["ResourceClaim"].items():
        row = claims.ResourceClaim.objects.get(
            cluster=cluster, namespace=namespace, name=name
        )
        allocation = o["status"].get("allocation")
        results = ((allocation or {}).get("devices") or {}).get("results") or []
        reserved = o["status"].get("reservedFor") or []
        if o["metadata"].get("deletionTimestamp"):
            state = "deleting"
        elif allocation is None:
            state = "pending"
        elif not reserved:
            state = "allocated"
        else:
            in_use = any(r["uid"] in running for r in reserved)
            state = "in use" if in_use else "reserved"
        assert row.state == state, (namespace, name)
        assert row.template_name == links.get((namespace, name), "")
        assert (row.device_count, row.consumer_count) == (len(results), len(reserved))
        for r in results:
            devices[namespace, name, r["driver"], r["pool"], r["device"]] += 1
        for r in reserved:
            consumers[namespace, name, r["resource"], r["name"], r["uid"]] += 1
        requests = row.requests.values_list("name", "class_name")
        assert list(requests) == [
            (r["name"], choice["deviceClassName"])
            for r in o["spec"]["devices"].get("requests") or []
            for choice in ([r["exactly"]] if "exactly" in r else r["firstAvailable"])
        ]
    rows = claims.AllocatedDevice.objects.filter(cluster=cluster)
    fields = ("claim__namespace", "claim__name", "driver", "pool", "device")
    assert Counter(rows.values_list(*fields)) == devices
    rows_ = claims.ClaimConsumer.objects.filter(cluster=cluster)
    fields = ("claim__namespace", "claim__name", "resource", "name", "uid")
    assert Counter(rows_.values_list(*fields)) == consumers


class Follower:
    """Reads only what is new by ``seq``, as snapshots and event streams do."""

    def __init__(self, cluster: inventory.Cluster) -> None:
        self.cluster = cluster
        self.seq = 0
        self.objects: dict[tuple[str, str, str], Json] = {}

    def follow(self) -> None:
        self.cluster.refresh_from_db()
        assert self.cluster.seq >= self.seq, "seq went back"
        new = {"cluster": self.cluster, "seq__gt": self.seq}
        for grave in inventory.Tombstone.objects.filter(**new):
            self.objects.pop((grave.kind, grave.namespace, grave.name), None)
        for kind, model in MODELS.items():
            for row in model._default_manager.filter(**new):
                self.objects[kind, *key(row.raw)] = row.raw
        self.seq = self.cluster.seq

    def assert_saw(self, objects: Callable[[str], Iterable[Json]]) -> None:
        self.follow()
        assert self.objects == {
            (kind, *key(o)): o
            for kind in KINDS
            for o in objects(kind)
            if kind != "Pod" or o["spec"].get("resourceClaims")
        }
