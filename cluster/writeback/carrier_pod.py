"""The carrier: a pod that is there so that the scheduler allocates a claim."""

from __future__ import annotations

from typing import Any, Final

from cluster.writeback import admitted
from cluster.writeback.api import PODS
from cluster.writeback.tags import (
    DOMAIN,
    ROLE,
    RUN,
    Role,
    Tags,
    annotations_of,
    digest,
    lasts,
    run_of,
    tags_from,
)
from cluster.writeback.values import Json, Order, Request, meta_of, reservations_of
from cluster.writer_options import CarrierOptions
from dra.objects import write

PLAN: Final = f"{DOMAIN}/plan"
JSON: Final = "application/json"


def carrier_name(order: Order, owner: str, options: CarrierOptions) -> str:
    """One carrier per run and claim, so that who resumes an order finds it."""
    return f"{options.name_prefix}{digest(owner, run_of(order), order.uid)}"


def plan_mark(order: Order) -> str:
    """Tells a carrier of this plan from one of an earlier plan of the same run."""
    results = write(order.allocation.devices).get("results") or []
    return digest(order.node_name, *(str(sorted(r.items())) for r in results))


def create_request(
    order: Order, tags: Tags, options: CarrierOptions, scheduler: str
) -> Request:
    body = carrier_pod(order, tags, options, scheduler)
    return Request(PODS.path(order.namespace), body, "", JSON, "POST")


def carrier_pod(
    order: Order, tags: Tags, options: CarrierOptions, scheduler: str
) -> Json:
    """It asks for nothing but the claim, which its container does not use.

    The node goes into the affinity: with spec.nodeName no scheduler would see it.
    """
    pod = bare_pod(
        carrier_name(order, tags.owner, options),
        order.namespace,
        labels=tags.labels(Role.CARRIER),
        annotations=annotations_of(order) | {PLAN: plan_mark(order)},
        options=options,
        scheduler=scheduler,
    )
    spec = pod["spec"]
    spec["resourceClaims"] = [{"name": "devices", "resourceClaimName": order.name}]
    if order.node_name:
        spec["affinity"] = _only_on(order.node_name)
    if order.tolerations:
        spec["tolerations"] = list(order.tolerations)
    return pod


def claims_of(pod: Json) -> list[str]:
    """Names of the claims that a carrier is for."""
    entries = (pod.get("spec") or {}).get("resourceClaims") or ()
    return [str(e["resourceClaimName"]) for e in entries if e.get("resourceClaimName")]


def bare_pod(
    name: str,
    namespace: str,
    *,
    labels: dict[str, str],
    annotations: dict[str, str],
    options: CarrierOptions,
    scheduler: str,
) -> Json:
    """A pod that does nothing, fit for the strictest pod security level.

    It names no user id: some clusters take none but those of the namespace, and a pod that
    need not start needs none.
    """
    container: Json = {
        "name": "pause",
        "image": options.image,
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        },
    }
    if options.resources:
        amounts = dict(options.resources)
        container["resources"] = {"requests": amounts, "limits": dict(amounts)}
    pod: Json = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": namespace,
            "labels": dict(options.labels) | labels,
            "annotations": annotations,
        },
        "spec": {
            "schedulerName": scheduler,
            "restartPolicy": "Never",
            "terminationGracePeriodSeconds": 0,
            "automountServiceAccountToken": False,
            "enableServiceLinks": False,
            "securityContext": {
                "runAsNonRoot": True,
                "seccompProfile": {"type": "RuntimeDefault"},
            },
            "containers": [container],
        },
    }
    if options.priority_class:
        pod["spec"]["priorityClassName"] = options.priority_class
    return pod


def _only_on(node_name: str) -> dict[str, Any]:
    field = {"key": "metadata.name", "operator": "In", "values": [node_name]}
    required = {"nodeSelectorTerms": [{"matchFields": [field]}]}
    return {
        "nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}
    }


def delete_request(namespace: str, name: str, uid: str) -> Request:
    """Deletes this very pod, not another one of its name."""
    options = {
        "apiVersion": "v1",
        "kind": "DeleteOptions",
        "preconditions": {"uid": uid},
    }
    return Request(PODS.path(namespace, name), options, "", JSON, "DELETE")


def is_ours(pod: Json, order: Order, role: Role) -> bool:
    labels = meta_of(pod).get("labels") or {}
    return labels.get(ROLE) == role.value and labels.get(RUN) == run_of(order)


def is_current(pod: Json, order: Order, needed: Tags) -> bool:
    """Whether a carrier of ours can still be used for the plan of ``order``, and will be
    left alone for as long as ``needed`` says."""
    meta = meta_of(pod)
    mark = (meta.get("annotations") or {}).get(PLAN)
    return (
        not meta.get("deletionTimestamp")
        and mark == plan_mark(order)
        and lasts(tags_from(meta.get("labels") or {}), needed)
    )


def verdict(pod: Json) -> str | None:
    """What the scheduler said against the pod; None: nothing yet, or it is bound.

    That it is held back by scheduling gates was not said by a scheduler.
    """
    status = pod.get("status")
    for condition in (
        status.get("conditions") if isinstance(status, dict) else ()
    ) or ():
        if (
            condition.get("type") == "PodScheduled"
            and condition.get("status") == "False"
            and condition.get("reason") != admitted.GATED
        ):
            said = condition.get("message") or condition.get("reason") or "no reason"
            return str(said)
    return None


def uid_of(obj: Json) -> str:
    return str(meta_of(obj).get("uid") or "")


def is_for(claim: Json, pod_uid: str) -> bool:
    """Whether an allocated claim was allocated for this pod.

    That is: it is reserved for the pod, or for nobody, as after a binding that an
    admission policy refused.
    """
    reserved = reservations_of(claim)
    return not reserved or any(r.get("uid") == pod_uid for r in reserved)
