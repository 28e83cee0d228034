"""What the portal counts and times while it works; who serves the numbers is above.

Recorded where things happen. What the database knows (runs, queues, watches) is read
when the numbers are asked for instead, in ``dra_portal.metrics``.
"""

from __future__ import annotations

from typing import Final

from prometheus_client import Counter, Histogram

_FAST: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_SLOW: Final = (0.01, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0)

REQUEST_SECONDS: Final = Histogram(
    "dra_portal_request_seconds",
    "From a request's arrival to its answer, by the name of its address.",
    ("view", "method", "status"),
    buckets=_FAST,
)
CEL_SECONDS: Final = Histogram(
    "dra_portal_cel_seconds",
    "Answering one expression that a person typed.",
    buckets=_FAST,
)
ENGINE_SECONDS: Final = Histogram(
    "dra_portal_engine_seconds",
    "One search for devices for a run, by the kind of its answer.",
    ("outcome",),
    buckets=_SLOW,
)
WRITE_SECONDS: Final = Histogram(
    "dra_portal_write_seconds",
    "One attempt of a writer, guard and waiting included, by how it ended.",
    ("outcome",),
    buckets=_SLOW,
)
WRITE_CONFLICTS: Final = Counter(
    "dra_portal_write_conflicts",
    "Attempts that ended because somebody else had changed or taken something.",
)
SNAPSHOT_AGE_SECONDS: Final = Histogram(
    "dra_portal_snapshot_age_seconds",
    "How long before a plan its cluster's watch had last been heard of.",
    buckets=_SLOW,
)
TASK_SECONDS: Final = Histogram(
    "dra_portal_task_seconds",
    "One task of a worker, by its name and how it ended.",
    ("task", "outcome"),
    buckets=_SLOW,
)


def count_write(outcome: object, seconds: float) -> None:
    """One attempt of a writer; ``outcome`` is its value (``cluster.writeback``)."""
    kind = type(outcome).__name__
    WRITE_SECONDS.labels(kind).observe(seconds)
    if (
        kind == "Changed"
        or str(getattr(outcome, "refusal", "")) == "allocated elsewhere"
    ):
        WRITE_CONFLICTS.inc()
