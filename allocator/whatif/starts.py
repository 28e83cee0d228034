"""Scenarios that begin at an object of the cluster: what its page's link leads to."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from dra.objects import write
from dra.snapshot import Snapshot

type Json = dict[str, Any]


def started(snapshot: Snapshot, asked: Mapping[str, str]) -> Json:
    """The scenario that the parameters of an address begin; empty where there are none.

    ``drain``, ``cordon``, ``remove`` and ``like`` name a node, ``class`` a class to change,
    ``claim`` and ``template`` are ``namespace/name`` with ``copies``, ``release`` is a
    namespace, ``taint`` is ``driver/pool/device``, ``waiting`` places what waits.
    """
    raw: Json = {}
    for name, begin in _STARTS.items():
        if value := asked.get(name, "").strip()[:600]:
            for section, entry in begin(snapshot, value, asked).items():
                raw.setdefault(section, []).append(entry)
    return raw


def _nodes(kind: str) -> Callable[..., Json]:
    return lambda _snapshot, value, _asked: {"edits": {"edit": kind, "nodes": [value]}}


def _like(_snapshot: Snapshot, value: str, asked: Mapping[str, str]) -> Json:
    return {"edits": {"edit": "addNodes", "like": value, "count": _copies(asked)}}


def _class(snapshot: Snapshot, value: str, _asked: Mapping[str, str]) -> Json:
    known = snapshot.classes.get(value)
    spec = write(known).get("spec", {}) if known is not None else {}
    return {"edits": {"edit": "setClass", "name": value, "spec": spec}}


def _work(kind: str) -> Callable[..., Json]:
    return lambda _snapshot, value, asked: {
        "workload": {"place": kind, "existing": value, "copies": _copies(asked)}
    }


def _release(_snapshot: Snapshot, value: str, _asked: Mapping[str, str]) -> Json:
    return {"edits": {"edit": "release", "namespace": value}}


def _taint(_snapshot: Snapshot, value: str, _asked: Mapping[str, str]) -> Json:
    driver, _, rest = value.partition("/")
    pool, _, device = rest.rpartition("/")  # names of pools may hold slashes
    named = {"driver": driver, "pool": pool, "device": device}
    chosen = {name: text for name, text in named.items() if text}
    taint = {"key": "what-if", "effect": "NoExecute"}
    return {"edits": {"edit": "taint", "devices": chosen, "taint": taint}}


def _waiting(_snapshot: Snapshot, value: str, _asked: Mapping[str, str]) -> Json:
    namespace = {} if value == "all" else {"namespace": value}
    return {"workload": {"place": "waiting", **namespace}}


def _copies(asked: Mapping[str, str]) -> int:
    text = asked.get("copies", "").strip()
    if text.isascii() and text.isdecimal() and len(text) < 6:
        return max(int(text), 1)
    return 1


_STARTS: Final[dict[str, Callable[..., Json]]] = {
    "drain": _nodes("drain"),
    "cordon": _nodes("cordon"),
    "remove": _nodes("removeNodes"),
    "like": _like,
    "class": _class,
    "release": _release,
    "taint": _taint,
    "claim": _work("claim"),
    "template": _work("template"),
    "waiting": _waiting,
}
