"""Extended resources that are served by DRA: the claim that the scheduler makes of them.

A container asks ``resources: {limits: {example.com/gpu: 2}}``; a DeviceClass stands for
that name, and the scheduler writes one claim for the whole pod, after the pod's own. On a
node whose device plugin serves a name (``status.allocatable``), that one is left to it.

Source of the rules: the feature DRAExtendedResource of Kubernetes 1.36, plugin
``dynamicresources`` of its scheduler, and the validation of a container's resources.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from dra import quantity
from dra.container_asks import CLASS_PREFIX, Container, FieldProblem, read_containers
from dra.errors import QuantityError
from dra.objects import (
    DeviceClaim,
    DeviceClass,
    ExactRequest,
    Meta,
    Node,
    Request,
    ResourceClaim,
    ResourceClaimSpec,
)
from dra.snapshot import Snapshot

CLAIM_ANNOTATION: Final = "resource.kubernetes.io/extended-resource-claim"
MAX_DEVICES: Final = 32
"""Devices, and requests, that one claim can hold."""


@dataclass(frozen=True, slots=True)
class ServedBy:
    """Which class an extended resource means: ``class_name``.

    ``others`` claim the same name and lose. ``implicit`` names are those of
    :data:`CLASS_PREFIX`.
    """

    resource: str
    class_name: str
    others: tuple[str, ...] = ()
    implicit: bool = False


@dataclass(frozen=True, slots=True)
class Answer:
    """Which request of the claim serves which resource of which container.

    A container may be served by several requests, and an init container by those of
    containers that run after it. ``path`` is the field that asks.
    """

    container: str
    resource: str
    request: str
    path: str


@dataclass(frozen=True, slots=True)
class ExtendedClaim:
    """What becomes of a pod's extended resources.

    ``claim`` is what the scheduler would create; ``None`` if nothing is left for it.
    ``served_by`` has the class of every name that one stands for, ``by_plugin`` the names
    that the node serves itself, ``without_class`` those (with their field) that no class
    stands for. ``problems`` are what the API server would not accept, or what can never fit.
    """

    claim: ResourceClaim | None
    answers: tuple[Answer, ...] = ()
    served_by: Mapping[str, ServedBy] = field(default_factory=dict)
    by_plugin: tuple[str, ...] = ()
    without_class: Mapping[str, str] = field(default_factory=dict)
    problems: tuple[FieldProblem, ...] = ()


def classes_by_resource(
    classes: Snapshot | Iterable[DeviceClass],
) -> dict[str, ServedBy]:
    """Every extended resource of ``classes``, implicit ones too, with its class.

    Of several classes with one ``extendedResourceName`` the newest wins, at equal age the
    name that sorts first. Classes that are being deleted count, as they do upstream.
    """
    if isinstance(classes, Snapshot):
        classes = classes.classes.values()
    explicit: dict[str, list[DeviceClass]] = {}
    found: dict[str, ServedBy] = {}
    for one in sorted(classes, key=lambda c: c.metadata.name):
        name = one.metadata.name
        implicit = CLASS_PREFIX + name
        found[implicit] = ServedBy(implicit, name, implicit=True)
        if one.spec.extended_resource_name:
            explicit.setdefault(one.spec.extended_resource_name, []).append(one)
    for resource, candidates in sorted(explicit.items()):
        # Times of the API are UTC in seconds, so text sorts as they do; none is oldest.
        candidates.sort(key=lambda c: c.metadata.creation_timestamp or "", reverse=True)
        winner, *others = (c.metadata.name for c in candidates)
        found[resource] = ServedBy(resource, winner, tuple(sorted(others)))
    return found


def plugin_nodes(nodes: Iterable[Node], resource: str) -> tuple[str, ...]:
    """Nodes whose device plugin serves ``resource``, by name."""
    return tuple(
        sorted(n.metadata.name for n in nodes if _has_allocatable(n, resource))
    )


def claim_for(
    pod_spec: Mapping[str, Any],
    classes: Snapshot | Iterable[DeviceClass] | Mapping[str, ServedBy],
    node: Node | None = None,
    *,
    pod_name: str = "",
    namespace: str = "",
) -> ExtendedClaim | None:
    """The claim that the scheduler would make for a pod, on ``node`` if one is given.

    ``pod_spec`` is JSON of any quality; ``classes`` may be what
    :func:`classes_by_resource` gave. None if the pod asks no extended resource. Fields
    that cannot be read are ``problems`` and ask nothing.
    """
    served_by = (
        classes if isinstance(classes, Mapping) else classes_by_resource(classes)
    )
    problems: list[FieldProblem] = []
    containers = list(read_containers(pod_spec, problems))
    asked = sorted({name for c in containers for name in c.amounts})
    if not asked and not problems:
        return None
    by_plugin = [name for name in asked if node and _has_allocatable(node, name)]
    mine = [n for n in asked if n in served_by and n not in by_plugin]
    requests: list[Request] = []
    answers: list[Answer] = []
    for resource in mine:
        made, given = _for_resource(
            containers, resource, served_by[resource].class_name
        )
        requests += made
        answers += given
    requests.sort(key=lambda request: request.name)
    problems += _too_many(requests)
    return ExtendedClaim(
        claim=_claim(requests, pod_name, namespace) if requests else None,
        answers=tuple(answers),
        served_by={name: served_by[name] for name in asked if name in served_by},
        by_plugin=tuple(by_plugin),
        without_class={
            name: next(c.fields[name] for c in containers if name in c.amounts)
            for name in asked
            if name not in served_by and name not in by_plugin
        },
        problems=tuple(problems),
    )


def _has_allocatable(node: Node, resource: str) -> bool:
    raw = (node.status.allocatable or {}).get(resource)
    try:
        return raw is not None and quantity.nanos(raw) > 0
    except QuantityError:
        return False


def _claim(requests: list[Request], pod_name: str, namespace: str) -> ResourceClaim:
    # The scheduler lets the API server complete the name; this is what all have in common.
    name = f"{pod_name}-extended-resources" if pod_name else "extended-resources"
    return ResourceClaim(
        metadata=Meta(
            name=name, namespace=namespace, annotations={CLAIM_ANNOTATION: "true"}
        ),
        spec=ResourceClaimSpec(devices=DeviceClaim(requests=requests)),
    )


def _too_many(requests: Sequence[Request]) -> Iterator[FieldProblem]:
    devices = sum(r.exactly.count for r in requests if r.exactly)
    if devices > MAX_DEVICES:
        yield FieldProblem(
            "spec.containers",
            f"The extended resources of this pod are {devices} devices in one claim, which "
            f"can hold {MAX_DEVICES}; ask fewer, or write claims of your own.",
        )
    if len(requests) > MAX_DEVICES:
        yield FieldProblem(
            "spec.containers",
            f"The extended resources of this pod are {len(requests)} requests in one claim, "
            f"which can hold {MAX_DEVICES}; ask fewer, or write claims of your own.",
        )


# --- requests, and who uses them ---------------------------------------------


def _for_resource(
    containers: Sequence[Container], resource: str, class_name: str
) -> tuple[list[Request], list[Answer]]:
    """Requests and answers for one name.

    Init containers that end use what later containers have asked for; what they need
    beyond is one request, the largest, which they use one after another.
    """
    lasting: list[Request | None] = [None] * len(containers)
    answers: list[Answer] = []
    for at, container in enumerate(containers):
        if not container.ends:
            lasting[at], given = _ask(container, resource, class_name, ())
            answers += given
    extra: list[Request] = []
    brief: list[Answer] = []
    for at, container in enumerate(containers):
        if container.ends:
            later = [request for request in lasting[at:] if request]
            made, given = _ask(container, resource, class_name, later)
            extra += [made] if made else []
            brief += given
    if not extra:
        return [request for request in lasting if request], answers + brief
    largest = max(extra, key=_count)
    names = {request.name for request in extra}
    brief = [
        replace(one, request=largest.name) if one.request in names else one
        for one in brief
    ]
    return [largest, *(request for request in lasting if request)], answers + brief


def _count(request: Request) -> int:
    return request.exactly.count if request.exactly else 0


def _ask(
    container: Container, resource: str, class_name: str, usable: Sequence[Request]
) -> tuple[Request | None, list[Answer]]:
    wanted = container.amounts.get(resource, 0)
    if not wanted:
        return None, []

    def answer(request: Request) -> Answer:
        path = container.fields[resource]
        return Answer(container.name, resource, request.name, path)

    answers: list[Answer] = []
    for request in usable:
        answers.append(answer(request))
        wanted -= _count(request)
        if wanted <= 0:
            return None, answers
    name = f"container-{container.index}-request-{container.names.index(resource)}"
    made = Request(
        name=name,
        exactly=ExactRequest(
            device_class_name=class_name, allocation_mode="ExactCount", count=wanted
        ),
    )
    return made, [*answers, answer(made)]
