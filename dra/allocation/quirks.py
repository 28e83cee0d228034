"""Where the scheduler of Kubernetes 1.36 answers otherwise than documented.

Each quirk is one flag. A search in mode ``"1.36"`` has all of them and answers
what that scheduler will do; in mode ``"none"`` it has none and answers what the
API documents. ``SENTENCES`` says for people what each one means.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from typing import Final, Literal

Mode = Literal["none", "1.36"]


class Quirk(enum.StrEnum):
    """The name of one known fault or accident of the 1.36 scheduler."""

    ADMIN_PICK_BLOCKS = "admin-pick-blocks"
    CLASSIC_ALLOCATOR = "classic-allocator"
    CONFIG_REPEATED = "config-repeated"
    COUNTERS_BY_POOL_NAME = "counters-by-pool-name"
    COUNTERS_STAY_BOOKED = "counters-stay-booked"
    COUNTER_POOLS_EVERYWHERE = "counter-pools-everywhere"
    DISTINCT_FORGETS = "distinct-forgets"
    ERROR_ENDS_ATTEMPT = "error-ends-attempt"
    LEFTOVER_SHARES = "leftover-shares"
    MATCH_STAYS_NARROW = "match-stays-narrow"
    NEWER_GENERATION_UNSEEN = "newer-generation-unseen"
    OVERCOMMIT_BLOCKS_POOL = "overcommit-blocks-pool"
    SHARED_COUNTERS_KEPT = "shared-counters-kept"
    SHARE_MARK_KEPT = "share-mark-kept"


SENTENCES: Final[Mapping[Quirk, str]] = {
    Quirk.ADMIN_PICK_BLOCKS: (
        "A device picked with admin access counts as taken for the pod's later normal requests."
    ),
    Quirk.CLASSIC_ALLOCATOR: (
        "With only stable features on, the scheduler uses its older allocator: slices in the order "
        "of its list, distinctAttribute refused, capacity requests and bindsToNode ignored, and "
        "allowMultipleAllocations false for every selector."
    ),
    Quirk.CONFIG_REPEATED: (
        "A claim's configuration for several requests appears in the result once per request."
    ),
    Quirk.COUNTERS_BY_POOL_NAME: (
        "Counters are looked up by pool name alone, so two drivers with equal pool names share or "
        "escape each other's limits."
    ),
    Quirk.COUNTERS_STAY_BOOKED: (
        "Counters of a device that is then rejected by a taint or a constraint stay booked, so the "
        "scheduler may find no room where there is some."
    ),
    Quirk.COUNTER_POOLS_EVERYWHERE: (
        "Pools with shared counters are looked at for every node, so one that is being updated or "
        "invalid on another node disturbs this one."
    ),
    Quirk.DISTINCT_FORGETS: (
        "distinctAttribute compares only with the last device of each request, so equal values can "
        "pass."
    ),
    Quirk.ERROR_ENDS_ATTEMPT: (
        "An error on one node ends the whole scheduling attempt, even when another node would fit."
    ),
    Quirk.LEFTOVER_SHARES: (
        "A device that is no longer shareable is given away although shares of it are still in use, "
        "if its capacity allows."
    ),
    Quirk.MATCH_STAYS_NARROW: (
        "After trying a device with a list attribute and giving it up, matchAttribute still insists "
        "on the values that device left over."
    ),
    Quirk.NEWER_GENERATION_UNSEEN: (
        "A newer generation of a pool that exists only in slices for other nodes goes unnoticed "
        "while the older one is complete on this node."
    ),
    Quirk.OVERCOMMIT_BLOCKS_POOL: (
        "One counter set that is used beyond its limit blocks all devices of the pool that use "
        "counters, also those of other sets."
    ),
    Quirk.SHARED_COUNTERS_KEPT: (
        "Counters of a shareable device stay booked after the search gave the device up."
    ),
    Quirk.SHARE_MARK_KEPT: (
        "A shareable device without capacity counts as in use after the search gave it up, so its "
        "counters are not checked again."
    ),
}

ALL: Final = frozenset(Quirk)
NONE: Final[frozenset[Quirk]] = frozenset()


def of_mode(mode: Mode) -> frozenset[Quirk]:
    """The quirks that are on in a mode; ValueError for an unknown one."""
    if mode == "1.36":
        return ALL
    if mode == "none":
        return NONE
    raise ValueError(f"quirks: {mode!r} is neither 'none' nor '1.36'")
