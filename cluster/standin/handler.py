"""HTTP/1.1 around :class:`~cluster.standin.api.Api`: sockets, chunks, faults."""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final
from urllib.parse import parse_qsl, unquote

import structlog

from cluster.standin.answers import MAX_BODY, StatusError, not_allowed
from cluster.standin.api import Api
from cluster.standin.control import CONTROL_PATH, Control
from cluster.standin.faults import Fault, Faults
from cluster.standin.messages import (
    Answer,
    Request,
    json_answer,
    refusal_answer,
    too_many_requests,
)
from cluster.standin.watching import BrokenOffError, WatchStream

log = structlog.get_logger("cluster.standin")

_RESET: Final = struct.pack("ii", 1, 0)
"""SO_LINGER that makes close() send a reset."""
_HALF_CHUNK: Final = b'1000\r\n{"type":"MODIFIED","obj'
_WRITES: Final = frozenset({"POST", "PUT", "PATCH", "DELETE"})
_SPARED: Final = ("/livez", "/readyz", "/healthz", CONTROL_PATH)


class Listener(ThreadingHTTPServer):
    """Accepts connections on a bound socket, one thread each, and can drop them all."""

    daemon_threads = False
    block_on_close = True
    request_queue_size = 128
    allow_reuse_address = True
    allow_reuse_port = True

    def __init__(
        self,
        address: tuple[str, int],
        api: Api,
        faults: Faults,
        control: Control | None,
    ) -> None:
        self.api = api
        self.faults = faults
        self.control = control
        self.stopping = threading.Event()
        self._open: set[socket.socket] = set()
        self._guard = threading.Lock()
        super().__init__(address, Handler)
        self._loop = threading.Thread(
            target=self.serve_forever,
            kwargs={"poll_interval": 0.05},
            name="standin-accept",
        )

    def start(self) -> None:
        self._loop.start()

    def refuse(self) -> None:
        """No more connections; a watch that is still asked for ends at once."""
        self.stopping.set()
        with contextlib.suppress(OSError):
            # Unlike close() it wakes the thread that accepts.
            self.socket.shutdown(socket.SHUT_RDWR)

    def stop(self) -> None:
        """Open connections break, too; returns when all threads ended."""
        self.refuse()
        self.shutdown()
        self._loop.join()
        self.drop_connections()
        self.server_close()

    def drop_connections(self) -> None:
        with self._guard:
            for connection in self._open:
                break_off(connection)

    def get_request(self) -> tuple[socket.socket, Any]:
        connection, address = super().get_request()
        with self._guard:
            self._open.add(connection)
        return connection, address

    def shutdown_request(self, request: Any) -> None:
        with self._guard:
            self._open.discard(request)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A connection that the other side closed is no news."""


def break_off(connection: socket.socket) -> None:
    """End a connection as a dying process does; its thread notices and closes."""
    try:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
        connection.shutdown(socket.SHUT_RDWR)
    except OSError:
        return


class Handler(BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: Listener

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 base class
        """Requests are not logged."""

    def _serve(self) -> None:
        try:
            self._answer_request()
        except (BrokenOffError, ConnectionError, TimeoutError):
            self._break()
        except ValueError:
            # A Content-Length or a chunk size that is no number: not HTTP.
            self._break()

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _serve  # noqa: N815
    do_HEAD = do_OPTIONS = _serve  # noqa: N815

    def _answer_request(self) -> None:
        encoded, _, query = self.requestline.split(" ")[1].partition("?")
        path = unquote(encoded)
        body = self._read_body()
        if body is None:
            return
        spared = path in _SPARED
        planned = None if spared else self.server.faults.count()
        if not spared and not self._passes_faults(planned):
            return
        request = Request(
            method=self.command,
            path=path,
            query=dict(parse_qsl(query, keep_blank_values=True)),
            headers={key.lower(): value for key, value in self.headers.items()},
            body=body,
        )
        answer = self._respond(request)
        if planned is not None:
            if isinstance(answer, WatchStream):
                answer.close()
            answer = self._fault_answer(planned.status)
        if isinstance(answer, WatchStream):
            self._stream(answer)
            return
        if not spared and self.command in _WRITES and answer.code < 300:
            after = self.server.faults.next_after_write()
            if after is not None:
                answer = self._fault_answer(after)
        self._send(answer)

    def _respond(self, request: Request) -> Answer | WatchStream:
        if request.path.startswith("//"):
            return Answer(404, b"404 page not found\n", "text/plain; charset=utf-8")
        if request.method in ("HEAD", "OPTIONS"):
            return refusal_answer(not_allowed())
        if request.path == CONTROL_PATH and self.server.control is not None:
            return self.server.control.handle(request)
        try:
            return self.server.api.handle(request)
        except Exception:
            # A bug of the stand-in must not hang the client: it gets a 500.
            log.exception("standin_request_failed", path=request.path)
            return refusal_answer(
                StatusError(500, "InternalError", "the stand-in failed; see its log")
            )

    def _read_body(self) -> bytes | None:
        """The body, or None when the request was refused and answered."""
        if self.headers.get("Transfer-Encoding", "").lower() == "chunked":
            body = self._read_chunks()
        else:
            length = int(self.headers.get("Content-Length") or 0)
            body = self._read_at_most(length)
        if body is None:
            message = f"Request entity too large: limit is {MAX_BODY}"
            error = StatusError(413, "RequestEntityTooLarge", message)
            self._send(refusal_answer(error))
        return body

    def _read_chunks(self) -> bytes | None:
        parts: list[bytes] = []
        while size := int(self.rfile.readline().partition(b";")[0], 16):
            parts.append(self.rfile.read(size))
            self.rfile.readline()
            if sum(map(len, parts)) > MAX_BODY:
                self.close_connection = True
                return None
        while self.rfile.readline().strip():
            continue
        return b"".join(parts)

    def _read_at_most(self, length: int) -> bytes | None:
        """None for a body that is too large; it is read so that the answer is seen."""
        if length < 0:
            raise ValueError(length)
        if length <= MAX_BODY:
            return self.rfile.read(length) if length else b""
        left = min(length, 4 * MAX_BODY)
        while left > 0 and (part := self.rfile.read(min(left, 65536))):
            left -= len(part)
        self.close_connection = length > 4 * MAX_BODY
        return None

    # --- faults -----------------------------------------------------------

    def _passes_faults(self, planned: Fault | None) -> bool:
        """False when a fault took the request."""
        faults = self.server.faults
        if faults.latency > 0:
            self.server.stopping.wait(faults.latency)
        if planned is not None and not planned.after:
            self._send(self._fault_answer(planned.status))
            return False
        if faults.next_drop():
            raise BrokenOffError
        status = faults.next_status()
        if status is None:
            return True
        self._send(self._fault_answer(status))
        return False

    def _fault_answer(self, status: int) -> Answer:
        if status == 0:
            raise BrokenOffError
        retry_after = self.server.faults.retry_after
        if status == 429:
            return too_many_requests(retry_after)
        reasons = {
            500: ("InternalError", "an error on the server, injected"),
            503: ("ServiceUnavailable", "the server is currently unable, injected"),
            504: ("Timeout", "the request did not complete in time, injected"),
            403: ("Forbidden", "it is forbidden, injected"),
            404: ("NotFound", "it is not found, injected"),
            409: ("Conflict", "the object has been modified, injected"),
            410: ("Expired", "the resourceVersion is too old, injected"),
            422: ("Invalid", "it is invalid, injected"),
        }
        reason, message = reasons[status]
        # Only with a name does 404 mean an object rather than a kind.
        details = {"name": "injected"} if status < 500 else {}
        body = StatusError(status, reason, message, details=details).body()
        return json_answer(status, body)

    def _break(self) -> None:
        self.close_connection = True
        break_off(self.connection)

    # --- output -----------------------------------------------------------

    def _send(self, answer: Answer) -> None:
        self.send_response(answer.code)
        self.send_header("Content-Type", answer.content_type)
        self.send_header("Cache-Control", "no-cache, private")
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(answer.body)))
        body = b"" if self.command == "HEAD" else answer.body
        self._write_with_head(body)

    def _write_with_head(self, body: bytes) -> None:
        """Headers and body in one write: no delay between two small packets."""
        buffered: list[bytes] = self._headers_buffer  # type: ignore[attr-defined]  # the base class sets it in send_response
        buffered.append(b"\r\n")
        head = b"".join(buffered)
        buffered.clear()
        self.wfile.write(head + body)

    def _stream(self, watch: WatchStream) -> None:
        if self.server.stopping.is_set():
            # It may have begun after all were cut.
            watch.close()
            raise BrokenOffError
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Cache-Control", "no-cache, private")
        self.send_header("Transfer-Encoding", "chunked")
        try:
            self._write_with_head(b"")
            for lines in watch.lines():
                self.wfile.write(b"%x\r\n%b\r\n" % (len(lines), lines))
            self.wfile.write(b"0\r\n\r\n")
        except BrokenOffError:
            self.wfile.write(_HALF_CHUNK)
            raise
        finally:
            watch.close()
