"""Taking note of a finding with a reason, and taking that back."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.db import transaction
from django.db.models import F
from django.utils import timezone

from allocator.findings.storing import open_counts
from allocator.models import Finding, FindingPass

LONGEST_REASON: Final = 1_000
"""Characters."""


class AcknowledgeRefused(Exception):  # noqa: N818  # a refusal, not a fault
    """Why not, as a sentence for the person who asked."""


def acknowledge(
    finding: Finding, user: AbstractBaseUser | AnonymousUser, reason: str
) -> None:
    """It counts no more as something to be done. Raises AcknowledgeRefused.

    Somebody who gives a reason for what has been acknowledged already replaces it.
    """
    text = reason.strip()
    if not text:
        raise AcknowledgeRefused("reason: say why this can stay as it is.")
    if len(text) > LONGEST_REASON:
        raise AcknowledgeRefused(
            f"reason: {len(text):,} characters are too many, {LONGEST_REASON:,} are the most."
        )
    _write(finding, at=timezone.now(), by=user, reason=text)


def take_back(finding: Finding) -> None:
    """It counts again. Raises AcknowledgeRefused where it has ended."""
    _write(finding, at=None, by=None, reason="")


def _write(finding: Finding, *, at: datetime | None, by: Any, reason: str) -> None:
    with transaction.atomic():
        # In turn with the look that stores: both write the numbers.
        passes = FindingPass.objects.filter(cluster=finding.cluster_id)
        passes.select_for_update().first()
        done = Finding.objects.filter(pk=finding.pk, ended_at=None).update(
            acknowledged_at=at, acknowledged_by=by, acknowledged_reason=reason
        )
        if not done:
            raise AcknowledgeRefused(
                "This has ended meanwhile: there is nothing to acknowledge any more."
            )
        counts = open_counts(finding.cluster, timezone.now())
        passes.update(changes=F("changes") + 1, **counts)
    finding.refresh_from_db()
