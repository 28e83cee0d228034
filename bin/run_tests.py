"""Run lint and every test, with the services they need.

Lint, the frontend's check and the browser tests run one after another beside the other
tests: each waits for something most of the time. What they print comes when they end,
and the first that fails ends all.

Chromium, openssl, Redis and PostgreSQL are installed with apt where they are missing and
we may; what is missing and may not be installed is named. Redis and PostgreSQL
are started only if none answers, in a directory that goes away afterwards.
"""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import IO

ROOT = Path(__file__).resolve().parent.parent
# Two on two cores: lint and the browser tests run beside them, and tests with time
# limits of their own need some air.
PARALLEL = ("-n", "2", "--dist", "worksteal")
BROWSER_TESTS = "tests/browser"
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
POSTGRES_URL = os.environ.get(
    "DRA_PORTAL_TEST_DATABASE", "postgresql://postgres@127.0.0.1:5432/dra_portal"
)


def say(text: str) -> None:
    print(f"test: {text}", file=sys.stderr, flush=True)


def postgres_programs() -> Path | None:
    """The directory with initdb and pg_ctl; Debian keeps it off PATH."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), reverse=True)
    if found:
        return found[0].parent
    initdb = shutil.which("initdb")
    return Path(initdb).parent if initdb else None


def answers(port: int) -> bool:
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=10):
            return True
    except OSError:
        return False


def postgres_answers() -> bool:
    import psycopg

    base = POSTGRES_URL.rpartition("/")[0]
    try:
        with psycopg.connect(f"{base}/postgres", connect_timeout=10):
            return True
    except psycopg.Error:
        return False


def missing_packages() -> list[str]:
    """Debian packages of the programs that are not here."""
    missing = []
    if not any(shutil.which(name) for name in BROWSERS):
        missing.append("chromium")
    if not shutil.which("openssl"):
        missing.append("openssl")
    if not answers(6379) and not shutil.which("redis-server"):
        missing.append("redis-server")
    if not postgres_answers() and postgres_programs() is None:
        missing.append("postgresql")
    return missing


def install(packages: list[str]) -> None:
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        sys.exit(
            "test: these programs are needed and cannot be installed from here: "
            f"{', '.join(packages)}. On Debian: sudo apt-get install {' '.join(packages)}"
        )
    say(f"installing {', '.join(packages)}")
    env = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    log = ROOT / "var" / "apt.log"
    with log.open("w") as out:
        for command in (["update", "-qq"], ["install", "-y", "-qq", *packages]):
            done = subprocess.run(
                ["apt-get", *command], env=env, stdout=out, stderr=out, check=False
            )
            if done.returncode:
                sys.exit(f"test: apt-get {command[0]} failed, see {log}")


def wait_for(probe: Callable[[], bool], name: str) -> None:
    for _ in range(600):
        if probe():
            return
        time.sleep(0.2)
    sys.exit(f"test: {name} was started and does not answer")


@contextlib.contextmanager
def redis() -> Iterator[None]:
    if answers(6379):
        yield
        return
    say("starting Redis")
    with tempfile.TemporaryDirectory() as home:
        process = subprocess.Popen(
            ["redis-server", "--port", "6379", "--bind", "127.0.0.1", "--save", "",
             "--appendonly", "no", "--dir", home],
            stdout=subprocess.DEVNULL,
        )  # fmt: skip
        try:
            wait_for(lambda: answers(6379), "Redis")
            yield
        finally:
            process.terminate()
            process.wait()


@contextlib.contextmanager
def postgres() -> Iterator[None]:
    if postgres_answers():
        yield
        return
    programs = postgres_programs()
    if programs is None:
        sys.exit("test: PostgreSQL does not answer and initdb was not found")
    say("starting PostgreSQL")
    home = Path(tempfile.mkdtemp(prefix="dra-portal-postgres-"))
    as_user: list[str] = []
    if os.geteuid() == 0:  # PostgreSQL refuses to run as root
        shutil.chown(home, "postgres", pwd.getpwnam("postgres").pw_gid)
        as_user = ["runuser", "-u", "postgres", "--"]
    data = home / "data"
    # Every process of the portal that a test starts has some connections of its own.
    options = (
        "-p 5432 -c listen_addresses=127.0.0.1 -c fsync=off -c max_connections=300 "
        f"-k {home}"
    )
    subprocess.run(
        [*as_user, programs / "initdb", "-D", data, "-U", "postgres", "-A", "trust"],
        stdout=subprocess.DEVNULL, check=True, cwd="/",
    )  # fmt: skip
    try:
        subprocess.run(
            [*as_user, programs / "pg_ctl", "-D", data, "-o", options, "-l",
             home / "log", "start"],
            stdout=subprocess.DEVNULL, check=True, cwd="/",
        )  # fmt: skip
        wait_for(postgres_answers, "PostgreSQL")
        yield
    finally:
        subprocess.run(
            [*as_user, programs / "pg_ctl", "-D", data, "-m", "immediate", "stop"],
            stdout=subprocess.DEVNULL, check=False, cwd="/",
        )  # fmt: skip
        shutil.rmtree(home, ignore_errors=True)


def keep_bytecode() -> None:
    """Tests start dozens of processes; without bytecode each compiles 1,500 modules."""
    if os.environ.pop("PYTHONDONTWRITEBYTECODE", ""):
        kept = str(ROOT / "var" / "pycache")
        os.environ.setdefault("PYTHONPYCACHEPREFIX", kept)


@dataclass(frozen=True, slots=True)
class Step:
    """``live``: what it prints is shown as it comes, not when it ends."""

    name: str
    command: list[str]
    live: bool = False


class Lanes:
    """Lanes run beside each other, the steps of one lane one after another."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: list[subprocess.Popen[bytes]] = []
        self._stopped = False

    def run(self, *lanes: list[Step]) -> bool:
        """Whether every step succeeded; the first that does not ends all."""
        # A background job ignores it, and so would all that is started here.
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        with ThreadPoolExecutor(len(lanes)) as pool:
            try:
                return all([*pool.map(self._run_lane, lanes)])
            except BaseException:
                self._stop()
                raise
            finally:
                signal.signal(signal.SIGINT, before)

    def _run_lane(self, steps: list[Step]) -> bool:
        for step in steps:
            with tempfile.TemporaryFile() as kept:
                if not self._run_step(step, None if step.live else kept):
                    return False
        return True

    def _run_step(self, step: Step, output: IO[bytes] | None) -> bool:
        started = time.monotonic()
        with self._lock:
            if self._stopped:
                return False
            # A group of its own: what it starts is stopped with it.
            process = subprocess.Popen(
                step.command,
                cwd=ROOT,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
            self._running.append(process)
            # Here, or it could come into the middle of what another step has printed.
            say(step.name)
        succeeded = process.wait() == 0
        with self._lock:
            self._running.remove(process)
            if self._stopped:
                return False
            show(output)
            result = "" if succeeded else ", failed"
            say(f"{step.name}: {time.monotonic() - started:.0f} s{result}")
        if not succeeded:
            self._stop()
        return succeeded

    def _stop(self) -> None:
        with self._lock:
            self._stopped = True
            for process in self._running:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGINT)


def show(output: IO[bytes] | None) -> None:
    """What a step has printed, in one piece below the dots of the tests."""
    if output is not None:
        output.seek(0)
        text = output.read().decode(errors="replace").rstrip()
        print(f"\n{text}" if text else "", file=sys.stderr, flush=True)


def main() -> None:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    (ROOT / "var").mkdir(exist_ok=True)
    keep_bytecode()
    if packages := missing_packages():
        install(packages)
    pytest = [str(ROOT / ".venv/bin/pytest"), "-q"]
    beside = [
        Step("lint", [str(ROOT / "bin/lint")]),
        Step("frontend", [str(ROOT / "bin/frontend"), "check"]),
        Step("browser tests", [*pytest, BROWSER_TESTS]),
    ]
    others = [*pytest, *PARALLEL, f"--ignore={BROWSER_TESTS}"]
    tests = Step("tests", others, live=True)
    started = time.monotonic()
    with redis(), postgres():
        succeeded = Lanes().run([tests], beside)
    say(f"{'done' if succeeded else 'failed'} after {time.monotonic() - started:.0f} s")
    sys.exit(not succeeded)


if __name__ == "__main__":
    main()
