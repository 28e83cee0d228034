"""Steps that change the shape of an object: a word, a path, and perhaps a value.

``add spec.devices.requests``, ``up spec.devices.requests[1]``, ``set <path> "text"``. The
value is JSON. Each step says which field a person will want to fill in next.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from claims.authoring.form import paths
from claims.authoring.form.renaming import chosen, without
from claims.authoring.form.subjects import API_VERSION, KINDS, kind_of, new_request
from dra.old_layout import in_new_layout

MOST_TEXT: Final = 20_000
"""Characters of one step: an expression may have 10 KiB."""


_ODD: Final = (
    ValueError,
    KeyError,
    TypeError,
    IndexError,
    AttributeError,
    OverflowError,
    RecursionError,
)
"""What a text may raise that has another shape than the step expects, or is beyond all
measure."""


class StepError(Exception):
    """The step cannot be done; a sentence for people."""


@dataclass(frozen=True, slots=True)
class Done:
    """``value`` is the object after the step, ``focus`` the path of the next field."""

    value: Any
    focus: str = ""


def done(value: Any, step: str) -> Done:
    """The object after a step. ``value`` itself stays as it is. Raises StepError."""
    if len(step) > MOST_TEXT:
        raise StepError("The step is too long.")
    word, _, rest = step.partition(" ")
    where, _, given = rest.partition(" ")
    act = STEPS.get(word)
    if act is None:
        raise StepError(f"There is no step {word[:40]!r}.")
    new = copy.deepcopy(value)
    try:
        path = paths.parse(where)
        argument = json.loads(given) if given else None
        focus = act(new, path, argument)
    except StepError:
        raise
    except _ODD as error:
        raise StepError(
            f"The draft has changed meanwhile, so this could not be done: {error}."
        ) from None
    return Done(new, focus)


# --- lists -----------------------------------------------------------------------------


def _add(value: Any, path: paths.Path, argument: Any) -> str:
    """One more entry at the end of a list."""
    entries = paths.list_at(value, path)
    entry, focus = _new_entry(path, entries, argument)
    entries.append(entry)
    return focus.format(paths.text_of((*path, len(entries) - 1)))


def _new_entry(path: paths.Path, entries: list[Any], argument: Any) -> tuple[Any, str]:
    """The entry, and the name of its first field around its path."""
    match path[-1]:
        case "requests":
            class_name = _class_of(entries[-1] if entries else None)
            name = _free_name(entries, "devices")
            return new_request(name, class_name), "{}.name"
        case "firstAvailable":
            class_name = str(entries[-1].get("deviceClassName", "")) if entries else ""
            name = _free_name(entries, "alternative")
            return {"name": name, "deviceClassName": class_name}, "{}.deviceClassName"
        case "selectors":
            expression = argument if isinstance(argument, str) else ""
            return {"cel": {"expression": expression}}, "{}.cel.expression"
        case "tolerations":
            if isinstance(argument, dict):
                return argument, "{}.key"
            return {"key": "", "operator": "Exists"}, "{}.key"
        case "constraints":
            attribute = argument if isinstance(argument, str) else ""
            return {"matchAttribute": attribute}, "~attribute:{}"
        case "config":
            opaque: dict[str, Any] = {"driver": argument or "", "parameters": {}}
            return {"opaque": opaque}, "{}.opaque.driver"
        case "derivedAttributes":
            return {"name": "", "expression": ""}, "{}.name"
        case _:
            raise StepError(f"Nothing can be added to {paths.text_of(path)} here.")


def _remove(value: Any, path: paths.Path, _argument: Any) -> str:
    entry = paths.get(value, path)
    if entry is None:
        raise paths.PathError(f"there is no {paths.text_of(path)}")
    if isinstance(path[-1], int) and isinstance(entry, dict):
        name = str(entry.get("name") or "")
        if path[-2] == "requests" and name:
            without(value, name)
        elif path[-2] == "firstAvailable" and name:
            parent = paths.get(value, (*path[:-2], "name"))
            without(value, f"{parent}/{name}")
    paths.drop(value, path, keep=_kept(value))
    left = paths.get(value, path[:-1])
    if isinstance(left, list) and left and isinstance(path[-1], int):
        return paths.text_of((*path[:-1], min(path[-1], len(left) - 1)))
    return paths.text_of(path[:-1]) if len(path) > 1 else ""


def _kept(value: Any) -> int:
    """How many steps from the top stay even when nothing is left below."""
    kind = kind_of(value)
    return len(kind.devices) if kind else 1


def _move(by: int) -> Callable[[Any, paths.Path, Any], str]:
    def move(value: Any, path: paths.Path, _argument: Any) -> str:
        entries = paths.get(value, path[:-1])
        here = path[-1]
        if not isinstance(entries, list) or not isinstance(here, int):
            raise paths.PathError(f"{paths.text_of(path)} is in no list")
        there = here + by
        if not 0 <= there < len(entries) or here >= len(entries):
            raise StepError("It stands at the end already.")
        entries[here], entries[there] = entries[there], entries[here]
        return paths.text_of((*path[:-1], there))

    return move


def _move_to(value: Any, path: paths.Path, argument: Any) -> str:
    """For dragging: the entry before which it shall stand now."""
    entries = paths.get(value, path[:-1])
    here = path[-1]
    if not isinstance(entries, list) or not isinstance(here, int):
        raise paths.PathError(f"{paths.text_of(path)} is in no list")
    there = int(argument)
    if not 0 <= there < len(entries):
        raise paths.PathError(f"there is no place {there}")
    entries.insert(there, entries.pop(here))
    return paths.text_of((*path[:-1], there))


# --- one request -------------------------------------------------------------------------


def _to_alternatives(value: Any, path: paths.Path, _argument: Any) -> str:
    """A prioritized list whose first alternative is what the request asks for now."""
    request = _map_at(value, path)
    first = dict(request.pop("exactly", None) or {"deviceClassName": ""})
    first.pop("adminAccess", None)  # alternatives cannot have it
    second = {"deviceClassName": first.get("deviceClassName", "")}
    request["firstAvailable"] = [{"name": "best"} | first, {"name": "other"} | second]
    return paths.text_of((*path, "firstAvailable", 1, "deviceClassName"))


def _to_exactly(value: Any, path: paths.Path, _argument: Any) -> str:
    """The first alternative alone."""
    request = _map_at(value, path)
    alternatives = request.pop("firstAvailable", None) or [{}]
    exactly = dict(alternatives[0])
    first = exactly.pop("name", None)
    request["exactly"] = {"deviceClassName": ""} | exactly
    chosen(value, str(request.get("name")), str(first))
    for alternative in alternatives[1:]:
        without(value, f"{request.get('name')}/{alternative.get('name')}")
    return paths.text_of((*path, "exactly", "deviceClassName"))


def _capacity(value: Any, path: paths.Path, argument: Any) -> str:
    """Ask for some of a capacity; ``argument`` is its name and the amount."""
    name, amount = argument
    paths.put(value, (*path, "capacity", "requests", str(name)), str(amount))
    return paths.text_of((*path, "capacity", "requests", str(name)))


# --- values ------------------------------------------------------------------------------


def _set(value: Any, path: paths.Path, argument: Any) -> str:
    """Put a value: what a suggestion or a picker offers."""
    if argument is None:
        paths.drop(value, path, keep=len(path) - 1)
    else:
        paths.put(value, path, argument)
    return paths.text_of(path)


def _sets(value: Any, _path: paths.Path, argument: Any) -> str:
    """Several values at once: pairs of path and value, None takes away."""
    focus = ""
    for where, new in argument:
        focus = _set(value, paths.parse(where), new)
    return focus


def _kind(value: Any, _path: paths.Path, argument: Any) -> str:
    """A claim into a template, or the other way round."""
    now, wanted = kind_of(value), KINDS.get(str(argument))
    if now is None or wanted is None or not now.devices or not wanted.devices:
        raise StepError("Only claims and templates can become each other.")
    if now == wanted:
        return "metadata.name"
    spec = value.get("spec") or {}
    value["kind"] = wanted.name
    if wanted.name == "ResourceClaimTemplate":
        value["spec"] = {"spec": spec}
    else:
        value["spec"] = spec.get("spec") or {}
        _take_over(value, spec.get("metadata"))
    value.pop("status", None)
    return "metadata.name"


def _take_over(value: Any, given: Any) -> None:
    """The labels and annotations that a template gives to its claims. The API server
    takes no other metadata there."""
    if not isinstance(given, dict):
        return
    meta = _map_at(value, ("metadata",))
    for part in ("labels", "annotations"):
        found, own = given.get(part), meta.get(part) or {}
        if isinstance(found, dict) and found and isinstance(own, dict):
            meta[part] = own | found


def _renew(value: Any, _path: paths.Path, _argument: Any) -> str:
    """What is written in an older version's layout, in that of v1."""
    kind = kind_of(value)
    if kind is None:
        raise StepError("Only claims, templates and classes have a newer layout.")
    new = in_new_layout(kind.name, value) | {"apiVersion": API_VERSION}
    value.clear()
    value.update(new)
    return "metadata.name"


def _and(value: Any, path: paths.Path, argument: Any) -> str:
    """One more term at the end of an expression."""
    text = str(paths.get(value, path) or "").strip()
    term = str(argument)
    paths.put(value, path, f"{text} &&\n{term}" if text else term)
    return paths.text_of(path)


def _map_at(value: Any, path: paths.Path) -> dict[str, Any]:
    found = paths.get(value, path)
    if not isinstance(found, dict):
        raise paths.PathError(f"there is no {paths.text_of(path)}")
    return found


def _class_of(request: Any) -> str:
    exactly = request.get("exactly") if isinstance(request, dict) else None
    return (
        str(exactly.get("deviceClassName") or "") if isinstance(exactly, dict) else ""
    )


def _free_name(entries: list[Any], base: str) -> str:
    taken = {each.get("name") for each in entries if isinstance(each, dict)}
    if base not in taken:
        return base
    return next(
        f"{base}-{n}" for n in range(2, len(taken) + 3) if f"{base}-{n}" not in taken
    )


STEPS: Final[Mapping[str, Callable[[Any, paths.Path, Any], str]]] = {
    "add": _add,
    "remove": _remove,
    "up": _move(-1),
    "down": _move(1),
    "move": _move_to,
    "alternatives": _to_alternatives,
    "exactly": _to_exactly,
    "capacity": _capacity,
    "set": _set,
    "sets": _sets,
    "and": _and,
    "kind": _kind,
    "renew": _renew,
}
"""What each word does: it changes the object and returns the field to fill in next."""
