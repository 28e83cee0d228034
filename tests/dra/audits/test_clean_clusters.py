"""Clusters of many mixtures in which nothing is wrong: an audit finds nothing."""

from __future__ import annotations

import random
from typing import Any

import pytest

from dra.audits import Code
from tests.dra.allocation.world import device_class
from tests.dra.audits.world import (
    GPU,
    NIC,
    PART,
    after,
    clean,
    found_in,
    is_driver,
    parts,
    pod,
    running,
    template,
)
from tests.dra.builders import Json, claim, device, node, piece

KINDS = {
    # Names as vendors give them: they differ by a digit, a letter or a word.
    "h100": "NVIDIA H100 80GB HBM3",
    "h100-nvl": "NVIDIA H100 NVL",
    "h200": "NVIDIA H200",
    "a100-40": "NVIDIA A100-SXM4-40GB",
    "a100-80": "NVIDIA A100-SXM4-80GB",
    "mi300x": "AMD Instinct MI300X",
    "mi300a": "AMD Instinct MI300A",
}
VERSIONS = ("580.105.8", "580.105.9", "570.124.6")


def card(chance: random.Random, kind: str, version: str, number: int) -> Json:
    uuid = "".join(chance.choice("0123456789abcdef") for _ in range(8))
    attributes: dict[str, Any] = {
        "productName": {"string": KINDS[kind]},
        "type": {"string": "gpu"},
        "index": {"int": number},
        "uuid": {"string": f"GPU-{uuid}"},
        "driverVersion": {"version": version},
        "numaNode": {"int": chance.choice((-1, 0, 1))},
        "resource.kubernetes.io/pcieRoot": {
            "string": f"pci0000:{chance.randrange(256):02x}"
        },
    }
    return device(
        f"gpu-{number}", attributes=attributes, capacity={"memory": {"value": "80Gi"}}
    )


def port(chance: random.Random, number: int) -> Json:
    policy = {"default": "1G", "validRange": {"min": "1G"}}
    return device(
        f"nic-{number}",
        allowMultipleAllocations=True,
        attributes={
            "ifName": {"string": f"eth{number}"},
            "rdma": {"bool": chance.random() < 0.95},
            "linkSpeed": {"int": chance.choice((100, 200, 400))},
        },
        capacity={"speed": {"value": "10G", "requestPolicy": policy}},
    )


def cluster(seed: int) -> list[Json]:
    """Up to five kinds of nodes in very different numbers, some in use, some upgraded."""
    chance = random.Random(seed)
    made: list[Json] = [
        {"kind": "Namespace", "metadata": {"name": "default"}},
        device_class("gpu", is_driver(GPU)),
        device_class("nic", is_driver(NIC), extendedResourceName="example.com/nic"),
        device_class("part", is_driver(PART)),
        template("fine"),
        pod("new", resourceClaimTemplateName="fine"),
    ]
    kinds = chance.sample(sorted(KINDS), chance.randint(1, 5))
    number = 0
    for kind in kinds:
        for _ in range(chance.choice((1, 2, 5, 30))):
            number += 1
            name = f"n{number}"
            version = chance.choices(VERSIONS, (20, 2, 1))[0]
            cards = [card(chance, kind, version, place) for place in range(4)]
            ports = [port(chance, place) for place in range(2)]
            made += [
                node(name, **{"node.kubernetes.io/instance-type": kind}),
                piece(f"{name}-a", *cards[:2], pool=name, nodeName=name, of=2),
                piece(f"{name}-b", *cards[2:], pool=name, nodeName=name, of=2),
                piece(f"{name}-nic", *ports, pool=name, nodeName=name, driver=NIC),
                *(parts(name)),
                *_workloads(chance, name),
            ]
    return made


def _workloads(chance: random.Random, name: str) -> list[Json]:
    found: list[Json] = []
    for place in range(4):
        if chance.random() < 0.4:
            found += running(f"{name}-g{place}", f"gpu-{place}", on=name)
    for share, speed in (("a", "4G"), ("b", "6G")):
        if chance.random() < 0.5:
            consumed = {"shareID": share, "consumedCapacity": {"speed": speed}}
            claim = f"{name}-{share}"
            found += running(claim, "nic-0", on=name, driver=NIC, **consumed)
    if chance.random() < 0.5:
        part = chance.choice((["full"], ["half-a"], ["half-a", "half-b"]))
        found += running(f"{name}-part", *part, on=name, driver=PART)
    return found


@pytest.mark.parametrize("seed", range(24))
def test_nothing_is_found_in_a_clean_cluster(seed: int) -> None:
    assert found_in(*cluster(seed)) == []


@pytest.mark.parametrize("seed", range(8))
def test_nothing_is_found_when_workloads_come_and_go(seed: int) -> None:
    whole = cluster(seed)
    idle = [o for o in whole if o["kind"] not in ("ResourceClaim", "Pod")]
    assert after(whole, idle, whole) == []


@pytest.mark.parametrize("seed", range(8))
def test_a_rolling_upgrade_to_another_version_of_a_driver_is_no_fault(
    seed: int,
) -> None:
    before, upgraded = cluster(seed), cluster(seed)
    for made in upgraded:
        if made["kind"] == "ResourceSlice":
            made["spec"]["pool"] = {**made["spec"]["pool"], "generation": 2}
            for one in made["spec"].get("devices") or ():
                if "driverVersion" in one.get("attributes", {}):
                    one["attributes"]["driverVersion"] = {"version": "590.1.0"}
    assert after(before, upgraded) == []


def of_group(name: str, *, status: bool) -> list[Json]:
    """A pod group and the claim that was made for it from a template."""
    owner = {"kind": "PodGroup", "name": name, "uid": f"uid-{name}"}
    made = claim(f"{name}-fine")
    made["metadata"]["ownerReferences"] = [owner]
    named = [{"name": "c", "resourceClaimName": f"{name}-fine"}] if status else []
    group: Json = {
        "kind": "PodGroup",
        "metadata": {"name": name, "namespace": "default", "uid": f"uid-{name}"},
        "spec": {
            "resourceClaims": [{"name": "c", "resourceClaimTemplateName": "fine"}]
        },
        "status": {"resourceClaimStatuses": named},
    }
    return [group, made]


@pytest.mark.parametrize("status", [False, True])
def test_a_claim_that_was_made_for_a_pod_group_does_not_wait_for_a_pod(
    status: bool,
) -> None:
    assert found_in(*clean(), *of_group("g", status=status)) == []


def test_a_claim_whose_pod_group_went_waits_for_one_that_uses_it() -> None:
    group, made = of_group("g", status=False)
    whole = [*clean(), group, made]

    (found,) = after(whole, [*clean(), made])
    assert found.code == Code.CLAIM_UNUSED
    assert after([*clean(), made], whole) == []


def test_names_that_differ_little_and_stand_on_one_device_are_two_things() -> None:
    cluster = clean()
    gpus = [
        gpu
        for slice_ in cluster
        if slice_["metadata"]["name"].endswith("-gpu")
        for gpu in slice_["spec"]["devices"]
    ]
    for gpu in gpus:
        gpu["attributes"]["rxQueues"] = {"int": 8}
    gpus[0]["attributes"]["txQueues"] = {"int": 8}
    assert found_in(*cluster) == []

    del gpus[0]["attributes"]["rxQueues"]
    (found,) = found_in(*cluster)
    assert found.code == Code.ATTRIBUTE_UNCOMMON
