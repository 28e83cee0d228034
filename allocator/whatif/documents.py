"""Scenarios as text, JSON or YAML: read with bounds, written as people write them."""

from __future__ import annotations

import json
from typing import Any, Final

import yaml

from cluster.yaml_documents import YamlError, documents
from dra.whatif import Scenario, ScenarioError, read_scenario, write_scenario

MAX_TEXT_BYTES: Final = 1024 * 1024
"""Of UTF-8."""


def read_text(text: str) -> Scenario:
    """The scenario in ``text``; an empty text is an empty scenario.

    Raises :class:`ScenarioError`; its path is empty where the text is no JSON or YAML.
    """
    return read_scenario(plain(text))


def plain(text: str) -> Any:
    """The one value in ``text``. Raises :class:`ScenarioError`."""
    check_size(text)
    if text.lstrip().startswith(("{", "[")):
        found = _json(text)
        if found is not None:
            return found
    try:
        values = list(documents(text))
    except YamlError as error:
        raise ScenarioError("", f"neither JSON nor YAML: {error}") from error
    if len(values) > 1:
        raise ScenarioError(
            "",
            f"one document is expected, {len(values)} are there: run them one by one",
        )
    return values[0] if values else {}


def check_size(text: str) -> None:
    """Raises :class:`ScenarioError` for a text that is too long, or is no text."""
    try:
        size = len(text.encode())
    except UnicodeEncodeError:
        raise ScenarioError("", "the text holds half of a character pair") from None
    if size > MAX_TEXT_BYTES:
        raise ScenarioError(
            "", f"the text has {size:,} bytes, at most {MAX_TEXT_BYTES:,} are read"
        )
    if "\0" in text:
        raise ScenarioError("", "the text holds a NUL character; remove it")


def _json(text: str) -> Any:
    """None where it is no JSON: YAML in flow style may begin the same."""
    try:
        return json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        return None


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is no JSON")


def as_json(scenario: Scenario) -> str:
    """Indented, with a line end."""
    return f"{json.dumps(write_scenario(scenario), indent=2, ensure_ascii=False)}\n"


def as_yaml(scenario: Scenario) -> str:
    """Fields in the order of the scenario; empty for an empty one."""
    value = write_scenario(scenario)
    return to_yaml(value) if value else ""


def to_yaml(value: Any) -> str:
    return str(yaml.dump(value, Dumper=_Dumper, **_STYLE))


_STYLE: Final[dict[str, Any]] = {
    "allow_unicode": True,
    "sort_keys": False,
    "width": 1000,
}


class _Dumper(yaml.CSafeDumper):
    """Without anchors, which nobody expects, and with texts of several lines as such."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002  # the base's signature
        return True


def _text(dumper: yaml.CSafeDumper, value: str) -> yaml.Node:
    style = "|" if "\n" in value else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)


_Dumper.add_representer(str, _text)
