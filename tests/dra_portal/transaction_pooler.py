"""A pooler before PostgreSQL that gives each transaction another session, as pgbouncer
does with ``pool_mode=transaction``: the session that was given back last goes first."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import BinaryIO, Final

from django.db import connection

_NO_ENCRYPTION: Final = {80877103, 80877104}
"""What a client asks ahead of anything else: TLS, GSSAPI."""
_NOTHING_TO_ANSWER: Final = {0, 12}
"""Of the server's messages while somebody logs in."""
_IDLE: Final = b"I"


class _Peer:
    def __init__(self, sock: socket.socket) -> None:
        self.sock = sock
        self._file: BinaryIO = sock.makefile("rb")

    def message(self) -> tuple[bytes, bytes]:
        """Its type and all of it; raises OSError at the end."""
        head = self._exactly(5)
        (length,) = struct.unpack("!I", head[1:])
        return head[:1], head + self._exactly(length - 4)

    def startup(self) -> bytes:
        while True:
            head = self._exactly(4)
            (length,) = struct.unpack("!I", head)
            rest = self._exactly(length - 4)
            if struct.unpack("!I", rest[:4])[0] not in _NO_ENCRYPTION:
                return head + rest
            self.sock.sendall(b"N")

    def _exactly(self, size: int) -> bytes:
        found = self._file.read(size)
        if len(found) < size:
            raise ConnectionError
        return found

    def close(self) -> None:
        self._file.close()
        self.sock.close()


class Pooler:
    """``shares`` may change at any time; without it each client keeps its session."""

    def __init__(self, host: str, port: int, *, shares: bool) -> None:
        self.shares = shares
        self._server = host, port
        self._idle: list[_Peer] = []
        self._peers: list[_Peer] = []
        self._serving: list[threading.Thread] = []
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listening.getsockname()[1]
        self._accepting = threading.Thread(target=self._accept, daemon=True)
        self._accepting.start()

    def close(self) -> None:
        """Returns when nothing of it is left."""
        # What waits there is not woken by closing.
        self._listening.shutdown(socket.SHUT_RDWR)
        self._accepting.join()
        self._listening.close()
        for peer in self._peers:
            with suppress(OSError):
                peer.sock.shutdown(socket.SHUT_RDWR)
        for thread in self._serving:
            thread.join()
        for peer in self._peers:
            peer.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listening.accept()
                serving = threading.Thread(
                    target=self._serve, args=[self._known(client)], daemon=True
                )
                self._serving.append(serving)
                serving.start()

    def _known(self, sock: socket.socket) -> _Peer:
        peer = _Peer(sock)
        self._peers.append(peer)
        return peer

    def _connect(self) -> _Peer:
        host, port = self._server
        if not host.startswith("/"):
            return self._known(socket.create_connection((host, port)))
        sock = socket.socket(socket.AF_UNIX)
        sock.connect(f"{host}/.s.PGSQL.{port}")
        return self._known(sock)

    def _serve(self, client: _Peer) -> None:
        held: _Peer | None
        try:
            held, ready = self._logged_in(client)
            while True:
                if self.shares and ready[5:6] == _IDLE:
                    self._idle.append(held)
                    held = None
                client.sock.sendall(ready)
                held, ready = self._exchange(client, held)
        except OSError:
            client.close()

    def _logged_in(self, client: _Peer) -> tuple[_Peer, bytes]:
        startup = client.startup()
        server = self._connect()
        server.sock.sendall(startup)
        while True:
            kind, message = server.message()
            if kind == b"Z":
                return server, message
            client.sock.sendall(message)
            asks = kind == b"R" and struct.unpack("!I", message[5:9])[0]
            if asks and asks not in _NOTHING_TO_ANSWER:
                server.sock.sendall(client.message()[1])

    def _exchange(self, client: _Peer, held: _Peer | None) -> tuple[_Peer, bytes]:
        """Who answered, and its last message, which says whether a transaction is open."""
        while True:
            kind, message = client.message()
            if kind == b"X":
                raise ConnectionError
            held = held or self._idle.pop()
            held.sock.sendall(message)
            if kind in {b"Q", b"S"}:
                return held, self._answered(held, client)

    @staticmethod
    def _answered(server: _Peer, client: _Peer) -> bytes:
        while True:
            kind, message = server.message()
            if kind == b"Z":
                return message
            client.sock.sendall(message)


@contextmanager
def pooled(*, shares: bool) -> Iterator[Pooler]:
    """Django's connections, of all threads, through a pooler."""
    connection.ensure_connection()
    info = connection.connection.info
    pooler = Pooler(info.host, info.port, shares=shares)
    address = connection.settings_dict
    before = dict(address)
    connection.close()
    address.update(HOST="127.0.0.1", PORT=pooler.port)
    try:
        yield pooler
    finally:
        connection.close()
        address.update(before)
        pooler.close()
