"""The stores of pods and pod groups, and what claims take from pods."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import batched
from typing import Any, ClassVar, Final

from claims import models
from claims.mirror.columns import (
    awaits_extended,
    has_claims,
    is_of_a_group,
    pod_claims,
    pod_columns,
    resource_rows,
)
from claims.mirror.states import Name, refresh_claims
from cluster.store import Event, EventType
from dra import objects
from inventory.history.happenings import Recorder
from inventory.mirror import (
    ALWAYS,
    Columns,
    Derivation,
    Guard,
    Key,
    Known,
    MirrorStore,
    Reading,
    Writer,
    Written,
    fit,
    key_of,
)
from inventory.queries.classes import extended_resource_names

Json = dict[str, Any]
_NO_KEY: Final = ("", "")


class PodGroupStore(MirrorStore):
    kind = "PodGroup"
    model = models.PodGroup


class PodStore(MirrorStore):
    """Pods that use claims, pods of pod groups, and pods without a node that ask for an
    extended resource that a class of the cluster serves. A pod that is none of these any
    more is removed.

    So pods of device plugins are not kept where no class serves their resource, and where
    one does, only while they wait. What classes serve is read once in the life of a
    store; when it is :meth:`outdated`, another one has to list all pods.
    """

    kind = "Pod"
    model = models.Pod
    remember: ClassVar[tuple[str, ...]] = ("phase", "node_name")

    def __init__(
        self, cluster_id: int, *, guard: Guard = ALWAYS, compare_raw: bool = False
    ) -> None:
        super().__init__(cluster_id, guard=guard, compare_raw=compare_raw)
        self._seen: set[Key] = set()

    @cached_property
    def _served(self) -> frozenset[str]:
        return extended_resource_names(self.cluster_id)

    def outdated(self) -> bool:
        """Whether classes serve other extended resources than this store knows of."""
        return self._served != extended_resource_names(self.cluster_id)

    def keeps(self, raw: Json) -> bool:
        if has_claims(raw) or is_of_a_group(raw):
            return True
        return awaits_extended(raw, self._served)

    def wants(self, raw: Json) -> bool:
        """Whether the reflector should hand over ``raw`` at all.

        Most pods of a cluster use no claim. One that lost its claims, or got a node
        without one, is wanted once more: to be removed.
        """
        if self.keeps(raw):
            if (key := key_of(raw)) is not None:
                self._seen.add(key)
            return True
        return key_of(raw) in self._seen

    def resume_from(self) -> str | None:
        """Pods are listed anew where classes serve extended resources, or did: pods of
        a name that is new were not kept, those of one that is gone still are."""
        self._seen.update(self._known_all())
        if self._served or self._rows().filter(claims=None, problem="").exists():
            return None
        return super().resume_from()

    def replace(self, objects: Sequence[Json], resource_version: str) -> None:
        super().replace(objects, resource_version)
        self._seen = {key for raw in objects if (key := self._kept(raw)) is not None}

    def apply(self, events: Sequence[Event], resource_version: str) -> None:
        super().apply(events, resource_version)
        for event in events:
            if event.type is EventType.DELETED or self._kept(event.object) is None:
                # Pods come and go: what is gone must not be remembered for ever.
                self._seen.discard(key_of(event.object) or _NO_KEY)
            else:
                self.wants(event.object)

    def _kept(self, raw: Json) -> Key | None:
        return key_of(raw) if self.keeps(raw) else None

    def columns(self, reading: Reading[objects.Pod]) -> Columns:
        assert reading.object is not None
        return pod_columns(reading.object)

    def derivation(self, writer: Writer) -> Derivation:
        return _PodDerivation(writer)


class _PodDerivation(Derivation):
    """The claims of pods; claims whose state or template that may change."""

    def __init__(self, writer: Writer) -> None:
        self.writer = writer
        self.names: set[Name] = set()
        self.uids: set[str] = set()

    def written(self, rows: Sequence[Written]) -> None:
        known = {w.row.pk for w in rows if w.before is not None}
        before = self._entries(known)
        models.PodClaim.objects.filter(pod_id__in=known).delete()
        models.PodClaim.objects.bulk_create(
            (
                models.PodClaim(
                    cluster_id=self.writer.cluster_id,
                    pod_id=w.row.pk,
                    namespace=w.row.namespace,
                    **fit(models.PodClaim, entry._asdict()),
                )
                for w in rows
                if w.object is not None
                for entry in pod_claims(w.object, w.row.raw)
            ),
            batch_size=500,
        )
        models.PodResource.objects.filter(pod_id__in=known).delete()
        models.PodResource.objects.bulk_create(
            (
                models.PodResource(
                    cluster_id=self.writer.cluster_id,
                    pod_id=w.row.pk,
                    **fit(models.PodResource, resource),
                )
                for w in rows
                if w.object is not None
                for resource in resource_rows(w.row.raw)
            ),
            batch_size=500,
        )
        after = self._entries({w.row.pk for w in rows})
        changed: set[int] = set()
        for w in rows:
            now = (w.row.uid, _runs(w.row.phase, w.row.node_name))
            then = (w.before.uid, _runs(*w.before.remembered)) if w.before else None
            if now != then:
                self.uids.update(uid for uid, _ in (now, then or now))
                changed.add(w.row.pk)
        entries = (before ^ after) | {entry for entry in after if entry[0] in changed}
        self.names.update((entry[1], entry[2]) for entry in entries)

    def deleting(self, rows: Sequence[Known]) -> None:
        entries = self._entries({known.pk for known in rows})
        self.names.update((entry[1], entry[2]) for entry in entries)
        self.uids.update(known.uid for known in rows)

    def finish(self) -> None:
        pks: set[int] = set()
        cluster = {"cluster_id": self.writer.cluster_id}
        for uids in batched(sorted(self.uids), 500):
            consumers = models.ClaimConsumer.objects.filter(uid__in=uids, **cluster)
            pks.update(consumers.values_list("claim_id", flat=True))
        for some in batched(sorted(self.names), 500):
            claims = models.ResourceClaim.objects.filter(
                namespace__in={namespace for namespace, _ in some},
                name__in={name for _, name in some},
                **cluster,
            )
            wanted = set(some)
            found = claims.values_list("pk", "namespace", "name")
            pks.update(pk for pk, *name in found if tuple(name) in wanted)
        recorder = Recorder(self.writer.cluster_id, PodStore.kind)
        refresh_claims(self.writer, pks, recorder)
        recorder.save()

    def _entries(self, pks: set[int]) -> set[tuple[Any, ...]]:
        if not pks:
            return set()
        rows = models.PodClaim.objects.filter(pod_id__in=pks).exclude(claim_name="")
        return set(
            rows.values_list("pod_id", "namespace", "claim_name", "template_name")
        )


def _runs(phase: str, node_name: str) -> bool:
    return phase == "Running" and bool(node_name)
