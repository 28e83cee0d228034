"""One issue of an expression that parses, and the node that it is about."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from dra.cel.ast import Node
from dra.cel.catalog import Catalog
from dra.cel.errors import Issue


class Misfit(NamedTuple):
    """An issue, the node it is about, and what is around it."""

    text: str
    issue: Issue
    node: Node
    parents: Mapping[Node, Node | None]
    catalog: Catalog | None

    def source(self, node: Node) -> str:
        return self.text[node.start : node.end]
