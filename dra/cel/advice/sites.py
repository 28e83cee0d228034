"""Every place of an expression that reads something of the device."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal as Choice
from typing import NamedTuple

from dra.cel.ast import Call, Literal, Node, Select, children
from dra.cel.checker import Checked
from dra.cel.reads import DEVICE, MAPS, Read, Shape, Walk

type Form = Choice["get", "optional", "has", "in"]
"""``a.x``, ``a.?x``, ``has(a.x)``, ``"x" in a``; only the first can fail."""


class Site(NamedTuple):
    """``node`` reads ``read`` out of ``operand``.

    A ``read`` without identifier is a test whether there is the domain.
    """

    node: Node
    read: Read
    form: Form
    operand: Node


def sites(checked: Checked) -> tuple[Site, ...]:
    """The places in the order of the text."""
    walk = _Sites(checked)
    walk.visit(checked.root)
    return tuple(sorted(walk.sites, key=lambda site: (site.node.start, site.node.id)))


def descendants(node: Node) -> Iterator[Node]:
    """``node`` and everything in it."""
    pending = [node]
    while pending:
        found = pending.pop()
        yield found
        pending.extend(reversed(children(found)))


class _Sites(Walk):
    """The walk over what is read that also remembers where."""

    def __init__(self, checked: Checked) -> None:
        super().__init__(checked)
        self.sites: list[Site] = []
        self._shapes: dict[int, Shape | None] = {}

    def escape(self, shape: Shape | None) -> None:
        if shape is not None and shape != DEVICE:
            super().escape(shape)

    def visit(self, node: Node) -> Shape | None:
        shape = self._shapes[node.id] = super().visit(node)
        link = _link(node)
        if link is None:
            return shape
        form, operand, name = link
        looked_in = self._shapes.get(operand.id)
        if looked_in is None:
            return shape
        if looked_in == DEVICE:
            if form == "get" and name not in MAPS:
                self.sites.append(Site(node, Read(name), form, operand))
        elif looked_in.domain is not None:
            read = Read(looked_in.kind, looked_in.domain, name)
            self.sites.append(Site(node, read, form, operand))
        elif form != "get":
            self.sites.append(Site(node, Read(looked_in.kind, name), form, operand))
        return shape


def _link(node: Node) -> tuple[Form, Node, str] | None:
    """How ``node`` looks up a name that is written in it, in what, and the name."""
    match node:
        case Select(operand=operand, field=name, test=test):
            return ("has" if test else "get"), operand, name
        case Call(function="_?._", args=(operand, Literal(value=str() as name))):
            return "optional", operand, name
        case Call(function="_[_]", args=(operand, Literal(value=str() as name))):
            return "get", operand, name
        case Call(function="_[?_]", args=(operand, Literal(value=str() as name))):
            return "optional", operand, name
        case Call(function="@in", args=(Literal(value=str() as name), operand)):
            return "in", operand, name
    return None
