"""What the server serves: /api, /apis, groups, versions, /version."""

from __future__ import annotations

from typing import Any, Final

from cluster.standin.kinds import VERBS, Serving

Json = dict[str, Any]

_REVIEWS: Final = {
    "authorization.k8s.io": ("selfsubjectaccessreviews", "SelfSubjectAccessReview"),
    "authentication.k8s.io": ("selfsubjectreviews", "SelfSubjectReview"),
}


def version(git_version: str) -> Json:
    """The body of /version for ``v1.36.2`` or another release."""
    major, minor, *_ = git_version.lstrip("v").split(".")
    return {
        "major": major,
        "minor": minor,
        "emulationMajor": major,
        "emulationMinor": minor,
        "minCompatibilityMajor": major,
        "minCompatibilityMinor": str(int(minor) - 1),
        "gitVersion": git_version,
        "gitCommit": "",
        "gitTreeState": "clean",
        "buildDate": "1970-01-01T00:00:00Z",
        "goVersion": "none",
        "compiler": "none",
        "platform": "stand-in",
    }


def core(address: str) -> Json:
    return {
        "kind": "APIVersions",
        "versions": ["v1"],
        "serverAddressByClientCIDRs": [
            {"clientCIDR": "0.0.0.0/0", "serverAddress": address}
        ],
    }


def groups(serving: Serving) -> Json:
    named = [_group(name, versions) for name, versions in _all(serving).items()]
    return {"kind": "APIGroupList", "apiVersion": "v1", "groups": named}


def group(serving: Serving, name: str) -> Json | None:
    versions = _all(serving).get(name)
    if not versions:
        return None
    return {"kind": "APIGroup", "apiVersion": "v1", **_group(name, versions)}


def _all(serving: Serving) -> dict[str, tuple[str, ...]]:
    served = {name: found for name, found in serving.groups.items() if name and found}
    return served | dict.fromkeys(_REVIEWS, ("v1",))


def _group(name: str, versions: tuple[str, ...]) -> Json:
    shown = [{"groupVersion": f"{name}/{v}", "version": v} for v in versions]
    return {"name": name, "versions": shown, "preferredVersion": shown[0]}


def resources(serving: Serving, group_name: str, api_version: str) -> Json | None:
    """The APIResourceList of one group and version, or None: not served."""
    listed: list[Json] = []
    for kind in serving.resources(group_name, api_version):
        listed.append(
            {
                "name": kind.plural,
                "singularName": kind.singular,
                "namespaced": kind.namespaced,
                "kind": kind.name,
                "verbs": list(VERBS),
            }
        )
        if kind.status:
            listed.append(
                {
                    "name": f"{kind.plural}/status",
                    "singularName": "",
                    "namespaced": kind.namespaced,
                    "kind": kind.name,
                    "verbs": ["get", "patch", "update"],
                }
            )
    if group_name in _REVIEWS and api_version == "v1":
        plural, kind_name = _REVIEWS[group_name]
        listed.append(
            {
                "name": plural,
                "singularName": kind_name.lower(),
                "namespaced": False,
                "kind": kind_name,
                "verbs": ["create"],
            }
        )
    if not listed and api_version not in serving.groups.get(group_name, ()):
        return None
    shown = f"{group_name}/{api_version}" if group_name else api_version
    return {
        "kind": "APIResourceList",
        "apiVersion": "v1",
        "groupVersion": shown,
        "resources": listed,
    }
