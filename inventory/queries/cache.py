"""Answers that cost a look at every device, remembered for a short while.

An answer is used again while nothing in the cluster has changed, and otherwise for
MAX_AGE: a busy cluster changes every second, its attributes do not.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

from django.core.cache import cache

from inventory.models import Cluster

MAX_AGE: Final = 30.0
_KEEP: Final = 3600


def remembered[T](name: str, cluster: Cluster, compute: Callable[[], T]) -> T:
    """The answer ``name`` for the cluster at its present ``seq``, or a recent one."""
    key = f"inventory:{name}:{cluster.pk}"
    known = cache.get(key)
    now = time.time()
    if known is not None:
        seq, at, value = known
        if seq == cluster.seq or now - at < MAX_AGE:
            return value  # type: ignore[no-any-return]  # we stored it below
    value = compute()
    cache.set(key, (cluster.seq, now, value), _KEEP)
    return value
