"""The pods that the objects of a text would start, and how many of each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

MAX_TEMPLATES: Final = 64
_MAX_DEPTH: Final = 12
_REPLICATED: Final = frozenset(
    {"Deployment", "ReplicaSet", "ReplicationController", "StatefulSet"}
)
_NEVER: Final = frozenset(
    {"ResourceClaim", "ResourceClaimTemplate", "DeviceClass", "ResourceSlice"}
)
"""Kinds whose ``spec`` holds no pod, whatever it looks like."""


@dataclass(frozen=True, slots=True)
class PodTemplate:
    """A pod in an object: ``path`` is where its ``spec`` and ``metadata`` stand there.

    Empty for a pod itself. ``copies`` is how many run at once, ``None``: one on each
    node. ``role`` tells apart the templates of one object (``workers``), else empty.
    """

    path: str
    pod: dict[str, Any]
    copies: int | None = 1
    role: str = ""

    @property
    def spec(self) -> dict[str, Any]:
        return mapping(self.pod.get("spec"))

    def at(self, field: str) -> str:
        """``field`` of the pod (``spec.containers[0]``) as a path of the object."""
        return f"{self.path}.{field}" if self.path else field


def pod_templates(value: Any) -> list[PodTemplate]:
    """The pod templates of an object in JSON, in the order of its text.

    Known are the kinds of Kubernetes, JobSet and LeaderWorkerSet. In other kinds a
    template is what is named so (``template``, ``podTemplate``) and has containers.
    """
    if not isinstance(value, dict):
        return []
    kind, spec = _text(value, "kind"), mapping(value.get("spec"))
    if kind == "Pod":
        return [PodTemplate("", value)]
    if kind in _REPLICATED:
        return _one("spec.template", spec.get("template"), _count(spec, "replicas"))
    if kind == "DaemonSet":
        return _one("spec.template", spec.get("template"), None)
    if kind == "Job":
        return _of_job(spec, "spec")
    if kind == "CronJob":
        job = mapping(mapping(spec.get("jobTemplate")).get("spec"))
        return _of_job(job, "spec.jobTemplate.spec")
    if kind == "JobSet":
        return list(_of_job_set(spec))
    if kind == "LeaderWorkerSet":
        return list(_of_leaders_and_workers(spec))
    if kind == "PodTemplate":
        return _one("template", value.get("template"), 1)
    if kind in _NEVER:
        return []
    return list(_searched(value, "", 0, [MAX_TEMPLATES]))


def _one(
    path: str, template: Any, copies: int | None, role: str = ""
) -> list[PodTemplate]:
    if not isinstance(template, dict):
        return []
    return [PodTemplate(path, template, copies, role)]


def _of_job(
    job: dict[str, Any], path: str, times: int = 1, role: str = ""
) -> list[PodTemplate]:
    """Pods of a job run side by side, and never more than are left to complete."""
    copies = _count(job, "parallelism")
    if "completions" in job:
        copies = min(copies, _count(job, "completions"))
    return _one(f"{path}.template", job.get("template"), copies * times, role)


def _of_job_set(spec: dict[str, Any]) -> Iterator[PodTemplate]:
    listed = spec.get("replicatedJobs")
    for at, raw in enumerate(listed if isinstance(listed, list) else ()):
        job = mapping(raw)
        path = f"spec.replicatedJobs[{at}].template.spec"
        inner = mapping(mapping(job.get("template")).get("spec"))
        yield from _of_job(inner, path, _count(job, "replicas"), _text(job, "name"))


def _of_leaders_and_workers(spec: dict[str, Any]) -> Iterator[PodTemplate]:
    """Groups of ``size`` pods; without a template for the leader it is as the workers."""
    groups, path = _count(spec, "replicas"), "spec.leaderWorkerTemplate"
    template = mapping(spec.get("leaderWorkerTemplate"))
    size = _count(template, "size")
    leader = template.get("leaderTemplate")
    if isinstance(leader, dict):
        yield PodTemplate(f"{path}.leaderTemplate", leader, groups, "leader")
        size = max(size - 1, 0)
    workers = template.get("workerTemplate")
    yield from _one(f"{path}.workerTemplate", workers, groups * size, "workers")


def _searched(
    value: Any, path: str, depth: int, left: list[int], role: str = ""
) -> Iterator[PodTemplate]:
    """Templates anywhere in an object whose kind nobody knows here."""
    if depth > _MAX_DEPTH:
        return
    if isinstance(value, list):
        for at, one in enumerate(value):
            named = _text(mapping(one), "name") or _text(mapping(one), "groupName")
            yield from _searched(one, f"{path}[{at}]", depth + 1, left, named or role)
    elif isinstance(value, dict):
        for key, one in value.items():
            below = f"{path}.{key}" if path else str(key)
            if _is_template(key, one):
                if left[0] > 0:
                    left[0] -= 1
                    copies = _count(value, "replicas")
                    yield PodTemplate(below, one, copies, role)
            else:
                yield from _searched(one, below, depth + 1, left, role)


def _is_template(key: Any, value: Any) -> bool:
    if not isinstance(key, str) or not key.lower().endswith("template"):
        return False
    containers = mapping(mapping(value).get("spec")).get("containers")
    return (
        isinstance(containers, list)
        and bool(containers)
        and all(isinstance(c, dict) and "name" in c for c in containers)
    )


def mapping(value: Any) -> dict[str, Any]:
    """``value``, or nothing where something else stands."""
    return value if isinstance(value, dict) else {}


def _text(value: dict[str, Any], key: str) -> str:
    found = value.get(key)
    return found if isinstance(found, str) else ""


def _count(value: dict[str, Any], key: str) -> int:
    """A number of copies; 1 where none can be read, as Kubernetes has it."""
    found = value.get(key)
    if isinstance(found, bool) or not isinstance(found, int):
        return 1
    return max(found, 0)
