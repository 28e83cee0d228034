"""Label and field selectors of list, watch and deletecollection."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from cluster.standin.answers import bad_request
from cluster.standin.kinds import Kind
from dra.errors import SelectorError
from dra.labels import LabelSelector, parse_label_selector

Json = dict[str, Any]
Predicate = Callable[[Json], bool]

_FIELD: Final = re.compile(r"^([^=!]+?)\s*(==|=|!=)(.*)$")


@dataclass(frozen=True, slots=True)
class Selector:
    """Both selectors of a request; ``matches`` sees a stored body."""

    labels: LabelSelector
    fields: tuple[Predicate, ...]

    @property
    def everything(self) -> bool:
        return not self.labels.requirements and not self.fields

    def matches(self, body: Json) -> bool:
        return self.labels.matches(body["metadata"].get("labels")) and all(
            test(body) for test in self.fields
        )


def parse(kind: Kind, version: str, labels: str, fields: str) -> Selector:
    """Read both selectors. Raises 400 as Kubernetes words it."""
    return Selector(
        labels=_label_selector(labels),
        fields=tuple(_field(kind, version, part) for part in fields.split(",") if part),
    )


def _label_selector(text: str) -> LabelSelector:
    try:
        return parse_label_selector(text)
    except SelectorError as error:
        raise bad_request(_unreadable(text, error)) from error


def _unreadable(text: str, error: SelectorError) -> str:
    if "===" in text:
        return "unable to parse requirement: found '=', expected: identifier"
    return f"unable to parse requirement: {error}"


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
