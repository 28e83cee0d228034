"""Allocation runs, their records, and snapshots made from rows."""

from __future__ import annotations
