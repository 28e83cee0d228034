"""Recordings of a real API server, replayed against the stand-in."""

from __future__ import annotations

import gzip
import json
import re
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from cluster.standin.access import ADMIN, Rule, User
from cluster.standin.server import StandinServer
from tests.cluster.standin import scheduled as small
from tests.cluster.standin.http_client import Http, Reply

Json = Any
DATA = Path(__file__).parent / "data" / "api_recordings.json.gz"
RECORDINGS: dict[str, Json] = {
    record["id"]: record for record in json.loads(gzip.decompress(DATA.read_bytes()))
}
IDS = list(RECORDINGS)
READ = ("get", "list", "watch")
DRA = ("resourceslices", "resourceclaims", "deviceclasses", "resourceclaimtemplates")
USERS = {
    "admin": ADMIN,
    "viewer": User("viewer", (Rule(READ, DRA),)),
    "half-allocator": User(
        "half-allocator",
        (
            Rule((*READ, "update", "patch"), DRA),
            Rule(("update", "patch"), ("resourceclaims/status",)),
        ),
    ),
    "nobody-special": User("nobody-special"),
    "impersonator": User(
        "impersonator", (Rule(("impersonate",), ("users",), names=("viewer",)),)
    ),
    "throttled": User("throttled", throttled=True),
}
OTHER_WORDS = {
    "list-continue-garbage",
    "create-400-json",
    "create-415",
    "accept-cbor",
    "accept-html",
    "status-alloc-immutable",
    "patch-json-notlist",
    "finalizer-add-while-deleting",
    "patch-strategic-uid-guard",
    "http410-continue",
    "watch-rv1-expired",
}
"""Same status and reason; the message or a cause is worded differently."""


class Story:
    """A server, and what the recordings call its uids and resourceVersions."""

    def __init__(self, server: StandinServer) -> None:
        self.server = server
        self.uids: dict[str, str] = {}
        self.versions: dict[str, str] = {}

    def reach(self, version: int) -> None:
        """Let the resourceVersion counter stand at ``version``."""
        while self.server.store.version < version:
            self.server.store.put(
                {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "clock"}}
            )
        assert self.server.store.version == version

    def replay(self, name: str) -> None:
        record = RECORDINGS[name]
        if "events" in record:
            self._watch(record)
            return
        reply = self._send(record)
        assert reply.status == record["status"], f"{name}: {reply.body!r}"
        if "content_type" in record:
            assert reply.headers["content-type"] == record["content_type"], name
        assert reply.headers.get("retry-after") == record.get("retry_after"), name
        self._compare(name, record["response"], reply)

    def _send(self, record: Json) -> Reply:
        body = record["body"]
        if record["id"] == "413-body-over-3MiB":
            body = b"{" + b" " * 3145738 + b"}"
        elif isinstance(body, str):
            body = body.encode()
        elif body is not None:
            body = self._translated(json.dumps(body)).encode()
        path = self._translated(record["path"])
        if record["query"]:
            path += "?" + self._translated(record["query"])
        return self._client(record).send(
            record["method"], path, body, headers=record["headers"]
        )

    def _client(self, record: Json) -> Http:
        user = record["user"]
        token = "" if user == "anonymous" else user
        return Http(self.server.port, token=token)

    def _translated(self, text: str) -> str:
        for old, new in self.uids.items():
            text = text.replace(old, new)
        for old, new in self.versions.items():
            text = re.sub(
                rf'"resourceVersion": "{old}"', f'"resourceVersion": "{new}"', text
            )
        return text

    # --- comparing --------------------------------------------------------

    def _compare(self, name: str, recorded: Json, reply: Reply) -> None:
        if recorded.get("__nonjson__"):
            head = recorded["head"].encode()
            assert reply.body[:20] == head[:20], name
            return
        if recorded.get("__truncated__"):
            found = re.match(
                r'\{"kind": "(\w+)".*?"resourceVersion": "(\d+)"', recorded["head"]
            )
            assert found, name
            assert (
                reply.json["kind"],
                reply.json["metadata"]["resourceVersion"],
            ) == found.groups()
            return
        actual = reply.json
        if recorded["kind"] == "Status":
            self._compare_status(name, recorded, actual)
        elif "items" in recorded:
            wanted = json.loads(self._translated(json.dumps(recorded)))
            assert _shown(actual) == _shown(wanted), name
            assert actual["metadata"] == _with_our_token(wanted, actual), name
        elif recorded["kind"] in DISCOVERY:
            DISCOVERY[recorded["kind"]](recorded, actual)
        elif "metadata" in recorded and "uid" in recorded["metadata"]:
            self._compare_object(name, recorded, actual)
        else:
            assert _review(actual) == _review(recorded), name

    def _compare_status(self, name: str, recorded: Json, actual: Json) -> None:
        if name not in OTHER_WORDS:
            assert actual == json.loads(self._translated(json.dumps(recorded))), name
            return
        for field in ("code", "reason", "status"):
            assert actual.get(field) == recorded.get(field), name
        ours, theirs = actual.get("details", {}), recorded.get("details", {})
        for field in ("name", "group", "kind"):
            assert ours.get(field) == theirs.get(field), name
        causes = {(c["reason"], c["field"]) for c in ours.get("causes", [])}
        assert causes <= {(c["reason"], c["field"]) for c in theirs.get("causes", [])}
        assert bool(causes) == ("causes" in theirs), name

    def _compare_object(self, name: str, recorded: Json, actual: Json) -> None:
        """Equal but for uid, times and resourceVersion, which have to correspond."""
        self._learn(name, recorded["metadata"], actual["metadata"])
        assert _timeless(actual) == _timeless(recorded), name
        assert set(actual["metadata"]) == set(recorded["metadata"]), name

    def _learn(self, name: str, recorded: Json, actual: Json) -> None:
        if "g-" in str(recorded.get("generateName")):
            assert re.fullmatch("g-[a-z0-9]{5}", actual["name"])
            self.uids[recorded["name"]] = actual["name"]
            actual["name"] = recorded["name"]
        if "resourceVersion" not in recorded:
            assert "resourceVersion" not in actual, name
            return
        known = self.uids.setdefault(recorded["uid"], actual["uid"])
        assert known == actual["uid"], name
        before = self.versions.setdefault(
            recorded["resourceVersion"], actual["resourceVersion"]
        )
        assert before == actual["resourceVersion"], name
        assert len(set(self.versions.values())) == len(self.versions), name

    # --- watches ----------------------------------------------------------

    def _watch(self, record: Json) -> None:
        name = record["id"]
        path = f"{record['path']}?{record['query']}"
        changes = threading.Thread(target=self._change_things, args=(record,))
        changes.start()
        actual = list(self._client(record).watch(path, record["headers"]))
        changes.join()
        expected = [e for e in record["events"] if not _late_bookmark(record, e)]
        actual = [e for e in actual if not _late_bookmark(record, e)]
        if any("skipped" in event for event in expected):
            gap = next(i for i, e in enumerate(expected) if "skipped" in e)
            left = len(expected) - gap - 1
            assert len(actual) == gap + left + expected[gap]["skipped"], name
            del expected[gap]
            actual = actual[:gap] + actual[-left:]
        assert len(actual) == len(expected), (name, actual)
        for ours, theirs in zip(actual, expected, strict=True):
            assert ours["type"] == theirs["type"], name
            if ours["type"] == "ERROR" and name in OTHER_WORDS:
                self._compare_status(name, theirs["object"], ours["object"])
            else:
                _assert_within(_timeless(theirs["object"]), ours["object"], name)

    def _change_things(self, record: Json) -> None:
        """What somebody did to w-1 while this watch was running."""
        names = [
            e.get("object", {}).get("metadata", {}).get("name")
            for e in record["events"]
        ]
        if "w-1" not in names:
            return
        store = self.server.store
        small.eventually(lambda: store.watches, "the watch")
        first = next(
            e for e in RECORDINGS["watch-basic"]["events"] if e["type"] == "ADDED"
        )
        obj = json.loads(json.dumps(first["object"]))
        del obj["metadata"]["uid"]
        store.put(obj)
        obj["metadata"]["labels"] = {"tier": "x"}
        store.put(obj)
        store.delete("ResourceSlice", "w-1")


def _shown(listed: Json) -> Json:
    """Kind and items, without the times."""
    items = [
        {**item, "metadata": {**item["metadata"], "creationTimestamp": ""}}
        for item in listed["items"]
    ]
    return listed["kind"], listed["apiVersion"], items


def _with_our_token(recorded: Json, actual: Json) -> Json:
    """The recorded list metadata; of an opaque token only its presence counts."""
    meta = dict(recorded["metadata"])
    if "continue" in meta and "continue" in actual["metadata"]:
        meta["continue"] = actual["metadata"]["continue"]
    return meta


def _late_bookmark(record: Json, event: Json) -> bool:
    """Bookmarks come when they come; only the one after the initial list is fixed."""
    del record
    meta = event.get("object", {}).get("metadata", {})
    return event.get("type") == "BOOKMARK" and "annotations" not in meta


def _timeless(obj: Json) -> Json:
    copied = json.loads(json.dumps(obj))
    for field in ("uid", "resourceVersion", "creationTimestamp", "deletionTimestamp"):
        copied.get("metadata", {}).pop(field, None)
    return copied


def _assert_within(expected: Json, actual: Json, name: str) -> None:
    """The recorder shortened objects: what it kept has to be there."""
    if isinstance(expected, dict):
        for key, value in expected.items():
            assert key in actual, (name, key, actual)
            _assert_within(value, actual[key], name)
    else:
        assert actual == expected, name


def _review(obj: Json) -> Json:
    """Who am I and may I: the reason and the user's uid are the recorder's own."""
    copied = _timeless(obj)
    copied.get("status", {}).pop("reason", None)
    copied.get("status", {}).get("userInfo", {}).pop("uid", None)
    return copied


def _same_groups(recorded: Json, actual: Json) -> None:
    wanted = [g for g in recorded["groups"] if g["name"] == "resource.k8s.io"]
    assert [g for g in actual["groups"] if g["name"] == "resource.k8s.io"] == wanted


def _same_resources(recorded: Json, actual: Json) -> None:
    plain = [
        {key: value for key, value in resource.items() if key != "storageVersionHash"}
        for resource in recorded["resources"]
        if not resource["name"].startswith("resourcepoolstatusrequests")
    ]
    assert actual["resources"] == plain
    assert actual["groupVersion"] == recorded["groupVersion"]


def _same(recorded: Json, actual: Json) -> None:
    assert actual == recorded


def _same_versions(recorded: Json, actual: Json) -> None:
    assert actual["versions"] == recorded["versions"]


DISCOVERY: dict[str, Callable[[Json, Json], None]] = {
    "APIVersions": _same_versions,
    "APIGroupList": _same_groups,
    "APIGroup": _same,
    "APIResourceList": _same_resources,
}
