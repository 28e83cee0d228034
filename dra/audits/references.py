"""Who names whom, kept while objects come and go: pods, claims, templates."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dra.audits.change import Change
from dra.audits.claims import ENDED
from dra.audits.pods import named_claims, named_templates
from dra.names import NamespacedName
from dra.objects import Pod, PodGroup, ResourceClaim

type _Many = dict[NamespacedName, set[NamespacedName]]


class References:
    """Keys are ``(namespace, name)`` on both sides, whether the other side exists or not.

    ``users`` are the pods that name a claim and have not ended, ``groups`` the pod
    groups; ``templates`` the
    pods that name a template, ``reserved`` the claims that a pod of that name reserved.
    ``owned`` are claims that belong to a pod of that name, ``owned_by_group`` those of
    a pod group.
    """

    def __init__(self) -> None:
        self.users: _Many = {}
        self.groups: _Many = {}
        self.templates: _Many = {}
        self.reserved: _Many = {}
        self.owned: _Many = {}
        self.owned_by_group: _Many = {}

    def change(self, change: Change) -> None:
        before, after = change.before, change.after
        for key in change.pods:
            old = before.pods.get(key) if before else None
            new = after.pods.get(key)
            _move(self.users, key, _claims(old), _claims(new))
            _move(self.templates, key, _templates(old), _templates(new))
        for key in change.pod_groups:
            old_group = before.pod_groups.get(key) if before else None
            new_group = after.pod_groups.get(key)
            _move(self.groups, key, group_claims(old_group), group_claims(new_group))
        for key in change.claims:
            was = before.claims.get(key) if before else None
            is_ = after.claims.get(key)
            _move(self.reserved, key, _reserving(was), _reserving(is_))
            _move(self.owned, key, _owners(was, "Pod"), _owners(is_, "Pod"))
            groups_before, groups = _owners(was, "PodGroup"), _owners(is_, "PodGroup")
            _move(self.owned_by_group, key, groups_before, groups)

    def claims_of_pod(self, key: NamespacedName) -> Iterator[NamespacedName]:
        """Claims of which something depends on that pod."""
        yield from self.reserved.get(key, ())
        yield from self.owned.get(key, ())

    def claims_of_group(self, key: NamespacedName) -> Iterable[NamespacedName]:
        """Claims that were made for that pod group."""
        return self.owned_by_group.get(key, ())


def _move(
    table: _Many,
    key: NamespacedName,
    old: Iterable[NamespacedName],
    new: Iterable[NamespacedName],
) -> None:
    after = set(new)
    before = set(old)
    if before == after:
        return
    for name in before - after:
        left = table[name]
        left.discard(key)
        if not left:
            del table[name]
    for name in after - before:
        table.setdefault(name, set()).add(key)


def _claims(pod: Pod | None) -> Iterator[NamespacedName]:
    if pod is not None and pod.status.phase not in ENDED:
        for name in named_claims(pod):
            yield pod.metadata.namespace, name


def _templates(pod: Pod | None) -> Iterator[NamespacedName]:
    if pod is not None:
        for name in named_templates(pod):
            yield pod.metadata.namespace, name


def group_claims(group: PodGroup | None) -> Iterator[NamespacedName]:
    """Claims that a pod group names; none without a group."""
    if group is None:
        return
    for entry in group.spec.resource_claims or ():
        if entry.resource_claim_name:
            yield group.metadata.namespace, entry.resource_claim_name
    for status in group.status.resource_claim_statuses or ():
        if status.resource_claim_name:
            yield group.metadata.namespace, status.resource_claim_name


def _reserving(claim: ResourceClaim | None) -> Iterator[NamespacedName]:
    if claim is not None:
        for reference in claim.status.reserved_for or ():
            if reference.resource == "pods" and not reference.api_group:
                yield claim.metadata.namespace, reference.name


def _owners(claim: ResourceClaim | None, kind: str) -> Iterator[NamespacedName]:
    if claim is not None:
        for owner in claim.metadata.owner_references or ():
            if owner.kind == kind:
                yield claim.metadata.namespace, owner.name
