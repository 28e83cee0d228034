"""Semantic versions (semver.org 2.0.0) as CEL reads and compares them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property, lru_cache, total_ordering
from typing import Final

from dra.errors import SemverError

_UINT64_MAX: Final = 2**64 - 1
_DIGITS: Final = re.compile(r"[0-9]+")
_IDENTIFIER: Final = re.compile(r"[0-9A-Za-z-]+")
_MAX_LENGTH: Final = 1000

type Identifier = int | str


@total_ordering
@dataclass(frozen=True, eq=False)
class Version:
    """A version, compared by precedence.

    Build metadata is kept and shown and plays no part in equality or order
    (semver.org rule 10).
    """

    major: int
    minor: int
    patch: int
    prerelease: tuple[Identifier, ...] = ()
    build: tuple[str, ...] = ()

    @cached_property
    def precedence(self) -> tuple[object, ...]:
        """Sorts as semver.org rule 11 says."""
        identifiers = tuple(
            (0, part, "") if isinstance(part, int) else (1, 0, part)
            for part in self.prerelease
        )
        return (self.major, self.minor, self.patch, not identifiers, identifiers)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Version):
            return NotImplemented
        return self.precedence == other.precedence

    def __lt__(self, other: Version) -> bool:
        if not isinstance(other, Version):
            return NotImplemented
        return self.precedence < other.precedence

    def __hash__(self) -> int:
        return hash(self.precedence)

    def __str__(self) -> str:
        text = f"{self.major}.{self.minor}.{self.patch}"
        if self.prerelease:
            text += "-" + ".".join(map(str, self.prerelease))
        if self.build:
            text += "+" + ".".join(self.build)
        return text


@lru_cache(maxsize=1 << 14)
def parse(text: str, *, normalise: bool = False) -> Version:
    """Read ``text`` strictly, or after making it a full version.

    ``normalise`` takes off one leading ``v``, strips leading zeros and fills in a
    missing minor and patch number with 0; a short version with pre-release or
    build metadata stays an error, and so does white space. Raises
    :class:`~dra.errors.SemverError`.
    """
    if len(text) > _MAX_LENGTH:
        raise SemverError(f"a version of {len(text)} characters is too long")
    return _parse(_normalised(text) if normalise else text, shown=text)


def _normalised(text: str) -> str:
    parts = text.removeprefix("v").split(".", 2)
    for i, part in enumerate(parts):
        if len(part) > 1:
            stripped = part.lstrip("0")
            parts[i] = stripped if _DIGITS.match(stripped) else "0" + stripped
    if len(parts) < 3 and ("+" in parts[-1] or "-" in parts[-1]):
        raise SemverError(
            f'"{text}": a short version cannot have pre-release or build metadata'
        )
    return ".".join([*parts, "0", "0"][:3])


def _parse(text: str, *, shown: str) -> Version:
    parts = text.split(".", 2)
    if len(parts) < 3:
        raise SemverError(f'"{shown}" is not a version: no major.minor.patch found')
    core, plus, build = parts[2].partition("+")
    patch, dash, prerelease = core.partition("-")
    return Version(
        _number(parts[0], "major number", shown),
        _number(parts[1], "minor number", shown),
        _number(patch, "patch number", shown),
        tuple(_prerelease(p, shown) for p in prerelease.split(".")) if dash else (),
        tuple(_identifier(p, "build", shown) for p in build.split(".")) if plus else (),
    )


def _number(digits: str, what: str, text: str) -> int:
    if not _DIGITS.fullmatch(digits):
        raise SemverError(f'"{text}": {what} "{digits}" is not a number')
    if len(digits) > 1 and digits[0] == "0":
        raise SemverError(f'"{text}": {what} "{digits}" has leading zeros')
    value = int(digits)
    if value > _UINT64_MAX:
        raise SemverError(f'"{text}": {what} "{digits}" is too big')
    return value


def _prerelease(identifier: str, text: str) -> Identifier:
    if _DIGITS.fullmatch(identifier):
        return _number(identifier, "pre-release number", text)
    return _identifier(identifier, "pre-release", text)


def _identifier(identifier: str, what: str, text: str) -> str:
    if not _IDENTIFIER.fullmatch(identifier):
        found = f'"{identifier}"' if identifier else "an empty part"
        raise SemverError(f'"{text}": {found} is not allowed in the {what} part')
    return identifier
