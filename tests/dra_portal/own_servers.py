"""A Redis and a PostgreSQL of a test's own, which may be killed."""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import redis
from django.core.management import call_command
from django.db import connection

from tests.dra_portal.watched import PATIENCE, eventually
from tests.ports import free_port


class Redis:
    """``keeps``: what it had is there again after a kill."""

    def __init__(self, folder: Path, *, keeps: bool = False) -> None:
        self.port = free_port()
        self.url = f"redis://127.0.0.1:{self.port}/0"
        self._folder = folder
        self._keeps = keeps
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        program = shutil.which("redis-server")
        assert program, "no redis-server: make test installs it on Debian"
        keeping = ["--appendonly", "yes", "--appendfsync", "always"]
        self._process = subprocess.Popen(
            [
                *(program, "--port", str(self.port), "--bind", "127.0.0.1"),
                *("--save", "", "--dir", str(self._folder)),
                *(keeping if self._keeps else []),
            ],
            stdout=subprocess.DEVNULL,
        )
        eventually(self._answers)

    def _answers(self) -> bool:
        with (
            contextlib.suppress(redis.ConnectionError),
            redis.Redis.from_url(self.url) as client,
        ):
            return bool(client.ping())
        return False

    def freeze(self) -> None:
        """It takes connections, and answers nothing."""
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        assert self._process is not None
        self._process.send_signal(signal.SIGCONT)

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None


class Postgres:
    """A cluster of its own below ``/tmp``; as root it runs as the user postgres."""

    def __init__(self) -> None:
        found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), reverse=True)
        assert found, "no postgresql: make test installs it on Debian"
        self._programs = found[0].parent
        self.port = free_port()
        self._home = Path(tempfile.mkdtemp(prefix="dra-portal-own-postgres-"))
        self._as_user: list[str] = []
        if os.geteuid() == 0:
            user = pwd.getpwnam("postgres")
            os.chown(self._home, user.pw_uid, user.pw_gid)
            self._as_user = ["runuser", "-u", "postgres", "--"]
        self._data = self._home / "data"
        # initdb waits for the disk, which nobody needs here.
        self._run("initdb", "-D", self._data, "-U", "postgres", "-A", "trust", "-N")

    def start(self) -> None:
        options = (
            f"-p {self.port} -c listen_addresses=127.0.0.1 -c fsync=off "
            f"-c unix_socket_directories={self._home} -c max_connections=200"
        )
        self._run(
            *(
                "pg_ctl",
                "-D",
                self._data,
                "-o",
                options,
                "-w",
                "-t",
                str(int(PATIENCE)),
            ),
            *("-l", self._home / "log", "start"),
        )

    def stop(self, mode: str = "immediate") -> None:
        """ "immediate": as if the machine had lost its power."""
        self._run("pg_ctl", "-D", self._data, "-m", mode, "-w", "stop")

    def create(self, database: str) -> None:
        where = f"host=127.0.0.1 port={self.port} user=postgres dbname=postgres"
        with psycopg.connect(where, autocommit=True) as session:
            session.execute(f'CREATE DATABASE "{database}"')

    def remove(self) -> None:
        with contextlib.suppress(subprocess.CalledProcessError):
            self.stop()
        shutil.rmtree(self._home, ignore_errors=True)

    def _run(self, program: str, *arguments: str | Path) -> None:
        subprocess.run(
            [*self._as_user, self._programs / program, *arguments],
            check=True,
            cwd=self._home,
            stdout=subprocess.DEVNULL,
        )


@contextmanager
def own_postgres() -> Iterator[Postgres]:
    """This process, and those that it starts from now on, have the database there."""
    server = Postgres()
    before = dict(connection.settings_dict)
    try:
        server.start()
        server.create("portal")
        connection.close()
        connection.settings_dict.update(
            HOST="127.0.0.1",
            PORT=str(server.port),
            USER="postgres",
            PASSWORD="",
            NAME="portal",
        )
        call_command("migrate", verbosity=0)
        yield server
    finally:
        connection.close()
        connection.settings_dict.update(before)
        server.remove()
