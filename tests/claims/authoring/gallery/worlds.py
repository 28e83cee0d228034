"""Clusters whose gallery is looked at: the demo, the benches' kinds, one of odd drivers."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from functools import cache
from typing import Any

from bench import clusters
from cluster.standin.generator import generate
from dra.snapshot import Snapshot
from tests.dra.builders import claim, device, node, piece, taint_rule
from tests.dra.builders import result as held

Json = dict[str, Any]

ADMIN = "resource.kubernetes.io/admin-access"
ROOT = "resource.kubernetes.io/pcieRoot"
NOW = datetime(2026, 11, 1, tzinfo=UTC)


def class_(name: str, driver: str, more: str = "", **spec: Any) -> Json:
    expression = f"device.driver == '{driver}'{f' && {more}' if more else ''}"
    return {
        "kind": "DeviceClass",
        "metadata": {"name": name},
        "spec": {"selectors": [{"cel": {"expression": expression}}], **spec},
    }


def namespace(name: str, **labels: str) -> Json:
    return {"kind": "Namespace", "metadata": {"name": name, "labels": labels}}


def chip(number: int) -> Json:
    """An accelerator that knows its group by an attribute of its own."""
    return device(
        f"chip-{number}",
        attributes={
            "vendor.example/group4": {"string": f"g{number // 4}"},
            "serial": {"string": f"s{number}"},
        },
    )


def shared(number: int) -> Json:
    policy = {
        "default": "4Gi",
        "validRange": {"min": "2Gi", "max": "32Gi", "step": "2Gi"},
    }
    bands = {"default": "10", "validValues": ["10", "50"]}
    return device(
        f"nic-{number}",
        allowMultipleAllocations=True,
        attributes={
            ROOT: {"string": f"pci{number}"},
            "name": {"string": f"eth{number}"},
        },
        capacity={
            "memory": {"value": "32Gi", "requestPolicy": policy},
            "bandwidth": {"value": "100", "requestPolicy": bands},
            "slots": {"value": "1500m"},
        },
    )


def odd_objects() -> Sequence[Json]:
    """Drivers that do everything in another way, on two nodes and on the network."""
    made: list[Json] = [
        namespace("default"),
        namespace("watch", **{ADMIN: "true"}),
        class_("chips", "vendor.example", extendedResourceName="vendor.example/chip"),
        class_("shared.nics", "nic.example"),
        class_("fabric", "fabric.example"),
        class_(
            "broken", "vendor.example", "device.attributes['vendor.example'].no == 1"
        ),
        class_("nothing", "gone.example"),
        {"kind": "DeviceClass", "metadata": {"name": "everything"}, "spec": {}},
        taint_rule("all-fabric", driver="fabric.example"),
    ]
    for number in (1, 2):
        name = f"n{number}"
        made += [
            node(name, zone="a"),
            piece(
                f"chips-{name}",
                *map(chip, range(8)),
                pool=name,
                driver="vendor.example",
                nodeName=name,
            ),
            piece(
                f"nics-{name}",
                *map(shared, range(2)),
                pool=name,
                driver="nic.example",
                nodeName=name,
            ),
        ]
    made.append(
        piece(
            "fabric",
            *(device(f"f{number}") for number in range(3)),
            pool="fabric",
            driver="fabric.example",
            nodeSelector={
                "nodeSelectorTerms": [
                    {
                        "matchExpressions": [
                            {"key": "zone", "operator": "In", "values": ["a"]}
                        ]
                    }
                ]
            },
        )
    )
    configured = claim(
        "tuned",
        *(held(f"chip-{n}", pool="n1", driver="vendor.example") for n in range(8)),
    )
    configured["spec"]["devices"]["config"] = [
        {"opaque": {"driver": "vendor.example", "parameters": {"mode": "fast"}}}
    ]
    made.append(configured)
    return made


def with_lists() -> Sequence[Json]:
    """Devices that publish a list, as releases with that gate on allow."""
    sizes = (["small", "large"], ["small"])
    return [
        node("n1"),
        class_("chips", "vendor.example"),
        piece(
            "chips",
            *(
                device(f"c{n}", attributes={"sizes": {"strings": sizes[n % 2]}})
                for n in range(3)
            ),
            pool="n1",
            driver="vendor.example",
        ),
    ]


KINDS = ("demo", "small demo", "gpu", "mig", "cap", "odd")


@cache
def objects(kind: str) -> tuple[Json, ...]:
    match kind:
        case "demo":
            return tuple(generate(nodes=20, now=NOW))
        case "small demo":
            return tuple(generate(nodes=6, seed=7, now=NOW))
        case "odd":
            return tuple(odd_objects())
        case "lists":
            return tuple(with_lists())
    return tuple(clusters.objects(kind, 3))


@cache
def snapshot(kind: str) -> Snapshot:
    return Snapshot.build(objects(kind), seq=1)


@cache
def unused(kind: str) -> Snapshot:
    """The same cluster without a claim."""
    return Snapshot.build(
        (o for o in objects(kind) if o["kind"] not in ("ResourceClaim", "Pod")), seq=1
    )
