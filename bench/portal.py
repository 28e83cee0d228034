"""One cluster size in a process of its own: read a dump, mirror it, show every page.

    python -m bench.portal NODES DIRECTORY

Prints nothing but the table; SQLite lives in DIRECTORY.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from urllib.parse import quote

import django
from django.core.management import call_command

from bench.table import Figure, milliseconds, peak_megabytes, show

BUDGET = 300.0
"""What a page may take on the server, in milliseconds (200 nodes)."""

HOPPER = (
    'device.driver == "gpu.nvidia.com" && '
    'device.attributes["gpu.nvidia.com"].architecture == "Hopper"'
)

PAGES = [
    ("overview", "/c/bench/"),
    ("overview: classes card", "/c/bench/classes-card/"),
    ("nodes", "/c/bench/nodes/"),
    ("device map", "/c/bench/map/"),
    ("pools", "/c/bench/pools/"),
    ("slices", "/c/bench/slices/"),
    ("devices", "/c/bench/devices/"),
    (
        "devices, free ones with H100 in any attribute",
        "/c/bench/devices/?state=free&q=H100",
    ),
    ("devices, by CEL", f"/c/bench/devices/?cel={quote(HOPPER)}"),
    ("CEL page", f"/c/bench/cel/?expression={quote(HOPPER)}"),
    ("catalog of the CEL editor", "/c/bench/cel/catalog/"),
    ("classes", "/c/bench/classes/"),
    ("claims", "/c/bench/claims/"),
    ("claims, pending", "/c/bench/claims/?state=pending"),
    ("templates", "/c/bench/templates/"),
    ("pods", "/c/bench/pods/"),
    ("runs", "/c/bench/runs/"),
    ("what-if: the builder", "/c/bench/what-if/"),
    ("search", "/c/bench/search/?q=00017"),
    ("clusters", "/clusters/"),
    ("API: devices, 100 a page", "/api/v1/devices/?cluster=bench"),
    (
        "API: devices by CEL, 100 a page",
        f"/api/v1/devices/?cluster=bench&cel={quote(HOPPER)}",
    ),
    ("API: claims, 100 a page", "/api/v1/claims/?cluster=bench"),
]


def make_dump(nodes: int, path: Path) -> float:
    """Write a dump of the demo's cluster with ``nodes`` nodes; its size in MB."""
    from cluster.standin.generator import generate

    items = generate(nodes=nodes, seed=1)
    for number, item in enumerate(items, start=1):
        item["metadata"].setdefault("resourceVersion", str(number))
    with path.open("w", encoding="utf-8") as out:
        json.dump({"apiVersion": "v1", "kind": "List", "items": items}, out)
    return path.stat().st_size / 1e6


def detail_pages() -> list[tuple[str, str]]:
    """One page of each kind of object: the first by name."""
    from claims.models import Pod, ResourceClaim, ResourceClaimTemplate
    from inventory.models import Device, DeviceClass, Node, Pool, ResourceSlice

    found = []
    if node := Node.objects.order_by("name").first():
        found.append(("node", f"/c/bench/nodes/{node.name}/"))
    if pool := Pool.objects.order_by("-device_count").first():
        found.append(
            ("pool (the largest)", f"/c/bench/pools/{pool.driver}/{pool.name}/")
        )
    if piece := ResourceSlice.objects.order_by("-device_count").first():
        found.append(("slice (the largest)", f"/c/bench/slices/{piece.name}/"))
    if device := Device.objects.filter(state="in use").first():
        key = f"{device.driver}/{device.pool}/{device.name}"
        found.append(("device (in use)", f"/c/bench/devices/{key}/"))
    if cls := DeviceClass.objects.order_by("name").first():
        found.append(("class", f"/c/bench/classes/{cls.name}/"))
    pending = ResourceClaim.objects.filter(state="pending").order_by("name").first()
    if pending:
        key = f"{pending.namespace}/{pending.name}"
        found.append(("claim (pending)", f"/c/bench/claims/{key}/"))
        found.append(("claim: why it waits", f"/c/bench/claims/{key}/why/"))
    if template := ResourceClaimTemplate.objects.first():
        key = f"{template.namespace}/{template.name}"
        found.append(("template", f"/c/bench/templates/{key}/"))
    if pod := Pod.objects.first():
        found.append(("pod", f"/c/bench/pods/{pod.namespace}/{pod.name}/"))
    return found


def main() -> None:
    nodes, directory = int(sys.argv[1]), Path(sys.argv[2])
    dump = directory / "dump.json"
    size = make_dump(nodes, dump)
    clusters = directory / "clusters.yaml"
    clusters.write_text(f"clusters: [{{name: bench, dump: [{dump}]}}]\n", "utf-8")
    figures = []

    plain = milliseconds(lambda: json.loads(dump.read_bytes()), times=1, warm=0)
    started = time.perf_counter()
    call_command("watch", once=True, verbosity=0)
    spent = (time.perf_counter() - started) * 1000
    figures.append(
        Figure(
            "read the dump into the tables",
            spent,
            plain,
            "json.loads alone",
            peak_megabytes(),
        )
    )

    from allocator import snapshots
    from inventory.models import Cluster

    cluster = Cluster.objects.get(name="bench")
    started = time.perf_counter()
    snapshots.current(cluster)
    spent = (time.perf_counter() - started) * 1000
    figures.append(
        Figure("rows → snapshot", spent, plain, "json.loads alone", peak_megabytes())
    )
    show(f"{nodes} nodes, dump of {size:.0f} MB", figures)

    from django.contrib.auth.models import User
    from django.test import Client

    client = Client()
    client.force_login(User.objects.create_superuser("bench"))
    pages = []
    for name, address in PAGES + detail_pages():
        answer = client.get(address)
        assert answer.status_code == 200, (address, answer.status_code)
        spent = milliseconds(lambda address=address: client.get(address))  # type: ignore[misc]  # bound now
        pages.append(Figure(name, spent, BUDGET, "budget", peak_megabytes()))
    show(f"{nodes} nodes: server time of every page (SQLite)", pages)


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dra_portal.settings")
    django.setup()
    from django.conf import settings

    settings.ALLOWED_HOSTS.append("testserver")
    call_command("migrate", verbosity=0)
    main()
