"""One API server over HTTP: raw JSON in, raw JSON out.

The ``kubernetes`` package supplies credentials and TLS (:mod:`cluster.credentials`)
and nothing more: its typed models drop fields that they do not know, and its raw
watch mishandles bookmarks and 410. Objects come and go in the version that the
server serves; :mod:`cluster.convert` makes them v1.

Every method raises :class:`~cluster.errors.ApiError` when the server refuses and
:class:`~cluster.errors.Unreachable` when there is no usable answer. A client may
be used by many threads. Nothing is retried here, with one exception: a 401 whose
credentials can be read anew (they are renewed on disk) is tried once more.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal
from urllib.parse import urlencode

import msgspec
import urllib3

from cluster import credentials, discovery
from cluster.config import ClusterConfig
from cluster.credentials import Transport
from cluster.errors import ApiError, Unauthorized, Unreachable, from_response
from cluster.resources import ServedResource
from cluster.streams import RawEvent, WatchStream
from cluster.unreachable import explain, may_have_been_sent

__all__ = ["ClusterClient", "Page", "PatchType", "RawEvent", "WatchStream"]

Json = dict[str, Any]
Query = Mapping[str, str | int]
PatchType = Literal["merge", "json", "strategic"]

USER_AGENT: Final = "dra-portal/0.1"
PATCH_TYPES: Final[dict[PatchType, str]] = {
    "merge": "application/merge-patch+json",
    "json": "application/json-patch+json",
    "strategic": "application/strategic-merge-patch+json",
}
MAX_ERROR_BYTES: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class Page:
    """A part of a list. All pages of one list show the same moment."""

    items: list[Json]
    """As served: without ``apiVersion`` and ``kind``."""
    resource_version: str


class ClusterClient:
    """See the module. ``connect`` reads credentials; the first request connects."""

    def __init__(
        self,
        config: ClusterConfig,
        transport: Transport,
        *,
        connect_timeout: float = 5.0,
        read_timeout: float = 60.0,
        reload_after: float = 30.0,
    ) -> None:
        self.config = config
        self._transport = transport
        self._lock = threading.Lock()
        self._connect_timeout = connect_timeout
        self._read_timeout = read_timeout
        self._reload_after = reload_after

    @classmethod
    def connect(
        cls,
        config: ClusterConfig,
        *,
        connect_timeout: float = 5.0,
        read_timeout: float = 60.0,
        reload_after: float = 30.0,
    ) -> ClusterClient:
        """A client for ``config``; times in seconds.

        Credentials younger than ``reload_after`` are not read anew after a failure.
        Raises :class:`~cluster.errors.Unreachable` when the kubeconfig or the
        service account cannot be used. Whether a server answers shows at the
        first request.
        """
        return cls(
            config,
            credentials.load(config),
            connect_timeout=connect_timeout,
            read_timeout=read_timeout,
            reload_after=reload_after,
        )

    def __repr__(self) -> str:
        return f"ClusterClient({self.config.name!r}, {self.address!r})"

    @property
    def address(self) -> str:
        """Host and port of the server."""
        return self._transport.address

    def close(self) -> None:
        """Close idle connections."""
        self._transport.pool.clear()

    # --- what is there -----------------------------------------------------

    def version(self) -> str:
        """The server's version, such as ``v1.36.2``; ``""`` when it tells none."""
        return str(self.request("GET", "/version").get("gitVersion") or "")

    def discover(self) -> dict[str, ServedResource]:
        """By kind, the newest version of our resources that can be read here.

        A kind that is not served is left out.
        """
        return discovery.discover(lambda path: self.request("GET", path))

    # --- reading -----------------------------------------------------------

    def get(self, served: ServedResource, namespace: str | None, name: str) -> Json:
        """One object. Raises ``NotFound`` (see its ``not_served``)."""
        return self.request("GET", served.path(namespace, name))

    def list_pages(
        self,
        served: ServedResource,
        limit: int = 500,
        *,
        namespace: str | None = None,
        field_selector: str = "",
        label_selector: str = "",
    ) -> Iterator[Page]:
        """The current list in pages of at most ``limit`` objects.

        Raises :class:`~cluster.errors.Gone` when the list became too old between
        two pages: start again.
        """
        query: dict[str, str | int] = {"limit": limit}
        if field_selector:
            query["fieldSelector"] = field_selector
        if label_selector:
            query["labelSelector"] = label_selector
        while True:
            body = self.request("GET", served.path(namespace), query=query)
            meta = body.get("metadata")
            items = body.get("items")
            if items is None:
                items = []
            if not isinstance(meta, dict) or not isinstance(items, list):
                raise Unreachable(f"{self.address} sent something that is not a list")
            yield Page(items, str(meta.get("resourceVersion") or ""))
            token = meta.get("continue")
            if not token:
                return
            query["continue"] = str(token)

    def watch(
        self,
        served: ServedResource,
        *,
        resource_version: str,
        timeout_seconds: int,
        stop: threading.Event | None = None,
        namespace: str | None = None,
        bookmarks: bool = True,
    ) -> WatchStream:
        """Changes after ``resource_version``, for about ``timeout_seconds``.

        The request is sent by the first ``next``. An expired version raises
        :class:`~cluster.errors.Gone` there, whether the server says it as a
        response or as an event. See :class:`~cluster.streams.WatchStream`.
        """
        query: dict[str, str | int] = {
            "watch": "true",
            "resourceVersion": resource_version,
            "timeoutSeconds": timeout_seconds,
        }
        if bookmarks:
            query["allowWatchBookmarks"] = "true"
        # The server ends the stream; silence beyond that means a dead connection.
        patience = timeout_seconds + 15.0

        def open_() -> urllib3.BaseHTTPResponse:
            response = self._send(
                "GET", served.path(namespace), query=query, compress=False
            )
            _be_patient(response, patience)
            return response

        def translate(error: Exception) -> Exception:
            return Unreachable(explain(error, self.address))

        return WatchStream(open_, translate, stop)

    # --- writing -----------------------------------------------------------

    def create(
        self,
        served: ServedResource,
        namespace: str | None,
        body: Json,
        *,
        dry_run: bool = False,
    ) -> Json:
        """Create; returns the object as stored."""
        path = served.path(namespace)
        return self.request("POST", path, body=body, query=_dry(dry_run))

    def replace(
        self,
        served: ServedResource,
        namespace: str | None,
        name: str,
        body: Json,
        subresource: str = "",
        *,
        dry_run: bool = False,
    ) -> Json:
        """Put; optimistic when ``metadata.resourceVersion`` is in ``body``."""
        path = _sub(served.path(namespace, name), subresource)
        return self.request("PUT", path, body=body, query=_dry(dry_run))

    def patch(
        self,
        served: ServedResource,
        namespace: str | None,
        name: str,
        body: Json | list[Json],
        subresource: str = "",
        patch_type: PatchType = "merge",
        *,
        dry_run: bool = False,
    ) -> Json:
        """Patch; optimistic when ``metadata.resourceVersion`` is in ``body``."""
        return self.request(
            "PATCH",
            _sub(served.path(namespace, name), subresource),
            body=body,
            query=_dry(dry_run),
            content_type=PATCH_TYPES[patch_type],
        )

    def delete(
        self,
        served: ServedResource,
        namespace: str | None,
        name: str,
        *,
        uid: str = "",
        resource_version: str = "",
        dry_run: bool = False,
    ) -> Json:
        """Delete, only if ``uid`` and ``resource_version`` (when given) still hold.

        Returns the last object, or the object being deleted when finalizers hold it.
        """
        body: Json = {"apiVersion": "v1", "kind": "DeleteOptions"}
        expected = {"uid": uid, "resourceVersion": resource_version}
        if preconditions := {key: value for key, value in expected.items() if value}:
            body["preconditions"] = preconditions
        path = served.path(namespace, name)
        return self.request("DELETE", path, body=body, query=_dry(dry_run))

    # --- HTTP --------------------------------------------------------------

    def request(
        self,
        method: str,
        path: str,
        *,
        query: Query | None = None,
        body: Any = None,
        content_type: str = "application/json",
    ) -> Json:
        """One request, the answer as a JSON object. ``path`` must be escaped."""
        write = method != "GET"
        response = self._send(
            method, path, query=query, body=body, content_type=content_type
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

    def _send(
        self,
        method: str,
        path: str,
        *,
        query: Query | None = None,
        body: Any = None,
        content_type: str = "application/json",
        compress: bool = True,
    ) -> urllib3.BaseHTTPResponse:
        """Send and return the open response of a success; raise for the rest."""
        call = _Call(method, path, query, body, content_type, compress)
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
                    connect=self._connect_timeout,
                    read=self._read_timeout,
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
            if time.monotonic() - used.loaded_at < self._reload_after:
                return False
            try:
                self._transport = credentials.load(self.config)
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


def _be_patient(response: urllib3.BaseHTTPResponse, seconds: float) -> None:
    """Once the headers are there, silence is normal: allow this much of it."""
    sock = getattr(response.connection, "sock", None)
    if sock is not None:
        sock.settimeout(seconds)


def _dry(dry_run: bool) -> Query | None:
    return {"dryRun": "All"} if dry_run else None


def _sub(path: str, subresource: str) -> str:
    return f"{path}/{subresource}" if subresource else path
