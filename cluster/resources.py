"""The kinds we mirror: where the API serves them and in which versions we can read them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final
from urllib.parse import quote


@dataclass(frozen=True, slots=True)
class Resource:
    """One kind. ``versions`` are those we can read, most wanted first."""

    kind: str
    plural: str
    group: str
    versions: tuple[str, ...]
    namespaced: bool
    optional: bool = False
    """True where many clusters do not serve it; its absence is no error."""


@dataclass(frozen=True, slots=True)
class ServedResource:
    """A resource as one API server serves it: the newest version that we can read."""

    resource: Resource
    version: str

    @property
    def api_version(self) -> str:
        group = self.resource.group
        return f"{group}/{self.version}" if group else self.version

    def path(self, namespace: str | None = None, name: str | None = None) -> str:
        """The URL path of the collection, of one namespace's part or of one object.

        Names are escaped: whatever they hold, they stay one segment of the path.
        """
        group = self.resource.group
        parts = ["/apis", group, self.version] if group else ["/api", self.version]
        if namespace:
            parts += ["namespaces", segment(namespace)]
        parts.append(self.resource.plural)
        if name:
            parts.append(segment(name))
        return "/".join(parts)


def segment(text: str) -> str:
    """``text`` as one segment of a URL path; dots alone would mean "go up"."""
    return text.replace(".", "%2E") if text in (".", "..") else quote(text, safe="")


DRA = "resource.k8s.io"
RESOURCES: Final[tuple[Resource, ...]] = (
    Resource("Namespace", "namespaces", "", ("v1",), namespaced=False),
    Resource("Node", "nodes", "", ("v1",), namespaced=False),
    Resource(
        "DeviceClass",
        "deviceclasses",
        DRA,
        ("v1", "v1beta2", "v1beta1"),
        namespaced=False,
    ),
    Resource(
        "ResourceSlice",
        "resourceslices",
        DRA,
        ("v1", "v1beta2", "v1beta1"),
        namespaced=False,
    ),
    Resource(
        "DeviceTaintRule",
        "devicetaintrules",
        DRA,
        ("v1", "v1beta2", "v1alpha3"),
        namespaced=False,
        optional=True,
    ),
    Resource(
        "ResourceClaimTemplate",
        "resourceclaimtemplates",
        DRA,
        ("v1", "v1beta2", "v1beta1"),
        namespaced=True,
    ),
    Resource(
        "ResourceClaim",
        "resourceclaims",
        DRA,
        ("v1", "v1beta2", "v1beta1"),
        namespaced=True,
    ),
    Resource(
        "PodGroup",
        "podgroups",
        "scheduling.k8s.io",
        ("v1", "v1beta1", "v1alpha2", "v1alpha1"),
        namespaced=True,
        optional=True,
    ),
    Resource("Pod", "pods", "", ("v1",), namespaced=True),
)
BY_KIND: Final[dict[str, Resource]] = {r.kind: r for r in RESOURCES}
