"""Checks that follow typing: literals of one type, and literal arguments that work."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from dra.cel import types as t
from dra.cel.ast import Call, ListLiteral, Literal, MapLiteral, Node, children
from dra.cel.checker import Checked
from dra.cel.errors import EvaluationError
from dra.cel.functions import formatting
from dra.cel.functions.regex import compiled
from dra.cel.functions.times import (
    from_seconds,
    parse_duration,
    parse_timestamp,
    refuse_span,
)
from dra.cel.source import Problems
from dra.cel.types import Type
from dra.cel.values import Value


def validate(checked: Checked) -> Problems:
    """Everything wrong with the literals of a well-typed tree."""
    problems = Problems()
    pending: list[tuple[Node, bool]] = [(checked.root, False)]
    while pending:
        node, in_format = pending.pop()
        if isinstance(node, Call):
            _check_argument(node, problems)
            _check_format(node, checked, problems)
        elif not in_format:
            if isinstance(node, ListLiteral):
                _check_list(node, checked, problems)
            elif isinstance(node, MapLiteral):
                _check_map(node, checked, problems)
        inside = in_format or (isinstance(node, Call) and node.function == "format")
        pending.extend((child, inside) for child in reversed(children(node)))
    return problems


def _mismatch(
    node: Node, wanted: Type, found: Type, checked: Checked, problems: Problems
) -> None:
    def message() -> str:
        checked.work.add(wanted.size + found.size)
        return f"expected type '{wanted}' but found '{found}'"

    problems.add(node.at, node.end, message)


def _type(checked: Checked, node: Node, *, optional: bool) -> Type:
    found = checked.types[node.id]
    return t.unwrap_optional(found)[0] if optional else found


def _check_list(node: ListLiteral, checked: Checked, problems: Problems) -> None:
    first: Type | None = None
    for index, element in enumerate(node.elements):
        found = _type(checked, element, optional=index in node.optional)
        if first is None:
            first = found
        elif found != first:
            _mismatch(element, first, found, checked, problems)
            return


def _check_map(node: MapLiteral, checked: Checked, problems: Problems) -> None:
    key: Type | None = None
    value: Type | None = None
    for entry in node.entries:
        key_type = _type(checked, entry.key, optional=False)
        value_type = _type(checked, entry.value, optional=entry.optional)
        if key is None or value is None:
            key, value = key_type, value_type
            continue
        if key_type != key:
            _mismatch(entry.key, key, key_type, checked, problems)
        if value_type != value:
            _mismatch(entry.value, value, value_type, checked, problems)


def _pattern(value: Value) -> None:
    if isinstance(value, str):
        compiled(value)


def _duration(value: Value) -> None:
    if isinstance(value, str):
        parse_duration(value)
    elif type(value) is int:
        refuse_span(value)


def _timestamp(value: Value) -> None:
    if isinstance(value, str):
        parse_timestamp(value)
    elif type(value) is int:
        from_seconds(value)


_ARGUMENTS: Final[dict[str, Callable[[Value], None]]] = {
    "duration": _duration,
    "timestamp": _timestamp,
    # The first argument even where that is the text: the reference does so.
    "matches": _pattern,
}


def _check_argument(node: Call, problems: Problems) -> None:
    check = _ARGUMENTS.get(node.function)
    if check is None or not node.args:
        return
    first = node.args[0]
    if not isinstance(first, Literal):
        return
    try:
        check(first.value)
    except EvaluationError:
        problems.add(first.at, first.end, f"invalid {node.function} argument")


def _check_format(node: Call, checked: Checked, problems: Problems) -> None:
    """Literal format strings with literal lists: clauses and types must agree."""
    text, (args, *more) = node.target, node.args or (None,)
    if node.function != "format" or more or not isinstance(args, ListLiteral):
        return
    if not isinstance(text, Literal) or not isinstance(text.value, str):
        return

    def report(place: Node, message: str) -> None:
        problems.add(place.at, place.at + 1, message)

    used = 0
    try:
        for part in formatting.clauses(text.value):
            if isinstance(part, str):
                continue
            if used >= len(args.elements):
                report(node, f"index {used} out of range")
                return
            _, kinds, message = formatting.VERBS[part.verb]
            bad = _unfit(args.elements[used], kinds, checked, deep=part.verb == "s")
            if bad is not None:
                given = checked.types[bad.id].name
                report(bad, f"error during formatting: {message}, was given {given}")
                return
            used += 1
    except EvaluationError as error:
        report(node, str(error))
        return
    if len(args.elements) > used:
        report(
            node,
            "too many arguments supplied to string.format "
            f"(expected {used}, got {len(args.elements)})",
        )


def _unfit(
    node: Node, kinds: tuple[str, ...], checked: Checked, *, deep: bool
) -> Node | None:
    """The first part whose type cannot be formatted so."""
    if checked.types[node.id].kind not in (*kinds, "dyn"):
        return node
    if deep and isinstance(node, ListLiteral | MapLiteral):
        for child in children(node):
            bad = _unfit(child, kinds, checked, deep=True)
            if bad is not None:
                return bad
    return None
