"""The stores of claims and templates, with the rows below them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar

from django.db.models import Model

from claims import models
from claims.history.lifecycle import REMEMBERED
from claims.mirror.columns import (
    claim_columns,
    claim_state,
    consumer_rows,
    device_rows,
    request_rows,
    template_columns,
)
from claims.mirror.recording import (
    Held,
    held_by,
    record_deleted,
    record_written,
    users_by,
)
from claims.mirror.states import (
    POD_GROUPS,
    held_devices,
    running_pods,
    template_names,
    used_by_running,
)
from dra import objects
from dra.names import PoolKey
from dra.salvage import Salvaged, salvage_claim
from inventory.history.happenings import Recorder
from inventory.mirror import (
    Columns,
    Derivation,
    Known,
    MirrorStore,
    Reading,
    Writer,
    Written,
    fit,
    key_of,
    read_object,
    refresh_states,
)

Json = dict[str, Any]


class ResourceClaimTemplateStore(MirrorStore):
    kind = "ResourceClaimTemplate"
    model = models.ResourceClaimTemplate

    def columns(self, reading: Reading[objects.ResourceClaimTemplate]) -> Columns:
        assert reading.object is not None
        return template_columns(reading.object)

    def derivation(self, writer: Writer) -> Derivation:
        return _TemplateDerivation(writer)


class ResourceClaimStore(MirrorStore):
    kind = "ResourceClaim"
    model = models.ResourceClaim
    remember: ClassVar[tuple[str, ...]] = REMEMBERED

    def read(self, raw: Json) -> Reading[objects.ResourceClaim]:
        reading = read_object(raw, objects.ResourceClaim)
        if reading.object is not None:
            return reading
        doubt = _salvaged(raw).doubt
        problem = f"{reading.problem}. {doubt}" if doubt else reading.problem
        return Reading(raw, None, problem)

    def salvage(self, raw: Json) -> Columns:
        """What it holds and who uses it stays known: its devices are not free."""
        return {**claim_columns(_salvaged(raw).claim), "requests_text": ""}

    def columns(self, reading: Reading[objects.ResourceClaim]) -> Columns:
        assert reading.object is not None
        return claim_columns(reading.object)

    def derivation(self, writer: Writer) -> Derivation:
        return _ClaimDerivation(writer)


class _TemplateDerivation(Derivation):
    def __init__(self, writer: Writer) -> None:
        self.writer = writer

    def written(self, rows: Sequence[Written]) -> None:
        _replace_children(
            self.writer,
            models.ClaimRequest,
            "template_id",
            rows,
            lambda template: request_rows(template.spec.spec),
        )


class _ClaimDerivation(Derivation):
    """Requests, devices and consumers of claims, and the devices' states.

    Only pools in which the claims' devices changed are looked at: most events of a
    claim are about its reservation.
    """

    def __init__(self, writer: Writer) -> None:
        self.writer = writer
        self.keys: set[PoolKey] = set()
        self.recorder = Recorder(writer.cluster_id, ResourceClaimStore.kind)

    def prepare(self, rows: Sequence[tuple[Any, Any]]) -> None:
        claims = [(row, _known_of(row, claim)) for row, claim in rows]
        uids = {uid for _, claim in claims for uid in _pod_uids(claim)}
        running = running_pods(self.writer.cluster_id, uids)
        templates = template_names(
            self.writer.cluster_id, {(row.namespace, row.name) for row, _ in rows}
        )
        groups = used_by_running(
            self.writer.cluster_id,
            {(row.namespace, row.name) for row, claim in claims if _of_groups(claim)},
        )
        for row, claim in claims:
            row.state = claim_state(
                deleting=row.deleting,
                allocated=row.allocated,
                reserved=row.consumer_count > 0,
                running=any(uid in running for uid in _pod_uids(claim))
                or (row.namespace, row.name) in groups,
            )
            row.template_name = templates.get((row.namespace, row.name), "")

    def written(self, rows: Sequence[Written]) -> None:
        rows = [Written(w.row, _known_of(w.row, w.object), w.before) for w in rows]
        known = {w.row.pk for w in rows if w.before is not None}
        before, users = held_by(known), users_by(known)
        children: list[tuple[type[Model], Callable[[Any], Iterable[Columns]]]] = [
            (models.ClaimRequest, lambda claim: request_rows(claim.spec)),
            (models.AllocatedDevice, device_rows),
            (models.ClaimConsumer, consumer_rows),
        ]
        for child, rows_of in children:
            _replace_children(self.writer, child, "claim_id", rows, rows_of)
        after = held_by({w.row.pk for w in rows})
        self._changed(before ^ after)
        record_written(self.recorder, rows, before, after, users)

    def deleting(self, rows: Sequence[Known]) -> None:
        gone = held_by({known.pk for known in rows})
        self._changed(gone)
        record_deleted(self.recorder, [known.pk for known in rows], gone)

    def finish(self) -> None:
        refresh_states(self.writer, self.keys, held_devices)
        self.recorder.save()

    def _changed(self, held: Iterable[Held]) -> None:
        self.keys.update(PoolKey(one.driver, one.pool) for one in held)


def _known_of(row: Any, claim: objects.ResourceClaim | None) -> objects.ResourceClaim:
    """``claim``, or as much of an unreadable one as can be told."""
    return claim if claim is not None else _salvaged(row.raw).claim


def _salvaged(raw: Json) -> Salvaged:
    namespace, name = key_of(raw) or ("", "")
    return salvage_claim(raw, namespace=namespace, name=name)


def _pod_uids(claim: objects.ResourceClaim) -> list[str]:
    return [
        consumer.uid
        for consumer in claim.status.reserved_for or ()
        if consumer.resource == "pods"
    ]


def _of_groups(claim: objects.ResourceClaim) -> bool:
    """Whether the claim is reserved for pod groups."""
    return any(c.resource == POD_GROUPS for c in claim.status.reserved_for or ())


def _replace_children(
    writer: Writer,
    model: type[Model],
    parent: str,
    rows: Sequence[Written],
    rows_of: Callable[[Any], Iterable[Columns]],
) -> None:
    """Delete the rows below ``rows`` and insert those that their objects mean now."""
    old = [w.row.pk for w in rows if w.before is not None]
    if old:
        model._default_manager.filter(**{f"{parent}__in": old}).delete()
    model._default_manager.bulk_create(
        (
            model(
                cluster_id=writer.cluster_id,
                **{parent: w.row.pk},
                **fit(model, columns),
            )
            for w in rows
            if w.object is not None
            for columns in rows_of(w.object)
        ),
        batch_size=500,
    )
