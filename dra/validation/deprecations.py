"""The API server's warnings about versions of the group that come to an end.

Source: the releases that Kubernetes 1.36 states for each kind and version.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from dra.validation.gates import Release
from dra.validation.schema import GROUP

type _End = tuple[Release, Release]
"""The release from which on a version is deprecated, and that which serves it no more."""

_ENDS: Final[dict[str, _End]] = {
    "v1alpha3": ((1, 36), (1, 39)),
    "v1beta1": ((1, 35), (1, 38)),
    "v1beta2": ((1, 36), (1, 39)),
}
_LATER: Final[dict[tuple[str, str], _End]] = {
    ("v1beta2", "DeviceTaintRule"): ((1, 39), (1, 42)),
}


def last_of(version: str, kind: str) -> Release | None:
    """The first release that serves the version no more; None where none is stated."""
    end = _end(version, kind)
    return None if end is None else end[1]


def deprecated(version: str, kind: str, release: Release) -> Iterator[str]:
    """What a server of ``release`` says to a request in ``version``."""
    end = _end(version, kind)
    if end is None or release < end[0]:
        return
    since, gone = (f"v{major}.{minor}+" for major, minor in end)
    yield f"{GROUP}/{version} {kind} is deprecated in {since}, unavailable in {gone}"


def _end(version: str, kind: str) -> _End | None:
    return _LATER.get((version, kind)) or _ENDS.get(version)
