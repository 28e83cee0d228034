"""``python -m cluster.standin`` as a process."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from urllib.request import urlopen

import pytest

from cluster.standin.__main__ import main
from cluster.standin.server import StandinServer

COMMAND = [sys.executable, "-W", "error", "-m", "cluster.standin"]


@pytest.mark.parametrize(
    ("number", "more"), [(signal.SIGINT, []), (signal.SIGTERM, ["--delay", "0.1"])]
)
def test_it_serves_a_living_cluster_and_stops(
    tmp_path: Path, number: signal.Signals, more: list[str]
) -> None:
    kubeconfig = tmp_path / "kubeconfig"
    arguments = ["--nodes", "3", "--life", *more, "--kubeconfig", str(kubeconfig)]
    with subprocess.Popen(
        [*COMMAND, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        assert url in kubeconfig.read_text()
        with urlopen(f"{url}/api/v1/nodes", timeout=60) as answer:
            assert len(json.load(answer)["items"]) == 3
        process.send_signal(number)
        _, errors = process.communicate(timeout=60)
        assert (process.returncode, errors) == (0, "")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--load", "/no/such/file.json"], "/no/such/file.json"),
        (["--serve", "v9"], "v9"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_sentence(
    arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 1
    errors = capsys.readouterr().err
    assert words in errors
    assert errors.count("\n") == 1


def test_a_port_that_is_taken_is_said_in_one_sentence(
    server: StandinServer, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--nodes", "1", "--port", str(server.port)]) == 1
    errors = capsys.readouterr().err
    assert errors == f"port {server.port} cannot be used: Address already in use\n"
