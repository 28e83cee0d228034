"""Parts of objects that the editor has to know by name."""

from __future__ import annotations

from typing import Final

SERVERS_OWN: Final = (
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "managedFields",
    "selfLink",
)
"""Metadata that the API server writes and nobody else."""
