"""Which of our resources a server serves, in the newest version that we can read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cluster.errors import NotFound
from cluster.resources import RESOURCES, Resource, ServedResource

Get = Callable[[str], dict[str, Any]]


def discover(get: Get) -> dict[str, ServedResource]:
    """By kind, in the order of ``RESOURCES``; a kind that is not served is left out.

    ``get`` reads one path. Only its ``NotFound`` means "not served"; any other
    error is raised, so that an unreachable server never looks like an empty one.
    Two requests, and one for each version of a group that has resources of ours.
    """
    found: dict[str, ServedResource] = {}
    groups = dict.fromkeys(resource.group for resource in RESOURCES)
    for group in groups:
        wanted = [resource for resource in RESOURCES if resource.group == group]
        served = set(_versions(get, group))
        readable = dict.fromkeys(v for resource in wanted for v in resource.versions)
        lists = {v: _watchable(get, group, v) for v in readable if v in served}
        for resource in wanted:
            if version := _newest(resource, lists):
                found[resource.kind] = ServedResource(resource, version)
    return {r.kind: found[r.kind] for r in RESOURCES if r.kind in found}


def _newest(resource: Resource, lists: dict[str, set[str]]) -> str | None:
    return next(
        (v for v in resource.versions if resource.plural in lists.get(v, ())), None
    )


def _versions(get: Get, group: str) -> list[str]:
    try:
        answer = get(f"/apis/{group}" if group else "/api")
    except NotFound:
        return []
    versions = answer.get("versions")
    return [
        str(version.get("version")) if isinstance(version, dict) else str(version)
        for version in (versions if isinstance(versions, list) else [])
    ]


def _watchable(get: Get, group: str, version: str) -> set[str]:
    """The plurals of one version that can be listed and watched."""
    try:
        answer = get(f"/apis/{group}/{version}" if group else f"/api/{version}")
    except NotFound:
        return set()
    resources = answer.get("resources")
    return {
        str(resource.get("name"))
        for resource in (resources if isinstance(resources, list) else [])
        if isinstance(resource, dict)
        and {"list", "watch"} <= set(resource.get("verbs") or ())
    }
