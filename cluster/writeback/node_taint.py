"""A taint of ours on a node, for the moments of one write.

Each run has a key of its own, so runs do not overwrite each other's entry; a strategic
patch adds or removes that one entry and leaves the others as they are. A quarantine is
such a taint that stays until it is lifted; its key says what it is.
"""

from __future__ import annotations

import json
from typing import Final

from cluster.errors import ApiError, Forbidden, NotFound, Unauthorized
from cluster.writeback.answers import EndedError, forbidden, refused
from cluster.writeback.api import NODES
from cluster.writeback.patience import PASSING
from cluster.writeback.pins import STRATEGIC
from cluster.writeback.sending import Sender
from cluster.writeback.tags import DOMAIN, Role, Tags, digest, lasts, tags_from
from cluster.writeback.values import (
    Json,
    Refusal,
    Refused,
    Request,
    Step,
    meta_of,
)

PREFIX: Final = f"{DOMAIN}/guard-"
QUARANTINE: Final = f"{DOMAIN}/quarantine-"
GUARDED: Final = f"{DOMAIN}/guarded"
"""Label of a node with a taint of ours, so that nobody has to list every node."""
_RIGHT: Final = "get and patch nodes"


def taint_key(tags: Tags, role: Role = Role.GUARD) -> str:
    prefix = QUARANTINE if role is Role.QUARANTINE else PREFIX
    return f"{prefix}{digest(tags.owner, tags.run)}"


def on_request(node_name: str, tags: Tags, role: Role = Role.GUARD) -> Request:
    key = taint_key(tags, role)
    entry = {"key": key, "value": tags.run, "effect": "NoSchedule"}
    note = {key: _note(tags)}
    meta = {"annotations": note, "labels": {GUARDED: "true"}}
    return _patch(node_name, meta, entry)


def off_request(node: Json, key: str) -> Request:
    """The label goes with the last of our taints."""
    meta: Json = {"annotations": {key: None}}
    if not any(other != key for other in guards_of(node)):
        meta["labels"] = {GUARDED: None}
    entry = {"$patch": "delete", "key": key}
    return _patch(str(meta_of(node).get("name")), meta, entry)


def is_ours(key: str) -> bool:
    """Whether a taint of this key is a guard or a quarantine of a portal."""
    return key.startswith((PREFIX, QUARANTINE))


def guards_of(node: Json) -> dict[str, str]:
    """The notes about taints of portals on a node, by the taint's key."""
    found = meta_of(node).get("annotations") or {}
    return {key: text for key, text in found.items() if is_ours(key)}


def role_of(key: str) -> Role:
    """What a taint of :func:`guards_of` is for."""
    return Role.QUARANTINE if key.startswith(QUARANTINE) else Role.GUARD


def noted(text: str) -> Tags | None:
    """What the note about a taint of ours says; None: it is not one."""
    try:
        values = json.loads(text)
    except ValueError:
        return None
    return tags_from(values) if isinstance(values, dict) else None


def _note(tags: Tags) -> str:
    return json.dumps(tags.in_words(), separators=(",", ":"))


def _patch(node_name: str, metadata: Json, entry: Json) -> Request:
    body = {"metadata": metadata, "spec": {"taints": [entry]}}
    return Request(NODES.path(None, node_name), body, "", STRATEGIC)


def is_on(node: Json, key: str) -> bool:
    noted = key in (meta_of(node).get("annotations") or {})
    return noted or is_tainted(node, key)


def is_as(node: Json, key: str, tags: Tags) -> bool:
    """Whether the taint is there with just this note."""
    noted = guards_of(node).get(key, "")
    return is_tainted(node, key) and noted == _note(tags)


def _serves(node: Json, key: str, tags: Tags) -> bool:
    """Whether the taint of an earlier call is there, and for long enough. Its note alone
    keeps nobody away, and who took the taint off may not have known of it."""
    found = noted(guards_of(node).get(key, ""))
    return is_tainted(node, key) and lasts(found, tags)


def is_tainted(node: Json, key: str) -> bool:
    taints = (node.get("spec") or {}).get("taints") or ()
    return any(taint.get("key") == key for taint in taints)


def put(sender: Sender, node_name: str, tags: Tags, role: Role = Role.GUARD) -> None:
    """Taint the node unless it is. Raises EndedError and PASSING."""

    def attempt() -> None:
        node = sender.api.read("Node", None, node_name)
        if node is None:
            reason = f"The node {node_name} does not exist any more."
            raise EndedError(Refused(Refusal.UNGUARDED, reason))
        key = taint_key(tags, role)
        if is_as(node, key, tags) or (role is Role.GUARD and _serves(node, key, tags)):
            return
        try:
            sender.send(Step.GUARD, on_request(node_name, tags, role))
        except PASSING:
            raise
        except (Forbidden, Unauthorized) as error:
            raise EndedError(forbidden(error, _RIGHT)) from error
        except ApiError as error:
            raise EndedError(refused(error, _RIGHT)) from error

    sender.settle(attempt)


def remove(sender: Sender, node_name: str, tags: Tags, role: Role = Role.GUARD) -> str:
    """Take our taint off. A sentence when that fails."""
    key = taint_key(tags, role)

    def attempt() -> None:
        node = sender.api.read("Node", None, node_name)
        if node is not None and is_on(node, key):
            take_off(sender, node, key)

    try:
        sender.settle(attempt)
    except EndedError as ended:
        return _left(node_name, ended.outcome.reason)
    except (*PASSING, ApiError) as error:
        return _left(node_name, str(error))
    return ""


def take_off(sender: Sender, node: Json, key: str) -> None:
    """Take the taint of this key off a node as it was read. Raises as the client."""
    try:
        sender.send(Step.GUARD_OFF, off_request(node, key))
    except NotFound:
        return


def _left(node_name: str, why: str) -> str:
    return (
        f"The portal's taint on the node {node_name} could not be removed ({why}); the "
        "periodic clean-up will try again."
    )
