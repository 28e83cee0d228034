"""All audits over a cluster, kept current while it changes.

Every check looks at one thing (a pool and who holds it, a claim, a pod, all classes …).
From one snapshot to the next only the things that changed, or that depend on what
changed, are looked at again. The law that the tests hold it to: after any changes the
findings are those of an auditor that sees the last snapshot first, but for what only two
snapshots together show (:mod:`dra.audits.drift`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Final

from dra.allocation.features import DEFAULT, Features
from dra.audits.change import Change
from dra.audits.claims import claim_findings, is_timed
from dra.audits.codes import Code
from dra.audits.drift import Drift
from dra.audits.finding import Finding, Subject, finding, of_claim, worst_first
from dra.audits.nodes import node_findings
from dra.audits.pods import (
    group_findings,
    named_claims,
    pod_findings,
    template_findings,
)
from dra.audits.pools import homes_of, pool_findings, taint_findings, use_findings
from dra.audits.references import References, group_claims
from dra.audits.selection import DeviceNames, class_findings, rule_findings
from dra.audits.slips import slip_findings
from dra.names import NamespacedName, PoolKey
from dra.objects import Namespace
from dra.snapshot import Snapshot
from dra.taints import TaintRules

ADMIN_LABEL: Final = "resource.kubernetes.io/admin-access"
_NAMED: Final = ("ResourceClaim", "ResourceClaimTemplate")
"""Kinds of what a pod's entries name."""

type _Kept[K] = dict[K, tuple[Finding, ...]]


def audit(
    snapshot: Snapshot, *, now: datetime, features: Features = DEFAULT
) -> list[Finding]:
    """Everything that is wrong, worst first, then by code and subject.

    ``now`` has a time zone; what takes time to become wrong is measured by it.
    """
    return Auditor(features=features).next(snapshot, now=now)


class Auditor:
    """Told of one snapshot after another of the same cluster. Not for several threads."""

    def __init__(self, *, features: Features = DEFAULT) -> None:
        self.features = features
        self._before: Snapshot | None = None
        self._pools: _Kept[PoolKey] = {}
        self._uses: _Kept[PoolKey] = {}
        self._taints: _Kept[PoolKey] = {}
        self._claims: _Kept[NamespacedName] = {}
        self._pods: _Kept[NamespacedName] = {}
        self._templates: _Kept[NamespacedName] = {}
        self._whole: dict[str, tuple[Finding, ...]] = {}
        """Checks that look at all of something, by name."""
        self._timed: set[NamespacedName] = set()
        """Claims of which more is found as time goes by."""
        self._references = References()
        self._names = DeviceNames()
        self._drift = Drift()

    def next(self, snapshot: Snapshot, *, now: datetime) -> list[Finding]:
        """The findings on ``snapshot``; as :func:`audit`, only sooner."""
        change = Change(self._before, snapshot)
        self._references.change(change)
        self._look_at_pools(change)
        self._look_at_claims(change, now)
        self._look_at_pods(change)
        self._look_at_groups(change)
        self._look_at_templates(change)
        self._look_at_all(change)
        self._before = snapshot
        return sorted(self._findings(), key=worst_first)

    def _findings(self) -> Iterator[Finding]:
        for kept in (
            self._pools,
            self._uses,
            self._taints,
            self._claims,
            self._pods,
            self._templates,
            self._whole,
        ):
            for found in kept.values():
                yield from found

    # --- pools and who holds them ---

    def _look_at_pools(self, change: Change) -> None:
        before, after = change.before, change.after
        nodes_known = bool(after.nodes)
        again = set(change.pools)
        if before is None or nodes_known != bool(before.nodes):
            again |= set(after.pools)
        if change.has_other_problems("Node"):
            again |= set(after.pools)
        again |= _pools_of(change.new_nodes, after)
        for key in again:
            pool = after.pools.get(key)
            found = (
                pool_findings(pool, after.nodes, after.problems_by_object)
                if pool is not None
                else ()
            )
            _keep(self._pools, key, found)
        for key in change.pools:
            old = before.pools.get(key) if before else None
            new = after.pools.get(key)
            self._names.change(old, new)
            if before is not None:
                self._drift.change(key, old, new)
        self._look_at_uses(change)

    def _look_at_uses(self, change: Change) -> None:
        after = change.after
        held = change.pools | change.uses
        again = set(held)
        if change.has_other_problems("ResourceSlice"):
            again |= set(after.in_use.by_pool)
        unread = any(key.kind == "ResourceSlice" for key in after.problems_by_object)
        for key in again:
            pool, use = after.pools.get(key), after.in_use.pool(key)
            found = use_findings(key, pool, use, self.features, slices_unread=unread)
            _keep(self._uses, key, found)
        self._look_at_taints(change, held)

    def _look_at_taints(self, change: Change, held: Iterable[PoolKey]) -> None:
        after = change.after
        if not self.features.device_taints:
            return
        if not change.is_same("taint_rules"):
            held = {*held, *after.in_use.by_pool}
        rules = TaintRules(after.taint_rules.values())
        for key in held:
            pool, use = after.pools.get(key), after.in_use.pool(key)
            found = () if pool is None else taint_findings(pool, use, rules)
            _keep(self._taints, key, found)

    # --- claims, pods, templates ---

    def _look_at_claims(self, change: Change, now: datetime) -> None:
        after = change.after
        pods = after.pods if after.pods else None
        for key in self._claims_again(change):
            claim = after.claims.get(key)
            self._timed.discard(key)
            if claim is None:
                self._claims.pop(key, None)
                continue
            if is_timed(claim):
                self._timed.add(key)
            found = claim_findings(
                claim,
                pools=after.pools,
                pods=pods,
                used=self._is_used(key, after),
                classes=after.classes,
                unreadable=after.problems_by_object,
                features=self.features,
                now=now,
            )
            _keep(self._claims, key, found)

    def _claims_again(self, change: Change) -> set[NamespacedName]:
        before, after = change.before, change.after
        if (
            before is None
            or bool(after.pods) != bool(before.pods)
            or (not change.is_same("classes") and change.new_classes)
            or change.has_other_problems("DeviceClass", "Pod")
        ):
            return {*after.claims, *change.claims}
        again = set(change.claims) | self._timed
        for key in change.pods:
            again.update(self._references.claims_of_pod(key))
            for snapshot in (before, after):
                pod = snapshot.pods.get(key)
                if pod is not None:
                    again.update((key[0], name) for name in named_claims(pod))
        for key in change.pod_groups:
            again.update(self._references.claims_of_group(key))
            for snapshot in (before, after):
                again.update(group_claims(snapshot.pod_groups.get(key)))
        for pool in change.pools:
            use = after.in_use.pool(pool)
            again.update(holder.claim_key for holder in use.results())
        return again

    def _is_used(self, key: NamespacedName, snapshot: Snapshot) -> bool:
        references = self._references
        if references.users.get(key) or references.groups.get(key):
            return True
        # Before its name is written down in the status of whoever it was made for.
        makers = {"Pod": snapshot.pods, "PodGroup": snapshot.pod_groups}
        owners = snapshot.claims[key].metadata.owner_references or ()
        return any(
            (key[0], owner.name) in makers.get(owner.kind, ()) for owner in owners
        )

    def _look_at_pods(self, change: Change) -> None:
        after, references = change.after, self._references
        again = set(change.pods)
        if change.before is not None:
            for claim in change.appeared("claims", change.claims):
                again |= references.users.get(claim, set())
            for template in change.appeared("templates", change.templates):
                again |= references.templates.get(template, set())
            if not change.is_same("salvaged") or change.has_other_problems(*_NAMED):
                again |= set(after.pods)
        for key in again:
            pod = after.pods.get(key)
            _keep(self._pods, key, pod_findings(pod, after) if pod else ())

    def _look_at_groups(self, change: Change) -> None:
        after = change.after
        tables = ("pod_groups", "claims", "templates", "problems_by_object")
        if not change.is_same(*tables):
            self._whole["groups"] = tuple(
                found
                for key in sorted(after.pod_groups)
                for found in group_findings(after.pod_groups[key], after)
            )

    def _look_at_templates(self, change: Change) -> None:
        after = change.after
        again = set(change.templates)
        new = not change.is_same("classes") and change.new_classes
        if new or change.has_other_problems("DeviceClass"):
            again |= set(after.templates)
        for key in again:
            template = after.templates.get(key)
            found = template_findings(template, after) if template else ()
            _keep(self._templates, key, found)

    # --- checks of everything at once ---

    def _look_at_all(self, change: Change) -> None:
        after = change.after
        if not change.is_same("classes", "pools"):
            self._whole["classes"] = tuple(class_findings(after, self.features))
        if not change.is_same("taint_rules", "pools"):
            self._whole["rules"] = tuple(
                found
                for name in sorted(after.taint_rules)
                for found in rule_findings(after.taint_rules[name], after, self._names)
            )
        if not change.is_same("nodes", "pools"):
            self._whole["nodes"] = tuple(node_findings(after))
        if not change.is_same("pools"):
            table = after.devices(lists=self.features.list_type_attributes)
            self._whole["slips"] = tuple(slip_findings(table))
            self._whole["drift"] = tuple(self._drift.findings())
        if not change.is_same("namespaces"):
            self._whole["namespaces"] = tuple(_namespaces(after))
        if not change.is_same("problems_by_object"):
            self._whole["problems"] = tuple(_problems(after))


def _pools_of(nodes: frozenset[str], snapshot: Snapshot) -> set[PoolKey]:
    """Pools with a slice of one of some nodes."""
    index = snapshot.pool_index
    found = {key for node in nodes for key in index.by_node.get(node, ())}
    if nodes:
        # Slices of counters alone, and those of single devices, are not filed by node.
        found.update(
            key
            for key in (*index.counters, *index.networked)
            if not nodes.isdisjoint(homes_of(snapshot.pools[key]))
        )
    return found


def _keep[K](kept: _Kept[K], key: K, found: Iterable[Finding]) -> None:
    """Remember what was found; nothing for what is all right."""
    findings = tuple(found)
    if findings:
        kept[key] = findings
    else:
        kept.pop(key, None)


def _namespaces(snapshot: Snapshot) -> Iterator[Finding]:
    for name in sorted(snapshot.namespaces):
        namespace: Namespace = snapshot.namespaces[name]
        if (namespace.metadata.labels or {}).get(ADMIN_LABEL) == "true":
            yield finding(
                Code.NAMESPACE_ADMIN_ACCESS,
                Subject("Namespace", "", name),
                f"Namespace {name} allows admin access.",
                label=f"{ADMIN_LABEL}=true",
            )


def _problems(snapshot: Snapshot) -> Iterator[Finding]:
    """Objects that cannot be read; a claim among them may hold who knows what."""
    for key, problem in sorted(snapshot.problems_by_object.items()):
        if key.kind == "ResourceClaim":
            salvaged = snapshot.salvaged.get((key.namespace, key.name))
            doubt = f" {salvaged.doubt}" if salvaged is not None else ""
            yield finding(
                Code.CLAIM_UNREADABLE,
                of_claim((key.namespace, key.name)),
                f"{problem}.{doubt}".rstrip(),
                path=problem.path,
            )
        else:
            yield finding(
                Code.OBJECT_UNREADABLE,
                Subject(key.kind, key.namespace, key.name),
                f"{problem}.",
                path=problem.path,
            )
