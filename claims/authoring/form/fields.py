"""Values of form fields put into an object, each at the path that is its name.

Names that begin with ``~`` are not paths of the object: ``~kind:<path>`` and
``~attribute:<path>`` together are a constraint.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from claims.authoring.form import paths
from claims.authoring.form.renaming import renamed
from claims.authoring.form.subjects import kind_of
from cluster.yaml_documents import YamlError, documents

_INTEGER: Final = re.compile(r"[+-]?[0-9]{1,18}")
CONSTRAINT_KINDS: Final = ("matchAttribute", "distinctAttribute")


@dataclass(frozen=True, slots=True)
class Applied:
    """``value`` is the object after it; ``refused`` has what no value could be made of,
    by path: a sentence. The object keeps what it had there."""

    value: Any
    refused: Mapping[str, str]


def with_fields(value: Any, posted: Mapping[str, Sequence[str]]) -> Applied:
    """The object with the posted fields in it. ``value`` itself stays as it is.

    A blank field takes its key away. Fields whose place is gone are left out.
    """
    new = copy.deepcopy(value)
    refused: dict[str, str] = {}
    for name, texts in posted.items():
        try:
            _set(new, name, texts)
        except _Refused as reason:
            refused[name] = str(reason)
        except (paths.PathError, ValueError):
            continue  # The entry was removed in the text meanwhile.
    return Applied(new, refused)


class _Refused(Exception):  # noqa: N818 - an answer to the user
    """The text cannot be such a value; says why."""


def _set(value: Any, name: str, texts: Sequence[str]) -> None:
    text = texts[-1] if texts else ""
    if name.startswith("~"):
        _set_constraint(value, name, text)
        return
    path = paths.parse(name)
    last = path[-1]
    if last == "name" and _is_request(path):
        before = paths.get(value, path)
        renamed(value, path, str(before or ""), text)
        return
    if last == "requests" and path[-2:-1] and isinstance(path[-2], int):
        _put_or_drop(value, path, [each for each in texts if each])
        return
    # A capacity may be called "count", and is an amount all the same.
    convert = _text if _is_amount(path) else _CONVERT.get(str(last), _text)
    _put_or_drop(value, path, convert(text))
    if last == "allocationMode" and text == "All":
        paths.drop(value, (*path[:-1], "count"), keep=len(path) - 1)


def _put_or_drop(value: Any, path: paths.Path, new: Any) -> None:
    if new is None or new == "" or new == []:
        if _stays_blank(path):
            paths.put(value, path, "")
        else:
            paths.drop(value, path, keep=len(path) - 1)
    else:
        paths.put(value, path, new)


def _stays_blank(path: paths.Path) -> bool:
    """Fields that stand in the text even when they are empty: what has to be filled in."""
    if _is_amount(path):
        return False
    return path[-1] in ("expression", "deviceClassName") or path == ("metadata", "name")


def _is_amount(path: paths.Path) -> bool:
    """Whether it is what a request asks of a capacity."""
    return path[-3:-1] == ("capacity", "requests")


def _is_request(path: paths.Path) -> bool:
    return len(path) > 2 and path[-3] in ("requests", "firstAvailable")


def _text(text: str) -> str:
    return text.strip()


def _expression(text: str) -> str:
    """As typed, with the line ends of YAML and without blank lines around it."""
    return text.replace("\r\n", "\n").strip("\n").rstrip()


def _integer(text: str) -> Any:
    text = text.strip()
    if not text:
        return None
    if not _INTEGER.fullmatch(text):
        raise _Refused(f"{text[:40]!r} is not a whole number.")
    return int(text)


def _flag(text: str) -> Any:
    return True if text in ("on", "true") else None


def _parameters(text: str) -> Any:
    """JSON or YAML; an opaque config holds an object."""
    if not text.strip():
        return None
    try:
        found = list(documents(text.replace("\r\n", "\n")))
    except YamlError as error:
        raise _Refused(f"Neither JSON nor YAML: {error}.") from None
    if len(found) != 1 or not isinstance(found[0], dict):
        raise _Refused("This has to be one object, such as {kind: GpuConfig}.")
    return found[0]


_CONVERT: Final[Mapping[str, Callable[[str], Any]]] = {
    "count": _integer,
    "tolerationSeconds": _integer,
    "adminAccess": _flag,
    "expression": _expression,
    "parameters": _parameters,
}


def _set_constraint(value: Any, name: str, text: str) -> None:
    """``~kind:`` and ``~attribute:`` of a constraint, one at a time."""
    what, _, where = name[1:].partition(":")
    path = paths.parse(where)
    constraint = paths.get(value, path)
    if kind_of(value) is None or not isinstance(constraint, dict):
        raise paths.PathError(f"there is no {where}")
    held = next((kind for kind in CONSTRAINT_KINDS if kind in constraint), "")
    if what == "attribute":
        constraint[held or CONSTRAINT_KINDS[0]] = text.strip()
    elif what == "kind" and text in CONSTRAINT_KINDS and text != held:
        attribute = constraint.get(held, "")
        # In the place of the other one, so that the text shows one changed word.
        items = [(text if k == held else k, v) for k, v in constraint.items()]
        constraint.clear()
        constraint.update(items)
        constraint[text] = attribute
