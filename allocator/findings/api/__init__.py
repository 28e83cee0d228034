"""REST endpoints of findings."""

from __future__ import annotations
