"""Label and field selectors of list, watch and deletecollection."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from cluster.standin.answers import StatusError, bad_request
from cluster.standin.kinds import Kind

Json = dict[str, Any]
Predicate = Callable[[Json], bool]

_NAME = r"[A-Za-z0-9][-A-Za-z0-9_./]*"
_VALUE = r"[-A-Za-z0-9_.]*"
_SET: Final = re.compile(rf"^({_NAME})\s+(in|notin)\s*\(([^()]*)\)$")
_EQUAL: Final = re.compile(rf"^({_NAME})\s*(==|=|!=)\s*({_VALUE})$")
_EXISTS: Final = re.compile(rf"^(!?)\s*({_NAME})$")
_FIELD: Final = re.compile(r"^([^=!]+?)\s*(==|=|!=)(.*)$")


@dataclass(frozen=True, slots=True)
class Selector:
    """Both selectors of a request; ``matches`` sees a stored body."""

    labels: tuple[Predicate, ...] = ()
    fields: tuple[Predicate, ...] = ()

    @property
    def everything(self) -> bool:
        return not self.labels and not self.fields

    def matches(self, body: Json) -> bool:
        return all(test(body) for test in self.labels) and all(
            test(body) for test in self.fields
        )


def parse(kind: Kind, version: str, labels: str, fields: str) -> Selector:
    """Read both selectors. Raises 400 as Kubernetes words it."""
    return Selector(
        labels=tuple(_label(part) for part in _split(labels)),
        fields=tuple(_field(kind, version, part) for part in fields.split(",") if part),
    )


def _split(text: str) -> list[str]:
    """The requirements of a label selector: commas outside parentheses divide."""
    parts = re.split(r",(?![^()]*\))", text)
    return [part.strip() for part in parts if part.strip()]


def _label(text: str) -> Predicate:
    if found := _SET.match(text):
        key, operator, listed = found.groups()
        values = {value.strip() for value in listed.split(",")}
        if operator == "in":
            return lambda body: _labels(body).get(key) in values
        return lambda body: _labels(body).get(key) not in values
    if found := _EQUAL.match(text):
        key, operator, value = found.groups()
        if operator == "!=":
            return lambda body: _labels(body).get(key) != value
        return lambda body: _labels(body).get(key) == value
    if found := _EXISTS.match(text):
        absent, key = found.groups()
        return lambda body: (key in _labels(body)) is not bool(absent)
    raise _unreadable(text)


def _unreadable(text: str) -> StatusError:
    if "===" in text:
        return bad_request(
            "unable to parse requirement: found '=', expected: identifier"
        )
    return bad_request(f"unable to parse requirement: {text!r} is no requirement")


def _labels(body: Json) -> dict[str, str]:
    return body["metadata"].get("labels") or {}


def _field(kind: Kind, version: str, text: str) -> Predicate:
    found = _FIELD.match(text)
    if found is None:
        raise bad_request(f"invalid selector: '{text}'; can't understand '{text}'")
    label, operator, value = found.groups()
    if label not in kind.field_labels:
        raise bad_request(_unknown_field(kind, version, label))
    path = label.split(".")
    if operator == "!=":
        return lambda body: _text(body, path) != value
    return lambda body: _text(body, path) == value


def _unknown_field(kind: Kind, version: str, label: str) -> str:
    if kind.name == "ResourceSlice":
        api = f"{kind.group}/{version}"
        return f"field label not supported for {api}, Kind={kind.name}: {label}"
    known = ", ".join(f'"{known}"' for known in kind.field_labels[:2])
    return f'"{label}" is not a known field selector: only {known}'


def _text(body: Json, path: list[str]) -> str:
    value: Any = body
    for step in path:
        value = value.get(step) if isinstance(value, dict) else None
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else str(value)
