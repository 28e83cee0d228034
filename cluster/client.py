"""One API server over HTTP: raw JSON in, raw JSON out.

The ``kubernetes`` package supplies credentials and TLS (:mod:`cluster.credentials`)
and nothing more: its typed models drop fields that they do not know, and its raw
watch mishandles bookmarks and 410. Objects come and go in the version that the
server serves; :mod:`cluster.convert` makes them v1.

Every method raises :class:`~cluster.errors.ApiError` when the server refuses and
:class:`~cluster.errors.Unreachable` when there is no usable answer. A client may
be used by many threads. Nothing is repeated, apart from what :mod:`cluster.http`
does about renewed credentials.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Literal

import urllib3

from cluster import discovery
from cluster.config import ClusterConfig
from cluster.errors import Unreachable
from cluster.http import Http, Query, Times
from cluster.resources import ServedResource
from cluster.streams import RawEvent, WatchStream
from cluster.unreachable import explain

__all__ = ["ClusterClient", "Page", "PatchType", "RawEvent", "WatchStream"]

Json = dict[str, Any]
PatchType = Literal["merge", "json", "strategic"]

PATCH_TYPES: Final[dict[PatchType, str]] = {
    "merge": "application/merge-patch+json",
    "json": "application/json-patch+json",
    "strategic": "application/strategic-merge-patch+json",
}


@dataclass(frozen=True, slots=True)
class Page:
    """A part of a list. All pages of one list show the same moment."""

    items: list[Json]
    """As served: without ``apiVersion`` and ``kind``."""
    resource_version: str


class ClusterClient:
    """See the module. ``connect`` reads credentials; the first request connects."""

    def __init__(self, config: ClusterConfig, http: Http, *, as_user: str = "") -> None:
        self.config = config
        self._http = http
        self.request = partial(http.request, as_user=as_user)

    @classmethod
    def connect(
        cls,
        config: ClusterConfig,
        *,
        connect_timeout: float = 5.0,
        read_timeout: float = 60.0,
        reload_after: float = 30.0,
    ) -> ClusterClient:
        """A client for ``config``; times in seconds, see :class:`~cluster.http.Times`.

        Raises :class:`~cluster.errors.Unreachable` when the kubeconfig or the
        service account cannot be used. Whether a server answers shows at the
        first request.
        """
        times = Times(
            connect=connect_timeout, read=read_timeout, reload_after=reload_after
        )
        return cls(config, Http(config, times))

    def as_user(self, name: str) -> ClusterClient:
        """A client whose requests the API server takes as those of user ``name``.

        It shares connections and credentials with this one; closing one closes both.
        Watches are the portal's own as before. Of the user's groups the server then
        knows ``system:authenticated`` alone, which it adds itself.
        """
        return ClusterClient(self.config, self._http, as_user=name)

    def __repr__(self) -> str:
        return f"ClusterClient({self.config.name!r}, {self.address!r})"

    @property
    def address(self) -> str:
        """Host and port of the server."""
        return self._http.address

    def close(self) -> None:
        """Close idle connections."""
        self._http.close()

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
        field_selector: str = "",
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
        if field_selector:
            query["fieldSelector"] = field_selector
        # The server ends the stream; silence beyond that means a dead connection.
        patience = timeout_seconds + 15.0

        def open_() -> urllib3.BaseHTTPResponse:
            response = self._http.open(
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


def _be_patient(response: urllib3.BaseHTTPResponse, seconds: float) -> None:
    """Once the headers are there, silence is normal: allow this much of it."""
    sock = getattr(response.connection, "sock", None)
    if sock is not None:
        sock.settimeout(seconds)


def _dry(dry_run: bool) -> Query | None:
    return {"dryRun": "All"} if dry_run else None


def _sub(path: str, subresource: str) -> str:
    return f"{path}/{subresource}" if subresource else path
