"""Why claims and pods wait: which claims are asked about together, and the answer, kept a while.

Knows no request and no table: callers bring the snapshot.
"""

from __future__ import annotations

from claims.explaining.answering import (
    Explained,
    explained,
    forget,
    sentence_of,
)
from claims.explaining.subjects import (
    Ask,
    NotWaiting,
    Subject,
    subject_of,
    subject_of_pod,
    waiting_claims,
)

__all__ = [
    "Ask",
    "Explained",
    "NotWaiting",
    "Subject",
    "explained",
    "forget",
    "sentence_of",
    "subject_of",
    "subject_of_pod",
    "waiting_claims",
]
