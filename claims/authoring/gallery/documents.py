"""The parts of examples as JSON, in the order in which people write fields."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

type Json = dict[str, Any]

API: Final = "resource.k8s.io/v1"
IMAGE: Final = "registry.k8s.io/pause:3.10"
"""Does nothing: to be replaced."""
_LONGEST: Final = 40
_PREFIX: Final = "dra."
"""Of classes for what every node has, as in ``dra.cpu``."""
_OTHERS = re.compile(r"[^a-z0-9]+")


def slug(text: str) -> str:
    """``text`` as a name of an object: lower case letters, digits and dashes."""
    return _OTHERS.sub("-", text.lower()).strip("-")[:_LONGEST].strip("-") or "device"


def labels(class_names: Sequence[str]) -> list[str]:
    """Short names of requests for these classes, all different: ``gpu.nvidia.com`` is gpu."""
    short = [slug(name.removeprefix(_PREFIX).partition(".")[0]) for name in class_names]
    if len(set(short)) == len(short):
        return short
    return [f"{name}-{place}" for place, name in enumerate(short, 1)]


def request(name: str, class_name: str, **fields: Any) -> Json:
    """A request for one device, or what ``fields`` say."""
    return {"name": name, "exactly": {"deviceClassName": class_name, **fields}}


def selectors(*expressions: str) -> list[Json]:
    return [{"cel": {"expression": expression}} for expression in expressions]


def devices(
    *requests: Json,
    constraints: Sequence[Json] = (),
    config: Sequence[Json] = (),
) -> Json:
    """``spec.devices`` of a claim."""
    found: Json = {"requests": list(requests)}
    if constraints:
        found["constraints"] = list(constraints)
    if config:
        found["config"] = list(config)
    return found


def claim(name: str, wanted: Json, *, namespace: str = "") -> Json:
    return {
        "apiVersion": API,
        "kind": "ResourceClaim",
        "metadata": _meta(name, namespace),
        "spec": {"devices": wanted},
    }


def template(name: str, wanted: Json) -> Json:
    return {
        "apiVersion": API,
        "kind": "ResourceClaimTemplate",
        "metadata": _meta(name),
        "spec": {"spec": {"devices": wanted}},
    }


def pod(name: str, entry: Json) -> Json:
    """A pod with one container that uses one claim; ``entry`` says which."""
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": _meta(name),
        "spec": _pod_spec(entry),
    }


def deployment(name: str, entry: Json, *, replicas: int) -> Json:
    label = {"app": name}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": _meta(name),
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": label},
            "template": {"metadata": {"labels": label}, "spec": _pod_spec(entry)},
        },
    }


def pod_with_resources(name: str, resources: Mapping[str, str]) -> Json:
    """A pod that asks for extended resources."""
    container = _container({"limits": dict(resources)})
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": _meta(name),
        "spec": {"containers": [container]},
    }


def _meta(name: str, namespace: str = "") -> Json:
    return {"name": name, **({"namespace": namespace} if namespace else {})}


def _pod_spec(entry: Json) -> Json:
    return {
        "containers": [_container({"claims": [{"name": entry["name"]}]})],
        "resourceClaims": [entry],
    }


def _container(resources: Json) -> Json:
    return {"name": "main", "image": IMAGE, "resources": resources}
