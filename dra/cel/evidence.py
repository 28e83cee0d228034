"""What an expression looks at: the parts whose values say why a device matches or not."""

from __future__ import annotations

from typing import Final

import msgspec

from dra.cel.advice.sites import Site, descendants, sites
from dra.cel.ast import Call, Node
from dra.cel.devices import clean
from dra.cel.program import Program, with_room
from dra.errors import NotSupportedError

MOST: Final = 8
"""Parts that are given at most."""

_SHORTENED: Final = 40


class Part(msgspec.Struct, frozen=True):
    """``expression[start:end]``, which reads one thing of the device.

    ``name`` is short: the attribute, capacity or field, or the beginning of the text
    where the part is a test (``has(…)``, ``in``). ``domain`` is empty for a test and
    for a field of the device.
    """

    text: str
    start: int
    end: int
    name: str
    domain: str


def evidence(program: Program, *, most: int = MOST) -> tuple[Part, ...]:
    """The parts of ``program`` that read attributes, capacities and fields.

    In the order of the text, each text once, at most ``most``. Of an expression that
    is nested too deep to be walked: none.
    """
    try:
        return with_room(
            lambda: _evidence(program, most), "an expression nested this deep"
        )
    except NotSupportedError:
        return ()


def _evidence(program: Program, most: int) -> tuple[Part, ...]:
    # The value with its default says more than the optional one.
    completed: dict[int, Node] = {
        node.target.id: node
        for node in descendants(program.root)
        if isinstance(node, Call) and node.function == "orValue" and node.target
    }
    text = clean(program.expression)
    found: dict[str, Part] = {}
    for site in sites(program.checked):
        part = _part(site, completed.get(site.node.id, site.node), text)
        found.setdefault(part.text, part)
        if len(found) == most:
            break
    return tuple(found.values())


def _part(site: Site, node: Node, expression: str) -> Part:
    text = expression[node.start : node.end]
    if site.form in ("has", "in"):
        return Part(text, node.start, node.end, _short(text), "")
    read = site.read
    name = read.identifier or read.domain or read.kind
    domain = read.domain if read.identifier else ""
    return Part(text, node.start, node.end, name, domain)


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _SHORTENED else f"{line[: _SHORTENED - 1]}…"
