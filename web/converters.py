"""Names of Kubernetes objects as parts of an address, odd ones included.

An API server allows no ``/`` in an object's name, but a dump may hold anything, and
drivers, pools and devices are plain text inside of slices. Every text can be put into
an address and comes back unchanged, so no name on a page breaks that page:

- letters, digits and most signs stay as they are;
- ``%`` and what servers or browsers would take for structure are percent-encoded
  once more than usual, because servers decode an address once before it gets here;
- an empty text is a single ``%``, a word that addresses end with is encoded too.

REST has names as they are. No address holds NUL: no name does, and PostgreSQL cannot
look for it.
"""

from __future__ import annotations

from typing import Final
from urllib.parse import quote, unquote

from django.urls import register_converter
from django.urls.converters import PathConverter, StringConverter

_EMPTY: Final = "%"
_PLAIN: Final = "/~:@!$&'()*+,;="
"""What ``reverse`` leaves as it is in a path (RFC 3986)."""
_DOTS: Final = frozenset({".", ".."})
_WORDS: Final = frozenset({"yaml", "classes", "fit"})
"""Last parts of addresses below an object's own."""


def _encoded(text: str) -> str:
    if not text:
        return _EMPTY
    if text in _DOTS:
        return text.replace(".", "%2E")
    if text in _WORDS:
        return f"%{ord(text[0]):02X}{text[1:]}"
    return "".join(
        quote(char, safe="") if char in "%/\\" or not char.isprintable() else char
        for char in text
    )


def _decoded(text: str) -> str:
    decoded = "" if text == _EMPTY else unquote(text)
    if "\0" in decoded:
        raise ValueError("no name holds NUL, and PostgreSQL cannot look for it")
    return decoded


def path_of(driver: str, pool: str, device: str) -> str:
    """The end of a device's address, as ``reverse`` makes it with ``<key:…>``,
    ``<keys:…>`` and ``<key:…>``: some pages have thousands, and ``reverse`` is slow."""
    parts = [driver, *pool.split("/"), device]
    return quote("/".join([*map(_encoded, parts), ""]), safe=_PLAIN)


class KeyConverter:
    """One name: a single part of the address."""

    regex = "[^/]+"

    def to_python(self, value: str) -> str:
        return _decoded(value)

    def to_url(self, value: object) -> str:
        return _encoded(str(value))


class KeysConverter:
    """A name that may hold slashes (of a pool): one part of the address for each piece."""

    regex = ".+"

    def to_python(self, value: str) -> str:
        return "/".join(map(_decoded, value.split("/")))

    def to_url(self, value: object) -> str:
        return "/".join(map(_encoded, str(value).split("/")))


class NameConverter(StringConverter):
    """One name as REST has it, decoded once."""

    regex = r"[^/\0]+"


class NamesConverter(PathConverter):
    """The same of a name that may hold slashes."""

    regex = r"[^\0]+"


def register() -> None:
    """Make ``<key:…>``, ``<keys:…>``, ``<name:…>`` and ``<names:…>`` known; before any
    address is."""
    register_converter(KeyConverter, "key")
    register_converter(KeysConverter, "keys")
    register_converter(NameConverter, "name")
    register_converter(NamesConverter, "names")
