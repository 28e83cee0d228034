"""Selectors of nodes and of devices."""

from __future__ import annotations

from dra.objects.base import Base


class SelectorRequirement(Base, frozen=True):
    """One requirement of a node selector term."""

    key: str = ""
    operator: str = ""
    values: list[str] | None = None


class NodeSelectorTerm(Base, frozen=True):
    match_expressions: list[SelectorRequirement] | None = None
    match_fields: list[SelectorRequirement] | None = None


class NodeSelector(Base, frozen=True):
    node_selector_terms: list[NodeSelectorTerm] | None = None


class CELExpression(Base, frozen=True):
    expression: str = ""


class DeviceSelector(Base, frozen=True):
    cel: CELExpression | None = None
