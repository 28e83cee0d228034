"""Which versions of the group an API server may serve.

Source: the releases of Kubernetes that brought each version and take it away. A beta
version is served only where an administrator enabled it, so that a release may serve
one says nothing of a cluster.
"""

from __future__ import annotations

from typing import Final

from dra.validation.deprecations import last_of
from dra.validation.gates import Release
from dra.validation.schema import GROUP, KINDS

_SINCE: Final[dict[str, Release]] = {
    "v1": (1, 34),
    "v1beta2": (1, 33),
    "v1beta1": (1, 32),
}
_RULES_SINCE: Final[dict[str, Release]] = {
    "v1": (1, 37),
    "v1beta2": (1, 36),
    "v1alpha3": (1, 33),
}


def not_served(kind: str, api_version: str, release: Release, newest: str = "") -> str:
    """Why ``api_version`` is surely not served for ``kind``; empty: it may be, or it is
    a version that no server knows.

    ``newest`` is the newest version that the cluster serves, empty where that is not
    known; then only ``release`` counts.
    """
    known = [f"{GROUP}/{version}" for version in KINDS.get(kind, ())]
    if api_version not in known:
        return ""
    if newest in known and known.index(api_version) < known.index(newest):
        return (
            f"This cluster does not serve {api_version} for a {kind}: the newest "
            f"version that it serves is {newest}. kubectl would refuse the object."
        )
    possible = [text for text in known if may_serve(kind, text, release)]
    if api_version in possible or api_version == newest or not possible:
        return ""
    early = release < _since(kind, api_version)
    serves = newest or " or ".join(possible)
    if not newest and "beta" in serves:
        serves += " (a beta version only where an administrator enabled it)"
    return (
        f"Kubernetes {release[0]}.{release[1]} does not serve {api_version} for a {kind} "
        f"{'yet' if early else 'any more'}, but {serves}. kubectl would refuse the object."
    )


def same_layout(kind: str, api_version: str, other: str) -> bool:
    """Whether an object keeps its layout from one version to the other."""
    versions = KINDS.get(kind, {})
    shapes = [versions.get(text.rpartition("/")[2]) for text in (api_version, other)]
    return shapes[0] is not None and shapes[0] is shapes[1]


def may_serve(kind: str, api_version: str, release: Release) -> bool:
    """Whether a server of ``release`` can serve a version of the group that we know."""
    last = last_of(api_version.rpartition("/")[2], kind)
    since = _since(kind, api_version)
    return since <= release and (last is None or release < last)


def _since(kind: str, api_version: str) -> Release:
    since = _RULES_SINCE if kind == "DeviceTaintRule" else _SINCE
    return since[api_version.rpartition("/")[2]]
