"""URLs with the rules of Go's ``net/url``.

A text is a URL when ``url.ParseRequestURI`` takes it; its parts are those of
``url.Parse``. Since Go 1.26 a host may hold one colon only, and since 1.25 square
brackets must hold an IPv6 address. Bytes that are no UTF-8 after unescaping are
kept as surrogate escapes.
"""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass

from dra.cel.errors import EvaluationError

_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.\-]*):")
_USER = re.compile(r"[A-Za-z0-9\-._~:!$&'()*+,;=%@]*")
_PORT = re.compile(r"(?::[0-9]*)?")
_HEX = re.compile(r"[0-9A-Fa-f]{2}")

_UNRESERVED = frozenset(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.~"
)
_HOST = _UNRESERVED | frozenset("!$&'()*+,;=:[]<>\"")
_PATH = _UNRESERVED | frozenset("$&+,/:;=@")
_FRAGMENT = _UNRESERVED | frozenset("$&+,/:;=?@!()*")
_USERINFO = _UNRESERVED | frozenset("$&+,;=")
_ENCODED_EXTRA = frozenset("!$&'()*+,;=:@[]%")


class _UrlError(Exception):
    """Why a text is no URL."""


@dataclass(frozen=True, slots=True)
class URL:
    """The parts of a URL, unescaped where Go unescapes them.

    Two are equal when they are written the same.
    """

    scheme: str = ""
    opaque: str = ""
    user: tuple[str, str | None] | None = None
    host: str = ""
    path: str = ""
    raw_path: str = ""
    query: str = ""
    force_query: bool = False
    omit_host: bool = False
    fragment: str = ""
    raw_fragment: str = ""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, URL) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))

    def escaped_path(self) -> str:
        return _escaped(self.path, self.raw_path, _PATH)

    def hostname(self) -> str:
        host = _split_port(self.host)[0]
        if host.startswith("[") and host.endswith("]"):
            return host[1:-1]
        return host

    def port(self) -> str:
        return _split_port(self.host)[1]

    def query_values(self) -> dict[str, list[str]]:
        """Query parameters in the order of the text; broken ones are left out."""
        found: dict[str, list[str]] = {}
        for pair in self.query.split("&"):
            if not pair or ";" in pair:
                continue
            key, _, value = pair.partition("=")
            try:
                name, text = _unescape(key, plus=True), _unescape(value, plus=True)
            except _UrlError:
                continue
            found.setdefault(name, []).append(text)
        return found

    def __str__(self) -> str:
        out = f"{self.scheme}:" if self.scheme else ""
        if self.opaque:
            out += self.opaque
        else:
            out += self._authority_text()
            path = self.escaped_path()
            if path and not path.startswith("/") and self.host:
                out += "/"
            if not out and ":" in path.partition("/")[0]:
                out += "./"
            out += path
        if self.force_query or self.query:
            out += f"?{self.query}"
        if self.fragment:
            out += f"#{_escaped(self.fragment, self.raw_fragment, _FRAGMENT)}"
        return out

    def _authority_text(self) -> str:
        if not (self.scheme or self.host or self.user is not None):
            return ""
        if self.omit_host and not self.host and self.user is None:
            return ""
        out = "//" if self.host or self.path or self.user is not None else ""
        if self.user is not None:
            name, password = self.user
            out += _escape(name, _USERINFO)
            if password is not None:
                out += f":{_escape(password, _USERINFO)}"
            out += "@"
        return out + _escape(self.host, _HOST)


def parse_url(text: str) -> URL:
    """Read a URL. Raises :class:`EvaluationError`."""
    try:
        _parse(text, request=True)
        before, mark, fragment = text.partition("#")
        parts = _parse(before, request=False)
        if mark and fragment:
            parts["fragment"] = plain = _unescape(fragment)
            if _escape(plain, _FRAGMENT) != fragment:
                parts["raw_fragment"] = fragment
        return URL(**parts)  # type: ignore[arg-type]  # names and values of its fields
    except _UrlError as error:
        raise EvaluationError(
            f'URL parse error during conversion from string: parse "{text}": {error}'
        ) from error


def is_url(text: str) -> bool:
    return url_problem(text) is None


def url_problem(text: str) -> str | None:
    """Why ``text`` is no absolute URL or path, or None."""
    try:
        _parse(text, request=True)
    except _UrlError as error:
        return f'parse "{text}": {error}'
    return None


def _parse(text: str, *, request: bool) -> dict[str, object]:
    if _CONTROL.search(text):
        raise _UrlError("net/url: invalid control character in URL")
    if not text and request:
        raise _UrlError("empty url")
    if text == "*":
        return {"path": "*"}
    parts: dict[str, object] = {}
    scheme, rest = _scheme(text)
    parts["scheme"] = scheme
    if rest.endswith("?") and rest.count("?") == 1:
        parts["force_query"], rest = True, rest[:-1]
    else:
        rest, _, parts["query"] = rest.partition("?")
    if not rest.startswith("/"):
        if scheme:
            return parts | {"opaque": rest}
        if request:
            raise _UrlError("invalid URI for request")
        if ":" in rest.partition("/")[0]:
            raise _UrlError("first path segment in URL cannot contain colon")
    has_authority = scheme or (not request and not rest.startswith("///"))
    if has_authority and rest.startswith("//"):
        authority, slash, path = rest[2:].partition("/")
        parts["user"], parts["host"] = _authority(authority)
        rest = slash + path
    elif scheme and rest.startswith("/"):
        parts["omit_host"] = True
    parts["path"] = path = _unescape(rest)
    if _escape(path, _PATH) != rest:
        parts["raw_path"] = rest
    return parts


def _scheme(text: str) -> tuple[str, str]:
    if text.startswith(":"):
        raise _UrlError("missing protocol scheme")
    found = _SCHEME.match(text)
    if found is None:
        return "", text
    return found[1].lower(), text[found.end() :]


def _authority(text: str) -> tuple[tuple[str, str | None] | None, str]:
    userinfo, at, host_text = text.rpartition("@")
    host = _host(host_text)
    if not at:
        return None, host
    if not _USER.fullmatch(userinfo):
        raise _UrlError("net/url: invalid userinfo")
    name, colon, password = userinfo.partition(":")
    return (_unescape(name), _unescape(password) if colon else None), host


def _check_port(text: str) -> None:
    if not _PORT.fullmatch(text):
        raise _UrlError(f'invalid port "{text}" after host')


def _host(text: str) -> str:
    opening = text.rfind("[")
    if opening == -1:
        colon = text.find(":")
        if colon != -1:
            _check_port(text[colon:])
        return _unescape_host(text)
    closing = text.rfind("]")
    if closing < opening:
        raise _UrlError("missing ']' in host")
    if opening > 0:
        raise _UrlError("invalid IP-literal")
    _check_port(text[closing + 1 :])
    inner = text[1:closing]
    zone_at = inner.find("%25")
    if zone_at >= 0:
        address = _unescape_host(inner[:zone_at]) + _unescape_zone(inner[zone_at:])
    else:
        address = _unescape_host(inner)
    try:
        ipaddress.IPv6Address(address)
    except ValueError as error:
        raise _UrlError(f"invalid host: {address}") from error
    return f"[{address}]{text[closing + 1 :]}"


def _split_port(host: str) -> tuple[str, str]:
    before, colon, port = host.rpartition(":")
    if colon and _PORT.fullmatch(f":{port}"):
        return before, port
    return host, ""


def _unescape(text: str, *, plus: bool = False) -> str:
    if plus:
        text = text.replace("+", " ")
    if "%" not in text:
        return text
    out = bytearray()
    first, *others = text.split("%")
    out += first.encode("utf-8", "surrogateescape")
    for part in others:
        if not _HEX.match(part):
            raise _UrlError(f'invalid URL escape "%{part[:2]}"')
        out.append(int(part[:2], 16))
        out += part[2:].encode("utf-8", "surrogateescape")
    return out.decode("utf-8", "surrogateescape")


def _unescape_host(text: str) -> str:
    for part in text.split("%")[1:]:
        # Only bytes beyond ASCII may be escaped in a host, and the percent sign.
        if _HEX.match(part) and int(part[0], 16) < 8 and part[:2] != "25":
            raise _UrlError(f'invalid URL escape "%{part[:2]}"')
    return _checked(text)


def _unescape_zone(text: str) -> str:
    for part in text.split("%")[1:]:
        if not _HEX.match(part):
            continue
        byte = int(part[:2], 16)
        if part[:2] != "25" and byte != 0x20 and chr(byte) not in _HOST:
            raise _UrlError(f'invalid URL escape "%{part[:2]}"')
    return _checked(text)


def _checked(text: str) -> str:
    for char in text:
        if char < "\x80" and char != "%" and char not in _HOST:
            raise _UrlError(f'invalid character "{char}" in host name')
    return _unescape(text)


def _escape(text: str, keep: frozenset[str]) -> str:
    return "".join(
        chr(byte) if chr(byte) in keep else f"%{byte:02X}"
        for byte in text.encode("utf-8", "surrogateescape")
    )


def _escaped(text: str, raw: str, keep: frozenset[str]) -> str:
    """As it was written where that is a valid writing of ``text``, else ours."""
    if raw and all(char in keep or char in _ENCODED_EXTRA for char in raw):
        try:
            if _unescape(raw) == text:
                return raw
        except _UrlError:
            pass
    return "*" if text == "*" else _escape(text, keep)
