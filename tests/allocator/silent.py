"""A broker that takes connections and never answers."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from allocator.services import queueing
from tests.dra_portal.elsewhere import app_at


class Silence:
    """Listens and accepts. ``connections`` counts who has come."""

    def __init__(self) -> None:
        self._socket = socket.create_server(("127.0.0.1", 0))
        self._taken: list[socket.socket] = []
        self._thread = threading.Thread(target=self._accept, name="silence")
        self._thread.start()

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self._socket.getsockname()[1]}/0"

    @property
    def connections(self) -> int:
        return len(self._taken)

    def _accept(self) -> None:
        while True:
            try:
                self._taken.append(self._socket.accept()[0])
            except OSError:
                return  # shut down

    def close(self) -> None:
        """Returns when nobody accepts any more: closing alone wakes no thread that does."""
        self._socket.shutdown(socket.SHUT_RDWR)
        self._thread.join()
        for one in (self._socket, *self._taken):
            one.close()


@contextmanager
def tasks_go_to(url: str) -> Iterator[None]:
    """As in a process of the portal whose broker is this one."""
    queueing.forget()
    try:
        with app_at(url):
            yield
    finally:
        queueing.forget()


@contextmanager
def silent_broker() -> Iterator[Silence]:
    silence = Silence()
    try:
        with tasks_go_to(silence.url):
            yield silence
    finally:
        silence.close()
