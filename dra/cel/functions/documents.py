"""Functions on URLs and named formats."""

from __future__ import annotations

from dra.cel import types as t
from dra.cel.declarations import Declarations
from dra.cel.formats import FORMATS, NamedFormat
from dra.cel.urls import URL, is_url, parse_url
from dra.cel.values import NONE, Optional, WrittenMap

_S = t.STRING


def declare(to: Declarations) -> None:
    to.add("url", "string_to_url", (_S,), t.URL, parse_url)
    to.add("isURL", "is_url_string", (_S,), t.BOOL, is_url)
    to.method("getScheme", "url_get_scheme", (t.URL,), _S, lambda u: u.scheme)
    to.method("getHost", "url_get_host", (t.URL,), _S, lambda u: u.host)
    to.method("getHostname", "url_get_hostname", (t.URL,), _S, URL.hostname)
    to.method("getPort", "url_get_port", (t.URL,), _S, URL.port)
    to.method("getEscapedPath", "url_get_escaped_path", (t.URL,), _S, URL.escaped_path)
    query = t.map_of(_S, t.list_of(_S))
    to.method(
        "getQuery",
        "url_get_query",
        (t.URL,),
        query,
        lambda url: WrittenMap(url.query_values()),
    )
    to.add("format.named", "format-named", (_S,), t.optional_of(t.FORMAT), named)
    for name in FORMATS:
        full = f"format.{name}"
        to.add(full, full, (), t.FORMAT, lambda name=name: FORMATS[name])
    problems = t.optional_of(t.list_of(_S))
    to.method("validate", "format-validate", (t.FORMAT, _S), problems, validate)


def named(name: str) -> Optional:
    found = FORMATS.get(name)
    return NONE if found is None else Optional(found)


def validate(named_format: NamedFormat, text: str) -> Optional:
    """The list of what is wrong, or no value where nothing is."""
    problems = named_format.check(text)
    return Optional(problems) if problems else NONE
