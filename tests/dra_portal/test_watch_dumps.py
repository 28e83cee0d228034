"""The watch of dumps, and that there is one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from claims.models import Pod, ResourceClaim
from cluster.standin.generator import generate
from cluster.standin.server import StandinServer
from dra_portal.watching import Watching
from inventory.models import Cluster, Device
from tests.dra_portal.watched import (
    ALL,
    FAST,
    OPTIONS,
    clusters_of,
    equal,
    eventually,
    states,
    watch,
    write_clusters,
)
from tests.inventory.mirror.worlds import (
    claim,
    make,
    slice_,
)

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def server() -> Iterator[StandinServer]:
    with StandinServer(served=ALL) as standin:
        yield standin


# --- dumps ---------------------------------------------------------------------------


def write_dump(path: Path, *objects: dict[str, Any]) -> None:
    dump = {"apiVersion": "v1", "kind": "List", "items": list(objects)}
    path.write_text(json.dumps(dump), encoding="utf-8")


def test_a_dump_is_read_and_read_again_when_it_changes(tmp_path: Path) -> None:
    dump = tmp_path / "dump.json"
    write_dump(dump, slice_("a"), claim("c", "gpu-0"))
    path = write_clusters(tmp_path, "- {name: file, dump: [dump.json]}\n")
    with watch(path):
        eventually(lambda: set(states("file").values()) == {"static"})
        assert Device.objects.get(name="gpu-0").state == "in use"
        # Somebody edits the file and leaves the resourceVersion as it is.
        write_dump(dump, slice_("a", devices=["gpu-0", "gpu-1", "gpu-2"]))
        eventually(lambda: Device.objects.count() == 3)
        eventually(lambda: not ResourceClaim.objects.exists())
    cluster = Cluster.objects.get()
    assert (cluster.read_only, cluster.source) == (True, "dump")
    assert cluster.origin == "dump.json"


def test_a_broken_dump_is_one_sentence_until_it_is_mended(tmp_path: Path) -> None:
    dump = tmp_path / "dump.json"
    dump.write_text('{"kind": "List", "items": [', encoding="utf-8")
    path = write_clusters(tmp_path, "- {name: file, dump: [dump.json]}\n")
    with watch(path):
        eventually(lambda: "dump.json" in Cluster.objects.get().error)
        write_dump(dump, slice_("a"))
        eventually(lambda: Cluster.objects.get().error == "")
        assert Device.objects.count() == 2


def test_items_of_a_dump_that_are_left_out_are_told(tmp_path: Path) -> None:
    write_dump(tmp_path / "dump.json", slice_("a"), {"kind": "Node"})
    path = write_clusters(tmp_path, "- {name: file, dump: [dump.json]}\n")
    with watch(path):
        eventually(lambda: Cluster.objects.get().error != "")
    assert Cluster.objects.get().error.startswith("1 item was left out: dump.json")
    assert Device.objects.count() == 2


# --- once ----------------------------------------------------------------------------


def test_once_lists_everything_and_returns(
    server: StandinServer, tmp_path: Path
) -> None:
    server.store.load(generate(nodes=2))
    watching = Watching(clusters_of(server, tmp_path), times=FAST, options=OPTIONS)
    assert watching.run_once() == []
    equal(server)()
    assert set(states().values()) == {"stopped"}


def test_once_tells_what_failed(tmp_path: Path) -> None:
    text = "- {name: a, kubeconfig: not-there}\n- {name: b, dump: [nothing.json]}\n"
    failures = Watching(write_clusters(tmp_path, text)).run_once()
    assert [failure.partition(":")[0] for failure in failures] == ["a", "b"]


def test_pods_are_listed_anew_when_a_class_begins_to_serve_what_they_ask_for(
    server: StandinServer, tmp_path: Path
) -> None:
    resources = {"limits": {"example.com/gpu": "1"}}
    containers = [{"name": "c", "resources": resources}]
    server.store.put(make("Pod", "p", "default", spec={"containers": containers}))
    serving = make("DeviceClass", "gpus", spec={"extendedResourceName": "none/none"})
    with watch(clusters_of(server, tmp_path)):
        eventually(lambda: set(states().values()) == {"live"})
        server.store.put(serving)
        assert not Pod.objects.exists()
        serving["spec"] = {"extendedResourceName": "example.com/gpu"}
        server.store.put(serving)
        eventually(Pod.objects.exists)
        server.store.delete("DeviceClass", "gpus")
        eventually(lambda: not Pod.objects.exists())
