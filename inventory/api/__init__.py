"""REST endpoints of what a cluster offers. Read-only: the cluster owns these objects."""

from __future__ import annotations
