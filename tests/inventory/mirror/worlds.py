"""Small clusters that change, and the check that the tables say what the server says."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from typing import Any

from cluster.resources import BY_KIND
from tests.inventory.mirror.equality import key

Json = dict[str, Any]

DRIVER = "gpu.example.com"


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
