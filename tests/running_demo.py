"""``make demo`` as a newcomer runs it, on a free port and in a directory of its own."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.ports import free_port

ROOT = Path(__file__).resolve().parents[1]
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


@dataclass(frozen=True, slots=True)
class Demo:
    address: str
    password: str
    token: str
    process: subprocess.Popen[str]
    directory: Path


def chromium() -> str:
    """The path of a Chromium; Playwright's own download is not used."""
    found = next((path for name in BROWSERS if (path := shutil.which(name))), None)
    assert found, "no Chromium: make test installs it on Debian"
    return found


def environment(directory: Path) -> dict[str, str]:
    kept = {k: v for k, v in os.environ.items() if not k.startswith("DRA_PORTAL_")}
    return kept | {
        "DRA_PORTAL_VAR": str(directory),
        "DRA_PORTAL_CLUSTERS": str(directory / "clusters.yaml"),
        "DRA_PORTAL_BROKER": "memory://localhost",
        "DRA_PORTAL_LOG_LEVEL": "WARNING",
        "DJANGO_SETTINGS_MODULE": "dra_portal.settings",
    }


def is_up(address: str) -> bool:
    try:
        with urllib.request.urlopen(f"{address}/readyz", timeout=10) as answer:
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False


@contextlib.contextmanager
def running_demo(
    directory: Path,
    *arguments: str,
    seconds: float = 240,
    settings: Mapping[str, str] | None = None,
) -> Iterator[Demo]:
    """The demo until the block ends; ends with Ctrl-C as a person would."""
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    process = subprocess.Popen(
        [sys.executable, "manage.py", "demo", "--port", str(port), *arguments],
        cwd=ROOT,
        env=environment(directory) | dict(settings or {}),
        text=True,
        start_new_session=True,
    )
    try:
        deadline = time.monotonic() + seconds
        while not is_up(address):
            assert process.poll() is None, "the demo ended by itself"
            assert time.monotonic() < deadline, "the demo did not come up"
            time.sleep(0.2)
        yield Demo(
            address=address,
            password=(directory / "password").read_text("utf-8"),
            token=(directory / "token").read_text("utf-8"),
            process=process,
            directory=directory,
        )
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
        try:
            process.wait(120)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
