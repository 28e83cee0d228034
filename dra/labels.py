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
    """Whether ``node`` satisfies ``selector``: terms ORed, an empty term never.

    Raises :class:`SelectorError` for a selector that the API would refuse. Terms
    are looked at in order and a broken one behind the first that matches is not
    found, as in the reference.
    """
    labels = node.metadata.labels or {}
    fields = {"metadata.name": node.metadata.name}
    broken: SelectorError | None = None
    for term in selector.node_selector_terms or ():
        try:
            if _term_matches(term, labels, fields):
                return True
        except SelectorError as error:
            broken = broken or error
    if broken is not None:
        raise broken
    return False


def _term_matches(
    term: NodeSelectorTerm, labels: Mapping[str, str], fields: Mapping[str, str]
) -> bool:
    expressions, field_requirements = term.match_expressions, term.match_fields
    if not expressions and not field_requirements:
        return False
    for requirement in (*(expressions or ()), *(field_requirements or ())):
        _check(requirement)
    for requirement in field_requirements or ():
        _check_field(requirement)
    return all(_holds(r, labels) for r in expressions or ()) and all(
        _holds(r, fields) for r in field_requirements or ()
    )


def _check(requirement: SelectorRequirement) -> None:
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
