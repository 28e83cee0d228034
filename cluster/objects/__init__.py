"""Creating, changing and deleting claims, templates and classes in a cluster.

Objects come and go in v1 form and are sent in the version that the server serves,
always with ``fieldValidation=Strict``: what nobody would read is an error, not lost
in silence. How it ended is a value (:mod:`cluster.objects.values`), whatever the
server or the network did.
"""

from __future__ import annotations

from cluster.objects.values import (
    KINDS,
    AlreadyExists,
    Cause,
    Changed,
    Created,
    CreateOutcome,
    Deleted,
    DeleteOutcome,
    Expected,
    Forbidden,
    Gone,
    Invalid,
    NotServed,
    Outcome,
    Throttled,
    Unavailable,
    Unknown,
    Updated,
    UpdateOutcome,
    expected_of,
)

__all__ = [
    "KINDS",
    "AlreadyExists",
    "Cause",
    "Changed",
    "CreateOutcome",
    "Created",
    "DeleteOutcome",
    "Deleted",
    "Expected",
    "Forbidden",
    "Gone",
    "Invalid",
    "NotServed",
    "Outcome",
    "Throttled",
    "Unavailable",
    "Unknown",
    "UpdateOutcome",
    "Updated",
    "expected_of",
]
