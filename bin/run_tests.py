"""Run lint and every test, with the services they need.

Chromium, openssl, Redis and PostgreSQL are installed with apt where they are missing and
we may; what is missing and may not be installed is named. Redis and PostgreSQL
are started only if none answers, in a directory that goes away afterwards.
"""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Three on two cores: many tests wait for a server, a worker or a watch.
PARALLEL = ("-n", "3", "--dist", "worksteal")
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
        with socket.create_connection(("127.0.0.1", port), timeout=1):
            return True
    except OSError:
        return False


def postgres_answers() -> bool:
    import psycopg

    base = POSTGRES_URL.rpartition("/")[0]
    try:
        with psycopg.connect(f"{base}/postgres", connect_timeout=3):
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
    for _ in range(150):
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
    options = f"-p 5432 -c listen_addresses=127.0.0.1 -c fsync=off -k {home}"
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


def run(name: str, command: list[str]) -> None:
    say(name)
    started = time.monotonic()
    done = subprocess.run(command, cwd=ROOT, check=False)
    say(f"{name}: {time.monotonic() - started:.0f} s")
    if done.returncode:
        sys.exit(done.returncode)


def main() -> None:
    (ROOT / "var").mkdir(exist_ok=True)
    if packages := missing_packages():
        install(packages)
    pytest = [str(ROOT / ".venv/bin/pytest"), "-q"]
    with redis(), postgres():
        run("lint", [str(ROOT / "bin/lint")])
        run("frontend", [str(ROOT / "bin/frontend"), "check"])
        run("tests", [*pytest, *PARALLEL, "-m", "not browser"])
        run("browser tests", [*pytest, "-m", "browser"])


if __name__ == "__main__":
    main()
