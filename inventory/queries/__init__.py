"""Reads over the mirrored tables, for pages and endpoints. Nothing here writes."""

from __future__ import annotations
