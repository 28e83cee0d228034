"""From the workload of a scenario to the pods and claims that are placed."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec.structs import replace

from dra.container_asks import is_extended_resource
from dra.objects import Meta, ResourceClaim, ResourceClaimTemplate
from dra.whatif.choosing import chosen_nodes
from dra.whatif.consumers import ClaimKey, Consumer
from dra.whatif.drafts import draft
from dra.whatif.errors import ScenarioError
from dra.whatif.node_taints import without_passing
from dra.whatif.parts import Json
from dra.whatif.placing import Unit
from dra.whatif.pods import Extended, Pods, each_once
from dra.whatif.scenario import (
    ClaimWork,
    GroupWork,
    PodClaim,
    PodWork,
    Target,
    TemplateWork,
    Waiting,
    Work,
)
from dra.whatif.world import World


@dataclasses.dataclass(frozen=True, slots=True)
class Batch:
    """Units that are placed together or not at all; most have one.

    ``least``: with so many of them placed the others may wait; None: all or none.
    """

    units: tuple[Unit, ...]
    least: int | None = None


class Workload:
    """Makes the units of items of work.

    Claims are looked up when their turn comes: an earlier pod may have got them
    allocated. Raises :class:`ScenarioError` with the item's field.
    """

    def __init__(self, world: World) -> None:
        self.world = world
        self.pods = Pods(world)
        self._given: set[ClaimKey] = set()
        self._next: dict[ClaimKey, int] = {}
        self._drafts: dict[int, tuple[object, Any]] = {}
        self._extended: dict[bytes, Extended] = {}

    def copies(self, work: Work) -> int:
        """How many batches :meth:`batches` makes."""
        if isinstance(work, Waiting):
            return len(self.pods.waiting(work.namespace))
        return work.copies

    def batches(self, work: Work, path: str) -> Iterator[Batch]:
        match work:
            case ClaimWork():
                yield from self._claims(work, path)
            case TemplateWork():
                yield from self._from_template(work, path)
            case PodWork():
                yield from (Batch((unit,)) for unit in self._pods(work, path))
            case GroupWork():
                for number in range(work.copies):
                    yield Batch(tuple(self._group(work, path, number)))
            case Waiting():
                for pods, least in self.pods.together(work.namespace):
                    yield Batch(tuple(map(self.pods.unit, pods)), least)

    # --- the kinds of work ---

    def _claims(self, work: ClaimWork, path: str) -> Iterator[Batch]:
        if (work.claim is None) == (work.existing is None):
            raise ScenarioError(path, "either claim or existing is expected")
        allowed = self._allowed(work.on, path)
        if work.existing is not None:
            spec = self._existing_claim(work.existing, f"{path}.existing")
            waits = spec.status.allocation is None
            if work.copies == 1 and waits:
                yield Batch((Unit(spec.metadata.name, None, (spec,), allowed),))
                return
        else:
            assert work.claim is not None
            spec = self._draft("ResourceClaim", work.claim, f"{path}.claim", "default")
        for _ in range(work.copies):
            claim = self._fresh(spec, spec.metadata.name, numbered=work.copies > 1)
            yield Batch((Unit(claim.metadata.name, None, (claim,), allowed),))

    def _from_template(self, work: TemplateWork, path: str) -> Iterator[Batch]:
        if (work.template is None) == (work.existing is None):
            raise ScenarioError(path, "either template or existing is expected")
        allowed = self._allowed(work.on, path)
        if work.existing is not None:
            namespace, _, name = work.existing.partition("/")
            template = self._existing_template(namespace, name, f"{path}.existing")
        else:
            assert work.template is not None
            template = self._drafted_template(
                work.template, f"{path}.template", "default"
            )
        spec = _of_template(template)
        for _ in range(work.copies):
            claim = self._fresh(spec, spec.metadata.name, numbered=work.copies > 1)
            yield Batch((Unit(claim.metadata.name, None, (claim,), allowed),))

    def _pods(self, work: PodWork, path: str) -> Iterator[Unit]:
        for number in range(work.copies):
            name = f"{work.name}-{number + 1}" if work.copies > 1 else work.name
            yield self._pod(work, path, name)

    def _pod(self, work: PodWork, path: str, name: str) -> Unit:
        if not work.claims and not work.resources:
            raise ScenarioError(path, "asks for no device: give claims or resources")
        allowed = self._allowed(work.on, path)
        claims = [
            self._claim_of_pod(entry, work, name, f"{path}.claims[{place}]")
            for place, entry in enumerate(work.claims)
        ]
        claims = each_once(claims)
        extended = self._extended_of(work, path)
        if extended.claim is not None:
            base = f"{name}-extended-resources"
            named = self._fresh(extended.claim, base, numbered=False).metadata.name
            meta = replace(extended.claim.metadata, name=named)
            claims.append(replace(extended.claim, metadata=meta))
        if extended.nodes is not None:
            allowed = extended.nodes if allowed is None else allowed & extended.nodes
        consumer = Consumer(work.namespace, name, "")
        return Unit(name, consumer, tuple(claims), allowed, extended.problem)

    def _extended_of(self, work: PodWork, path: str) -> Extended:
        """Of a pod with one container that asks for the resources; its name is to come."""
        key = msgspec.msgpack.encode((work.namespace, work.resources))
        known = self._extended.get(key)
        if known is not None:
            return known
        for resource in work.resources:
            if not is_extended_resource(resource):
                at = f"{path}.resources[{resource}]"
                raise ScenarioError(at, "is no extended resource like example.com/gpu")
        limits = dict(work.resources)
        spec = {"containers": [{"name": "main", "resources": {"limits": limits}}]}
        found = self.pods.extended(spec, "", work.namespace)
        if found.invalid:
            raise ScenarioError(f"{path}.resources", found.problem)
        self._extended[key] = found
        return found

    def _claim_of_pod(
        self, entry: PodClaim, work: PodWork, pod: str, path: str
    ) -> ResourceClaim:
        given = [
            part
            for part in (
                entry.claim,
                entry.template,
                entry.claim_name,
                entry.template_name,
            )
            if part is not None
        ]
        if len(given) != 1:
            raise ScenarioError(
                path,
                "exactly one of claim, template, claimName and templateName is expected",
            )
        namespace = work.namespace
        if entry.claim_name is not None:
            reference = f"{namespace}/{entry.claim_name}"
            return self._existing_claim(reference, f"{path}.claimName")
        if entry.claim is not None:
            spec: ResourceClaim = self._draft(
                "ResourceClaim", entry.claim, f"{path}.claim", namespace
            )
        elif entry.template is not None:
            spec = _of_template(
                self._drafted_template(entry.template, f"{path}.template", namespace)
            )
        else:
            assert entry.template_name is not None
            spec = _of_template(
                self._existing_template(
                    namespace, entry.template_name, f"{path}.templateName"
                )
            )
        if spec.metadata.namespace != namespace:
            raise ScenarioError(
                path, f"a pod uses claims of its own namespace, {namespace}"
            )
        return self._fresh(spec, f"{pod}-{spec.metadata.name}", numbered=False)

    def _group(self, work: GroupWork, path: str, number: int) -> Iterator[Unit]:
        for place, pod in enumerate(work.pods):
            at = f"{path}.pods[{place}]"
            for copy in range(pod.copies):
                name = f"{work.name}-{pod.name}"
                if work.copies > 1:
                    name = f"{work.name}-{number + 1}-{pod.name}"
                if pod.copies > 1:
                    name = f"{name}-{copy + 1}"
                yield self._pod(pod, at, name)

    # --- claims ---

    def current(self, unit: Unit) -> Unit:
        """The unit with its claims as they are now: a pod before may share them."""
        claims = tuple(
            self.world.claim((c.metadata.namespace, c.metadata.name)) or c
            for c in unit.claims
        )
        return dataclasses.replace(unit, claims=claims)

    def _existing_claim(self, reference: str, path: str) -> ResourceClaim:
        namespace, _, name = reference.partition("/")
        claim = self.world.claim((namespace, name))
        if claim is None:
            raise ScenarioError(path, f"the cluster has no claim {reference}")
        return claim

    def _existing_template(
        self, namespace: str, name: str, path: str
    ) -> ResourceClaimTemplate:
        template = self.world.snapshot.templates.get((namespace, name))
        if template is None:
            raise ScenarioError(
                path, f"the cluster has no claim template {namespace}/{name}"
            )
        return template

    def _drafted_template(
        self, raw: Json, path: str, namespace: str
    ) -> ResourceClaimTemplate:
        found: ResourceClaimTemplate = self._draft(
            "ResourceClaimTemplate", raw, path, namespace
        )
        return found

    def _draft(self, kind: str, raw: Json, path: str, namespace: str) -> Any:
        """The object in ``raw``, checked once however many copies there are."""
        known = self._drafts.get(id(raw))
        if known is None:
            snapshot = self.world.snapshot
            made = draft(kind, raw, path, snapshot, name="claim", namespace=namespace)
            known = self._drafts[id(raw)] = (raw, made)
        return known[1]

    def _fresh(
        self, spec: ResourceClaim, base: str, *, numbered: bool
    ) -> ResourceClaim:
        """A new claim with a spec, under a name that no claim has."""
        namespace = spec.metadata.namespace
        start = (namespace, base)
        number = self._next.get(start, 1 if numbered else 0)
        while True:
            name = f"{base}-{number}" if number else base
            number += 1
            key = (namespace, name)
            if key not in self._given and not self.world.is_taken(key):
                break
        self._next[start] = number
        self._given.add(key)
        meta = Meta(name=name, namespace=namespace, labels=spec.metadata.labels)
        return ResourceClaim(metadata=meta, spec=spec.spec)

    def _allowed(self, target: Target, path: str) -> frozenset[str] | None:
        snapshot = self.world.snapshot
        well = without_passing(snapshot)
        if target == Target():
            return well
        named = chosen_nodes(snapshot, target.nodes, target.labels, f"{path}.on")
        return frozenset(named) if well is None else well.intersection(named)


def _of_template(template: ResourceClaimTemplate) -> ResourceClaim:
    return ResourceClaim(
        metadata=Meta(
            name=template.metadata.name,
            namespace=template.metadata.namespace,
            labels=template.spec.metadata.labels,
        ),
        spec=template.spec.spec,
    )
