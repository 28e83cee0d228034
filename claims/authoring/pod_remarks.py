"""What is wrong or odd about a pod and its claims, each at its field, with what to do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from claims.authoring.pod_claims import CLAIM, PodClaim, Remark
from claims.authoring.pod_templates import PodTemplate, mapping
from dra.container_asks import CLASS_PREFIX
from dra.extended_resources import ExtendedClaim, plugin_nodes
from dra.snapshot import Snapshot

MAX_CONSUMERS: Final = 256
"""Pods that may use one claim at once."""
_NAMED: Final = 3


def remarks_of(
    template: PodTemplate,
    entries: Sequence[PodClaim],
    extended: ExtendedClaim | None,
    snapshot: Snapshot,
) -> Iterator[Remark]:
    """Everything to say about a pod, its entries first; paths are those of the document."""
    for entry in entries:
        yield from entry.remarks
    yield from _uses(template, entries)
    yield from _shared(template, entries)
    if extended is not None:
        yield from _of_extended(template, extended, snapshot)
        yield from _by_plugins(template, extended, snapshot)


def _uses(template: PodTemplate, entries: Sequence[PodClaim]) -> Iterator[Remark]:
    """Containers and entries that do not find each other."""
    by_name = {entry.name: entry for entry in entries if entry.name}
    used: set[str] = set()
    for path, container in _containers(template):
        listed = mapping(container.get("resources")).get("claims")
        for at, raw in enumerate(listed if isinstance(listed, list) else ()):
            use = mapping(raw)
            name, request = use.get("name"), use.get("request")
            field = f"{path}.resources.claims[{at}]"
            if not isinstance(name, str) or name not in by_name:
                known = f" There are: {joined(sorted(by_name))}." if by_name else ""
                yield Remark(
                    f"{field}.name",
                    f"The pod has no entry {name or 'without a name'} in its "
                    f"resourceClaims; add it there, or name one that is.{known}",
                )
                continue
            used.add(name)
            yield from _request_of(by_name[name], request, f"{field}.request")
    for name, entry in by_name.items():
        if name not in used:
            yield Remark(
                entry.path,
                f"No container uses {name}: its devices are held for the pod, and no "
                "container sees them. Name it in resources.claims of a container.",
                is_error=False,
            )


def _request_of(entry: PodClaim, request: Any, path: str) -> Iterator[Remark]:
    if not isinstance(request, str) or not request or entry.claim is None:
        return
    names = [one.name for one in entry.claim.spec.devices.requests or ()]
    if request not in names:
        known = f"it has {joined(names)}" if names else "it has none"
        yield Remark(
            path,
            f"{entry.refers_to} has no request {request}; {known}. Name one of those, or "
            "leave request out to get all devices of the claim.",
        )


def _shared(template: PodTemplate, entries: Sequence[PodClaim]) -> Iterator[Remark]:
    """One claim for many pods, which is not what a template would do."""
    copies = template.copies
    for entry in entries:
        if entry.kind != CLAIM or entry.claim is None:
            continue
        if copies is None:
            yield Remark(
                entry.path,
                f"The pods of all nodes share the one claim {entry.refers_to}: they can "
                "start only where its devices are, which mostly is one node. Use a "
                "resourceClaimTemplateName, so that each pod gets a claim of its own.",
                is_error=False,
            )
        elif copies > MAX_CONSUMERS:
            yield Remark(
                entry.path,
                f"{copies:,} pods use the one claim {entry.refers_to}, which takes "
                f"{MAX_CONSUMERS} at once; use a resourceClaimTemplateName, so that each "
                "pod gets a claim of its own.",
            )
        elif copies > 1:
            yield Remark(
                entry.path,
                f"All {copies:,} pods share the one claim {entry.refers_to} and its "
                "devices; use a resourceClaimTemplateName if each is to have its own.",
                is_error=False,
            )


def _of_extended(
    template: PodTemplate, extended: ExtendedClaim, snapshot: Snapshot
) -> Iterator[Remark]:
    for problem in extended.problems:
        yield Remark(template.at(problem.path), problem.message)
    for resource, path in extended.without_class.items():
        if resource.startswith(CLASS_PREFIX):
            name = resource.removeprefix(CLASS_PREFIX)
            yield Remark(
                template.at(path),
                f"There is no DeviceClass {name}; add it to the text, or name another one.",
            )
        elif not plugin_nodes(snapshot.nodes.values(), resource):
            yield Remark(
                template.at(path),
                f"No DeviceClass stands for {resource} and no node has it of its own; name "
                "a resource that is there, or give a class that extendedResourceName.",
            )
    for served in extended.served_by.values():
        if served.others:
            verb = "claims" if len(served.others) == 1 else "claim"
            yield Remark(
                _asked_at(template, extended, served.resource),
                f"{served.resource} means the class {served.class_name}, the newest; "
                f"{joined(served.others)} {verb} the same name. Write "
                f"{CLASS_PREFIX}<class> to say which.",
                is_error=False,
            )


def _by_plugins(
    template: PodTemplate, extended: ExtendedClaim, snapshot: Snapshot
) -> Iterator[Remark]:
    for resource in extended.served_by:
        nodes = plugin_nodes(snapshot.nodes.values(), resource)
        if not nodes:
            continue
        more = f" and {len(nodes) - _NAMED:,} more" if len(nodes) > _NAMED else ""
        yield Remark(
            _asked_at(template, extended, resource),
            f"On {len(nodes):,} of {len(snapshot.nodes):,} nodes a device plugin serves "
            f"{resource} ({', '.join(nodes[:_NAMED])}{more}). No claim is made for it "
            "there, so these are not among the nodes shown.",
            is_error=False,
        )


def _asked_at(template: PodTemplate, extended: ExtendedClaim, resource: str) -> str:
    return template.at(next(a.path for a in extended.answers if a.resource == resource))


def _containers(template: PodTemplate) -> Iterator[tuple[str, dict[str, Any]]]:
    for key in ("initContainers", "containers"):
        listed = template.spec.get(key)
        for at, raw in enumerate(listed if isinstance(listed, list) else ()):
            yield template.at(f"spec.{key}[{at}]"), mapping(raw)


def joined(words: Sequence[str]) -> str:
    """``a, b and c``."""
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} and {words[-1]}"
