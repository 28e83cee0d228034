"""Forgets findings that ended long ago."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from django.conf import settings
from django.utils import timezone

from allocator.models import DeviceRepair, Finding

_BATCH: Final = 1_000


def prune_findings() -> int:
    """Delete what ended ``settings.FINDINGS_KEEP_DAYS`` ago; how many.

    Not where a repair goes on: its page is that of the finding.
    """
    oldest = timezone.now() - timedelta(days=settings.FINDINGS_KEEP_DAYS)
    repaired = DeviceRepair.objects.filter(ended_at=None, finding__isnull=False)
    ended = Finding.objects.filter(ended_at__lt=oldest)
    old = ended.exclude(pk__in=repaired.values("finding")).order_by("pk")
    gone = 0
    while pks := list(old.values_list("pk", flat=True)[:_BATCH]):
        Finding.objects.filter(pk__in=pks).delete()
        gone += len(pks)
    return gone
