"""The three patch types, on plain JSON: merge (RFC 7396), JSON (RFC 6902), strategic.

Strategic merge knows the list keys that our kinds have (Kubernetes'
``patchMergeKey``); other lists are replaced as a whole. No function changes its
arguments.
"""

from __future__ import annotations

import copy
from typing import Any, Final

Json = Any

MERGE_KEYS: Final[dict[tuple[str, ...], str]] = {
    ("metadata", "ownerReferences"): "uid",
    ("status", "reservedFor"): "uid",
    ("status", "conditions"): "type",
    ("status", "resourceClaimStatuses"): "name",
    ("spec", "resourceClaims"): "name",
    ("spec", "containers"): "name",
    ("spec", "taints"): "key",
}
"""Path of a list → the member that tells its entries apart."""

_SETS: Final = frozenset({("metadata", "finalizers")})
"""Lists of plain values that strategic merge unites."""


class PatchError(Exception):
    """A patch that cannot be applied; the message says why."""


def merge(target: Json, patch: Json) -> Json:
    """RFC 7396: objects merge, null removes, anything else replaces."""
    if not isinstance(patch, dict):
        return copy.deepcopy(patch)
    merged = dict(target) if isinstance(target, dict) else {}
    for key, value in patch.items():
        if value is None:
            merged.pop(key, None)
        else:
            merged[key] = merge(merged.get(key), value)
    return merged


# --- strategic merge -------------------------------------------------------


def strategic(target: Json, patch: Json, path: tuple[str, ...] = ()) -> Json:
    """Kubernetes' strategic merge with the list keys of :data:`MERGE_KEYS`."""
    if not isinstance(patch, dict):
        return copy.deepcopy(patch)
    directive = patch.get("$patch")
    if directive == "replace":
        return {k: copy.deepcopy(v) for k, v in patch.items() if k != "$patch"}
    if directive == "delete":
        return {}
    merged = dict(target) if isinstance(target, dict) else {}
    for key, value in patch.items():
        if key.startswith("$deleteFromPrimitiveList/"):
            name = key.partition("/")[2]
            merged[name] = [v for v in merged.get(name) or [] if v not in value]
        elif key.startswith("$setElementOrder/") or key == "$retainKeys":
            continue
        elif value is None:
            merged.pop(key, None)
        else:
            merged[key] = _strategic_value(merged.get(key), value, (*path, key))
    return merged


def _strategic_value(old: Json, new: Json, path: tuple[str, ...]) -> Json:
    if not isinstance(new, list):
        return strategic(old, new, path)
    if path in _SETS:
        return _interleave(old or [], new, list(old or []))
    if key := MERGE_KEYS.get(path):
        return _merge_list(old or [], new, key, path)
    return [v for v in copy.deepcopy(new) if not _is_directive(v)]


def _is_directive(value: Json) -> bool:
    return isinstance(value, dict) and "$patch" in value


def _merge_list(
    old: list[Json], new: list[Json], key: str, path: tuple[str, ...]
) -> list[Json]:
    if any(_is_directive(v) and v["$patch"] == "replace" for v in new):
        return [copy.deepcopy(v) for v in new if not _is_directive(v)]
    known = {item.get(key): item for item in old}
    merged: list[Json] = []
    for value in new:
        if not isinstance(value, dict) or key not in value:
            raise PatchError(f"map: {value} does not contain declared merge key: {key}")
        if value.get("$patch") == "delete":
            known.pop(value[key], None)
        else:
            merged.append(strategic(known.get(value[key], {}), value, path))
    order = [item.get(key) for item in old]
    kept = [item for item in old if item.get(key) in known]
    return _interleave(kept, merged, order, key)


def _interleave(
    old: list[Json], new: list[Json], order: list[Json], key: str = ""
) -> list[Json]:
    """Old entries that the patch does not name among the patch's, as Kubernetes does.

    An old entry goes first only where both are in the old ``order``; so what the
    patch adds comes before what was there.
    """

    def mark(item: Json) -> Json:
        return item.get(key) if key else item

    named = [mark(item) for item in new]
    left = [item for item in old if mark(item) not in named]
    result: list[Json] = []
    for item in new:
        while (
            left
            and mark(item) in order
            and order.index(mark(left[0])) < order.index(mark(item))
        ):
            result.append(left.pop(0))
        result.append(item)
    return [*result, *left]


# --- JSON patch ------------------------------------------------------------


def json_patch(target: Json, operations: Json) -> Json:
    """RFC 6902. Raises :class:`PatchError` for a failed test or a missing path."""
    if not isinstance(operations, list):
        raise PatchError("a JSON patch is a list of operations")
    result = copy.deepcopy(target)
    for operation in operations:
        if not isinstance(operation, dict):
            raise PatchError("an operation is an object")
        result = _operate(result, operation)
    return result


def _operate(document: Json, operation: Json) -> Json:
    name = operation.get("op")
    path = _pointer(operation.get("path"))
    if name == "add":
        return _add(document, path, _value(operation))
    if name == "remove":
        return _remove(document, path)
    if name == "replace":
        if not path:
            return _value(operation)
        return _add(_remove(document, path), path, _value(operation))
    if name == "test":
        if _look(document, path) != operation.get("value"):
            raise PatchError("testing value failed")
        return document
    if name in ("move", "copy"):
        source = _pointer(operation.get("from"))
        value = copy.deepcopy(_look(document, source))
        if name == "move":
            document = _remove(document, source)
        return _add(document, path, value)
    raise PatchError(f"unknown operation {name!r}")


def _value(operation: Json) -> Json:
    if "value" not in operation:
        raise PatchError("the operation has no value")
    return copy.deepcopy(operation["value"])


def _pointer(text: Json) -> list[str]:
    if not isinstance(text, str) or (text and not text.startswith("/")):
        raise PatchError(f"{text!r} is no JSON pointer")
    steps = text.split("/")[1:]
    return [step.replace("~1", "/").replace("~0", "~") for step in steps]


def _index(items: list[Json], step: str, *, end: bool = False) -> int:
    if end and step == "-":
        return len(items)
    if not step.isdigit() or int(step) >= len(items) + end:
        raise PatchError(f"no index {step} here")
    return int(step)


def _step(document: Json, step: str) -> Json:
    if isinstance(document, list):
        return document[_index(document, step)]
    if isinstance(document, dict) and step in document:
        return document[step]
    raise PatchError(f"no member {step} here")


def _look(document: Json, path: list[str]) -> Json:
    for step in path:
        document = _step(document, step)
    return document


def _add(document: Json, path: list[str], value: Json) -> Json:
    if not path:
        return value
    parent = _look(document, path[:-1])
    if isinstance(parent, list):
        parent.insert(_index(parent, path[-1], end=True), value)
    elif isinstance(parent, dict):
        parent[path[-1]] = value
    else:
        raise PatchError(f"{'/'.join(path)} has no place for a value")
    return document


def _remove(document: Json, path: list[str]) -> Json:
    if not path:
        return None
    parent = _look(document, path[:-1])
    _step(parent, path[-1])
    if isinstance(parent, list):
        del parent[_index(parent, path[-1])]
    else:
        del parent[path[-1]]
    return document
