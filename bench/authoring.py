"""Writing a claim on a large site: what each pause of typing costs the server.

    python -m bench.authoring NODES

The cluster is that of ``bench.mixed``: 18 devices a node, hardly two nodes alike. The
budgets are those of the design; a preview is a new question each time, as it is when
somebody types, and nothing that was remembered of earlier ones helps.
"""

from __future__ import annotations

import os
import random
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final

import django

from bench import clusters, mixed
from bench.clusters import DRIVER, Json, claim, exactly
from bench.editor import rounds
from bench.mixed import NICS, NUMA
from bench.table import Figure, peak_megabytes, show
from dra.allocation.groups import forget_answers
from dra.objects import Device, ResourceClaim, write
from dra.snapshot import Snapshot

VALIDATE: Final = 20.0
PREVIEW: Final = 250.0
RELAXED: Final = 2000.0
"""Budgets, in milliseconds."""
TIMES: Final = 40
CUT_NODES: Final = 30
"""Nodes with partitioned GPUs: 456 devices each."""
CUT: Final = 'device.attributes["gpu.nvidia.com"]'
ROOT: Final = "resource.kubernetes.io/pcieRoot"
_GPU: Final = f'device.attributes["{DRIVER}"]'
_NIC: Final = f'device.attributes["{NICS}"]'
_HOPPER: Final = f'{_GPU}.architecture == "Hopper"'


def request(name: str, cls: str, count: int, expression: str = "", **more: Any) -> Json:
    exactly: Json = {"deviceClassName": f"{cls}.example.com", "count": count} | more
    if expression:
        exactly["selectors"] = [{"cel": {"expression": expression}}]
    return {"name": name, "exactly": {"allocationMode": "ExactCount"} | exactly}


def same(attribute: str) -> list[Json]:
    return [{"matchAttribute": attribute}]


CLAIMS: Final[dict[str, ResourceClaim]] = {
    "fits: 4 GPUs on one NUMA node": claim(
        request("gpus", "gpu", 4, _HOPPER), constraints=same(NUMA)
    ),
    "fits nowhere: 5 GPUs on one NUMA node": claim(
        request("gpus", "gpu", 5, _HOPPER), constraints=same(NUMA)
    ),
    "matches nothing": claim(
        request("gpu", "gpu", 1, f'{_GPU}.architecture == "Blackwell"')
    ),
    "GPU and card on one PCIe root": claim(
        request("gpu", "gpu", 1, _HOPPER),
        request("nic", "nic", 1, f"{_NIC}.rdma"),
        constraints=same(ROOT),
    ),
    "2 GPUs, each with a card on its root": claim(
        *(request(f"gpu{n}", "gpu", 1) for n in range(2)),
        *(request(f"nic{n}", "nic", 1) for n in range(2)),
        constraints=[
            {"matchAttribute": ROOT, "requests": [f"gpu{n}", f"nic{n}"]}
            for n in range(2)
        ],
    ),
    "a share of CPUs": claim(
        request("cpus", "cpu", 1, capacity={"requests": {"cpus": "7"}})
    ),
    "two shares of CPUs": claim(
        *(
            request(f"cpus{n}", "cpu", 1, capacity={"requests": {"cpus": "7"}})
            for n in range(2)
        )
    ),
    "all GPUs of a node": claim(
        {
            "name": "all",
            "exactly": {
                "deviceClassName": "gpu.example.com",
                "allocationMode": "All",
                "selectors": [{"cel": {"expression": _HOPPER}}],
            },
        }
    ),
}


def figures(
    what: str, budget: float, work: Callable[[], object], times: int = TIMES
) -> list[Figure]:
    """The median and the 95th percentile of ``times`` runs after one unmeasured."""
    work()
    spent = []
    for _ in range(times):
        started = time.perf_counter()
        work()
        spent.append((time.perf_counter() - started) * 1000)
    ninety_fifth = statistics.quantiles(spent, n=20)[-1]
    memory = peak_megabytes()
    return [
        Figure(f"{what}, median", statistics.median(spent), budget, "budget", memory),
        Figure(f"{what}, p95", ninety_fifth, budget, "budget", memory),
    ]


def validating(snapshot: Snapshot) -> list[Figure]:
    from claims.authoring.checking import checked, gates_of
    from dra.validation import Request, validate
    from dra.validation.advice import advise
    from inventory.models import Cluster

    cluster = Cluster(pk=1, name="bench", version="v1.36.2")
    gates = gates_of(cluster)
    found = []
    for what in (
        "fits: 4 GPUs on one NUMA node",
        "GPU and card on one PCIe root",
    ):
        obj = {
            "apiVersion": "resource.k8s.io/v1",
            "kind": "ResourceClaim",
            "metadata": {"name": "draft", "namespace": "default"},
            "spec": write(CLAIMS[what].spec),
        }
        asked = Request("ResourceClaim", obj, features=gates)
        found += figures(f"validate alone ({what})", VALIDATE, partial(validate, asked))
        found += figures(
            f"advise alone ({what})",
            VALIDATE,
            partial(advise, obj, snapshot, features=gates),
        )
        found += figures(
            f"validate and advise ({what})",
            VALIDATE,
            partial(checked, cluster, snapshot, obj),
        )
    return found


def parts(profiles: Sequence[str]) -> ResourceClaim:
    """A part of a GPU for each profile, each two of one GPU."""
    return claim(
        *(
            exactly(f"p{n}", "mig.nvidia.com", 1, f'{CUT}.profile == "{profile}"')
            for n, profile in enumerate(profiles)
        ),
        constraints=[
            {
                "matchAttribute": "gpu.nvidia.com/parentUUID",
                "requests": [f"p{n}", f"p{n + 1}"],
            }
            for n in range(0, len(profiles), 2)
        ],
    )


def _devices(snapshot: Snapshot) -> list[Device]:
    """Those of one node; the others have the same."""
    return list(next(iter(snapshot.pools.values())).devices())


def partitioned() -> list[Figure]:
    """Counters make each node one that has to be looked at."""
    from claims.authoring import previewing
    from inventory.models import Cluster

    cluster = Cluster(pk=1, name="bench", version="v1.36.2")
    snapshot = clusters.snapshot("mig", CUT_NODES)
    chance = random.Random(1)
    names = [device.name for device in _devices(snapshot) if "-mig-" in device.name]
    snapshot = snapshot.edit(
        add=[
            clusters.held(
                number, *({"device": name} for name in chance.sample(names, 3))
            )
            for number in range(CUT_NODES)
        ]
    )
    wanted = parts(("3g.71gb", "2g.35gb", "1g.18gb", "1g.18gb"))

    def preview() -> None:
        previewing.forget()
        forget_answers()
        previewing.previewed(cluster, snapshot, [wanted])

    what = f"preview (4 parts of 2 GPUs, {len(snapshot.devices()):,} devices)"
    return figures(what, PREVIEW, preview)


def previewing(snapshot: Snapshot) -> list[Figure]:
    from claims.authoring import previewing
    from inventory.models import Cluster

    cluster = Cluster(pk=1, name="bench", version="v1.36.2")

    def preview(wanted: ResourceClaim, *, relax: bool = False) -> None:
        previewing.forget()
        forget_answers()
        previewing.previewed(cluster, snapshot, [wanted], relax=relax)

    found = []
    for what, wanted in CLAIMS.items():
        found += figures(f"preview ({what})", PREVIEW, partial(preview, wanted))
    for what in ("fits nowhere: 5 GPUs on one NUMA node", "matches nothing"):
        wanted = CLAIMS[what]
        found += figures(
            f"relaxations ({what})",
            RELAXED,
            partial(preview, wanted, relax=True),
            times=7,
        )
    return found


def main() -> None:
    nodes = int(sys.argv[1])
    snapshot = mixed.snapshot(nodes)
    devices = len(snapshot.devices())
    found = [
        *validating(snapshot),
        *previewing(snapshot),
        *partitioned(),
        *rounds(snapshot, CLAIMS),
    ]
    show(
        f"{nodes:,} nodes, {devices:,} devices: a draft at each pause of typing", found
    )


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dra_portal.settings")
    django.setup()
    main()
