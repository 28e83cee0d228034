"""A plain HTTP client for tests: what goes over the wire, nothing else."""

from __future__ import annotations

import http.client
import json
from collections.abc import Generator
from contextlib import closing
from dataclasses import dataclass
from typing import Any

Json = Any

MERGE = "application/merge-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"
JSON_PATCH = "application/json-patch+json"
CLAIMS = "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims"
SLICES = "/apis/resource.k8s.io/v1/resourceslices"


@dataclass(frozen=True, slots=True)
class Reply:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Json:
        return json.loads(self.body)

    @property
    def names(self) -> list[str]:
        """The names of a list's items."""
        return [item["metadata"]["name"] for item in self.json["items"]]


class Http:
    """Requests to ``127.0.0.1:port``, each on a connection of its own."""

    def __init__(self, port: int, *, token: str = "") -> None:
        self._port = port
        self._token = token

    def send(
        self,
        method: str,
        path: str,
        body: Json = None,
        *,
        headers: dict[str, str] | None = None,
        content_type: str = "application/json",
    ) -> Reply:
        sent = dict(headers or {})
        if self._token:
            sent["Authorization"] = f"Bearer {self._token}"
        data = body if isinstance(body, bytes | None) else json.dumps(body).encode()
        if data is not None:
            sent.setdefault("Content-Type", content_type)
        with closing(self.connection()) as connection:
            connection.request(method, path, data, sent)
            answer = connection.getresponse()
            found = {key.lower(): value for key, value in answer.getheaders()}
            return Reply(answer.status, found, answer.read())

    def get(self, path: str) -> Reply:
        return self.send("GET", path)

    def post(self, path: str, body: Json) -> Reply:
        return self.send("POST", path, body)

    def put(self, path: str, body: Json) -> Reply:
        return self.send("PUT", path, body)

    def patch(self, path: str, body: Json, content_type: str = MERGE) -> Reply:
        return self.send("PATCH", path, body, content_type=content_type)

    def delete(self, path: str, body: Json = None) -> Reply:
        return self.send("DELETE", path, body)

    def connection(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection("127.0.0.1", self._port, timeout=60)

    def watch(
        self, path: str, headers: dict[str, str] | None = None
    ) -> Generator[Json]:
        """The events of a watch as they come; http.client errors when it breaks."""
        sent = dict(headers or {})
        if self._token:
            sent["Authorization"] = f"Bearer {self._token}"
        with closing(self.connection()) as connection:
            connection.request("GET", path, headers=sent)
            answer = connection.getresponse()
            assert answer.status == 200, answer.read()
            with closing(answer):
                while line := answer.readline():
                    yield json.loads(line)
                if answer.chunked and not answer.isclosed():
                    raise http.client.IncompleteRead(b"")


def claim(name: str = "c1", **meta: Json) -> Json:
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {"name": name, **meta},
        "spec": {
            "devices": {
                "requests": [{"name": "gpu", "exactly": {"deviceClassName": "gpu"}}]
            }
        },
    }


def piece(name: str, *, driver: str = "gpu.acme.test", node: str = "n0") -> Json:
    """A ResourceSlice with one device."""
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceSlice",
        "metadata": {"name": name},
        "spec": {
            "driver": driver,
            "nodeName": node,
            "pool": {"name": node, "generation": 1, "resourceSliceCount": 1},
            "devices": [{"name": "d0", "attributes": {"model": {"string": "X100"}}}],
        },
    }


ALLOCATION: Json = {
    "devices": {
        "results": [
            {"request": "gpu", "driver": "gpu.acme.test", "pool": "n0", "device": "d0"}
        ]
    }
}


def reserved(name: str, uid: str) -> Json:
    return {"resource": "pods", "name": name, "uid": uid}
