"""The kinds the stand-in knows, and the versions in which it can serve each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from cluster.resources import BY_KIND

VERBS: Final = (
    "create",
    "delete",
    "deletecollection",
    "get",
    "list",
    "patch",
    "update",
    "watch",
)


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind. ``versions`` are the ones Kubernetes 1.36 can serve it in.

    The first of ``stored`` names the form in which objects are kept: always the
    ``v1`` form of ``cluster.resources``, whatever a client asks for.
    """

    name: str
    plural: str
    group: str
    versions: tuple[str, ...]
    namespaced: bool
    status: bool
    generation: bool
    """Whether ``metadata.generation`` counts the changes of the spec."""
    field_labels: tuple[str, ...]

    @property
    def singular(self) -> str:
        return self.name.lower()

    @property
    def stored(self) -> str:
        """``apiVersion`` of stored objects."""
        version = BY_KIND[self.name].versions[0]
        return f"{self.group}/{version}" if self.group else version

    @property
    def qualified(self) -> str:
        """The plural as error messages name it: ``resourceclaims.resource.k8s.io``."""
        return f"{self.plural}.{self.group}" if self.group else self.plural


def _kind(
    name: str,
    versions: tuple[str, ...],
    *,
    status: bool = False,
    generation: bool = False,
    fields: tuple[str, ...] = (),
) -> Kind:
    known = BY_KIND[name]
    labels: tuple[str, ...] = ("metadata.name",)
    if known.namespaced:
        labels += ("metadata.namespace",)
    return Kind(
        name=name,
        plural=known.plural,
        group=known.group,
        versions=versions,
        namespaced=known.namespaced,
        status=status,
        generation=generation,
        field_labels=(*labels, *fields),
    )


_DRA = ("v1", "v1beta2", "v1beta1")
KINDS: Final[dict[str, Kind]] = {
    kind.name: kind
    for kind in (
        _kind("Namespace", ("v1",), status=True, fields=("status.phase",)),
        _kind("Node", ("v1",), status=True, fields=("spec.unschedulable",)),
        _kind("Pod", ("v1",), status=True, fields=("spec.nodeName", "status.phase")),
        _kind("DeviceClass", _DRA, generation=True),
        _kind("ResourceClaim", _DRA, status=True),
        _kind("ResourceClaimTemplate", _DRA),
        _kind(
            "ResourceSlice",
            _DRA,
            generation=True,
            fields=("spec.driver", "spec.nodeName"),
        ),
        _kind("DeviceTaintRule", ("v1beta2", "v1alpha3"), status=True, generation=True),
        _kind("PodGroup", BY_KIND["PodGroup"].versions, status=True, generation=True),
    )
}


class Serving:
    """Which kind answers under which path, for one choice of served versions.

    ``versions`` maps an API group to its versions, newest first. The core group
    is always served.
    """

    def __init__(self, versions: dict[str, tuple[str, ...]]) -> None:
        self.groups: dict[str, tuple[str, ...]] = {"": ("v1",)}
        for group, wanted in versions.items():
            known = {
                version
                for kind in KINDS.values()
                if kind.group == group
                for version in kind.versions
            }
            unknown = [version for version in wanted if version not in known]
            if unknown or not known:
                raise ValueError(
                    f"the stand-in cannot serve {group} in {', '.join(unknown) or '?'}"
                )
            self.groups[group] = tuple(wanted)

    def resources(self, group: str, version: str) -> list[Kind]:
        """The kinds under ``/apis/<group>/<version>``, by plural."""
        if version not in self.groups.get(group, ()):
            return []
        found = [
            kind
            for kind in KINDS.values()
            if kind.group == group and version in kind.versions
        ]
        return sorted(found, key=lambda kind: kind.plural)

    def find(self, group: str, version: str, plural: str) -> Kind | None:
        """The kind at this path, or None: the server has no such resource."""
        for kind in self.resources(group, version):
            if kind.plural == plural:
                return kind
        return None
