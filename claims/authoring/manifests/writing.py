"""JSON values as YAML text in the manner of ``kubectl``: two spaces, block style.

What is written is read again as the same value, by YAML 1.1 and 1.2 readers alike:
text that could be taken for something else is quoted, lines are never folded.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import yaml

# Text that begins like this and holds neither ": " nor " #" needs no quotes.
_PLAIN: Final = re.compile(r"[A-Za-z0-9_./$(+^<][^\r\n\t]*\Z")
_PLAIN_IN_FLOW: Final = re.compile(r"[A-Za-z_./][A-Za-z0-9_./-]*\Z")
_LIKE_A_NUMBER: Final = re.compile(
    r"[-+.]?[0-9][0-9_.eE+:xoXTZ \-]*\Z|0[xX][0-9a-fA-F_]+\Z"
)
# YAML 1.1 has these for booleans and null, in some readers at least.
_WORDS: Final = frozenset(("y", "n", "yes", "no", "on", "off", "true", "false", "null"))
_UNPRINTABLE: Final = re.compile(
    "[^\t\n\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]"
)


@dataclass(frozen=True, slots=True)
class Manner:
    """How the text around does it: ``step`` spaces deeper for the keys of a mapping,
    ``dash`` spaces deeper for the items of a list below a key."""

    step: int = 2
    dash: int = 0


KUBECTL: Final = Manner()


def block(value: Any, column: int = 0, manner: Manner = KUBECTL) -> str:
    """``value`` as lines that begin at ``column``, each with its end.

    A mapping or list without entries, or a scalar, is one line of flow style.
    """
    return "".join(_block(value, column, manner))


def _block(value: Any, column: int, manner: Manner) -> Iterator[str]:
    margin = " " * column
    if isinstance(value, dict) and value:
        for key, one in value.items():
            yield from (margin, key_text(key), ":", after_key(one, column, manner))
    elif isinstance(value, list) and value:
        for one in value:
            yield from (margin, "-", after_dash(one, column, manner))
    else:
        yield from (margin, inline(value, column + manner.step), "\n")


def after_key(value: Any, column: int, manner: Manner = KUBECTL, note: str = "") -> str:
    """What follows ``key:`` of a mapping at ``column``, to the end of its last line.

    ``note`` is a comment that stays in the line of the key.
    """
    if is_nested(value):
        deeper = manner.dash if isinstance(value, list) else manner.step
        return f"{note}\n" + block(value, column + deeper, manner)
    return _with_note(" " + inline(value, column + manner.step), note)


def after_dash(
    value: Any, column: int, manner: Manner = KUBECTL, note: str = ""
) -> str:
    """What follows the ``-`` of a list at ``column``, to the end of its last line."""
    if is_nested(value):
        lines = block(value, column + 2, manner)
        return f"{note}\n{lines}" if note else " " + lines[column + 2 :]
    return _with_note(" " + inline(value, column + 2), note)


def _with_note(written: str, note: str) -> str:
    first, broken, rest = written.partition("\n")
    return first + note + "\n" + (rest + "\n" if broken else "")


def is_nested(value: Any) -> bool:
    """Whether it takes lines of its own in block style."""
    return isinstance(value, (dict, list)) and bool(value)


def inline(value: Any, column: int, style: str = "") -> str:
    """A scalar, or a mapping or list without entries, to stand behind ``key:`` or ``-``.

    Text of several lines becomes a literal block whose lines begin at ``column``; it has
    no final line end. ``style`` is the one to keep if possible (as in ``cluster.yaml_parts``).
    """
    if isinstance(value, str):
        return _text(value, column, style)
    return flow(value)


def key_text(key: str) -> str:
    """A key of a mapping in block style."""
    return key if _is_plain(key) else json_text(key)


def _text(value: str, column: int, style: str) -> str:
    if _UNPRINTABLE.search(value):
        return json_text(value)
    literal = _literal(value, column)
    if style in ("literal", "folded") and literal:
        return literal
    if "\n" in value:
        return literal or json_text(value)
    if style == "double":
        return json_text(value)
    if style == "single" or (not _is_plain(value) and _reads_better_single(value)):
        return "'" + value.replace("'", "''") + "'"
    if _is_plain(value):
        return value
    # An expression with quotes of both kinds is easier to read without escapes.
    return literal if '"' in value and literal else json_text(value)


def _reads_better_single(value: str) -> bool:
    return ('"' in value or "\\" in value) and "'" not in value and "\t" not in value


def _is_plain(value: str) -> bool:
    return (
        _PLAIN.match(value) is not None
        and not value.endswith((" ", ":"))
        and ": " not in value
        and " #" not in value
        and value.lower() not in _WORDS
        and not _UNPRINTABLE.search(value)
        and not value.startswith(("---", "..."))
        and not _LIKE_A_NUMBER.match(value)
        and _resolver.resolve(yaml.ScalarNode, value, (True, False)) == _STRING  # type: ignore[no-untyped-call]  # PyYAML's stubs leave it untyped
    )


def _literal(value: str, column: int) -> str:
    """A literal block, or nothing where none says exactly ``value``."""
    body = value.rstrip("\n")
    ends = len(value) - len(body)
    if ends > 1 or not body.strip(" \n\t") or _UNPRINTABLE.search(value):
        return ""
    if body[0] in " \t\n" or body[-1] in " \t" or "\t" in body:
        return ""
    margin = " " * column
    lines = (margin + line if line else "" for line in body.split("\n"))
    return ("|" if ends else "|-") + "\n" + "\n".join(lines)


def flow(value: Any, *, quoted: bool = True) -> str:
    """``value`` in flow style on one line; without ``quoted`` plain words stay plain."""
    if isinstance(value, dict):
        entries = (
            f"{_flow_text(key, quoted=quoted)}: {flow(one, quoted=quoted)}"
            for key, one in value.items()
        )
        return "{" + ", ".join(entries) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(flow(one, quoted=quoted) for one in value) + "]"
    if isinstance(value, str):
        return _flow_text(value, quoted=quoted)
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    return _number(value)


def _flow_text(value: str, *, quoted: bool) -> str:
    if not quoted and _PLAIN_IN_FLOW.match(value) and _is_plain(value):
        return value
    return json_text(value)


def _number(value: int | float) -> str:
    if isinstance(value, int):
        return str(value)
    if not math.isfinite(value):
        raise ValueError("a number must be finite")
    digits, power, exponent = repr(value).partition("e")
    # Readers of YAML 1.1 want the dot and the sign.
    if power and "." not in digits:
        digits += ".0"
    return digits + power + exponent


def json_text(value: str) -> str:
    """Double quotes with JSON's escapes, which YAML has too."""
    return printable(json.dumps(value, ensure_ascii=False))


def printable(written: str) -> str:
    """JSON with escapes for what may not stand in YAML as it is."""
    return _UNPRINTABLE.sub(_escaped, written)


def _escaped(match: re.Match[str]) -> str:
    return f"\\u{ord(match[0]):04x}"


_STRING: Final = "tag:yaml.org,2002:str"
_resolver: Final = yaml.resolver.Resolver()
