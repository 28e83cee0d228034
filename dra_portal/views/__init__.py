"""Pages about everything at once: overview, clusters, search."""

from __future__ import annotations
