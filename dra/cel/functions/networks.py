"""Functions on IP addresses and CIDR blocks."""

from __future__ import annotations

from collections.abc import Callable

from dra.cel import types as t
from dra.cel.addresses import CIDR, IP, parse_cidr, parse_ip
from dra.cel.declarations import Declarations
from dra.cel.errors import EvaluationError

_S = t.STRING


def declare(to: Declarations) -> None:
    to.add("ip", "string_to_ip", (_S,), t.IP, parse_ip)
    to.method("ip", "cidr_ip", (t.CIDR,), t.IP, lambda c: c.ip)
    to.add("isIP", "is_ip", (_S,), t.BOOL, _readable(parse_ip))
    to.add("ip.isCanonical", "ip_is_canonical", (_S,), t.BOOL, is_canonical)
    to.add("string", "ip_to_string", (t.IP,), _S, str)
    to.add("string", "cidr_to_string", (t.CIDR,), _S, str)
    to.method("family", "ip_family", (t.IP,), t.INT, lambda ip: ip.version)
    for name, overload, run in (
        ("isUnspecified", "ip_is_unspecified", IP.is_unspecified),
        ("isLoopback", "ip_is_loopback", IP.is_loopback),
        (
            "isLinkLocalMulticast",
            "ip_is_link_local_multicast",
            IP.is_link_local_multicast,
        ),
        ("isLinkLocalUnicast", "ip_is_link_local_unicast", IP.is_link_local_unicast),
        ("isGlobalUnicast", "ip_is_global_unicast", IP.is_global_unicast),
    ):
        to.method(name, overload, (t.IP,), t.BOOL, run)
    to.add("cidr", "string_to_cidr", (_S,), t.CIDR, parse_cidr)
    to.add("isCIDR", "is_cidr", (_S,), t.BOOL, _readable(parse_cidr))
    to.method(
        "containsIP",
        "cidr_contains_ip_string",
        (t.CIDR, _S),
        t.BOOL,
        lambda c, text: c.contains_ip(parse_ip(text)),
    )
    to.method(
        "containsIP", "cidr_contains_ip_ip", (t.CIDR, t.IP), t.BOOL, CIDR.contains_ip
    )
    to.method(
        "containsCIDR",
        "cidr_contains_cidr_string",
        (t.CIDR, _S),
        t.BOOL,
        lambda c, text: c.contains_cidr(parse_cidr(text)),
    )
    to.method(
        "containsCIDR",
        "cidr_contains_cidr",
        (t.CIDR, t.CIDR),
        t.BOOL,
        CIDR.contains_cidr,
    )
    to.method(
        "prefixLength", "cidr_prefix_length", (t.CIDR,), t.INT, lambda c: c.prefix
    )
    to.method("masked", "cidr_masked", (t.CIDR,), t.CIDR, CIDR.masked)


def _readable(parse: Callable[[str], object]) -> Callable[[str], bool]:
    def run(text: str) -> bool:
        try:
            parse(text)
        except EvaluationError:
            return False
        return True

    return run


def is_canonical(text: str) -> bool:
    """Whether the address is written the one canonical way."""
    return str(parse_ip(text)) == text
