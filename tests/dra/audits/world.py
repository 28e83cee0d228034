"""A cluster in which nothing is wrong, to plant faults in."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from dra.audits import Auditor, Finding, audit
from dra.snapshot import Snapshot
from tests.dra.allocation.world import device_class
from tests.dra.builders import Json, claim, consumes, counter_set, device, node, piece

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
HOURS_AGO = "2026-11-30T05:00:00Z"
JUST_NOW = "2026-11-30T11:58:00Z"

GPU, NIC, PART = "gpu.example.com", "nic.example.com", "part.example.com"
FINALIZER = "resource.kubernetes.io/delete-protection"
NODES = ("n1", "n2", "n3", "n4", "n5")


def is_driver(driver: str) -> str:
    return f'device.driver == "{driver}"'


def gpu(number: int, **fields: Any) -> Json:
    attributes = {
        "brand": {"string": "Nvidia"},
        "model": {"string": "H100"},
        "index": {"int": number},
        "uuid": {"string": f"GPU-{number}"},
    }
    return device(f"gpu-{number}", attributes=attributes, **fields)


def nic() -> Json:
    policy = {"default": "1G", "validRange": {"min": "1G"}}
    return device(
        "nic-0",
        allowMultipleAllocations=True,
        capacity={"speed": {"value": "10G", "requestPolicy": policy}},
    )


def slices_of(name: str) -> list[Json]:
    return [
        piece(f"{name}-gpu", *(gpu(n) for n in range(4)), pool=name, nodeName=name),
        piece(f"{name}-nic", nic(), pool=name, nodeName=name, driver=NIC),
    ]


def parts(name: str = "n1") -> list[Json]:
    """A GPU and its halves."""

    def one(what: str, memory: str) -> Json:
        return device(what, consumesCounters=[consumes("set", memory=memory)])

    spec: Json = {"pool": name, "nodeName": name, "driver": PART, "of": 2}
    return [
        piece(
            f"{name}-sets", sharedCounters=[counter_set("set", memory="80Gi")], **spec
        ),
        piece(
            f"{name}-parts",
            one("full", "80Gi"),
            one("half-a", "40Gi"),
            one("half-b", "40Gi"),
            **spec,
        ),
    ]


def bound(
    name: str, *devices: str, on: str = "n1", driver: str = GPU, **fields: Any
) -> Json:
    """An allocated claim as the scheduler writes it, reserved for the pod ``p-<name>``."""
    results = [
        {"request": "r", "driver": driver, "pool": on, "device": d, **fields}
        for d in devices
    ]
    made = claim(name)
    made["metadata"]["finalizers"] = [FINALIZER]
    only = {"key": "metadata.name", "operator": "In", "values": [on]}
    made["status"] = {
        "allocation": {
            "devices": {"results": results},
            "nodeSelector": {"nodeSelectorTerms": [{"matchFields": [only]}]},
            "allocationTimestamp": HOURS_AGO,
        },
        "reservedFor": [
            {"resource": "pods", "name": f"p-{name}", "uid": f"uid-p-{name}"}
        ],
    }
    return made


def pod(name: str, *claims: str, on: str = "n1", **entry: Any) -> Json:
    """A pod that uses claims by name, or one entry of your own."""
    entries = [{"name": c, "resourceClaimName": c} for c in claims]
    if entry:
        entries.append({"name": "own", **entry})
    return {
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default", "uid": f"uid-{name}"},
        "spec": {"nodeName": on, "resourceClaims": entries},
        "status": {"phase": "Running"},
    }


def running(name: str, *devices: str, on: str = "n1", **fields: Any) -> list[Json]:
    """A claim and the pod that has it."""
    return [bound(name, *devices, on=on, **fields), pod(f"p-{name}", name, on=on)]


def template(name: str, **body: Any) -> Json:
    exactly = {"deviceClassName": "gpu", **body}
    requests = [{"name": "r", "exactly": exactly}]
    return {
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"spec": {"devices": {"requests": requests}}},
    }


def clean() -> list[Json]:
    """Five nodes of one kind, three drivers, and workloads that have what they need."""
    share = {"shareID": "a", "consumedCapacity": {"speed": "4G"}}
    other = {"shareID": "b", "consumedCapacity": {"speed": "6G"}}
    kind = {"node.kubernetes.io/instance-type": "big"}
    return [
        {"kind": "Namespace", "metadata": {"name": "default"}},
        *(node(name, **kind) for name in NODES),
        *(piece_ for name in NODES for piece_ in slices_of(name)),
        *parts("n1"),
        device_class("gpu", is_driver(GPU)),
        device_class("nic", is_driver(NIC), extendedResourceName="example.com/nic"),
        device_class("part", is_driver(PART)),
        template("fine"),
        *running("a", "gpu-0", on="n1"),
        *running("b", "gpu-1", "gpu-2", on="n2"),
        *running("c", "nic-0", on="n1", driver=NIC, **share),
        *running("d", "nic-0", on="n1", driver=NIC, **other),
        *running("e", "half-a", on="n1", driver=PART),
        pod("new", resourceClaimTemplateName="fine"),
    ]


def found_in(*objects: Json, now: datetime = NOW) -> list[Finding]:
    return audit(Snapshot.build(objects), now=now)


def after(*clusters: list[Json]) -> list[Finding]:
    """The findings of an auditor that saw one cluster after the other."""
    auditor = Auditor()
    found: list[Finding] = []
    for objects in clusters:
        found = auditor.next(Snapshot.build(objects), now=NOW)
    return found


def without(objects: list[Json], kind: str, name: str) -> list[Json]:
    """All but one object, which has to be there."""
    kept = [o for o in objects if (o["kind"], o["metadata"]["name"]) != (kind, name)]
    assert len(kept) == len(objects) - 1, (kind, name)
    return kept


def one(objects: list[Json], kind: str, name: str) -> Json:
    (found,) = [
        o for o in objects if (o["kind"], o["metadata"]["name"]) == (kind, name)
    ]
    return found
