"""Node selectors and label selectors with the meaning Kubernetes gives them.

A *node selector* is the structured form in slices, devices and allocations
(core/v1). A *label selector* here is the text form of ``?labelSelector=`` and
``kubectl -l``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from dra.errors import SelectorError
from dra.objects import Node, NodeSelector, NodeSelectorTerm, SelectorRequirement

_INTEGER: Final = re.compile(r"[+-]?[0-9]+")
_INT64: Final = range(-(2**63), 2**63)


def matches_node(selector: NodeSelector, node: Node) -> bool:
    """Whether ``node`` satisfies ``selector``.

    Terms are ORed, the requirements in a term ANDed; an empty term matches
    nothing. Raises :class:`SelectorError` when any term cannot be read, also when
    another one matches.
    """
    terms = [
        term
        for term in selector.node_selector_terms or ()
        if term.match_expressions or term.match_fields
    ]
    for term in terms:
        for requirement in term.match_expressions or ():
            _check_expression(requirement)
        for requirement in term.match_fields or ():
            _check_field(requirement)
    labels = node.metadata.labels or {}
    fields = {"metadata.name": node.metadata.name}
    return any(_term_matches(term, labels, fields) for term in terms)


def _term_matches(
    term: NodeSelectorTerm, labels: Mapping[str, str], fields: Mapping[str, str]
) -> bool:
    return all(_holds(r, labels) for r in term.match_expressions or ()) and all(
        _holds(r, fields) for r in term.match_fields or ()
    )


def _check_expression(requirement: SelectorRequirement) -> None:
    _check_key(requirement.key)
    for value in requirement.values or ():
        _check_value(value)
    count = len(requirement.values or ())
    match requirement.operator:
        case "In" | "NotIn":
            wrong = "needs at least one value" if count == 0 else ""
        case "Exists" | "DoesNotExist":
            wrong = "takes no values" if count else ""
        case "Gt" | "Lt":
            wrong = "needs exactly one value" if count != 1 else ""
            if not wrong and _integer((requirement.values or ["0"])[-1]) is None:
                wrong = "needs an integer as its value"
        case _:
            raise SelectorError(
                f'"{requirement.operator}" is not a valid node selector operator'
            )
    if wrong:
        raise SelectorError(
            f'operator {requirement.operator} of key "{requirement.key}" {wrong}'
        )


def _check_field(requirement: SelectorRequirement) -> None:
    if requirement.operator not in {"In", "NotIn"}:
        raise SelectorError(
            f'"{requirement.operator}" is not a valid operator for a field: In or NotIn'
        )
    if len(requirement.values or ()) != 1:
        raise SelectorError(
            f'field "{requirement.key}" must be compared with exactly one value'
        )


def _holds(requirement: SelectorRequirement, values: Mapping[str, str]) -> bool:
    actual = values.get(requirement.key)
    wanted = requirement.values or []
    match requirement.operator:
        case "In":
            return actual is not None and actual in wanted
        case "NotIn":
            return actual is None or actual not in wanted
        case "Exists":
            return actual is not None
        case "DoesNotExist":
            return actual is None
    left = None if actual is None else _integer(actual)
    right = _integer(wanted[0])
    if left is None or right is None:
        return False
    return left > right if requirement.operator == "Gt" else left < right


def _integer(text: str) -> int | None:
    """A 64-bit integer as Go's ``ParseInt`` reads it."""
    if not _INTEGER.fullmatch(text):
        return None
    value = int(text)
    return value if value in _INT64 else None


# --- label selectors as text ------------------------------------------------


@dataclass(frozen=True, slots=True)
class LabelRequirement:
    """``operator`` is one of ``in``, ``notin``, ``exists``, ``!``, ``gt``, ``lt``."""

    key: str
    operator: str
    values: frozenset[str] = frozenset()

    def matches(self, labels: Mapping[str, str]) -> bool:
        actual = labels.get(self.key)
        match self.operator:
            case "in":
                return actual is not None and actual in self.values
            case "notin":
                return actual is None or actual not in self.values
            case "exists":
                return actual is not None
            case "!":
                return actual is None
        left = None if actual is None else _integer(actual)
        right = _integer(next(iter(self.values)))
        if left is None or right is None:
            return False
        return left > right if self.operator == "gt" else left < right


@dataclass(frozen=True, slots=True)
class LabelSelector:
    """Requirements that must all hold; none of them: everything matches."""

    requirements: tuple[LabelRequirement, ...] = ()

    def matches(self, labels: Mapping[str, str] | None) -> bool:
        return all(r.matches(labels or {}) for r in self.requirements)


_TOKEN: Final = re.compile(r"\s*(?:(==|!=|[(),!=<>])|([^\s(),!=<>]+))")
_PREFIX: Final = re.compile(
    r"(?=.{1,253}\Z)[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*"
)
_NAME: Final = re.compile(r"(?=.{1,63}\Z)[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?")
_OPERATORS: Final = {
    "=": "in",
    "==": "in",
    "!=": "notin",
    "in": "in",
    "notin": "notin",
    ">": "gt",
    "<": "lt",
}


def parse_label_selector(text: str) -> LabelSelector:
    """Read ``a=b, c!=d, e in (f, g), h notin (i), j, !k, l>5`` as kubectl does.

    An empty text matches everything. Raises :class:`SelectorError` naming what
    cannot be read.
    """
    tokens = _Tokens(text)
    if tokens.peek() is None:
        return LabelSelector()
    found = [_requirement(tokens)]
    while (separator := tokens.take()) is not None:
        if separator != ",":
            raise SelectorError(f'found "{separator}" where "," or the end is expected')
        found.append(_requirement(tokens))
    return LabelSelector(tuple(found))


class _Tokens:
    def __init__(self, text: str) -> None:
        self.left: list[str] = []
        position = 0
        text = text.rstrip()
        while position < len(text):
            match = _TOKEN.match(text, position)
            assert match is not None, "a character is a symbol, a word or space"
            self.left.append(match[1] or match[2])
            position = match.end()
        self.left.reverse()

    def peek(self) -> str | None:
        return self.left[-1] if self.left else None

    def take(self) -> str | None:
        return self.left.pop() if self.left else None

    def word(self) -> str:
        """The next token if it is a word, else nothing: values may be empty."""
        token = self.peek()
        if token is None or _TOKEN.fullmatch(token)[1]:  # type: ignore[index]  # it was a token
            return ""
        self.left.pop()
        return token


def _requirement(tokens: _Tokens) -> LabelRequirement:
    absent = tokens.peek() == "!"
    if absent:
        tokens.take()
    key = tokens.word()
    _check_key(key)
    if absent:
        return LabelRequirement(key, "!")
    if tokens.peek() in {None, ","}:
        return LabelRequirement(key, "exists")
    symbol = tokens.take() or ""
    operator = _OPERATORS.get(symbol)
    if operator is None:
        raise SelectorError(
            f'found "{symbol}" after key "{key}" where an operator is expected: '
            "=, !=, in, notin, > or <"
        )
    values = _set(tokens) if symbol in {"in", "notin"} else frozenset({tokens.word()})
    for value in values:
        _check_value(value)
        if operator in {"gt", "lt"} and _integer(value) is None:
            raise SelectorError(f'"{value}" must be an integer for "{symbol}"')
    return LabelRequirement(key, operator, values)


def _set(tokens: _Tokens) -> frozenset[str]:
    if tokens.take() != "(":
        raise SelectorError('"in" and "notin" need their values in parentheses')
    values = {tokens.word()}
    while (closing := tokens.take()) == ",":
        values.add(tokens.word())
    if closing != ")":
        raise SelectorError('a set of values ends with ")"')
    return frozenset(values)


def _check_key(key: str) -> None:
    prefix, slash, name = key.rpartition("/")
    if not _NAME.fullmatch(name) or (slash and not _PREFIX.fullmatch(prefix)):
        raise SelectorError(f'"{key}" is not a valid label key')


def _check_value(value: str) -> None:
    if value and not _NAME.fullmatch(value):
        raise SelectorError(f'"{value}" is not a valid label value')
