"""IP addresses and CIDR blocks with the rules of Go's ``net/netip``.

Zones and IPv4-mapped IPv6 addresses are refused, as Kubernetes does. A block may
have host bits set.
"""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass

from dra.cel.errors import EvaluationError


@dataclass(frozen=True, slots=True)
class IP:
    """``version`` is 4 or 6, ``number`` the address as an integer."""

    version: int
    number: int

    def __str__(self) -> str:
        if self.version == 4:
            return str(ipaddress.IPv4Address(self.number))
        return str(ipaddress.IPv6Address(self.number))

    @property
    def bits(self) -> int:
        return 32 if self.version == 4 else 128

    def within(self, other: IP, prefix: int) -> bool:
        """Whether the first ``prefix`` bits are those of ``other``."""
        shift = self.bits - prefix
        return (
            self.version == other.version
            and self.number >> shift == other.number >> shift
        )

    def _starts(self, text4: str, text6: str) -> bool:
        block = parse_cidr(text4 if self.version == 4 else text6)
        return self.within(block.ip, block.prefix)

    def is_unspecified(self) -> bool:
        return self.number == 0

    def is_loopback(self) -> bool:
        return self._starts("127.0.0.0/8", "::1/128")

    def is_link_local_multicast(self) -> bool:
        if self.version == 4:
            return self.number >> 8 == 0xE00000
        return (self.number >> 112) & 0xFF0F == 0xFF02

    def is_link_local_unicast(self) -> bool:
        return self._starts("169.254.0.0/16", "fe80::/10")

    def is_global_unicast(self) -> bool:
        broadcast = self.version == 4 and self.number == 2**32 - 1
        return not (
            broadcast
            or self.is_unspecified()
            or self.is_loopback()
            or self.is_link_local_unicast()
            or self._starts("224.0.0.0/4", "ff00::/8")
        )


@dataclass(frozen=True, slots=True)
class CIDR:
    """An address with the length of its network prefix."""

    ip: IP
    prefix: int

    def __str__(self) -> str:
        return f"{self.ip}/{self.prefix}"

    def contains_ip(self, ip: IP) -> bool:
        return ip.within(self.ip, self.prefix)

    def contains_cidr(self, other: CIDR) -> bool:
        return self.prefix <= other.prefix and other.ip.within(self.ip, self.prefix)

    def masked(self) -> CIDR:
        """The block with the host bits cleared."""
        shift = self.ip.bits - self.prefix
        number = self.ip.number >> shift << shift
        return CIDR(IP(self.ip.version, number), self.prefix)


_PLAIN = re.compile(r"[0-9a-fA-F:.]+")
_PREFIX = re.compile(r"0|[1-9][0-9]{0,2}")


def _parse(text: str) -> IP | None:
    if not _PLAIN.fullmatch(text):
        return None
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return None
    return IP(address.version, int(address))


def _mapped(ip: IP) -> bool:
    return ip.version == 6 and ip.number >> 32 == 0xFFFF


def parse_ip(text: str) -> IP:
    """Read an address. Raises :class:`EvaluationError`."""
    if "%" in text:
        raise EvaluationError(f'IP address "{text}" with zone value is not allowed')
    ip = _parse(text)
    if ip is None:
        raise EvaluationError(
            f'IP Address "{text}" parse error during conversion from string: '
            f'ParseAddr("{text}"): unable to parse IP'
        )
    if _mapped(ip):
        raise EvaluationError(f'IPv4-mapped IPv6 address "{text}" is not allowed')
    return ip


def parse_cidr(text: str) -> CIDR:
    """Read a block. Raises :class:`EvaluationError`."""
    address, slash, digits = text.rpartition("/")
    ip = _parse(address) if slash else None
    if ip is None or not _PREFIX.fullmatch(digits) or int(digits) > ip.bits:
        raise EvaluationError(
            "network address parse error during conversion from string: "
            f'netip.ParsePrefix("{text}"): unable to parse'
        )
    if _mapped(ip):
        raise EvaluationError(f'IPv4-mapped IPv6 address "{text}" is not allowed')
    return CIDR(ip, int(digits))
