"""Who uses the devices: running pods with claims, and claims that wait.

Running pods take devices first-fit from what :class:`MadeNode` says is free, a
share of each node, so that every waiting claim that should fit does fit.
"""

from __future__ import annotations

from typing import Any, Final

from cluster.standin.generator import catalog, devices
from cluster.standin.generator.allocations import (
    node_selector,
    placements,
    reserved,
    result,
)
from cluster.standin.generator.base import DRA_V1, Maker, owner
from cluster.standin.generator.nodes import MadeNode
from cluster.standin.generator.waiting import WAITING

Json = dict[str, Any]

FINALIZER: Final = "resource.kubernetes.io/delete-protection"
POD_CLAIM_NAME: Final = "resource.kubernetes.io/pod-claim-name"
_HOUR: Final = 60.0
_H100_USE: Final = (7, 6, 6, 7, 5, 4, 3, 2)
"""GPUs taken on the first, second … H100 node, then again from the start."""
_MI300X_USE: Final = (5, 3, 6, 2)
_A100_PLANS: Final = (
    ((None,), ("1g.5gb",) * 5, ("3g.20gb", "3g.20gb"), ()),
    (("7g.40gb",), ("2g.10gb", "2g.10gb"), ("1g.5gb",) * 3, ()),
    (("3g.20gb",), ("2g.10gb",), (None,), ("1g.5gb",) * 2),
)
"""What runs on the four GPUs of an A100 node: the full GPU, or partitions."""
_JOBS: Final = (
    ("team-a", "llama-finetune", "trainer:2.4"),
    ("team-a", "vision-pretrain", "trainer:2.4"),
    ("research", "diffusion-sweep", "sweep:0.9"),
    ("research", "protein-fold", "fold:3.1"),
    ("team-b", "speech-train", "trainer:2.3"),
)
_PROFILE_TEMPLATES: Final = {
    "1g.5gb": "mig-small",
    "2g.10gb": "mig-medium",
    "3g.20gb": "mig-half",
    "7g.40gb": "mig-whole",
}
_SERVICES: Final = (
    ("inference", "chat-serving", "server:1.12"),
    ("inference", "embedding-serving", "server:1.12"),
    ("team-b", "notebook", "notebook:7.2"),
    ("team-b", "whisper-serving", "server:1.11"),
)


class Workloads:
    """Adds the pods and claims of a cluster."""

    def __init__(self, maker: Maker, nodes: list[MadeNode]) -> None:
        self._maker = maker
        self._nodes = nodes
        self._count: dict[tuple[str, str], int] = {}
        self._templates = {(space, name) for space, name, _ in catalog.TEMPLATES}

    def add(self) -> None:
        for node in self._nodes:
            if node.kind == "h100":
                self._on_h100(node)
            elif node.kind == "a100" and node.free[devices.NVIDIA]:
                self._on_a100(node)
            elif node.kind == "mi300x":
                self._on_mi300x(node)
            self._on_cpus(node)
        self._shared_claim()
        self._monitoring()
        self._waiting()

    # --- running ----------------------------------------------------------

    def _on_h100(self, node: MadeNode) -> None:
        left = _H100_USE[(node.number - 1) % len(_H100_USE)]
        while left > 0:
            count = min(left, self._maker.random.choice((1, 2, 2, 4)))
            left -= count
            gpus = [node.free[devices.NVIDIA].pop(0) for _ in range(count)]
            if count == 1:
                self._gpu_and_nic(node, gpus[0])
                continue
            names = [gpu["name"] for gpu in gpus]
            request = catalog.exactly("gpus", "gpu.nvidia.com", count=count)
            results = [result("gpus", devices.NVIDIA, node.name, n) for n in names]
            template = {2: "two-gpus"}.get(count, f"gpus-x{count}")
            self._run(_JOBS, node, {"requests": [request]}, results, "gpus", template)

    def _gpu_and_nic(self, node: MadeNode, gpu: Json) -> None:
        root = gpu["attributes"][devices.PCIE_ROOT]
        nics = node.free[devices.NET]
        nic = next(n for n in nics if n["attributes"][devices.PCIE_ROOT] == root)
        nics.remove(nic)
        results = [
            result("gpu", devices.NVIDIA, node.name, gpu["name"]),
            result("nic", devices.NET, node.name, nic["name"]),
        ]
        wanted = catalog.TEMPLATES[2][2]
        self._run(_JOBS, node, wanted, results, "devices", "gpu-with-nic")

    def _on_a100(self, node: MadeNode) -> None:
        plan = _A100_PLANS[(node.number - 1) % len(_A100_PLANS)]
        for index, wanted in enumerate(plan):
            if not wanted:
                continue
            if wanted[0] is None:
                request = catalog.exactly("gpu", "shared-gpu.example.com")
                results = [result("gpu", devices.NVIDIA, node.name, f"gpu-{index}")]
                asked: Json = {"requests": [request]}
                self._run(_SERVICES, node, asked, results, "gpu", "shared-gpu")
                continue
            names = placements(node, index, wanted)
            for profile, name in zip(wanted, names, strict=True):
                request = catalog.exactly(
                    "part", "mig.nvidia.com", selectors=catalog.profile(str(profile))
                )
                results = [result("part", devices.NVIDIA, node.name, name)]
                asked = {"requests": [request]}
                template = _PROFILE_TEMPLATES.get(str(profile), f"mig-{profile}")
                self._run(_SERVICES, node, asked, results, "part", template)

    def _on_mi300x(self, node: MadeNode) -> None:
        for _ in range(_MI300X_USE[(node.number - 1) % len(_MI300X_USE)]):
            gpu = node.free[devices.AMD].pop(0)
            wanted = {"requests": [catalog.exactly("gpu", "gpu.amd.com")]}
            results = [result("gpu", devices.AMD, node.name, gpu["name"])]
            self._run(_JOBS[2:4], node, wanted, results, "gpu", "one-mi300x")

    def _on_cpus(self, node: MadeNode) -> None:
        count = self._maker.random.choice((1, 2, 3)) if node.kind == "cpu" else 0
        for number in range(count):
            size = self._maker.random.choice((16, 24, 32))
            request = catalog.exactly("cpus", "dra.cpu", capacity=catalog.cpus(size))
            share: Json = {
                "shareID": self._maker.uid(),
                "consumedCapacity": {"dra.cpu/cpu": str(size)},
            }
            device = node.free[devices.CPU][number % 2]["name"]
            results = [result("cpus", devices.CPU, node.name, device, **share)]
            wanted = {"requests": [request]}
            self._run(_SERVICES[:2], node, wanted, results, "cpus", f"cpus-{size}")

    def _run(
        self,
        owners: tuple[tuple[str, str, str], ...],
        node: MadeNode,
        wanted: Json,
        results: list[Json],
        entry: str,
        template: str,
    ) -> None:
        """One running pod with a claim of its own that holds ``results``."""
        maker = self._maker
        namespace, app, image = maker.random.choice(owners)
        name = self._pod_name(namespace, app)
        age = maker.random.choice(
            (
                maker.random.uniform(4, 55),
                maker.random.uniform(1, 20) * _HOUR,
                maker.random.uniform(1, 8) * 24 * _HOUR,
            )
        )
        claim_name = f"{name}-{entry}-{maker.suffix()}"
        pod = self._pod(
            namespace,
            name,
            node=node.name,
            age=age,
            image=image,
            refs=[{"name": entry, "resourceClaimTemplateName": template}],
            statuses=[{"name": entry, "resourceClaimName": claim_name}],
        )
        self._template(namespace, template, wanted, age)
        allocated = self._allocation(node.name, results, wanted, age)
        self._claim(
            namespace,
            claim_name,
            wanted,
            age=age,
            meta={
                "generateName": f"{name}-{entry}-",
                "annotations": {POD_CLAIM_NAME: entry},
                "ownerReferences": [owner(pod)],
                "finalizers": [FINALIZER],
            },
            status={"allocation": allocated, "reservedFor": [reserved(pod)]},
        )

    def _pod_name(self, namespace: str, app: str) -> str:
        number = self._count.get((namespace, app), 0)
        self._count[namespace, app] = number + 1
        return f"{app}-{number}"

    def _template(self, namespace: str, name: str, wanted: Json, age: float) -> None:
        if (namespace, name) in self._templates:
            return
        self._templates.add((namespace, name))
        spec = {"spec": {"devices": wanted}}
        self._maker.add(
            DRA_V1,
            "ResourceClaimTemplate",
            name,
            namespace=namespace,
            minutes=age + 30 * 24 * _HOUR,
            spec=spec,
        )

    # --- single objects ---------------------------------------------------

    def _pod(
        self,
        namespace: str,
        name: str,
        *,
        age: float,
        image: str,
        refs: list[Json],
        statuses: list[Json] | None = None,
        node: str = "",
        waits: str = "",
    ) -> Json:
        """A running pod, or one that waits with the scheduler's message ``waits``."""
        started = self._maker.ago(max(age - 0.2, 0))
        container = {
            "name": "main",
            "image": f"registry.example.com/{image}",
            "resources": {"claims": [{"name": ref["name"]} for ref in refs]},
        }
        spec: Json = {"containers": [container], "resourceClaims": refs}
        status: Json = {"phase": "Pending"}
        if node:
            spec["nodeName"] = node
            ready = {
                "type": "Ready",
                "status": "True",
                "lastTransitionTime": started,
            }
            status = {"phase": "Running", "conditions": [ready], "startTime": started}
        elif waits:
            status["conditions"] = [
                {
                    "type": "PodScheduled",
                    "status": "False",
                    "reason": "Unschedulable",
                    "message": waits,
                    "lastTransitionTime": started,
                }
            ]
        if statuses:
            status["resourceClaimStatuses"] = statuses
        return self._maker.add(
            "v1",
            "Pod",
            name,
            namespace=namespace,
            minutes=age,
            meta={"labels": {"app.kubernetes.io/name": name.rpartition("-")[0]}},
            spec=spec,
            status=status,
        )

    def _claim(
        self,
        namespace: str,
        name: str,
        wanted: Json,
        *,
        age: float,
        meta: Json | None = None,
        status: Json | None = None,
    ) -> Json:
        return self._maker.add(
            DRA_V1,
            "ResourceClaim",
            name,
            namespace=namespace,
            minutes=age,
            meta=meta,
            spec={"devices": wanted},
            status=status or {},
        )

    def _allocation(
        self, node: str, results: list[Json], wanted: Json, age: float
    ) -> Json:
        allocated: Json = {"devices": {"results": results}}
        shared = [
            request["name"]
            for request in wanted["requests"]
            if request.get("exactly", {}).get("deviceClassName")
            == "shared-gpu.example.com"
        ]
        if shared:
            entry = {"source": "FromClass", "requests": shared, **catalog.TIME_SLICING}
            allocated["devices"]["config"] = [entry]
        allocated["nodeSelector"] = node_selector(node)
        allocated["allocationTimestamp"] = self._maker.ago(max(age - 0.1, 0))
        return allocated

    # --- special cases ----------------------------------------------------

    def _shared_claim(self) -> None:
        """One claim that two notebooks use together; one that is being deleted."""
        node = next(
            (n for n in self._nodes if n.kind == "h100" and n.number == 1), None
        )
        if node is None or not node.free[devices.NVIDIA]:
            return
        gpu = node.free[devices.NVIDIA].pop(0)
        wanted = {"requests": [catalog.exactly("gpu", "gpu.nvidia.com")]}
        results = [result("gpu", devices.NVIDIA, node.name, gpu["name"])]
        refs = [{"name": "gpu", "resourceClaimName": "notebooks-gpu"}]
        pods = [
            self._pod(
                "research",
                f"notebook-{person}",
                node=node.name,
                age=age * _HOUR,
                image="notebook:7.2",
                refs=refs,
            )
            for person, age in (("ada", 7), ("grace", 3))
        ]
        self._claim(
            "research",
            "notebooks-gpu",
            wanted,
            age=26 * _HOUR,
            meta={
                "finalizers": [FINALIZER],
                "deletionTimestamp": self._maker.ago(40),
                "deletionGracePeriodSeconds": 0,
            },
            status={
                "allocation": self._allocation(node.name, results, wanted, 7 * _HOUR),
                "reservedFor": [reserved(pod) for pod in pods],
            },
        )

    def _monitoring(self) -> None:
        """A health exporter with admin access: it sees devices that others hold."""
        node = next((n for n in self._nodes if n.kind == "h100"), None)
        if node is None:
            return
        request = catalog.exactly("all-gpus", "gpu.nvidia.com", adminAccess=True)
        request["exactly"] |= {"allocationMode": "All"}
        del request["exactly"]["count"]
        wanted = {"requests": [request]}
        results = [
            result("all-gpus", devices.NVIDIA, node.name, f"gpu-{i}", adminAccess=True)
            for i in range(8)
        ]
        pod = self._pod(
            "monitoring",
            "gpu-health-exporter-0",
            node=node.name,
            age=9 * 24 * _HOUR,
            image="gpu-health:1.0",
            refs=[{"name": "gpus", "resourceClaimName": "gpu-health"}],
        )
        age = 9 * 24 * _HOUR
        self._claim(
            "monitoring",
            "gpu-health",
            wanted,
            age=age,
            meta={"finalizers": [FINALIZER]},
            status={
                "allocation": self._allocation(node.name, results, wanted, age),
                "reservedFor": [reserved(pod)],
            },
        )

    def _waiting(self) -> None:
        """Claims that nobody has allocated yet; two of them have a pod that waits."""
        for namespace, name, age, wanted in WAITING:
            self._claim(namespace, name, wanted, age=age)
        total = len(self._nodes)
        message = f"0/{total} nodes are available: {total} cannot allocate all claims."
        for namespace, name, claim, age in (
            ("research", "blackwell-bench-0", "blackwell-preview", 205.0),
            ("team-b", "mega-train-0", "mega-train-16gpu", 48.0),
        ):
            self._pod(
                namespace,
                name,
                age=age,
                image="bench:0.3",
                refs=[{"name": "gpus", "resourceClaimName": claim}],
                waits=message,
            )
