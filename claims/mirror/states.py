"""What a claim's row takes from pods: whether one runs with it, and its template."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import batched

from claims.mirror.columns import claim_state
from claims.mirror.recording import record_state
from claims.models import AllocatedDevice, ClaimConsumer, Pod, PodClaim, ResourceClaim
from dra.names import PoolKey
from dra.objects import DeviceResult
from dra.usage import Holder
from inventory.history.happenings import Recorder
from inventory.mirror import Writer, pool_filter

CLAIM = "ResourceClaim"
POD_GROUPS = "podgroups"
"""The resource of a consumer that is a pod group."""
Name = tuple[str, str]
"""Namespace and name of a claim."""


def running_pods(cluster_id: int, uids: Collection[str]) -> set[str]:
    """Those of ``uids`` whose pod is bound to a node and runs.

    By uid, not by name: a new pod of an old name holds nothing (case 34). Objects that
    somebody wrote by hand may lack it; no two of them are the same for that.
    """
    uids = set(uids) - {""}
    if not uids:
        return set()
    pods = Pod.objects.filter(cluster_id=cluster_id, uid__in=uids, phase="Running")
    return set(pods.exclude(node_name="").values_list("uid", flat=True))


def used_by_running(cluster_id: int, claims: Collection[Name]) -> set[Name]:
    """Those of ``claims`` that a pod names which is bound to a node and runs.

    For claims of pod groups: these are reserved for the group, not for its pods.
    """
    if not claims:
        return set()
    rows = PodClaim.objects.filter(
        cluster_id=cluster_id,
        namespace__in={namespace for namespace, _ in claims},
        claim_name__in={name for _, name in claims},
        pod__phase="Running",
    ).exclude(pod__node_name="")
    return set(rows.values_list("namespace", "claim_name")) & set(claims)


def template_names(cluster_id: int, claims: Collection[Name]) -> dict[Name, str]:
    """The template from which a pod's claim was generated, for those that have one."""
    rows = (
        PodClaim.objects.filter(
            cluster_id=cluster_id,
            namespace__in={namespace for namespace, _ in claims},
            claim_name__in={name for _, name in claims},
        )
        .exclude(template_name="")
        .order_by("-template_name")
        .values_list("namespace", "claim_name", "template_name")
    )
    return {(namespace, name): template for namespace, name, template in rows}


def refresh_claims(writer: Writer, pks: Iterable[int], recorder: Recorder) -> None:
    """Compute state and template of claims anew; write those that differ."""
    for chunk in batched(sorted(pks), 500):
        writer.guard.check()
        claims = list(
            ResourceClaim.objects.filter(pk__in=chunk).only(
                "namespace",
                "name",
                "uid",
                "deleting",
                "allocated",
                "consumer_count",
                "state",
                "template_name",
            )
        )
        uids: dict[int, list[str]] = {}
        consumers = ClaimConsumer.objects.filter(claim_id__in=chunk, resource="pods")
        for pk, uid in consumers.values_list("claim_id", "uid"):
            uids.setdefault(pk, []).append(uid)
        reserved: dict[int, set[str]] = {}
        for pk, resource in ClaimConsumer.objects.filter(
            claim_id__in=chunk
        ).values_list("claim_id", "resource"):
            reserved.setdefault(pk, set()).add(resource)
        running = running_pods(
            writer.cluster_id, {uid for those in uids.values() for uid in those}
        )
        templates = template_names(
            writer.cluster_id, {(claim.namespace, claim.name) for claim in claims}
        )
        groups = used_by_running(
            writer.cluster_id,
            {
                (claim.namespace, claim.name)
                for claim in claims
                if POD_GROUPS in reserved.get(claim.pk, ())
            },
        )
        changed = []
        for claim in claims:
            state = claim_state(
                deleting=claim.deleting,
                allocated=claim.allocated,
                reserved=claim.pk in reserved,
                running=any(uid in running for uid in uids.get(claim.pk, ()))
                or (claim.namespace, claim.name) in groups,
            )
            template = templates.get((claim.namespace, claim.name), "")
            if (state, template) != (claim.state, claim.template_name):
                record_state(recorder, claim, state)
                claim.state, claim.template_name = state, template
                claim.seq = writer.next_seq(CLAIM)
                changed.append(claim)
        if changed:
            ResourceClaim.objects.bulk_update(
                changed, ["state", "template_name", "seq"], batch_size=500
            )


def held_devices(
    cluster_id: int, keys: Collection[PoolKey]
) -> Mapping[PoolKey, Sequence[Holder]]:
    """What allocated claims hold in ``keys``: the ``Holdings`` of ``inventory.mirror``."""
    rows = AllocatedDevice.objects.filter(cluster_id=cluster_id)
    rows = rows.filter(pool_filter(keys, pool="pool"))
    held: dict[PoolKey, list[Holder]] = {}
    for namespace, name, uid, position, *result in rows.order_by("pk").values_list(
        "claim__namespace",
        "claim__name",
        "claim__uid",
        "position",
        "request",
        "driver",
        "pool",
        "device",
        "admin_access",
        "share_id",
        "consumed_capacity",
    ):
        request, driver, pool, device, admin, share_id, consumed = result
        value = DeviceResult(
            request=request,
            driver=driver,
            pool=pool,
            device=device,
            admin_access=admin or None,
            share_id=share_id or None,
            consumed_capacity=consumed or None,
        )
        holder = Holder(namespace, name, uid, position, value)
        held.setdefault(PoolKey(driver, pool), []).append(holder)
    return held
