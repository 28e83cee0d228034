"""Rules: allocate the claims of a namespace as they come.

Off until an operator turns one on. A claim that did not fit is tried again later and
later, and after some tries no more, until it was allocated in some other way; one whose
run a person cancelled is left alone. While the watch is not live nothing is started:
such a run could only fail, and would use up the tries of its claim.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from itertools import batched
from typing import Final

import structlog
from django.db.models import Count, Exists, Max, OuterRef, Q
from django.utils import timezone

from allocator.choices import OPEN, NodePolicy, RunKind, RunState
from allocator.models import AllocationRule, AllocationRun
from allocator.services import freshness
from allocator.services.batches import start_batch
from allocator.services.starting import RunRefused, User, must_be_writable
from allocator.services.stranding import left_without
from claims.choices import ClaimState
from claims.models import ResourceClaim
from dra.names import NamespacedName
from inventory.choices import Source
from inventory.models import Cluster

MOST_TRIES: Final = 8
_MOST_CLAIMS: Final = 100
"""Of one rule, each time."""
_LOOKED_AT: Final = 1000
"""Pending claims at a time."""
_FIRST_PAUSE: Final = timedelta(seconds=30)
_LONGEST_PAUSE: Final = timedelta(hours=1)

log = structlog.get_logger("allocator.rules")


def set_rule(
    *,
    cluster: Cluster,
    namespace: str,
    enabled: bool,
    user: User,
    policy: str = NodePolicy.FIRST,
) -> AllocationRule:
    """Turn the rule of a namespace on or off. Raises RunRefused.

    The namespace need not exist yet. Whether ``user`` may is the caller's question.
    """
    if enabled:
        must_be_writable(cluster)
    rule, _ = AllocationRule.objects.update_or_create(
        cluster=cluster,
        namespace=namespace,
        defaults={
            "enabled": enabled,
            "policy": policy,
            "changed_by_id": user.pk if user and user.is_authenticated else None,
        },
    )
    log.info(
        "rule.set", cluster=cluster.name, namespace=namespace, enabled=rule.enabled
    )
    return rule


def follow_rules() -> int:
    """Start runs for the claims that rules are about; how many."""
    rules = (
        AllocationRule.objects.filter(enabled=True, cluster__read_only=False)
        .exclude(cluster__source=Source.DUMP)
        .select_related("cluster")
    )
    return sum(_follow(rule) for rule in rules)


def _follow(rule: AllocationRule) -> int:
    if (stale := freshness.behind(rule.cluster)) is not None:
        log.info("rule.waits", namespace=rule.namespace, reason=stale.what)
        return 0
    claims = _due(rule, timezone.now())
    if not claims:
        return 0
    try:
        started = start_batch(
            cluster=rule.cluster,
            claims=claims,
            user=None,
            policy=rule.policy,
            rule=rule,
        )
    except RunRefused as refusal:
        log.info("rule.refused", namespace=rule.namespace, reason=str(refusal))
        return 0
    return len(started.runs)


def _due(rule: AllocationRule, now: datetime) -> list[NamespacedName]:
    """The oldest that may be tried now. However many wait in vain hold up no other."""
    pending = (
        ResourceClaim.objects.filter(
            cluster=rule.cluster,
            namespace=rule.namespace,
            state=ClaimState.PENDING,
            deleting=False,
            problem="",
        )
        .order_by("created_at", "name")
        .values_list("name", "uid")
    )
    busy = set(
        AllocationRun.objects.filter(
            cluster=rule.cluster,
            namespace=rule.namespace,
            state__in=OPEN,
            dry_run=False,
        ).values_list("claim_name", flat=True)
    )
    due: list[NamespacedName] = []
    for some in batched(pending.iterator(_LOOKED_AT), _LOOKED_AT):
        uids = [uid for _, uid in some]
        left_alone = _resting(rule, uids, now) | left_without(rule.cluster, uids)
        due += [
            (rule.namespace, name)
            for name, uid in some
            if name not in busy and uid not in left_alone
        ]
        if len(due) >= _MOST_CLAIMS:
            break
    return due[:_MOST_CLAIMS]


def _resting(rule: AllocationRule, uids: Iterable[str], now: datetime) -> set[str]:
    """Claims that were tried and are not to be tried again now."""
    runs = AllocationRun.objects.filter(rule=rule, claim_uid__in=list(uids))
    allocated_since = AllocationRun.objects.filter(
        cluster=rule.cluster,
        claim_uid=OuterRef("claim_uid"),
        kind=RunKind.ALLOCATE,
        state=RunState.DONE,
        dry_run=False,
        created_at__gte=OuterRef("created_at"),
    )
    in_vain = dict(
        runs.exclude(Exists(allocated_since))
        .values("claim_uid")
        .annotate(tries=Count("pk"))
        .values_list("claim_uid", "tries")
    )
    tried = runs.values("claim_uid").annotate(
        last=Max("finished_at"),
        cancelled=Count("pk", filter=Q(state=RunState.CANCELLED)),
    )
    resting = set()
    for row in tried:
        tries = in_vain.get(row["claim_uid"], 0)
        pauses = row["last"] is not None and now < row["last"] + _pause(tries)
        if row["cancelled"] or tries >= MOST_TRIES or pauses:
            resting.add(row["claim_uid"])
    return resting


def _pause(tries: int) -> timedelta:
    """How long after the end of the last of ``tries`` in vain the next may begin.

    None in vain: the claim was allocated and is free again, and whoever freed it may want
    to see it free for a moment.
    """
    doubled: int = 2 ** min(max(tries - 1, 0), 20)
    return min(_FIRST_PAUSE * doubled, _LONGEST_PAUSE)
