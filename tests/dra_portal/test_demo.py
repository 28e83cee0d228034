"""``make demo``: comes up, says where, and leaves nothing behind."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cluster.standin.generator import generate
from dra_portal.demo import Children, Ended
from tests.running_demo import ROOT, Demo, environment, is_up, running_demo


def ask(demo: Demo, path: str, body: dict[str, Any] | None = None) -> Any:
    request = urllib.request.Request(
        f"{demo.address}/api/v1/{path}",
        data=json.dumps(body).encode() if body is not None else None,
        headers={
            "Authorization": f"Bearer {demo.token}",
            "Content-Type": "application/json",
        },
    )
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.load(answer)


def processes_of(directory: Path) -> list[str]:
    """Command lines of processes that have the demo's directory in their environment."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if str(directory).encode() in (entry / "environ").read_bytes():
                found.append(
                    (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()
                )
        except OSError:
            continue
    return found


def files_of(process: int) -> list[str]:
    """What it has open."""
    found = []
    for entry in Path(f"/proc/{process}/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):
            found.append(str(entry.readlink()))
    return found


def test_ctrl_c_stops_every_process(tmp_path: Path) -> None:
    with running_demo(tmp_path) as demo:
        assert len(processes_of(tmp_path)) == 2
        # Two demos at once have no file in common.
        kept = [name for name in files_of(demo.process.pid) if f"{ROOT}/" in name]
        assert kept == []
        assert ask(demo, "clusters/")["results"][0]["name"] == "demo"
    assert demo.process.returncode == 0
    assert processes_of(tmp_path) == []
    assert not is_up(demo.address)


def ask_until(demo: Demo, path: str, is_so: Callable[[Any], bool]) -> Any:
    """What the address answers once ``is_so``: the watch and the workers take a moment."""
    deadline = time.monotonic() + 60
    while not is_so(seen := ask(demo, path)):
        assert time.monotonic() < deadline, seen
        time.sleep(0.1)
    return seen


def test_a_claim_is_allocated_as_in_a_cluster_of_ones_own(tmp_path: Path) -> None:
    with running_demo(tmp_path) as demo:
        entry = (tmp_path / "clusters.yaml").read_text("utf-8")
        assert "writer" not in entry  # the default, whatever that is
        wanted = {"cluster": "demo", "namespace": "team-a", "claim_name": "train-4gpu"}
        started = ask(demo, "runs/", wanted)["id"]
        run = ask_until(demo, f"runs/{started}/", lambda run: bool(run["finished_at"]))
        assert run["state"] == "done", run["reason"]
        (carrier, pin, removal) = run["patch"]
        assert carrier["request"] == "POST /api/v1/namespaces/team-a/pods"
        assert pin["body"]["status"]["reservedFor"][0]["apiGroup"] == "dra-portal.io"
        assert removal["request"].startswith("DELETE /api/v1/namespaces/team-a/pods/")
        planned = [r["device"] for r in run["plan"]["devices"]["results"]]
        assert len(planned) == 4

        def is_reserved(claims: Any) -> bool:
            return [claim["state"] for claim in claims["results"]] == ["reserved"]

        ask_until(demo, "claims/?cluster=demo&q=train-4gpu", is_reserved)
        ask_until(
            demo, "pods/?cluster=demo&q=carrier", lambda pods: not pods["results"]
        )


def test_a_dump_is_shown_and_never_written_to(tmp_path: Path) -> None:
    items = generate(nodes=2)
    dump = tmp_path / "customer.json"
    dump.write_text(
        json.dumps({"apiVersion": "v1", "kind": "List", "items": items}), "utf-8"
    )
    with running_demo(tmp_path, str(dump)) as demo:
        cluster = ask(demo, "clusters/")["results"][0]
        assert (cluster["name"], cluster["read_only"]) == ("customer", True)
        claim = ask(demo, "claims/?cluster=customer&state=pending")["results"][0]
        with pytest.raises(urllib.error.HTTPError) as refusal:
            ask(
                demo,
                "runs/",
                {
                    "cluster": "customer",
                    "namespace": claim["namespace"],
                    "claim_name": claim["name"],
                },
            )
        assert refusal.value.code == 409
        assert "dump file" in json.load(refusal.value)["detail"]
    other = dump.rename(tmp_path / "other.json")
    with running_demo(tmp_path, str(other)) as demo:
        shown = [cluster["name"] for cluster in ask(demo, "clusters/")["results"]]
        assert shown == ["other"]


def run_demo_that_fails(directory: Path, *arguments: str) -> str:
    """What the demo says when it cannot start."""
    done = subprocess.run(
        [sys.executable, "manage.py", "demo", *arguments],
        cwd=ROOT,
        env=environment(directory),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode != 0
    assert "Traceback" not in done.stderr
    return done.stderr


def test_a_taken_port_is_a_sentence(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        assert f"Port {port} is taken" in run_demo_that_fails(tmp_path, "--port", port)


def test_a_missing_dump_is_a_sentence(tmp_path: Path) -> None:
    said = run_demo_that_fails(tmp_path, "--port", "0", str(tmp_path / "none.json"))
    assert "No such file" in said


def test_a_broken_dump_is_a_sentence(tmp_path: Path) -> None:
    broken = tmp_path / "broken.json"
    broken.write_text('{"kind": "List", "items": [', "utf-8")
    said = run_demo_that_fails(tmp_path, "--port", "0", str(broken))
    assert "broken.json" in said


def test_being_killed_while_it_starts_leaves_nothing(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "manage.py", "demo", "--port", "0"],
        cwd=ROOT,
        env=environment(tmp_path),
        stdout=subprocess.DEVNULL,
        start_new_session=True,
    )
    deadline = time.monotonic() + 120
    while len(processes_of(tmp_path)) < 2:
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.05)
    os.kill(process.pid, signal.SIGTERM)
    assert process.wait(120) == 0
    assert processes_of(tmp_path) == []


@pytest.mark.parametrize("number", ["SIGINT", "SIGTERM"])
def test_a_signal_within_the_text_of_a_class_ends_it_well(number: str) -> None:
    code = f"""
import django, signal, sys
django.setup()
from dra_portal.demo import Children, Ended
children = Children()
children.end_by_signals()
try:
    exec("signal.raise_signal(signal.{number})")
except Ended:
    signal.raise_signal(signal.{number})  # the second time nothing is raised
    print("stopping")
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env=os.environ | {"DJANGO_SETTINGS_MODULE": "dra_portal.settings"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "stopping\n"), done.stderr


def test_a_signal_that_raised_where_nothing_goes_on_is_seen_later() -> None:
    children = Children(told_to_end=True)
    with pytest.raises(Ended):
        children.look()
