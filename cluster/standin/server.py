"""The stand-in as something to start, point a client at, break and stop."""

from __future__ import annotations

import socket
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import yaml

from cluster.dump import iter_objects, read_dump
from cluster.standin.access import Access, User
from cluster.standin.api import Api, Options
from cluster.standin.control import Control
from cluster.standin.faults import Faults
from cluster.standin.handler import Listener
from cluster.standin.kinds import Serving
from cluster.standin.store import Store

Json = dict[str, Any]
DEFAULT_SERVED: Final[dict[str, tuple[str, ...]]] = {"resource.k8s.io": ("v1",)}
_HOST: Final = "127.0.0.1"


class StandinServer:
    """A stand-in API server on 127.0.0.1 with its own threads.

    Use it as a context manager, or call :meth:`start` and :meth:`stop`. ``served``
    maps API groups to the versions served, newest first (``{"resource.k8s.io":
    ("v1beta1",)}`` for an old cluster); ``users`` maps bearer tokens to users, and
    without any everybody is admin. ``control`` opens ``/standin/faults`` over HTTP;
    in-process faults (:attr:`faults`) always work.
    """

    def __init__(
        self,
        objects: Iterable[Json] = (),
        *,
        served: Mapping[str, tuple[str, ...]] = DEFAULT_SERVED,
        users: Mapping[str, User] | None = None,
        port: int = 0,
        control: bool = False,
        history_size: int = 10_000,
        options: Options | None = None,
    ) -> None:
        self.store = Store(history_size=history_size)
        self.faults = Faults(self)
        self._users = dict(users or {})
        self._api = Api(
            self.store, Serving(dict(served)), Access(self._users), options or Options()
        )
        self._control = Control(self.faults) if control else None
        self._wanted_port = port
        self._reserved: socket.socket | None = None
        self._listener: Listener | None = None
        self.store.load(objects)

    # --- life -------------------------------------------------------------

    def start(self) -> Self:
        """Listen. OSError when the port is taken."""
        self._reserved = _reserve(self._wanted_port)
        self._api.address = f"{_HOST}:{self.port}"
        self.accept_connections()
        return self

    def stop(self) -> None:
        """Break all connections and end all threads. May be called twice."""
        self.refuse_connections()
        if self._reserved is not None:
            self._reserved.close()
            self._reserved = None

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def restart(self) -> None:
        """As when an API server restarts: objects stay, connections and history go."""
        self.refuse_connections()
        self.store.expire_history()
        self.accept_connections()

    @property
    def port(self) -> int:
        if self._reserved is None:
            raise RuntimeError("the stand-in is not started")
        return int(self._reserved.getsockname()[1])

    @property
    def url(self) -> str:
        return f"http://{_HOST}:{self.port}"

    def write_kubeconfig(self, path: Path, *, token: str = "") -> Path:
        """Write a kubeconfig with context ``standin``; the file is only the owner's.

        It appears complete or not at all.
        """
        user = {"token": token} if token else {}
        config = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "standin", "cluster": {"server": self.url}}],
            "users": [{"name": "standin", "user": user}],
            "contexts": [
                {
                    "name": "standin",
                    "context": {"cluster": "standin", "user": "standin"},
                }
            ],
            "current-context": "standin",
        }
        part = path.with_name(f".{path.name}.part")
        part.unlink(missing_ok=True)
        part.touch(mode=0o600)
        part.write_text(yaml.safe_dump(config, sort_keys=False), encoding="utf-8")
        part.replace(path)
        return path

    def load(self, *paths: Path) -> tuple[str, ...]:
        """Add the objects of dumps (JSON or YAML); the problems found, in words.

        Uids and resourceVersions stay as far as they are given. Raises DumpError
        for a file that cannot be read.
        """
        dump = read_dump(paths)
        self.store.load(iter_objects(dump))
        return dump.problems

    # --- what faults do ---------------------------------------------------

    def cut_streams(self, *, clean: bool) -> int:
        return self.store.cut(clean=clean)

    def expire_history(self) -> None:
        self.store.expire_history()

    def drop_connections(self) -> None:
        self.store.cut(clean=False)
        if self._listener is not None:
            self._listener.drop_connections()

    def refuse_connections(self) -> None:
        if self._listener is not None:
            self._listener.refuse()
            self.store.cut(clean=False)
            self._listener.stop()
            self._listener = None

    def accept_connections(self) -> None:
        if self._listener is None:
            self._listener = Listener(
                (_HOST, self.port), self._api, self.faults, self._control
            )
            self._listener.start()


def _reserve(port: int) -> socket.socket:
    """A bound socket that never listens: keeps the port ours while we refuse."""
    if port:
        _check_free(port)
    reserved = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        reserved.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        reserved.bind((_HOST, port))
    except OSError:
        reserved.close()
        raise
    return reserved


def _check_free(port: int) -> None:
    """OSError when somebody has the port: sharing it would mix two clusters."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        probe.bind((_HOST, port))
