"""Requests to one API server: credentials, time limits, and errors as they should be.

What :class:`~cluster.client.ClusterClient` stands on; it knows no Kubernetes object.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlencode

import msgspec
import urllib3

from cluster import credentials
from cluster.config import ClusterConfig
from cluster.credentials import Transport
from cluster.errors import ApiError, Unauthorized, Unreachable, from_response
from cluster.unreachable import explain, may_have_been_sent

Json = dict[str, Any]
Query = Mapping[str, str | int]

USER_AGENT: Final = "dra-portal/0.1"
MAX_ERROR_BYTES: Final = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Times:
    """In seconds."""

    connect: float = 5.0
    read: float = 60.0
    """How long a server may be silent before and in an answer."""
    reload_after: float = 30.0
    """Credentials younger than this are not read anew after a failure."""


class Http:
    """Sends requests from any number of threads.

    Nothing is repeated, with one exception: a 401 whose credentials can be read
    anew (they are renewed on disk) is tried once more.
    """

    def __init__(self, config: ClusterConfig, times: Times) -> None:
        """Reads the credentials of ``config``; raises :class:`Unreachable`."""
        self._config = config
        self._times = times
        self._lock = threading.Lock()
        self._transport = credentials.load(config)

    @property
    def address(self) -> str:
        """Host and port of the server."""
        return self._transport.address

    def close(self) -> None:
        """Close idle connections."""
        self._transport.pool.clear()

    def request(
        self,
        method: str,
        path: str,
        *,
        query: Query | None = None,
        body: Any = None,
        content_type: str = "application/json",
        as_user: str = "",
    ) -> Json:
        """One request, the answer as a JSON object. ``path`` must be escaped.

        ``as_user``: who the API server shall take us for (impersonation).
        """
        write = method != "GET"
        response = self.open(
            method,
            path,
            query=query,
            body=body,
            content_type=content_type,
            as_user=as_user,
        )
        try:
            data = response.read(decode_content=True)
        except (urllib3.exceptions.HTTPError, OSError) as error:
            raise Unreachable(
                explain(error, self.address), outcome_unknown=write
            ) from error
        finally:
            response.release_conn()
        try:
            answer = msgspec.json.decode(data)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            answer = None
        if not isinstance(answer, dict):
            raise Unreachable(
                f"{self.address} answered with something that is not a JSON object; "
                "is it the address of a Kubernetes API server?",
                outcome_unknown=write,
            )
        return answer

    def open(
        self,
        method: str,
        path: str,
        *,
        query: Query | None = None,
        body: Any = None,
        content_type: str = "application/json",
        compress: bool = True,
        as_user: str = "",
    ) -> urllib3.BaseHTTPResponse:
        """Send and return the open response of a success; raise for the rest."""
        call = _Call(method, path, query, body, content_type, compress, as_user)
        transport = self._transport
        try:
            return self._send_once(transport, call)
        except Unauthorized:
            if not self._reload(transport):
                raise
        except Unreachable:
            # The kubeconfig may name another address by now; for the next request.
            self._reload(transport)
            raise
        return self._send_once(self._transport, call)

    def _send_once(self, transport: Transport, call: _Call) -> urllib3.BaseHTTPResponse:
        write = call.method != "GET"
        headers = self._headers(transport, call)
        url = transport.url + call.path
        if call.query:
            url += "?" + urlencode(call.query)
        try:
            response = transport.pool.request(
                call.method,
                url,
                body=msgspec.json.encode(call.body) if call.body is not None else None,
                headers=headers,
                preload_content=False,
                retries=False,
                timeout=urllib3.Timeout(
                    connect=self._times.connect,
                    read=self._times.read,
                ),
            )
        except (urllib3.exceptions.HTTPError, OSError) as error:
            raise Unreachable(
                explain(error, transport.address),
                outcome_unknown=write and may_have_been_sent(error),
            ) from error
        if 200 <= response.status < 300:
            return response
        raise self._refusal(response, transport, write=write)

    def _headers(self, transport: Transport, call: _Call) -> dict[str, str]:
        headers = {
            "Accept": "application/json",
            # A proxy that compresses a watch would hold its events back.
            "Accept-Encoding": "gzip" if call.compress else "identity",
            "User-Agent": USER_AGENT,
        }
        if call.body is not None:
            headers["Content-Type"] = call.content_type
        with self._lock:
            authorization = credentials.authorization(transport)
        if authorization:
            headers["Authorization"] = authorization
        if call.as_user:
            # The bytes of a header are UTF-8 to the API server, Latin-1 to http.client.
            headers["Impersonate-User"] = call.as_user.encode().decode("latin-1")
        return headers

    def _refusal(
        self, response: urllib3.BaseHTTPResponse, transport: Transport, *, write: bool
    ) -> ApiError | Unreachable:
        try:
            data = response.read(MAX_ERROR_BYTES, decode_content=True)
        except (urllib3.exceptions.HTTPError, OSError):
            data = b""
        finally:
            # Not released: the rest of a long body would be taken for the next answer.
            response.close()
        if 300 <= response.status < 400:
            return Unreachable(
                f"{transport.address} redirects elsewhere; "
                "is it the address of a Kubernetes API server?"
            )
        return from_response(response.status, response.headers, data, write=write)

    def _reload(self, used: Transport) -> bool:
        """Read the credentials anew, unless they are fresh; True if so.

        Many threads may see the same failure: only the first one reads.
        """
        with self._lock:
            if self._transport is not used:
                return True
            if time.monotonic() - used.loaded_at < self._times.reload_after:
                return False
            try:
                self._transport = credentials.load(self._config)
            except Unreachable:
                return False
            return True


@dataclass(frozen=True, slots=True)
class _Call:
    method: str
    path: str
    query: Query | None
    body: Any
    content_type: str
    compress: bool
    as_user: str
