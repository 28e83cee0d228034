"""Reading the picture of a device that is booked twice: from the mirror and from the
steps that were taken; a fixed number of queries."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, Final

from django.db.models import Q

from allocator.choices import OPEN, RepairAction
from allocator.findings.concerned import device_of
from allocator.models import DeviceRepair, Finding, RepairStep, RunStep
from allocator.repairs.picture import (
    MOST_HOLDERS,
    Holder,
    Picture,
    Standing,
    Stranded,
    User,
    worked,
)
from allocator.services.stranding import still_there
from claims.models import AllocatedDevice, Pod, PodClaim, ResourceClaim
from cluster.store import State
from cluster.writeback import Step, allocation_of, node_taint, reservations_of
from cluster.writeback.changes import is_pod, name_of
from cluster.writeback.pins import is_pin
from cluster.writeback.rule_safety import why_no_rules
from cluster.writeback.tags import ROLE, RUN, Role, tags_from
from cluster.writeback.unsafe import why_unsafe
from dra.audits import Code
from dra.names import DeviceID
from inventory import clients
from inventory.models import Cluster, DeviceTaintRule, Node, ResourceSlice, WatchState

_REWRITES: Final = (RepairAction.REWRITE, RepairAction.PUT_BACK)


def picture_of(finding: Finding) -> Picture | None:
    """None for a finding that is not about a device booked twice."""
    device = device_of(finding.device)
    if finding.code != Code.DEVICE_BOOKED_TWICE or device is None:
        return None
    cluster = finding.cluster
    holders, more = _holders(cluster, device)
    repair = _repair(finding, device)
    steps = list(repair.steps.select_related("run", "user")) if repair else []
    nodes = _nodes(cluster, device)
    about = Finding.objects.filter(
        cluster=cluster, code=finding.code, device=finding.device
    )
    return Picture(
        cluster=cluster,
        device=device,
        finding=finding,
        holders=holders,
        more_holders=more,
        repair=repair,
        steps=steps,
        standing=_standing(cluster, device, repair, nodes),
        nodes=nodes,
        no_rules=_no_rules(cluster),
        newest=about.order_by("-since").first(),
        stranded=_stranded(cluster, steps),
    )


def _repair(finding: Finding, device: DeviceID) -> DeviceRepair | None:
    """The open one of the device, else the last one of this finding."""
    rows = DeviceRepair.objects.filter(
        Q(ended_at=None) | Q(finding=finding),
        cluster=finding.cluster_id,
        driver=device.driver,
        pool=device.pool,
        device=device.device,
    )
    found = list(rows.order_by("-created_at")[:20])
    is_open = next((row for row in found if row.ended_at is None), None)
    return is_open or next(iter(found), None)


def _stranded(cluster: Cluster, steps: Sequence[RepairStep]) -> Stranded | None:
    """The claim that a rewriting has left without its allocation; None: there is none.

    No query unless a rewriting has failed, and none has worked since.
    """
    failed: list[RepairStep] = []
    for step in reversed(steps):
        if step.action not in _REWRITES or step.run is None:
            continue
        if worked(step) or step.run.state in OPEN:
            break
        failed.append(step)
    sent = set(
        RunStep.objects.filter(
            run__in=[step.run_id for step in failed], step=Step.CLEARED
        ).values_list("run_id", flat=True)
        if failed
        else ()
    )
    first = next((step for step in failed if step.run_id in sent), None)
    if first is None or first.run is None:
        return None
    run = first.run
    claim = ResourceClaim.objects.filter(
        cluster=cluster, namespace=run.namespace, name=run.claim_name, uid=run.claim_uid
    ).first()
    if claim is None or allocation_of(claim.raw) is not None:
        return None
    entries, pods = still_there(run)
    there = [_user(entry, pods) for entry in entries]
    # Where nobody is left who had it reserved, there is nothing to put back.
    was_reserved = bool(reservations_of(run.before or {}))
    return Stranded(first, claim, there) if there or not was_reserved else None


def _holders(cluster: Cluster, device: DeviceID) -> tuple[list[Holder], int]:
    rows = (
        AllocatedDevice.objects.filter(
            cluster=cluster,
            driver=device.driver,
            pool=device.pool,
            device=device.device,
            admin_access=False,
            share_id="",
        )
        .select_related("claim")
        .order_by("claim__namespace", "claim__name", "position")
    )
    claims = list({row.claim_id: row.claim for row in rows}.values())
    shown = claims[:MOST_HOLDERS]
    pods = _pods(cluster, shown)
    return [_holder(claim, pods) for claim in shown], len(claims) - len(shown)


def _pods(cluster: Cluster, claims: Iterable[ResourceClaim]) -> dict[str, Pod]:
    """By uid, those that name one of the claims or have one reserved."""
    wanted = named = Q(pk__in=[])
    for claim in claims:
        named |= Q(namespace=claim.namespace, claim_name=claim.name)
        uids = [str(r.get("uid")) for r in reservations_of(claim.raw) if is_pod(r)]
        if uids:
            wanted |= Q(uid__in=uids)
    naming = PodClaim.objects.filter(named, cluster=cluster).values("pod")
    found = Pod.objects.filter(wanted | Q(pk__in=naming), cluster=cluster)
    rows = found.prefetch_related("claims").order_by("namespace", "name")
    return {pod.uid: pod for pod in rows[:500]}


def _holder(claim: ResourceClaim, pods: dict[str, Pod]) -> Holder:
    entries = reservations_of(claim.raw)
    users = [_user(entry, pods) for entry in entries]
    reserved = {str(entry.get("uid")) for entry in entries}
    here = [pod for pod in pods.values() if pod.namespace == claim.namespace]
    waiting = [
        pod
        for pod in here
        if pod.uid not in reserved
        and pod.phase not in ("Succeeded", "Failed")
        and any(entry.claim_name == claim.name for entry in pod.claims.all())
    ]
    unsafe = why_unsafe(claim.raw, [pod.raw for pod in here])
    return Holder(claim, users, waiting, unsafe)


def _user(entry: dict[str, Any], pods: dict[str, Pod]) -> User:
    of_pod = is_pod(entry)
    pod = pods.get(str(entry.get("uid"))) if of_pod else None
    name = str(entry.get("name") or "")
    return User(name_of(entry), is_pin(entry), of_pod, name, pod)


def _nodes(cluster: Cluster, device: DeviceID) -> list[str]:
    """The nodes from which the device can be used; "" stands for any."""
    rows = ResourceSlice.objects.filter(
        cluster=cluster, driver=device.driver, pool_name=device.pool
    )
    names = rows.order_by().values_list("node_name", flat=True).distinct()
    found = sorted(names[:50])
    return [] if "" in found else found


def _standing(
    cluster: Cluster,
    device: DeviceID,
    repair: DeviceRepair | None,
    nodes: Sequence[str],
) -> Standing | None:
    if repair is not None and (found := _rules(cluster, repair, device)):
        return found
    if len(nodes) != 1:
        return None
    node = Node.objects.filter(cluster=cluster, name=nodes[0]).first()
    if node is None:
        return None
    if repair is not None and (until := _tainted(node.raw, repair)) is not None:
        return Standing("node-taint", (node.name,), until)
    return Standing("cordon", (node.name,)) if node.unschedulable else None


def _rules(cluster: Cluster, repair: DeviceRepair, device: DeviceID) -> Standing | None:
    rows = DeviceTaintRule.objects.filter(
        cluster=cluster, driver=device.driver, pool=device.pool
    )
    names, untils, covered = [], [], False
    for row in rows.order_by("name")[:500]:
        labels = (row.raw.get("metadata") or {}).get("labels") or {}
        if labels.get(RUN) == str(repair.pk) and labels.get(ROLE) == Role.QUARANTINE:
            tags = tags_from(labels)
            names.append(row.name)
            covered |= row.device == device.device
            if tags is not None and tags.expires is not None:
                untils.append(tags.expires)
    if not covered:
        return None
    return Standing("rule", tuple(names), min(untils, default=None))


def _tainted(node: dict[str, Any], repair: DeviceRepair) -> datetime | None:
    """Until when the node carries the taint of this repair."""
    for key, text in node_taint.guards_of(node).items():
        tags = node_taint.noted(text)
        if (
            node_taint.role_of(key) is Role.QUARANTINE
            and tags is not None
            and tags.run == str(repair.pk)
            and node_taint.is_tainted(node, key)
        ):
            return tags.expires
    return None


def _no_rules(cluster: Cluster) -> str:
    watch = WatchState.objects.filter(cluster=cluster, kind="DeviceTaintRule").first()
    served = watch is None or watch.state != State.NOT_SERVED
    try:
        options = clients.config_of(cluster.name).options
    except clients.NoClientError as error:
        return str(error)
    return why_no_rules(options.scheduler, served=served)
