"""Number, string and bytes literals as values."""

from __future__ import annotations

import re
from typing import Final

from dra.cel.values import INT_MAX, INT_MIN, UINT_MAX, UInt

_SIMPLE: Final = {
    "a": "\a",
    "b": "\b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "v": "\v",
    "\\": "\\",
    "?": "?",
    '"': '"',
    "'": "'",
    "`": "`",
}
_ESCAPE = re.compile(
    r"\\(?:(?P<simple>[abfnrtv\\?\"'`])|(?P<octal>[0-3][0-7]{2})"
    r"|[xX](?P<hex>[0-9a-fA-F]{2})|u(?P<short>[0-9a-fA-F]{4})"
    r"|U(?P<long>[0-9a-fA-F]{8}))"
)


def read_int(text: str) -> int | None:
    """An int64 (decimal or 0x…, with optional sign), None when out of range."""
    negative = text.startswith("-")
    digits = text.removeprefix("-")
    value = _magnitude(digits)
    if value is None:
        return None
    value = -value if negative else value
    return value if INT_MIN <= value <= INT_MAX else None


def read_uint(text: str) -> UInt | None:
    """A uint64 such as ``10u``, None when out of range."""
    value = _magnitude(text[:-1])
    return None if value is None or value > UINT_MAX else UInt(value)


def read_double(text: str) -> float | None:
    """A double, None when it is too big for one."""
    value = float(text)
    return None if value in (float("inf"), float("-inf")) else value


def _magnitude(digits: str) -> int | None:
    # More than this many digits overflows anyway, and int() refuses thousands.
    stripped = digits.removeprefix("0x").lstrip("0")
    if len(stripped) > 20:
        return None
    return int(stripped or "0", 16 if digits.startswith("0x") else 10)


def read_string(token: str) -> str:
    """The value of a string token. Raises ValueError for a bad code point."""
    raw, body = _split(token)
    if raw or "\\" not in body:
        return body
    return _ESCAPE.sub(_text, body)


def read_bytes(token: str) -> bytes:
    """The value of a bytes token: escapes ``\\x`` and octal are single bytes."""
    raw, body = _split(token[1:])
    if raw or "\\" not in body:
        return body.encode()
    out = bytearray()
    last = 0
    for match in _ESCAPE.finditer(body):
        out += body[last : match.start()].encode()
        code = match["hex"] or match["octal"]
        if code is not None:
            out.append(int(code, 16 if match["hex"] else 8))
        elif match["simple"]:
            out += _SIMPLE[match["simple"]].encode()
        else:
            raise ValueError("unable to unescape string")
        last = match.end()
    return bytes(out + body[last:].encode())


def _split(token: str) -> tuple[bool, str]:
    raw = token[0] in "rR"
    quoted = token[1:] if raw else token
    width = 3 if quoted[:3] in ('"""', "'''") and len(quoted) >= 6 else 1
    body = quoted[width:-width]
    return raw, body.replace("\r\n", "\n").replace("\r", "\n")


def _text(match: re.Match[str]) -> str:
    if match["simple"]:
        return _SIMPLE[match["simple"]]
    if match["octal"]:
        return chr(int(match["octal"], 8))
    code = int(match["hex"] or match["short"] or match["long"], 16)
    if code > 0x10FFFF or 0xD800 <= code <= 0xDFFF:
        raise ValueError("unable to unescape string")
    return chr(code)
