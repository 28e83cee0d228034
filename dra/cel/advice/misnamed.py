"""Hints for names that are not there: variables, functions, fields, domains."""

from __future__ import annotations

import re
from typing import Final

from dra.cel.advice import words
from dra.cel.advice.misfit import Misfit
from dra.cel.advice.slips import Hint
from dra.cel.ast import Call, Ident, Literal, Node, Select, children
from dra.cel.functions import declarations
from dra.cel.likeness import closest
from dra.cel.reads import MAPS

_UNDECLARED: Final = re.compile(r"undeclared reference to '(?P<name>[^']*)'")
_FIELD: Final = re.compile(r"undefined field '(?P<name>[^']*)'")
_RUN: Final = re.compile(r"[A-Za-z0-9_]+(?:[./-][A-Za-z0-9_]+)*")
_FIELDS: Final = ("driver", "attributes", "capacity", "allowMultipleAllocations")
_INVISIBLE: Final = frozenset(
    {
        "name",
        "pool",
        "node",
        "nodeName",
        "taints",
        "metadata",
        "basic",
        "spec",
        "namespace",
    }
)
_SYNONYMS: Final = {
    "lower": "lowerAscii",
    "tolower": "lowerAscii",
    "tolowercase": "lowerAscii",
    "upper": "upperAscii",
    "toupper": "upperAscii",
    "touppercase": "upperAscii",
    "len": "size",
    "length": "size",
    "count": "size",
    "strip": "trim",
    "regex": "matches",
    "match": "matches",
    "beginswith": "startsWith",
    "hasprefix": "startsWith",
    "hassuffix": "endsWith",
    "greaterthan": "isGreaterThan",
    "lessthan": "isLessThan",
    "compare": "compareTo",
    "version": "semver",
    "any": "exists",
    "toint": "asInteger",
    "asint": "asInteger",
    "plus": "add",
    "minus": "sub",
}


def _undeclared(misfit: Misfit) -> Hint | None:
    found = _UNDECLARED.match(misfit.issue.message)
    if found is None:
        return None
    name, node = found["name"], misfit.node
    if isinstance(node, Call):
        return _function(misfit, node, name)
    if not isinstance(node, Ident) or node.name != name:
        return None
    name = name.removeprefix(".")
    if name.casefold() in ("true", "false"):
        meant = name.casefold()
        return Hint(f"Write {meant}.", node.start, node.end, meant)
    if name in _FIELDS:
        text = f"device.{name}"
        return Hint(f"Write {text}.", node.start, node.end, text)
    parent = misfit.parents[node]
    if closest(name, [("device", 1)]) and isinstance(parent, Select):
        return Hint("The variable is called device.", node.start, node.end, "device")
    return _unquoted(misfit, node)


def _unquoted(misfit: Misfit, node: Ident) -> Hint:
    """``device.driver == gpu.nvidia.com``"""
    run = _RUN.match(misfit.text, node.at)
    assert run is not None
    value = words.literal(run.group())
    return Hint(
        f"A text goes in quotes: {value}. The only variable is device.",
        run.start(),
        run.end(),
        value,
    )


def _function(misfit: Misfit, node: Call, name: str) -> Hint | None:
    start = misfit.text.rfind(name, 0, node.at)
    if start < 0:
        return None
    if name == "includes":
        return Hint(
            "includes() is for attributes that are lists, and the feature gate for "
            "those is off in this cluster.",
            start,
            start + len(name),
        )
    meant = _SYNONYMS.get(name.casefold())
    options = [meant] if meant else closest(name, _function_names(), most=2)
    if not options:
        return Hint(f"There is no function {name}().", start, start + len(name))
    shown = words.either(f"{option}()" for option in options)
    return Hint(
        f"There is no function {name}(). Did you mean {shown}?",
        start,
        start + len(name),
        options[0],
    )


def _function_names() -> list[tuple[str, str]]:
    names = declarations(includes=False).names()
    macros = ("all", "exists", "exists_one", "filter", "has", "map", "sortBy")
    plain = [name for name in (*names, *macros) if words.is_identifier(name)]
    return [(name, name) for name in sorted(plain)]


def _field(misfit: Misfit) -> Hint | None:
    found = _FIELD.match(misfit.issue.message)
    node = misfit.node
    if found is None or not isinstance(node, Select):
        return None
    name, start = found["name"], node.end - len(node.field)
    fields = f"A device has {words.joined(_FIELDS)}."
    if name in _INVISIBLE:
        return Hint(
            f"A selector does not see the {name} of a device. {fields}", start, node.end
        )
    meant = closest(name, [(field, field) for field in _FIELDS], most=1)
    if meant:
        return Hint(f"Did you mean {meant[0]}?", start, node.end, meant[0])
    place = _published(misfit, "attributes", name) or _published(
        misfit, "capacity", name
    )
    if place:
        return Hint(f"{fields} Did you mean {place}?", node.start, node.end, place)
    return Hint(fields, start, node.end)


def _published(misfit: Misfit, kind: str, name: str) -> str:
    """The path of the attribute or capacity ``name`` that most devices publish."""
    if misfit.catalog is None:
        return ""
    found = [
        read for read in misfit.catalog if read.kind == kind and read.identifier == name
    ]
    catalog = misfit.catalog
    found.sort(key=lambda read: -catalog[read].devices)
    return words.path(found[0]) if found else ""


# --- the domain is missing, or its dots are taken for steps ---


def no_domain(misfit: Misfit) -> Hint | None:
    """``device.attributes.type == "gpu"``, ``device.attributes["type"] == "gpu"``"""
    if "map(string" not in misfit.issue.message:
        return None
    for part in children(misfit.node):
        domain = domain_access(part)
        if domain is None:
            continue
        kind, name = domain
        if "/" in name:
            first, _, rest = name.partition("/")
            path = f"device.{kind}[{words.literal(first)}]"
            path += (
                f".{rest}" if words.is_identifier(rest) else f"[{words.literal(rest)}]"
            )
            return Hint(
                f"Domain and name are looked up one after the other: {path}",
                part.start,
                part.end,
                path,
            )
        path = _published(misfit, kind, name)
        example = path or f'device.{kind}["driver.example.com"].{name}'
        return Hint(
            f"The domain is missing, which is the driver's name for most {kind}: "
            f"{example}",
            part.start,
            part.end,
            path,
        )
    return None


def domain_access(node: Node) -> tuple[str, str] | None:
    """The kind and the name of ``device.attributes.name`` or ``["name"]``."""
    match node:
        case Select(
            operand=Select(operand=Ident(), field=kind), field=name, test=False
        ):
            pass
        case Call(
            function="_[_]",
            args=(Select(operand=Ident(), field=kind), Literal(value=str() as name)),
        ):
            pass
        case _:
            return None
    return (kind, name) if kind in MAPS else None


def _dotted_domain(misfit: Misfit) -> Hint | None:
    """``device.capacity.gpu.nvidia.com.memory``, ``….memory.value``"""
    message, node = misfit.issue.message, misfit.node
    if not isinstance(node, Select) or not message.startswith(
        ("unexpected failed resolution", "type '")
    ):
        return None
    top: Node = node
    while isinstance(parent := misfit.parents[top], Select):
        top = parent
    names: list[str] = []
    base: Node = top
    while isinstance(base, Select) and base.field not in MAPS:
        names.append(base.field)
        base = base.operand
    if isinstance(base, Select) and len(names) > 2:
        names.reverse()
        domain = ".".join(names[:-1])
        path = f"device.{base.field}[{words.literal(domain)}].{names[-1]}"
        return Hint(
            f"A domain with dots goes in quotes and brackets: {path}",
            top.start,
            top.end,
            path,
        )
    text = misfit.source(node.operand)
    return Hint(
        f"Leave out .{node.field}: {text} is the value.", node.start, node.end, text
    )


RULES: Final = (_undeclared, _field, no_domain, _dotted_domain)
