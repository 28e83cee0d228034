"""Each fault that an audit knows, planted into the clean cluster by itself."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from dra.audits import Code
from tests.dra.allocation.world import device_class
from tests.dra.audits.world import (
    GPU,
    HOURS_AGO,
    NIC,
    PART,
    bound,
    clean,
    gpu,
    is_driver,
    one,
    pod,
    running,
    template,
    without,
)
from tests.dra.builders import Json, claim, piece, taint_rule

type Plant = Callable[[list[Json]], list[Json]]

PLANTS: dict[Code, Plant] = {}


def plants(code: Code) -> Callable[[Plant], Plant]:
    def register(plant: Plant) -> Plant:
        PLANTS[code] = plant
        return plant

    return register


def planted(code: Code) -> list[Json]:
    return PLANTS[code](clean())


def _adding(code: Code, *objects: Json) -> None:
    # Copies, because a test may change what it gets.
    PLANTS[code] = lambda cluster: [*cluster, *copy.deepcopy(objects)]


def _bound_changed(code: Code, name: str, change: Callable[[Any], None]) -> None:
    """A running workload of which the claim is not as it should be."""

    def plant(cluster: list[Json]) -> list[Json]:
        made = running(name, "gpu-0", on="n3")
        change(made[0])
        return [*cluster, *made]

    PLANTS[code] = plant


# --- devices ---------------------------------------------------------------------

_adding(Code.DEVICE_BOOKED_TWICE, *running("again", "gpu-0", on="n1"))
_adding(Code.COUNTERS_OVERCOMMITTED, *running("whole", "full", on="n1", driver=PART))
_adding(
    Code.CAPACITY_OVERCOMMITTED,
    *running(
        "more",
        "nic-0",
        on="n1",
        driver=NIC,
        shareID="z",
        consumedCapacity={"speed": "1G"},
    ),
)
_adding(Code.DEVICE_UNPUBLISHED, *running("lost", "gpu-9", on="n3"))


@plants(Code.DEVICE_TAINTED_IN_USE)
def _tainted(cluster: list[Json]) -> list[Json]:
    taint = {"key": "xid", "value": "79", "effect": "NoSchedule"}
    one(cluster, "ResourceSlice", "n2-gpu")["spec"]["devices"][1]["taints"] = [taint]
    return cluster


# --- claims ----------------------------------------------------------------------


@plants(Code.CLAIM_IDLE)
def _idle(cluster: list[Json]) -> list[Json]:
    idle = bound("idle", "gpu-0", on="n3")
    idle["status"]["reservedFor"] = None
    return [*cluster, idle]


_adding(Code.CLAIM_RESERVED_BY_GONE_POD, bound("zombie", "gpu-0", on="n3"))


@plants(Code.CLAIM_STUCK_IN_DELETION)
def _stuck(cluster: list[Json]) -> list[Json]:
    stuck = claim("stuck")
    stuck["metadata"] |= {"deletionTimestamp": HOURS_AGO, "finalizers": ["acme.test/x"]}
    return [*cluster, stuck]


def _no_finalizer(made: Any) -> None:
    del made["metadata"]["finalizers"]


def _no_node_selector(made: Any) -> None:
    del made["status"]["allocation"]["nodeSelector"]


def _no_timestamp(made: Any) -> None:
    del made["status"]["allocation"]["allocationTimestamp"]


def _many_consumers(made: Any) -> None:
    made["status"]["reservedFor"] += [
        {
            "apiGroup": "acme.test",
            "resource": "widgets",
            "name": f"w-{n}",
            "uid": str(n),
        }
        for n in range(255)
    ]


def _admin(made: Any) -> None:
    made["status"]["allocation"]["devices"]["results"][0]["adminAccess"] = True


_bound_changed(Code.CLAIM_WITHOUT_FINALIZER, "bare", _no_finalizer)
_bound_changed(Code.CLAIM_WITHOUT_NODE_SELECTOR, "anywhere", _no_node_selector)
_bound_changed(Code.CLAIM_WITHOUT_TIMESTAMP, "timeless", _no_timestamp)
_bound_changed(Code.CLAIM_NEARLY_FULL, "popular", _many_consumers)
_bound_changed(Code.CLAIM_ADMIN_ACCESS, "monitor", _admin)
_adding(Code.CLAIM_UNUSED, claim("waits"))


@plants(Code.CLAIM_MISSING_CLASS)
def _no_class(cluster: list[Json]) -> list[Json]:
    wants = claim("wants")
    wants["spec"]["devices"]["requests"][0]["exactly"]["deviceClassName"] = "gpv"
    return [*cluster, wants, pod("p-wants", "wants", on="")]


@plants(Code.CLAIM_UNREADABLE)
def _unreadable(cluster: list[Json]) -> list[Json]:
    broken = {**claim("broken"), "spec": {"devices": 5}}
    return [*cluster, broken, pod("p-broken", "broken", on="")]


_adding(
    Code.NAMESPACE_ADMIN_ACCESS,
    {
        "kind": "Namespace",
        "metadata": {
            "name": "monitoring",
            "labels": {"resource.kubernetes.io/admin-access": "true"},
        },
    },
)

# --- templates and pods ----------------------------------------------------------

_adding(Code.TEMPLATE_MISSING_CLASS, template("wrong", deviceClassName="gpv"))
_adding(Code.TEMPLATE_ADMIN_ACCESS, template("admin", adminAccess=True))
_adding(Code.POD_MISSING_CLAIM, pod("astray", "nowhere", on=""))
_adding(Code.POD_MISSING_TEMPLATE, pod("lost", on="", resourceClaimTemplateName="nope"))
_adding(Code.POD_CLAIM_UNNAMED, pod("old", on="", source={"resourceClaimName": "a"}))

# --- pools -----------------------------------------------------------------------

_adding(Code.POOL_INCOMPLETE, piece("x", gpu(0), pool="x", nodeName="n1", of=2))
_adding(Code.POOL_SLICE_COUNT, piece("x", gpu(0), pool="x", nodeName="n1", of=0))
_adding(
    Code.POOL_TWO_GENERATIONS,
    piece("x-a", gpu(0), pool="x", nodeName="n1", generation=2, of=2),
    piece("x-b", gpu(1), pool="x", nodeName="n1", generation=1, of=2),
)
_adding(
    Code.POOL_STALE_SLICES,
    piece("x-a", gpu(0), pool="x", nodeName="n1", generation=2),
    piece("x-b", gpu(1), pool="x", nodeName="n1", generation=1),
)
_adding(Code.POOL_INVALID, piece("x", gpu(0), gpu(0), pool="x", nodeName="n1"))
_adding(Code.POOL_EMPTY, piece("x", pool="x", nodeName="n1"))
_adding(Code.POOL_NODE_GONE, piece("x", gpu(0), pool="x", nodeName="n9"))


@plants(Code.NODE_DRIVER_MISSING)
def _no_driver(cluster: list[Json]) -> list[Json]:
    return without(cluster, "ResourceSlice", "n4-nic")


# --- rules and classes -----------------------------------------------------------

_adding(Code.RULE_MATCHES_NOTHING, taint_rule("nothing", driver=GPU, pool="n77"))


@plants(Code.RULE_MATCHES_EVERYTHING)
def _everything(cluster: list[Json]) -> list[Json]:
    """With nobody in the way: their devices would be tainted in use."""
    empty = [o for o in cluster if o["kind"] not in ("ResourceClaim", "Pod")]
    return [*empty, taint_rule("everything")]


_adding(
    Code.CLASS_MATCHES_NOTHING, device_class("other", is_driver("other.example.com"))
)
_adding(Code.CLASS_MATCHES_EVERYTHING, device_class("anything"))
_adding(
    Code.CLASS_SELECTOR_ERROR,
    device_class("error", f'device.attributes["{GPU}"].model == "H100"'),
)
_adding(
    Code.CLASS_RESOURCE_CLASH,
    device_class("clash", is_driver(NIC), extendedResourceName="example.com/nic"),
)

# --- devices that differ ---------------------------------------------------------


@plants(Code.VALUE_UNCOMMON)
def _slip(cluster: list[Json]) -> list[Json]:
    devices = one(cluster, "ResourceSlice", "n5-gpu")["spec"]["devices"]
    devices[2]["attributes"]["brand"]["string"] = "Nvidai"
    return cluster


@plants(Code.ATTRIBUTE_UNCOMMON)
def _name_slip(cluster: list[Json]) -> list[Json]:
    attributes = one(cluster, "ResourceSlice", "n5-gpu")["spec"]["devices"][3][
        "attributes"
    ]
    attributes["brnad"] = attributes.pop("brand")
    return cluster


@plants(Code.ATTRIBUTE_DROPPED)
def _dropped(cluster: list[Json]) -> list[Json]:
    for made in one(cluster, "ResourceSlice", "n5-gpu")["spec"]["devices"]:
        del made["attributes"]["index"]
    return cluster


@plants(Code.ATTRIBUTE_RETYPED)
def _retyped(cluster: list[Json]) -> list[Json]:
    for made in one(cluster, "ResourceSlice", "n5-gpu")["spec"]["devices"]:
        made["attributes"]["index"] = {"string": "0"}
    return cluster


_adding(
    Code.OBJECT_UNREADABLE,
    {"kind": "ResourceSlice", "metadata": {"name": "bad"}, "spec": {"devices": 5}},
)
