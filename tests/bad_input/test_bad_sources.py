"""Dumps, kubeconfigs and servers that cannot be used: one sentence, and the others go on.

The real watch runs beside a healthy cluster, which has to be mirrored fully.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import partial
from html import unescape
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.core.management import CommandError, call_command
from django.db.models import QuerySet
from django.test import Client
from structlog.testing import capture_logs

from cluster.resources import RESOURCES
from cluster.standin.access import ADMIN, Rule, User
from cluster.standin.server import StandinServer
from inventory.models import Cluster, Device, WatchState
from tests.cluster.rude import RudeServer, response
from tests.dra_portal.watched import equal, eventually, states, watch, write_clusters
from tests.inventory.mirror.worlds import Json, claim, make, slice_

pytestmark = pytest.mark.django_db(transaction=True)

GOOD = "- {name: good, kubeconfig: good}\n"


def is_gone(rows: QuerySet[Cluster]) -> bool:
    return not rows.exists()


def settled(name: str) -> bool:
    """Nothing is being listed: the end of the watch would break it off, and say so."""
    connected = bool(Cluster.objects.get(name=name).version)
    return not connected or not {"starting", "listing"} & {*states(name).values()}


@pytest.fixture
def server(tmp_path: Path) -> Iterator[StandinServer]:
    with StandinServer([make("Node", "n"), slice_("s"), claim("c", "gpu-0")]) as good:
        good.write_kubeconfig(tmp_path / "good")
        yield good


def log_of(records: list[Any], cluster: str) -> list[str]:
    """Warnings and worse about one cluster."""
    return [
        str(r.get("reason") or r.get("error") or r.get("problem") or r)
        for r in records
        if r["log_level"] in {"warning", "error", "critical"}
        and r.get("cluster") == cluster
    ]


def sentence_about(
    entry: str,
    server: StandinServer,
    folder: Path,
    client_of: Callable[..., Client],
    *,
    words: str,
    looks: int = 3,
) -> str:
    """Watch ``entry`` (named odd) beside the healthy cluster; what pages and log say."""
    path = write_clusters(folder, GOOD + entry)
    with capture_logs() as records, watch(path):
        eventually(lambda: words in Cluster.objects.get(name="odd").error)
        eventually(equal(server, "good"))
        for _ in range(looks):
            # It is tried again and again, and told once.
            row = Cluster.objects.get(name="odd")
            same = Cluster.objects.filter(name="odd", checked_at=row.checked_at)
            if row.source != "dump":
                eventually(partial(is_gone, same))
        for name in ("good", "odd"):
            eventually(partial(settled, name))
    error = Cluster.objects.get(name="odd").error
    assert "\n" not in error
    assert "Traceback" not in error
    (logged,) = log_of(records, "odd")
    assert error.endswith(logged)
    assert log_of(records, "good") == []
    viewer = client_of("viewer")
    for page in ("/clusters/", "/c/odd/", "/c/odd/devices/", "/c/odd/claims/"):
        answer = viewer.get(page)
        assert answer.status_code == 200
    for page in ("/clusters/", "/c/odd/"):
        assert words in unescape(viewer.get(page).content.decode())
    return error


# --- dumps ----------------------------------------------------------------------

NODE = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}}
CUT = json.dumps({"kind": "List", "items": [NODE, NODE]})[:-30]

DUMPS = {
    "no JSON": ('{"kind": }', "dump.json: line 1, column 10: not valid JSON"),
    "cut in the middle": (CUT, "dump.json: the file ends in the middle"),
    "no YAML": ("a: [1\nb: 2", "dump.json: "),
    "empty": ("", "dump.json is empty"),
    "only blanks": (" \n\n", "dump.json is empty"),
    "only a text": ("hello", "dump.json: not a Kubernetes object or List"),
    "a list of JSON": ("[1, 2]", "dump.json: not a Kubernetes object or List"),
    "no kind": ('{"apiVersion": "v1"}', "dump.json: not a Kubernetes object or List"),
    "items no list": ('{"kind": "List", "items": 4}', "dump.json: "),
    "binary": (bytes(range(128, 256)), "dump.json: "),
    "item without a name": (
        json.dumps({"kind": "List", "items": [{**NODE, "metadata": {}}]}),
        "1 item was left out: dump.json: items[0]: Node has no metadata.name",
    ),
    "item that is no object": (
        json.dumps({"kind": "List", "items": [7]}),
        "1 item was left out: dump.json: items[0]: ",
    ),
}


@pytest.mark.parametrize(("content", "words"), DUMPS.values(), ids=DUMPS)
def test_a_broken_dump(
    server: StandinServer,
    tmp_path: Path,
    client_of: Callable[..., Client],
    content: str | bytes,
    words: str,
) -> None:
    data = content if isinstance(content, bytes) else content.encode()
    (tmp_path / "dump.json").write_bytes(data)
    error = sentence_about(
        "- {name: odd, dump: [dump.json]}\n", server, tmp_path, client_of, words=words
    )
    assert str(tmp_path) not in error


def test_a_dump_that_is_missing(
    server: StandinServer, tmp_path: Path, client_of: Callable[..., Client]
) -> None:
    entry = "- {name: odd, dump: [gone.json]}\n"
    words = "gone.json: there is no such file"
    sentence_about(entry, server, tmp_path, client_of, words=words)


def test_of_two_dumps_one_is_broken(
    server: StandinServer, tmp_path: Path, client_of: Callable[..., Client]
) -> None:
    (tmp_path / "fine.json").write_text(json.dumps(NODE))
    (tmp_path / "bad.json").write_text("{")
    entry = "- {name: odd, dump: [fine.json, bad.json]}\n"
    sentence_about(entry, server, tmp_path, client_of, words="bad.json: ")


def test_a_dump_of_foreign_kinds_is_no_problem(
    server: StandinServer, tmp_path: Path, client_of: Callable[..., Client]
) -> None:
    items: list[Json] = [
        {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"}},
        {"apiVersion": "example.com/v1", "kind": "Node", "metadata": {"name": "x"}},
    ]
    (tmp_path / "dump.json").write_text(json.dumps({"kind": "List", "items": items}))
    path = write_clusters(tmp_path, f"{GOOD}- {{name: odd, dump: [dump.json]}}\n")
    with capture_logs() as records, watch(path):
        eventually(
            lambda: (
                WatchState.objects.filter(cluster__name="odd", state="static").count()
                == 9
            )
        )
        eventually(equal(server, "good"))
    assert log_of(records, "odd") == []
    assert not WatchState.objects.filter(cluster__name="odd", object_count__gt=0)
    page = client_of("viewer").get("/c/odd/").content.decode()
    assert "No driver has published a device in this cluster yet" in page


# --- kubeconfigs ------------------------------------------------------------------


def kubeconfig(server: str, **user: Any) -> str:
    return yaml.safe_dump(
        {
            "clusters": [{"name": "c", "cluster": {"server": server}}],
            "users": [{"name": "u", "user": user}],
            "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
            "current-context": "x",
        }
    )


KUBECONFIGS = {
    "no YAML": ("a: [", "", "is not valid YAML"),
    "something else": ("hello", "", "is not a kubeconfig"),
    "empty": ("", "", "is not a kubeconfig"),
    "without that context": (
        kubeconfig("http://127.0.0.1:1"),
        ", context: other",
        'has no context "other"; it has: x',
    ),
    "address is none": (kubeconfig("127.0.0.1"), "", "must be an http(s) address"),
    "nobody there": (kubeconfig("http://127.0.0.1:1"), "", "refuses connections"),
}


@pytest.mark.parametrize(
    ("text", "more", "words"), KUBECONFIGS.values(), ids=KUBECONFIGS
)
def test_a_wrong_kubeconfig(
    server: StandinServer,
    tmp_path: Path,
    client_of: Callable[..., Client],
    text: str,
    more: str,
    words: str,
) -> None:
    (tmp_path / "odd").write_text(text)
    entry = f"- {{name: odd, kubeconfig: odd{more}}}\n"
    sentence_about(entry, server, tmp_path, client_of, words=words)


def test_a_kubeconfig_that_is_missing(
    server: StandinServer, tmp_path: Path, client_of: Callable[..., Client]
) -> None:
    entry = "- {name: odd, kubeconfig: gone}\n"
    sentence_about(entry, server, tmp_path, client_of, words="gone does not exist")


def test_a_wrong_token(
    server: StandinServer, tmp_path: Path, client_of: Callable[..., Client]
) -> None:
    with StandinServer(users={"right": ADMIN}) as strict:
        (tmp_path / "odd").write_text(kubeconfig(strict.url, token="wr0ng-secret"))
        entry = "- {name: odd, kubeconfig: odd}\n"
        error = sentence_about(
            entry, server, tmp_path, client_of, words="does not accept our credentials"
        )
    assert "wr0ng" not in error


# --- servers ----------------------------------------------------------------------

ANSWERS = {
    "HTML": (
        response(b"<html><body>Welcome to nginx</body></html>"),
        "answered with something that is not a JSON object",
    ),
    "500": (
        response(b"<h1>oops</h1>", status="500 Internal Server Error"),
        "500",
    ),
    "no answer": (b"", "broke"),
}


@pytest.mark.parametrize(("answer", "words"), ANSWERS.values(), ids=ANSWERS)
def test_a_server_that_is_none(
    server: StandinServer,
    tmp_path: Path,
    client_of: Callable[..., Client],
    answer: bytes,
    words: str,
) -> None:
    with RudeServer(answer) as rude:
        (tmp_path / "odd").write_text(kubeconfig(rude.url))
        entry = "- {name: odd, kubeconfig: odd}\n"
        error = sentence_about(entry, server, tmp_path, client_of, words=words, looks=1)
    assert "<" not in error


def test_a_server_without_dra(
    server: StandinServer, tmp_path: Path, client_of: Callable[..., Client]
) -> None:
    with StandinServer([make("Node", "plain")], served={"": ("v1",)}) as plain:
        plain.write_kubeconfig(tmp_path / "odd")
        entry = "- {name: odd, kubeconfig: odd}\n"
        words = "the server does not serve resource.k8s.io"
        sentence_about(entry, server, tmp_path, client_of, words=words)


def test_one_kind_that_may_not_be_read(
    server: StandinServer, tmp_path: Path, client_of: Callable[..., Client]
) -> None:
    seen = tuple(r.plural for r in RESOURCES if r.kind != "Node")
    half_blind = User("half", (Rule(("get", "list", "watch"), seen),))
    objects = [slice_("s"), make("Node", "n")]
    with StandinServer(objects, users={"half": half_blind}) as half:
        (tmp_path / "odd").write_text(kubeconfig(half.url, token="half"))
        path = write_clusters(tmp_path, f"{GOOD}- {{name: odd, kubeconfig: odd}}\n")
        nodes = WatchState.objects.filter(cluster__name="odd", kind="Node")
        with capture_logs() as records, watch(path):
            eventually(lambda: nodes.filter(state="forbidden").exists())
            eventually(lambda: Device.objects.filter(cluster__name="odd").count() == 2)
            eventually(equal(server, "good"))
            (logged,) = log_of(records, "odd")
            viewer = client_of("viewer")

            def told() -> None:
                page = unescape(viewer.get("/c/odd/").content.decode())
                assert f"Node: {logged}" in page

            eventually(
                told
            )  # it is tried again now and then, for a moment without a word


# --- clusters.yaml ----------------------------------------------------------------

FILES = {
    "missing": (None, "there is no such file"),
    "no YAML": ("clusters: [", "clusters.yaml: not valid YAML"),
    "empty": ("", "clusters.yaml: is empty"),
    "a number": ("clusters: 7", "clusters.yaml: clusters: must be a list"),
    "unknown key": (
        "clusters: [{name: a, kubeconfg: x}]",
        "clusters.yaml: clusters[0].kubeconfg: unknown key",
    ),
    "no source": ("clusters: [{name: a}]", "clusters[0]: needs one of kubeconfig"),
}


@pytest.mark.parametrize(("text", "words"), FILES.values(), ids=FILES)
def test_a_broken_clusters_file(
    tmp_path: Path,
    client_of: Callable[..., Client],
    settings: Any,
    capsys: pytest.CaptureFixture[str],
    text: str | None,
    words: str,
) -> None:
    path = tmp_path / "clusters.yaml"
    if text is not None:
        path.write_text(text)
    settings.CLUSTERS_FILE = str(path)
    with pytest.raises(CommandError) as failed:
        call_command("watch")
    assert words in str(failed.value)
    assert "\n" not in str(failed.value)
    call_command("check")
    said = capsys.readouterr()
    assert words in said.out + said.err
    page = unescape(client_of("viewer").get("/clusters/").content.decode())
    assert words in page
    assert "docs/operations.md" in page
