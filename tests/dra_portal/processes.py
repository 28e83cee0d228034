"""The processes of the compose file, started without docker: same commands, same settings."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

from django.db import connection

from tests.dra_portal import deployed
from tests.ports import free_port

REDIS = os.environ.get("DRA_PORTAL_TEST_REDIS", "redis://127.0.0.1:6379/15")
PATIENCE = 110.0
"""Seconds in which every process ends after SIGTERM; compose waits 120."""
PASSWORD = "a-password-that-nobody-logs"
PROGRAMS = {
    "python": [sys.executable],
    "uvicorn": [sys.executable, "-m", "uvicorn"],
    "celery": [sys.executable, "-m", "celery"],
}


@dataclass
class Process:
    """``folder`` stands for the container's /tmp."""

    name: str
    folder: Path
    running: subprocess.Popen[bytes]
    metrics_port: int

    @property
    def log(self) -> str:
        return (self.folder / "log").read_text(encoding="utf-8", errors="replace")

    @property
    def alive(self) -> bool:
        """As the health check looks: the file, below two minutes old."""
        kind = self.name.rstrip("12")
        return (self.folder / f"{kind}.alive").exists()


@dataclass
class Portal:
    directory: Path
    clusters: Path
    queue: str
    broker: str = REDIS
    port: int = field(default_factory=free_port)
    processes: dict[str, Process] = field(default_factory=dict)
    settings: dict[str, str] = field(default_factory=dict)
    """Variables of the environment beside those of the compose file."""

    def start(self, name: str, *more: str) -> Process:
        """``web``, ``watch``, ``worker1``, ``worker2`` or ``beat``, with ``more`` options."""
        service = deployed.compose()["services"][name.rstrip("12")]
        folder = self.directory / name
        folder.mkdir()
        (folder / "password").write_text(PASSWORD)
        metrics_port = free_port()
        program, *arguments = service["command"]
        command = [
            *PROGRAMS[program],
            *(a.replace("0.0.0.0", "127.0.0.1") for a in arguments),
            *more,
        ]
        if name == "web":
            command = [
                f"--port={self.port}" if part == "--port=8000" else part
                for part in command
            ]
        with (folder / "log").open("wb") as log:
            running = subprocess.Popen(
                command,
                cwd=deployed.ROOT,
                env=self._environment(service["environment"], folder, metrics_port),
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        process = Process(name, folder, running, metrics_port)
        self.processes[name] = process
        return process

    def _environment(
        self, written: dict[str, str], folder: Path, metrics_port: int
    ) -> dict[str, str]:
        """What compose sets, with the addresses of this machine."""
        db = connection.settings_dict
        host, port = quote(db["HOST"], safe=""), db["PORT"] or "5432"
        here = {
            "DRA_PORTAL_DATABASE": f"postgresql://{db['USER']}@{host}:{port}/{db['NAME']}",
            "DRA_PORTAL_DATABASE_PASSWORD_FILE": str(folder / "password"),
            "DRA_PORTAL_SECRET_KEY_FILE": str(self.directory / "secret_key"),
            "DRA_PORTAL_BROKER": self.broker,
            "DRA_PORTAL_CLUSTERS": str(self.clusters),
            "DRA_PORTAL_VAR": str(folder),
            "DRA_PORTAL_METRICS_LISTEN": f"127.0.0.1:{metrics_port}",
            "DRA_PORTAL_METRICS_DIR": str(folder / "metrics"),
        }
        return {
            **{key: here.get(key, value) for key, value in written.items()},
            "DRA_PORTAL_QUEUE": self.queue,
            # Tests may be root's, and Celery says so; the image has a user of its own.
            "PYTHONWARNINGS": "ignore",
            "PATH": os.environ["PATH"],
            **deployed.BYTECODE,
            "DJANGO_SETTINGS_MODULE": "dra_portal.settings",
            **self.settings,
        }

    def ask(
        self, path: str, *, token: str = "", body: Any = None, **headers: str
    ) -> tuple[int, str]:
        """As the proxy that ends TLS would."""
        headers["X-Forwarded-Proto"] = "https"
        if token:
            headers["Authorization"] = f"Bearer {token}"
        data = None if body is None else json.dumps(body).encode()
        if data is not None:
            headers["Content-Type"] = "application/json"
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}{path}", data=data, headers=headers
        )
        request.add_header("Host", "localhost")
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()
        except OSError as error:
            return 0, str(error)

    def numbers_of(self, name: str) -> str:
        """What a process without pages serves."""
        port = self.processes[name].metrics_port
        with urllib.request.urlopen(
            f"http://127.0.0.1:{port}/metrics", timeout=60
        ) as answer:
            return str(answer.read().decode())

    def wait(self, true: Callable[[], Any], what: str, seconds: float = 120) -> Any:
        """Until ``true`` is; fails with the logs when a process ends meanwhile.

        ``true`` may put another one into the place of one that has ended.
        """
        deadline = time.monotonic() + seconds
        ended = self._ended()
        while not (found := true()):
            dead = [each.name for each in ended if each in self.processes.values()]
            ended = self._ended()
            if dead or time.monotonic() > deadline:
                logs = "\n".join(
                    f"--- {p.name}\n{p.log[-3000:]}" for p in self.processes.values()
                )
                raise AssertionError(f"waited for {what}; ended: {dead}\n{logs}")
            time.sleep(0.1)
        return found

    def _ended(self) -> list[Process]:
        found = self.processes.values()
        return [process for process in found if process.running.poll() is not None]

    def stop(self) -> dict[str, tuple[int, float]]:
        """SIGTERM to all, as compose does; status and seconds of each."""
        began = time.monotonic()
        for process in self.processes.values():
            process.running.send_signal(signal.SIGTERM)
        ended: dict[str, tuple[int, float]] = {}
        while len(ended) < len(self.processes):
            seconds = time.monotonic() - began
            for name, process in self.processes.items():
                status = process.running.poll()
                if status is not None:
                    ended.setdefault(name, (status, seconds))
            left = sorted(self.processes.keys() - ended.keys())
            assert seconds < PATIENCE, f"still running: {left}"
            time.sleep(0.05)
        return ended

    def kill(self) -> None:
        """Whatever is left, children too."""
        for process in self.processes.values():
            if process.running.poll() is None:
                os.killpg(process.running.pid, signal.SIGKILL)
                process.running.wait()
