"""The pods that the objects of a text would start, and how many of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
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
_MULTIPLIERS: Final = ("replicas", "numOfHosts")
"""Fields beside or above a template that say how many there are; a group of Ray has so
many hosts for each replica."""
_MOST_COPIES: Final = 2**31 - 1
"""That a number of copies can be in Kubernetes."""
_PLAIN_NAMES: Final = frozenset({"template", "podtemplate"})


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

    Known are the kinds of Kubernetes, JobSet and LeaderWorkerSet. In other kinds, and in
    those of the same name that are built otherwise (the Job of Volcano), a template is
    what is named so (``template``, ``podTemplate``) and has containers.
    """
    if not isinstance(value, dict) or _text(value, "kind") in _NEVER:
        return []
    return _of_known(value) or _told_apart(
        list(_searched(value, "", 0, [MAX_TEMPLATES]))
    )


def _of_known(value: dict[str, Any]) -> list[PodTemplate]:
    """The templates where the kind has them; none for a kind that nobody knows here."""
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
    return []


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
    if job.get("completions") is not None:
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
    value: Any,
    path: str,
    depth: int,
    left: list[int],
    role: str = "",
    times: int = 1,
) -> Iterator[PodTemplate]:
    """Templates anywhere in an object whose kind nobody knows here, ``times`` over.

    An object inside it (in an AppWrapper, say) is as that object alone.
    """
    if depth > _MAX_DEPTH:
        return
    if isinstance(value, list):
        for at, one in enumerate(value):
            named = _text(mapping(one), "name") or _text(mapping(one), "groupName")
            yield from _searched(
                one, f"{path}[{at}]", depth + 1, left, named or role, times
            )
    elif isinstance(value, dict):
        for name in _MULTIPLIERS:
            times *= _count(value, name)
        for key, one in value.items():
            below = f"{path}.{key}" if path else str(key)
            found = _within(key, one, below, role, times)
            if found:
                kept = found[: max(left[0], 0)]
                left[0] -= len(kept)
                yield from kept
            else:
                yield from _searched(one, below, depth + 1, left, role, times)


def _within(
    key: Any, value: Any, path: str, role: str, times: int
) -> list[PodTemplate]:
    """The template that ``value`` is, or those of the object that it is."""
    if _is_template(key, value):
        return [PodTemplate(path, value, times, role)]
    if not isinstance(value, dict):
        return []
    return [
        PodTemplate(
            f"{path}.{found.path}" if found.path else path,
            found.pod,
            None if found.copies is None else found.copies * times,
            found.role or role,
        )
        for found in _of_known(value)
    ]


def _told_apart(found: Sequence[PodTemplate]) -> list[PodTemplate]:
    """Those of one role are called as the part of the object that they stand in."""
    roles = Counter(template.role for template in found)
    return [
        template
        if roles[template.role] == 1
        else replace(template, role=_part(template.path) or template.role)
        for template in found
    ]


def _part(path: str) -> str:
    """``Worker`` of ``spec.pytorchReplicaSpecs.Worker.template``."""
    *above, last = path.split(".")
    if last.lower() not in _PLAIN_NAMES:
        return last
    return above[-1] if above else ""


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
    return min(max(found, 0), _MOST_COPIES)
