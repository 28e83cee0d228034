"""Which resource a URL path names."""

from __future__ import annotations

from dataclasses import dataclass

from cluster.standin.kinds import Kind, Serving

_NAMESPACE_PARTS = ("status", "finalize")


@dataclass(frozen=True, slots=True)
class Route:
    """A path under one API version: collection when ``name`` is empty.

    ``every_namespace``: a namespaced kind asked for across the cluster.
    """

    kind: Kind
    version: str
    namespace: str = ""
    name: str = ""
    subresource: str = ""
    watch: bool = False

    @property
    def every_namespace(self) -> bool:
        return self.kind.namespaced and not self.namespace


def find(serving: Serving, path: str) -> Route | None:
    """The route of ``path``, or None: nothing is served there."""
    parts = [part for part in path.split("/") if part]
    if parts[:1] == ["api"] and len(parts) >= 3:
        return _resource(serving, "", parts[1], parts[2:])
    if parts[:1] == ["apis"] and len(parts) >= 4:
        return _resource(serving, parts[1], parts[2], parts[3:])
    return None


def _resource(
    serving: Serving, group: str, version: str, parts: list[str]
) -> Route | None:
    watch = parts[0] == "watch"
    if watch:
        parts = parts[1:]
    namespace = ""
    if _inside_namespace(parts):
        namespace, parts = parts[1], parts[2:]
    if not parts or len(parts) > 3:
        return None
    plural, name, subresource = (*parts, "", "")[:3]
    kind = serving.find(group, version, plural)
    if kind is None or (namespace and not kind.namespaced):
        return None
    if name and kind.namespaced and not namespace:
        return None
    if subresource and not (subresource == "status" and kind.status):
        return None
    return Route(kind, version, namespace, name, subresource, watch)


def _inside_namespace(parts: list[str]) -> bool:
    """True for namespaces/x/pods, False for namespaces/x and namespaces/x/status."""
    if len(parts) < 3 or parts[0] != "namespaces":
        return False
    return parts[2] not in _NAMESPACE_PARTS or len(parts) > 3
