"""Small clusters that change, and the check that the tables say what the server says."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

from claims import models as claims
from claims.mirror import KINDS
from cluster.resources import BY_KIND
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
DRIVER = "gpu.example.com"


def key(obj: Json) -> tuple[str, str]:
    meta = obj["metadata"]
    return meta.get("namespace", ""), meta["name"]


# --- objects -----------------------------------------------------------------


def make(kind: str, name: str, namespace: str = "", **body: Any) -> Json:
    resource = BY_KIND[kind]
    version = resource.versions[0]
    meta = {"name": name, "uid": f"{kind}-{namespace}-{name}", "resourceVersion": "1"}
    if resource.namespaced:
        meta["namespace"] = namespace or "default"
    return {
        "apiVersion": f"{resource.group}/{version}" if resource.group else version,
        "kind": kind,
        "metadata": meta,
        **body,
    }


def changed(obj: Json, version: object, **body: Any) -> Json:
    """``obj`` as the server would have it after a change."""
    meta = {**obj["metadata"], "resourceVersion": str(version)}
    return {**obj, "metadata": meta, **body}


def slice_(
    name: str,
    *,
    pool: str = "node-1",
    generation: int = 1,
    count: int = 1,
    devices: Iterable[Json | str] = ("gpu-0", "gpu-1"),
    driver: str = DRIVER,
    **spec: Any,
) -> Json:
    made = [{"name": d} if isinstance(d, str) else d for d in devices]
    return make(
        "ResourceSlice",
        name,
        spec={
            "driver": driver,
            "nodeName": pool,
            "pool": {
                "name": pool,
                "generation": generation,
                "resourceSliceCount": count,
            },
            "devices": made,
            **spec,
        },
    )


def claim(
    name: str,
    *devices: str,
    namespace: str = "default",
    pool: str = "node-1",
    pods: Iterable[Json] = (),
    **fields: Any,
) -> Json:
    """A claim that holds ``devices`` of ``pool`` and is reserved for ``pods``."""
    status: Json = {}
    if devices:
        results = [
            {"request": "r", "driver": DRIVER, "pool": pool, "device": device}
            for device in devices
        ]
        status["allocation"] = {"devices": {"results": results}}
    reserved = [
        {"resource": "pods", "name": p["metadata"]["name"], "uid": p["metadata"]["uid"]}
        for p in pods
    ]
    if reserved:
        status["reservedFor"] = reserved
    made = make(
        "ResourceClaim",
        name,
        namespace,
        spec={
            "devices": {
                "requests": [{"name": "r", "exactly": {"deviceClassName": "gpu"}}]
            }
        },
        status=status,
    )
    made["metadata"].update(fields)
    return made


def pod(
    name: str,
    claim_name: str = "",
    *,
    namespace: str = "default",
    node: str = "node-1",
    phase: str = "Running",
    template: str = "",
    uid: str = "",
) -> Json:
    entry: Json = {"name": "dev"}
    status: Json = {"phase": phase}
    if template:
        entry["resourceClaimTemplateName"] = template
        status["resourceClaimStatuses"] = [
            {"name": "dev", "resourceClaimName": claim_name}
        ]
    else:
        entry["resourceClaimName"] = claim_name
    made = make(
        "Pod",
        name,
        namespace,
        spec={"nodeName": node, "resourceClaims": [entry] if claim_name else []},
        status=status,
    )
    if uid:
        made["metadata"]["uid"] = uid
    return made


def rule(name: str, effect: str = "NoSchedule", **selector: str) -> Json:
    return make(
        "DeviceTaintRule",
        name,
        spec={
            "deviceSelector": selector,
            "taint": {"key": "example.com/bad", "effect": effect},
        },
    )


# --- the check ---------------------------------------------------------------


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


# --- a cluster that changes ---------------------------------------------------


class ChangingWorld:
    """Seeded changes of a few slices, rules, claims and pods, some of them odd.

    ``put`` and ``delete`` receive them: a dictionary, or a stand-in server's store.
    """

    def __init__(
        self,
        seed: int,
        put: Callable[[Json], object],
        delete: Callable[[str, str, str], object],
    ) -> None:
        self.random = random.Random(seed)
        self._put = put
        self._delete = delete
        self.alive: dict[tuple[str, str, str], Json] = {}
        self._uids = 0

    def step(self) -> None:
        """One change."""
        roll = self.random.random()
        if roll < 0.2 and self.alive:
            self._remove(self.random.choice(sorted(self.alive)))
        elif roll < 0.45:
            self._store(self._slice())
        elif roll < 0.55:
            self._store(self._rule())
        elif roll < 0.75:
            self._store(self._pod())
        elif roll < 0.95:
            self._store(self._claim())
        else:
            labels = {"zone": self.random.choice("ab")}
            node = make("Node", f"n{self.random.randrange(3)}", spec={}, status={})
            node["metadata"]["labels"] = labels
            self._store(node)

    def _store(self, obj: Json) -> None:
        place = (obj["kind"], *key(obj))
        before = self.alive.get(place)
        if before is not None and self.random.random() < 0.15:
            # Gone and there again before anybody looked: same name, new uid.
            self._remove(place)
            before = None
        meta = obj["metadata"]
        meta.pop("resourceVersion")
        meta["uid"] = before["metadata"]["uid"] if before else self._uid()
        meta["creationTimestamp"] = "2026-01-15T08:00:00Z"
        self.alive[place] = obj
        self._put(obj)

    def _remove(self, place: tuple[str, str, str]) -> None:
        del self.alive[place]
        kind, namespace, name = place
        self._delete(kind, name, namespace)

    def _uid(self) -> str:
        self._uids += 1
        return f"uid-{self._uids}"

    def _slice(self) -> Json:
        pick = self.random
        number = pick.randrange(6)
        devices = []
        for i in range(pick.randrange(4)):
            device: Json = {"name": f"gpu-{pick.choice([i, i, i, 0])}"}
            if pick.random() < 0.3:
                device["taints"] = [{"key": "x", "effect": "NoSchedule"}]
            device["attributes"] = {"model": {"string": pick.choice("AB")}}
            devices.append(device)
        return slice_(
            f"slice-{number}",
            pool=f"node-{pick.choice([number, number, number + 1]) % 3}",
            generation=pick.choice([1, 1, 2]),
            count=pick.choice([1, 2]),
            devices=devices,
            futureField={"kept": pick.random() < 0.5},
        )

    def _rule(self) -> Json:
        pick = self.random
        selector = {}
        if pick.random() < 0.5:
            selector["pool"] = f"node-{pick.randrange(3)}"
        if pick.random() < 0.5:
            selector["device"] = f"gpu-{pick.randrange(3)}"
        effect = pick.choice(["NoSchedule", "NoExecute", "None"])
        return rule(f"rule-{pick.randrange(2)}", effect, **selector)

    def _pod(self) -> Json:
        pick = self.random
        number = pick.randrange(6)
        return pod(
            f"pod-{number}",
            pick.choice(["", *[f"claim-{number}"] * 3, f"claim-{pick.randrange(6)}"]),
            node=pick.choice(["", "node-1", "node-1", "node-1"]),
            phase=pick.choice(["Pending", *["Running"] * 4, "Succeeded"]),
            template=pick.choice(["", "", "t1", "t2"]),
        )

    def _claim(self) -> Json:
        pick = self.random
        devices = [f"gpu-{i}" for i in range(3) if pick.random() < 0.3]
        pods = [o for (kind, *_), o in sorted(self.alive.items()) if kind == "Pod"]
        made = claim(
            f"claim-{pick.randrange(6)}",
            *devices,
            pool=f"node-{pick.randrange(3)}",
            pods=pick.sample(pods, min(len(pods), pick.randrange(3))),
        )
        if pick.random() < 0.1:
            made["status"]["allocation"] = pick.choice(
                [{}, {"devices": {}}, {"devices": {"results": None, "config": None}}]
            )
        if pick.random() < 0.1:
            made["metadata"]["deletionTimestamp"] = "2026-01-15T09:00:00Z"
        return made
