"""YAML as Kubernetes people write it, read safely into plain JSON values.

PyYAML's own safe loader is not enough for files of strangers: it turns
timestamps into ``datetime``, ``1:30`` into 90 and ``=`` into an error, accepts
keys that JSON has not, and aliases let a small file unfold into gigabytes as
soon as somebody serialises it. None of that is in what ``kubectl`` prints.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Any, ClassVar, Final

import yaml

_PLAIN: Final = ("null", "bool", "int", "float", "str", "seq", "map")
_NUMBERS: Final = {
    "int": re.compile(r"^[-+]?(0|[1-9][0-9]*|0o?[0-7]+|0x[0-9a-fA-F]+)$"),
    # JSON has 1e3, and neither 1:30.5 nor 1_000.0; .inf and .nan are found to be refused.
    "float": re.compile(
        r"^([-+]?(([0-9]+\.[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?"
        r"|[0-9]+[eE][-+]?[0-9]+|\.(inf|Inf|INF))|\.(nan|NaN|NAN))$"
    ),
}


class YamlError(ValueError):
    """Not YAML that we accept. ``line`` and ``column`` count from 1, 0 if unknown.

    The message never quotes the file: a kubeconfig holds secrets.
    """

    def __init__(self, reason: str, line: int = 0, column: int = 0) -> None:
        self.reason = reason
        self.line = line
        self.column = column
        where = f"line {line}, column {column}: " if line else ""
        super().__init__(where + reason)


class Loader(yaml.CSafeLoader):
    """Reads YAML as JSON means it; whoever uses it turns errors by :func:`yaml_error`."""

    yaml_constructors: ClassVar[dict[Any, Any]] = {
        tag: function
        for tag, function in yaml.CSafeLoader.yaml_constructors.items()
        if tag is None or tag.rpartition(":")[2] in _PLAIN
    }
    yaml_implicit_resolvers = {
        first: [
            (tag, _NUMBERS.get(tag.rpartition(":")[2], pattern))
            for tag, pattern in resolvers
            if tag.rpartition(":")[2] in _PLAIN
        ]
        for first, resolvers in yaml.CSafeLoader.yaml_implicit_resolvers.items()
    }

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        if node in self.constructed_objects:
            raise refused("aliases (*name) are not accepted", node)
        return super().construct_object(node, deep)

    def construct_yaml_float(self, node: yaml.ScalarNode) -> float:
        value = float(super().construct_yaml_float(node))
        if not math.isfinite(value):
            raise refused("a number must be finite", node)
        return value

    def construct_mapping(
        self, node: yaml.MappingNode, deep: bool = False
    ) -> dict[Any, Any]:
        found: dict[str, Any] = {}
        for key_node, value_node in node.value:
            key = self.key_text(key_node)
            if key in found:
                raise refused("a key is given twice", key_node)
            found[key] = self.construct_object(value_node, deep=deep)
        return found

    def key_text(self, node: yaml.Node) -> str:
        """A key as JSON has it: ``1`` and ``true`` are text there."""
        key = self.construct_object(node, deep=True)
        if isinstance(key, bool):
            return "true" if key else "false"
        if not isinstance(key, (str, int, float)):
            raise refused("a key must be text", node)
        return str(key)


Loader.add_constructor("tag:yaml.org,2002:float", Loader.construct_yaml_float)


def refused(reason: str, node: yaml.Node) -> yaml.MarkedYAMLError:
    """``reason`` with the place of ``node``."""
    return yaml.MarkedYAMLError(problem=reason, problem_mark=node.start_mark)


def documents(data: bytes | str) -> Iterator[Any]:
    """Every document of ``data`` as JSON values, empty documents left out.

    Raises :class:`YamlError` at the first document that cannot be read.
    """
    try:
        loader = Loader(data)
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise yaml_error(error) from None
    try:
        while loader.check_data():  # type: ignore[no-untyped-call]  # PyYAML's stubs leave it untyped
            value = loader.get_data()
            if value is not None:
                yield value
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError, ValueError) as error:
        raise yaml_error(error) from None
    finally:
        loader.dispose()


def yaml_error(error: Exception) -> YamlError:
    """Whatever goes wrong while reading, as the one error that callers know."""
    if isinstance(error, RecursionError):
        return YamlError("nested too deep")
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    problem = getattr(error, "problem", None)
    if isinstance(problem, str):
        # "found character '\t'", "could not determine a constructor for the tag": no values.
        reason = problem.partition("'tag:")[0].strip()
    else:
        reason = "not text in UTF-8"
    if mark is None:
        return YamlError(reason)
    return YamlError(reason, mark.line + 1, mark.column + 1)
