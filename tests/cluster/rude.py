"""A server that answers with prepared bytes, right or wrong, and remembers requests."""

from __future__ import annotations

import socket
import ssl
import threading
from pathlib import Path
from types import TracebackType
from typing import Self

import yaml

from cluster.config import ClusterConfig

HOLD = b"<hold>"
"""As an answer: say nothing and keep the connection open."""
CLOSE = "Connection: close\r\n"
"""Said with every answer: a client that kept the connection would meet its end."""


def response(body: bytes, *, status: str = "200 OK") -> bytes:
    head = f"HTTP/1.1 {status}\r\n{CLOSE}Content-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


def chunked(*chunks: bytes, end: bytes = b"0\r\n\r\n") -> bytes:
    head = f"HTTP/1.1 200 OK\r\n{CLOSE}Transfer-Encoding: chunked\r\n\r\n".encode()
    return head + b"".join(b"%x\r\n%s\r\n" % (len(c), c) for c in chunks) + end


class RudeServer:
    """Each connection gets the next answer (the last one for all after it), then ends."""

    def __init__(
        self, *answers: bytes, certificate: tuple[Path, Path] | None = None
    ) -> None:
        self._answers = list(answers)
        self._socket = socket.create_server(("127.0.0.1", 0))
        self._tls: ssl.SSLContext | None = None
        if certificate is not None:
            self._tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self._tls.load_cert_chain(*certificate)
        self._stopped = threading.Event()
        self._threads: list[threading.Thread] = []
        self.requests: list[bytes] = []
        self.port = self._socket.getsockname()[1]

    @property
    def url(self) -> str:
        scheme = "https" if self._tls else "http"
        return f"{scheme}://127.0.0.1:{self.port}"

    def __enter__(self) -> Self:
        thread = threading.Thread(target=self._accept)
        thread.start()
        self._threads.append(thread)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stopped.set()
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        for thread in self._threads:
            thread.join(60)
            assert not thread.is_alive()

    def _accept(self) -> None:
        while not self._stopped.is_set():
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            answer = (
                self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
            )
            thread = threading.Thread(target=self._serve, args=[connection, answer])
            thread.start()
            self._threads.append(thread)

    def _serve(self, connection: socket.socket, answer: bytes) -> None:
        try:
            if self._tls is not None:
                connection = self._tls.wrap_socket(connection, server_side=True)
            with connection:
                self._read_request(connection)
                if answer.endswith(HOLD):
                    connection.sendall(answer.removesuffix(HOLD))
                    self._stopped.wait(300)
                elif answer:
                    connection.sendall(answer)
        except OSError:
            connection.close()

    def _read_request(self, connection: socket.socket) -> None:
        data = b""
        while b"\r\n\r\n" not in data:
            part = connection.recv(65536)
            if not part:
                return
            data += part
        head, _, body = data.partition(b"\r\n\r\n")
        length = 0
        for line in head.lower().split(b"\r\n"):
            if line.startswith(b"content-length:"):
                length = int(line.partition(b":")[2])
        while len(body) < length and (part := connection.recv(65536)):
            body += part
        self.requests.append(head + b"\r\n\r\n" + body)


def config_for(
    folder: Path, server: str, *, cluster: object = None, user: object = None
) -> ClusterConfig:
    """A cluster whose kubeconfig names ``server``."""
    path = folder / "kubeconfig"
    path.write_text(
        yaml.safe_dump(
            {
                "clusters": [
                    {"name": "c", "cluster": {"server": server, **(cluster or {})}}  # type: ignore[dict-item]  # tests pass mappings
                ],
                "users": [{"name": "u", "user": user or {}}],
                "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
                "current-context": "x",
            }
        )
    )
    return ClusterConfig(name="demo", kubeconfig=path)


def node_list(version: int, *names: str) -> bytes:
    items = ",".join(f'{{"metadata": {{"name": "{name}"}}}}' for name in names)
    meta = f'{{"resourceVersion": "{version}"}}'
    return response(f'{{"metadata": {meta}, "items": [{items}]}}'.encode())
