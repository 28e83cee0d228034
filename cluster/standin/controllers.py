"""The resource claim controller's work on a stand-in: generate claims, take them back.

Writes in the order that kube-controller-manager 1.36 was seen to write. It acts on
claims of pods only; an allocation that nobody ever reserved is left alone.
"""

from __future__ import annotations

from typing import Any, Final

from cluster.standin.kinds import KINDS
from cluster.standin.store import Entry, Store
from cluster.standin.writing import MERGE, Caller, Target, Writer

Json = dict[str, Any]

FINALIZER: Final = "resource.kubernetes.io/delete-protection"
POD_CLAIM_NAME: Final = "resource.kubernetes.io/pod-claim-name"
ANYONE: Final = Caller(lambda _verb: None)


def target(
    kind: str, name: str = "", namespace: str = "", subresource: str = ""
) -> Target:
    return Target(KINDS[kind], "v1", namespace, name, subresource)


def pod_claims(pod: Json) -> list[tuple[str, str | None, str | None]]:
    """Per entry of ``spec.resourceClaims``: its name, its claim, its template.

    The claim of an entry with a template is None until it is generated.
    """
    statuses = (pod.get("status") or {}).get("resourceClaimStatuses") or []
    made = {entry["name"]: entry.get("resourceClaimName") for entry in statuses}
    return [
        (
            entry["name"],
            entry.get("resourceClaimName") or made.get(entry["name"]),
            entry.get("resourceClaimTemplateName"),
        )
        for entry in (pod.get("spec") or {}).get("resourceClaims") or []
    ]


class ClaimController:
    """Call :meth:`run` after something changed; it returns what it did, in words."""

    def __init__(self, store: Store, writer: Writer) -> None:
        self._store = store
        self._writer = writer

    def run(self) -> list[str]:
        with self._store.lock:
            return [*self._generate(), *self._release()]

    # --- generate ---------------------------------------------------------

    def _generate(self) -> list[str]:
        done = []
        for entry in list(self._store.current(KINDS["Pod"])[1]):
            pod = entry.body
            missing = [
                (name, template)
                for name, claim, template in pod_claims(pod)
                if template and not claim
            ]
            made = [
                self._from_template(entry, name, template) for name, template in missing
            ]
            found = [item for item in made if item]
            if found:
                before = (pod.get("status") or {}).get("resourceClaimStatuses") or []
                patch = {"status": {"resourceClaimStatuses": [*before, *found]}}
                self._patch("Pod", entry, patch, "status")
                done += [f"generated {item['resourceClaimName']}" for item in found]
        return done

    def _from_template(self, pod: Entry, name: str, template: str) -> Json | None:
        found = self._store.find(
            KINDS["ResourceClaimTemplate"], pod.namespace, template
        )
        if found is None:
            return None
        spec = found.body["spec"]
        meta = {
            "generateName": f"{pod.name}-{name}-",
            "labels": (spec.get("metadata") or {}).get("labels") or {},
            "annotations": {
                **((spec.get("metadata") or {}).get("annotations") or {}),
                POD_CLAIM_NAME: name,
            },
            "ownerReferences": [
                {
                    "apiVersion": "v1",
                    "kind": "Pod",
                    "name": pod.name,
                    "uid": pod.body["metadata"]["uid"],
                    "controller": True,
                    "blockOwnerDeletion": True,
                }
            ],
        }
        claim = self._writer.create(
            target("ResourceClaim", namespace=pod.namespace),
            {"metadata": meta, "spec": spec["spec"]},
            dry_run=False,
        )
        return {"name": name, "resourceClaimName": claim.name}

    # --- release ----------------------------------------------------------

    def _release(self) -> list[str]:
        pods = {
            (entry.namespace, entry.name, entry.body["metadata"]["uid"])
            for entry in self._store.current(KINDS["Pod"])[1]
            if (entry.body.get("status") or {}).get("phase")
            not in ("Succeeded", "Failed")
        }
        claims = list(self._store.current(KINDS["ResourceClaim"])[1])
        return [f"released {c.key}" for c in claims if self._take_back(c, pods)]

    def _take_back(self, entry: Entry, pods: set[tuple[str, str, str]]) -> bool:
        """True when reservations went or an unused claim was cleaned up."""
        status = entry.body.get("status") or {}
        reserved = status.get("reservedFor") or []
        kept = [
            item
            for item in reserved
            if item.get("apiGroup")
            or item.get("resource") != "pods"
            or (entry.namespace, item.get("name"), item.get("uid")) in pods
        ]
        meta = entry.body["metadata"]
        orphan = any(
            (entry.namespace, owner["name"], owner["uid"]) not in pods
            for owner in meta.get("ownerReferences") or []
            if owner.get("kind") == "Pod"
        )
        unused = not kept and (
            bool(reserved) or orphan or meta.get("deletionTimestamp")
        )
        if unused and FINALIZER in (meta.get("finalizers") or []):
            cleared = dict.fromkeys(status)
            self._patch("ResourceClaim", entry, {"status": cleared}, "status")
            left = [name for name in meta["finalizers"] if name != FINALIZER]
            self._patch("ResourceClaim", entry, {"metadata": {"finalizers": left}})
        elif kept != reserved:
            patch = {"status": {"reservedFor": kept or None}}
            self._patch("ResourceClaim", entry, patch, "status")
        elif not (orphan and unused):
            return False
        if orphan and not kept:
            self._delete(entry)
        return True

    def _delete(self, entry: Entry) -> None:
        if self._store.find(entry.kind, entry.namespace, entry.name) is None:
            return
        where = target("ResourceClaim", entry.name, entry.namespace)
        self._writer.delete(where, {}, dry_run=False)

    def _patch(self, kind: str, entry: Entry, patch: Json, part: str = "") -> None:
        where = target(kind, entry.name, entry.namespace, part)
        self._writer.patch(where, patch, MERGE, ANYONE, dry_run=False)
