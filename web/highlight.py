"""YAML and expressions with their words marked up, for reading. Always escaped."""

from __future__ import annotations

import re
from typing import Any, Final

import yaml
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

MAX_HIGHLIGHTED: Final = 200_000
"""Longer YAML is shown plainly: the browser has enough to do."""

_YAML_LINE = re.compile(
    r"^(?P<indent>\s*(?:- )*)(?P<key>[^\s:'\"#][^:]*?|'[^']*'|\"[^\"]*\")(?P<colon>:)"
    r"(?P<rest>\s.*|)$"
)
_SCALAR = re.compile(r"\s*(?:-?\d+(?:\.\d+)?|true|false|null|\[\]|\{\})\s*")

_EXPRESSION = re.compile(
    r"(?P<comment>//[^\n]*)"
    r"|(?P<string>[rR]?(?:\"\"\"(?:[^\\]|\\.)*?\"\"\"|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'))"
    r"|(?P<number>\b(?:0x[0-9a-fA-F]+|\d+(?:\.\d+)?)u?\b)"
    r"|(?P<keyword>\b(?:true|false|null|in)\b)"
    r"|(?P<call>\b[A-Za-z_]\w*(?=\s*\())"
    r"|(?P<name>\b[A-Za-z_]\w*\b)"
    r"|(?P<operator>&&|\|\||[=!<>]=?|[-+*/%?:])",
    re.DOTALL,
)


class _Dumper(yaml.CSafeDumper):
    """Multi-line text as a block, and no aliases: people read this."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002  # the base's signature
        return True


def _text(dumper: yaml.CSafeDumper, value: str) -> yaml.Node:
    style = "|" if "\n" in value else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)


_Dumper.add_representer(str, _text)


def to_yaml(value: Any) -> str:
    """Plain JSON values as YAML, fields by name as ``kubectl -o yaml`` writes them."""
    return str(yaml.dump(value, Dumper=_Dumper, allow_unicode=True, width=1000))


def yaml_lines(text: str) -> SafeString:
    """One ``<span class="line">`` a line, keys and scalars marked."""
    if len(text) > MAX_HIGHLIGHTED:
        return mark_safe(escape(text))  # noqa: S308  # escaped
    lines = map(_yaml_line, text.rstrip("\n").split("\n"))
    marked = "\n".join(f'<span class="line">{line}</span>' for line in lines)
    return mark_safe(marked)  # noqa: S308  # every part was escaped


def _yaml_line(line: str) -> str:
    found = _YAML_LINE.match(line)
    if found is None:
        return escape(line)
    rest = found["rest"]
    css = "hl-number" if rest and _SCALAR.fullmatch(rest) else "hl-string"
    value = f'<span class="{css}">{escape(rest)}</span>' if rest else ""
    key = escape(found["key"])
    return f'{found["indent"]}<span class="hl-key">{key}</span>:{value}'


def expression(text: str) -> SafeString:
    """A CEL expression; anything that is not one is shown as it is."""
    parts: list[str] = []
    end = 0
    for found in _EXPRESSION.finditer(text):
        parts.append(escape(text[end : found.start()]))
        kind = found.lastgroup or "name"
        parts.append(f'<span class="hl-{kind}">{escape(found[0])}</span>')
        end = found.end()
    parts.append(escape(text[end:]))
    return mark_safe("".join(parts))  # noqa: S308  # every part was escaped
