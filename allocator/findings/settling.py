"""What is normal for a moment and wrong only when it stays.

A driver that publishes anew, a claim that is created before its pod: such findings are
shown when they are ``settings.FINDINGS_SETTLE_SECONDS`` old. One that ends and comes
back within that time is the same finding.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from django.conf import settings

from dra.audits import Code

SETTLING: Final = frozenset(
    {
        # While a driver publishes, or is replaced by another release.
        Code.POOL_INCOMPLETE,
        Code.POOL_TWO_GENERATIONS,
        Code.POOL_SLICE_COUNT,
        Code.POOL_STALE_SLICES,
        Code.POOL_INVALID,
        Code.POOL_EMPTY,
        Code.NODE_DRIVER_MISSING,
        Code.DEVICE_UNPUBLISHED,
        Code.ATTRIBUTE_DROPPED,
        Code.ATTRIBUTE_RETYPED,
        Code.ATTRIBUTE_UNCOMMON,
        Code.VALUE_UNCOMMON,
        Code.CLASS_MATCHES_NOTHING,
        Code.RULE_MATCHES_NOTHING,
        # While objects that belong together are created or deleted one by one.
        Code.POOL_NODE_GONE,
        Code.CLAIM_UNUSED,
        Code.CLAIM_MISSING_CLASS,
        Code.TEMPLATE_MISSING_CLASS,
        Code.POD_MISSING_CLAIM,
        Code.POD_MISSING_TEMPLATE,
        # The controller clears it within seconds.
        Code.CLAIM_RESERVED_BY_GONE_POD,
    }
)


def settle_time() -> timedelta:
    return timedelta(seconds=settings.FINDINGS_SETTLE_SECONDS)


def delay_of(code: Code) -> timedelta:
    """From when a finding is first seen until it is shown."""
    return settle_time() if code in SETTLING else timedelta(0)
