"""Answers that cost a look at every device, remembered for a short while.

An answer is used again while nothing in the cluster has changed, and otherwise for
MAX_AGE: a busy cluster changes every second, its attributes do not.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Final, NamedTuple

from django.core.cache import cache

from inventory.models import Cluster

MAX_AGE: Final = 30.0
_KEEP: Final = 3600


class Known[T](NamedTuple):
    """``fresh``: neither too old nor overtaken by a change long ago."""

    value: T
    fresh: bool


def recall(name: str, cluster: Cluster) -> Known[Any] | None:
    """The answer ``name`` as it was last computed, however old; None: never."""
    known = cache.get(_key(name, cluster))
    if known is None:
        return None
    seq, at, value = known
    return Known(value, fresh=seq == cluster.seq or time.time() - at < MAX_AGE)


def remembered[T](name: str, cluster: Cluster, compute: Callable[[], T]) -> T:
    """The answer ``name`` for the cluster at its present ``seq``, or a recent one."""
    known = recall(name, cluster)
    if known is not None and known.fresh:
        return known.value  # type: ignore[no-any-return]  # we stored it below
    value = compute()
    cache.set(_key(name, cluster), (cluster.seq, time.time(), value), _KEEP)
    return value


def _key(name: str, cluster: Cluster) -> str:
    return f"inventory:{name}:{cluster.pk}"
